"""Files of another memory, read as JSON and cut into requests of ``shelf.import``.

What their members mean is for the daemon to know. Here it is known only where such files lie, which member is the list
of items, and by which member items are distinguished.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

#: Items and bytes of one request: the daemon is kept busy some 50 ms, and others get their turn.
ITEMS, BYTES = 500, 1024 * 1024
#: The same for a dry run, which is exact within one request only.
REHEARSED_ITEMS, REHEARSED_BYTES = 5000, 6 * 1024 * 1024
_LARGEST_ITEM = 6 * 1024 * 1024  # bytes; a request is at most 8 MiB

_NEWER, _OLDER, _GRAPH = ".donna.json", ".nugget.json", "graph.json"
#: By the member that is the list of items: by which member items are distinguished.
_LISTS = {"notes": "id", "facts": "key"}
_REFUSED = {"code": -32602, "data": {"type": "InvalidParams", "retryable": False}}
_EXPECTED = "expected a JSON object with a list `facts` (a nugget) or `notes` (a graph)"


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


class ForeignFile(NamedTuple):
    """One file: the kind of its items, the items, and the other members."""

    path: str
    part: str  #: ``notes`` or ``facts``
    header: dict[str, Any]
    items: list[Any]


class ForeignBatch(NamedTuple):
    """Items of one kind from one file, with their places in it."""

    file: str
    part: str
    header: Mapping[str, Any]
    items: list[Any]
    indexes: list[int]
    sizes: list[int]  #: bytes of each item

    def add(self, item: Any, index: int, size: int) -> None:  # noqa: ANN401
        """Add an item and its place."""
        self.items.append(item)
        self.indexes.append(index)
        self.sizes.append(size)

    def params(self) -> dict[str, Any]:
        """Return it as one of the request's parts."""
        name = os.path.basename(self.file).encode(errors="replace").decode()  # noqa: PTH119
        source = {"name": name[:255], "header": self.header}
        return {"part": self.part, "source": source, "items": self.items}


def find(path: str) -> list[str]:
    """Return the files to import at *path*: itself, or those in the folder.

    Raises:
        Unusable: If there is nothing of the kind.
    """
    place = Path(path)
    try:
        if not place.is_dir():
            place.stat()
            return [str(place)]
        names = sorted(entry.name for entry in place.iterdir())
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
    found = [str(place / name) for name in names if name.endswith((_NEWER, _OLDER))]
    graphs = (place / "graph" / _GRAPH, place / _GRAPH)
    found += [str(graph) for graph in graphs if graph.is_file()]
    if not found:
        why = f"no *{_OLDER}, *{_NEWER} or graph/{_GRAPH} in it"
        raise Unusable(path, why, os.EX_NOINPUT)
    return found


