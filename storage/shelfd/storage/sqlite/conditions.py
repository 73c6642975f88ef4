"""What a filter of notes admits, and the order and ranges of a listing, as conditions in SQL."""

from typing import Any, Final

from shelfd.memory.notes.filter import EXACT, NoteFilter
from shelfd.memory.notes.note import QUARANTINED, REVIEW_ABOVE, REVIEW_BELOW
from shelfd.storage.encoding import encode_integers, quote

_NEEDS_REVIEW: Final = (
    f"(confidence < {REVIEW_BELOW} OR coalesce(json_extract(extra, '$.evolution_count'), 0) > {REVIEW_ABOVE})"
)
_QUARANTINED: Final = f"coalesce(json_extract(extra, '$.trust') = '{QUARANTINED}', 0)"
#: Own tags are a JSON array of strings, in which a quoted string is one complete tag. Derived ones lie beside other
#: things: JSON is parsed, which takes long, only where the tag occurs at all.
_HAS_TAG: Final = (
    "(instr(tags, ?) > 0 OR (instr(extra, ?) > 0 AND ? IN (SELECT value FROM json_each(note.extra, '$.derived_tags'))))"
)

#: Columns a listing may be ordered by.
ORDERS: Final = frozenset({"updated_at", "row"})


def where(wanted: NoteFilter) -> tuple[str, list[Any]]:
    """Return what *wanted* admits as a condition and its parameters. Its text depends on which filters are set."""
    found: list[tuple[str, list[Any]]] = [
        (f"{name} = ?", [value])
        for name in EXACT
        if (value := getattr(wanted, name)) is not None and (name, value) != ("kind", "fact")
    ]
    if wanted.kind == "fact":  # has a key, and there is an index of those
        found.append(("key IS NOT NULL", []))
    if not wanted.include_hidden:
        found.append(("archived_at IS NULL", []))
    if not wanted.include_superseded:
        held_once = wanted.as_of is not None
        found.append(("(superseded_by IS NULL OR valid_to IS NOT NULL)" if held_once else "superseded_by IS NULL", []))
    if wanted.as_of is not None:
        found.append(("(valid_from IS NULL OR valid_from <= ?)", [wanted.as_of]))
        found.append(("(valid_to IS NULL OR valid_to > ? OR valid_from = ?)", [wanted.as_of, wanted.as_of]))
    if wanted.below is not None:
        found.append(("row < ?", [wanted.below]))
    if wanted.but:
        found.append(("row NOT IN (SELECT value FROM json_each(?))", [encode_integers(sorted(wanted.but))]))
    if not wanted.include_expired:
        found.append(("(expires_at IS NULL OR expires_at > ?)", [wanted.now]))
    if wanted.since is not None:
        found.append(("coalesce(occurred_at, created_at) >= ?", [wanted.since]))
    if not wanted.has_private:
        found.append(("(scope <> 'session' OR session_id IS NULL OR session_id = ?)", [wanted.session]))
    if wanted.needs_review is not None:
        found.append((_NEEDS_REVIEW if wanted.needs_review else f"NOT {_NEEDS_REVIEW}", []))
    if wanted.quarantined is not None:
        # Most notes have nothing in this column, and to parse it takes as long as all else that is asked of one.
        found.append((_QUARANTINED if wanted.quarantined else f"(extra IS NULL OR NOT {_QUARANTINED})", []))
    found += [_has_tag(tag) for tag in wanted.tags if tag != wanted.nugget]
    return " AND ".join(condition for condition, _ in found) or "1", [value for _, values in found for value in values]


def _has_tag(tag: str) -> tuple[str, list[Any]]:
    conditions, params = ["nugget = ?", _HAS_TAG], [tag, quote(tag), quote(tag), tag]
    if tag.startswith("scope:"):
        conditions.append("scope = ?")
        params.append(tag.removeprefix("scope:"))
    elif tag.startswith("type:"):
        conditions.append("type_tag(type) = ?")
        params.append(tag)
    return f"({' OR '.join(conditions)})", params


def between(
    order: str, after: tuple[int, int] | None, until: tuple[int, int] | None, *, descending: bool
) -> list[tuple[str, list[int]]]:
    """Return the ranges after *after* up to *until* in the listing's order, each a condition and its parameters.

    They are read one after another. As one condition, ``(updated_at, row) > (?, ?)``, SQLite would step over every
    note of that same time again for each page, and notes of one transaction have the same time.

    Raises:
        ValueError: If there is no such order.
    """
    if order not in ORDERS:
        raise ValueError(f"notes are not ordered by {order!r}")
    beyond, up_to = ("<", ">=") if descending else (">", "<=")
    if order == "row":
        bounds = [(f"row {beyond} ?", after), (f"row {up_to} ?", until)]
        given = [(text, place[1]) for text, place in bounds if place is not None]
        return [(" AND ".join(text for text, _ in given) or "1", [value for _, value in given])]
    if after is not None and until is not None and after[0] == until[0]:
        return [(f"{order} = ? AND row {beyond} ? AND row {up_to} ?", [*after, until[1]])]
    ranges: list[tuple[str, list[int]]] = []
    middle: list[tuple[str, int]] = []
    if after is not None:
        ranges.append((f"{order} = ? AND row {beyond} ?", list(after)))
        middle.append((f"{order} {beyond} ?", after[0]))
    if until is not None:
        middle.append((f"{order} {'>' if descending else '<'} ?", until[0]))
    ranges.append((" AND ".join(text for text, _ in middle) or "1", [value for _, value in middle]))
    if until is not None:
        ranges.append((f"{order} = ? AND row {up_to} ?", list(until)))
    return ranges


def direction(order: str, *, descending: bool) -> str:
    """Return the ORDER BY of a listing."""
    way = "DESC" if descending else "ASC"
    return f"row {way}" if order == "row" else f"{order} {way}, row {way}"
