"""How far one projection follows the log: filled from the rows, resumed after an image, emptied when it fails."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import structlog

from shelfd.memory.notes.note import EMPTY, Link, Note
from shelfd.memory.ports.projection import Projection, PurgedNote, ScanPosition, Slice
from shelfd.memory.ports.view import View

log = structlog.get_logger("shelfd.memory")


class Track:
    """How far one projection follows the log.

    Args:
        on_failure: Called when it has to be rebuilt.

    Attributes:
        is_awake: Whether it is in use; a lazy one is not before it is first read.
        is_at_work: Whether a task applies what is missing.
        age: How often it had to be rebuilt.
        read_error: Why its rows cannot be read just now.
        failure: Why it has to be rebuilt; until that begins it holds nothing and applies nothing.
        skipped: Notes it could not apply as they are now: rev by row.
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
        self._changed: dict[str, int | None] = {}  # rows by id; None if only a link of the note changed
        self._rest: list[int] = []  # rows of notes that have changed since the image it began with

    @property
    def is_complete(self) -> bool:
        """Whether it knows every note, as far as it was notified of changes."""
        return self._place is None and not self._changed and not self._rest

    @property
    def is_exact(self) -> bool:
        """Whether it knows every note as it is, as far as it was notified of changes."""
        return self.is_complete and not self.skipped

    @property
    def share(self) -> float:
        """How much of the shelf it knows, 0 to 1."""
        if self._place is None:
            return 0.999 if self._rest else 1.0
        return min(0.999, 1 - self._left / self._top)

    @property
    def changed_count(self) -> int:
        """How many changed notes are to be read again."""
        return len(self._changed)

    def note_changes(self, notes: Sequence[Note], linked: Sequence[str]) -> None:
        """Note that *notes* have to be read again, and those with ids *linked*, whose links changed."""
        for note in notes:
            if self.projection.concerns(note):
                self._changed[note.id] = note.row
        if self.projection.is_linked:
            for note_id in linked:
                if note_id not in self._changed and self.projection.knows(note_id):
                    self._changed[note_id] = None

    def resume(self, rows: Sequence[int], skipped: Mapping[int, int]) -> None:
        """Begin with what the projection knows by now; the notes in *rows* are still to be read."""
        self._place, self._rest, self.skipped = None, list(rows), dict(skipped)

    def read(self) -> Slice:
        """Read some of what is missing. What changes before all rows are read waits until then."""
        if self._place is not None:
            part = self.projection.read(self._view, self._place)
        elif self._rest:
            rows = self._rest[-self.projection.at_once :]
            found = self._view.notes.by_rows(rows)
            part = Slice(list(found.values()), None, [PurgedNote(row, "") for row in rows if row not in found])
        else:
            wanted = dict(islice(self._changed.items(), self.projection.at_once))
            now = self._view.notes.by_ids(list(wanted))
            purged = [PurgedNote(row or 0, note_id) for note_id, row in wanted.items() if note_id not in now]
            part = Slice([now[note_id] for note_id in wanted if note_id in now], None, purged)
        if not self.projection.is_linked:
            return part
        return part._replace(links=self._view.links.leaving([note.id for note in part.notes]))

    def take(self, part: Slice) -> int:
        """Apply what was just read; return how many notes that were."""
        self.read_error = None
        age = self.age
        if self._rest:
            del self._rest[-len(part.notes) - len(part.purged) :]
        elif self._place is None:
            for note_id in (*(note.id for note in part.notes), *(one.id for one in part.purged)):
                self._changed.pop(note_id, None)
        self.apply([note for note in part.notes if self.skipped.get(note.row) != note.rev], part.links)
        if part.purged:
            self.purge(part.purged)
        if age == self.age and self._place is not None:
            if part.notes:
                self._top = max(self._top, part.notes[0].row)
                self._left = part.notes[-1].row
            self._place = part.place
        return len(part.purged) + len(part.notes)

    def apply(self, notes: Sequence[Note], links: Mapping[str, Sequence[Link]] = EMPTY) -> None:
        """Have the projection apply *notes* as they are now, and the *links* that leave them."""
        if self.failure is not None or not notes:
            return
        try:
            self._give(notes, links)
        except Exception:  # noqa: BLE001 - which note it was shows below
            for note in notes:
                self._apply_one(note, links)
        else:
            if self.skipped:
                for note in notes:
                    self.skipped.pop(note.row, None)

    def _give(self, notes: Sequence[Note], links: Mapping[str, Sequence[Link]]) -> None:
        self.projection.apply(notes)
        if self.projection.is_linked:
            self.projection.link({note.id: links[note.id] for note in notes})

    def _apply_one(self, note: Note, links: Mapping[str, Sequence[Link]]) -> None:
        if self.failure is not None:
            return
        try:
            self._give([note], links)
        except Exception as error:  # noqa: BLE001 - the note is durable; one that cannot be applied holds up nothing
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.note_skipped", shelf=self._shelf, projection=name, id=note.id, error=cause)
            # It must not be found by what it said before.
            self._try(lambda: self.projection.withhold(PurgedNote(note.row, note.id)))
            self.skipped[note.row] = note.rev
        else:
            self.skipped.pop(note.row, None)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Have the projection keep nothing of *gone*."""
        for row, note_id in purged:
            self.skipped.pop(row, None)
            self._changed.pop(note_id, None)
        if self.is_awake and self.failure is None:
            self._try(lambda: self.projection.purge(purged))

    def _try(self, remove: Callable[[], None]) -> None:
        try:
            remove()
        except Exception as error:  # noqa: BLE001 - what it holds can no longer be trusted
            self.fail(type(error).__name__)

    def fail(self, cause: str) -> None:
        """Clear the projection; it is rebuilt once :meth:`begin_anew` is called."""
        log.error("projection.failed", shelf=self._shelf, projection=self.projection.name, error=cause)
        self.failure = cause
        self.age += 1
        self._begin()
        self._clear()
        self._on_failure(self)

    def restart(self) -> None:
        """Have it read all rows again: what it makes of them has changed."""
        if self.is_awake and self.failure is None:
            self.age += 1
            self._begin()
            self.skipped.clear()
            if not self._clear():
                self.fail("clear")

    def _begin(self) -> None:
        self._place, self._top, self._left = ScanPosition(), 1, 1
        self._changed.clear()
        self._rest.clear()

    def begin_anew(self) -> bool:
        """Start to rebuild it from the rows; return False if it cannot even be cleared."""
        if not self._clear():
            return False
        self.failure = None
        return True

    def _clear(self) -> bool:
        try:
            self.projection.clear()
        except Exception as error:  # noqa: BLE001 - tried again when it is rebuilt
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.clear_failed", shelf=self._shelf, projection=name, error=cause)
            return False
        return True