def choose(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files that count, and notices about the others.

    Of one nugget the ``.donna.json`` counts, which is the later form, then the one that was named first. Graphs come
    in the order in which their notes count.
    """
    by_name: dict[str, list[str]] = {}
    for path in dict.fromkeys(os.path.realpath(path) for path in paths):
        name = os.path.basename(path)  # noqa: PTH119
        suffix = next((suffix for suffix in (_NEWER, _OLDER) if name.endswith(suffix)), "")
        by_name.setdefault(name.removesuffix(suffix) if suffix else path, []).append(path)
    chosen: list[str] = []
    notices: list[str] = []
    for same in by_name.values():
        same.sort(key=lambda path: not path.endswith(_NEWER))
        chosen.append(same[0])
        notices += [f"{path}: left out, {same[0]} has the same nugget" for path in same[1:]]
    chosen.sort(key=lambda path: not _is_newer_home(path))
    return chosen, notices


def _is_newer_home(path: str) -> bool:
    """Whether a file lies where the later form of Nuggets keeps its own."""
    folder = Path(path).parent
    home = folder.parent if folder.name == "graph" else folder
    return any(home.glob(f"*{_NEWER}"))


def read(path: str) -> ForeignFile:
    """Return the file at *path*.

    Raises:
        Unusable: If it cannot be read, is not JSON, or nothing that is known.
    """
    try:
        content = json.loads(Path(path).read_bytes(), parse_constant=_refuse_constant)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
    except json.JSONDecodeError as error:
        why = f"is not JSON (line {error.lineno}, column {error.colno}); {_EXPECTED}"
        raise Unusable(path, why, os.EX_DATAERR) from error
    except (ValueError, RecursionError) as error:
        raise Unusable(path, f"is not JSON; {_EXPECTED}", os.EX_DATAERR) from error
    part = next((name for name in _LISTS if isinstance(content, dict) and isinstance(content.get(name), list)), None)
    if part is None:
        raise Unusable(path, _EXPECTED, os.EX_DATAERR)
    header = {name: value for name, value in content.items() if name != part}
    if size_of(header) is None:
        raise Unusable(path, "holds text or numbers that JSON cannot say", os.EX_DATAERR)
    return ForeignFile(path, part, header, content[part])


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


class Sorted(NamedTuple):
    """What is to be sent, in that order, and what is not.

    Attributes:
        batches: One for each file and kind of items.
        rejected: (file, part, rejection as the daemon would word it) of items that cannot be sent.
        doubled: By (file, file whose items count), how many notes both have.
    """

    batches: list[ForeignBatch]
    rejected: list[tuple[str, str, dict[str, Any]]]
    doubled: dict[tuple[str, str], int]


def sort(files: Sequence[ForeignFile]) -> Sorted:
    """Put everything in the order in which it is sent: nuggets, notes, facts, and links, which need both ends."""
    found = Sorted([], [], {})
    facts = [file for file in files if file.part == "facts"]
    for file in facts:
        found.batches.append(ForeignBatch(file.path, "nuggets", {}, [file.header], [0], [size_of(file.header) or 0]))
    seen: dict[str, str] = {}
    graphs = [_take(file, seen, found) for file in files if file.part == "notes"]
    found.batches.extend(graphs)
    found.batches.extend(_take(file, {}, found) for file in facts)
    found.batches.extend(map(_links, graphs))
    return found._replace(batches=[batch for batch in found.batches if batch.items])


def _take(file: ForeignFile, seen: dict[str, str], found: Sorted) -> ForeignBatch:
    """The items of a file but those that cannot be sent and those that say once more what another one says."""
    batch = ForeignBatch(file.path, file.part, file.header, [], [], [])
    for index, item in enumerate(file.items):
        size = size_of(item)
        first = _first(file, item, seen)
        if first not in (None, file.path):
            found.doubled[file.path, first] = found.doubled.get((file.path, first), 0) + 1
        elif first is not None or size is None or size > _LARGEST_ITEM:
            why = "stands twice in the file; the first one counts" if first else "cannot be sent: too large, or no text"
            found.rejected.append((file.path, file.part, {"index": index, "error": {**_REFUSED, "message": why}}))
        else:
            batch.add(item, index, size)
    return batch


def _first(file: ForeignFile, item: object, seen: dict[str, str]) -> str | None:
    """The file that had an item of the same name before, if any had."""
    name = item.get(_LISTS[file.part]) if isinstance(item, dict) else None
    if not isinstance(name, str):
        return None
    key = name if file.part == "notes" else name.strip().casefold()
    first = seen.get(key)
    seen.setdefault(key, file.path)
    return first


def _links(notes: ForeignBatch) -> ForeignBatch:
    """The notes once more, with their links and nothing else."""
    batch = notes._replace(part="links", items=[], indexes=[], sizes=[])
    for index, item in zip(notes.indexes, notes.items, strict=True):
        if isinstance(item, dict) and item.get("links"):
            linked = {"id": item.get("id"), "links": item["links"]}
            batch.add(linked, index, size_of(linked) or 0)
    return batch


def requests(batches: Iterable[ForeignBatch], *, items: int = ITEMS, size: int = BYTES) -> Iterator[list[ForeignBatch]]:
    """Cut *batches* into requests of at most so many items and bytes, or of one item."""
    request: list[ForeignBatch] = []
    count = weight = 0
    for batch in batches:
        piece = _empty(batch)
        for item, index, bytes_ in zip(batch.items, batch.indexes, batch.sizes, strict=True):
            if count and (count >= items or weight + bytes_ > size):
                yield [*request, piece] if piece.items else request
                request, piece = [], _empty(batch)
                count = weight = 0
            piece.add(item, index, bytes_)
            count, weight = count + 1, weight + bytes_
        request.append(piece)
    if count:
        yield request


def halves(request: Sequence[ForeignBatch]) -> tuple[list[ForeignBatch], list[ForeignBatch]]:
    """Cut a request of several items in two."""
    total = sum(len(batch.items) for batch in request)
    first, second, *_ = [*requests(request, items=(total + 1) // 2, size=sum(map(_weight, request)) + 1), []]
    return first, second


def _weight(batch: ForeignBatch) -> int:
    return sum(batch.sizes)


def _empty(batch: ForeignBatch) -> ForeignBatch:
    return batch._replace(items=[], indexes=[], sizes=[])


def size_of(value: object) -> int | None:
    """Return how many bytes *value* has as JSON; None if it cannot be said in JSON and UTF-8."""
    try:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())
    except (ValueError, RecursionError):
        return None
