"""What a run looks at: nothing is left out for good."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from memory.tending.reflection.scenes import NEW_YEAR, ORIGIN, a_note, settled, shelve, told
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.tending import Tended
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.tending.reflection import selecting
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.selecting import selecting as select
from shelfd.protocol import Limits

BEFORE = NEW_YEAR - 3_600_000_000  #: these tests count the notes' times by microseconds


def needy(names: str | list[str]) -> Any:
    """An improvement that finds something to do in the notes of these ids."""
    return lambda note, _hits, _picture: True if note.id in names else None


async def look(api: Api, *, wants: Any = (), limit: int = 10, **options: Any) -> Picture:
    """Select once, keep the positions, and return what was selected."""
    shelf = await api.shelves.get("default")
    picture = Picture(
        view=shelf.view, index=shelf.projection(ShelfIndex).index, usage=shelf.usage.of, now=api.clock.now(),
        nugget=None, limit=limit, limits=Limits(), stop=frozenset(), **options,
    )  # fmt: skip
    for _ in select([needy(wants)]).plan(picture):
        pass

    def keep(tx: Transaction) -> None:
        for tended in picture.tended():
            tx.rows.tended.put(tended)

    await shelf.commit(ORIGIN, keep)
    return picture


def numbered(count: int, **fields: Any) -> list[Note]:
    return [a_note(f"text {n}", id=f"n{n:03}", updated_at=BEFORE + n, **fields) for n in range(count)]


async def test_what_needs_something_comes_first(either: Api) -> None:
    await shelve(either, numbered(30))
    picture = await look(either, wants=["n017", "n025"], limit=3)

    assert picture.inspected == ["n017", "n025", "n000"]
    assert len(picture.looked) == 30
    assert picture.left == set()


async def test_what_finds_no_room_comes_next_time(either: Api) -> None:
    await shelve(either, numbered(30))
    wants = [f"n{n:03}" for n in range(8, 20)]
    first = await look(either, wants=wants, limit=5)
    assert first.inspected == wants[:5]
    assert first.left == set(wants[5:])

    assert (await look(either, wants=wants[5:], limit=5)).inspected == wants[5:10]
    assert (await look(either, wants=wants[10:], limit=5)).inspected[:2] == wants[10:]


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_every_note_is_inspected_in_turn(either: Api, limit: int) -> None:
    await shelve(either, numbered(23))
    seen: set[str] = set()
    for _ in range(-(-23 // limit) + 2):
        seen |= set((await look(either, limit=limit)).inspected)

    assert len(seen) == 23


async def test_new_notes_do_not_keep_old_ones_waiting(api: Api) -> None:
    await shelve(api, numbered(12))
    await look(api)
    old = [f"n{n:03}" for n in range(12)]
    new: list[str] = []
    for night in range(12):
        fresh = [a_note("new", id=f"x{night:02}{n:02}", updated_at=BEFORE + 1000 * night + n + 100) for n in range(9)]
        new += [note.id for note in await shelve(api, fresh)]
        inspected = (await look(api, wants=old + new, limit=8)).inspected
        old = [note_id for note_id in old if note_id not in inspected]
        new = [note_id for note_id in new if note_id not in inspected]

    assert old == []


async def test_a_shelf_larger_than_one_run_is_gone_through(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selecting, "LOOKED", 20)
    await shelve(api, numbered(100))
    seen: set[str] = set()
    rounds = [set((await look(api)).looked) for _ in range(14)]
    for looked in rounds[:7]:
        assert len(looked) <= 35
        seen |= looked
    assert len(seen) == 100
    assert len(set().union(*rounds[7:])) == 100  # and again


async def test_hidden_superseded_and_expired_notes_are_no_candidates(either: Api) -> None:
    await shelve(either, [
        a_note("a", id="a"), a_note("b", id="b", archived_at=5), a_note("c", id="c", superseded_by="a"),
        a_note("d", id="d", expires_at=NEW_YEAR), a_note("e", id="e", expires_at=NEW_YEAR + 1),
    ])  # fmt: skip

    assert (await look(either)).looked == ["a", "e"]


async def test_many_hidden_notes_do_not_use_up_the_run(api: Api) -> None:
    await shelve(api, [a_note("x", id=f"h{n}", archived_at=5) for n in range(1500)])
    await shelve(api, [a_note("x", id="a")])

    assert (await look(api)).looked == ["a"]


async def test_nuggets_take_turns(either: Api) -> None:
    for nugget in ("a", "b", "c"):
        await shelve(either, [a_note("x", id=f"{nugget}{n}", nugget=nugget) for n in range(3)])
    order = []
    wants = {f"{nugget}{n}" for nugget in "abc" for n in range(3)}
    for _ in range(5):
        either.clock.advance(timedelta(days=1))
        inspected = (await look(either, wants=sorted(wants), limit=2)).inspected
        wants -= set(inspected)
        order += inspected

    assert "".join(name[0] for name in order[:6]) == "aabbcc"  # though a needs more
    assert not wants


async def test_notes_of_a_clock_that_was_set_back_keep_no_new_one_waiting(either: Api) -> None:
    ahead = NEW_YEAR + 10**15
    await shelve(either, [*numbered(3), a_note("x", id="ahead", updated_at=ahead)])
    either.clock.advance(timedelta(days=20_000))
    await look(either)
    either.clock.set_back(timedelta(days=20_000))

    for night in range(3):
        await shelve(either, [a_note("new", id=f"new{night}", updated_at=either.clock.now())])
        either.clock.advance(timedelta(days=1))
        picture = await look(either, wants=[f"new{night}"], limit=1)
        assert picture.inspected == [f"new{night}"]
        (tended,) = either.shelf().view.tended.all()
        assert tended.served_at == either.clock.now()
        assert tended.changed[0] <= either.clock.now()
        assert "ahead" in picture.looked


async def test_positions_are_kept_per_nugget(either: Api) -> None:
    await shelve(either, [*numbered(2, nugget="a"), a_note("x", id="z", nugget="b", updated_at=BEFORE + 9)])
    await look(either)
    rows = {note_id: note.row for note_id, note in either.shelf().view.notes.by_ids(["n001", "z"]).items()}

    assert either.shelf().view.tended.all() == [
        Tended("a", (BEFORE + 1, rows["n001"]), (0, 0), NEW_YEAR),
        Tended("b", (BEFORE + 9, rows["z"]), (0, 0), NEW_YEAR),
    ]


async def test_temporary_notes_are_all_archived_in_the_end(either: Api) -> None:
    await shelve(either, [a_note(f"text {n}", id=f"n{n:02}", title="tmp") for n in range(35)])
    results = await settled(either)

    assert [len(told(result, "hide")) for result in results] == [10, 10, 10, 5, 0]
