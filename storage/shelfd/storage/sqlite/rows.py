"""How records lie in SQLite's columns: one tuple each way, in the order of the SQL next to it."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from shelfd.memory.notes.note import NO_EXTRA, Link, Note, Nugget, Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.log import LogRow, Origin
from shelfd.memory.ports.tending import Tended
from shelfd.storage.encoding import decode, decode_strings, encode, encode_strings

Columns: TypeAlias = tuple[Any, ...]

#: In the order of the record's fields, which is not the order in the file.
NOTE_COLUMNS: Final = ", ".join(Note._fields)
LINK_COLUMNS: Final = ", ".join(Link._fields)
NUGGET_COLUMNS: Final = ", ".join(Nugget._fields)
USAGE_COLUMNS: Final = ", ".join(Usage._fields)
RUN_COLUMNS: Final = ", ".join(Run._fields)
JOB_COLUMNS: Final = ", ".join(Job._fields)
TENDED_COLUMNS: Final = "nugget, changed_at, changed, again_at, again, served_at"
LOG_COLUMNS: Final = (
    "seq, tx, tx_size, at, principal, method, request_id, session_id, turn, run_id, kind, nugget, note, ids, before"
)

_TAGS: Final = Note._fields.index("tags")
_PINNED: Final = Note._fields.index("pinned")
_EXTRA: Final = Note._fields.index("extra")
_JOB_JSON: Final = ("params", "cursor", "result")


def placeholders(columns: str) -> str:
    """Return as many question marks as *columns* names."""
    return ", ".join("?" * (columns.count(",") + 1))


def note_to_columns(note: Note) -> Columns:
    """Return a note as NOTE_COLUMNS."""
    return (
        *note[:_TAGS],
        encode_strings(note.tags) if note.tags else None,
        *note[_TAGS + 1 : _PINNED],
        1 if note.pinned else 0,  # sqlite3 binds an int at once and asks its adapters about a bool
        *note[_PINNED + 1 : _EXTRA],
        encode(note.extra) if note.extra else None,
    )


def note_from_columns(columns: Columns) -> Note:
    """Return the note in NOTE_COLUMNS."""
    values = list(columns)
    tags, extra = values[_TAGS], values[_EXTRA]
    values[_TAGS] = () if tags is None else decode_strings(tags)
    values[_PINNED] = values[_PINNED] == 1
    values[_EXTRA] = NO_EXTRA if extra is None else decode(extra)
    return Note._make(values)


def log_to_columns(row: LogRow) -> Columns:
    """Return a log row as LOG_COLUMNS."""
    return (
        *row[:4],  # seq, tx, tx_size, at
        *row.origin,
        row.kind,
        row.nugget,
        row.row,
        encode_strings(row.ids),
        None if row.before is None else encode(row.before),
    )


def log_from_columns(columns: Columns) -> LogRow:
    """Return the log row in LOG_COLUMNS."""
    seq, tx, tx_size, at = columns[:4]
    kind, nugget, note, ids, before = columns[10:]
    return LogRow(
        seq,
        tx,
        tx_size,
        at,
        Origin(*columns[4:10]),
        kind,
        nugget,
        decode_strings(ids),
        note,
        None if before is None else decode(before),
    )


def run_to_columns(run: Run) -> Columns:
    """Return a run as RUN_COLUMNS."""
    return (*run[:-1], encode(run.result) if run.result else None)


def run_from_columns(columns: Columns) -> Run:
    """Return the run in RUN_COLUMNS."""
    *values, result = columns
    return Run._make((*values, NO_EXTRA if result is None else decode(result)))


def job_to_columns(job: Job) -> Columns:
    """Return a job as JOB_COLUMNS."""
    return tuple(_encoded(value) if name in _JOB_JSON else value for name, value in job._asdict().items())


def job_from_columns(columns: Columns) -> Job:
    """Return the job in JOB_COLUMNS."""
    named = zip(Job._fields, columns, strict=True)
    return Job._make(_decoded(value) if name in _JOB_JSON else value for name, value in named)


def _encoded(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else encode(value)


def _decoded(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else decode(text)


def tended_to_columns(tended: Tended) -> Columns:
    """Return a position of reflection as TENDED_COLUMNS."""
    return (tended.nugget, *tended.changed, *tended.again, tended.served_at)


def tended_from_columns(columns: Columns) -> Tended:
    """Return the position of reflection in TENDED_COLUMNS."""
    nugget, changed_at, changed, again_at, again, served_at = columns
    return Tended(nugget, (changed_at, changed), (again_at, again), served_at)
