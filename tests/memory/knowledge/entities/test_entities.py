"""Entities over each kind of stores: what is found again, by which name, and what no longer is."""

import asyncio
from datetime import timedelta
from functools import cache
from threading import current_thread, main_thread
from typing import Any

import pytest

from fakes import Api, until
from shelfd.memory.knowledge import batches
from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import caught_up
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.ports.log import Origin


async def mentioning(api: Api, type_: str, value: str, **named: Any) -> list[str]:
    result = await api.call("recall_entity", entity_type=type_, entity_value=value, **named)
    return [note["content"] for note in result["notes"]]


async def test_an_entity_is_found_however_it_is_written(either: Api) -> None:
    await either.remember("Cobalt Strike was seen on web-01.")
    await either.remember("They dropped cobalt-strike again.")
    await either.remember("Nothing to see here.")
    for name in ("Cobalt Strike", "cobalt-strike", "COBALT  STRIKE", "CobaltStrike"):
        assert len(await mentioning(either, "tool", name)) == 2, name
    tool = await either.call("recall_tool", tool_name="Cobalt Strike")
    assert tool["entity"] == {"type": "tool", "value": "cobalt-strike", "canonical": "cobalt-strike"}


async def test_a_vulnerability_is_found_by_its_number(either: Api) -> None:
    await either.remember("Patched CVE-2024-3094 on all hosts.")
    result = await either.call("recall_cve", cve_id="cve-2024-3094")
    assert [note["content"] for note in result["notes"]] == ["Patched CVE-2024-3094 on all hosts."]
    assert (await either.call("recall_cve", cve_id="CVE-2024-0001"))["notes"] == []


@pytest.mark.parametrize(
    "written", ["CVE\u20112025\u20111974", "cve 2025-1974", "CVE_2025_1974", "CVE-2025-1974", "CVE\u22122025\u22121974"]
)
async def test_a_vulnerability_is_one_however_its_number_is_written(api: Api, written: str) -> None:
    await api.remember(f"The ingress flaw {written} hit the cluster.")
    for asked in ("CVE-2025-1974", written, "2025-1974"):
        assert len((await api.call("recall_cve", cve_id=asked))["notes"]) == 1, asked


@pytest.mark.parametrize(
    ("type_", "note", "names"),
    [
        ("person", "Dr. Adaeze Okafor prescribed a new inhaler.", ["Dr. Adaeze Okafor", "Adaeze Okafor"]),
        ("organization", "Priya works at Nordwind GmbH.", ["Nordwind", "Nordwind GmbH", "nordwind-gmbh"]),
        ("sector", "Attacks on the energy sector rose.", ["energy", "energy sector", "Energy industry"]),
        ("campaign", "Operation Aurora started in 2009.", ["Aurora", "operation aurora", "Aurora campaign"]),
    ],
)
async def test_what_is_said_beside_a_name_makes_no_other_one(api: Api, type_: str, note: str, names: list[str]) -> None:
    await api.remember(note)
    for name in names:
        assert len(await mentioning(api, type_, name)) == 1, name


async def test_an_actor_is_found_by_each_of_its_names_and_types(either: Api) -> None:
    await either.remember("APT28 deployed X-Agent against NATO.")
    await either.remember("Fancy Bear registered new domains.")
    for name in ("Fancy Bear", "apt 28", "APT-28", "pawn storm"):
        assert len((await either.call("recall_actor", actor_name=name))["notes"]) == 2, name
    for type_ in ("actor", "threat_actor", "intrusion_set"):
        assert len(await mentioning(either, type_, "Fancy Bear")) == 2, type_
    entity = (await either.call("recall_actor", actor_name="Fancy Bear"))["entity"]
    assert entity == {"type": "actor", "value": "fancy-bear", "canonical": "apt28"}


async def test_notes_that_are_most_about_it_come_first_then_the_newest(either: Api) -> None:
    first = await either.remember("In Porto there were birds, rain and Emotet.")
    second = await either.remember("In Porto there were cats, snow and Emotet.")
    titled = await either.remember("What we know of it so far.", title="Emotet")
    opening = await either.remember("Emotet came back.")
    result = await either.call("recall_entity", entity_type="malware", entity_value="emotet")
    expected = [titled, opening, second, first]
    assert [note["id"] for note in result["notes"]] == [note["id"] for note in expected]
    assert len(await mentioning(either, "malware", "Emotet", k=1)) == 1


