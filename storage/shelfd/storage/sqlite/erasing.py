"""Takes a note out of a shelf's file for good: its rows, and what the log keeps of it.

The log's rows stay, for their numbers must have no gap; what they replaced is redacted. SQLite overwrites what it
deletes (``secure_delete``), and the WAL, which still holds it, is emptied by :func:`empty_wal` afterwards.
"""

import sqlite3
from typing import Final

from shelfd.memory.log import REDACTED
from shelfd.memory.note import Note
from shelfd.storage.encoding import encode

_REDACTED: Final = encode(REDACTED)
#: What stood in the log before the purge is found by its note's row; its links only by their ends.
_REDACT_LINKS: Final = (
    "UPDATE change SET before = ?1 WHERE kind IN ('link.added', 'link.removed')"
    " AND EXISTS (SELECT 1 FROM json_each(change.ids) WHERE json_each.value = ?2)"
)


def erase(connection: sqlite3.Connection, note: Note) -> None:
    """Delete *note* and all that is about it. Runs inside a transaction; walks the whole log once.

    Raises:
        sqlite3.Error: As SQLite does.
    """
    run = connection.execute
    run("UPDATE floor SET last_row = max(last_row, ?)", (note.row,))  # its number is never given away again
    run("DELETE FROM note WHERE row = ?", (note.row,))
    run("DELETE FROM link WHERE source = ?1 OR target = ?1", (note.id,))
    run("DELETE FROM usage WHERE note = ?", (note.row,))
    run("DELETE FROM hit_session WHERE note = ?", (note.row,))
    run("UPDATE change SET before = ? WHERE note = ?", (_REDACTED, note.row))
    run(_REDACT_LINKS, (_REDACTED, note.id))
    forget_queries(connection, note.id)
    run("DELETE FROM idempotency WHERE instr(outcome, ?) > 0", (f'"{note.id}"',))


def forget_queries(connection: sqlite3.Connection, note_id: str) -> None:
    """Delete the recent queries that found this note.

    Raises:
        sqlite3.Error: As SQLite does.
    """
    connection.execute("DELETE FROM recent_query WHERE instr(ids, ?) > 0", (f'"{note_id}"',))


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Write the WAL back and truncate it; return whether that worked, which a reader at work can prevent."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
