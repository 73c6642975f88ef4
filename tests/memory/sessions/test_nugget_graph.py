"""The graph of a nugget: whatever is done to its notes and links, it is what a look at all of them would say."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.samples import make_link, make_note
from fakes import FakeClock
from memory.sessions.plain_graph import Edge, PlainGraph
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.relations import SYMMETRIC
from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.sessions import Session
from shelfd.memory.sessions import ordered, projection, stored_links
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.sessions.reading import Reading, Visible
from shelfd.memory.sessions.schema import BUILT_IN, Schema
from shelfd.memory.sessions.summing import edge_summary, projected_edges, relation_filter
from shelfd.memory.settings import MemorySettings
from shelfd.storage.inmemory.store import InMemoryStore
from shelfd.storage.inmemory.tables import Tables

NUGGET: Final = "memory"
COUNT: Final = 9

_numbers = st.integers(0, COUNT - 1)
_relations = st.sampled_from(["knows", "hostile_to"])
_op = st.one_of(
    st.tuples(st.just("note"), _numbers, st.sampled_from(["event", "event", "thread"]), st.integers(-1, 4)),
    st.tuples(st.just("parent"), _numbers, st.none() | _numbers),
    st.tuples(st.just("parent"), _numbers, st.none() | _numbers),
    st.tuples(st.just("hide"), _numbers),
    st.tuples(st.just("supersede"), _numbers),
    st.tuples(st.just("level"), _numbers, st.sampled_from(["semantic", "episodic"])),
    st.tuples(st.just("rollup"), _numbers, st.integers(0, 40)),
    st.tuples(st.just("move"), _numbers),
    st.tuples(st.just("purge"), _numbers),
    st.tuples(st.just("link"), _numbers, _numbers, _relations, st.none() | st.integers(1, 9)),
    st.tuples(st.just("link"), _numbers, _numbers, _relations, st.none() | st.integers(1, 9)),
    st.tuples(st.just("look"), st.integers(0, 2**COUNT - 1)),
    st.tuples(st.just("look"), st.integers(0, 2**COUNT - 1)),
    st.tuples(st.just("look"), st.integers(0, 2**COUNT - 1)),
)


class Bench:
    """A graph and the same without an index."""

    def __init__(self) -> None:
        self.plain = PlainGraph(NUGGET)
        self.rows = 0
        self.graph = NuggetGraph(InMemoryStore(FakeClock(), tables=Tables()).view, MemorySettings(), NUGGET)

    def reading(self) -> Reading:
        def notes(ids: Any) -> Mapping[str, Note]:
            return {note_id: self.plain.notes[note_id] for note_id in ids if note_id in self.plain.notes}

        return Reading(cast("Any", None), Session("s", NUGGET), self.graph, notes, Schema(BUILT_IN), None)

    def do(self, op: tuple[Any, ...]) -> None:
        kind, number, *values = op
        note_id = f"n{number}"
        if kind == "look":
            asyncio.run(self.look({f"n{n}" for n in range(COUNT) if number >> n & 1}))
            return
        note = self.plain.notes.get(note_id)
        if kind == "note" and note is None:
            self.rows += 1
            note = make_note(note_id, row=self.rows, nugget=NUGGET)
        if note is None:
            return
        if kind == "purge":
            self.graph.purge([PurgedNote(note.row, note.id)])
            del self.plain.notes[note_id]
            self.plain.links = {edge: link for edge, link in self.plain.links.items() if note_id not in edge[:2]}
            return
        if kind == "link":
            self.link(note_id, f"n{values[0]}", values[1], values[2])
            note = self.plain.notes[note_id]
        else:
            note = self.plain.notes[note_id] = self.changed(note, kind, values)
        self.graph.apply([note])
        if note.nugget == NUGGET:
            self.graph.link({note_id: self.plain.leaving(note_id)})

    def link(self, source: str, target: str, relation: str, seq_to: int | None) -> None:
        if source == target or target not in self.plain.notes:
            return
        edge = (source, target, relation)
        if edge in self.plain.links:
            del self.plain.links[edge]
        else:
            self.plain.links[edge] = make_link(*edge, seq_to=seq_to)

    def changed(self, note: Note, kind: str, values: list[Any]) -> Note:
        if kind == "note":
            return note._replace(type=values[0], seq_to=None if values[1] < 0 else values[1])
        if kind == "parent":
            parent_id = None if values[0] is None else f"n{values[0]}"
            return note._replace(parent_id=None if parent_id == note.id else parent_id)
        if kind == "hide":
            return note._replace(archived_at=None if note.hidden else 1)
        if kind == "supersede":
            return note._replace(superseded_by="x" if note.superseded_by is None else None)
        if kind == "move":
            return note._replace(nugget="elsewhere" if note.nugget == NUGGET else NUGGET)
        if kind == "level":
            return note._replace(extra=note.extra._replace(level=values[0]))
        return note._replace(extra=note.extra._replace(is_rollup=values[0] > 0, rollup_depth=values[0]))

    async def look(self, some: set[str]) -> None:
        graph, plain, reading = self.graph, self.plain, self.reading()
        frontier = plain.frontier()
        assert [graph.id(node) for _, node in graph.frontier()] == frontier
        assert graph.frontier_size() == len(frontier)
        own = [note for note in plain.notes.values() if note.nugget == NUGGET]
        own.sort(key=lambda n: (n.seq_to is None, n.seq_to or 0, n.row))
        assert [graph.id(node) for _, node in graph.timeline()] == [note.id for note in own]
        active = {note.id for note in own if not note.hidden}
        for ids in (None, sorted(some & active), sorted(some & set(frontier))):
            visible = reading.visible(ids)
            await self.compare(visible, set(frontier if ids is None else ids))

    async def compare(self, visible: Visible, ids: set[str]) -> None:
        reading, graph = self.reading(), self.graph
        every = relation_filter(reading, None, internal=True)
        found = await projected_edges(reading, visible, every, after=None, limit=10_000)
        told: Counter[Edge] = Counter()
        for edge in found:
            ends = [graph.id(edge.source), graph.id(edge.target)]
            told[(*(sorted(ends) if edge.key.relation in SYMMETRIC else ends), edge.key.relation)] += edge.weight  # type: ignore[index]
        weights = self.plain.projected(ids)
        assert told == weights
        assert [edge.key for edge in found] == sorted({edge.key for edge in found})
        for note_id in ids:
            summary = await edge_summary(reading, graph.node(note_id), visible, types=None, limit=99)
            own = [edge for edge in weights.elements() if note_id in edge[:2]]
            assert summary["degree"] == len(own)
            ends_of = {other for edge in own for other in edge[:2]} - {note_id}
            assert {one["id"] for one in summary["sample_neighbors"]} == ends_of
            assert sum(one["count"] for one in summary["relations"]) == len(own)


@pytest.mark.parametrize("is_large", [False, True])
def test_a_graph_is_what_its_notes_and_links_say(monkeypatch: pytest.MonkeyPatch, is_large: bool) -> None:
    if is_large:  # what is otherwise done for many notes and links alone
        monkeypatch.setattr(projection, "_KEPT", 0)
        monkeypatch.setattr(ordered, "_MANY", 1)
        monkeypatch.setattr(stored_links, "_FEW", 0)

    @settings(max_examples=80, deadline=None)
    @given(st.lists(_op, min_size=12, max_size=60))
    def check(ops: list[tuple[Any, ...]]) -> None:
        bench = Bench()
        for op in ops:
            bench.do(op)
        asyncio.run(bench.look({"n0", "n2", "n4", "n5"}))

    check()


@pytest.mark.parametrize("apart", [("parent", 0, None), ("hide", 1), ("supersede", 1), ("move", 1)])
def test_links_lead_to_what_represents_a_note_now(monkeypatch: pytest.MonkeyPatch, apart: tuple[Any, ...]) -> None:
    monkeypatch.setattr(projection, "_KEPT", 0)
    bench = Bench()
    for op in (
        *(("note", number, "event", 1) for number in range(4)),
        ("link", 2, 0, "knows", None),
        ("parent", 0, 1),
        ("look", 0),
        ("parent", 1, 3),  # what leads to a rollup leads to the one above it
        ("look", 0),
        ("parent", 1, None),
        ("look", 0),
        apart,
        ("look", 0),
    ):
        bench.do(op)
