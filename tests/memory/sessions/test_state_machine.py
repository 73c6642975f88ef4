"""Whatever is done to conversations and their notes, the graph stays one, on a file and on its twin alike.

Requests of every kind, good and bad, are made of both. After each one the two agree in every row and answer, and what
sessions read is what a look at all rows says. ``python -m memory.sessions.test_state_machine`` goes on for as long as
it is told.
"""

import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fakes import Api, FakeClock, Refused
from memory.sessions.plain_graph import Edge, PlainGraph
from memory.shelf.test_pump import drawn, rows_of
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.notes.relations import INTERNAL, SYMMETRIC
from shelfd.memory.ports import job
from shelfd.memory.sessions import planning
from shelfd.memory.sessions.nugget_graph import NuggetGraph
from shelfd.memory.sessions.reading import live_graph
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.shelf import storing
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

Json: TypeAlias = dict[str, Any]

SESSIONS: Final = {"s": "story", "t": "story", "u": "side"}
PEOPLE: Final = ("Ada", "Bea", "Cyd")
#: Ids that a request draws, at most.
_DRAWN: Final = 1_000
#: Branches that one story has, at most.
_BRANCHES: Final = 2

#: Stands for the id of a note: the newest is 0.
notes = st.integers(0, 9).map(lambda number: f"@{number}")
sessions = st.sampled_from(["s", "s", "s", "t", "t", "u", "b0"])
turns = st.sampled_from([None, 1, 1, 2, 2, 3, 4])
refs = st.sampled_from(["r1", "r2", "nobody"])
relations = st.sampled_from(["knows", "Hostile_To", "mentions", "contains"])
directions = st.sampled_from(["bidirectional", "outgoing", "incoming"])
target = st.one_of(
    notes.map(lambda note: {"target_node_id": note}),
    notes.map(lambda note: {"target_node_id": note}),
    refs.map(lambda ref: {"target_ref": ref}),
)
link = st.builds(
    lambda end, relation, way: {**end, "relation": relation, "direction": way}, target, relations, directions
)
fields = st.dictionaries(
    st.sampled_from(["goal", "status", "note", "aliases", "summary"]), st.sampled_from(["Ada", "open", "one\ntwo"])
)
event = st.fixed_dictionaries(
    {"op": st.just("create"), "type": st.just("event"), "title": st.sampled_from(["rain", "sun", "wind"])},
    optional={"ref": refs, "links": st.lists(link, max_size=1)},
)
create = st.fixed_dictionaries(
    {"op": st.just("create"), "type": st.sampled_from(["character_sheet", "character_sheet", "thread", "dragon"])},
    optional={
        "title": st.sampled_from((*PEOPLE, "ada")),
        "fields": fields,
        "ref": refs,
        "links": st.lists(link, max_size=2),
        "on_match": st.sampled_from(["merge", "new", "error"]),
    },
)
edit = st.fixed_dictionaries(
    {"op": st.just("edit"), "node_id": notes},
    optional={
        "title": st.sampled_from(PEOPLE),
        "content": st.sampled_from(["said", "said otherwise"]),
        "set_fields": fields,
        "clear_fields": st.lists(st.sampled_from(["goal", "summary"]), max_size=1),
        "if_rev": st.sampled_from([1, 2]),
    },
)
delete = st.fixed_dictionaries({"op": st.just("delete"), "node_id": notes})
source = st.one_of(
    notes.map(lambda note: {"source_node_id": note}),
    notes.map(lambda note: {"source_node_id": note}),
    refs.map(lambda ref: {"source_ref": ref}),
)
upsert = st.builds(
    lambda one, links: {"op": "link_upsert", **one, "links": links}, source, st.lists(link, min_size=1, max_size=2)
)
unlink = st.builds(lambda one, other: {"op": "link_delete", **one, **other}, source, link)
bad = st.sampled_from([{"op": "fly"}, 7, {"op": "edit"}])
operation = st.one_of(event, event, event, create, create, edit, edit, delete, upsert, upsert, unlink, bad)
batches = st.builds(
    lambda ops, atomic: ("session.apply_extraction_batch", {"ops": ops, "atomic": atomic}),
    st.lists(operation, min_size=1, max_size=5),
    st.booleans(),
)
some_notes = st.lists(notes, min_size=2, max_size=3)
rolling = st.builds(
    lambda ids: ("session.compact_nodes", {"type": "event", "child_ids": ids, "summary": "what happened"}), some_notes
)
#: What a conversation does in a turn.
changes = st.one_of(batches, batches, batches, rolling, rolling, st.just(("session.compact", {})))
one_note = st.sampled_from(["note.hide", "note.hide", "note.restore", "note.restore", "forget"])


