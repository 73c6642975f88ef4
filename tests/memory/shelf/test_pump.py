"""The pump: whatever is changed, purged, unreadable or fails, what follows the log ends as if made from the rows."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from contract.samples import change, make_link, make_note
from fakes import Api, FakeClock
from shelfd.memory import PROJECTIONS, MemorySettings, Shelf, View
from shelfd.memory.errors import ShuttingDown, StoreBusy, Unavailable
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.log.event_log import EventLog
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Link, Note, fold_key
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.projection import Projection, PurgedNote, ScanPosition
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.particulars import ShelfParticulars
from shelfd.memory.sessions.graph import NodeLinks
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.shelf.counts import ShelfCounts
from shelfd.memory.shelf.nuggets import ensure_nugget, rename_nugget
from shelfd.memory.shelf.tracks import Key
from shelfd.memory.tending.purging import purge
from shelfd.storage.inmemory.store import InMemoryStore
from shelfd.storage.inmemory.tables import Tables

Do = Callable[[Transaction], object]
WORDS: Final = ("harbour", "crane", "ferry", "lighthouse", "tide", "anchor")
#: Reads of many rows, by port.
_READS: Final = {
    "notes": {"scan", "by_rows", "by_ids", "page", "changed_positions"},
    "nuggets": {"page"},
    "links": {"leaving"},
    "log": {"page"},
}


class Unreliable:
    """A view, or one of its ports, of which the next ``failing`` reads of many rows fail."""

    def __init__(self, real: object, reads: Collection[str] = (), whole: "Unreliable | None" = None) -> None:
        self._real = real
        self._reads = reads
        self._whole = whole or self
        self.failing = 0

    def __getattr__(self, name: str) -> Any:
        if name in self._reads and self._whole.failing:
            self._whole.failing -= 1
            raise StoreBusy("the disk reported an error")
        found = getattr(self._real, name)
        return Unreliable(found, _READS[name], self._whole) if name in _READS else found


class Disk:
    """A store whose view is unreliable."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store
        self.view = Unreliable(store.view)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@dataclass
class Faults:
    """What goes wrong in one projection: how often each of its methods fails, and it never takes in poison."""

    left: dict[str, int] = field(default_factory=dict)

    def strike(self, method: str) -> None:
        if self.left.get(method, 0):
            self.left[method] -= 1
            raise RuntimeError(method)


def failing(kind: type[Projection]) -> type[Projection]:
    """A kind of projection that fails as its ``faults`` say."""

    class Failing(kind):  # type: ignore[valid-type,misc]
        def __init__(self, view: View, settings: MemorySettings, *part: str) -> None:
            self.faults = Faults()
            super().__init__(view, settings, *part)

        def apply(self, notes: Sequence[Note]) -> None:
            for note in notes:
                if "poison" in note.content:
                    raise ValueError(note.content)
                super().apply([note])
                self.faults.strike("apply")

        def purge(self, purged: Sequence[PurgedNote]) -> None:
            self.faults.strike("forget")
            super().purge(purged)

        def link(self, links: Mapping[str, Sequence[Link]]) -> None:
            super().link(links)
            self.faults.strike("link")

        def clear(self) -> None:
            self.faults.strike("clear")
            super().clear()

    return Failing


KINDS: Final = tuple(failing(cast("type[Projection]", project)) for project in PROJECTIONS)
INDEX: Final = next(kind for kind in KINDS if issubclass(kind, ShelfIndex))
FACTS: Final = next(kind for kind in KINDS if issubclass(kind, ShelfFacts))
COUNTS: Final = next(kind for kind in KINDS if issubclass(kind, ShelfCounts))
GRAPH: Final = cast("type[NuggetGraph]", failing(NuggetGraph))
NUGGETS: Final = ("memory", "quay")
#: Every projection of a shelf: those of it as a whole, and the graphs of its nuggets.
KEYS: Final[tuple[Key, ...]] = (*KINDS, *((GRAPH, nugget) for nugget in NUGGETS))


