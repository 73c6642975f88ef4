"""Backups in memory: rows of a shelf at one moment, by path."""

from hashlib import sha256
from typing import NamedTuple

from shelfd.memory.errors import InvalidParams, NotFound
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.ports.backups import Backup, BackupPlan, Manifest, NewBackup
from shelfd.memory.ports.view import View
from shelfd.storage.inmemory.tables import Tables

DIRECTORY = "/backups"


class _Kept(NamedTuple):
    backup: Backup
    tables: Tables


class InMemoryBackups:
    """The twin of directories with backups, shared by all stores of a process."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def directory(self, shelf: str) -> str:
        """Return the shelf's own directory."""
        return f"{DIRECTORY}/{shelf}"

    def of(self, shelf: str) -> list[Backup]:
        """Return the backups in a shelf's own directory, the last one first."""
        return [kept.backup for kept in reversed(self._kept.values()) if self._is_own(kept.backup, shelf)]

    def _is_own(self, backup: Backup, shelf: str) -> bool:
        return backup.manifest.shelf == shelf and backup.path.startswith(f"{self.directory(shelf)}/")

    def make(self, plan: BackupPlan, tables: Tables, view: View, now: int) -> NewBackup:
        """Keep a copy of *tables*, which *view* shows."""
        for kept in self._kept.values():
            if kept.backup.manifest.run_id == plan.run_id:
                return NewBackup(kept.backup, ())
        copy = tables.copy()
        copy.jobs.pop(plan.job_id, None)
        seq, said = tables.last_seq, logical_hash(view)
        number = len(self._kept) + 1
        path = plan.to or f"{self.directory(plan.shelf)}/{plan.shelf}-{number}-{seq}.db"
        if not path.startswith("/"):
            raise InvalidParams("to: is no absolute path", field="to")
        if path in self._kept:
            raise InvalidParams("to: there is a file already; nothing is ever overwritten", field="to")
        digest = sha256(said.encode()).hexdigest()
        manifest = Manifest(plan.shelf, seq, 0, "", plan.instance, now, 0, digest, said, plan.run_id)
        self._kept[path] = _Kept(Backup(path, manifest), copy)
        removed = [] if plan.to is not None else [old.path for old in self.of(plan.shelf)[plan.keep :] if plan.keep]
        for old in removed:
            del self._kept[old]
        return NewBackup(Backup(path, manifest), tuple(removed))

    def take(self, path: str, *, shelf: str, owner: str | None) -> tuple[Backup, Tables]:
        """Return a backup and a copy of its rows, as those of *shelf*.

        Raises:
            NotFound: If there is none.
        """
        if path not in self._kept:
            raise NotFound(f"there is no backup {path!r}", field="backup")
        backup, tables = self._kept[path]
        copy = tables.copy()
        copy.meta.update(shelf=shelf, **({} if owner is None else {"owner": owner}))
        return backup, copy
