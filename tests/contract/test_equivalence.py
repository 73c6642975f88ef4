"""The file and its twin do the same, whatever is done to them and wherever it fails."""

import asyncio
import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contract.samples import NEW_YEAR, change, make_link, make_note, make_nugget
from fakes import FakeClock
from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import NO_EXTRA, Extra, Note, Usage, fold_key
from shelfd.memory.ports.job import UNFINISHED, Job
from shelfd.memory.ports.log import LogRow, Recorded
from shelfd.memory.ports.sessions import Injection, Retraction, Session, Variant
from shelfd.memory.ports.store import Applied, Change, Store
from shelfd.memory.ports.tending import Promoted, ReflectionProgress
from shelfd.memory.ports.view import View
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

NOTE_IDS = [f"n{number}" for number in range(6)]
NUGGETS = ["memory", "work", "ärger"]
KEYS = ["colour", "größe"]
SESSIONS = ["s1", "s2"]
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)


class Step(NamedTuple):
    """One thing a change does; what it needs it draws beforehand, so that both stores are given the same."""

    act: str
    note: str
    other: str
    nugget: str
    new_nugget: str
    key: str | None
    session: str
    number: int
    text: str
    flag: bool


ACTS = """create create create edit edit expire hide restore supersede link unlink nugget remove_nugget rename turn
usage hit record forget meta sink job piece forget_jobs tended promoted session type variant
retraction injection forget_injections fail fail_shelf""".split()
STEPS = st.builds(
    Step,
    act=st.sampled_from(ACTS),
    note=st.sampled_from(NOTE_IDS),
    other=st.sampled_from(NOTE_IDS),
    nugget=st.sampled_from(NUGGETS),
    new_nugget=st.sampled_from(NUGGETS),
    key=st.sampled_from([None, *KEYS]),
    session=st.sampled_from(SESSIONS),
    number=st.integers(0, 4),
    text=TEXTS,
    flag=st.booleans(),
)
GROUPS = st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=5)


def _edited(old: Note, step: Step) -> Note:
    return old._replace(
        content=step.text,
        nugget=step.nugget,
        key=None if old.key is None else step.key or old.key,
        tags=(step.text, step.session) if step.flag else (),
        confidence=step.number / 3,
        pinned=step.flag,
        title=step.new_nugget if step.flag else old.title,
        extra=Extra(aliases=(step.other, step.text), evolution_count=step.number * 3) if step.flag else NO_EXTRA,
    )


def _change_note(tx: Transaction, step: Step, old: Note) -> None:
    match step.act:
        case "edit":
            tx.change_note(old, _edited(old, step))
        case "hide":
            tx.hide(old)
        case "restore":
            tx.restore(old)
        case "supersede":
            tx.change_note(old, old._replace(superseded_by=step.other), kind="note.superseded")
        case "usage":
            tx.rows.usage.put({old.row: Usage(step.number, step.number + 1, tx.now, step.session)})
        case "hit":
            tx.rows.usage.add_hit_sessions([(old.row, step.session)])


def _change_rows(tx: Transaction, step: Step) -> object:
    rows = tx.rows
    link = make_link(step.note, step.other, step.session, reason=step.text)
    match step.act:
        case "create":
            fields: dict[str, Any] = {
                "key": step.key,
                "nugget": step.nugget,
                "content": step.text,
                "created_at": tx.now,
                "parent_id": step.other if step.flag else None,
                "expires_at": tx.now + step.number if step.flag else None,
            }
            return tx.create_note(make_note(step.note, **fields, updated_at=tx.now - step.number))
        case "link":
            return tx.put_link(link, step.nugget)
        case "unlink":
            tx.delete_link(link, step.nugget)
        case "expire":
            expired = rows.notes.expired(tx.now + step.number, limit=2)
            rows.notes.forget_expiry(expired)
            return expired
        case "nugget":
            rows.nuggets.put(make_nugget(step.nugget, turn_count=step.number))
        case "remove_nugget":
            rows.nuggets.delete(step.nugget)
        case "rename":
            rows.nuggets.rename(step.nugget, step.new_nugget)
        case "turn":
            rows.nuggets.claim_turn(step.nugget, step.session, step.number, step.number * 2)
        case _:
            return _change_the_rest(tx, step)
    return None


