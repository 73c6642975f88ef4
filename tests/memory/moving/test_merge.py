"""Copies of a shelf that were edited apart come together: whatever order, the same shelf, and nothing is lost."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, Self

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fakes import ROOT, Api, memory
from memory.moving.test_export import exported
from shelfd.memory.log.logical import logical_hash

Json = dict[str, Any]


async def merge(api: Api, lines: Sequence[Json]) -> list[Json]:
    """Do what the command does with another copy's lines; return the parts' accounts."""
    parts = [
        {"part": "gone", "items": [line for line in lines if "gone" in line["shelfd"]]},
        {"part": "nuggets", "items": [line for line in lines if "nugget" in line["shelfd"]]},
        {"part": "notes", "items": [line for line in lines if "content" in line]},
        {"part": "links", "items": [line for line in lines if "links" in line["shelfd"]]},
    ]
    result = await api.call("shelf.merge", parts=parts, principal=ROOT)
    assert [part["rejected"] for part in result["parts"]] == [[]] * 4
    for part in result["parts"]:
        for note_id in part.get("purge", ()):
            await api.call("forget", id=note_id, purge=True, principal=ROOT)
    found: list[Json] = result["parts"]
    return found


async def lines_of(api: Api) -> list[Json]:
    return await exported(api, states=True)


async def hash_of(api: Api) -> str:
    return logical_hash(api.shelf().view)


class Copies:
    """Several copies of one shelf."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def of(self, *shelves: Sequence[Json]) -> Api:
        """Return a shelf that these were merged into, in this order."""
        api = await self._stack.enter_async_context(memory())
        for lines in shelves:
            await merge(api, lines)
        return api


async def test_the_newer_of_two_states_counts_and_two_apart_are_both_shown(either: Api) -> None:
    first = await either.remember("The boat is red.")
    second = await either.remember("The quay is closed.")
    async with Copies() as copies:
        other = await copies.of(await lines_of(either))
        assert await hash_of(other) == await hash_of(either)
        await other.call("note.edit", id=first["id"], content="The boat is blue.")
        await other.call("note.edit", id=second["id"], content="The quay is open.")
        either.clock.advance(timedelta(hours=2))
        await either.call("note.edit", id=second["id"], content="The quay opens on Friday.")
        parts = await merge(either, await lines_of(other))
        assert (await either.note(first["id"]))["content"] == "The boat is blue."
        assert (await either.note(second["id"]))["content"] == "The quay opens on Friday."
        (kept,) = parts[2]["kept"]
        assert (await either.note(kept["id"]))["content"] == "The quay is open."
        (conflict,) = (await either.call("conflict.list"))["conflicts"]
        assert {conflict["a"]["id"], conflict["b"]["id"]} == {second["id"], kept["id"]}

        await either.call("conflict.resolve", id=conflict["id"], keep="a")
        before = await hash_of(either)
        again = await merge(either, await lines_of(other))
        assert (await hash_of(either), again[2]["kept"]) == (before, [])
        await merge(other, await lines_of(either))
        assert await hash_of(other) == before
        assert (await either.call("conflict.list"))["conflicts"] == []


async def test_what_copies_made_apart_stays_to_be_decided_whatever_it_says(either: Api) -> None:
    note = await either.remember("The quay is closed.")
    async with Copies() as copies:
        other = await copies.of(await lines_of(either))
        await other.call("note.edit", id=note["id"], content="The quay is open.")
        await either.call("note.edit", id=note["id"], content="The quay opens on Friday.")
        await merge(either, await lines_of(other))
        await either.call("note.edit", id=note["id"], content="The quay opens on Friday at eight.")
        assert len((await either.call("conflict.list"))["conflicts"]) == 1


async def test_one_who_has_seen_both_ends_the_conflict(either: Api) -> None:
    note = await either.remember("one")
    async with Copies() as copies:
        base = await lines_of(either)
        left, right = await copies.of(base), await copies.of(base)
        await left.call("note.edit", id=note["id"], content="two")
        await right.call("note.edit", id=note["id"], content="three")
        later = await copies.of(await lines_of(right))
        later.clock.advance(timedelta(days=1))
        await later.call("note.edit", id=note["id"], content="three and a half")
        both = await copies.of(await lines_of(left), await lines_of(right))
        assert await contents(both) == ["three", "two"]
        await merge(both, await lines_of(later))
        assert (await both.note(note["id"]))["content"] == "three and a half"
        assert await contents(both) == ["three and a half", "two"]


async def contents(api: Api) -> list[str]:
    found = await api.call("note.list", include_hidden=True)
    return sorted(note["content"] for note in found["notes"])


async def test_what_was_purged_stays_purged(either: Api) -> None:
    note, kept = await either.remember("a secret"), await either.remember("kept")
    await either.call("link.upsert", source=kept["id"], target=note["id"], direction="outgoing")
    async with Copies() as copies:
        other = await copies.of(await lines_of(either))
        await other.call("note.edit", id=note["id"], content="a secret, edited")
        await either.call("forget", id=note["id"], purge=True, principal=ROOT)
        await merge(either, await lines_of(other))
        assert await contents(either) == ["kept"]
        await merge(other, await lines_of(either))
        assert await contents(other) == ["kept"]
        third = await copies.of(await lines_of(other))
        assert await hash_of(third) == await hash_of(either) == await hash_of(other)


