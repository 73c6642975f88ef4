"""A shelf's events: its change log as CloudEvents, from memory for recent changes, else from the store."""

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import HistoryTrimmed
from shelfd.memory.log.events import render_event, render_match
from shelfd.memory.log.history import states_after
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.projection import PurgedNote
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View
from shelfd.memory.ports.watching import WATCH_MATCHED, MatchRun, NoWatches, Watching, WatchMatch
from shelfd.memory.settings import EventContent

#: Changes kept to be delivered without reading the store, which costs three reads each.
_KEPT: Final = 2048
#: Longer notes are read again: a buffer of changes is no place for documents.
_LONGEST: Final = 8192
#: Decides by event type (``note.created``) and nugget (None: the event has none).
Wanted = Callable[[str, str | None], bool]
#: How long one reading looks for matches of standing queries at most, how many it returns of one change, and how many
#: changes' are kept for other readers.
_MATCHING_S: Final = 0.002
_MATCHES: Final = 128
_RUNS: Final = 256


def matches_returned(events: Sequence[Mapping[str, Any]], reached: int, before: int) -> int:
    """Return how many matches of the next change a reader has by now, see :meth:`EventLog.read`.

    Args:
        events: What it was given last.
        reached: The last change that this counts as.
        before: How many it had before that.
    """
    count = sum(event.get("cause_seq", 0) > reached for event in events)
    is_same = count > 0 or not events
    return before + count if is_same else 0


class _Recent(NamedTuple):
    row: LogRow
    state: Note | None  #: the note as this change left it
    is_known: bool  #: whether *state* is that, or has to be read


