"""ZettelForge's cases that speak of entities, with the same outcome or a fixed one; its docstrings say which."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.knowledge.entities.extract import extract


def found(text: str) -> set[tuple[str, str]]:
    return {(mention.type, mention.value) for mention in extract(text)}


async def recalled(api: Api, method: str, **named: Any) -> list[str]:
    return [note["content"] for note in (await api.call(method, **named))["notes"]]


# -------------------------------------------------- basic: every pattern


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("CVE-2024-3094 was exploited", "cve", "cve-2024-3094"),
        ("cve-2021-44228 again", "cve", "cve-2021-44228"),
        ("seen with apt 28", "intrusion_set", "apt28"),
        ("UNC2452 moved laterally", "intrusion_set", "unc2452"),
        ("TA505 and FIN7", "intrusion_set", "fin7"),
        ("Lazarus was active", "actor", "lazarus"),
        ("Sandworm struck", "actor", "sandworm"),
        ("Volt Typhoon lives off the land", "actor", "volt-typhoon"),
        ("they used Cobalt Strike", "tool", "cobalt-strike"),
        ("they used metasploit", "tool", "metasploit"),
        ("BloodHound and Dropbear", "tool", "dropbear"),
        ("Operation Aurora hit Google", "campaign", "operation-aurora"),
        ("technique T1059.001", "attack_pattern", "t1059.001"),
        ("from 192.0.2.55", "ipv4", "192.0.2.55"),
        ("at evil.example.com", "domain", "evil.example.com"),
        ("https://example.org/a?b=1", "url", "https://example.org/a?b=1"),
        ("hash 9e107d9d372bb6826bd81d3542a419d6", "md5", "9e107d9d372bb6826bd81d3542a419d6"),
        ("hash 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "sha1", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"),
        ("hash " + "ab12" * 16, "sha256", "ab12" * 16),
        ("write to anna@example.org", "email", "anna@example.org"),
        ("Alice: I adopted a dog", "person", "alice"),
        ("the office in London", "location", "london"),
    ],
)
def test_each_pattern_finds_its_entity(text: str, type_: str, value: str) -> None:
    """A numbered group has one form here, with or without a blank: there ``apt 28`` became ``apt-28``."""
    assert (type_, value) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "Merge: 9e107d9d372bb6826bd81d3542a419d6",
        'digest = "9e107d9d372bb6826bd81d3542a419d6"',
        "parent 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    ],
)
def test_a_hash_of_version_control_is_no_indicator(text: str) -> None:
    assert not {type_ for type_, _ in found(text)} & {"md5", "sha1", "sha256"}


# -------------------------------------------- core: recall by an entity


async def test_notes_are_recalled_by_actor_vulnerability_and_technique(api: Api) -> None:
    await api.remember("Sandworm used T1190 and CVE-2022-30190.")
    assert len(await recalled(api, "recall_actor", actor_name="Sandworm")) == 1
    assert len(await recalled(api, "recall_cve", cve_id="CVE-2022-30190")) == 1
    technique = {"entity_type": "attack_pattern", "entity_value": "T1190"}
    assert len(await recalled(api, "recall_entity", **technique)) == 1


async def test_an_unknown_entity_gives_nothing(api: Api) -> None:
    await api.remember("Sandworm used T1190.")
    assert await recalled(api, "recall_cve", cve_id="CVE-1999-0001") == []


async def test_a_fresh_note_is_not_expired(api: Api) -> None:
    await api.remember("Sandworm used T1190.")
    assert await recalled(api, "recall_actor", actor_name="sandworm") == ["Sandworm used T1190."]


# ------------------------------------- conversational entities, without a model


def test_people_places_and_organisations_are_found_without_a_model() -> None:
    """There they need a language model; here rules find them, and dates, events and what people do."""
    entities = found("Caroline met Melanie at the Berlin Marathon in May 2023 and works at Nordwind GmbH.")
    assert {
        ("person", "caroline"),
        ("person", "melanie"),
        ("event", "berlin-marathon"),
        ("organization", "nordwind-gmbh"),
        ("temporal", "may-2023"),
    } <= entities


def test_a_short_text_mentions_nothing() -> None:
    assert found("ok") == set()
    assert found("") == set()


# -------------------------------------------------------- fixed defects


async def test_a_tool_is_found_by_its_name_with_a_blank(api: Api) -> None:
    """There ``recall_tool("Cobalt Strike")`` gives nothing and ``cobalt-strike`` one."""
    await api.remember("They used Cobalt Strike.")
    assert len(await recalled(api, "recall_tool", tool_name="Cobalt Strike")) == 1
    assert len(await recalled(api, "recall_tool", tool_name="cobalt-strike")) == 1


async def test_fancy_bear_is_apt28(api: Api) -> None:
    """There the headline example fails: the name is never extracted, and APT28 has another type than its alias."""
    await api.remember("APT28 deployed X-Agent against a ministry.")
    assert len(await recalled(api, "recall_actor", actor_name="Fancy Bear")) == 1
    assert ("actor", "fancy-bear") in found("What tools does Fancy Bear use?")


async def test_what_is_expired_is_left_out(api: Api) -> None:
    """There entity look-ups return expired notes."""
    await api.remember("Emotet is back.", ttl_days=1)
    api.clock.advance(timedelta(days=2))
    assert await recalled(api, "recall_tool", tool_name="Emotet") == []


async def test_ipv6_addresses_are_found() -> None:
    """There only IPv4 is."""
    assert ("ipv6", "2001:db8::1") in found("ping 2001:db8:0:0::1 now")


async def test_counts_of_the_index_are_in_the_statistics(api: Api) -> None:
    await api.remember("Emotet and TrickBot.")
    await api.remember("Emotet again.")
    await recalled(api, "recall_tool", tool_name="Emotet")
    stats = await api.call("get_stats")
    assert stats["entity_index"]["malware"] == {"unique_entities": 2, "total_mappings": 3}
    assert stats["entity_index_hits"] == 1


# ------------------------------------------- every type, by relevance and time


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("cve", "CVE-2024-3094"),
        ("actor", "Sandworm"),
        ("tool", "Cobalt Strike"),
        ("campaign", "Operation Aurora"),
        ("asset", "web-01"),
        ("attack_pattern", "T1059.001"),
        ("person", "Caroline"),
        ("location", "London"),
        ("organization", "Nordwind GmbH"),
        ("event", "book launch"),
        ("activity", "pottery"),
        ("temporal", "May 2023"),
    ],
)
async def test_each_type_is_recalled_by_relevance_and_time_without_what_is_hidden_or_expired(
    api: Api, type_: str, value: str
) -> None:
    """There they come in the order they were written, expired ones with them."""
    said = f"Yesterday Anna and Paul spoke at length of {value}."
    old = await api.remember(said)
    api.clock.advance(timedelta(days=1))
    new = await api.remember(said)
    titled = await api.remember("What there is to know.", title=f"About {value}")
    hidden = await api.remember(said)
    await api.call("note.hide", id=hidden["id"])
    await api.remember(said, ttl_days=1)
    api.clock.advance(timedelta(days=2))
    found = await api.call("recall_entity", entity_type=type_, entity_value=value)
    assert [note["id"] for note in found["notes"]] == [titled["id"], new["id"], old["id"]]
