"""What a store tells of notes that others became part of, and of the sessions each was used in."""

from contract.samples import create, make_link, make_note, write
from shelfd.memory.ports import Store
from shelfd.memory.view import Writer


async def test_sessions_of_each_note(store: Store) -> None:
    for name in ("n1", "n2"):
        await store.commit(create(name))

    def apply(rows: Writer) -> dict[int, frozenset[str]]:
        rows.add_hit_sessions([(1, "a"), (1, "b"), (2, "a")])
        return rows.hit_sessions([1, 2, 3])

    expected = {1: frozenset("ab"), 2: frozenset("a")}
    assert (await store.commit(write(apply))).value == expected
    assert store.view.hit_sessions([1, 2, 3]) == expected
    assert store.view.hit_sessions([]) == {}
    await store.commit(write(lambda rows: rows.erase_note(make_note("n1", row=1))))
    assert store.view.hit_sessions([1]) == {}


async def test_targets_of_merges_come_by_id_and_in_pages(store: Store) -> None:
    def link(rows: Writer) -> None:
        for source, target in (("n1", "c"), ("n2", "c"), ("n3", "a"), ("n4", "B")):
            rows.put_link(make_link(source, target, "merged_into"))
        rows.put_link(make_link("n5", "d"))

    await store.commit(write(link))
    view = store.view
    assert view.merge_targets(after="", limit=9) == ["B", "a", "c"]
    assert view.merge_targets(after="", limit=2) == ["B", "a"]
    assert view.merge_targets(after="a", limit=2) == ["c"]
    assert view.merge_targets(after="c", limit=2) == []
    assert view.merge_targets(after="", limit=0) == []