class EventLog:
    """Renders the events of one shelf; follows its changes.

    Args:
        view: The shelf's committed state.
        is_followed: Returns whether anything follows the shelf.
        watching: Returns what finds matches of standing queries.
    """

    def __init__(
        self,
        view: View,
        *,
        shelf: str,
        instance: str,
        content: EventContent,
        is_followed: Callable[[], bool],
        watching: Callable[[], Watching] = NoWatches,
    ) -> None:
        self._view = view
        self._shelf = shelf
        self._instance = instance
        self._content: EventContent = content
        self._is_followed = is_followed
        self._watching = watching
        self._recent: deque[_Recent] = deque()
        self._last: dict[int, int] = {}  #: the last change kept of each note, by row
        self._runs: OrderedDict[int, MatchRun | None] = OrderedDict()  # by the change they are about

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Keep what a group of transactions did, if anything follows the shelf."""
        if not self._is_followed():
            self.clear()  # what is kept must have no hole
            return
        for applied in group:
            if self._recent and applied.rows and applied.rows[0].seq != self._recent[-1].row.seq + 1:
                self.clear()
            if len(applied.rows) == 1:  # nearly every one
                row = applied.rows[0]
                self._keep(row, applied.notes.get(row.ids[0]) if row.row is not None else None)
                continue
            rows = applied.rows[-_KEPT:]  # of more than are kept, those before would be made for nothing
            last = {row.row: row.seq for row in rows}
            for row in rows:
                # Of several changes of one note in a transaction only the last one left it as it is now.
                is_last = row.row is not None and last[row.row] == row.seq
                self._keep(row, applied.notes.get(row.ids[0]) if is_last else None)

    def _keep(self, row: LogRow, state: Note | None) -> None:
        if state is not None and len(state.content) > _LONGEST:
            state = None
        if len(self._recent) >= _KEPT:
            gone = self._recent.popleft().row
            if gone.row is not None and self._last[gone.row] == gone.seq:
                del self._last[gone.row]
        self._recent.append(_Recent(row, state, state is not None or row.row is None))
        if row.row is not None:
            self._last[row.row] = row.seq

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Keep nothing: of any change that touched *purged*, or copied them elsewhere, nothing may stay."""
        self._watching().purge(purged)
        self.clear()

    def clear(self) -> None:
        """Keep nothing; it is read from the store instead."""
        self._recent.clear()
        self._last.clear()
        self._runs.clear()

    def read(
        self, since_seq: int, limit: int, last_seq: int, wanted: Wanted, matches: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Return wanted events after *since_seq* among the next *limit* changes, and the last change read.

        The event of a change is followed by those of the standing queries whose results it brought a note into. When
        these take long to find, fewer changes are read, perhaps none; the next call goes on with them. When they are
        many, some come without their change counting as read; the next call gives more of them.

        Args:
            last_seq: The last change that may be delivered yet.
            wanted: Which types of events of which nuggets are wanted.
            matches: How many matches of the next change were returned before; then its own event was, too.

        Raises:
            HistoryTrimmed: If the log no longer reaches back to *since_seq*; ``first_seq`` is where it begins.
        """
        recent = self._kept(since_seq, limit, last_seq) or self._stored(since_seq, limit, last_seq)
        matched: dict[int, list[dict[str, Any]]] = {}
        reached = recent[-1].row.seq if recent else since_seq
        if self._watching() and recent:
            recent, matched, reached = self._matched(recent, wanted, matches)
        reported = [one for one in recent if one.row.seq in matched or wanted(one.row.kind, one.row.nugget)]
        unknown = [one.row for one in reported if not one.is_known]
        states = states_after(unknown, self._view) if unknown else {}
        events = []
        for one in reported:
            state = one.state if one.is_known else states.get(one.row.seq)
            is_begun = matches > 0 and one.row.seq == since_seq + 1
            if not is_begun and (not matched or wanted(one.row.kind, one.row.nugget)):
                events.append(self._render(one.row, state))
            events += matched.get(one.row.seq, ())
        return events, reached

    def _render(self, row: LogRow, state: Note | None) -> dict[str, Any]:
        return render_event(row, state, shelf=self._shelf, instance=self._instance, content=self._content)

    def _matched(
        self, recent: Sequence[_Recent], wanted: Wanted, skipped: int
    ) -> tuple[Sequence[_Recent], dict[int, list[dict[str, Any]]], int]:
        """Return the changes that are looked at by now, events of matches by change, and the last change read."""
        until = self._watching().until(_MATCHING_S)
        matched: dict[int, list[dict[str, Any]]] = {}
        for at, (row, state, _) in enumerate(recent):
            run = self._run(row, state) if wanted(WATCH_MATCHED, row.nugget) else None
            if run is None:
                continue
            if not run.advance(until):
                return recent[:at], matched, row.seq - 1
            first = skipped if at == 0 else 0
            if some := run.matches[first : first + _MATCHES]:
                matched[row.seq] = self._render_matches(row, run.note, some)
                if len(run.matches) > first + _MATCHES:
                    return recent[: at + 1], matched, row.seq - 1
        return recent, matched, recent[-1].row.seq

    def _render_matches(self, row: LogRow, note: Note | None, matches: Sequence[WatchMatch]) -> list[dict[str, Any]]:
        return [
            render_match(match, row, note, shelf=self._shelf, instance=self._instance, content=self._content)
            for match in matches
        ]

    def _run(self, row: LogRow, state: Note | None) -> MatchRun | None:
        if row.seq in self._runs:
            return self._runs[row.seq]
        is_last = row.row is not None and self._last.get(row.row) == row.seq
        run = self._runs[row.seq] = self._watching().begin(row, state if is_last else None)
        if len(self._runs) > _RUNS:
            self._runs.popitem(last=False)
        return run

    def _kept(self, since_seq: int, limit: int, last_seq: int) -> list[_Recent]:
        if not self._recent or not self._recent[0].row.seq <= since_seq + 1 <= last_seq:
            return []
        start = since_seq + 1 - self._recent[0].row.seq
        stop = min(start + limit, last_seq + 1 - self._recent[0].row.seq, len(self._recent))
        return [self._recent[index] for index in range(start, stop)]

    def _stored(self, since_seq: int, limit: int, last_seq: int) -> Sequence[_Recent]:
        rows = [row for row in self._view.log.page(since_seq=since_seq, limit=limit) if row.seq <= last_seq]
        if (not rows or rows[0].seq > since_seq + 1) and since_seq + 1 < (first_seq := self._view.log.first_seq):
            raise HistoryTrimmed(f"the change log begins at {first_seq}", first_seq=first_seq)
        return [_Recent(row, None, row.row is None) for row in rows]
