"""The image of a shelf's projections as files in the folder ``index`` beside the shelf's file.

``image.json`` names what belongs to it, with a checksum of each block, and is replaced in one step; the files it names
are never changed. So a crash leaves the image from before or the new one, and files that the next one removes.

``image.json`` is one line with the CRC-32 of the rest in hexadecimal, and the rest is JSON::

    {"format": 1, "seq": …, "made_by": {…}, "facts": {projection: {…}},
     "parts": {projection: {part: {"file": …, "bytes": …, "sums": [CRC-32 of each block of 1 MiB],
                                   "arrays": {name: [dtype, offset, count]}}}}}

Arrays begin at multiples of 64 bytes, little-endian.
"""

import asyncio
import json
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4
from zlib import crc32

import numpy as np
import numpy.typing as npt

from shelfd.memory.errors import StorageCorrupt, StoreBusy
from shelfd.memory.ports.image import Arrays, Image, Images
from shelfd.storage.sqlite.files import sync

FOLDER: Final = "index"
_NAME: Final = "image.json"
_PART: Final = ".part"
_FORMAT: Final = 1
_BLOCK: Final = 1 << 20
_ALIGNED: Final = 64
_PRIVATE_DIR: Final = 0o700
_PRIVATE_FILE: Final = 0o600
#: Numbers and truth values; an array of anything else is none of ours.
_KINDS: Final = frozenset("biuf")


class SqliteImages(Images):
    """The image that lies beside a shelf's file *path*."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent / FOLDER

    async def save(self, image: Image) -> None:
        """Write what is new on another thread. See the port."""
        with _translated("written"):
            await asyncio.to_thread(_save, self._folder, image)

    async def load(self) -> Image | None:
        """Check every block on another thread, then map the files. See the port."""
        if not (self._folder / _NAME).exists():
            if (
                self._folder.exists()
            ):  # what a crash left of one that nothing names: nobody would know of the texts there
                await self.drop()
            return None  # as for most shelves: no thread is worth that
        with _translated("read"):
            return await asyncio.to_thread(read_image, self._folder)

    async def drop(self) -> None:
        """Delete what names the files, then the files. See the port."""
        with _translated("removed"):
            await asyncio.to_thread(_drop, self._folder)


def image_problem(path: Path) -> str | None:
    """Return what is wrong with the image beside a shelf's file, None if it is whole or there is none."""
    try:
        read_image(path.parent / FOLDER)
    except StorageCorrupt as error:
        return error.message
    except OSError as error:
        return f"the image of the index cannot be read ({error.strerror})"
    return None


def read_image(folder: Path) -> Image | None:
    """Return the image in *folder*, None if there is none.

    Raises:
        StorageCorrupt: If it is damaged or of another version.
        OSError: If it cannot be read.
    """
    try:
        listed = _listed(folder)
        parts = {
            projection: {name: _arrays(folder, part) for name, part in some.items()}
            for projection, some in listed["parts"].items()
        }
        return Image(listed["seq"], listed["made_by"], listed["facts"], parts)
    except FileNotFoundError as error:
        if Path(error.filename).name == _NAME:
            return None
        raise StorageCorrupt("a file of the index's image is missing", reason="DAMAGED") from error
    except (KeyError, TypeError, ValueError, AttributeError, UnicodeDecodeError) as error:
        raise StorageCorrupt(f"the index's image cannot be read ({type(error).__name__})", reason="DAMAGED") from error