@pytest.fixture(autouse=True, scope="module")
def short_steps() -> Iterator[None]:
    """Have groups of a few changes be taken in like those of thousands, and changes of a few notes like large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shelfd.memory.shelf.backlog._LONGEST", 3)
        patch.setattr("shelfd.memory.shelf.backlog.LARGE", 2)
        patch.setattr("shelfd.memory.shelf.pump._SLICE", 4)
        yield


class Bench:
    """A shelf, somebody else who writes to it, and a clock that only the test moves."""

    def __init__(self, kinds: Sequence[type[Projection]] = KINDS) -> None:
        self.clock = FakeClock(stands_still=True)
        tables = Tables()
        self.disk = Disk(InMemoryStore(self.clock, tables=tables))
        self.other = InMemoryStore(self.clock, tables=tables)
        self.shelf = Shelf("s", cast("Any", self.disk), self.clock, MemorySettings(), cast("Any", kinds))
        self.heard: list[int] = []
        self.count = 0
        self.shelf.start()
        for nugget in NUGGETS:
            self.shelf.part(GRAPH, nugget)

    @property
    def view(self) -> View:
        return self.other.view

    def faults(self, key: Key) -> dict[str, int]:
        faults: Faults = cast("Any", self.shelf.tracks._all[key].projection).faults
        return faults.left

    def notes(self) -> list[Note]:
        return self.view.notes.scan(before_row=None, limit=10_000)

    async def commit(self, *changes: Do, elsewhere: bool = False) -> None:
        """Make changes as one group, here or in another process."""
        store = self.other if elsewhere else self.shelf.store
        await asyncio.gather(*(store.commit(change(one)) for one in changes))

    async def turns(self, count: int = 9) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    async def settle(self) -> None:
        """Let nothing fail any more and time pass until nothing is left to do."""
        self.disk.view.failing = 0
        for key in KEYS:
            self.faults(key).clear()
        for _ in range(40):
            await self.turns(30)
            self.clock.advance(timedelta(seconds=31))
        await self.shelf.reach(None)
        for key in KEYS:
            while not self.shelf.tracks.catch_up(key):
                await self.turns()

    def create(self, words: str, *, key: str | None = None) -> Do:
        self.count += 1
        note = make_note(f"n{self.count}", content=words)
        if key is not None:
            note = note._replace(kind="fact", key=fold_key(key), title=key)

        def make(tx: Transaction) -> None:
            if key is None or tx.rows.notes.fact("memory", fold_key(key)) is None:
                ensure_nugget(tx, "memory")
                tx.create_note(note)

        return make

    def on(self, pick: int, act: Callable[[Transaction, Note], object]) -> Do:
        """A change of one of the notes that are there when it is made."""

        def make(tx: Transaction) -> None:
            if notes := tx.rows.notes.scan(before_row=None, limit=10_000):
                act(tx, notes[pick % len(notes)])

        return make


def edited(words: str) -> Callable[[Transaction, Note], object]:
    return lambda tx, note: tx.change_note(note, note._replace(content=words))


def hidden(tx: Transaction, note: Note) -> None:
    (tx.restore if note.hidden else tx.hide)(note)


def purged(tx: Transaction, note: Note) -> None:
    purge(tx, note)


def typed(type_: str, depth: int) -> Callable[[Transaction, Note], object]:
    def act(tx: Transaction, note: Note) -> None:
        extra = note.extra._replace(is_rollup=depth > 0, rollup_depth=depth)
        tx.change_note(note, note._replace(type=type_, seq_to=depth or None, extra=extra))

    return act


def on_two(picks: tuple[int, int], act: Callable[[Transaction, Note, Note], object]) -> Do:
    def make(tx: Transaction) -> None:
        notes = tx.rows.notes.scan(before_row=None, limit=10_000)
        one, other = (notes[pick % len(notes)] if notes else None for pick in picks)
        if one is not None and other is not None and one is not other:
            act(tx, one, other)

    return make


def linked(relation: str) -> Callable[[Transaction, Note, Note], object]:
    def act(tx: Transaction, one: Note, other: Note) -> None:
        link = make_link(one.id, other.id, relation)
        if (there := tx.rows.links.get(one.id, other.id, relation)) is None:
            tx.put_link(link, one.nugget)
        else:
            tx.delete_link(there, one.nugget)

    return act


def rolled_up(tx: Transaction, one: Note, other: Note) -> None:
    parent = None if one.parent_id == other.id else other.id
    tx.change_note(one, one._replace(parent_id=parent))


_words = st.lists(st.sampled_from((*WORDS, "poison")), min_size=1, max_size=4).map(" ".join)
_picks = st.integers(0, 20)
_change = st.one_of(
    st.tuples(st.just("create"), _words, st.none() | st.sampled_from([f"the {word} of Ada" for word in WORDS])),
    st.tuples(st.just("edit"), _picks, _words),
    st.tuples(st.just("hide"), _picks),
    st.tuples(st.just("purge"), _picks),
    st.tuples(st.just("type"), _picks, st.sampled_from(["event", "note"]), st.integers(0, 2)),
    st.tuples(st.just("link"), st.tuples(_picks, _picks), st.sampled_from(["knows", "hostile_to"])),
    st.tuples(st.just("link"), st.tuples(_picks, _picks), st.sampled_from(["knows", "hostile_to"])),
    st.tuples(st.just("parent"), st.tuples(_picks, _picks)),
)
_op = st.one_of(
    st.tuples(st.just("large"), st.lists(_change, min_size=3, max_size=12)),
    st.tuples(st.just("group"), st.lists(_change, min_size=1, max_size=6), st.sampled_from([False, False, True])),
    st.tuples(st.just("rename"), st.sampled_from(["memory", "quay"]), st.booleans()),
    st.tuples(st.just("hear")),
    st.tuples(st.just("reach"), st.booleans()),
    st.tuples(st.just("ask"), st.integers(0, len(KEYS) - 1)),
    st.tuples(st.just("turns"), st.integers(1, 9)),
    st.tuples(st.just("later"), st.sampled_from([5, 20, 100, 1_000])),
    st.tuples(
        st.just("fail"),
        st.integers(0, len(KEYS) - 1),
        st.sampled_from(["apply", "link", "forget", "clear"]),
        st.integers(1, 3),
    ),
    st.tuples(st.just("unreadable"), st.integers(1, 3)),
    st.tuples(st.just("follow")),
)


def change_of(bench: Bench, drawn: tuple[Any, ...]) -> Do:
    kind, *values = drawn
    if kind == "create":
        return bench.create(values[0], key=values[1])
    if kind == "edit":
        return bench.on(values[0], edited(values[1]))
    if kind == "type":
        return bench.on(values[0], typed(values[1], values[2]))
    if kind == "link":
        return on_two(values[0], linked(values[1]))
    if kind == "parent":
        return on_two(values[0], rolled_up)
    return bench.on(values[0], hidden if kind == "hide" else purged)


def renamed(name: str) -> Do:
    """The only nugget gets another name."""

    def make(tx: Transaction) -> None:
        names = [nugget.name for nugget in tx.rows.nuggets.page(after="", limit=9)]
        if len(names) == 1 and names[0] != name:
            rename_nugget(tx, names[0], name)

    return make


def all_of(changes: Sequence[Do]) -> Do:
    """Several changes as one."""

    def make(tx: Transaction) -> None:
        for one in changes:
            one(tx)

    return make


async def carry_out(bench: Bench, op: tuple[Any, ...]) -> None:
    shelf, (kind, *values) = bench.shelf, op
    if kind == "group":
        await bench.commit(*(change_of(bench, drawn) for drawn in values[0]), elsewhere=values[1])
    elif kind == "large":
        await bench.commit(all_of([change_of(bench, drawn) for drawn in values[0]]))
    elif kind == "rename":
        await bench.commit(renamed(values[0]), elsewhere=values[1])
    elif kind == "hear":
        shelf.pump.announce(bench.view.log.last_seq)
    elif kind == "reach":
        with suppress(StoreBusy):
            await shelf.reach(None, is_urgent=values[0])
    elif kind == "ask":
        with suppress(StoreBusy):
            shelf.tracks.catch_up(KEYS[values[0]])
    elif kind == "turns":
        await bench.turns(values[0])
    elif kind == "later":
        bench.clock.advance(timedelta(milliseconds=values[0]))
    elif kind == "fail":
        bench.faults(KEYS[values[0]])[values[1]] = values[2]
    elif kind == "unreadable":
        bench.disk.view.failing = values[0]
    else:
        shelf.follow(bench.heard.append)


def found(index: ShelfIndex) -> Any:
    everything = NoteFilter(include_hidden=True)
    told: list[list[tuple[Any, ...]]] = []
    for query in (*WORDS, "harbour crane", "what is the tide of Ada?"):
        hits = index.index.search(query, everything, 99).hits
        judged = index.focus.recall(query, everything, 99)
        told.append([(hit.id, round(hit.score, 9)) for hit in hits])
        told.append([(one.hit.id, round(one.relevance, 9), one.relevant) for one in judged.found])
        told.append([(one.hit.id, one.reason) for one in judged.cut])
    return told


def believed(facts: ShelfFacts) -> Any:
    answers = [facts.nearest(f"the {word} of Ada"[1:], None, lambda _: True) for word in WORDS]
    return len(facts), [None if answer is None else (answer.row, round(answer.confidence, 9)) for answer in answers]


def counted(counts: ShelfCounts) -> Any:
    return counts.total, [counts.nugget(name) for name in ("memory", "quay", "nowhere")]


def said_beside(particulars: ShelfParticulars) -> Any:
    return particulars._words, {word: sorted(rows) for word, rows in particulars._rows.items()}


def drawn(graph: NuggetGraph) -> Any:
    def known(links: NodeLinks | None) -> Any:
        assert links is not None
        told = sorted(zip(*(each.tolist() for each in links), strict=True))
        return [
            (graph.id(other), graph.relation(relation), *rest)
            for other, relation, *rest in told
            if graph.node(graph.id(other)) is not None
        ]

    def shown(node: int) -> Any:
        links = sorted(known(graph.links(node)))
        projected = sorted(known(graph.projected(node))) if graph.is_in_frontier(node) else None
        parent = graph.parent(node)
        family = None if parent is None else graph.id(parent), [graph.id(child) for child in graph.children(node)]
        return graph.id(node), graph.type(node), graph.seq_to(node), graph.is_active(node), family, links, projected

    told = [shown(node) for _, node in graph.timeline()]
    frontier = [graph.id(node) for _, node in graph.frontier()]
    named = [sorted(graph.id(node) for node in graph.named(f"n{number}", exactly=False)) for number in range(9)]
    return told, frontier, named, graph.frontier_size()


#: What can be observed of each kind of projection.
OBSERVED: Final[dict[type[Projection], Callable[[Any], Any]]] = {
    ShelfIndex: found,
    ShelfFacts: believed,
    ShelfCounts: counted,
    ShelfParticulars: said_beside,
    NuggetGraph: drawn,
}


def rows_of(projection: Projection, view: View) -> list[Note]:
    """All that a projection is made from."""
    notes: list[Note] = []
    place: ScanPosition | None = ScanPosition()
    while place is not None:
        some, place, *_ = projection.read(view, place)
        notes += some
    return notes


async def check_as_from_scratch(bench: Bench) -> None:
    shelf = bench.shelf
    await bench.settle()
    for track in (*shelf.tracks.eager, *shelf.tracks.lazy):
        kind = next(kind for kind in OBSERVED if isinstance(track.projection, kind))
        part = [track.projection.nugget] if isinstance(track.projection, NuggetGraph) else []
        scratch: Projection = cast("Any", kind)(bench.view, shelf.settings, *part)
        rows = rows_of(scratch, bench.view)
        poison = {note.row for note in rows if "poison" in note.content}
        assert poison <= track.skipped.keys() <= {note.row for note in bench.notes()}
        applied = [note for note in rows if note.row not in track.skipped]
        scratch.apply(applied)
        scratch.link(bench.view.links.leaving([note.id for note in applied]))
        assert OBSERVED[kind](track.projection) == OBSERVED[kind](scratch), kind.name
        assert track.failure is track.read_error is None
        assert track.share == 1.0
    assert shelf.seq == bench.view.log.last_seq
    if (counts := shelf.exact(COUNTS)) is not None:
        assert counts.total == bench.view.counts()[:4]
    kept = shelf.hot._notes
    assert kept == bench.view.notes.by_ids(list(kept))
    check_events(bench)


def check_events(bench: Bench) -> None:
    """Hold what the ring tells equal to what the log says."""
    shelf, last_seq = bench.shelf, bench.view.log.last_seq
    stored = EventLog(
        bench.view, shelf="s", instance="local", content=shelf.settings.event_content, is_followed=lambda: False
    )
    since = 0
    while since < last_seq:
        told, reached = shelf.events(since, 7, lambda _type, _nugget: True)
        assert told == stored.read(since, 7, reached, lambda _type, _nugget: True)[0]
        assert reached > since
        since = reached


@settings(max_examples=60, deadline=None)
@given(st.lists(_op, max_size=25))
def test_every_projection_ends_as_one_made_from_scratch(ops: list[tuple[Any, ...]]) -> None:
    async def run() -> None:
        bench = Bench()
        with capture_logs() as logs:
            for op in ops:
                await carry_out(bench, op)
                assert bench.heard == sorted(bench.heard)
            bench.shelf.pump.announce(bench.view.log.last_seq)
            await check_as_from_scratch(bench)
        named = {entry["id"] for entry in logs if entry["event"] == "projection.note_skipped"}
        for track in (*bench.shelf.tracks.eager, *bench.shelf.tracks.lazy):
            assert {note.id for note in bench.view.notes.by_rows(list(track.skipped)).values()} <= named
        assert "poison" not in str([entry for entry in logs if entry["event"].startswith("projection")])
        await bench.shelf.close()

    asyncio.run(run())


@pytest.fixture
async def bench() -> Any:
    opened = Bench()
    yield opened
    await opened.shelf.close()


async def test_changes_of_another_process_are_read_from_the_log(bench: Bench) -> None:
    shelf = bench.shelf
    shelf.follow(bench.heard.append)
    await bench.commit(bench.create("harbour"), bench.create("crane"))
    await shelf.reach(None)
    await bench.commit(bench.on(1, edited("ferry")), bench.on(0, purged), bench.create("tide"), elsewhere=True)
    last_seq = bench.view.log.last_seq
    assert shelf.seq < last_seq

    waiting = asyncio.create_task(shelf.reach(last_seq))
    await bench.turns()
    shelf.pump.announce(last_seq)
    await bench.turns()
    await waiting
    assert bench.heard[-1] == shelf.seq == last_seq
    await bench.commit(bench.create("anchor"))
    await check_as_from_scratch(bench)


async def test_a_gap_before_a_group_is_read_from_the_log(bench: Bench) -> None:
    for number in range(400):
        await bench.commit(bench.create(f"{WORDS[number % 6]} {number}"), elsewhere=True)
    await bench.commit(bench.create("anchor"))
    assert len(bench.shelf.projection(INDEX).index) < 400
    await bench.shelf.reach(None)

    assert len(bench.shelf.projection(INDEX).index) == 401
    await check_as_from_scratch(bench)


async def test_what_the_log_does_not_say_is_read_from_the_rows(bench: Bench) -> None:
    await bench.commit(bench.create("harbour"))
    await bench.shelf.reach(None)
    bench.shelf.tracks.catch_up(FACTS)
    await bench.commit(lambda tx: rename_nugget(tx, "memory", "quay"), elsewhere=True)
    bench.shelf.pump.announce(bench.view.log.last_seq)
    await bench.settle()

    index = bench.shelf.projection(INDEX).index
    assert [hit.id for hit in index.search("harbour", NoteFilter(nugget="quay"), 9).hits] == ["n1"]
    await check_as_from_scratch(bench)


async def test_a_gap_that_cannot_be_read_is_tried_again_and_a_reader_is_told(bench: Bench) -> None:
    await bench.turns()
    await bench.commit(bench.create("harbour"), elsewhere=True)
    bench.shelf.pump.announce(bench.view.log.last_seq)
    bench.disk.view.failing = 2
    with pytest.raises(Unavailable):
        await bench.shelf.reach(None)
    with capture_logs() as logs:
        await bench.turns()
        bench.clock.advance(timedelta(milliseconds=20))
        await bench.turns()
        assert bench.shelf.seq == 0
        bench.clock.advance(timedelta(milliseconds=100))
        await bench.turns()

    assert bench.shelf.seq == bench.view.log.last_seq
    assert [entry["retry_in_s"] for entry in logs if entry["event"] == "log.read_failed"] == [0.1]


async def test_what_is_purged_is_forgotten_before_its_caller_hears_of_it(bench: Bench) -> None:
    shelf = bench.shelf
    shelf.follow(bench.heard.append)
    await bench.commit(bench.create("harbour", key="the tide of Ada"))
    await shelf.reach(None)
    [note] = bench.notes()
    shelf.hot.get([note.id])
    while not shelf.tracks.catch_up(FACTS):
        pass
    shelf.record_use([note], session_id="s")
    assert len(shelf.projection(FACTS)) == 1
    await bench.commit(bench.on(0, purged), bench.on(0, purged))

    assert len(shelf.projection(FACTS)) == 0
    assert shelf.hot.get([note.id]) == {}
    assert not shelf.usage.is_dirty
    assert note.content not in repr(list(shelf._event_log._recent))
    await shelf.reach(None)
    assert len(shelf.projection(INDEX).index) == 0


async def test_a_note_made_and_purged_in_one_group_leaves_nothing(bench: Bench) -> None:
    bench.shelf.follow(bench.heard.append)
    await bench.commit(bench.create("harbour"), bench.on(0, purged), bench.create("crane"))
    await bench.shelf.reach(None)

    assert "harbour" not in repr(list(bench.shelf._event_log._recent))
    await check_as_from_scratch(bench)


async def test_of_a_long_group_what_is_known_is_told_while_the_rest_is_taken_in(bench: Bench) -> None:
    bench.shelf.follow(bench.heard.append)
    await bench.commit(*(bench.create("tide") for _ in range(400)))
    await bench.shelf.reach(None)
    steps = [later - earlier for earlier, later in pairwise([0, *bench.heard])]

    assert bench.heard[-1] == bench.view.log.last_seq
    assert max(steps) < bench.heard[-1]
    await check_as_from_scratch(bench)


def said(bench: Bench, *notes: str) -> list[bool]:
    """Whether recall knows each of *notes*."""
    index = bench.shelf.projection(INDEX).index
    return [note.row in index for note in (bench.view.notes.get(one) for one in notes) if note is not None]


async def test_a_small_change_overtakes_a_large_one_and_nothing_it_said_is_lost(bench: Bench) -> None:
    await bench.commit(all_of([bench.create("tide") for _ in range(40)]))
    await bench.commit(bench.create("harbour"), bench.on(20, edited("ferry")))
    edit = next(note for note in bench.notes() if note.content == "ferry")

    await bench.shelf.reach(None, is_urgent=True)
    assert said(bench, "n41", edit.id) == [True, True]
    assert said(bench, "n20", "n30", "n39").count(False) >= 2
    assert bench.shelf.seq < 40

    await bench.commit(bench.on(5, purged))
    await bench.shelf.reach(None, is_urgent=True)
    await check_as_from_scratch(bench)


async def test_a_large_change_comes_to_its_end_although_small_ones_keep_coming(bench: Bench) -> None:
    await bench.commit(all_of([bench.create("tide") for _ in range(20)]))
    for _ in range(40):
        await bench.commit(bench.create("crane"))
        await bench.turns(1)
        bench.clock.advance(timedelta(milliseconds=20))
    assert bench.shelf.seq >= 20


async def test_who_makes_a_large_change_hears_of_it_when_recall_knows_it_or_the_shelf_closes(bench: Bench) -> None:
    origin = Origin(principal="uid:1", method="test")
    told: list[int] = []

    async def make(count: int) -> None:
        some = all_of([bench.create("tide") for _ in range(count)])
        applied = await bench.shelf.commit(origin, some)
        assert bench.shelf.seq >= applied.last_seq
        told.append(count)

    large = asyncio.create_task(make(30))
    while not bench.view.log.last_seq:
        await bench.turns(1)
    assert told == []
    await large
    await bench.commit(all_of([bench.create("tide") for _ in range(30)]))
    last_seq = bench.view.log.last_seq
    for number in (1, 2):
        bench.shelf.pump.tell_when_known(last_seq, lambda number=number: told.append(number))  # type: ignore[misc]
    assert told == [30]
    bench.shelf.pump.closing()
    assert told == [30, 1, 2]


async def test_writers_are_held_up_when_more_comes_than_is_taken_in(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shelfd.memory.shelf.pump._SLICE", 128)
    for _ in range(9):
        await bench.commit(*(bench.create("tide") for _ in range(100)))
        assert bench.shelf.pump._backlog.notes <= 256 + 100


async def test_notes_are_taken_in_after_a_delay_and_sooner_for_a_sink(bench: Bench) -> None:
    await bench.turns()
    await bench.commit(bench.create("tide"))
    await bench.turns()
    assert bench.shelf.seq == 0
    bench.clock.advance(timedelta(milliseconds=20))
    await bench.turns()
    assert bench.shelf.seq == bench.view.log.last_seq

    class Ear:
        is_behind = False

        def applied(self, last_seq: int) -> None:
            bench.heard.append(last_seq)

        def closing(self) -> None:
            pass

    bench.shelf.attach(Ear())
    await bench.commit(bench.create("tide"))
    await bench.turns()
    assert bench.heard == []
    bench.clock.advance(timedelta(milliseconds=5))
    await bench.turns()
    assert bench.heard == [bench.view.log.last_seq]


async def test_who_waits_for_what_never_comes_hears_of_the_end(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.shelf.reach(7))
    await bench.turns()
    await bench.shelf.close()

    with pytest.raises(ShuttingDown):
        await waiting


async def test_a_read_may_come_between_a_new_follower_and_what_it_missed(api: Api) -> None:
    with capture_logs() as logs:
        await api.remember("tea")
        api.shelf().follow(lambda _seq: None)
        await api.shelf().reach(None)
        for _ in range(3):
            await asyncio.sleep(0)
    assert [entry for entry in logs if entry["log_level"] == "error"] == []