async def test_what_is_hidden_superseded_or_expired_is_left_out(either: Api) -> None:
    hidden = await either.remember("Mimikatz one.")
    old = await either.remember("Mimikatz two.")
    new = await either.remember("Mimikatz three.")
    await either.remember("Mimikatz four.", ttl_days=1)
    await either.call("note.hide", id=hidden["id"])
    await either.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    assert await mentioning(either, "tool", "mimikatz") == ["Mimikatz four.", "Mimikatz three."]
    either.clock.advance(timedelta(days=2))
    assert await mentioning(either, "tool", "mimikatz") == ["Mimikatz three."]
    await either.call("note.restore", id=hidden["id"])
    assert await mentioning(either, "tool", "mimikatz") == ["Mimikatz three.", "Mimikatz one."]


async def test_an_edited_note_mentions_what_it_says_now(either: Api) -> None:
    note = await either.remember("Anna lives in Berlin.")
    assert await mentioning(either, "location", "berlin") == ["Anna lives in Berlin."]
    await either.call("note.edit", id=note["id"], content="Anna lives in Hamburg.")
    assert await mentioning(either, "location", "berlin") == []
    assert await mentioning(either, "location", "Hamburg") == ["Anna lives in Hamburg."]
    assert "berlin" not in {entity.value for entity in either.shelf().view.entities.of_note(1)}


async def test_a_purged_note_leaves_no_entity_behind(either: Api) -> None:
    note = await either.remember("Quentin Vosskuhler lives in Lisbon.")
    await either.remember("Rain in Lisbon.")
    assert len(await mentioning(either, "person", "quentin vosskuhler")) == 1
    await either.call("forget", id=note["id"], purge=True)
    assert await mentioning(either, "person", "quentin vosskuhler") == []
    assert await mentioning(either, "location", "lisbon") == ["Rain in Lisbon."]
    assert either.shelf().view.entities.get("person", "quentinvosskuhler") is None
    index = (await either.call("get_stats"))["entity_index"]
    assert index == {"location": {"unique_entities": 1, "total_mappings": 1}}


async def test_a_private_note_is_its_sessions_own(either: Api) -> None:
    await either.remember("Emotet here.", scope="session", session_id="mine")
    assert await mentioning(either, "malware", "emotet") == []
    assert await mentioning(either, "malware", "emotet", session_id="mine") == ["Emotet here."]


async def test_a_call_counts_a_hit_unless_told_not_to(either: Api) -> None:
    note = await either.remember("Emotet here.")
    for session in ("one", "two", "two"):
        await either.call("recall_entity", entity_type="malware", entity_value="emotet", session_id=session)
    await either.call("recall_entity", entity_type="malware", entity_value="emotet", count_hits=False)
    seen = await either.note(note["id"])
    assert (seen["hits"], seen["access_count"]) == (2, 3)
    assert (await either.call("get_stats"))["entity_index_hits"] == 4


async def test_types_that_do_not_exist_are_refused(either: Api) -> None:
    refused = await either.refused("recall_entity", entity_type="colour", entity_value="red")
    assert (refused.code, refused.field) == (-32602, "entity_type")
    for method in ("alias.add", "alias.remove"):
        params = (
            {"type": "colour", "alias": "a", "canonical": "b"}
            if method == "alias.add"
            else {"type": "colour", "alias": "a"}
        )
        assert (await either.refused(method, params)).field == "type"


async def test_other_nuggets_can_be_left_out(either: Api) -> None:
    await either.remember("Emotet at work.", nugget="work")
    await either.remember("Emotet at home.", nugget="home")
    assert await mentioning(either, "malware", "emotet", nugget="home") == ["Emotet at home."]
    assert (await either.refused("recall_cve", cve_id="CVE-2024-3094", nugget="nowhere")).code == -32001


# ------------------------------------------------------------------ aliases


async def test_an_alias_that_a_caller_gives_holds_for_notes_before_and_after(either: Api) -> None:
    await either.remember("Blue Otter attacked a hospital.")
    await either.remember("The Storm Weasel group is quiet.")
    assert len((await either.call("recall_actor", actor_name="Storm Weasel"))["notes"]) == 0
    added = await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Storm Weasel")
    assert added == {"alias": "blue-otter", "canonical": "storm-weasel", "added": True}
    await either.remember("BLUE-OTTER came back.")
    for name in ("Blue Otter", "storm weasel"):
        assert len((await either.call("recall_actor", actor_name=name))["notes"]) == 3, name
    assert not (await either.call("alias.add", type="actor", alias="blue otter", canonical="STORM WEASEL"))["added"]


