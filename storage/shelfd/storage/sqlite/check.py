"""Is a shelf's file sound? SQLite's own checks and the rules that hold between our tables."""

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from shelfd.memory.ports.store import Clock
from shelfd.storage.sqlite.connection import open_reader
from shelfd.storage.sqlite.database import sqlite3_name
from shelfd.storage.sqlite.images import image_problem

log = structlog.get_logger(__name__)

#: Problems reported of one kind; the first ones show what is wrong.
_REPORTED: Final = 10
#: After a start, before pages are checked in the background.
_LATER: Final = timedelta(seconds=10)


class _Rule(NamedTuple):
    sentence: str  #: what is wrong with %s, and what to do
    query: str  #: names what it is wrong with


_RULES: Final = (
    _Rule(
        "change %s is older than where the change log begins; restore a backup",
        "SELECT seq FROM change WHERE seq <= (SELECT last_seq FROM floor)",
    ),
    _Rule(
        "the change log has a gap before change %s; restore a backup",
        "SELECT seq FROM change WHERE seq > (SELECT min(seq) FROM change) AND seq - 1 NOT IN (SELECT seq FROM change)",
    ),
    _Rule(
        "transaction %s of the change log is incomplete; restore a backup",
        "SELECT tx FROM change GROUP BY tx"
        " HAVING min(seq) <> tx OR count(*) <> max(tx_size) OR min(tx_size) <> max(tx_size)",
    ),
    _Rule(
        "fact %s has no key; export and import the shelf",
        "SELECT id FROM note WHERE kind = 'fact' AND key IS NULL",
    ),
    _Rule(
        "note %s is no fact and has a key; export and import the shelf",
        "SELECT id FROM note WHERE kind <> 'fact' AND key IS NOT NULL",
    ),
    _Rule(
        "note %s is superseded by a note that does not exist; restore it to clear that",
        "SELECT id FROM note WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM note)",
    ),
    _Rule(
        "note %s has a parent that does not exist; edit it to clear that",
        "SELECT id FROM note WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT id FROM note)",
    ),
    _Rule(
        "link %s begins at a note that does not exist; delete the link",
        "SELECT source || ' -> ' || target FROM link WHERE source NOT IN (SELECT id FROM note)",
    ),
    _Rule(
        "link %s ends at a note that does not exist; delete the link",
        "SELECT source || ' -> ' || target FROM link WHERE target NOT IN (SELECT id FROM note)",
    ),
    _Rule(
        "turn %s has not exactly one live variant; session.select_variant names one",
        "SELECT session_id || ' ' || turn FROM variant GROUP BY session_id, turn HAVING sum(is_live) <> 1",
    ),
    _Rule(
        "retraction %s is of changes that are still to come; export and import the shelf",
        "SELECT number FROM retraction WHERE up_to_seq > (SELECT coalesce((SELECT max(seq) FROM change), last_seq)"
        " FROM floor)",
    ),
    _Rule(
        "record %s of what a prompt held names a note that does not exist; export and import the shelf",
        "SELECT number FROM injection WHERE NOT EXISTS"  # while one is purged, that is only to be cleared
        " (SELECT 1 FROM job WHERE kind = 'purge' AND state IN ('queued', 'running', 'waiting'))"
        " AND EXISTS (SELECT 1 FROM json_each(json_array(json(recalled), json(pinned), json(frontier))) AS list,"
        " json_each(list.value) AS named WHERE list.type = 'array' AND named.value NOT IN (SELECT id FROM note))",
    ),
    _Rule(
        "usage is kept of note row %s, which does not exist; export and import the shelf",
        "SELECT note FROM (SELECT note FROM usage UNION SELECT note FROM hit_session)"
        " WHERE note NOT IN (SELECT row FROM note)",
    ),
)


def check_file(path: Path, *, full: bool) -> list[str]:
    """Return what is wrong with a shelf file in words, with what to do; empty if it is sound.

    Takes seconds for a large shelf: not for the loop's thread.

    Args:
        path: The shelf's file.
        full: Whether to compare indexes with their tables and to follow references between rows.
    """
    try:
        reader = open_reader(path)
    except sqlite3.Error as error:
        return [_unreadable(error)]
    try:
        problems = check_rows(reader, full=full)
    except sqlite3.Error as error:
        return [_unreadable(error)]
    finally:
        reader.close()
    if full and (problem := image_problem(path)) is not None:
        problems.append(f"{problem}; nothing is lost: the daemon makes it anew by itself at its next start")
    return problems


def check_rows(connection: sqlite3.Connection, *, full: bool) -> list[str]:
    """Return what is wrong with the shelf on this connection. See :func:`check_file`.

    Raises:
        sqlite3.Error: If it cannot be read, or the check was interrupted.
    """
    pragma = "integrity_check" if full else "quick_check"
    found = [row[0] for row in connection.execute(f"PRAGMA {pragma}({_REPORTED})")]
    problems = [f"the file is damaged ({text}); restore a backup" for text in found if text != "ok"]
    if full and not problems:
        for sentence, query in _RULES:
            rows = connection.execute(f"{query} LIMIT {_REPORTED}").fetchall()
            problems += [sentence % row[0] for row in rows]
    return problems


class BackgroundCheck:
    """The quick check that runs in the background, on an open store, after an unclean stop.

    It begins a while after the start, which needs the processor for what requests wait for.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._reader: sqlite3.Connection | None = None
        self._is_running = self._stopped = False
        self._task = asyncio.create_task(self._run_later(), name=f"shelfd.store.check.{path.parent.name}")

    async def stop(self) -> None:
        """End the check, finished or not. Takes a moment only."""
        self._stopped = True
        if self._reader is not None:
            self._reader.interrupt()
        if not self._is_running:
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _run_later(self) -> None:
        await self._clock.sleep(_LATER)
        self._is_running = True
        await asyncio.to_thread(self._run)

    def _run(self) -> None:
        shelf = self._path.parent.name
        try:
            problems = self._problems()
        except sqlite3.Error as error:
            if not self._stopped:
                log.exception("store.check_failed", shelf=shelf, problems=[_unreadable(error)])
            return
        if problems:
            log.error("store.check_failed", shelf=shelf, problems=problems)
        else:
            log.info("store.checked", shelf=shelf)

    def _problems(self) -> list[str]:
        reader = open_reader(self._path)
        reader.execute("PRAGMA mmap_size = 0")  # else all of the file would count as memory of the daemon
        # An interrupt that comes before its statement is lost; the progress handler sees that stop anyway.
        reader.set_progress_handler(lambda: self._stopped, 100_000)
        self._reader = reader
        try:
            return check_rows(reader, full=False)
        finally:
            self._reader = None
            reader.close()


def _unreadable(error: sqlite3.Error) -> str:
    return f"the file cannot be read ({sqlite3_name(error)}); restore a backup"
