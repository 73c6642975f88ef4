"""What a store tells of notes that others became part of, and of the sessions each was used in."""

from contract.samples import create, make_link, make_note, write
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.view import Writer


async def test_sessions_of_each_note(store: Store) -> None:
    for name in ("n1", "n2"):
        await store.commit(create(name))

    def apply(rows: Writer) -> dict[int, frozenset[str]]:
        rows.usage.add_hit_sessions([(1, "a"), (1, "b"), (2, "a")])
        return rows.usage.hit_sessions([1, 2, 3])

    expected = {1: frozenset("ab"), 2: frozenset("a")}
    assert (await store.commit(write(apply))).value == expected
    assert store.view.usage.hit_sessions([1, 2, 3]) == expected
    assert store.view.usage.hit_sessions([]) == {}
    await store.commit(write(lambda rows: rows.notes.delete(make_note("n1", row=1))))
    assert store.view.usage.hit_sessions([1]) == {}


async def test_targets_of_merges_come_by_id_and_in_pages(store: Store) -> None:
    def link(rows: Writer) -> None:
        for source, target in (("n1", "c"), ("n2", "c"), ("n3", "a"), ("n4", "B")):
            rows.links.put(make_link(source, target, "merged_into"))
        rows.links.put(make_link("n5", "d"))

    await store.commit(write(link))
    view = store.view
    assert view.links.merge_targets(after="", limit=9) == ["B", "a", "c"]
    assert view.links.merge_targets(after="", limit=2) == ["B", "a"]
    assert view.links.merge_targets(after="a", limit=2) == ["c"]
    assert view.links.merge_targets(after="c", limit=2) == []
    assert view.links.merge_targets(after="", limit=0) == []


async def test_what_became_of_a_note_is_found_over_merges_and_around_circles(store: Store) -> None:
    for name in ("a", "b", "c", "d", "e"):
        await store.commit(create(name, archived_at=None if name in ("c", "e") else 5))

    def link(rows: Writer) -> None:
        for source, target in (("a", "b"), ("b", "c"), ("d", "c"), ("c", "a"), ("e", "c")):
            rows.links.put(make_link(source, target, "merged_into"))
        rows.links.put(make_link("d", "e"))

    await store.commit(write(link))
    found = store.view.links.merged_rows("c", limit=9)
    names = {note.row: note.id for note in store.view.notes.by_ids(["a", "b", "c", "d", "e"]).values()}
    assert sorted(names[row] for row in found) == ["a", "b", "d"]  # the other one is in sight
    assert [names[row] for row in store.view.links.merged_rows("b", limit=9)] == ["a"]
    assert len(store.view.links.merged_rows("c", limit=2)) == 2
    assert store.view.links.merged_rows("e", limit=9) == []