async def test_an_alias_that_is_taken_back_derives_its_entities_anew(either: Api) -> None:
    await either.remember("Blue Otter attacked a hospital.")
    await either.remember("Storm Weasel is quiet.")
    await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Storm Weasel")
    assert len((await either.call("recall_actor", actor_name="Blue Otter"))["notes"]) == 2
    assert await either.call("alias.remove", type="actor", alias="Blue Otter") == {"removed": True}
    assert await either.call("alias.remove", type="actor", alias="Blue Otter") == {"removed": False}
    assert (await either.call("recall_actor", actor_name="Blue Otter"))["notes"] == []
    assert either.shelf().view.entities.get("actor", "blueotter") is None


async def test_a_name_that_only_an_alias_made_known_is_known_no_longer(either: Api) -> None:
    await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.remember("Velvet Badger used PlugX.")
    assert len(await mentioning(either, "actor", "Velvet Badger")) == 2
    await either.call("alias.remove", type="actor", alias="Copper Lynx")
    assert await mentioning(either, "actor", "Velvet Badger") == []
    await either.remember("Storm Weasel used PlugX.")
    await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Storm Weasel")
    assert len(await mentioning(either, "actor", "Storm Weasel")) == 1
    await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Sandworm")
    assert await mentioning(either, "actor", "Storm Weasel") == []


async def test_a_note_teaches_an_alias_and_takes_it_away_with_itself(either: Api) -> None:
    await either.remember("Velvet Badger stole documents.")
    note = await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.remember("Copper Lynx used PlugX.")
    assert len((await either.call("recall_actor", actor_name="Velvet Badger"))["notes"]) == 3
    listed = (await either.call("alias.list", type="actor", limit=1000))["aliases"]
    own = [alias for alias in listed if alias["source"] == "note"]
    expected = {"type": "actor", "alias": "copper-lynx", "canonical": "velvet-badger", "source": "note"}
    assert own == [expected | {"note_id": note["id"]}]
    await either.call("forget", id=note["id"], purge=True)
    assert (await either.call("recall_actor", actor_name="Velvet Badger"))["entity"]["canonical"] == "velvet-badger"
    assert not [a for a in (await either.call("alias.list", limit=1000))["aliases"] if a["source"] == "note"]


async def test_what_a_purged_note_taught_is_unlearned_everywhere(either: Api) -> None:
    note = await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    used = await either.remember("Copper Lynx used PlugX.")
    await either.remember("Velvet Badger, also known as Copper Lynx, sent mails.")  # is known already
    other = await either.remember("Copper Lynx, also known as Brass Newt, slept.")
    assert len(await mentioning(either, "actor", "Brass Newt")) == 4
    await either.call("forget", id=note["id"], purge=True)
    assert len(await mentioning(either, "actor", "Brass Newt")) == 3, "another note says so, too"
    await either.call("forget", id=other["id"], purge=True)
    said = [alias for alias in (await either.call("alias.list", limit=1000))["aliases"] if alias["source"] == "note"]
    assert [{alias["alias"], alias["canonical"]} for alias in said] == [{"copper-lynx", "velvet-badger"}]
    await either.call("forget", id=said[0]["note_id"], purge=True)
    assert await mentioning(either, "actor", "Copper Lynx") == []
    view = either.shelf().view
    assert [one.key for one in view.entities.of_note(view.notes.by_ids([used["id"]])[used["id"]].row)] == ["plugx"]


async def test_no_name_of_a_purged_note_is_kept_to_read_others_by(either: Api) -> None:
    note = await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.call("recall_actor", actor_name="x")
    await either.call("note.edit", id=note["id"], content="The group Velvet Badger is active.")
    reader = either.shelf().enrichment
    while not (stored := either.shelf().view.entities.position() or {}).get("phrases"):
        await reader._step()  # type: ignore[attr-defined]  # up to where others would be read again
    assert "copper lynx" in stored["phrases"]
    await either.call("forget", id=note["id"], purge=True)
    assert "copper" not in str(either.shelf().view.entities.position()).lower()


async def test_a_learned_alias_that_was_taken_back_is_not_learned_again(either: Api) -> None:
    await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.call("recall_actor", actor_name="Copper Lynx")
    assert (await either.call("alias.remove", type="actor", alias="Copper Lynx"))["removed"]
    await either.remember("The group Velvet Badger, also known as Copper Lynx, is back.")
    for name in ("copper-lynx", "velvet-badger"):
        result = await either.call("recall_actor", actor_name=name)
        assert result["entity"]["canonical"] == name


