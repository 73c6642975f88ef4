"""The WHERE clause of a listing."""

from typing import Any, Final

from shelfd.memory.view import NoteFilter

#: A note needs review when it is doubtful or has been rewritten too often.
_NEEDS_REVIEW: Final = "(confidence < 0.5 OR coalesce(json_extract(extra, '$.evolution_count'), 0) > 5)"
_EQUAL: Final = ("nugget", "subject", "scope", "type", "stability")
_HAS_TAG: Final = (
    "? IN (SELECT value FROM json_each(note.tags) UNION ALL SELECT value FROM json_each(note.extra, '$.derived_tags'))"
)

#: Columns a listing may be ordered by.
ORDERS: Final = frozenset({"updated_at", "row"})


def where(wanted: NoteFilter) -> tuple[str, list[Any]]:
    """Return a condition and its parameters. Its text depends on which filters are set, and on the kind."""
    conditions: list[str] = []
    params: list[Any] = []
    for name in _EQUAL:
        value = getattr(wanted, name)
        if value is not None:
            conditions.append(f"{name} = ?")
            params.append(value)
    if wanted.kind == "fact":  # has a key, and there is an index of those
        conditions.append("key IS NOT NULL")
    elif wanted.kind is not None:
        conditions.append("kind = ?")
        params.append(wanted.kind)
    if not wanted.include_hidden:
        conditions.append("archived_at IS NULL")
    if not wanted.include_superseded:
        conditions.append("superseded_by IS NULL")
    for tag in wanted.tags:
        conditions.append(_HAS_TAG)
        params.append(tag)
    if wanted.needs_review is not None:
        conditions.append(_NEEDS_REVIEW if wanted.needs_review else f"NOT {_NEEDS_REVIEW}")
    return " AND ".join(conditions) or "1", params


def behind(order: str, after: tuple[int, int] | None, *, descending: bool) -> list[tuple[str, list[int]]]:
    """Return the ranges behind *after* in the listing's order, each a condition and its parameters.

    They are read one after another. As one condition, ``(updated_at, row) > (?, ?)``, SQLite would step over every
    note of that same time again for each page, and notes of one transaction have the same time.

    Raises:
        ValueError: If there is no such order.
    """
    if order not in ORDERS:
        raise ValueError(f"notes are not ordered by {order!r}")
    if after is None:
        return [("1", [])]
    comparison = "<" if descending else ">"
    if order == "row":
        return [(f"row {comparison} ?", [after[1]])]
    return [(f"{order} = ? AND row {comparison} ?", list(after)), (f"{order} {comparison} ?", [after[0]])]