def _change_the_rest(tx: Transaction, step: Step) -> object:
    rows = tx.rows
    match step.act:
        case "record":
            rows.recorded.put(
                "p", step.session, step.note, Recorded(step.text, {"n": step.number}, tx.now - step.number)
            )
        case "forget":
            return rows.recorded.delete_before(tx.now - step.number, now=tx.now - step.number // 2, limit=2)
        case "meta":
            rows.meta.put(step.note, step.text)
        case "fail":
            raise ValueError(step.text)
        case "fail_shelf":
            raise ShelfError(step.text)
        case _:
            return _tend(tx, step)
    return None


def _tend(tx: Transaction, step: Step) -> object:
    rows = tx.rows
    result = {"n": step.number, "text": step.text} if step.flag else {}
    states = (*UNFINISHED, "done", "dead")
    job = Job(f"job-{step.note}", step.session, states[step.number % 5], "p", "m", None, step.text, result, result)
    match step.act:
        case "sink":
            rows.sinks.put(step.session, step.number)
        case "job":
            slot = f"{step.note} {step.session}" if step.flag else None
            rows.jobs.put(job._replace(slot=slot, error=step.key, updated_at=tx.now))
            return rows.jobs.in_slot(step.session, slot or "")
        case "piece":
            rows.jobs.put_piece(f"job-{step.note}", step.number, result)
        case "forget_jobs":
            return rows.jobs.delete_ended(tx.now - step.number, limit=step.number, in_slots=step.flag)
        case "tended":
            rows.reflection.put(ReflectionProgress(step.nugget, (tx.now, step.number), (step.number, 0), tx.now))
        case "session" | "type" | "variant" | "retraction" | "injection" | "forget_injections":
            return _converse(tx, step)
        case "promoted":
            lines = [Promoted(step.note, step.session, f"{step.text}{n}", tx.now) for n in range(step.number)]
            rows.promotions.put(step.nugget, lines)
    return rows.notes.with_hits(after=(0, 0), limit=99)


def _converse(tx: Transaction, step: Step) -> object:
    rows = tx.rows
    match step.act:
        case "session":
            rows.sessions.put(
                Session(step.session, step.nugget, step.key, step.number, tx.now, tx.now, 5 if step.flag else None)
            )
        case "type":
            rows.note_types.put(step.nugget, step.note, {"label": step.text})
            return rows.note_types.delete(step.new_nugget, step.other)
        case "variant":
            rows.rewinds.put_variant(Variant(step.session, step.number, len(step.text), step.flag, step.key))
        case "retraction":
            rows.rewinds.put_retraction(step.number, Retraction(step.session, 1, 1, 0, 1, 1, 2, step.note))
            until = step.number if step.flag else None
            return rows.rewinds.add_retraction(Retraction(step.session, 1, until, None, 1, step.number, 3, step.note))
        case "injection":
            blocks = {"text": step.text} if step.flag else None
            return rows.injections.add(
                Injection(
                    step.session, step.number, tx.now, 3, (step.note,), (step.other,), () if step.flag else None, blocks
                )
            )
        case "forget_injections":
            rows.injections.delete_beyond(step.session, kept=step.number, kept_in_all=3)
            for number, injection in rows.injections.page(after=0, limit=2):
                rows.injections.replace(number, injection.without({step.note}))
            return rows.injections.delete_of(step.session, limit=step.number // 3)
    return None


def _carry_out(steps: list[Step]) -> Change[list[object]]:
    def apply(tx: Transaction) -> list[object]:
        seen: list[object] = []
        for step in steps:
            if (old := tx.rows.notes.get(step.note)) is not None:
                _change_note(tx, step, old)
            seen.append(_change_rows(tx, step))
            seen.append((tx.rows.log.last_seq, tx.rows.counts(), tx.rows.nuggets.count(), tx.rows.log.of_note(1)))
        return seen

    return change(apply)


def _told(outcome: Applied[Any] | BaseException) -> object:
    if isinstance(outcome, ShelfError):
        return type(outcome), outcome.message, outcome.data
    if isinstance(outcome, BaseException):
        return type(outcome), outcome.args
    return outcome.value, list(outcome.rows), outcome.notes, outcome.last_seq


def _listing(view: View, wanted: NoteFilter) -> list[object]:
    found: list[object] = [view.notes.count(wanted)]
    for order in ("updated_at", "row"):
        for descending in (False, True):
            first = view.notes.page(wanted, order=order, descending=descending, after=None, limit=2)
            after = (getattr(first[-1], order), first[-1].row) if first else None
            found += [first, view.notes.page(wanted, order=order, descending=descending, after=after, limit=3)]
    return found


def _reads(view: View) -> dict[str, object]:
    rows = range(view.counts().notes + 3)
    filters = [
        NoteFilter(include_hidden=True),
        NoteFilter(nugget="work", include_superseded=False),
        NoteFilter(kind="fact", tags=("s1",)),
        NoteFilter(needs_review=True),
        NoteFilter(needs_review=False),
    ]
    log: list[LogRow] = view.log.page(since_seq=0, limit=10_000)
    assert [row.seq for row in log] == list(range(1, view.log.last_seq + 1))
    return {
        "seqs": (view.log.first_seq, view.log.last_seq, log),
        "note logs": [view.log.of_note(row, since_seq=1, limit=3) for row in rows],
        "notes": [view.notes.get(note_id) for note_id in NOTE_IDS],
        "more notes": view.notes.by_ids(NOTE_IDS),
        "facts": [view.notes.fact(nugget, key) for nugget in NUGGETS for key in KEYS],
        "keys": [view.notes.facts(key) for key in KEYS],
        "listings": [_listing(view, wanted) for wanted in filters],
        "scan": (view.notes.scan(before_row=None, limit=3), view.notes.scan(before_row=3, limit=3)),
        "superseded": [view.notes.superseded_by(note_id) for note_id in NOTE_IDS],
        "links": (view.links.leaving(NOTE_IDS), view.links.page(note_id=None, relation=None, after=0, limit=99)),
        "more links": [view.links.page(note_id=note_id, relation="s1", after=1, limit=2) for note_id in NOTE_IDS],
        "link pairs": [view.links.between("n1", other) for other in NOTE_IDS],
        "link counts": [view.links.count_leaving(note_id) for note_id in NOTE_IDS],
        "nuggets": (view.nuggets.page(after="", limit=9), [view.nuggets.get(name) for name in NUGGETS]),
        "counts": (
            view.counts(),
            [view.nuggets.counts(name) for name in NUGGETS],
            view.nuggets.count(),
            view.links.count(),
        ),
        "usage": (view.usage.by_rows(rows), [view.usage.was_hit(rows, session) for session in SESSIONS]),
        "outcomes": [view.recorded.get("p", session, note_id) for session in SESSIONS for note_id in NOTE_IDS],
        "turns": [view.nuggets.turn_number(name, s, turn) for name in NUGGETS for s in SESSIONS for turn in range(5)],
        "sinks": [view.sinks.get(session) for session in SESSIONS],
        "jobs": [view.jobs.get(f"job-{note_id}") for note_id in NOTE_IDS],
        "job lists": [
            view.jobs.page(kind=kind, unfinished=unfinished, in_slots=not unfinished, before=before, limit=4)
            for kind in (None, *SESSIONS)
            for before in (None, 3)
            for unfinished in (True, False)
        ],
        "pieces": [view.jobs.pieces(f"job-{note_id}", after=0, limit=3) for note_id in NOTE_IDS],
        "tended": view.reflection.all(),
        "promoted": [view.promotions.lines(name) for name in NUGGETS],
        "sessions": [
            view.sessions.page(after="", limit=9),
            view.sessions.page(after="s1", limit=9, nugget="work"),
            view.sessions.page(after="", limit=9, used_since=NEW_YEAR),
        ],
        "types": [view.note_types.of(name) for name in NUGGETS],
        "variants": [view.rewinds.variants(session, from_turn=1, until_turn=3) for session in SESSIONS],
        "live variants": [view.rewinds.live_variant(session, turn) for session in SESSIONS for turn in range(5)],
        "retractions": [view.rewinds.since(seq) for seq in (0, 3)],
        "last of turns": [view.log.last_of_turns(session, until_turn=2) for session in SESSIONS],
        "of variant": [view.rewinds.of_variant(session, 1, 0) for session in SESSIONS],
        "injections": view.injections.page(after=1, limit=99),
        "records naming": [view.injections.naming({note_id}, after=1, limit=2) for note_id in NOTE_IDS],
        "last injections": [view.injections.last(session) for session in SESSIONS],
        "injections as of": [view.injections.last(session, turn=3, at_seq=3) for session in SESSIONS],
        "injections by turn": [view.injections.last(session, turn=3) for session in SESSIONS],
        "turns in the log": [view.log.of_turns(session, from_turn=1, limit=4) for session in (*SESSIONS, "sess-1")],
        "named": [
            view.notes.named(name, type_, ["about n1", "about n2", fold_key(text)])
            for name in NUGGETS
            for type_ in ("note", None)
            for text in (*NUGGETS, *NOTE_IDS)
        ],
        "typed": [view.notes.count_typed("note", name, limit=3) for name in (None, *NUGGETS)],
        "expired": view.notes.expired(NEW_YEAR * 2, limit=9),
        "positions": view.notes.changed_positions(None, after=(0, 0), limit=9),
        "children": [view.notes.children(NOTE_IDS, after=1, limit=3), view.notes.children(["n1"])],
        "highest turns": [
            (view.nuggets.last_turns(name, session, limit=2), view.nuggets.has_turns_beside(name, session))
            for name in NUGGETS
            for session in SESSIONS
        ],
        "last turns": [view.nuggets.last_turn(name, session) for name in NUGGETS for session in SESSIONS],
        "with hits": [view.notes.with_hits(after=after, limit=3) for after in ((0, 0), (3, 2), (4, 0))],
        "meta": [view.meta.get(name) for name in (*NOTE_IDS, "shelf", "owner", "created_at")],
    }


class FileAndTwin(RuleBasedStateMachine):
    """Gives the same groups of changes to both and compares everything that can be seen."""

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.Runner()
        self.directory = Path(tempfile.mkdtemp())
        self.clock = FakeClock()
        self.files = SqliteStores(self.directory, self.clock)
        self.file: Store = self.loop.run(self.files.create("default", owner="uid:1"))
        self.twin: Store = self.loop.run(InMemoryStores(self.clock).create("default", owner="uid:1"))
        self.heard: dict[str, list[object]] = {"file": [], "twin": []}
        self.listen()

    def listen(self) -> None:
        self.file.follow(lambda group: self.heard["file"].extend(map(_told, group)))
        self.end = self.twin.follow(lambda group: self.heard["twin"].extend(map(_told, group)))

    @rule(groups=GROUPS)
    def commit_together(self, groups: list[list[Step]]) -> None:
        async def run(store: Store) -> list[object]:
            changes = [_carry_out(steps) for steps in groups]
            return [_told(o) for o in await asyncio.gather(*map(store.commit, changes), return_exceptions=True)]

        assert self.loop.run(run(self.file)) == self.loop.run(run(self.twin))

    @rule(microseconds=st.integers(-3, 5))
    def move_clock(self, microseconds: int) -> None:
        if microseconds < 0:
            self.clock.set_back(timedelta(microseconds=-microseconds))
        else:
            self.clock.advance(timedelta(microseconds=microseconds))

    @rule()
    def reopen(self) -> None:
        self.end()
        self.loop.run(self.file.close())
        self.file = self.loop.run(self.files.open("default"))
        self.listen()

    @invariant()
    def reads_agree(self) -> None:
        if hasattr(self, "file"):
            file, twin = _reads(self.file.view), _reads(self.twin.view)
            for name, read in file.items():
                assert read == twin[name], name
            assert self.heard["file"] == self.heard["twin"]

    def teardown(self) -> None:
        if hasattr(self, "file"):
            problems = self.loop.run(self.file.check(full=True))
            expected = ("does not exist", "live variant", "still to come")  # what the steps make of them
            assert not [problem for problem in problems if not any(words in problem for words in expected)]
            self.loop.run(self.file.close())
            self.loop.run(self.twin.close())
            self.loop.close()
            shutil.rmtree(self.directory)


FileAndTwin.TestCase.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=30,
    stateful_step_count=10,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
TestFileAndTwin = FileAndTwin.TestCase
