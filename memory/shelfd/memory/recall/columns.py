"""Per-document values as growing numpy arrays, one slot (ordinal) per document version."""

import mmap
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast
from weakref import finalize

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
FewCodes = npt.NDArray[np.int8] | npt.NDArray[np.int16] | npt.NDArray[np.int32]

ALIVE: Final = 1  #: not replaced or removed
HIDDEN: Final = 2
SUPERSEDED: Final = 4
PRIVATE: Final = 8  #: scope ``session`` and has a session
QUESTION: Final = 16  #: ends with a question mark
TEMPORAL: Final = 32  #: holds an expression of time
QUARANTINED: Final = 64

#: Slots to begin with, which double when they are used up: an empty shelf must cost little.
_CAPACITY: Final = 64
#: From here on there are as many more at once that they are seldom copied. What is not used yet takes no memory.
_LARGE: Final = 16_384
_MORE: Final = 16
_HUGE: Final = 1 << 21  #: bytes of a huge page
_PART: Final = 1 << 16  #: values that are renumbered together: memory for all of them would have to be found first
NEVER: Final = int(np.iinfo(np.int64).max)  #: expiry of what does not expire
ALWAYS: Final = int(np.iinfo(np.int64).min)  #: beginning of what says none

_TYPES: Final = {
    "flags": np.uint8, "answer_types": np.uint16,
    # int64 although int32 would do: numpy indexes with int64 without a conversion.
    "previous": np.int64, "following": np.int64, "group": np.int64,
    "length": np.int32, "span": np.int32, "day": np.int32, "session": np.int32,
    # Of these most shelves have a few values: there are more bytes once there are more.
    "speaker": np.int8, "nugget": np.int8, "domain": np.int8, "scope": np.int8, "type": np.int8,
    "subject": np.int8, "author": np.int8,
    "boost": np.float32, "title": np.uint64, "telling": np.uint8, "standing": np.uint8,
    "when": np.int64, "expires_at": np.int64, "row": np.int64, "turn": np.int64,
}  # fmt: skip

#: What a change of another document may change; all else stays as it was put.
#: Columns that get wider as their values grow, and how wide.
_CODES: Final = frozenset(name for name, kind in _TYPES.items() if kind is np.int8)
_WIDER: Final[Mapping[Any, npt.DTypeLike]] = {
    np.dtype(np.int8): np.dtype(np.int16),
    np.dtype(np.int16): np.dtype(np.int32),
}

CHANGING: Final = ("flags", "previous", "following", "group", "span")
LASTING: Final = tuple(name for name in _TYPES if name not in CHANGING)