async def test_a_built_in_alias_can_be_taken_back(either: Api) -> None:
    await either.remember("APT28 sent mails.")
    assert len((await either.call("recall_actor", actor_name="Pawn Storm"))["notes"]) == 1
    assert (await either.call("alias.remove", type="threat_actor", alias="pawn-storm"))["removed"]
    assert (await either.call("recall_actor", actor_name="Pawn Storm"))["notes"] == []
    assert len((await either.call("recall_actor", actor_name="Fancy Bear"))["notes"]) == 1


async def test_what_a_wrong_alias_had_replaced_holds_again(either: Api) -> None:
    said = {"type": "actor", "alias": "Fancy Bear"}
    added = await either.call("alias.add", **said, canonical="Totally Other")
    assert (added["added"], added["canonical"], added["replaced"]) == (True, "totally-other", "apt28")
    assert await either.call("alias.remove", **said) == {"removed": True, "canonical": "apt28"}
    assert (await either.call("recall_actor", actor_name="Fancy Bear"))["entity"]["canonical"] == "apt28"
    assert await either.call("alias.remove", **said) == {"removed": True}
    assert await either.call("alias.remove", **said) == {"removed": False}
    assert (await either.call("recall_actor", actor_name="Fancy Bear"))["entity"]["canonical"] == "fancy-bear"


async def test_what_a_note_says_holds_again_once_a_caller_takes_back_what_it_said_otherwise(either: Api) -> None:
    await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.call("recall_actor", actor_name="Copper Lynx")
    added = await either.call("alias.add", type="actor", alias="Copper Lynx", canonical="Storm Weasel")
    assert added["replaced"] == "velvet-badger"
    removed = await either.call("alias.remove", type="actor", alias="Copper Lynx")
    assert removed == {"removed": True, "canonical": "velvet-badger"}
    listed = (await either.call("alias.list", type="actor", limit=1000))["aliases"]
    assert [one["canonical"] for one in listed if one["alias"] == "copper-lynx"] == ["velvet-badger"]


async def test_an_alias_that_a_note_says_too_is_not_learned_again(either: Api) -> None:
    await either.remember("The group Velvet Badger, also known as Copper Lynx, is active.")
    await either.call("recall_actor", actor_name="Copper Lynx")
    await either.call("alias.add", type="actor", alias="Copper Lynx", canonical="Storm Weasel")
    await either.call("alias.add", type="actor", alias="Copper Lynx", canonical="Velvet Badger")
    assert await either.call("alias.remove", type="actor", alias="Copper Lynx") == {"removed": True}
    assert (await either.call("recall_actor", actor_name="Copper Lynx"))["entity"]["canonical"] == "copper-lynx"


async def test_it_is_said_whom_a_name_was_another_name_of(either: Api) -> None:
    given = {"type": "person", "alias": "Bob"}
    assert "replaced" not in await either.call("alias.add", **given, canonical="Robert Miller")
    assert (await either.call("alias.add", **given, canonical="Robert Smith"))["replaced"] == "robert-miller"
    assert "replaced" not in await either.call("alias.add", **given, canonical="robert smith")


async def test_an_alias_that_a_note_has_just_said_is_listed_and_can_be_taken_back(either: Api) -> None:
    await either.remember("The group Sandworm, also known as Amber Newt, is active.")
    assert await either.call("alias.remove", type="actor", alias="Amber Newt") == {"removed": True}
    await either.remember("The group Sandworm, also known as Brass Heron, is back.")
    listed = (await either.call("alias.list", type="actor", limit=1000))["aliases"]
    assert [one["alias"] for one in listed if one["source"] == "note"] == ["brass-heron"]


@pytest.mark.parametrize("name", ["---", "🐱", "the", "The", "she", "!?", "…"])
async def test_what_no_text_can_be_looked_through_for_is_no_alias(name: str, api: Api) -> None:
    names = {"alias": name, "canonical": "Ada"}
    for given in (names, {"alias": names["canonical"], "canonical": names["alias"]}):
        refused = await api.refused("alias.add", type="person", **given)
        assert (refused.code, name in str(refused)) == (-32602, False)
    assert (await api.call("get_stats"))["last_seq"] == 0


@pytest.mark.parametrize("name", ["WHO", "May", "C++", "Li", "李", "R2", "The Who"])
async def test_a_short_name_is_an_alias(name: str, api: Api) -> None:
    assert (await api.call("alias.add", type="organization", alias=name, canonical="Nordwind"))["added"]


async def test_the_log_has_a_row_of_each_change_of_an_alias_without_its_names(either: Api) -> None:
    await either.call("alias.add", type="threat_actor", alias="Blue Otter", canonical="Storm Weasel")
    await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Storm Weasel")
    await either.call("alias.remove", type="actor", alias="Blue Otter")
    rows = (await either.call("shelf.log"))["log"]
    assert [row["kind"] for row in rows] == ["alias.added", "alias.removed"]
    events = (await either.call("events.since", seq=0))["events"]
    assert [event["type"] for event in events] == ["shelfd.alias.added.v1", "shelfd.alias.removed.v1"]
    assert {event["data"]["type"] for event in events} == {"actor"}
    assert "otter" not in str(rows) + str(events)


