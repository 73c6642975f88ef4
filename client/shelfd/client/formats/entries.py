"""Notes and links as they are cut out of a file, and their batches: links come after all notes, as they need both."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.client.floor_log import LeftOut
from shelfd.client.foreign import LARGEST_ITEM, REFUSED, ForeignBatch, as_written

#: Items sent together.
_ITEMS: Final = 200
_PARTS: Final = ("notes", "links")


class ForeignEntry(NamedTuple):
    """What one place of a file has: a note, links that leave one, both, or nothing that can be taken.

    Attributes:
        index: Its place.
        note: The members of a note.
        links: Of a note with ``id`` or ``name``, its ``links``.
        why: Why it cannot be taken.
    """

    index: Any
    note: Mapping[str, Any] | None = None
    links: Mapping[str, Any] | None = None
    why: str = ""


class EntryFile:
    """A file, or folder, that is being read, and what of it cannot be sent.

    Attributes:
        path: Where it is.
        format: Name of its format.
        unit: What its places count.
        rejected: Rejections as the daemon would word them.
        left_out: What could not be kept, found while reading.
    """

    format = ""
    unit = "line"

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self.path = path
        self.rejected: list[dict[str, Any]] = []
        self.left_out: list[LeftOut] = []
        self._header = header

    @abstractmethod
    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over what is in it; read once for each of the parts ``notes`` and ``links``.

        Raises:
            Unusable: If it cannot be read.
        """

    @abstractmethod
    def count(self) -> int:
        """Return about how many items it has.

        Raises:
            Unusable: If it cannot be read.
        """

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over its items, some at a time.

        Raises:
            Unusable: If it cannot be read.
        """
        for part in _PARTS:
            batch = self._new_batch(part)
            for entry in self.entries(part):
                self._add(batch, entry)
                if len(batch.items) == _ITEMS:
                    yield batch
                    batch = self._new_batch(part)
            if batch.items:
                yield batch

    def leave_out(self, part: str, field: str, why: str, which: Sequence[Any] = ()) -> None:
        """Record what cannot be kept, once however often the file is read."""
        for known in self.left_out:
            if (known.part, known.field, known.why) == (part, field, why):
                known.which.extend(one for one in which if one not in known.which[-1:])
                return
        self.left_out.append(LeftOut(part, field, why, list(which)))

    def _new_batch(self, part: str) -> ForeignBatch:
        return ForeignBatch(self.path, part, self._header, [], [], [], self.unit)

    def _add(self, batch: ForeignBatch, entry: ForeignEntry) -> None:
        item = entry.note if batch.part == "notes" else entry.links
        written = b"" if item is None else as_written(item)
        why = entry.why
        if written is None or len(written) > LARGEST_ITEM:
            why = "cannot be sent: too large, or no text"
        if why and batch.part == "notes":
            self.rejected.append({"index": entry.index, "error": {**REFUSED, "message": why}})
        elif written and not why:
            batch.add(item, entry.index, written)
