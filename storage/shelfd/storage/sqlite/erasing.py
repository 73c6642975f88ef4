"""Takes a note out of a shelf's file for good: its rows, and what the log keeps of it.

The log's rows stay, for their numbers must have no gap; what they replaced is redacted. SQLite overwrites what it
deletes (``secure_delete``), and the WAL, which still holds it, is emptied by :func:`empty_wal` afterwards.
"""

import sqlite3
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import REDACTED
from shelfd.storage.encoding import encode
from shelfd.storage.sqlite.wal import checkpoint

_REDACTED: Final = encode(REDACTED)
#: The log rows of a note, by its row, and of its links, by their ends: three indexes, merged in order.
_LINKS: Final = "kind IN ('link.added', 'link.removed')"
_ABOUT: Final = (
    "SELECT seq FROM change WHERE note = ?1 AND seq > ?3"  # noqa: S608 (words of ours)
    f" UNION ALL SELECT seq FROM change WHERE {_LINKS} AND json_extract(ids, '$[0]') = ?2 AND seq > ?3"
    f" UNION ALL SELECT seq FROM change WHERE {_LINKS} AND json_extract(ids, '$[1]') = ?2 AND seq > ?3"
    " ORDER BY seq LIMIT ?4"
)
_UNLINK: Final = "DELETE FROM link WHERE row IN (SELECT row FROM link WHERE source = ?1 OR target = ?1 LIMIT ?2)"


def redact_note(connection: sqlite3.Connection, note: Note, *, after: int, limit: int) -> int | None:
    """Redact what the log keeps of *note* and delete its links. Runs inside a transaction; see the port.

    Raises:
        sqlite3.Error: As SQLite does.
    """
    seqs = [row[0] for row in connection.execute(_ABOUT, (note.row, note.id, after, limit))]
    connection.executemany("UPDATE change SET before = ? WHERE seq = ?", [(_REDACTED, seq) for seq in seqs])
    unlinked = connection.execute(_UNLINK, (note.id, limit)).rowcount
    if max(len(seqs), unlinked) < limit:
        return None
    return int(seqs[-1]) if seqs else after


def erase(connection: sqlite3.Connection, note: Note) -> None:
    """Delete *note* and its usage. Runs inside a transaction.

    Raises:
        sqlite3.Error: As SQLite does.
    """
    run = connection.execute
    run("UPDATE floor SET last_row = max(last_row, ?)", (note.row,))  # its number is never given away again
    run("DELETE FROM note WHERE row = ?", (note.row,))
    run("DELETE FROM usage WHERE note = ?", (note.row,))
    run("DELETE FROM hit_session WHERE note = ?", (note.row,))


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Write the WAL back and truncate it; return whether that worked, which a reader at work can prevent."""
    busy, _ = checkpoint(connection, "TRUNCATE")
    return not busy