async def test_an_alias_of_itself_and_a_circle_are_refused(either: Api) -> None:
    refused = await either.refused("alias.add", type="tool", alias="Foo Bar", canonical="foo-bar")
    assert (refused.code, refused.field) == (-32602, "alias")
    await either.call("alias.add", type="tool", alias="A1", canonical="B1")
    await either.call("alias.add", type="tool", alias="B1", canonical="C1")
    refused = await either.refused("alias.add", type="malware", alias="C1", canonical="A1")
    assert (refused.code, refused.field) == (-32002, "canonical")
    assert (await either.refused("alias.add", type="actor", alias="apt28", canonical="Fancy Bear")).code == -32002


async def test_a_long_chain_of_aliases_has_one_end_and_is_no_circle(either: Api) -> None:
    for number in range(40):
        await either.call("alias.add", type="person", alias=f"Nara {number}", canonical=f"Nara {number + 1}")
    refused = await either.refused("alias.add", type="person", alias="Nara 40", canonical="Nara 0")
    assert (refused.code, refused.field) == (-32002, "canonical")
    await either.remember("Nara 0 lives in Oslo.")
    for number in (0, 20, 40):
        found = await either.call("recall_entity", entity_type="person", entity_value=f"Nara {number}")
        assert (found["entity"]["canonical"], len(found["notes"])) == ("nara-40", 1)


async def test_two_notes_that_teach_each_other_s_alias_teach_one(either: Api) -> None:
    said = ("The group Velvet Badger, aka Copper Lynx, is active.", "Copper Lynx, aka Velvet Badger, is back.")
    notes = [{"content": content} for content in (*said, "Copper Lynx used PlugX.", "Velvet Badger used Mimikatz.")]
    await either.call("remember_many", notes=notes)  # read in one batch
    for name in ("Copper Lynx", "Velvet Badger"):
        found = await either.call("recall_actor", actor_name=name)
        assert (found["entity"]["canonical"], len(found["notes"])) == ("velvet-badger", 4)
    listed = (await either.call("alias.list", type="actor", limit=1000))["aliases"]
    assert [alias["alias"] for alias in listed if alias["source"] == "note"] == ["copper-lynx"]


async def test_more_aliases_than_a_shelf_knows_are_refused(either: Api) -> None:
    def give(tx: Transaction) -> None:
        for number in range(ALIASES_KNOWN - 1):
            name, key = f"Firm {number}", f"firm{number}"
            tx.rows.entities.put_alias(StoredAlias("organization", key, name, "a", "A", "organization", 0, 1))

    await either.shelf().commit(Origin("test", "test"), give)
    given = {"type": "organization", "canonical": "Nordwind"}
    assert (await either.call("alias.add", alias="The last", **given))["canonical"] == "nordwind"
    refused = await either.refused("alias.add", alias="One more", **given)
    assert (refused.code, refused.field) == (-32010, "alias")
    assert (await either.refused("alias.remove", type="actor", alias="Fancy Bear")).code == -32010
    assert (await either.call("alias.add", alias="The last", type="organization", canonical="Firm 1"))["added"]
    assert (await either.call("alias.remove", type="organization", alias="The last"))["removed"]


