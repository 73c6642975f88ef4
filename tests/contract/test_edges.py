"""What every store keeps of edges: which are replaced, in which order they come, what goes with a note."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.samples import change, create, make_link, make_note, write
from fakes import FakeClock
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Link
from shelfd.memory.ports.edges import Edge, EdgeEnd, Neighbour, NoteEdges, StoredEdge
from shelfd.memory.ports.entities import EntityCount, MentionedEntity, NoteEntities
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.view import Writer
from shelfd.storage.inmemory import InMemoryStores

ALL = NoteFilter(include_hidden=True)


def end(key: str, type_: str = "tool") -> EdgeEnd:
    return EdgeEnd(type_, key, key)


def edge(source: str, target: str, relation: str = "uses", **fields: Any) -> Edge:
    return Edge(end(source, "actor"), end(target), relation, "causal", 0.5)._replace(**fields)


async def put(store: Store, row: int, *edges: Edge, text: int = 1) -> None:
    await store.commit(write(lambda rows: rows.edges.put([NoteEdges(row, edges, text)])))


async def put_read(store: Store, row: int, *edges: Edge, text: int = 1) -> None:
    await store.commit(write(lambda rows: rows.edges.put_read(row, edges, text=text)))


def names(edges: list[StoredEdge]) -> list[str]:
    return [f"{one.note} {one.source.key} {one.relation} {one.target.key} {one.engine}" for one in edges]


def read(source: str, target: str, relation: str = "uses") -> Edge:
    return edge(source, target, relation, engine="llm")


async def test_what_rules_read_in_a_note_is_replaced(store: Store) -> None:
    await put(store, 1, edge("a", "x"), edge("a", "y", confidence=0.25, edge_type="heuristic"))
    assert names(store.view.edges.of_note(1)) == ["1 a uses x rules", "1 a uses y rules"]
    second = store.view.edges.of_note(1)[1]
    assert (second.edge_type, second.confidence, second.source.type, second.target.value) == (
        "heuristic", 0.25, "actor", "y",
    )  # fmt: skip
    await put(store, 1, edge("a", "x", "causes"))
    assert names(store.view.edges.of_note(1)) == ["1 a causes x rules"]
    assert store.view.entities.get("tool", "y") is None
    assert store.view.entities.counts() == [EntityCount("actor", 1, 0), EntityCount("tool", 1, 0)]


async def test_what_a_model_read_stays_until_the_text_is_another(store: Store) -> None:
    await put_read(store, 1, read("a", "x"), text=7)
    await put(store, 1, edge("a", "y"), text=7)
    assert names(store.view.edges.of_note(1)) == ["1 a uses x llm", "1 a uses y rules"]
    await put(store, 1, edge("a", "z"), text=7)
    assert names(store.view.edges.of_note(1)) == ["1 a uses x llm", "1 a uses z rules"]
    await put(store, 1, edge("a", "z"), text=8)
    assert names(store.view.edges.of_note(1)) == ["1 a uses z rules"]
    assert store.view.entities.get("tool", "x") is None


async def test_what_a_model_reads_replaces_what_it_read_before(store: Store) -> None:
    await put(store, 1, edge("a", "x"))
    await put_read(store, 1, read("a", "x"), read("a", "y"))
    assert names(store.view.edges.of_note(1)) == ["1 a uses x rules", "1 a uses x llm", "1 a uses y llm"]
    await put_read(store, 1, read("a", "z"))
    assert names(store.view.edges.of_note(1)) == ["1 a uses x rules", "1 a uses z llm"]
    await put_read(store, 1)
    assert names(store.view.edges.of_note(1)) == ["1 a uses x rules"]


async def test_edges_of_an_entity_come_newest_note_first_in_pages(store: Store) -> None:
    for row in range(1, 6):
        await put(store, row, edge("a", "x"), edge("b", "x"))
    a, x = store.view.entities.get("actor", "a"), store.view.entities.get("tool", "x")
    assert a is not None
    assert x is not None
    edges = store.view.edges
    assert [Neighbour(*one).note for one in edges.leaving(a.number, ALL, before=None, limit=9)] == [5, 4, 3, 2, 1]
    assert [Neighbour(*one).note for one in edges.leaving(a.number, ALL, before=4, limit=2)] == [3, 2]
    assert edges.leaving(x.number, ALL, before=None, limit=9) == []
    reaching = [Neighbour(*one) for one in edges.reaching(x.number, ALL, before=None, limit=3)]
    assert [(one.note, one.key, one.relation) for one in reaching] == [
        (5, "b", "uses"),
        (5, "a", "uses"),
        (4, "b", "uses"),
    ]
    assert [Neighbour(*one).note for one in edges.reaching(x.number, ALL, before=2, limit=9)] == [1, 1]
    assert edges.reaching(a.number, ALL, before=None, limit=9) == []
    assert edges.leaving(a.number, ALL, before=None, limit=0) == []
    for before, limit in ((None, 9), (None, 3), (4, 2), (2, 9), (1, 9), (None, 0)):
        whole = [
            [[note, there, relation] for note, _, there, relation, *_ in read(number, ALL, before=before, limit=limit)]
            for number in (x.number, a.number, 99)
            for read in (edges.leaving, edges.reaching)
        ]
        assert edges.leads([x.number, a.number, 99], before=before, limit=limit) == whole
    assert edges.leads([], before=None, limit=9) == []
    assert names(edges.page(ALL, before=2, limit=9)) == ["1 b uses x rules", "1 a uses x rules"]
    assert [one.note for one in edges.page(ALL, before=None, limit=3)] == [5, 5, 4]


async def test_an_entity_stays_as_long_as_it_is_mentioned_or_has_an_edge(store: Store) -> None:
    nmap = MentionedEntity("tool", "nmap", "nmap", 1)
    await store.commit(write(lambda rows: rows.entities.put([NoteEntities(1, [nmap])])))
    await put(store, 2, edge("a", "nmap"))
    await store.commit(write(lambda rows: rows.entities.put([NoteEntities(1)])))
    assert store.view.entities.get("tool", "nmap") is not None
    assert store.view.entities.counts() == [EntityCount("actor", 1, 0), EntityCount("tool", 1, 0)]
    await store.commit(write(lambda rows: rows.entities.put([NoteEntities(1, [nmap])])))
    await put(store, 2)
    assert store.view.entities.counts() == [EntityCount("tool", 1, 1)]
    await store.commit(write(lambda rows: rows.entities.put([NoteEntities(1)])))
    assert store.view.entities.counts() == []


async def test_edges_go_with_their_note(store: Store) -> None:
    await store.commit(create("n1"))
    await store.commit(create("n2"))
    await put(store, 1, edge("a", "x"))
    await put_read(store, 1, read("a", "y"))
    await put(store, 2, edge("a", "x"))
    await store.commit(change(lambda tx: tx.rows.notes.delete(make_note("n1", row=1))))
    assert store.view.edges.of_note(1) == []
    assert names(store.view.edges.page(ALL, before=None, limit=9)) == ["2 a uses x rules"]
    assert store.view.entities.get("tool", "y") is None


async def test_a_change_that_fails_leaves_the_edges(store: Store) -> None:
    await put(store, 1, edge("a", "x"))

    def fail(rows: Writer) -> None:
        rows.edges.put([NoteEdges(1, [edge("b", "y")], 1)])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.commit(write(fail))
    assert names(store.view.edges.of_note(1)) == ["1 a uses x rules"]
    assert store.view.entities.get("actor", "b") is None


async def test_an_edge_names_its_note_if_that_is_wanted(store: Store) -> None:
    for note in (create("n1"), create("n2", archived_at=5), create("n3", expires_at=7, type="event")):
        await store.commit(note)
    for row in (1, 2, 3, 4):
        await put(store, row, edge("a", "x"))
    a, x = store.view.entities.get("actor", "a"), store.view.entities.get("tool", "x")
    assert a is not None
    assert x is not None

    def named(wanted: NoteFilter) -> list[str | None]:
        view = store.view.edges
        all_edges = view.page(wanted, before=None, limit=9)
        assert view.leaving(a.number, wanted, before=None, limit=9) == [one.to(one.target) for one in all_edges]
        assert view.reaching(x.number, wanted, before=None, limit=9) == [one.to(one.source) for one in all_edges]
        ids = store.view.notes.ids([one.note for one in all_edges], wanted)
        assert ids == {one.note: one.note_id for one in all_edges}
        assert store.view.notes.ids([], wanted) == {}
        return [one.note_id for one in all_edges]

    assert named(NoteFilter(include_hidden=True)) == [None, "n3", "n2", "n1"]
    assert named(RECALLABLE._replace(now=6)) == [None, "n3", None, "n1"]
    assert named(RECALLABLE._replace(now=7)) == [None, None, None, "n1"]
    assert named(NoteFilter(type="event")) == [None, "n3", None, None]
    assert [one.note_id for row in (1, 2, 4) for one in store.view.edges.of_note(row)] == ["n1", "n2", None]


def _put_link(link: Link, rows: Writer) -> None:
    rows.links.put(link)


async def test_links_from_causes_are_found_by_what_they_caused(store: Store) -> None:
    links = [("n1", "n9", "causes"), ("n2", "n9", "related"), ("n3", "n9", "led_to"), ("n1", "n9", "triggers")]
    for link in [make_link(*ends) for ends in links]:
        await store.commit(write(partial(_put_link, link)))
    assert store.view.links.causing("n9", limit=9) == ["n1", "n3"]
    assert store.view.links.causing("n9", limit=1) == ["n1"]
    assert store.view.links.causing("n1", limit=9) == []


_EDGES = st.lists(
    st.builds(edge, st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["uses", "causes"])), max_size=3
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.integers(1, 2), _EDGES), max_size=10))
async def test_edges_are_the_last_that_each_reader_gave(changes: list[tuple[int, bool, int, list[Edge]]]) -> None:
    store = await InMemoryStores(FakeClock()).create("default", owner="uid:1000")
    ruled: dict[int, set[Edge]] = {}
    modelled: dict[int, tuple[int, set[Edge]]] = {}
    for row, is_model, text, edges in changes:
        if is_model:
            read_ = [one._replace(engine="llm") for one in edges]
            await put_read(store, row, *read_, text=text)
            modelled[row] = (text, set(read_))
        else:
            await put(store, row, *edges, text=text)
            ruled[row] = set(edges)
            if row in modelled and modelled[row][0] != text:
                del modelled[row]
    for row in (1, 2, 3):
        stored = {
            Edge(EdgeEnd(*one.source[1:]), EdgeEnd(*one.target[1:]), *one[2:6]) for one in store.view.edges.of_note(row)
        }
        assert stored == ruled.get(row, set()) | modelled.get(row, (0, set()))[1]
    ends = {name[:2] for one in [*ruled.values(), *(m for _, m in modelled.values())] for e in one for name in e[:2]}
    assert sum(count.entities for count in store.view.entities.counts()) == len(ends)
    await store.close()
