"""The files of Nuggets: where they lie, which of them count, and in which order their items are sent.

What their members mean is for the daemon to know. Here it is known only which member is the list of items, and by which
member items are distinguished.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shelfd.client import foreign
from shelfd.client.foreign import LARGEST_ITEM, REFUSED, ForeignBatch, Unusable, as_written
from shelfd.client.transport import as_json

#: What other formats' files are called.
_CHATS = (".jsonl", "__floor_log.json")
_ZETTELFORGE = "zettelforge.db"
_NEWER, _OLDER, _GRAPH = ".donna.json", ".nugget.json", "graph.json"
#: By the member that is the list of items: by which member items are distinguished.
_LISTS = {"notes": "id", "facts": "key"}


class ForeignFile(NamedTuple):
    """One file: the kind of its items, the items, and the other members."""

    path: str
    part: str  #: ``notes`` or ``facts``
    header: dict[str, Any]
    items: list[Any]


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
    if _ZETTELFORGE in names:  # what lies beside it is older, or follows from it
        return [str(place / _ZETTELFORGE)]
    graphs = (place / "graph" / _GRAPH, place / _GRAPH)
    found += [str(graph) for graph in graphs if graph.is_file()]
    found += [str(place / name) for name in names if name.endswith(_CHATS)]
    if not found:
        why = f"no *{_OLDER}, *{_NEWER}, graph/{_GRAPH}, {' or '.join(f'*{end}' for end in _CHATS)} in it"
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


def file_of(path: str, document: object) -> ForeignFile:
    """Return the file at *path*, which holds *document*.

    Raises:
        Unusable: If that is no file of Nuggets.
    """
    part = part_of(document)
    if part is None or not isinstance(document, dict):
        raise Unusable(path, foreign.unexpected(document), os.EX_DATAERR)
    header = {name: value for name, value in document.items() if name != part}
    if as_written(header) is None:
        raise Unusable(path, "holds text or numbers that JSON cannot say", os.EX_DATAERR)
    return ForeignFile(path, part, header, document[part])


def part_of(document: object) -> str | None:
    """Return the kind of items that a file has, if it is one of Nuggets."""
    lists = (name for name in _LISTS if isinstance(document, dict) and isinstance(document.get(name), list))
    return next(lists, None)


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
        found.batches.append(ForeignBatch(file.path, "nuggets", {}, [file.header], [0], [as_json(file.header)]))
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
        written = as_written(item)
        first = _first(file, item, seen)
        if first not in (None, file.path):
            found.doubled[file.path, first] = found.doubled.get((file.path, first), 0) + 1
        elif first is not None or written is None or len(written) > LARGEST_ITEM:
            why = "stands twice in the file; the first one counts" if first else "cannot be sent: too large, or no text"
            found.rejected.append((file.path, file.part, {"index": index, "error": {**REFUSED, "message": why}}))
        else:
            batch.add(item, index, written)
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
    batch = notes._replace(part="links", items=[], indexes=[], written=[])
    for index, item in zip(notes.indexes, notes.items, strict=True):
        if isinstance(item, dict) and item.get("links"):
            linked = {"id": item.get("id"), "links": item["links"]}
            batch.add(linked, index, as_json(linked))
    return batch