async def test_aliases_are_listed_page_by_page(either: Api) -> None:
    await either.call("alias.add", type="person", alias="Bob", canonical="Robert Klein")
    everything = (await either.call("alias.list", limit=1000))["aliases"]
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await either.call("alias.list", limit=7, **({"cursor": cursor} if cursor else {}))
        found += page["aliases"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert found == everything
    assert {"type": "person", "alias": "bob", "canonical": "robert-klein", "source": "caller"} in found


# ---------------------------------------------------------------- following


async def test_entities_are_derived_in_the_background_once_it_is_quiet(either: Api) -> None:
    await either.remember("Emotet here.")

    def is_known_a_moment_later() -> bool:
        either.clock.advance(timedelta(milliseconds=100))
        return either.shelf().view.entities.get("malware", "emotet") is not None

    await until(is_known_a_moment_later)


@pytest.mark.parametrize(("others", "tenths"), [(0, 20), (300, 100)])
async def test_who_asks_all_the_time_holds_that_up(either: Api, others: int, tenths: int) -> None:
    await either.remember("Emotet here.")
    if others:  # more than one batch: who reads them all has not done so soon anyway
        await either.call("remember_many", notes=[{"content": f"Rain on day {day}."} for day in range(others)])
    turns = 0
    while either.shelf().view.entities.get("malware", "emotet") is None and turns < 500:
        await either.call("recall", query="Emotet", count_hits=False)
        either.clock.advance(timedelta(milliseconds=100))
        await asyncio.sleep(0.001)
        turns += 1
    assert tenths <= turns < 500


async def test_what_a_daemon_left_is_derived_after_the_next_start(either: Api) -> None:
    await either.remember("Emotet one.")
    await mentioning(either, "malware", "emotet")
    await either.remember("Emotet two.")
    await either.reopen()
    assert await mentioning(either, "malware", "emotet") == ["Emotet two.", "Emotet one."]


async def test_what_notes_mention_is_not_in_the_log(either: Api) -> None:
    await either.remember("Emotet, also known as Geodo, came.")
    before = either.shelf().view.log.last_seq
    await mentioning(either, "malware", "emotet")
    assert either.shelf().view.log.last_seq == before


async def test_hundreds_of_notes_are_read_in_batches(api: Api) -> None:
    notes = [{"content": f"Host web-{number} ran Emotet."} for number in range(600)]
    await api.call("remember_many", notes=notes)
    assert len(await mentioning(api, "malware", "emotet", k=200)) == 200
    assert await mentioning(api, "asset", "web-599") == ["Host web-599 ran Emotet."]


async def test_a_note_of_ten_thousand_entities_keeps_some_and_harms_nobody(either: Api) -> None:
    await either.remember(" ".join(f"10.{a}.{b}.1" for a in range(100) for b in range(100)))
    await either.remember("Emotet here.")
    assert await mentioning(either, "malware", "emotet") == ["Emotet here."]
    await either.shelf().enrichment.reach()
    assert len(either.shelf().view.entities.of_note(1)) == 256


@pytest.mark.parametrize("text", ["\u0130" * 50, "\ud7ff ‐― APT", "a" * 5000, "🦊 Anna 🦊", "١٢٣"])
async def test_any_text_can_be_read(either: Api, text: str) -> None:
    await either.remember(text)
    await mentioning(either, "malware", "emotet")


# ------------------------------------------------------------------- recall


async def test_a_question_finds_what_was_stored_under_another_name(either: Api) -> None:
    await either.remember("APT28 uses X-Agent and Mimikatz as tools.")
    await either.remember("The kettle is in the kitchen.")
    found = await either.found("What tools does Fancy Bear use?")
    assert found[:1] == ["APT28 uses X-Agent and Mimikatz as tools."]


async def test_a_question_by_the_first_name_finds_the_others_once_they_are_read(either: Api) -> None:
    await either.remember("Fancy Bear registers domains in Riga.")
    assert len((await either.call("recall_actor", actor_name="apt28"))["notes"]) == 1
    assert "Fancy Bear registers domains in Riga." in await either.found("Where does APT28 register domains?")


async def test_a_question_knows_the_shelf_s_own_aliases(either: Api) -> None:
    await either.call("alias.add", type="actor", alias="Blue Otter", canonical="Storm Weasel")
    await either.remember("Storm Weasel uses rented servers.")
    await either.call("recall_actor", actor_name="Blue Otter")
    assert "Storm Weasel uses rented servers." in await either.found("Which servers does Blue Otter use?")


async def test_what_reading_needs_is_not_made_on_the_event_loop(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[bool] = []

    def prepare() -> None:
        prepared.append(current_thread() is main_thread())

    monkeypatch.setattr(batches, "prepare", cache(prepare))
    for number in range(2):
        await either.remember(f"Anna Lund met Bob Frost {number} times.")
        await either.call("recall_entity", entity_type="person", entity_value="Anna Lund")

    assert prepared == [False]


async def test_a_name_is_known_where_nothing_shows_what_it_is(either: Api) -> None:
    await either.remember("Adaeze works at Nordwind.")
    said = ["the keys went to Adaeze", "Adaeze: 14:30 Uhr"]
    for text in (*said, "Adaeze Okafor is somebody else", "adaeze in small letters", "APT28 is no person"):
        await either.remember(text)
    assert await mentioning_texts(either, "Adaeze") == {"Adaeze works at Nordwind.", *said}
    assert await mentioning_texts(either, "Kasimir") == set()


async def test_a_name_of_one_word_has_to_be_known_and_one_that_is_a_word_shows_itself(either: Api) -> None:
    for text in ("Mark works at Bosch.", "Mark the boxes", "the paint is Bordeaux"):
        await either.remember(text)
    assert await mentioning_texts(either, "Mark") == {"Mark works at Bosch."}
    assert await mentioning_texts(either, "Paint") == set()


async def test_somebodys_full_name_is_theirs_in_every_language_and_purged(either: Api) -> None:
    told = {"Ludvig Sandvik bought a boat.", "Nach dem Essen kam Ludvig Sandvik vorbei.", "LUDVIG SANDVIK!"}
    for text in (*told, "Dinner with Mr. Sandvik", "ludvig of sandvik"):
        await either.remember(text)
    assert await mentioning_texts(either, "Dr. Ludvig Sandvik") == told
    hidden = await either.remember("Ludvig Sandvik called.")
    await either.call("note.hide", id=hidden["id"])
    purged = await either.call("entity.purge", entity_type="person", entity_value="Ludvig Sandvik")
    assert purged["purged"] == 4
    assert await mentioning_texts(either, "Ludvig Sandvik") == set()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Grandma Edith said: never wash the pan.", "Grandma Edith"),  # of which "Edith" is known for a name
        ("Her teacher is Frau Hofmühle.", "Hofmühle"),
        ("Le vétérinaire est le docteur Lambert.", "docteur Lambert"),
        ("We saw a painting by Vincent van Gogh.", "Vincent van Gogh"),
        ("佐藤健一さんは東京から来ます。", "佐藤健一"),
        ("王芳负责技术支持。", "王芳"),
        ("김민수는 서울에 산다.", "김민수"),
        ("サラはベルゲンに来ます。", "サラ"),
    ],
)
async def test_a_name_that_stands_in_a_note_finds_it(either: Api, text: str, name: str) -> None:
    await either.remember(text)
    await either.remember("APT28 deployed X-Agent.")
    assert await mentioning_texts(either, name) == {text}
    purged = await either.call("entity.purge", entity_type="person", entity_value=name)
    assert purged["purged"] == 1
    assert await mentioning_texts(either, name) == set()