async def test_a_link_that_was_removed_is_removed_everywhere(either: Api) -> None:
    one, two = await either.remember("one"), await either.remember("two")
    ends = {"source": one["id"], "target": two["id"]}
    await either.call("link.upsert", **ends, direction="outgoing")
    async with Copies() as copies:
        other = await copies.of(await lines_of(either))
        other.clock.advance(timedelta(hours=1))
        await other.call("link.delete", **ends)
        await merge(either, await lines_of(other))
        assert (await either.note(one["id"]))["links"] == []


async def test_a_removal_that_is_taken_back_is_taken_back_everywhere(either: Api) -> None:
    one, two = await either.remember("one"), await either.remember("two")
    ends = {"source": one["id"], "target": two["id"]}
    await either.call("link.upsert", **ends, direction="outgoing")
    was = await hash_of(either)
    async with Copies() as copies:
        other = await copies.of(await lines_of(either))
        await either.call("link.delete", **ends)
        await merge(other, await lines_of(either))
        assert (await other.note(one["id"]))["links"] == []
        await either.call("undo", tx=either.shelf().view.log.last_seq)
        assert await hash_of(either) == was
        await merge(other, await lines_of(either))
        assert [link["to"] for link in (await other.note(one["id"]))["links"]] == [two["id"]]
        await merge(either, await lines_of(other))
        assert await hash_of(either) == await hash_of(other)


async def test_facts_that_got_one_key_apart_both_stay(either: Api) -> None:
    async with Copies() as copies:
        base = await lines_of(either)
        left, right = await copies.of(base), await copies.of(base)
        await left.call("remember", content="blue", key="colour")
        right.clock.advance(timedelta(hours=1))
        await right.call("remember", content="red", key="colour")
        one = await copies.of(await lines_of(left), await lines_of(right))
        two = await copies.of(await lines_of(right), await lines_of(left))
        assert await hash_of(one) == await hash_of(two)
        assert await contents(one) == ["blue", "red"]
        values = {note["title"]: note["content"] for note in (await one.call("note.list"))["notes"]}
        assert values.pop("colour") == "blue"
        assert [(name.startswith("colour ("), value) for name, value in values.items()] == [(True, "red")]
        assert len((await one.call("conflict.list"))["conflicts"]) == 1


async def test_a_snapshot_cannot_be_merged(either: Api) -> None:
    await either.remember("x")
    (line,) = [line for line in await exported(either) if "content" in line]
    result = await either.call("shelf.merge", parts=[{"part": "notes", "items": [line]}], principal=ROOT)
    assert result["parts"][0]["rejected"][0]["error"]["data"]["field"] == "shelfd.state"


KINDS = ("edit", "hide", "restore", "tag", "new", "fact", "link", "unlink")
EDITS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.integers(0, 2)), max_size=5)


async def edit(api: Api, edits: Sequence[tuple[str, int, int]], who: str) -> None:
    """Do some edits to a copy, each a little later; what cannot be done is left out."""
    for kind, which, what in edits:
        api.clock.advance(timedelta(seconds=which + what + 1))
        found = (await api.call("note.list", include_hidden=True, limit=50))["notes"]
        found.sort(key=lambda one: (one["created_at"], one["content"], one["id"]))
        if kind == "new" or not found:
            await api.remember(f"new {what} of {who}")
            continue
        note, other = found[which % len(found)], found[what % len(found)]
        match kind:
            case "fact":
                await api.call("remember", content=f"value {what}", key=f"key {which}")
            case "edit":
                await api.call("note.edit", id=note["id"], content=f"text {what}")
            case "tag":
                await api.call("note.edit", id=note["id"], add_tags=[f"t{what}"])
            case "link" if note["id"] != other["id"]:
                await api.call("link.upsert", source=note["id"], target=other["id"], direction="outgoing")
            case "unlink" if note["id"] != other["id"]:
                await api.call("link.delete", source=note["id"], target=other["id"])
            case "hide" | "restore":
                await api.call(f"note.{kind}", id=note["id"])
            case _:
                pass


@given(EDITS, st.tuples(EDITS, EDITS, EDITS, EDITS))
@settings(deadline=None, max_examples=8, phases=[Phase.explicit, Phase.generate])
def test_whatever_order_copies_are_merged_in_they_are_the_same(
    base: list[tuple[str, int, int]], apart: tuple[list[tuple[str, int, int]], ...]
) -> None:
    async def run() -> None:
        async with Copies() as copies:
            origin = await copies.of()
            await edit(origin, base, "origin")
            shared = await lines_of(origin)
            shelves = [await copies.of(shared) for _ in range(3)]
            for number, (shelf, edits) in enumerate(zip(shelves, apart, strict=False)):
                await edit(shelf, edits, str(number))
            a, b, c = [await lines_of(shelf) for shelf in shelves]
            ab = await copies.of(a, b)
            assert await hash_of(ab) == await hash_of(await copies.of(b, a))
            assert await hash_of(await copies.of(a, b, b, a)) == await hash_of(ab)
            await edit(ab, apart[-1], "both")
            later, bc = await lines_of(ab), await lines_of(await copies.of(b, c))
            left = await hash_of(await copies.of(later, c))
            assert left == await hash_of(await copies.of(c, later))
            assert left == await hash_of(await copies.of(bc, later, a))
            assert left == await hash_of(await copies.of(later, bc))

    asyncio.run(run())
