"""What every store keeps of what callers said of results."""

from contract.samples import NEW_YEAR, create, write
from shelfd.memory.ports.feedback import Feedback
from shelfd.memory.ports.store import Store


async def put(store: Store, *feedback: Feedback) -> None:
    for one in feedback:
        await store.commit(write(lambda rows, one=one: rows.feedback.put(one)))  # type: ignore[misc]


async def test_it_is_replaced_deleted_and_pruned_from_the_oldest(store: Store) -> None:
    some = [Feedback((at, 2**32 - 1), 1, True, NEW_YEAR + at) for at in range(5)]
    await put(store, *some)
    await put(store, some[0]._replace(useful=False, at=NEW_YEAR + 9))
    view = store.view.feedback
    expected = [*some[1:], some[0]._replace(useful=False, at=NEW_YEAR + 9)]
    first, after = view.page(limit=3)
    assert after is not None
    rest, end = view.page(after=after, limit=3)
    assert ([*first, *rest], end, view.count()) == (expected, None, 5)
    found: list[object] = []
    await store.commit(write(lambda rows: found.append(rows.feedback.delete((2, 2**32 - 1), 1))))
    await store.commit(write(lambda rows: found.append(rows.feedback.delete((2, 2**32 - 1), 1))))
    await store.commit(write(lambda rows: found.append(rows.feedback.delete_oldest(kept=2))))
    assert found == [True, False, [some[1], some[3]]]
    assert view.page(limit=9) == ([some[4], expected[-1]], None)


async def test_it_goes_with_its_note(store: Store) -> None:
    for name in ("n1", "n2"):
        await store.commit(create(name))
    await put(store, Feedback((1,), 1, True, NEW_YEAR), Feedback((1,), 2, True, NEW_YEAR))
    note = store.view.notes.get("n1")
    assert note is not None
    await store.commit(write(lambda rows: rows.notes.delete(note)))
    assert [one.note for one in store.view.feedback.page(limit=9)[0]] == [2]
