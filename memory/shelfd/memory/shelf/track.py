"""How far one projection follows its shelf: what it has yet to take in, what it had to skip, whether it failed."""

from collections.abc import Callable, Sequence
from itertools import islice

import structlog

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Gone, Projection, ScanPosition, Slice
from shelfd.memory.ports.view import View

log = structlog.get_logger("shelfd.memory")


class Track:
    """One projection's way behind the log.

    Args:
        on_failure: Called when it has to be made anew.

    Attributes:
        is_awake: Whether it is wanted; a lazy one is not before it is first asked.
        is_at_work: Whether a task takes in what is missing.
        age: How often it had to be made anew.
        read_error: Why its rows cannot be read just now.
        failure: Why it has to be made anew; until that begins it knows nothing and takes nothing in.
        skipped: Notes it could not take in as they are now: rev by row.
    """

    def __init__(self, projection: Projection, view: View, shelf: str, on_failure: Callable[["Track"], None]) -> None:
        self.projection = projection
        self.is_awake = not projection.is_lazy
        self.is_at_work = False
        self.age = 0
        self.read_error: str | None = None
        self.failure: str | None = None
        self.skipped: dict[int, int] = {}
        self._view = view
        self._shelf = shelf
        self._on_failure = on_failure
        self._place: ScanPosition | None = ScanPosition()  # None once all rows are read
        self._top = self._left = 1  # by row numbers, known once it begins: counting rows takes long in a large shelf
        self._changed: dict[int, str] = {}  # ids by row

    @property
    def is_complete(self) -> bool:
        """Whether it knows every note, as far as it was told of changes."""
        return self._place is None and not self._changed

    @property
    def is_exact(self) -> bool:
        """Whether it knows every note as it is, as far as it was told of changes."""
        return self.is_complete and not self.skipped

    @property
    def share(self) -> float:
        """How much of the shelf it knows, 0 to 1."""
        return 1.0 if self._place is None else min(0.999, 1 - self._left / self._top)

    @property
    def changed_count(self) -> int:
        """How many changed notes are to be read again."""
        return len(self._changed)

    def note_changes(self, notes: Sequence[Note]) -> None:
        """Keep in mind to read *notes* again."""
        for note in notes:
            if self.projection.concerns(note):
                self._changed[note.row] = note.id

    def read(self) -> Slice:
        """Read some of what is missing. What changes before all rows are read waits until then."""
        if self._place is not None:
            return self.projection.read(self._view, self._place)
        wanted = dict(islice(self._changed.items(), self.projection.at_once))
        now = self._view.notes.by_rows(list(wanted))
        gone = [Gone(row, note_id) for row, note_id in wanted.items() if row not in now]
        return Slice([now[row] for row in wanted if row in now], None, gone)

    def take(self, part: Slice) -> int:
        """Take in what was just read; return how many notes that were."""
        self.read_error = None
        age = self.age
        if self._place is None:
            for row in (*(note.row for note in part.notes), *(one.row for one in part.gone)):
                self._changed.pop(row, None)
        self.apply([note for note in part.notes if self.skipped.get(note.row) != note.rev])
        if part.gone:
            self.forget(part.gone)
        if age == self.age and self._place is not None:
            if part.notes:
                self._top = max(self._top, part.notes[0].row)
                self._left = part.notes[-1].row
            self._place = part.place
        return len(part.gone) + len(part.notes)

    def apply(self, notes: Sequence[Note]) -> None:
        """Have the projection take in *notes* as they are now."""
        if self.failure is not None or not notes:
            return
        try:
            self.projection.apply(notes)
        except Exception:  # noqa: BLE001 - which note it was shows below
            for note in notes:
                self._apply_one(note)
        else:
            if self.skipped:
                for note in notes:
                    self.skipped.pop(note.row, None)

    def _apply_one(self, note: Note) -> None:
        if self.failure is not None:
            return
        try:
            self.projection.apply([note])
        except Exception as error:  # noqa: BLE001 - the note is durable; one that cannot be taken in holds up nobody
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.note_skipped", shelf=self._shelf, projection=name, id=note.id, error=cause)
            self._forget([Gone(note.row, note.id)])  # it must not be found by what it said before
            self.skipped[note.row] = note.rev
        else:
            self.skipped.pop(note.row, None)

    def forget(self, gone: Sequence[Gone]) -> None:
        """Have the projection keep nothing of *gone*."""
        for row, _ in gone:
            self.skipped.pop(row, None)
            self._changed.pop(row, None)
        if self.is_awake and self.failure is None:
            self._forget(gone)

    def _forget(self, gone: Sequence[Gone]) -> None:
        try:
            self.projection.forget(gone)
        except Exception as error:  # noqa: BLE001 - what it holds can no longer be trusted
            self.fail(type(error).__name__)

    def fail(self, cause: str) -> None:
        """Have the projection keep nothing; it is made anew once :meth:`begin_anew` is called."""
        log.error("projection.failed", shelf=self._shelf, projection=self.projection.name, error=cause)
        self.failure = cause
        self.age += 1
        self._place, self._top, self._left = ScanPosition(), 1, 1
        self._changed.clear()
        self._clear()
        self._on_failure(self)

    def begin_anew(self) -> bool:
        """Begin to make it anew from the rows; return False if it cannot even be cleared."""
        if not self._clear():
            return False
        self.failure = None
        return True

    def _clear(self) -> bool:
        try:
            self.projection.clear()
        except Exception as error:  # noqa: BLE001 - tried again when it is made anew
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.clear_failed", shelf=self._shelf, projection=name, error=cause)
            return False
        return True
