"""What every store keeps of what notes state and of their conflicts, and what goes with a note."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from contract.samples import NEW_YEAR, change, create, make_note, write
from shelfd.memory.ports.evolution import WITHIN_BITS, StoredConflict, UnstoredStatements
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.view import Writer


async def put(store: Store, row: int, *slots: int, rev: int = 1, said: str = "[]") -> None:
    await store.commit(write(lambda rows: rows.statements.put(row, rev, said, slots)))


def conflict(name: str, a: int, b: int, nugget: str = "memory") -> StoredConflict:
    return StoredConflict(0, name, nugget, a, b, "why", NEW_YEAR)


async def find(store: Store, name: str, a: int, b: int, nugget: str = "memory") -> None:
    await store.commit(write(lambda rows: rows.conflicts.put(conflict(name, a, b, nugget))))


async def test_notes_of_a_slot_come_newest_first(store: Store) -> None:
    for row in range(1, 6):
        await put(store, row, 7, 100 + row)
    in_slots = store.view.statements.in_slots
    assert in_slots([7], limit=3) == {5, 4, 3}
    assert in_slots([103], limit=3) == {3}
    assert in_slots([7, 8, 101, 103], limit=2) == {5, 4, 3, 1}
    assert in_slots(range(100), limit=1) == {5}
    assert (in_slots([8], limit=3), in_slots([7], limit=0), in_slots([], limit=3)) == (set(), set(), set())


async def test_of_whom_something_is_stated_is_known_whatever_is_not(store: Store) -> None:
    def known(rows: Writer) -> set[int]:
        return {*rows.statements.spoken_of({1, 2, 3, 2**32 - 1})}

    await put(store, 1, 1 << WITHIN_BITS, (3 << WITHIN_BITS) + 7)
    await put(store, 2, (2**32 - 1) << WITHIN_BITS)
    assert (await store.commit(write(known))).value >= {1, 3, 2**32 - 1}
    await put(store, 1, (2 << WITHIN_BITS) + 1, rev=2)
    assert (await store.commit(write(known))).value >= {2, 2**32 - 1}
    assert {*store.view.statements.spoken_of({1, 2})} >= {2}


async def test_what_a_note_states_is_replaced(store: Store) -> None:
    await put(store, 1, 7, 8)
    await put(store, 1, 8, 2**32 - 1, rev=2)
    in_slots = store.view.statements.in_slots
    assert [in_slots([slot], limit=9) for slot in (7, 8, 2**32 - 1)] == [set(), {1}, {1}]
    assert (store.view.statements.rev(1), store.view.statements.rev(2)) == (2, None)


async def test_notes_that_were_not_read_are_known(store: Store) -> None:
    for name in ("n1", "n2", "n3"):
        await store.commit(create(name))
    assert store.view.statements.unread(limit=2) == [3, 2]
    await put(store, 2)
    assert store.view.statements.unread(limit=9) == [3]
    await put(store, 3)
    assert store.view.statements.unread(limit=9) == []


async def test_whoever_writes_knows_which_notes_were_not_read_whatever_was_taken_back(store: Store) -> None:
    def unread(rows: Writer) -> list[int]:
        return rows.statements.unread(limit=9)

    def fail(rows: Writer) -> None:
        rows.statements.put(2, 1, "[]", [])
        assert unread(rows) == []
        raise ValueError("taken back")

    await store.commit(create("n1"))
    await put(store, 1)
    assert (await store.commit(write(unread))).value == []
    await store.commit(create("n2"))
    assert (await store.commit(write(unread))).value == [2]
    with pytest.raises(ValueError, match="taken back"):
        await store.commit(write(fail))
    assert (await store.commit(write(unread))).value == [2]
    await put(store, 2)
    await put(store, 1, rev=2)
    assert (await store.commit(write(unread))).value == []


async def test_older_notes_are_those_that_live(store: Store) -> None:
    notes: dict[str, dict[str, Any]] = {
        "plain": {"author": "eva", "subject": "user:eva", "occurred_at": NEW_YEAR + 5, "valid_to": NEW_YEAR + 9},
        "hidden": {"archived_at": NEW_YEAR},
        "superseded": {"superseded_by": "plain"},
        "rolled": {"parent_id": "plain"},
        "expired": {"expires_at": NEW_YEAR},
        "expiring": {"expires_at": NEW_YEAR + 1},
        "elsewhere": {"nugget": "work"},
        "unread": {},
        "fact": {"kind": "fact", "key": "k", "created_at": NEW_YEAR, "updated_at": NEW_YEAR + 3, "rev": 2},
        "own": {"scope": "session", "session_id": "s", "created_at": NEW_YEAR + 2},
    }
    for row, (name, values) in enumerate(notes.items(), start=1):
        await store.commit(create(name, **values))
        if name != "unread":
            await put(store, row, 7, said=f'["{name}"]')
    found = store.view.statements.older([1, 1, *range(1, 20)], "memory", now=NEW_YEAR)
    assert [one.id for one in found] == ["own", "fact", "expiring", "plain"]
    own, fact, _, plain = found
    assert (own.row, own.scope, own.session_id, own.when) == (10, "session", "s", NEW_YEAR + 2)
    assert (fact.key, fact.when, fact.rev, fact.said_rev) == ("k", NEW_YEAR + 3, 2, 1)
    assert (plain.author, plain.subject, plain.when) == ("eva", "user:eva", NEW_YEAR + 5)
    assert (plain.valid_to, plain.said) == (NEW_YEAR + 9, '["plain"]')
    assert store.view.statements.older([], "memory", now=NEW_YEAR) == []


async def test_conflicts_come_last_found_first_in_pages(store: Store) -> None:
    for number in range(1, 6):
        await find(store, f"c{number}", number, number + 1, "work" if number == 4 else "memory")
    page = store.view.conflicts.page
    assert [one.id for one in page(nugget=None, resolved=False, before=None, limit=9)] == ["c5", "c4", "c3", "c2", "c1"]
    assert [one.id for one in page(nugget="memory", resolved=False, before=5, limit=2)] == ["c3", "c2"]
    found = store.view.conflicts.get("c2")
    assert found == conflict("c2", 2, 3)._replace(number=2)
    assert store.view.conflicts.get("c9") is None
    assert [one.id for one in store.view.conflicts.of_note(3, limit=9)] == ["c3", "c2"]
    assert [one.id for one in store.view.conflicts.of_note(3, limit=1)] == ["c3"]


async def test_a_conflict_is_resolved_and_opened_again(store: Store) -> None:
    await find(store, "c", 1, 2)
    resolved = conflict("c", 1, 2)._replace(number=1, resolved_at=NEW_YEAR + 1, resolution="both")
    await store.commit(write(lambda rows: rows.conflicts.put(resolved)))
    page = store.view.conflicts.page
    assert page(nugget="memory", resolved=True, before=None, limit=9) == [resolved]
    assert page(nugget="memory", resolved=False, before=None, limit=9) == []
    await find(store, "c", 1, 2)
    assert [one.number for one in page(nugget=None, resolved=False, before=None, limit=9)] == [1]


async def test_what_is_derived_of_a_note_goes_with_it(store: Store) -> None:
    for name in ("n1", "n2", "n3"):
        await store.commit(create(name))
    await put(store, 1, 7)
    await put(store, 2, 7)
    for name, a, b in (("c1", 1, 2), ("c2", 2, 3), ("c3", 1, 3)):
        await find(store, name, a, b)
    await store.commit(change(lambda tx: tx.rows.notes.delete(make_note("n1", row=1))))
    assert store.view.statements.in_slots([7], limit=9) == {2}
    assert store.view.statements.rev(1) is None
    assert [one.id for one in store.view.conflicts.page(nugget=None, resolved=False, before=None, limit=9)] == ["c2"]


async def test_a_renamed_nugget_keeps_its_conflicts(store: Store) -> None:
    await store.commit(create("n1"))
    await find(store, "c", 1, 2)
    await store.commit(write(lambda rows: rows.nuggets.rename("memory", "life")))
    assert [one.nugget for one in store.view.conflicts.of_note(1, limit=9)] == ["life"]


async def test_a_change_that_fails_leaves_nothing(store: Store) -> None:
    await put(store, 1, 7)
    await find(store, "c", 1, 2)

    def fail(rows: Writer) -> None:
        rows.statements.put(1, 2, "[]", [8])
        rows.conflicts.put(conflict("c", 1, 2)._replace(resolved_at=1, resolution="a"))
        rows.conflicts.put(conflict("d", 1, 2))
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        await store.commit(write(fail))
    assert store.view.statements.in_slots([7], limit=9) == {1}
    assert [one.resolution for one in store.view.conflicts.of_note(1, limit=9)] == [None]
    await find(store, "e", 1, 2)
    assert [one.number for one in store.view.conflicts.of_note(1, limit=9)] == [2, 1]


async def test_notes_in_open_conflicts_are_known(store: Store) -> None:
    for name in ("n1", "n2", "n3", "n4"):
        await store.commit(create(name))
    await find(store, "open", 1, 2)
    await find(store, "settled", 3, 4)
    settled = conflict("settled", 3, 4)._replace(resolved_at=NEW_YEAR, resolution="a")
    await store.commit(write(lambda rows: rows.conflicts.put(settled)))
    assert store.view.conflicts.disputed([1, 2, 3, 4, 9]) == {1: ["open"], 2: ["open"]}
    assert store.view.conflicts.disputed([2, 3]) == {2: ["open"]}
    assert store.view.conflicts.disputed([]) == {}
    await find(store, "later", 2, 3)
    assert store.view.conflicts.disputed([3, 2]) == {3: ["later"], 2: ["later", "open"]}


@dataclass(slots=True)
class Words(UnstoredStatements):
    """What a note states, in a test."""

    text: str

    def encoded(self) -> str:
        return self.text


async def hold(store: Store, row: int, *slots: int, rev: int = 1) -> None:
    await store.commit(write(lambda rows: rows.statements.hold(row, rev, Words(f"said {row}"), slots)))


async def seen(store: Store, *slots: int, limit: int = 9) -> tuple[set[int], list[tuple[int, int, str]]]:
    """Return what a writer finds in some slots, and what that states."""

    def look(rows: Writer) -> tuple[set[int], list[tuple[int, int, str]]]:
        near = rows.statements.in_slots(sorted(slots), limit=limit)
        found = rows.statements.older(sorted(near), "memory", now=NEW_YEAR)
        said = [one.said if isinstance(one.said, str) else one.said.encoded() for one in found]
        return near, [(one.row, one.said_rev, text) for one, text in zip(found, said, strict=True)]

    return (await store.commit(write(look))).value


async def test_what_is_held_is_found_by_whoever_writes_and_by_all_once_it_is_stored(store: Store) -> None:
    for name in ("n1", "n2", "n3", "n4"):
        await store.commit(create(name))
    await put(store, 1, 7, 8, said="said 1")
    await put(store, 2, 7, said="said 2")
    await hold(store, 3, 7, 9, rev=2)
    await hold(store, 4, 7)
    told = [(4, 1, "said 4"), (3, 2, "said 3"), (2, 1, "said 2"), (1, 1, "said 1")]
    for _ in range(2):
        assert await seen(store, 7, 9) == ({1, 2, 3, 4}, told)
        assert await seen(store, 7, limit=3) == ({2, 3, 4}, told[:3])
        assert await seen(store, 7, 8, 9, limit=1) == ({1, 3, 4}, [told[0], told[1], told[3]])
        assert (await seen(store, 7, limit=0))[0] == (await seen(store, 10))[0] == set()
        await store.commit(write(lambda rows: rows.statements.store_held()))
    assert store.view.statements.in_slots([7], limit=9) == {1, 2, 3, 4}
    assert [store.view.statements.rev(row) for row in (3, 4)] == [2, 1]


async def test_what_is_held_is_replaced_and_goes_with_its_note(store: Store) -> None:
    for name in ("n1", "n2", "n3"):
        await store.commit(create(name))
        await hold(store, int(name[1]), 7)
    await hold(store, 2, 8, rev=2)
    await hold(store, 3, 8, rev=2)
    await put(store, 1, 9, rev=2, said="said 1")
    assert (await seen(store, 7))[0] == set()
    assert await seen(store, 8, 9) == ({1, 2, 3}, [(3, 2, "said 3"), (2, 2, "said 2"), (1, 2, "said 1")])
    for row, name in ((4, "n4"), (5, "n5")):
        await store.commit(create(name))
        await hold(store, row, 8)
    await store.commit(change(lambda tx: tx.rows.notes.delete(make_note("n4", row=4))))
    assert (await seen(store, 8))[0] == {2, 3, 5}
    await store.commit(write(lambda rows: rows.statements.store_held()))
    assert store.view.statements.in_slots([8], limit=9) == {2, 3, 5}


@pytest.mark.parametrize("among_others", [True, False])
async def test_what_a_failed_change_held_is_not_and_what_it_stored_is_held_again(
    store: Store, among_others: bool
) -> None:
    for name in ("n1", "n2", "n3"):
        await store.commit(create(name))
    await hold(store, 1, 7)
    await hold(store, 2, 7)

    def fail(rows: Writer) -> None:
        rows.statements.store_held()
        rows.statements.hold(3, 1, Words("never"), [7])
        assert rows.statements.in_slots([7], limit=9) == {1, 2, 3}
        raise ValueError("taken back")

    others = [hold(store, 1, 8, rev=2)] if among_others else []
    failed, *_ = await asyncio.gather(store.commit(write(fail)), *others, return_exceptions=True)
    assert isinstance(failed, ValueError)
    assert (await seen(store, 7))[0] == ({2} if among_others else {1, 2})
    assert (await store.commit(write(lambda rows: rows.statements.unread(limit=9)))).value == [3]
    await hold(store, 3, 7)
    assert (await seen(store, 7))[1][0] == (3, 1, "said 3")


async def test_what_was_held_when_a_store_ended_is_known_to_be_lost_or_was_stored(stores: Stores) -> None:
    def look(rows: Writer) -> tuple[list[int], list[int]]:
        return rows.statements.lost(), rows.statements.lost()

    store = await stores.create("held", owner="uid:1")
    for name in ("n1", "n2", "n3"):
        await store.commit(create(name))
    await put(store, 1, 7)
    await hold(store, 2, 7)
    await hold(store, 3, 7)
    await store.close()
    store = await stores.open("held")
    lost, again = (await store.commit(write(look))).value
    assert set(lost) | store.view.statements.in_slots([7], limit=9) == {1, 2, 3}
    assert (lost == sorted(lost), again) == (True, [])
    for row in lost:
        await hold(store, row, 7)
    assert (await seen(store, 7))[0] == {1, 2, 3}
    await store.close()


async def test_what_would_be_too_much_to_find_again_is_stored(stores: Stores) -> None:
    store = await stores.create("much", owner="uid:1")
    for row in range(1, 600):
        await store.commit(create(f"n{row}"))
        if row % 7 == 0:
            await hold(store, row, 7)
    await store.close()
    store = await stores.open("much")
    lost = (await store.commit(write(lambda rows: rows.statements.lost()))).value
    assert len(lost) <= 128
    assert set(lost) | store.view.statements.in_slots([7], limit=600) >= set(range(7, 600, 7))
    await store.close()
