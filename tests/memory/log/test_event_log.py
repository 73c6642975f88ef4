"""What the event log hands to what looks for matches of standing queries."""

from contract.samples import ORIGIN, make_note
from fakes import FakeClock
from shelfd.memory.log.event_log import EventLog
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.watching import MatchRun, NoWatches, WatchMatch
from shelfd.storage.inmemory.store import InMemoryStore


class Looked(NoWatches):
    """Is asked about every change; the note it is given matches."""

    def __init__(self) -> None:
        self.given: dict[int, Note | None] = {}

    def __bool__(self) -> bool:
        return True

    def begin(self, row: LogRow, note: Note | None = None) -> "Run":
        self.given[row.seq] = note
        return Run(note)


class Run(MatchRun):
    def __init__(self, note: Note | None) -> None:
        self._note = note

    @property
    def note(self) -> Note | None:
        return self._note

    @property
    def matches(self) -> list[WatchMatch]:
        return [] if self._note is None else [WatchMatch("w", self._note.id, 0.9, "uid:1")]

    def advance(self, until: float) -> bool:
        return True


def changed(seq: int, kind: str, note: Note) -> Applied[None]:
    row = LogRow(seq, seq, 1, 0, ORIGIN, kind, note.nugget, (note.id,), note.row, None)
    return Applied(None, [row], {note.id: note}, seq)


def log_of(looked: Looked) -> EventLog:
    view = InMemoryStore(FakeClock()).view
    return EventLog(
        view, shelf="s", instance="local", content="full", is_followed=lambda: True, watching=lambda: looked
    )


def test_a_note_is_handed_on_with_its_last_change_alone() -> None:
    looked = Looked()
    log = log_of(looked)
    one, other = make_note("one", row=1, content="tea"), make_note("other", row=2, content="coffee")
    later = one._replace(content="green tea", rev=2)
    log.apply([changed(1, "note.created", one), changed(2, "note.created", other), changed(3, "note.updated", later)])

    events, reached = log.read(0, 10, 3, lambda kind, _: kind == "watch.matched")

    assert looked.given == {1: None, 2: other, 3: later}  # what was first said of "one" is not how it is now
    assert [(event["cause_seq"], event["data"]["content"]) for event in events] == [(2, "coffee"), (3, "green tea")]
    assert reached == 3


def test_of_more_changes_than_are_kept_the_last_of_a_note_stays_known() -> None:
    looked = Looked()
    log = log_of(looked)
    note = make_note("one", row=1, content="tea")
    last = 3_000
    for seq in range(1, last):
        log.apply([changed(seq, "note.updated", note._replace(rev=seq))])
    log.apply([changed(last, "note.created", make_note("other", row=2, content="coffee"))])

    log.read(last - 2, 10, last, lambda _kind, _nugget: True)

    assert {seq: given and given.rev for seq, given in looked.given.items()} == {last - 1: last - 1, last: 1}
