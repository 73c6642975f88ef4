"""Types of entities of the configuration: found, recalled, named otherwise; read again when they change."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes import Api, memory
from shelfd.memory import EntityRule, MemorySettings
from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.entities.own import OwnTypes
from shelfd.memory.knowledge.entities.patterns import PatternError
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

TICKETS = EntityRule("ticket", (r"(?:INC|CHG)-?\d{4,8}",), ("the outage of May",))
Opened: TypeAlias = Callable[..., AbstractAsyncContextManager[Api]]


@pytest.fixture(params=["inmemory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens the memory with these types."""

    def open_with(*rules: EntityRule) -> AbstractAsyncContextManager[Api]:
        settings = MemorySettings(entity_rules=rules)
        if request.param == "inmemory":
            return memory(InMemoryStores, settings=settings)
        return memory(lambda clock: SqliteStores(tmp_path, clock), settings=settings)

    return open_with


async def mentioning(api: Api, type_: str, value: str) -> list[str]:
    result = await api.call("recall_entity", entity_type=type_, entity_value=value)
    return [note["content"] for note in result["notes"]]


async def test_a_name_counts_however_it_is_written(opened: Opened) -> None:
    async with opened(EntityRule("vessel", (), ("Nordlys", "MS Halvorsen"))) as api:
        for text in ("nordlys leaves at nine", "NORDLYS was late", "sailed on the ms halvorsen"):
            await api.remember(text)
        assert await mentioning(api, "vessel", "Nordlys") == ["NORDLYS was late", "nordlys leaves at nine"]
        assert await mentioning(api, "vessel", "MS Halvorsen") == ["sailed on the ms halvorsen"]


async def test_what_a_pattern_and_a_name_find_is_recalled(opened: Opened) -> None:
    async with opened(TICKETS) as api:
        await api.remember("INC-204412 is solved.")
        await api.remember("It began with the Outage of May.")
        assert await mentioning(api, "ticket", "inc 204412") == ["INC-204412 is solved."]
        assert await mentioning(api, "ticket", "The outage of May") == ["It began with the Outage of May."]
        assert (await api.call("get_stats"))["entity_index"]["ticket"] == {"unique_entities": 2, "total_mappings": 2}


async def test_names_can_be_added_to_a_type_that_is_there(opened: Opened) -> None:
    async with opened(EntityRule("tool", names=("Frobnicator", "quiet hammer"))) as api:
        await api.remember("They used the quiet hammer and Frobnicator.")
        assert len((await api.call("recall_tool", tool_name="Quiet-Hammer"))["notes"]) == 1
        assert len((await api.call("recall_tool", tool_name="frobnicator"))["notes"]) == 1


async def test_other_names_hold_for_own_types_and_unknown_types_are_refused(opened: Opened) -> None:
    async with opened(TICKETS) as api:
        await api.remember("INC-204412 is solved.")
        await api.call("alias.add", type="ticket", alias="the great flood", canonical="INC-204412")
        assert len(await mentioning(api, "ticket", "The Great Flood")) == 1
        assert len((await api.call("alias.list", type="ticket"))["aliases"]) == 1
        refused = await api.refused("recall_entity", entity_type="tickets", entity_value="x")
        assert refused.field == "entity_type"
        assert "ticket," in refused.message


async def test_a_change_of_the_types_has_every_note_read_again(opened: Opened) -> None:
    async with opened() as api:
        await api.remember("INC-204412 is solved.")
        await mentioning(api, "tool", "nmap")
        for rules, expected in (((TICKETS,), 1), ((TICKETS._replace(patterns=("CHG[0-9]{4}",)),), 0), ((TICKETS,), 1)):
            api.settings = replace(api.settings, entity_rules=rules)
            await api.reopen()
            assert len(await mentioning(api, "ticket", "INC-204412")) == expected
        api.settings = MemorySettings()
        await api.reopen()
        refused = await api.refused("recall_entity", entity_type="ticket", entity_value="x")
        assert refused.code == -32602
        await mentioning(api, "tool", "nmap")
        assert api.shelf().view.entities.counts() == []


async def test_types_that_stay_have_nothing_read_again(opened: Opened) -> None:
    async with opened(TICKETS) as api:
        await api.remember("INC-204412 is solved.")
        assert len(await mentioning(api, "ticket", "INC-204412")) == 1
        position = api.shelf().view.entities.position()
        await api.reopen()
        assert len(await mentioning(api, "ticket", "INC-204412")) == 1
        assert api.shelf().view.entities.position() == position


def found(text: str, *rules: EntityRule) -> list[tuple[str, str]]:
    return [(mention.type, text[mention.start : mention.end]) for mention in extract(text, types=OwnTypes(rules))]


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (EntityRule("line", (r"web-\d{1,3}",)), "Host web-12 is down.", [("line", "web-12")]),
        (EntityRule("host", (r"[a-z]{2,8}\.corp\.example",)), "See db.corp.example.", [("host", "db.corp.example")]),
        (EntityRule("crop", names=("Anna",)), "Anna is ripe.", [("crop", "Anna")]),
        (EntityRule("id", (r"\d{4}",)), "CVE-2024-3094 and 2024", [("id", "2024"), ("id", "3094"), ("id", "2024")]),
    ],
)
def test_what_the_configuration_says_counts_before_all_else(
    rule: EntityRule, text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text, rule) == expected


def test_of_two_patterns_the_first_counts() -> None:
    rules = (EntityRule("first", (r"AB-\d{2}",)), EntityRule("second", (r"[A-Z]{2}-\d{2}",), ("XY",)))
    assert found("AB-12, CD-34 and XY", *rules) == [("first", "AB-12"), ("second", "CD-34"), ("second", "XY")]


def test_a_pattern_that_is_refused_is_named() -> None:
    rules = (TICKETS, EntityRule("other", (r"\d{4}", r"(x+)+y")))
    with pytest.raises(PatternError, match=r"pattern 2 of other: at character 3: \+ repeats without end"):
        OwnTypes(rules)
    many: Any = (EntityRule("other", tuple(rf"{letter}{{1,30}}-\d{{1,30}}" for letter in "ab")),)
    with pytest.raises(PatternError, match="pattern 2 of other: with those before it"):
        OwnTypes(many)
