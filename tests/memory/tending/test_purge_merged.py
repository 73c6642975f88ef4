"""Purge of notes that became part of others: what these took over besides lines goes, too."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from shelfd.storage import SqliteStores

SECRET = "periwinkle"


class House:
    """The memory over files, and what stands in these."""

    def __init__(self, api: Api, directory: Path) -> None:
        self.api = api
        self._directory = directory

    async def merge(self, target: dict[str, Any], source: dict[str, Any]) -> None:
        """Let one note take over another."""
        await self.api.call("note.merge", target=target["id"], source=source["id"])

    async def purge(self, note: dict[str, Any]) -> list[str]:
        """Forget a note for good; return what still holds text of it."""
        still_in: list[str] = (await self.api.call("forget", id=note["id"], purge=True))["still_in"]
        return still_in

    async def holds_secret(self) -> bool:
        """Whether any file has the secret, in a row, in the log or on a free page."""
        await self.api.shelves.close()
        return any(SECRET.encode() in path.read_bytes() for path in self._directory.rglob("*") if path.is_file())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        yield House(api, tmp_path)


async def test_the_summary_of_a_typed_note_follows(house: House) -> None:
    target = await house.api.remember("tea is good", fields={"summary": "tea is good"})
    source = await house.api.remember(f"the {SECRET} blooms")
    await house.merge(target, source)
    await house.api.call("note.edit", id=target["id"], set_fields={"cups": 2})
    assert await house.purge(source) == []

    note = await house.api.note(target["id"])
    assert (note["content"], note["fields"]) == ("tea is good", {"summary": "tea is good", "cups": 2})
    assert not await house.holds_secret()


async def test_tags_derived_from_its_words_go(house: House) -> None:
    target = await house.api.remember("about good tea")
    source = await house.api.remember("blooms", title=f"{SECRET} garden")
    await house.merge(target, source)
    await house.api.call("reflect")
    assert SECRET in (await house.api.note(target["id"]))["tags"]
    await house.api.call("note.edit", id=target["id"], add_tags=["kitchen"])
    assert await house.purge(source) == []

    assert {"good", "kitchen"} <= set((await house.api.note(target["id"]))["tags"])
    assert not await house.holds_secret()


async def test_tags_that_were_derived_once_leave_the_log(house: House) -> None:
    target, source = await house.api.remember("tea is good"), await house.api.remember(f"{SECRET} blooms")
    await house.merge(target, source)
    await house.api.call("reflect")
    await house.api.call("note.edit", id=target["id"], content="tea")
    await house.api.call("reflect")  # derives them anew, from other words
    await house.purge(source)

    assert not await house.holds_secret()


async def test_links_handed_on_go(house: House) -> None:
    target, source = await house.api.remember("tea"), await house.api.remember("coffee")
    between, other = await house.api.remember("mate"), await house.api.remember("water")
    await house.api.call("link.upsert", source=source["id"], target=other["id"], reason=f"as {SECRET} says")
    await house.api.call("link.upsert", source=target["id"], target=other["id"], relation="needs", reason="own")
    await house.merge(between, source)
    await house.api.call("link.upsert", source=between["id"], target=other["id"], relation="cools", reason="own, too")
    await house.merge(target, between)
    assert await house.purge(source) == []

    links = (await house.api.note(target["id"]))["links"]
    assert {(link["relation"], link["reason"]) for link in links} == {("needs", "own"), ("cools", "own, too")}
    assert not await house.holds_secret()


async def test_a_link_handed_on_and_taken_away_leaves_the_log(house: House) -> None:
    target, source, other = [await house.api.remember(text) for text in ("tea", "coffee", "water")]
    await house.api.call("link.upsert", source=source["id"], target=other["id"], reason=f"as {SECRET} says")
    await house.merge(target, source)
    await house.api.call("link.delete", source=target["id"], target=other["id"])
    assert await house.purge(source) == []

    assert not await house.holds_secret()


async def test_a_link_that_somebody_made_again_stays_and_is_named(house: House) -> None:
    target, source, other = [await house.api.remember(text) for text in ("tea", "coffee", "water")]
    await house.api.call("link.upsert", source=source["id"], target=other["id"], reason="both are drunk")
    await house.merge(target, source)
    again = {"source": target["id"], "target": other["id"], "direction": "outgoing"}
    await house.api.call("link.upsert", again, reason="both are drunk", valid_from="2026-01-01T00:00:00Z")
    assert await house.purge(source) == [target["id"]]

    assert [link["to"] for link in (await house.api.note(target["id"]))["links"]] == [other["id"]]


@pytest.mark.parametrize("taken_back", [False, True])
async def test_lines_are_found_behind_a_note_that_has_gone(house: House, taken_back: bool) -> None:
    first, second, third = [await house.api.remember(text) for text in (f"the {SECRET} blooms", "tea", "coffee")]
    await house.merge(second, first)
    tx = (await house.api.call("shelf.log", limit=1000))["log"][-1]["tx"]
    await house.merge(third, second)
    if taken_back:
        await house.api.call("undo", tx=tx)
    assert await house.purge(second) == []
    assert await house.purge(first) == []

    assert (await house.api.note(third["id"]))["content"] == "coffee"
    assert not await house.holds_secret()


@pytest.mark.parametrize("edits", [1, 2])
async def test_a_line_that_was_rewritten_before_the_merge_was_taken_back_is_named(house: House, edits: int) -> None:
    target, source = await house.api.remember("tea is good"), await house.api.remember(f"the {SECRET} blooms")
    await house.merge(target, source)
    tx = (await house.api.call("shelf.log", limit=1000))["log"][-1]["tx"]
    for number in range(edits):
        text = f"tea is good\nthe {SECRET} bloomed {number} times"
        await house.api.call("note.edit", id=target["id"], content=text)
    await house.api.call("undo", tx=tx)
    assert SECRET in (await house.api.note(target["id"]))["content"]

    assert await house.purge(source) == [target["id"]]


async def test_a_line_added_beside_those_that_were_taken_back_is_nobody_else_s(house: House) -> None:
    target, source = await house.api.remember("tea is good"), await house.api.remember(f"the {SECRET} blooms")
    await house.merge(target, source)
    tx = (await house.api.call("shelf.log", limit=1000))["log"][-1]["tx"]
    content = (await house.api.note(target["id"]))["content"]
    await house.api.call("note.edit", id=target["id"], content=f"{content}\nso is coffee")
    await house.api.call("undo", tx=tx)
    await house.api.call("note.edit", id=target["id"], content="mate is good")

    assert await house.purge(source) == []
    assert not await house.holds_secret()
