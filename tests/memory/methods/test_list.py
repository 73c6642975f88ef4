"""note.list: filters, order, pages."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api


async def contents(api: Api, **params: Any) -> list[str]:
    return [note["content"] for note in (await api.call("note.list", **params))["notes"]]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"nugget": "work"}, ["plan"]),
        ({"kind": "fact"}, ["green"]),
        ({"subject": "person:ada"}, ["plan"]),
        ({"scope": "project"}, ["plan"]),
        ({"type": "event"}, ["plan"]),
        ({"stability": "temporary"}, ["plan"]),
        ({"tags": ["x"]}, ["plan", "green"]),
        ({"tags": ["X", "y"]}, ["plan"]),
        ({"tags": ["scope:project"]}, ["plan"]),
        ({"tags": ["type:event", "x"]}, ["plan"]),
        ({"tags": ["scope:project"], "scope": "user"}, []),
        ({"tags": ["work"], "nugget": "work"}, ["plan"]),
        ({"needs_review": True}, ["doubt"]),
        ({"needs_review": False}, ["plan", "green"]),
        ({"include_hidden": True, "kind": "note"}, ["plan", "doubt", "gone"]),
        ({}, ["plan", "green", "doubt"]),
    ],
)
async def test_filters(either: Api, wanted: dict[str, Any], expected: list[str]) -> None:
    await either.remember(
        "plan",
        nugget="work",
        subject="person:ada",
        scope="project",
        type="event",
        stability="temporary",
        tags=["x", "y"],
    )
    await either.remember("green", key="colour", tags=["x"])
    await either.remember("doubt", confidence=0.1)
    gone = await either.remember("gone")
    await either.call("note.hide", id=gone["id"])

    assert await contents(either, **wanted) == expected
    assert (await either.call("note.list", **wanted))["total"] == len(expected)


@pytest.mark.parametrize(
    ("order", "desc", "expected"),
    [
        ("created_at", False, "abc"),
        ("created_at", True, "cba"),
        ("updated_at", False, "bca"),
        ("updated_at", True, "acb"),
    ],
)
async def test_order(either: Api, order: str, desc: bool, expected: str) -> None:
    first = await either.remember("a")
    for content in "bc":
        either.clock.advance(timedelta(seconds=1))
        await either.remember(content)
    either.clock.advance(timedelta(seconds=1))
    await either.call("note.edit", id=first["id"], pinned=True)

    assert "".join(await contents(either, order=order, desc=desc)) == expected


@pytest.mark.parametrize("desc", [False, True])
async def test_pages_neither_repeat_nor_miss_a_note_while_others_write(either: Api, desc: bool) -> None:
    there = [(await either.remember(f"n{n}"))["id"] for n in range(10)]  # all at one moment

    seen: list[str] = []
    page: dict[str, Any] = {"next_cursor": None}
    while "next_cursor" in page:
        page = await either.call("note.list", order="created_at", desc=desc, limit=3, cursor=page["next_cursor"])
        seen += [note["id"] for note in page["notes"]]
        either.clock.advance(timedelta(seconds=1))
        if len(seen) < 10:
            await either.remember("later")
            await either.call("note.edit", id=there[4], pinned=len(seen) % 2 == 0)

    assert len(seen) == len(set(seen))
    assert set(there) <= set(seen)


async def test_the_total_counts_all_pages(api: Api) -> None:
    for n in range(5):
        await api.remember(f"n{n}")

    result = await api.call("note.list", limit=2)
    assert [len(result["notes"]), result["total"]] == [2, 5]


async def test_an_unknown_nugget_is_not_found(api: Api) -> None:
    assert (await api.refused("note.list", nugget="nowhere")).kind == "NuggetNotFound"


async def test_the_total_is_counted_with_the_first_page(either: Api) -> None:
    for n in range(5):
        await either.remember(f"n{n}", tags=["x"])

    first = await either.call("note.list", limit=2, tags=["x"])
    await either.remember("later", tags=["x"])
    second = await either.call("note.list", limit=2, tags=["x"], cursor=first["next_cursor"])
    assert [first["total"], second["total"]] == [5, 5]
    assert (await either.call("note.list", tags=["x"]))["total"] == 6
