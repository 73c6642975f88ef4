"""What a typed note says, by the columns of its type: its title, its content, its fields and its other names.

``fields.summary`` and the content are one thing, and so are the column ``title`` and the title. A note that was given
neither a content nor a summary says what its fields say, a line for each, so that recall finds it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import InvalidParams, TooLarge
from shelfd.memory.notes.note import EMPTY, Note, fold_key
from shelfd.memory.notes.text import render_fields, tidy_content
from shelfd.memory.sessions.schema import NOTE_COLUMNS, TITLE_COLUMNS, NoteType
from shelfd.memory.shelf.storing import checked_size, too_many, unique_names, with_summary
from shelfd.protocol import Limits

_BETWEEN_NAMES: Final = re.compile(r"[,，;；|、\n]")


class Row(NamedTuple):
    """What a typed note says."""

    title: str = ""
    content: str = ""
    fields: Mapping[str, Any] = EMPTY
    aliases: tuple[str, ...] = ()
    rendered: bool = True  #: the content follows from the fields

    def on(self, note: Note) -> Note:
        """Return *note* saying this."""
        extra = note.extra._replace(fields=self.fields, aliases=self.aliases, rendered=self.rendered)
        return note._replace(title=self.title, content=self.content, extra=extra)


class Said(NamedTuple):
    """What a caller says of a typed note."""

    title: str | None = None
    content: str | None = None
    fields: Mapping[str, Any] = EMPTY  #: None takes a column away
    cleared: Sequence[str] = ()
    aliases: Sequence[str] = ()
    name: str = "fields"  #: what the caller calls the fields


def row_of(note: Note) -> Row:
    """Return what a note says."""
    return Row(note.title, note.content, note.extra.fields, note.extra.aliases, note.extra.rendered)


def summary_of(note: Note) -> str:
    """Return the summary of a note: that among its fields, else its content, else its title.

    A content that only repeats the fields is none.
    """
    summary = note.extra.fields.get("summary")
    if isinstance(summary, str) and summary:
        return summary
    return note.title or note.content if note.extra.rendered else note.content


def fields_shown(note: Note, kind: NoteType | None) -> Mapping[str, Any]:
    """Return a note's fields with the columns of its type that stand for its title and its summary."""
    fields = note.extra.fields
    if kind is None:
        return fields
    missing = [name for name in kind.table_columns if name in NOTE_COLUMNS and name not in fields]
    if not missing:
        return fields
    values = {"title": note.title, "summary": summary_of(note)}
    return {**{name: values[name] for name in missing if values[name]}, **fields}


def write(kind: NoteType | None, old: Row | None, said: Said, limits: Limits) -> Row:
    """Return the row *old* with what is said, or a new one.

    Args:
        kind: Its type; None if the schema has none of that name: then everything is allowed.
        old: None for a note to be made.
        said: What is said of it; what is not stays.
        limits: The configured limits.

    Raises:
        InvalidParams: If the type has no such column, or nothing is said at all.
        TooLarge: If something is larger than a caller may give.
    """
    before = old or Row()
    fields = _fields(kind, before, said)
    title = _title(before, fields, said, limits)
    if "title" in fields:
        fields["title"] = title
    content, rendered = _content(before, fields, said)
    ordered = _in_order(kind, fields)
    if rendered:
        content = checked_size(render_fields(ordered) or title, limits)
    if not content.strip():
        raise InvalidParams("content: give a title, a content or fields", field="content")
    aliases = _aliases(before, fields, said, limits)
    return Row(title, content, with_summary(ordered, content, limits), aliases, rendered)


def _fields(kind: NoteType | None, before: Row, said: Said) -> dict[str, Any]:
    fields = dict(before.fields)
    for column, value in said.fields.items():
        if value is None:
            fields.pop(column, None)
            continue
        _check_known(kind, column, said.name)
        fields[column] = value
    for column in said.cleared:
        if column not in fields and column not in NOTE_COLUMNS:
            _check_known(kind, column, "clear_fields")
        fields.pop(column, None)
    return fields


def _check_known(kind: NoteType | None, column: str, name: str) -> None:
    if kind is not None and not kind.is_known_column(column):
        known = ", ".join(kind.table_columns)
        raise InvalidParams(f"{name}: type {kind.name} has no column but {known}", field=f"{name}.{column[:64]}")