class Columns:
    """One array per value; the first ``size`` slots are in use."""

    flags: npt.NDArray[np.uint8]
    answer_types: npt.NDArray[np.uint16]  #: which types of answer the document holds, bits of meaning.ANSWER_TYPES
    previous: IntArray  #: ordinal of the previous note of the session, -1 for none
    following: IntArray  #: ordinal of the next one, -1 for none
    group: IntArray  #: number of the (nugget, session)
    length: Codes  #: tokens of the document
    span: Codes  #: tokens of the document and of its previous one
    speaker: FewCodes  #: number of the folded author, -1 for nobody
    day: Codes  #: local date, proleptic ordinal
    nugget: FewCodes
    domain: FewCodes
    scope: FewCodes
    type: FewCodes
    subject: FewCodes
    author: FewCodes
    session: Codes
    boost: npt.NDArray[np.float32]  #: what note search adds for what the note is
    title: npt.NDArray[np.uint64]  #: words of the title, as :func:`~shelfd.memory.recall.note_search.word_bits`
    telling: npt.NDArray[np.uint8]  #: distinct words that are no stop words, at most 255
    standing: npt.NDArray[np.uint8]  #: what decides between documents that score alike
    when: IntArray  #: microseconds since 1970 UTC
    expires_at: IntArray  #: microseconds since 1970 UTC, or ``NEVER``
    row: IntArray
    turn: IntArray

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self.size = 0
        self.edition = 0  #: how often ordinals were given to others
        self._capacity = capacity
        self._room: dict[str, npt.NDArray[Any]] = {}  #: for what changes, of a layer that nobody uses any more
        for name, kind in _TYPES.items():
            setattr(self, name, _zeros(capacity, kind))

    @property
    def nbytes(self) -> int:
        """Bytes of the slots in use."""
        return sum(self.size * getattr(self, name).itemsize for name in _TYPES)

    def extend(self, count: int, values: Mapping[str, Any]) -> int:
        """Add *count* ordinals with these *values* of each column; return the first. There are as many, or one for all.

        Raises:
            OverflowError: If one of them is none for its column; then nothing is added.
        """
        first, last = self.size, self.size + count
        self._reserve(last)
        for name in _CODES & values.keys():
            self._widen(name, values[name])
        arrays = vars(self)
        if count == 1:  # a number is written faster than a list of one
            for name, some in values.items():
                arrays[name][first] = some if isinstance(some, int) else some[0]
        else:
            for name, some in values.items():
                arrays[name][first:last] = some
        self.size = last
        return first

    def _reserve(self, size: int) -> None:
        """Have room for so many ordinals."""
        if size <= self._capacity:
            return
        while size > self._capacity:
            self._capacity *= 2 if self._capacity < _LARGE else _MORE
        for name in _TYPES:
            self._copy(name, getattr(self, name).dtype)

    def _copy(self, name: str, kind: npt.DTypeLike) -> None:
        """Copy a column into an array of the present capacity."""
        copied = _zeros(self._capacity, kind)
        copied[: self.size] = getattr(self, name)[: self.size]
        setattr(self, name, copied)

    def _widen(self, name: str, codes: Sequence[int]) -> None:
        """Make a column of codes as wide as they need it."""
        largest = max(codes)
        while largest >> (8 * (kind := getattr(self, name).dtype).itemsize - 1) and kind in _WIDER:
            self._copy(name, _WIDER[kind])

    def alive(self, ordinals: Any) -> BoolArray:  # noqa: ANN401 (whatever an array is indexed by)
        """Return for each of *ordinals* whether it is alive."""
        alive: BoolArray = (self.flags[ordinals] & ALIVE).view(np.bool_)
        return alive

    def erase(self, ordinals: IntArray) -> None:
        """Keep nothing of dead documents."""
        for name in LASTING:
            getattr(self, name)[ordinals] = 0

    def layer(self, count: int) -> "Columns":
        """Return the same values, free to change and to be extended by *count*; good until these change.

        What lasts stays where it is: there, a layer writes in slots alone that are not in use here, and whoever extends
        these writes every value of a slot. The rest, 29 bytes of a document, is copied into memory that is kept: to
        find new memory takes five times as long as to copy.
        """
        size = self.size + count
        self._reserve(size)
        other = Columns()
        other.size, other._capacity = self.size, size
        for name in LASTING:
            setattr(other, name, getattr(self, name))
        room, self._room = self._room, {}
        if not room or len(room["flags"]) < size:
            room = {name: np.empty(self._capacity, _TYPES[name]) for name in CHANGING}
        for name in CHANGING:
            copied = room[name][:size]
            copied[: self.size] = getattr(self, name)[: self.size]
            setattr(other, name, copied)
        finalize(other, self._give_back, room)
        return other

    def _give_back(self, room: dict[str, npt.NDArray[Any]]) -> None:
        """Keep a layer's memory for the next one."""
        self._room = room

    def room_for(self, name: str) -> npt.NDArray[Any]:
        """Return zeros for all values of a column."""
        return _zeros(self._capacity, getattr(self, name).dtype)

    def renumber(self, kept: IntArray, size: int, copied: Mapping[str, npt.NDArray[Any]], numbers: IntArray) -> None:
        """Keep of the ordinals below *size* those *kept* (ascending) only, and all from there on.

        Args:
            kept: Old ordinals.
            size: Of the others, the first.
            copied: Of columns, arrays that begin with what is kept, of those that last; see :meth:`room_for`.
            numbers: New ordinal of each old one, shape ``(size + 1,)``, the last being -1.
        """
        self.edition += 1
        last, count = self.size, len(kept)
        self.size = count + last - size
        for name in _TYPES:
            column, new = getattr(self, name), copied.get(name)
            if new is None or len(new) != self._capacity or new.dtype != column.dtype:
                given, new = new, self.room_for(name)
                new[:count] = column[kept] if given is None else given[:count]
            if name in CHANGING:
                column.take(kept, out=new[:count], mode="clip")  # which needs no copy
            new[count : self.size] = column[size:last]
            setattr(self, name, new)
        for begin in range(0, self.size, _PART):
            for pointer in (self.previous, self.following):
                some = slice(begin, min(begin + _PART, self.size))
                pointer[some] = numbers[pointer[some]]

    def fill(self, size: int, columns: Mapping[str, Sequence[tuple[slice, npt.NDArray[Any]]]]) -> None:
        """Begin with *size* ordinals: of each column the values of some of them, or one for all of these."""
        self.size, self._capacity = size, _CAPACITY
        while self._capacity < size + size // 8:
            self._capacity *= 2 if self._capacity < _LARGE else _MORE
        for name, kind in _TYPES.items():
            given = columns[name]
            wide = np.result_type(kind, *(some for _, some in given)) if name in _CODES else kind
            filled = _zeros(self._capacity, wide, soon=size)
            for own, some in given:
                filled[own] = some
            setattr(self, name, filled)