async def test_what_is_more_than_a_name_is_not_found_by_it(either: Api) -> None:
    for text in ("サラダを食べました。", "Cobalt Strike was seen", "Vincent van der Meer called"):
        await either.remember(text)
    for name in ("サラ", "Cobalt Strike", "Vincent van Gogh", "芳"):
        assert await mentioning_texts(either, name) == set()


async def test_a_full_note_says_what_it_mentions_as_soon_as_it_is_stored(either: Api) -> None:
    note = await either.remember("APT28, also known as Fancy Bear, exploited CVE-2024-3094. APT28 is active.")
    full = await either.note(note["id"], full=True)
    assert set(full["entities"]) == {"apt28", "fancy-bear", "cve-2024-3094"}
    assert full["version"] == 1
    assert full["keywords"][0] == "apt28"
    assert len(full["keywords"]) <= 7
    assert not {"entities", "version", "keywords"} & set(await either.note(note["id"]))
    await either.call("note.edit", id=note["id"], content="nothing worth a name")
    assert "entities" not in await either.note(note["id"], full=True)


async def mentioning_texts(api: Api, person: str) -> set[str]:
    result = await api.call("recall_entity", entity_type="person", entity_value=person, k=20)
    return {note["content"] for note in result["notes"]}


@pytest.mark.parametrize(
    ("type_", "note", "name"),
    [
        ("person", "Carlos Núñez works at Acme.", "carlos nunez"),
        ("person", "Carlos Nunez works at Acme.", "Carlos Núñez"),
        ("person", "Søren Łukasz works at Acme.", "Soren Lukasz"),
        ("organization", "Priya works at Café Müller GmbH.", "cafe muller"),
    ],
)
async def test_a_name_is_found_without_its_accents(either: Api, type_: str, note: str, name: str) -> None:
    await either.remember(note)
    await either.remember("Carla Nunes works at Cafe Miller.")
    found = await either.call("recall_entity", entity_type=type_, entity_value=name)
    assert [one["content"] for one in found["notes"]] == [note]
    assert found["entity"]["value"] == name.lower().replace(" ", "-")
    listed = await either.call("graph.timeline", entity_type=type_, entity_value=name)
    assert len(listed["entries"]) == 1


async def test_the_graph_is_entered_by_a_name_without_its_accents(either: Api) -> None:
    note = await either.remember("Carlos Núñez works at Acme.")
    found = await either.call("get_entity_relationships", entity_type="person", entity_value="carlos nunez")
    assert (found["entity"]["value"], found["entity"]["canonical"]) == ("carlos-nunez", "carlos-núñez")
    assert [one["note_id"] for one in found["relationships"]] == [note["id"]]
    assert (await either.call("traverse_graph", start_type="person", start_value="carlos nunez"))["nodes"]
    around = {"entity_type": "person", "entity_value": "carlos nunez"}
    assert (await either.call("graph.export", **around))["node_count"] == 2


