"""Rewinding over random stories of two conversations, against a model that replays what counts from the start."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.log.superseding import leads_to
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Extra, Link, Note
from shelfd.memory.ports.log import Origin
from shelfd.memory.sessions import planning
from shelfd.storage import SqliteStores

SESSIONS = ("s", "t")


@dataclass
class Told:
    """One change of a note as somebody wanted it, whatever else there is."""

    act: str
    name: str
    value: Any = None
    session: str | None = None
    turn: int | None = None
    variant: int = 0
    #: Of a rollup: what its children said then. Of a restoring: whether rewinding had hidden the note.
    basis: Any = None


@dataclass
class State:
    """What a note is in the model."""

    title: str
    content: str
    fields: dict[str, str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    hidden: bool = False
    parent: str | None = None
    children: tuple[str, ...] = ()
    successor: str | None = None

    @property
    def said(self) -> tuple[Any, ...]:
        return self.title, self.content, dict(self.fields), self.hidden


Links = set[tuple[str, str]]


def replayed(told: Iterable[tuple[Told, bool]]) -> tuple[dict[str, State], Links]:
    """The notes and links that changes give of which only those count that say so."""
    notes: dict[str, State] = {}
    absent: dict[str, State] = {}  # their creation does not count
    links: Links = set()
    said: Said = {}
    for number, (one, counts) in enumerate(told):
        if one.act in ("supersede", "count"):
            said.setdefault(one.name, []).insert(0, (number, one.value, counts))
        else:
            _replay(one, counts, notes, absent, links)
    _stand(notes, said)
    return notes, links


#: What stands for each note, as was said, the last first: when, which note, and whether that counts.
Said = dict[str, list[tuple[int, str | None, bool]]]


def _stand(notes: dict[str, State], said: Said) -> None:
    """Let notes stand for others: one that is gone leaves that to what stands for it."""
    heeded = {
        name: [(at, by) for at, by, counts in each if counts or (by is not None and by not in notes)]
        for name, each in said.items()
    }
    found: dict[str, tuple[int, str]] = {}
    for name in notes:
        for at, by in heeded.get(name, ()):
            if by is None:
                break
            seen = {name}
            while by is not None and by not in notes and by not in seen:
                seen.add(by)
                by = next((then for _, then in heeded.get(by, ())), None)  # noqa: PLW2901
            if by is not None and by not in seen:
                found[name] = (at, by)
                break
    for name, (at, by) in found.items():
        circle, times = by, [at]
        for _ in notes:
            if circle == name or circle not in found:
                break
            times.append(found[circle][0])
            circle = found[circle][1]
        if circle != name or at != min(times):
            notes[name].successor = by


def _replay(  # noqa: C901 (one case for each act)
    one: Told, counts: bool, notes: dict[str, State], absent: dict[str, State], links: Links
) -> None:
    if one.act == "create":
        (notes if counts else absent)[one.name] = State(one.name, one.value)
        return
    if not counts:
        return
    if one.act in ("link", "unlink"):
        links.add(one.value) if one.act == "link" else links.discard(one.value)
        return
    if one.act == "rollup":
        if any(name not in notes or notes[name].said != said for name, said in one.basis.items()):
            return
        for name in one.basis:
            _displace(notes, notes[name].parent)
        notes[one.name] = State(one.name, one.value, children=tuple(one.basis))
        for name in one.basis:
            notes[name].parent = one.name
        return
    if one.act == "restore" and one.basis and one.name in absent:
        notes[one.name] = absent.pop(one.name)
    note = notes.get(one.name)
    if one.act == "dissolve":
        for name in one.value:
            if name in notes:
                notes[name].parent = None
    if note is None:
        _on_absent(one, absent)
        return
    _change(one, note)


def _on_absent(one: Told, absent: dict[str, State]) -> None:
    """What is written on a note that is not there stays written on it, should it be restored."""
    if one.name in absent and one.act not in ("hide", "restore", "dissolve"):
        _change(one, absent[one.name])


def _change(one: Told, note: State) -> None:
    match one.act:
        case "title":
            note.title = one.value
        case "content":
            note.content = one.value
        case "column":
            note.fields[one.value[0]] = one.value[1]
        case "tag":
            note.tags.add(one.value)
        case "untag":
            note.tags.discard(one.value)
        case "hide" | "dissolve":
            note.hidden = True
        case "restore":
            note.hidden = False


def _displace(notes: dict[str, State], name: str | None) -> None:
    """A rollup goes of which a child is represented by another; so do those above it."""
    if name is None or name not in notes:
        return
    gone = notes.pop(name)
    _displace(notes, gone.parent)
    for child in gone.children:
        if child in notes and notes[child].parent == name:
            notes[child].parent = None


class Story:
    """A shelf, what was told to it, and which of that was taken back by which run."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.told: list[Told] = []
        self.kills: dict[tuple[str, int], set[int]] = {}  # by run and number
        self.standing: set[tuple[str, int]] = set()
        self.runs: list[tuple[str, str, Any]] = []  # run, act, about
        self.redone: set[str] = set()
        self.live: dict[tuple[str, int], int] = {}

    def expected(self) -> tuple[dict[str, State], Links]:
        dead = set().union(*(self.kills[one] for one in self.standing))
        return replayed((one, index not in dead) for index, one in enumerate(self.told))

    def note(self, name: str) -> Note | None:
        return self.api.shelf().view.notes.get(name)

    async def tell(self, told: Told) -> None:
        """Have a change made, if it is one, and remember it."""
        if told.session is not None and told.turn is not None:
            told.variant = self.live.get((told.session, told.turn), 0)
        origin = Origin("p", "test", None, told.session, told.turn)
        shelf = self.api.shelf()
        applied = await shelf.commit(origin, lambda tx: self._apply(tx, told))
        if applied.rows:
            self.told.append(told)
            await shelf.reach(None)

    def _apply(self, tx: Transaction, told: Told) -> None:
        if told.act == "create":
            if tx.rows.notes.get(told.name) is None:
                tx.create_note(_blank(told.name, told.value, tx.now))
        elif told.act in ("link", "unlink"):
            self._link(tx, told)
        elif told.act == "rollup":
            self._roll_up(tx, told)
        elif (note := tx.rows.notes.get(told.name)) is not None:
            self._change(tx, told, note)

    def _link(self, tx: Transaction, told: Told) -> None:
        source, target = told.value
        if source == target or tx.rows.notes.get(source) is None or tx.rows.notes.get(target) is None:
            return
        link = Link(source, target, "related", "", tx.now)
        if told.act == "link":
            tx.put_link(link, "memory")
        elif (now := tx.rows.links.get(source, target, "related")) is not None:
            tx.delete_link(now, "memory")

    def _roll_up(self, tx: Transaction, told: Told) -> None:
        children = [tx.rows.notes.get(name) for name in told.value]
        made = [one for one in children if one is not None and not one.hidden and one.parent_id is None]
        if len(made) < len(children) or len(made) < 2 or tx.rows.notes.get(told.name) is not None:
            return
        told.basis = {one.id: _state(one).said for one in made}
        depth = 1 + max(one.extra.rollup_depth for one in made)
        told.value = " ".join(one.id for one in made)
        rollup = _blank(told.name, told.value, tx.now)
        tx.create_note(rollup._replace(extra=Extra(is_rollup=True, rollup_depth=depth)))
        for one in made:
            tx.change_note(one, one._replace(parent_id=told.name))

    def _change(self, tx: Transaction, told: Told, note: Note) -> None:
        if told.act == "restore":
            told.basis = told.name not in self.expected()[0]
            stood = told.basis and any(one.act == "supersede" and one.value == told.name for one in self.told)
            if note.hidden and not note.extra.is_rollup and not stood:  # what it stood for is nothing it brings back
                tx.restore(note)
            return
        if note.hidden:
            return
        fields = {**note.extra.fields, told.value[0]: told.value[1]} if told.act == "column" else note.extra.fields
        match told.act:
            case "title" | "content":
                new = note._replace(**{told.act: told.value})
            case "column":
                new = note._replace(extra=note.extra._replace(fields=fields))
            case "tag":
                new = note._replace(tags=(*(tag for tag in note.tags if tag != told.value), told.value))
                new = note if told.value in note.tags else new
            case "untag":
                new = note._replace(tags=tuple(tag for tag in note.tags if tag != told.value))
            case "supersede":
                other = tx.rows.notes.get(told.value)
                if other is not None and not other.hidden and not leads_to(tx.rows, other.id, note.id):
                    tx.supersede(note, other.id)
                return
            case "count":
                new = tx.unsuperseded(note)
            case _:
                self._hide(tx, told, note)
                return
        tx.change_note(note, new)

    def _hide(self, tx: Transaction, told: Told, note: Note) -> None:
        tx.hide(note)
        if note.extra.is_rollup:
            told.act = "dissolve"
            children = tx.rows.notes.children([note.id])
            told.value = [one.id for one in children]
            for one in children:
                tx.change_note(one, one._replace(parent_id=None))

    # ----------------------------------------------------------- rewinding

    async def rewind(self, act: str, session: str, turn: int, number: int) -> None:
        if act == "retract":
            await self.retract(session, turn)
        elif act == "select":
            await self.select(session, turn, number % 3)
        elif self.runs:
            await self.undo(self.runs[-1 - number % len(self.runs)][0])

    async def retract(self, session: str, turn: int) -> None:
        result = await self.api.call("session.retract_turns", session_id=session, from_turn=turn)
        killed = {index for index, one in enumerate(self.told) if one.session == session and (one.turn or 0) >= turn}
        if self.api.shelf().view.rewinds.by_run(result["run_id"]):
            self._kill((result["run_id"], 0), killed)
            self.runs.append((result["run_id"], "retract", None))

    def _kill(self, name: tuple[str, int], killed: set[int]) -> None:
        self.kills[name] = killed
        self.standing.add(name)

    async def select(self, session: str, turn: int, variant: int) -> None:
        known = self.api.shelf().view.rewinds.variants(session, from_turn=turn, until_turn=turn)
        variant = min(variant, max((one.variant for one in known), default=0) + 1)
        was = self.live.get((session, turn), 0)
        result = await self.api.call("session.select_variant", session_id=session, turn=turn, variant=variant)
        assert result["was"] == was
        self._selected(result["run_id"], session, turn, variant)

    def _selected(self, run_id: str, session: str, turn: int, variant: int) -> None:
        was = self.live.get((session, turn), 0)
        if variant == was:
            return
        for name in [name for name in self.standing if self._about(name) == (session, turn, variant)]:
            self.standing.discard(name)
        of_live = (session, turn, was)
        told = enumerate(self.told)
        self._kill((run_id, 0), {i for i, one in told if (one.session, one.turn, one.variant) == of_live})
        self.runs.append((run_id, "select", of_live))
        self.live[session, turn] = variant

    def _about(self, name: tuple[str, int]) -> Any:
        return next((about for run, _, about in self.runs if run == name[0]), None)

    async def undo(self, run_id: str) -> None:
        undone = (await self.api.call("reflection.undo", run_id=run_id))["run_id"]
        act, about = next((act, about) for run, act, about in self.runs if run == run_id)
        if act == "select":
            if (run_id, 0) in self.standing:
                session, turn, variant = about
                self._selected(undone, session, turn, variant)
        elif act == "retract":
            if (run_id, 0) in self.standing:
                self.standing.discard((run_id, 0))
                self.runs.append((undone, "undo", (run_id, 0)))
        elif run_id not in self.redone:
            self._kill((undone, 0), self.kills[about])
            self.runs.append((undone, "retract", None))
            self.redone.add(run_id)

    # ------------------------------------------------------------ comparing

    def check(self) -> None:
        """Compare the shelf with what the model gives."""
        notes, links = self.expected()
        view = self.api.shelf().view
        actual = {note.id: note for note in view.notes.scan(before_row=None, limit=1000)}
        assert {name for name, note in actual.items() if not note.hidden} == {
            name for name, state in notes.items() if not state.hidden
        }
        for name, state in notes.items():
            found = _state(actual[name])
            found.children = state.children
            if state.hidden:
                found.parent = state.parent  # nobody looks at it
            assert found == state, name
        found_links = {link[:2] for leaving in view.links.leaving(list(actual)).values() for link in leaving}
        assert found_links == links


