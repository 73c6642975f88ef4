"""How a shelf's recall index is filled after the shelf was opened."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from shelfd.memory.ports.store import Clock
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.indexing import Intake

log = structlog.get_logger("shelfd.memory")

#: Notes indexed without giving other work a turn: about 5 ms.
_SLICE: Final = 128
#: How long it waits before it reads again what could not be read, and at most after many times.
_FIRST_WAIT: Final = timedelta(milliseconds=100)
_LONGEST_WAIT: Final = timedelta(seconds=30)


class Warming:
    """Indexes all notes of a shelf, newest first. What it cannot read it tries again, until the shelf is closed."""

    def __init__(self, view: View, intake: Intake, clock: Clock, shelf: str) -> None:
        self._view = view
        self._intake = intake
        self._clock = clock
        self._shelf = shelf
        self._to_index = 1  # by row numbers, known once it begins: counting rows takes long in a large shelf
        self._left = 1
        self.is_done = False
        self.failure: str | None = None  #: why the shelf cannot be read just now

    @property
    def share(self) -> float:
        """How much of the shelf is indexed, 0 to 1."""
        return 1.0 if self.is_done else min(0.999, 1 - self._left / self._to_index)

    async def run(self) -> None:
        """Index every note. One that was written meanwhile is indexed by its change and passed over here."""
        started = self._clock.monotonic()
        before_row: int | None = None
        notes_count, wait = 0, _FIRST_WAIT
        while not self.is_done:
            try:
                notes = self._view.notes.scan(before_row=before_row, limit=_SLICE)
            except Exception as error:  # noqa: BLE001 - whatever it is, recall stays partial until it is over
                self.failure = type(error).__name__
                retry_in_s = wait.total_seconds()
                log.warning("index.read_failed", shelf=self._shelf, error=self.failure, retry_in_s=retry_in_s)
                await self._clock.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
                continue
            wait, self.failure = _FIRST_WAIT, None
            if before_row is None and notes:
                self._to_index = notes[0].row
            for note in notes:
                if not self._intake.knows(note.row):
                    self._intake.put(note)
            notes_count += len(notes)
            if notes:
                before_row = self._left = notes[-1].row
                await asyncio.sleep(0)
            self.is_done = not notes
        duration_ms = round((self._clock.monotonic() - started) * 1000, 1)
        skipped = self._intake.skipped
        log.info("index.warmed", shelf=self._shelf, notes=notes_count, skipped=skipped, duration_ms=duration_ms)
