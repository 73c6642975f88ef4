"""A shelf's events: its change log told to others, from memory for what happened lately, else from the store."""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import HistoryTrimmed
from shelfd.memory.log.events import render_event
from shelfd.memory.log.history import states_after
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View
from shelfd.memory.settings import EventContent

#: Changes that are kept to be told without asking the store, which costs three reads each.
_KEPT: Final = 2048
#: Longer notes are read anew: a buffer of changes is no place for documents.
_LONGEST: Final = 8192
#: Decides by event type (``note.created``) and nugget (None: the event has none).
Wanted = Callable[[str, str | None], bool]


class _Recent(NamedTuple):
    row: LogRow
    state: Note | None  #: the note as this change left it
    is_known: bool  #: whether *state* is that, or has to be read


class EventLog:
    """Renders the events of one shelf; follows its changes.

    Args:
        view: The shelf's committed state.
        is_followed: Tells whether anybody wants to hear of changes.
    """

    def __init__(
        self, view: View, *, shelf: str, instance: str, content: EventContent, is_followed: Callable[[], bool]
    ) -> None:
        self._view = view
        self._shelf = shelf
        self._instance = instance
        self._content: EventContent = content
        self._is_followed = is_followed
        self._recent: deque[_Recent] = deque(maxlen=_KEPT)

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Keep what a group of transactions did, if there is somebody to tell."""
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
            last = {row.row: row.seq for row in applied.rows}
            for row in applied.rows:
                # Of several changes of one note in a transaction only the last one left it as it is now.
                is_last = row.row is not None and last[row.row] == row.seq
                self._keep(row, applied.notes.get(row.ids[0]) if is_last else None)

    def _keep(self, row: LogRow, state: Note | None) -> None:
        if state is not None and len(state.content) > _LONGEST:
            state = None
        self._recent.append(_Recent(row, state, state is not None or row.row is None))

    def forget(self, gone: Collection[object]) -> None:  # noqa: ARG002
        """Keep nothing: of any change that touched *gone*, or gave others what came from them, nothing may stay."""
        self.clear()

    def clear(self) -> None:
        """Keep nothing; it is read from the store instead."""
        self._recent.clear()

    def read(self, since_seq: int, limit: int, last_seq: int, wanted: Wanted) -> tuple[list[dict[str, Any]], int]:
        """Return wanted events after *since_seq* among the next *limit* changes, and the last change looked at.

        Args:
            last_seq: No change behind this one is told yet.

        Raises:
            HistoryTrimmed: If the log no longer reaches back to *since_seq*; ``first_seq`` is where it begins.
        """
        recent = self._kept(since_seq, limit, last_seq) or self._stored(since_seq, limit, last_seq)
        told = [one for one in recent if wanted(one.row.kind, one.row.nugget)]
        unknown = [one.row for one in told if not one.is_known]
        states = states_after(unknown, self._view) if unknown else {}
        events = [
            render_event(
                one.row,
                one.state if one.is_known else states.get(one.row.seq),
                shelf=self._shelf,
                instance=self._instance,
                content=self._content,
            )
            for one in told
        ]
        return events, recent[-1].row.seq if recent else since_seq

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
