"""A shelf's image: read when the shelf is opened, so that nothing has to be made of all rows, and written anew in time.

What has changed since the image was made is read from the log and the rows, as many changes as there are. An image that
is damaged, of other rows, of another version or other settings is deleted, and everything is made of the rows.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, cast

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.ports.image import Arrays, Frozen, Image
from shelfd.memory.ports.projection import PURGED, Pictured
from shelfd.memory.ports.store import Clock, Store, ended
from shelfd.memory.shelf.track import Track

log = structlog.get_logger("shelfd.memory")

#: Changes before there is an image, and those after which there is a new one: taking them in again takes 0.3 s.
_CHANGES: Final = 2_000
#: The same when the shelf is closed, or nothing has changed for a while.
_FEW_CHANGES: Final = 500
_QUIET: Final = timedelta(seconds=10)
#: After the image was written, nothing is written for so many times as long, ten seconds at most; or after a failure.
#: Writing is mostly waiting for the disk: of a processor it takes a thirtieth or so while it follows a long import, and
#: what an import takes in between two images is taken in again in a second or two.
_TIMES: Final = 10
_LONGEST: Final = timedelta(seconds=10)
_AGAIN: Final = timedelta(seconds=60)
#: Rows of the log read without yielding to other tasks.
_ROWS: Final = 256
#: How long a read waits for an image that is being read.
_PATIENCE_S: Final = 2.0


class ShelfImage:
    """The image of the projections of one shelf that are part of it.

    Args:
        tracks: Those projections.
        seq: Returns the last change that all of them know.

    Attributes:
        problem: Why the image that there was could not be used, until there is another one.
    """

    def __init__(
        self, tracks: Sequence[Track], store: Store, clock: Clock, shelf: str, *, seq: Callable[[], int]
    ) -> None:
        self.problem: str | None = None
        self._tracks = [track for track in tracks if track.projection.image_version]
        self._store = store
        self._clock = clock
        self._shelf = shelf
        self._known_seq = seq
        self._seq = 0  #: of the image
        self._stored: Mapping[str, set[str]] = {}  #: its parts by projection
        self._is_there = False  #: whether there may be one
        self._busy = asyncio.Lock()
        self._loading: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._quiet: asyncio.Task[None] | None = None  #: ends when nothing has changed for a while
        self._is_resting = False
        self._is_closing = False

    # ------------------------------------------------------------- reading

    def begin(self) -> None:
        """Have reads wait until the image is read."""
        self._loading = asyncio.get_running_loop().create_future()

    @property
    def is_loading(self) -> bool:
        """Whether the image is being read."""
        return self._loading is not None

    async def loaded(self) -> None:
        """Wait a moment until the image is read, if there is one."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=_PATIENCE_S)

    async def load(self) -> None:
        """Have the projections know what the image does and what has changed since, if it can be used."""
        try:
            async with self._busy:
                began = self._clock.monotonic()
                try:
                    image = await self._store.images.load()
                    if image is not None:
                        self._is_there = True
                        await self._use(image)
                        took_ms = round((self._clock.monotonic() - began) * 1000, 1)
                        log.info("image.read", shelf=self._shelf, seq=image.seq, duration_ms=took_ms)
                except ShelfError as error:
                    await self._pass_over(error.message)
                except _UnfitError as error:
                    await self._pass_over(str(error))
        finally:
            loading, self._loading = self._loading, None
            if loading is not None and not loading.done():
                loading.set_result(None)

    async def _use(self, image: Image) -> None:
        if image.made_by != self._made_by(image.seq):
            raise _UnfitError("it was made by another version, with other settings, or of other rows")
        try:
            uses = await asyncio.to_thread(self._thawed, image)
        except Exception as error:  # whatever is wrong with it, the rows are right
            raise _UnfitError(f"it cannot be understood ({type(error).__name__})") from error
        changed: set[int] = set()
        at = image.seq
        # From the last look at the log on nothing may come in between.
        while at < self._store.view.log.last_seq:
            at = self._read_changes(at, changed)
            if at < self._store.view.log.last_seq:
                await asyncio.sleep(0)
        for track, use in zip(self._tracks, uses, strict=True):
            use()
            skipped = image.facts[track.projection.name]["skipped"]
            track.resume(sorted(changed), dict(skipped))
        self._seq = image.seq
        self._stored = {name: set(parts) for name, parts in image.parts.items()}

    def _thawed(self, image: Image) -> list[Callable[[], None]]:
        found = []
        for track in self._tracks:
            name = track.projection.name
            frozen = Frozen(image.facts[name]["facts"], image.parts[name])
            found.append(cast("Pictured", track.projection).thaw(frozen))
        return found

    def _read_changes(self, since: int, changed: set[int]) -> int:
        """Add the notes of the next changes; return the last of these."""
        rows = self._store.view.log.page(since_seq=since, limit=_ROWS)
        if not rows or rows[0].seq != since + 1:
            raise _UnfitError("the log does not reach back that far")
        if any(row.kind == "nugget.renamed" or (row.kind == PURGED and row.row is None) for row in rows):
            raise _UnfitError("a nugget was renamed since")
        changed.update(row.row for row in rows if row.row is not None)
        return rows[-1].seq

    async def _pass_over(self, reason: str) -> None:
        self.problem = reason
        log.warning("image.passed_over", shelf=self._shelf, reason=reason)
        await self._drop()

    async def _drop(self) -> bool:
        self._seq, self._stored = 0, {}
        try:
            await self._store.images.drop()
        except ShelfError as error:
            log.warning("image.drop_failed", shelf=self._shelf, reason=error.message)
            return False
        self._is_there = False
        return True

    def _made_by(self, seq: int) -> Mapping[str, Any]:
        """What has to be the same for an image of change *seq* to be used, as JSON gives it back."""
        rows = self._store.view.log.page(since_seq=seq - 1, limit=1)
        change = [rows[0].seq, rows[0].tx, rows[0].at, rows[0].kind, list(rows[0].ids)] if rows else []
        made: dict[str, Any] = {"change": change}
        for track in self._tracks:
            projection = cast("Pictured", track.projection)
            made[projection.name] = [projection.image_version, projection.made_by()]
        return made

    # ------------------------------------------------------------- writing

    def advanced(self, last_seq: int) -> None:
        """Note that projections know the change *last_seq*: when there were many, the image is written anew."""
        if self._is_closing:
            return
        if self._task is None:
            if self._is_behind(last_seq):
                self._task = asyncio.get_running_loop().create_task(self._keep(), name=f"shelfd.{self._shelf}.image")
        elif self._quiet is not None and self._is_due(last_seq):
            self._quiet.cancel()

    def _is_due(self, last_seq: int) -> bool:
        return last_seq - self._seq >= _CHANGES and self._is_complete

    def _is_behind(self, last_seq: int) -> bool:
        """Whether it is worth to write the image anew when there is nothing else to do."""
        return last_seq >= _CHANGES and last_seq - self._seq >= _FEW_CHANGES and self._is_complete

    @property
    def _is_complete(self) -> bool:
        return bool(self._tracks) and all(track.is_complete and track.failure is None for track in self._tracks)

    async def _keep(self) -> None:
        try:
            while not self._is_closing and self._is_behind(last_seq := self._known_seq()):
                if not self._is_due(last_seq):
                    await self._wait_for_quiet()
                    if self._known_seq() != last_seq:
                        continue
                began = self._clock.monotonic()
                is_saved = await self.save()
                took = timedelta(seconds=self._clock.monotonic() - began)
                if self._is_closing:
                    return
                await self._rest(min(took * _TIMES, _LONGEST) if is_saved else _AGAIN)
        finally:
            self._task = None

    async def _wait_for_quiet(self) -> None:
        """Wait a while, or until there were many changes."""
        self._is_resting = True
        self._quiet = asyncio.get_running_loop().create_task(self._clock.sleep(_QUIET))
        try:
            await asyncio.wait([self._quiet])
        finally:
            self._quiet.cancel()
            self._quiet, self._is_resting = None, False

    async def _rest(self, delay: timedelta) -> None:
        self._is_resting = True
        try:
            await self._clock.sleep(delay)
        finally:
            self._is_resting = False

    async def save(self) -> bool:
        """Write the image anew; return whether that worked. What changes meanwhile is not in it."""
        async with self._busy:
            for track in self._tracks:
                cast("Pictured", track.projection).prepare()
            await asyncio.sleep(0)
            seq = self._known_seq()
            if not self._is_complete or not seq:
                return False
            began = self._clock.monotonic()
            made_by = self._made_by(seq)
            freezing = {
                track.projection.name: (
                    cast("Pictured", track.projection).freeze(self._stored.get(track.projection.name, ())),
                    [list(item) for item in track.skipped.items()],
                )
                for track in self._tracks
            }
            self._is_there = True  # soon: what is purged from now on has to be taken out of it
            writing = asyncio.ensure_future(self._write(seq, made_by, freezing))
            try:
                parts = await asyncio.shield(writing)
            except ShelfError as error:
                log.warning("image.write_failed", shelf=self._shelf, reason=error.message)
                self._stored = {}  # whatever is wrong there, the next one is written as a whole
                return False
            except asyncio.CancelledError:
                await ended(writing)  # what is read for one image is not changed for the next
                raise
            finally:
                for track in self._tracks:
                    cast("Pictured", track.projection).release()
            self._seq, self._stored, self.problem = seq, {name: set(some) for name, some in parts.items()}, None
            took_ms = round((self._clock.monotonic() - began) * 1000, 1)
            log.info("image.written", shelf=self._shelf, seq=seq, duration_ms=took_ms)
            return True

    async def _write(
        self, seq: int, made_by: Mapping[str, Any], freezing: Mapping[str, tuple[Callable[[], Frozen], list[Any]]]
    ) -> Mapping[str, Mapping[str, Arrays | None]]:
        """Read for an image, write it, and return its parts.

        Raises:
            Unavailable: If it cannot be written.
        """
        frozen = await asyncio.to_thread(_read, {name: get for name, (get, _) in freezing.items()})
        facts = {name: {"facts": frozen[name].facts, "skipped": freezing[name][1]} for name in frozen}
        parts = {name: frozen[name].parts for name in frozen}
        await self._store.images.save(Image(seq, made_by, facts, parts))
        return parts

    async def forget_purged(self) -> bool:
        """Have the image hold nothing of what was purged by now; return False if it may still do."""
        if not self._is_there and not self.is_loading:
            return True
        if await self.save():
            return True
        async with self._busy:
            return await self._drop()

    async def close(self) -> None:
        """Write the image if there were changes, and start nothing more."""
        self._is_closing = True
        task = self._task
        if task is not None:
            if self._is_resting:
                task.cancel()
            await asyncio.wait([task])  # a thread that writes is not left behind
        last_seq = self._known_seq()
        if self._is_behind(last_seq):
            await self.save()


class _UnfitError(Exception):
    """An image that cannot be used; says why."""


def _read(parts_of: Mapping[str, Callable[[], Frozen]]) -> dict[str, Frozen]:
    return {name: get() for name, get in parts_of.items()}
