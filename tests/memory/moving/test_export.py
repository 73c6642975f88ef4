"""An export has every note, link and nugget of one moment, page by page, and is read back without loss."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import ROOT, Api, memory
from memory.moving.test_snapshot import NOTES, fill, read_back
from shelfd.memory.errors import StoreBusy
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.moving import export as exporting
from shelfd.memory.shelf.shelf import Shelf

Json = dict[str, Any]


async def exported(api: Api, **params: Any) -> list[Json]:
    """Export page by page."""
    lines: list[Json] = []
    cursor: Json = {}
    while True:
        page = await api.call("shelf.export", principal=ROOT, **params, **cursor)
        lines += page["lines"]
        if "next_cursor" not in page:
            return lines
        cursor = {"cursor": page["next_cursor"]}


async def test_pages_are_of_one_moment(either: Api) -> None:
    await either.call("remember_many", notes=[{"content": f"line {n}"} for n in range(10)])
    first = await either.call("shelf.export", principal=ROOT, limit=4)
    assert (len(first["lines"]), first["notes"]) == (4, 10)
    await either.remember("comes too late")
    rest = [first]
    while "next_cursor" in rest[-1]:
        rest.append(await either.call("shelf.export", principal=ROOT, cursor=rest[-1]["next_cursor"]))
    assert [line["content"]["raw"] for page in rest for line in page["lines"]] == [f"line {n}" for n in range(10)]
    over = await either.refused("shelf.export", principal=ROOT, cursor=first["next_cursor"])
    assert over.data["field"] == "cursor"
    assert (await either.refused("shelf.export")).kind == "Forbidden"


async def test_where_the_disk_is_full_an_export_to_elsewhere_is_possible(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_shelf: Shelf) -> None:
        raise StoreBusy("the disk is full")

    await api.remember("to be rescued")
    monkeypatch.setattr(Shelf, "write_usage", full)
    assert [line["content"]["raw"] for line in await exported(api)] == ["to be rescued"]


async def test_read_back_everything_is_as_it_was(either: Api) -> None:
    await fill(either)
    await either.call("nugget.create", name="empty", max_facts=7)
    before, lines = logical_hash(either.shelf().view), await exported(either, limit=1)
    async with memory() as other:
        result = await read_back(other, lines)
        assert [part["rejected"] + part["kept"] + part["not_kept"] for part in result["parts"]] == [[], [], []]
        assert logical_hash(other.shelf().view) == before
        seq = other.shelf().view.log.last_seq
        await read_back(other, lines)
        assert other.shelf().view.log.last_seq == seq


async def test_one_that_nobody_reads_on_ends(durable: Api) -> None:
    await durable.call("remember_many", notes=[{"content": f"line {n}"} for n in range(3)])
    page = await durable.call("shelf.export", principal=ROOT, limit=1)
    for _ in range(3):
        durable.clock.advance(exporting._PATIENCE)
        await asyncio.sleep(0)
    gone = await durable.refused("shelf.export", principal=ROOT, cursor=page["next_cursor"])
    assert gone.data["field"] == "cursor"
    note = (await exported(durable))[0]
    await durable.call("forget", id=note["id"], purge=True, principal=ROOT)


async def test_a_shelf_can_be_closed_while_one_is_read(durable: Api) -> None:
    await durable.call("remember_many", notes=[{"content": f"line {n}"} for n in range(3)])
    await durable.call("shelf.export", principal=ROOT, limit=1)
    await durable.reopen()
    assert len(await exported(durable)) == 3


@given(NOTES, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=4), st.sets(st.integers(0, 5)))
@settings(deadline=None, max_examples=25)
def test_whatever_notes_there_are_they_come_back(
    notes: list[Json], pairs: list[tuple[int, int]], hidden: set[int]
) -> None:
    async def run() -> None:
        async with memory() as api, memory() as other:
            ids = [(await api.remember(**note))["id"] for note in notes]
            for one, two in pairs:
                if one != two and max(one, two) < len(ids):
                    await api.call("link.upsert", source=ids[one], target=ids[two], direction="outgoing")
            for number in hidden & set(range(len(ids))):
                await api.call("note.hide", id=ids[number])
            await api.call("nugget.create", name="nothing-in-it")
            await read_back(other, await exported(api, limit=2))
            assert logical_hash(other.shelf().view) == logical_hash(api.shelf().view)

    asyncio.run(run())