def narrowed(values: IntArray, bits: int) -> IntArray:
    """Return numbers of so many bits at most as narrow ones, if they can be: these are sorted in half the time."""
    return cast("IntArray", values.astype(np.int32)) if bits < 32 else values


def _zeros(count: int, kind: npt.DTypeLike, soon: int = 0) -> npt.NDArray[Any]:
    """Return zeros, of which many take no memory before they are written; the first so many are written *soon*."""
    size = count * np.dtype(kind).itemsize
    if count <= _LARGE:
        return np.zeros(count, kind)
    # numpy would ask for huge pages, of which the first byte written takes two megabytes. Where all of it is written
    # they are found faster: a query reads values here and there in columns of megabytes.
    memory = mmap.mmap(-1, size)
    written = soon * np.dtype(kind).itemsize // _HUGE * _HUGE
    if written:
        with suppress(OSError, AttributeError):  # of a kernel, or another system, without them
            memory.madvise(mmap.MADV_HUGEPAGE, 0, written)
    return np.frombuffer(memory, kind)


class Living:
    """The ordinal of each row that has one."""

    def __init__(self) -> None:
        self._ordinals = array("i")  # by row; -1 for none
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, row: int) -> bool:
        return self.get(row) >= 0

    def get(self, row: int) -> int:
        """Return the ordinal of *row*, -1 if it has none."""
        return self._ordinals[row] if 0 <= row < len(self._ordinals) else -1

    def of_each(self, rows: Iterable[int]) -> list[int]:
        """Return what :meth:`get` does for each of a few *rows*."""
        ordinals, count = self._ordinals, len(self._ordinals)
        return [ordinals[row] if 0 <= row < count else -1 for row in rows]

    def of(self, rows: IntArray) -> IntArray:
        """Return the ordinal of each of *rows*, -1 for none."""
        ordinals = np.frombuffer(self._ordinals, np.int32)
        inside = (rows >= 0) & (rows < len(ordinals))
        found: IntArray = np.full(len(rows), -1, np.int64)
        found[inside] = ordinals[rows[inside]]
        return found

    def put(self, row: int, ordinal: int) -> None:
        """Set the ordinal of *row*, or -1 for none."""
        if row >= len(self._ordinals):
            if ordinal < 0:
                return
            missing = row - len(self._ordinals)
            if missing:  # as rows are written one after the other, there is none
                self._ordinals.frombytes(np.full(missing, -1, np.int32).tobytes())
            self._ordinals.append(-1)
        self._count += (ordinal >= 0) - (self._ordinals[row] >= 0)
        self._ordinals[row] = ordinal

    def extend(self, rows: Sequence[int], first: int) -> bool:
        """Give *rows* the ordinals from *first* on if each stands once and is beyond all others; return whether so."""
        size, count = len(self._ordinals), len(rows)
        if rows[0] < size or list(rows) != list(range(rows[0], rows[0] + count)):
            return False
        if rows[0] > size:
            self._ordinals.frombytes(np.full(rows[0] - size, -1, np.int32).tobytes())
        self._ordinals.extend(range(first, first + count))
        self._count += count
        return True

    def fill(self, columns: Columns) -> None:
        """Begin with the rows of the documents that are alive."""
        (alive,) = columns.alive(slice(columns.size)).nonzero()
        rows = columns.row[alive]
        ordinals = np.full(int(rows.max(initial=-1)) + 1, -1, np.int32)
        ordinals[rows] = alive
        self._ordinals, self._count = array("i", ordinals.tobytes()), len(alive)

    def copy(self) -> "Living":
        """Return the same ordinals, free to change."""
        other = Living()
        other._ordinals, other._count = self._ordinals[:], self._count
        return other
