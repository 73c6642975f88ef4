"""Opaque cursors: where the next page begins, stable while others write."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from shelfd.memory.errors import InvalidParams

_LARGEST = 2**63 - 1  #: more is no row, time or sequence number, and no store takes it


def encode(*position: int | str) -> str:
    """Return *position* as a cursor."""
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_numbers(cursor: str | None, count: int) -> tuple[int, ...] | None:
    """Return the *count* numbers in a cursor; None for no cursor.

    Raises:
        InvalidParams: If it is not a cursor of this kind.
    """
    position = _decode(cursor)
    if position is None:
        return None
    numbers = tuple(value for value in position if type(value) is int and 0 <= value <= _LARGEST)
    if len(numbers) != count or len(position) != count:
        raise not_a_cursor()
    return numbers


def decode_text(cursor: str | None) -> str | None:
    """Return the text in a cursor; None for no cursor.

    Raises:
        InvalidParams: If it is not a cursor of this kind.
    """
    position = _decode(cursor)
    if position is None:
        return None
    if len(position) != 1 or not isinstance(position[0], str):
        raise not_a_cursor()
    return position[0]


def _decode(cursor: str | None) -> list[object] | None:
    if cursor is None:
        return None
    try:
        position = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        raise not_a_cursor() from None
    if not isinstance(position, list):
        raise not_a_cursor()
    return position


def not_a_cursor() -> InvalidParams:
    """Return the complaint about a cursor that a method did not give."""
    return InvalidParams("cursor: is not one that this method gave", field="cursor")