async def test_names_that_differ_in_accents_are_two_where_both_are_known(either: Api) -> None:
    await either.remember("Jan Müller works at Acme.")
    await either.remember("Jan Muller works at Globex.")
    assert await mentioning(either, "person", "jan müller") == ["Jan Müller works at Acme."]
    assert await mentioning(either, "person", "JAN MULLER") == ["Jan Muller works at Globex."]


async def test_an_alias_is_found_without_its_accents(either: Api) -> None:
    await either.remember("Carlitos works at Acme.")
    await either.call("alias.add", type="person", alias="Carlitos", canonical="Carlos Núñez")
    assert await mentioning(either, "person", "Carlos Nunez") == ["Carlitos works at Acme."]
    await either.call("alias.add", type="person", alias="El Niño", canonical="Carlos Núñez")
    assert await mentioning(either, "person", "el nino") == ["Carlitos works at Acme."]


async def test_what_is_no_name_keeps_its_accents(either: Api) -> None:
    await either.remember("See https://example.org/caf\u00e9 for more.")
    assert await mentioning(either, "url", "https://example.org/cafe") == []


async def test_a_purge_takes_names_as_they_are_written(either: Api) -> None:
    await either.remember("Jan Müller works at Acme.")
    assert (await either.call("entity.purge", entity_type="person", entity_value="Jan Muller", dry_run=True))[
        "notes"
    ] == 0


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have fewer notes be many."""
    monkeypatch.setattr(caught_up, "_LEFT_OF_ENTITIES", 50)


async def import_many(api: Api, count: int = 150) -> int:
    """Store many notes at once; return the last change."""
    notes = [{"content": f"APT{n % 30} used Mimikatz on host-{n}.example.org, wrote Anna Lund."} for n in range(count)]
    notes[3]["title"] = "APT7"
    notes[4]["content"] = "Fancy Bear is back."
    return int((await api.call("remember_many", notes=notes))["last_seq"])


@pytest.mark.usefixtures("hasty")
async def test_after_an_import_an_entity_is_found_before_all_notes_were_read(either: Api) -> None:
    last_seq = await import_many(either)
    asked = [
        ("actor", "APT 7"),
        ("domain", "HOST-7.example.org"),
        ("tool", "mimikatz"),
        ("person", "anna lund"),
        ("actor", "apt 28"),
    ]
    params: list[dict[str, Any]] = [{"entity_type": type_, "entity_value": value, "k": 9} for type_, value in asked]
    first = [await either.call("recall_entity", **one) for one in params]
    assert [one["index"] for one in first] == [{"state": "warming", "share": 0.0, "seq": 0}] * 5
    await either.shelf().enrichment.reach()
    then = [await either.call("recall_entity", **one) for one in params]
    assert [one["index"] for one in then] == [{"state": "ready", "share": 1.0, "seq": last_seq}] * 5
    assert [[note["id"] for note in one["notes"]] for one in first] == [
        [note["id"] for note in one["notes"]] for one in then
    ]
    assert [len(one["notes"]) for one in first] == [6, 1, 9, 9, 6]


@pytest.mark.usefixtures("hasty")
async def test_who_says_up_to_which_change_waits_for_it(either: Api) -> None:
    last_seq = await import_many(either)
    params = {"entity_type": "actor", "entity_value": "APT7"}
    assert (await either.call("get_entity_relationships", **params))["index"]["state"] == "warming"
    related = await either.call("get_entity_relationships", **params, min_seq=last_seq)
    assert related["index"] == {"state": "ready", "share": 1.0, "seq": last_seq}
    assert related["relationships"]


@pytest.mark.usefixtures("hasty")
async def test_what_was_asked_for_is_read_without_waiting_until_others_are_quiet(api: Api) -> None:
    await import_many(api)

    async def pass_time(steps: int) -> None:
        for _ in range(steps):
            api.clock.advance(timedelta(milliseconds=30))
            for _ in range(50):
                await asyncio.sleep(0)

    await pass_time(3)
    assert api.shelf().enrichment.read_so_far() == (0, 0.0)
    await api.call("recall_actor", actor_name="APT7")
    await pass_time(17)  # 0.5 s; until others are quiet it would be 0.7 s
    assert api.shelf().enrichment.read_so_far().seq > 0