def _title(before: Row, fields: Mapping[str, Any], said: Said, limits: Limits) -> str:
    column = said.fields.get("title")
    if said.title is not None:
        if not said.title:
            raise InvalidParams("title: is blank", field="title")
        if column is not None and fold_key(str(column)) != fold_key(said.title):
            raise InvalidParams(f"title and {said.name}.title differ and are one thing", field=f"{said.name}.title")
        return said.title
    if column is not None:
        return _one_line(column, f"{said.name}.title", limits)
    if before.title and "title" not in said.cleared:
        return before.title
    for name in TITLE_COLUMNS:
        if title := _one_line(fields.get(name), f"{said.name}.{name}", limits):
            return title
    return ""


def _one_line(value: object, field: str, limits: Limits) -> str:
    """A field's value as a title is kept; empty if it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    if len(line.encode()) > limits.title_bytes:
        limit = limits.title_bytes
        raise TooLarge(f"{field}: gives a title of more than {limit} bytes", field=field, limit=limit)
    return line


def _content(before: Row, fields: dict[str, Any], said: Said) -> tuple[str, bool]:
    """The content, and whether it follows from the fields instead."""
    summary = said.fields.get("summary")
    field = f"{said.name}.summary"
    if summary is not None and (not isinstance(summary, str) or not summary.strip()):
        raise InvalidParams(f"{field}: is blank, or not text", field=field)
    if said.content is not None:
        if summary is not None and summary.strip() != said.content.strip():
            raise InvalidParams(f"content and {field} are one thing and differ", field=field)
        return tidy_content(said.content), False
    if summary is not None and "summary" in fields:
        return tidy_content(summary), False
    if "summary" in before.fields and "summary" not in fields:
        return "", True
    return before.content, before.rendered


def _in_order(kind: NoteType | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in the order of the table's columns, then others as they came."""
    if kind is None:
        return dict(fields)
    return {**{name: fields[name] for name in kind.table_columns if name in fields}, **fields}


def names_in(value: object) -> list[str]:
    """Return the names in a field: a list, or a text with commas between them."""
    parts = _BETWEEN_NAMES.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
    names = (" ".join(part.split()) for part in parts if isinstance(part, str))
    return [name for name in names if name and name.isprintable()]


def _aliases(before: Row, fields: Mapping[str, Any], said: Said, limits: Limits) -> tuple[str, ...]:
    if not said.aliases and "aliases" not in fields and "aliases" not in before.fields:
        return before.aliases
    old, new = names_in(before.fields.get("aliases")), names_in(fields.get("aliases"))
    gone = {fold_key(name) for name in old} - {fold_key(name) for name in new}
    aliases = unique_names([*(name for name in before.aliases if fold_key(name) not in gone), *new, *said.aliases])
    if len(aliases) > max(limits.aliases_count, len(before.aliases)):
        raise too_many("aliases", "aliases", limits.aliases_count)
    if any(len(alias.encode()) > limits.title_bytes for alias in aliases):
        limit = limits.title_bytes
        raise TooLarge(f"aliases: one is larger than {limit} bytes", field="aliases", limit=limit)
    return aliases


def missing_columns(kind: NoteType, row: Row) -> list[str]:
    """Return the required columns that a row does not have."""
    return [column for column in kind.required_columns if _is_missing(column, row)]


def _is_missing(column: str, row: Row) -> bool:
    if column == "title":
        return not row.title
    if column == "summary" and (row.title or not row.rendered):
        return False
    value = row.fields.get(column)
    if column == "name" and value is None:
        return not row.title
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def check_required(kind: NoteType | None, old: Row | None, row: Row, said: Said) -> None:
    """Raise unless a row, which was *old*, has the columns that its type requires.

    Raises:
        InvalidParams: If one is missing; one that was missing before can stay so.
    """
    if kind is None:
        return
    missing = missing_columns(kind, row)
    if missing and old is not None:
        lacking = missing_columns(kind, old)
        missing = [column for column in missing if column not in lacking]
    if missing:
        field = f"{said.name}.{missing[0]}"
        raise InvalidParams(
            f"{said.name}: a note of type {kind.name} needs {', '.join(missing)}", field=field, missing=missing
        )
