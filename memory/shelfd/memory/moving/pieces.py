"""A request of items cut into pieces that are one step each, and the outcomes of the pieces combined.

Pieces of a part have the part's number times :data:`_PARTS` plus their own; the last number of a part is for items
that have to wait until all others of it are there. Piece 0 is what all of them need.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pydantic_core import to_json

from shelfd.memory.moving import FORMATS
from shelfd.protocol.methods.importing import ImportPart, ShelfImportParams

#: Items, links or turns, and bytes of one piece: some milliseconds of the writer. A single item may have more, and of a
#: format whose items take less time there are more. The command sends as many items of a kind together, and recall's
#: index takes in as many notes at a time.
ITEMS: Final = 168
LINKS: Final = 150
BYTES: Final = 512 * 1024
_PARTS: Final = 100_000
_COUNTS: Final = ("created", "updated", "unchanged")

Piece = dict[str, Any]


def count_items(params: ShelfImportParams) -> int:
    """Return how many items a request has."""
    return sum(len(part.items) for part in params.parts)


def items_of(format_: str) -> int:
    """Return how many items of a format are one piece at most."""
    return ITEMS * FORMATS[format_].times


def cut(params: ShelfImportParams) -> dict[int, Piece]:
    """Return the pieces of a request by their numbers."""
    most = items_of(params.format)
    pieces: dict[int, Piece] = {0: _shared(params)}
    for number, part in enumerate(params.parts, 1):
        for count, (first, items, weight) in enumerate(_slices(part.items, most, _weight_of(params, part))):
            piece = _piece(part, first, items)
            pieces[number * _PARTS + count] = {**piece, "weight": weight}
    return pieces


def as_one_step(params: ShelfImportParams) -> dict[int, Piece] | None:
    """Return the pieces of a request that is as little as one piece may be; None if it is more."""
    given = [item for part in params.parts for item in part.items]
    if len(given) > items_of(params.format):
        return None
    links = sum(sum(map(_weight_of(params, part), part.items)) for part in params.parts)
    if links > LINKS or len(to_json(given)) > BYTES:
        return None
    parts = {number * _PARTS: _piece(part, 0, part.items) for number, part in enumerate(params.parts, 1) if part.items}
    return {0: _shared(params), **parts}


def _shared(params: ShelfImportParams) -> Piece:
    """What all pieces need."""
    sources = [part.source.model_dump() for part in params.parts]
    return {"format": params.format, "known": dict(params.known), "sources": sources}


def _piece(part: ImportPart, first: int, items: list[Any]) -> Piece:
    return {"part": part.part, "indexes": list(range(first, first + len(items))), "items": items}


def _weight_of(params: ShelfImportParams, part: ImportPart) -> Callable[[object], int]:
    """What counts the links or turns that an item of a part makes."""
    return partial(FORMATS[params.format].weigh, part.part)


def _slices(
    items: Sequence[object], most: int, count_links: Callable[[object], int]
) -> Iterator[tuple[int, list[object], tuple[int, int]]]:
    """Yield where each slice begins, what is in it, and how many links or turns and bytes these are."""
    first, links, size = 0, 0, 0
    for index, item in enumerate(items):
        more, weight = count_links(item), len(to_json(item))
        if index > first and (index - first >= most or links + more > LINKS or size + weight > BYTES):
            yield first, list(items[first:index]), (links, size)
            first, links, size = index, 0, 0
        links += more
        size += weight
    if first < len(items):
        yield first, list(items[first:]), (links, size)


def added(
    weight: tuple[int, int, int], piece: Mapping[str, Any], weigh: Callable[[str, object], int]
) -> tuple[int, int, int]:
    """Return items, links or turns, and bytes, with those of a piece."""
    items, links, size = weight
    given = piece["items"]
    if (known := piece.get("weight")) is None:  # of items that had to wait
        known = sum(weigh(piece["part"], item) for item in given), sum(len(to_json(item)) for item in given)
    return items + len(given), links + known[0], size + known[1]


def is_full(weight: tuple[int, int, int], most: int) -> bool:
    """Return whether nothing can be added to that, of *most* items."""
    items, links, size = weight
    return items >= most or links >= LINKS or size >= BYTES


def is_too_much(weight: tuple[int, int, int], most: int) -> bool:
    """Return whether that is more than one piece may have, of *most* items."""
    items, links, size = weight
    return items > most or links > LINKS or size > BYTES


def part_of(number: int) -> int:
    """Return the place in the request of the part whose piece *number* is."""
    return number // _PARTS - 1


def waiting_of(number: int) -> int:
    """Return the number of the piece for items of the same part that wait for others of it."""
    return (number // _PARTS + 1) * _PARTS - 1


def combine(parts: Sequence[str], outcomes: Iterable[tuple[int, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the outcome of each part.

    Args:
        parts: The kind of each.
        outcomes: The outcome of each piece, by the piece's number.
    """
    accounts: list[dict[str, Any]] = [
        {"part": part, **dict.fromkeys(_COUNTS, 0), "kept": [], "rejected": [], "purge": [], "not_kept": []}
        for part in parts
    ]
    for number, outcome in outcomes:
        account = accounts[part_of(number)]
        for name in _COUNTS:
            account[name] += outcome[name]
        for name in ("kept", "rejected", "purge"):
            account[name] += outcome.get(name, ())
        for loss in outcome["not_kept"]:
            known = (one for one in account["not_kept"] if (one["field"], one["why"]) == (loss["field"], loss["why"]))
            if (same := next(known, None)) is None:
                account["not_kept"].append({**loss, "indexes": list(loss["indexes"])})
            else:
                same["indexes"] += loss["indexes"]
    for account in accounts:
        if not account["purge"]:
            del account["purge"]
        account["rejected"].sort(key=lambda one: one["index"])
    return accounts
