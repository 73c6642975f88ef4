"""What is made of a shelf's notes only once somebody asks for it, and then follows them."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import structlog

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.view import View

log = structlog.get_logger("shelfd.memory")

#: Changed notes that may wait for the next question; when there are more, they are taken in behind whatever happens.
_WAITING = 1_000
#: Reads in one slice, many of which may find nothing.
_READS = 16

Scan = Callable[[], Iterator[Sequence[Note]]]
Take = Callable[[str, Note | None], None]
Spawn = Callable[[Any, str], object]
Cost = Callable[[Note], int]


class Follower:
    """Hands the notes of a shelf on, a slice at a time: first all there are, then those that changed.

    Before the first question it does nothing, and a change costs a look at a flag. Afterwards a change is noted by its
    id, and who asks next, or a task behind, takes in what the note is by then. A note is thus taken in at least
    once after its last change, which is all that is promised: who is told must not mind to be told twice.

    Args:
        view: Where notes are read.
        scan: Begins to give all notes in slices; each slice is read when it is asked for.
        take: Is told of a note: its id and what it is now, ``None`` if it is gone.
        at_once: Notes taken in without giving others a turn, of the usual size.
        cost: How many notes of the usual size a note is worth; one if not given.
        spawn: Starts a task that ends with the shelf.
        name: Of that task.
    """

    def __init__(
        self,
        view: View,
        scan: Scan,
        take: Take,
        *,
        at_once: int,
        spawn: Spawn,
        name: str,
        cost: Cost = lambda _note: 1,
    ) -> None:
        self._view = view
        self._scan = scan
        self._slices = scan()
        self._take = take
        self._at_once = at_once
        self._cost = cost
        self._spawn = spawn
        self._name = name
        self._is_asked = False
        self._is_scanned = False
        self._is_at_work = False
        self._changed: dict[str, None] = {}

    @property
    def is_at_work(self) -> bool:
        """Whether what is missing is being taken in behind."""
        return self._is_at_work

    def changed(self, note_id: str) -> None:
        """Say that a note changed, came or went."""
        if not self._is_asked:
            return
        self._changed[note_id] = None
        if len(self._changed) > _WAITING:
            self.go_on()

    def catch_up(self) -> bool:
        """Take in a slice of what is missing; return whether all is known now."""
        self._is_asked = True
        left = self._at_once
        for _ in range(_READS):
            if left <= 0 or self._is_complete:
                break
            # What changed while the scan goes on waits for its end: then it is read as it is.
            left -= self._take_changed() if self._is_scanned else self._take_scanned()
        return self._is_complete

    @property
    def _is_complete(self) -> bool:
        return self._is_scanned and not self._changed

    def _take_scanned(self) -> int:
        slices, self._slices = self._slices, self._scan()
        notes = next(slices, None)  # a slice that cannot be read ends its scan, and the next one begins anew
        self._slices = slices
        if notes is None:
            self._is_scanned = True
            return 0
        for note in notes:
            self._take_one(note.id, note)
        return sum(map(self._cost, notes))

    def _take_changed(self) -> int:
        ids = list(islice(self._changed, self._at_once))
        now = self._view.notes.by_ids(ids)
        taken = 0
        for note_id in ids:
            if taken >= self._at_once:
                break  # the others are read again, as they are then
            del self._changed[note_id]
            note = now.get(note_id)
            self._take_one(note_id, note)
            taken += 1 if note is None else self._cost(note)
        return taken

    def _take_one(self, note_id: str, note: Note | None) -> None:
        try:
            self._take(note_id, note)
        except Exception as error:  # noqa: BLE001 - one that cannot be taken in must not keep others, or who asks, waiting
            log.error("note.not_taken_in", by=self._name, id=note_id, error=type(error).__name__)

    async def complete(self) -> None:
        """Take in all that is missing, giving others a turn after every slice."""
        complete = self.catch_up()
        while not complete:
            await asyncio.sleep(0)
            complete = self.catch_up()

    def go_on(self) -> None:
        """Take in what is missing behind whatever else happens."""
        if not self._is_at_work:
            self._is_at_work = True
            self._spawn(self._work(), self._name)

    async def _work(self) -> None:
        try:
            await self.complete()
        finally:
            self._is_at_work = False