def _opened(path: Path) -> int:
    """Open a file of the image, unless another user has put it there, for whom it would answer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if os.fstat(descriptor).st_uid not in (os.getuid(), 0):
        os.close(descriptor)
        raise StorageCorrupt("a file of the index's image is another user's", reason="DAMAGED")
    return descriptor


def _listed(folder: Path) -> dict[str, Any]:
    with os.fdopen(_opened(folder / _NAME), "rb") as file:
        checksum, _, rest = file.read().partition(b"\n")
    if checksum != b"%08x" % crc32(rest):
        raise StorageCorrupt("the list of the index's image is damaged", reason="DAMAGED")
    listed: dict[str, Any] = json.loads(rest)
    if listed["format"] != _FORMAT:
        raise StorageCorrupt("the index's image is of another version", reason="OTHER_VERSION")
    return listed


def _arrays(folder: Path, part: Mapping[str, Any]) -> Arrays:
    """Return the arrays of a file, mapped so that changes stay in memory, after a look at every byte of it."""
    path, size = folder / Path(part["file"]).name, part["bytes"]
    descriptor = _opened(path)
    try:
        if os.fstat(descriptor).st_size != size:
            raise StorageCorrupt("a file of the index's image is cut short", reason="DAMAGED")
        # Read, not mapped: what is only checked then takes no memory.
        for at, known in enumerate(part["sums"]):
            if crc32(os.pread(descriptor, _BLOCK, at * _BLOCK)) != known:
                raise StorageCorrupt(f"block {at} of a file of the index's image is damaged", reason="DAMAGED")
        if len(part["sums"]) * _BLOCK < size:
            raise StorageCorrupt("checksums of the index's image are missing", reason="DAMAGED")
        mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY) if size else b""
    finally:
        os.close(descriptor)
    return {name: _array(mapped, *where) for name, where in part["arrays"].items()}


def _array(mapped: mmap.mmap | bytes, kind: str, offset: int, count: int) -> npt.NDArray[Any]:
    dtype = np.dtype(kind)
    if dtype.kind not in _KINDS:
        raise ValueError(kind)
    return np.frombuffer(mapped, dtype, count, offset) if count else np.zeros(0, dtype)


# ------------------------------------------------------------------- writing


def _save(folder: Path, image: Image) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=_PRIVATE_DIR)
        sync(folder.parent)
    before: dict[str, Any] = {}
    if any(arrays is None for some in image.parts.values() for arrays in some.values()):
        before = _listed(folder)["parts"]
    written: list[Path] = []
    try:
        parts = {
            projection: {
                name: before[projection][name] if arrays is None else _write_part(folder, arrays, written)
                for name, arrays in some.items()
            }
            for projection, some in image.parts.items()
        }
        _name_parts(folder, image, parts, written)
    except OSError:
        _remove(written)  # they would keep a disk full that is
        raise
    sync(folder)
    _remove_others(folder, {part["file"] for some in parts.values() for part in some.values()})


def _name_parts(folder: Path, image: Image, parts: Mapping[str, Any], written: list[Path]) -> None:
    """Put a list of the *parts* of an image in the place of the one that there is."""
    listed = {"format": _FORMAT, "seq": image.seq, "made_by": image.made_by, "facts": image.facts, "parts": parts}
    rest = json.dumps(listed).encode()
    draft = folder / f".{_NAME}.new"
    written.append(draft)
    with _new_file(draft) as descriptor:
        _write_all(descriptor, b"%08x\n" % crc32(rest) + rest)
        os.fsync(descriptor)
    sync(folder)  # the names of the parts, before that of what names them
    draft.replace(folder / _NAME)


def _remove(written: Sequence[Path]) -> None:
    for path in written:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _write_part(folder: Path, arrays: Arrays, written: list[Path]) -> dict[str, Any]:
    """Write a file of its own, which is added to those *written*; return what the list says of it."""
    name = f"{uuid4().hex}{_PART}"
    written.append(folder / name)
    places: dict[str, tuple[str, int, int]] = {}
    with _new_file(folder / name) as descriptor:
        writing = _Sums(descriptor)
        for key, array in arrays.items():
            writing.write(bytes(-writing.size % _ALIGNED))
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            places[key] = little.dtype.str, writing.size, len(little)
            writing.write(little.view(np.uint8).data if len(little) else b"")
        sums = writing.end()
        os.fsync(descriptor)
    return {"file": name, "bytes": writing.size, "sums": sums, "arrays": places}


class _Sums:
    """A file that is written from its beginning, and the checksum of each of its blocks."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._sums: list[int] = []
        self._sum = 0
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append *data*."""
        left = memoryview(data)
        while left:
            room = _BLOCK - self.size % _BLOCK
            some = left[:room]
            _write_all(self._descriptor, some)
            self._sum = crc32(some, self._sum)
            self.size += len(some)
            left = left[room:]
            if self.size % _BLOCK == 0:
                self._sums.append(self._sum)
                self._sum = 0

    def end(self) -> list[int]:
        """Return the checksums."""
        return [*self._sums, self._sum] if self.size % _BLOCK else self._sums


def _drop(folder: Path) -> None:
    with suppress(FileNotFoundError):
        (folder / _NAME).unlink()  # first: without it the others are nothing
        sync(folder)
    with suppress(FileNotFoundError):
        _remove_others(folder, set())
        folder.rmdir()


def _remove_others(folder: Path, kept: set[str]) -> None:
    for name in os.listdir(folder):  # noqa: PTH208 (an iterator would be left open where one cannot be removed)
        if name != _NAME and name not in kept:
            (folder / name).unlink()


@contextmanager
def _new_file(path: Path) -> Iterator[int]:
    path.unlink(missing_ok=True)  # left by a crash
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, _PRIVATE_FILE)
    with closing(os.fdopen(descriptor, "wb", buffering=0)):
        yield descriptor


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """Say what the system refuses without saying where."""
    try:
        yield
    except OSError as error:
        raise StoreBusy(f"the index's image cannot be {what}: {error.strerror}") from error
