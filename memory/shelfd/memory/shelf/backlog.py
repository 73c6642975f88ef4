"""What projections have still to apply: the changes of the log in order, but that small ones overtake large ones.

Who makes a large change, of more notes than a read may wait for, is notified once projections have applied it. So a
read waits for none of those: it sees every change that anybody knows of without them. Callers of small changes are
notified at once, and a read that comes then has these applied first, ahead of large ones that were committed before.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.projection import OF_LINKS, PURGED, PurgedNote
from shelfd.memory.ports.store import Applied
from shelfd.protocol import Params

#: A change of more notes is a large one: those of this one take about 10 ms.
LARGE: Final = 256
_LISTS: Final = frozenset((list, tuple))
#: Changes of a group that are one portion: applied together they cost less.
_TOGETHER: Final = 16
#: Rows of the log that are one portion at most, some slices: what is known of a long import is told while it goes on.
_LONGEST: Final = 504
#: So many notes that large changes find newer are forgotten as soon as they may be.
_AHEAD: Final = 1_024


def is_large(applied: Applied[Any]) -> bool:
    """Return whether a change is one that reads do not wait for, and whose caller waits for projections instead."""
    return len(applied.notes) > LARGE


def may_be_large(params: Params) -> bool:
    """Return whether a request may be such a change: it has a list of more than so many things."""
    return any([type(value) in _LISTS and len(value) > LARGE for value in vars(params).values()])  # noqa: C419 (faster)


class Portion(NamedTuple):
    """What some changes did to notes, and to the links that leave those with ids *linked*.

    Or, if *since* is given, changes after that number that are still to be read.
    """

    after: int  #: the last change before these
    last_seq: int
    notes: Sequence[Note] = ()
    purged: Sequence[PurgedNote] = ()
    linked: Sequence[str] = ()
    since: int | None = None
    is_large: bool = False


def portions_of(changes: Sequence[Applied[Any]]) -> Iterator[Portion]:
    """Divide what a group of changes did into portions; each change has rows in the log, without gaps."""
    some: list[Applied[Any]] = []
    for applied in changes:
        if is_large(applied):
            yield from _together(some)
            yield from _divided([applied], is_large=True)
            some = []
        else:
            some.append(applied)
            if len(some) == _TOGETHER:
                yield from _together(some)
                some = []
    yield from _together(some)


def _together(some: Sequence[Applied[Any]]) -> Iterator[Portion]:
    return _divided(some, is_large=False) if some else iter(())


def _divided(some: Sequence[Applied[Any]], *, is_large: bool) -> Iterator[Portion]:
    """Divide what some changes did; a note that changed in several of them is taken in, as it is by now, once."""
    notes: Sequence[Note] = [note for applied in some for note in applied.notes.values()]
    rows = [row for applied in some for row in applied.rows]
    after, purged = rows[0].seq - 1, purged_in(rows)
    if len(rows) > _LONGEST and not purged:
        changed = [row.row for row in rows]
        in_order = changed == [note.row for note in notes]  # as many new notes are: each has one row
        left = {} if in_order else {note.row: note for note in notes}
        last = (len(rows) - 1) // _LONGEST * _LONGEST
        for begin in range(0, last, _LONGEST):
            some_rows = slice(begin, begin + _LONGEST)
            part = rows[some_rows]
            of_part = dict.fromkeys(() if in_order else changed[some_rows])
            taken = notes[some_rows] if in_order else [left.pop(row) for row in of_part if row in left]
            yield Portion(after, part[-1].seq, taken, (), linked_in(part), is_large=is_large)
            after = part[-1].seq
        notes, rows = notes[last:] if in_order else list(left.values()), rows[last:]
    yield Portion(after, some[-1].last_seq, notes, purged, linked_in(rows), is_large=is_large)


def purged_in(rows: Sequence[LogRow]) -> Sequence[PurgedNote]:
    """Return the notes that changes purged."""
    for row in rows:
        if row.kind == PURGED:
            return [PurgedNote(row.row, row.ids[0]) for row in rows if row.kind == PURGED and row.row is not None]
    return ()  # nearly always


def linked_in(rows: Sequence[LogRow]) -> Sequence[str]:
    """Return the notes from which changes added or removed links."""
    return [row.ids[0] for row in rows if row.kind in OF_LINKS]


class Backlog:
    """Steps that are still to be applied.

    Attributes:
        last_seq: The last change that was added.
        notes: How many notes small changes have left to apply.
    """

    def __init__(self, last_seq: int) -> None:
        self.last_seq = last_seq
        self.notes = 0
        self._small: deque[Portion] = deque()
        self._large: deque[Portion] = deque()
        self._ahead: dict[int, int] = {}  # by rows of notes, the small change by which they overtook large ones

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return bool(self._small or self._large)

    @property
    def has_large(self) -> bool:
        """Whether anything is left of a large change."""
        return bool(self._large)

    @property
    def is_read(self) -> bool:
        """Whether the small changes that come next need not be read from the log."""
        return not self._small or self._small[0].since is None

    @property
    def small_seq(self) -> int:
        """The last of the small changes that are left; 0 if none is."""
        return self._small[-1].last_seq if self._small else 0

    def is_before(self, seq: int, *, is_urgent: bool) -> bool:
        """Return whether anything up to the change *seq* is left; if it *is_urgent*, only small changes count."""
        kinds = (self._small,) if is_urgent else (self._small, self._large)
        return any(portions and portions[0].after < seq for portions in kinds)

    @property
    def reached(self) -> int:
        """The last change up to which all are applied."""
        return min([portions[0].after for portions in (self._small, self._large) if portions], default=self.last_seq)

    def clear(self) -> None:
        """Leave nothing."""
        self._small.clear()
        self._large.clear()
        self._ahead.clear()
        self.notes = 0

    def add(self, portion: Portion) -> None:
        """Add the next changes."""
        (self._large if portion.is_large else self._small).append(portion)
        self.last_seq = portion.last_seq
        if not portion.is_large:
            self.notes += len(portion.notes)

    def next(self, *, is_urgent: bool = False, is_turn_of_large: bool = False) -> Portion | None:
        """Return the portion to take now; None if there is none.

        Args:
            is_urgent: Whether large changes can wait that no small one is behind.
            is_turn_of_large: Whether a large change goes before later small ones, for once.
        """
        small, large = self._small, self._large
        if not large:
            return small[0] if small else None
        if small and (small[0].last_seq < large[0].last_seq or not is_turn_of_large):
            return small[0]
        return None if is_urgent else large[0]

    def current(self, portion: Portion, notes: Sequence[Note]) -> Sequence[Note]:
        """Return those of the *notes* of a portion that no later portion has changed ahead of it."""
        if not portion.is_large or not self._ahead:
            return notes
        return [note for note in notes if self._ahead.get(note.row, 0) < portion.last_seq]

    def shorten(self, portion: Portion, count: int) -> None:
        """Note that the first *count* notes of the portion taken last are applied."""
        self._take(portion, portion.notes[:count])
        portions = self._large if portion.is_large else self._small
        portions[0] = portion._replace(notes=portion.notes[count:])

    def end(self, portion: Portion) -> None:
        """Note that the portion taken last is applied as a whole."""
        self._take(portion, portion.notes)
        if portion.is_large:
            self._large.popleft()
            if not self._large:
                self._ahead.clear()
        else:
            self._small.popleft()

    def read(self, portion: Portion, found: Portion) -> None:
        """Replace the changes that were to be read, which come next, by the first of them; the others stay."""
        rest = portion._replace(after=found.last_seq, since=found.last_seq)
        self._small.popleft()
        if found.last_seq < portion.last_seq:
            self._small.appendleft(rest)
        self._small.appendleft(found)
        self.notes += len(found.notes)

    def _take(self, portion: Portion, notes: Sequence[Note]) -> None:
        if portion.is_large:
            return
        self.notes -= len(notes)
        if self._large and self._large[0].last_seq < portion.last_seq:
            if len(self._ahead) > _AHEAD:
                begun = self._large[0].after
                self._ahead = {row: seq for row, seq in self._ahead.items() if seq > begun}
            self._ahead.update((note.row, portion.last_seq) for note in notes)
            self._ahead.update((row, portion.last_seq) for row, _ in portion.purged)