class Drawn:
    """Random bytes that are the same ones for both stores."""

    def __init__(self) -> None:
        self.number = 0

    def urandom(self, count: int) -> bytes:
        """As ``os.urandom``."""
        self.number += 1
        return self.number.to_bytes(count)


class Conversations(RuleBasedStateMachine):
    """Three conversations in two nuggets, on a file and on its twin."""

    @initialize()
    def begin(self) -> None:
        self.patch = pytest.MonkeyPatch()
        self.drawn = Drawn()
        self.patch.setattr(storing, "os", self.drawn)
        self.patch.setattr(job, "os", self.drawn)
        self.patch.setattr(planning, "NOTES_AT_ONCE", 3)  # so that some rewinds are jobs
        self.loop = asyncio.Runner()
        self.directory = Path(tempfile.mkdtemp(prefix="shelfd-"))
        self.steps = 0
        self.runs: list[str] = []
        self.branches = 0
        self.seen: list[tuple[str, int, Json]] = []
        self.file, self.twin = self.loop.run(self._open())
        self.logged = 0
        for session, nugget in SESSIONS.items():
            self.do("session.open", session_id=session, nugget=nugget)
        self.do("nugget.create", name="side")
        compression = {"threshold": 3, "fan_in": 2, "keep_recent_leaves": 1, "max_depth": 3}
        self.do("schema.set_type", type="event", compression=compression)
        ops: list[Json] = [{"op": "create", "type": "event", "title": f"day {number}"} for number in range(3)]
        ops += [{"op": "create", "type": "character_sheet", "title": name, "ref": name} for name in PEOPLE]
        ops.append({"op": "link_upsert", "source_ref": "Ada", "links": [{"target_ref": "Bea", "relation": "knows"}]})
        self.do("session.apply_extraction_batch", session_id="s", turn=1, ops=ops)

    async def _open(self) -> list[Api]:
        apis = []
        for made in (lambda clock: SqliteStores(self.directory, clock), InMemoryStores):
            clock = FakeClock(stands_still=True)
            api = Api(clock, cast("Any", made)(clock))
            await api.shelves.start()
            apis.append(api)
        return apis

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            try:
                if hasattr(self, "twin"):
                    assert self.loop.run(self.file.shelf().store.check(full=True)) == []
                    for api in (self.file, self.twin):
                        self.loop.run(api.shelves.close())
            finally:
                self.loop.close()
                self.patch.undo()
                shutil.rmtree(self.directory)

    # ------------------------------------------------------------ requests

    def do(self, name: str, /, **params: Any) -> Json | None:
        """Make a request of both; return its result, or None if it is refused, which changes nothing."""
        self.steps += 1
        told = [self._ask(api, name, params) for api in (self.file, self.twin)]
        assert told[0] == told[1]
        result, error = told[0]
        if result is not None and result.get("run_id"):
            self.runs.append(result["run_id"])
        return result if error is None else None

    def _ask(self, api: Api, name: str, params: Json) -> tuple[Json | None, Json | None]:
        self.drawn.number = self.steps * _DRAWN
        api.clock.advance(timedelta(seconds=1))
        view = api.shelf().view if self.steps > 1 else None
        before = (logical_hash(view), view.log.last_seq) if view else None
        result = error = None
        try:
            result = self.loop.run(self._settled(api, name, params))
        except Refused as refusal:
            error = refusal.error
            assert error["code"] != -32603, error  # nothing unforeseen
        if view and (error or (result and result.get("rolled_back")) or params.get("dry_run")):
            assert (logical_hash(view), view.log.last_seq) == before
        return result, error

    async def _settled(self, api: Api, name: str, params: Json) -> Json:
        result = await api.call(name, params)
        await api.shelf().reach(None)
        return result

    def placed(self, value: Any) -> Any:
        """Put ids in the places of what stands for them."""
        match value:
            case str() if value.startswith("@"):
                rows = self.file.shelf().view.notes.scan(before_row=None, limit=10)
                return rows[int(value[1:]) % len(rows)].id if rows else "nobody"
            case list():
                return [self.placed(member) for member in value]
            case dict():
                return {name: self.placed(member) for name, member in value.items()}
            case _:
                return value

    def nugget_of(self, session: str) -> str:
        found = self.file.shelf().view.sessions.get(session)
        return "story" if found is None else found.nugget

    def rows(self, api: Api | None = None) -> tuple[dict[str, Note], list[Link]]:
        view = (api or self.file).shelf().view
        found = {note.id: note for note in view.notes.scan(before_row=None, limit=10_000)}
        return found, [link for _, link in view.links.page(note_id=None, relation=None, after=0, limit=10_000)]

    def said(self) -> tuple[dict[str, Any], Any]:
        """What notes and links say, but for what only counts writes, and numbers of turns."""
        found, links = self.rows()
        said = {
            name: note._replace(row=0, rev=0, updated_at=0, archived_at=1 if note.hidden else None)
            for name, note in found.items()
        }
        return said, sorted(links)

    # ------------------------------------------------------------- changes

    @rule(session=sessions, turn=turns, change=changes)
    def change(self, session: str, turn: int | None, change: tuple[str, Json]) -> None:
        self.changed(session, turn, change)

    def changed(self, session: str, turn: int | None, change: tuple[str, Json]) -> None:
        name, params = change
        params = {"session_id": session, "turn": turn, **self.placed(params)}
        result = self.do(name, **{name: value for name, value in params.items() if value is not None})
        if result is not None and name == "session.compact_nodes":
            found, _ = self.rows()
            rollup = found[result["rollup_node_id"]]
            below = [note.extra.rollup_depth for note in found.values() if note.parent_id == rollup.id]
            assert rollup.extra.rollup_depth == result["depth"] == 1 + max(below)
            assert len(below) == len(params["child_ids"])

    @rule(session=sessions)
    def compact_and_undo(self, session: str) -> None:
        due = self.do("session.compaction_candidates", session_id=session, type="event")
        if due is None:
            return  # not a session yet
        groups = due["groups"]
        before = self.said()
        result = self.do("session.compact", session_id=session)
        assert result is not None
        found, _ = self.rows()
        for group in groups:
            assert len({found[child].parent_id for child in group["child_ids"]} - {None}) == 1
        assert result["rollups"] >= len(groups)
        left = cast("Json", self.do("session.compaction_candidates", session_id=session, type="event"))["groups"]
        assert left == []
        if result["rollups"]:
            self.do("reflection.undo", run_id=result["run_id"])
            self.unchanged(before)

    def unchanged(self, before: tuple[dict[str, Any], Any]) -> None:
        """Notes and links are as they were; what was made since is hidden."""
        found, links = self.said()
        assert links == before[1]
        changed = {name: (note, found[name]) for name, note in before[0].items() if found[name] != note}
        assert changed == {}
        assert all(note.hidden for name, note in found.items() if name not in before[0])

    @rule(method=one_note, note=notes)
    def on_one_note(self, method: str, note: str) -> None:
        self.do(method, id=self.placed(note))

    @rule(note=notes, nugget=st.sampled_from(["story", "side"]))
    def move(self, note: str, nugget: str) -> None:
        self.do("note.move", id=self.placed(note), nugget=nugget)

    @rule(one=notes, other=notes, method=st.sampled_from(["note.merge", "mark_note_superseded"]))
    def put_in_place_of(self, one: str, other: str, method: str) -> None:
        names = ("target", "source") if method == "note.merge" else ("superseded_by_id", "note_id")
        self.do(method, **dict(zip(names, (self.placed(one), self.placed(other)), strict=True)))

    @rule(one=notes, other=notes, relation=relations, way=directions)
    def link_anything(self, one: str, other: str, relation: str, way: str) -> None:
        self.do("link.upsert", source=self.placed(one), target=self.placed(other), relation=relation, direction=way)

    @rule(session=sessions)
    def remember_privately(self, session: str) -> None:
        self.do(
            "remember", content="to be told to no other", nugget=self.nugget_of(session), scope="session",
            session_id=session, type="event", links=[{"to": self.placed("@0"), "relation": "knows"}],
        )  # fmt: skip

    @rule(there=st.booleans())
    def rename(self, there: bool) -> None:
        names = ("side", "aside") if there else ("aside", "side")
        self.do("nugget.rename", name=names[0], new_name=names[1])
        self.seen.clear()

    @rule(note=notes)
    def purge(self, note: str) -> None:
        self.do("forget", id=self.placed(note), purge=True)
        self.seen.clear()

    @rule(threshold=st.integers(2, 3), recent=st.integers(0, 2), mode=st.sampled_from(["hierarchical"] * 3 + ["none"]))
    def set_type(self, threshold: int, recent: int, mode: str) -> None:
        compression = {"threshold": threshold, "keep_recent_leaves": recent, "mode": mode}
        self.do("schema.set_type", type="event", nugget="story", compression=compression)
        self.seen.clear()

    # ------------------------------------------------------------- rewinds

    @rule(session=sessions, turn=st.integers(1, 4))
    def retract(self, session: str, turn: int) -> None:
        self._rewind("session.retract_turns", {"session_id": session, "from_turn": turn})

    @rule(session=sessions, turn=st.integers(1, 3), variant=st.integers(0, 2))
    def select(self, session: str, turn: int, variant: int) -> None:
        self._rewind("session.select_variant", {"session_id": session, "turn": turn, "variant": variant})

    @rule(session=sessions, turn=st.integers(1, 4))
    def retract_and_undo(self, session: str, turn: int) -> None:
        before = self.said()
        done = self._rewind("session.retract_turns", {"session_id": session, "from_turn": turn})
        if done is not None:
            self.do("reflection.undo", run_id=done["run_id"])
            assert self.said() == before

    def _rewind(self, method: str, params: Json) -> Json | None:
        dry = self.do(method, **params, dry_run=True)
        done = self.do(method, **params)
        assert (dry is None) == (done is None)
        if dry is not None and done is not None:
            names = dry.keys() - {"run_id", "dry_run"}
            assert {name: dry[name] for name in names} == {name: done[name] for name in names}
        return done

    @rule(session=sessions, told=st.lists(changes, min_size=1, max_size=3))
    def retract_what_came_last(self, session: str, told: list[tuple[str, Json]]) -> None:
        turn = self.next_turn(session)
        before = self.said()
        for change in told:
            self.changed(session, turn, change)
        self.do("session.retract_turns", session_id=session, from_turn=turn)
        self.unchanged(before)

    def next_turn(self, session: str) -> int:
        known = cast("Json", self.do("session.list"))["sessions"]
        return 1 + next((one.get("last_turn") or 0 for one in known if one["session_id"] == session), 0)

    @precondition(lambda self: self.branches < _BRANCHES)
    @rule(session=sessions, told=changes)
    def branch(self, session: str, told: tuple[str, Json]) -> None:
        turn = self.next_turn(session)
        self.changed(session, turn, told)
        # The turn's own last word: what was written in no turn since the last one is not part of the branch.
        if (
            self.do("session.create_node", session_id=session, type="event", turn=turn, fields={"summary": "so"})
            is None
        ):
            return
        nugget = self.nugget_of(session)
        log = self.file.shelf().view.log
        if log.last_of_turns(session, until_turn=turn) != log.last_seq:
            return  # the turn changed nothing: the branch would have what was before others' changes
        new = f"b{self.branches}"
        params = {"session_id": session, "at_turn": turn, "new_session_id": new, "nugget": new}
        dry = self.do("session.branch", **params, dry_run=True)
        done = self.do("session.branch", **params)
        assert (dry is None) == (done is None)
        if done is None or dry is None:
            return
        self.branches += 1
        found, links = self.rows()
        shown = {name: note for name, note in found.items() if note.nugget == nugget and not note.hidden}
        copies = {note.extra.copied_from: note for note in found.values() if note.nugget == new}
        assert copies.keys() == shown.keys()
        ids = {name: copies[name].id for name in shown}
        for name, note in shown.items():
            copy = copies[name]
            assert (copy.type, copy.title, copy.content) == (note.type, note.title, note.content)
            assert (copy.extra.fields, copy.tags, copy.seq_to) == (note.extra.fields, note.tags, note.seq_to)
            assert copy.parent_id == ids.get(note.parent_id or "")
        between = {(ids[one.source], ids[one.target], *one[2:]) for one in links if {*one[:2]} <= shown.keys()}
        assert {tuple(one) for one in links if one.source in ids.values()} == between
        assert done["notes"] == dry["notes"] == len(copies)
        assert done["links"] == dry["links"] == len(between)

    @precondition(lambda self: self.runs)
    @rule(number=st.integers(0, 4))
    def undo_run(self, number: int) -> None:
        self.do("reflection.undo", run_id=self.runs[-1 - number % len(self.runs)])

    @rule(number=st.integers(0, 4))
    def undo_transaction(self, number: int) -> None:
        view = self.file.shelf().view
        txs = sorted({row.tx for row in view.log.page(since_seq=max(0, view.log.last_seq - 30), limit=30)})
        self.do("undo", tx=txs[-1 - number % len(txs)])

    # -------------------------------------------------------- frozen reads

    @rule(session=sessions)
    def look(self, session: str) -> None:
        nugget = self.nugget_of(session)
        reader = f"reader of {nugget}"
        opened = cast("Json", self.do("session.open", session_id=reader, nugget=nugget))
        self.seen.append((nugget, opened["seq"], self.read_by(reader)))

    @precondition(lambda self: self.seen)
    @rule(number=st.integers(0, 9))
    def look_back(self, number: int) -> None:
        nugget, seq, seen = self.seen[number % len(self.seen)]
        reader = f"reader of {nugget}"
        assert self.do("session.open", session_id=reader, nugget=nugget, at_seq=seq) is not None
        was = self.read_by(reader)
        for name, read in seen.items():
            assert was[name] == read, name

    # ----------------------------------------------------------- comparing

    @invariant()
    def all_is_well(self) -> None:
        self.stores_agree()
        self.notes_are_a_tree_and_links_lead_somewhere()
        self.reads_are_what_the_rows_say()
        self.the_graph_is_as_if_made_from_the_rows()

    def stores_agree(self) -> None:
        file, twin = self.file.shelf().view, self.twin.shelf().view
        assert self.rows(self.file) == self.rows(self.twin)
        assert file.log.page(since_seq=self.logged, limit=10_000) == twin.log.page(since_seq=self.logged, limit=10_000)
        assert file.rewinds.since(0) == twin.rewinds.since(0)
        sessions_page = {"after": "", "limit": 100}
        assert file.sessions.page(**sessions_page) == twin.sessions.page(**sessions_page)  # type: ignore[arg-type]
        self.logged = file.log.last_seq

    def notes_are_a_tree_and_links_lead_somewhere(self) -> None:
        found, links = self.rows()
        for note in found.values():
            above, at = set[str](), note
            while at.parent_id is not None:
                assert at.parent_id in found
                assert at.parent_id not in above
                above.add(at.parent_id)
                parent = found[at.parent_id]
                assert parent.extra.is_rollup
                assert parent.extra.rollup_depth > at.extra.rollup_depth
                at = parent
            assert note.id not in above
            assert note.superseded_by != note.id
        triples = Counter(one[:3] for one in links)
        assert all(count == 1 for count in triples.values())
        for source_id, target_id, relation in triples:
            assert source_id != target_id
            assert {source_id, target_id} <= found.keys()
            assert relation not in INTERNAL
            assert relation not in SYMMETRIC or (target_id, source_id, relation) not in triples

    def reads_are_what_the_rows_say(self) -> None:
        for session in (*SESSIONS, *(f"b{number}" for number in range(self.branches))):
            self._compare(session, self.read_by(session))

    def read_by(self, session: str) -> Json:
        seen, other = [self.loop.run(self._look(api, session)) for api in (self.file, self.twin)]
        assert seen == other
        return seen

    async def _look(self, api: Api, session: str) -> Json:
        """What a session reads."""

        async def read(name: str, part: str, **params: Any) -> Any:
            return (await api.call(f"session.{name}", session_id=session, limit=1000, **params))[part]

        nodes = await read("list_nodes", "nodes", active_only=False)
        ids = [node["id"] for node in nodes]
        briefs = await api.call("session.get_node_briefs", session_id=session, ids=ids, edge_summary_limit=100)
        return {
            "nodes": nodes,
            "edges": await read("list_edges", "edges"),
            "candidates": [node["id"] for node in await read("list_visible_candidates", "nodes")],
            "projected": await read("project_edges", "edges", exclude_internal=False),
            "briefs": {one["id"]: one for one in briefs["briefs"] if one is not None},
        }

    def _compare(self, session: str, seen: Mapping[str, Any]) -> None:
        found, links = self.rows()
        nugget = self.nugget_of(session)
        open_ = {name: note for name, note in found.items() if not note.private or note.session_id == session}
        schema = schema_of(self.file.shelf().view, nugget)
        plain = PlainGraph(nugget, open_, {one[:3]: one for one in links if {one[0], one[1]} <= open_.keys()})
        plain.is_hierarchical = lambda type_: cast("Any", schema.get(type_)).is_hierarchical
        assert {node["id"] for node in seen["nodes"]} == {name for name in open_ if plain.own(name)}
        frontier = plain.frontier()
        assert seen["candidates"] == frontier
        for note in plain.candidates():
            assert self._covering(plain, note).id in frontier
        own = (edge for edge, _ in plain.edges() if plain.own(edge[0]) and plain.own(edge[1]))
        assert Counter((one["from"], one["to"], one["type"]) for one in seen["edges"]) == Counter(own)
        told: Counter[Edge] = Counter()
        for one in seen["projected"]:
            ends = sorted((one["from"], one["to"])) if one["type"] in SYMMETRIC else (one["from"], one["to"])
            told[ends[0], ends[1], one["type"]] += one["weight"]
        weights = plain.projected(set(frontier))
        assert told == weights
        for name, brief in seen["briefs"].items():
            touching = {edge: weight for edge, weight in weights.items() if name in edge[:2]}
            summary = brief["edge_summary"]
            assert summary["degree"] == sum(touching.values())
            others = {end for edge in touching for end in edge[:2]} - {name}
            assert {one["id"] for one in summary["sample_neighbors"]} == others

    @staticmethod
    def _covering(plain: PlainGraph, note: Note) -> Note:
        while (parent := plain.represents(note)) is not None:
            note = parent
        return note

    def the_graph_is_as_if_made_from_the_rows(self) -> None:
        async def follow(api: Api) -> None:
            shelf = api.shelf()
            for nugget in {session.nugget for session in shelf.view.sessions.page(after="", limit=100)}:
                graph = await live_graph(shelf, nugget, schema_of(shelf.view, nugget))
                scratch = NuggetGraph(shelf.view, shelf.settings, nugget)
                rows = rows_of(scratch, shelf.view)
                scratch.apply(rows)
                scratch.link(shelf.view.links.leaving([note.id for note in rows]))
                assert drawn(graph) == drawn(scratch)

        for api in (self.file, self.twin):
            self.loop.run(follow(api))


_BOUNDED: Final = {"deadline": None, "suppress_health_check": list(HealthCheck)}
Conversations.TestCase.settings = settings(
    derandomize=True,
    database=None,
    max_examples=10,
    stateful_step_count=20,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    **cast("Any", _BOUNDED),
)
TestConversations = Conversations.TestCase

if __name__ == "__main__":
    examples = int(sys.argv[1]) if sys.argv[1:] else 500
    long = settings(max_examples=examples, stateful_step_count=50, print_blob=True, **cast("Any", _BOUNDED))
    run_state_machine_as_test(cast("Any", Conversations), settings=long)
    print(f"{examples} stories")
