"""Files of another memory, and what of them is sent in requests of ``shelf.import``."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from shelfd.client.failure import Unsendable
from shelfd.client.transport import as_json

#: Items and bytes of one request, which the daemon takes in step by step, so that others get their turn.
ITEMS, BYTES = 2000, 1024 * 1024
#: The same for a dry run, which is exact within one request only.
REHEARSED_ITEMS, REHEARSED_BYTES = 5000, 6 * 1024 * 1024
PARTS: Final = 900  #: of one request, which may have 1000
LARGEST_ITEM: Final = 6 * 1024 * 1024  # bytes; a request is at most 8 MiB
#: How a rejection is worded, but for why.
REFUSED: Final = {"code": -32602, "data": {"type": "InvalidParams", "retryable": False}}
EXPECTED: Final = (
    "expected nuggets (a JSON object with a list `facts` or `notes`), luker (one with a list `commits`), sillytavern "
    "(a chat, a JSON object on each line), zettelforge (zettelforge.db, or a note on each line), shelfd (an export or "
    "a snapshot), mcp-memory (an entity or relation on each line), mem0 (memories as JSON, or history.db), "
    "mcp-memory-service (its SQLite file), chatgpt or claude (conversations.json, or a zip with it), markdown, "
    "basic-memory or claude-code (Markdown), csv, or jsonl (a JSON object with its text on each line, or in a list)"
)
#: Members, and characters of one, that are named where a file is none of these.
_NAMED, _NAME_CHARACTERS = 4, 32


class Unusable(Exception):
    """A path that cannot be imported.

    Attributes:
        status: What the command exits with for it.
    """

    def __init__(self, path: str, why: str, status: int) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why
        self.status = status


def refuse_blank(path: str, beginning: bytes) -> None:
    """Refuse a file of which this is the beginning if that is nothing but blanks, or not even that.

    Raises:
        Unusable: If so.
    """
    if not beginning.removeprefix(b"\xef\xbb\xbf").strip():
        raise Unusable(path, "is empty: there is nothing to import", os.EX_DATAERR)


def load(path: str) -> Any:  # noqa: ANN401
    """Return what the file at *path* holds as JSON.

    Raises:
        Unusable: If it cannot be read, holds nothing, or is not JSON.
    """
    try:
        data = Path(path).read_bytes()
        refuse_blank(path, data)
        return json.loads(data, parse_constant=_refuse_constant)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
    except json.JSONDecodeError as error:
        why = f"is not JSON (line {error.lineno}, column {error.colno}); {EXPECTED}"
        raise Unusable(path, why, os.EX_DATAERR) from error
    except (ValueError, RecursionError) as error:
        raise Unusable(path, f"is not JSON; {EXPECTED}", os.EX_DATAERR) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def unexpected(document: object) -> str:
    """Return the complaint about a file that is of no known format."""
    if isinstance(document, dict):
        names = [f"`{name[:_NAME_CHARACTERS]}`" for name in map(str, document)]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        seen = f"an object with {', '.join([*names[:_NAMED], *more]) or 'nothing in it'}"
    else:
        seen = "a list" if isinstance(document, list) else "a single value"
    return f"{EXPECTED}; this is {seen}"


class ForeignBatch(NamedTuple):
    """Items of one kind from one file, with their places in it: numbers, or names where the file has these."""

    file: str
    part: str
    header: Mapping[str, Any]
    items: list[Any]  #: None for one that was not parsed
    indexes: list[Any]
    written: list[bytes]  #: each item as JSON, as it is sent
    unit: str = ""  #: what the places count, if not the items

    def add(self, item: Any, index: Any, written: bytes) -> None:  # noqa: ANN401
        """Add an item, its place, and what :func:`as_written` makes of it."""
        self.items.append(item)
        self.indexes.append(index)
        self.written.append(written)

    def as_part(self) -> bytes:
        """Return it as one of the request's parts, as JSON."""
        name = os.path.basename(self.file).encode(errors="replace").decode()  # noqa: PTH119
        about = as_json({"part": self.part, "source": {"name": name[:255], "header": self.header}})
        return b'%b,"items":[%b]}' % (about.removesuffix(b"}"), b",".join(self.written))


def requests_alone(batches: Iterable[ForeignBatch], *, items: int, size: int) -> Iterator[list[ForeignBatch]]:
    """Do what :func:`requests` does, but have no request with items of two batches."""
    for batch in batches:
        if len(batch.items) <= items and _weight(batch) <= size:
            yield [batch]
        else:
            yield from requests([batch], items=items, size=size)


def requests(batches: Iterable[ForeignBatch], *, items: int = ITEMS, size: int = BYTES) -> Iterator[list[ForeignBatch]]:
    """Cut *batches* into requests of at most so many items and bytes, or of one item, and of no more than PARTS."""
    request: list[ForeignBatch] = []
    count = weight = 0
    for batch in batches:
        if len(request) >= PARTS:
            yield request
            request = []
            count = weight = 0
        piece = _empty(batch)
        for item, index, written in zip(batch.items, batch.indexes, batch.written, strict=True):
            if count and (count >= items or weight + len(written) > size):
                yield [*request, piece] if piece.items else request
                request, piece = [], _empty(batch)
                count = weight = 0
            piece.add(item, index, written)
            count, weight = count + 1, weight + len(written)
        if piece.items:
            request.append(piece)
    if count:
        yield request


def halves(request: Sequence[ForeignBatch]) -> tuple[list[ForeignBatch], list[ForeignBatch]]:
    """Cut a request of several items in two."""
    total = sum(len(batch.items) for batch in request)
    first, second, *_ = [*requests(request, items=(total + 1) // 2, size=sum(map(_weight, request)) + 1), []]
    return first, second


def _weight(batch: ForeignBatch) -> int:
    return sum(map(len, batch.written))


def _empty(batch: ForeignBatch) -> ForeignBatch:
    return batch._replace(items=[], indexes=[], written=[])


def as_written(value: object) -> bytes | None:
    """Return *value* as it is sent; None if it cannot be said in JSON and UTF-8."""
    try:
        return as_json(value)
    except Unsendable:
        return None