def _blank(name: str, content: str, now: int) -> Note:
    return Note(id=name, nugget="memory", title=name, content=content, created_at=now, updated_at=now)


def _state(note: Note) -> State:
    fields, tags = dict(note.extra.fields), set(note.tags)
    return State(note.title, note.content, fields, tags, note.hidden, note.parent_id, (), note.superseded_by)


NAMES = ["a", "b", "c"]
names = st.sampled_from(NAMES)
texts = st.sampled_from(["one", "two"])
sessions = st.sampled_from(["s", "s", "s", "t", None])
turns = st.integers(1, 2)
of_turns = (sessions, turns)
CREATED = st.tuples(*(st.builds(Told, st.just("create"), st.just(name), texts, *of_turns) for name in NAMES))
CHANGES = st.one_of(
    st.builds(Told, st.sampled_from(["title", "content"]), names, texts, *of_turns),
    st.builds(Told, st.just("column"), names, st.tuples(st.sampled_from(["x", "y"]), texts), *of_turns),
    st.builds(Told, st.sampled_from(["tag", "untag"]), names, texts, *of_turns),
    *[st.builds(Told, st.just("supersede"), names, names, *of_turns)] * 3,
    st.builds(Told, st.just("count"), names, st.none(), *of_turns),
    st.builds(Told, st.sampled_from(["hide", "restore", "restore"]), names, st.none(), *of_turns),
    st.builds(Told, st.sampled_from(["link", "unlink"]), st.just(""), st.tuples(names, names), *of_turns),
    st.builds(Told, st.just("hide"), st.sampled_from(["r1", "r2"]), st.none(), *of_turns),
)
ROLLUPS = st.builds(
    Told,
    st.just("rollup"),
    st.sampled_from(["r1", "r2", "r3"]),
    st.sampled_from([["a", "b"], ["b", "c"], ["a", "r2"], ["r1", "c"], ["a", "b", "c"]]),
    *of_turns,
)
REWINDS = st.tuples(st.sampled_from(["retract", "select", "undo"]), st.just("s"), turns, st.sampled_from([0, 0, 1, 2]))
STORIES = st.builds(
    lambda first, rest: [*first, *rest],
    CREATED,
    st.lists(st.one_of(CHANGES, *[ROLLUPS] * 4, *[REWINDS] * 6), min_size=15, max_size=30),
)


async def _tell(api: Api, story: list[Any]) -> None:
    for session in SESSIONS:
        await api.call("session.open", session_id=session)
    told = Story(api)
    for one in story:
        if isinstance(one, Told):
            await told.tell(Told(one.act, one.name, one.value, one.session, one.turn if one.session else None))
        else:
            await told.rewind(*one)
            told.check()
    told.check()


@given(story=STORIES, at_once=st.sampled_from([1, 2, 20]))
@settings(deadline=None, max_examples=150)
def test_what_counts_is_what_the_shelf_says(story: list[Any], at_once: int) -> None:
    async def run() -> None:
        async with memory() as api:
            await _tell(api, story)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "NOTES_AT_ONCE", at_once)
        asyncio.run(run())


@given(story=STORIES)
@settings(deadline=None, max_examples=40)
def test_what_counts_is_what_the_files_say(story: list[Any]) -> None:
    async def run(directory: str) -> None:
        stores: Callable[..., Any] = lambda clock: SqliteStores(Path(directory), clock)  # noqa: E731
        async with memory(stores) as api:
            await _tell(api, story)

    with TemporaryDirectory() as directory:
        asyncio.run(run(directory))
