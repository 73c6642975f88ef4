"""Backups: what a store makes of a shelf, and what its stores put in a shelf's place."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from shelfd.protocol import from_micros

#: Is told how many bytes are copied, and of how many. Called on the event loop.
Report: TypeAlias = Callable[[int, int], None]


class Manifest(NamedTuple):
    """What is said of a backup, beside it. Times are microseconds since 1970 UTC."""

    shelf: str
    seq: int  #: the last change that is in it
    schema: int
    version: str  #: of shelfd
    instance: str
    made_at: int
    size: int  #: bytes
    sha256: str  #: of the file
    logical_hash: str  #: of what the shelf says
    run_id: str  #: of the job that made it


class Backup(NamedTuple):
    """A backup that is whole, and where it is."""

    path: str
    manifest: Manifest

    def view(self) -> dict[str, Any]:
        """Return it as it goes over the wire."""
        manifest = self.manifest
        return {
            "path": self.path,
            "shelf": manifest.shelf,
            "seq": manifest.seq,
            "schema_version": manifest.schema,
            "shelfd": manifest.version,
            "instance": manifest.instance,
            "made_at": from_micros(manifest.made_at),
            "bytes": manifest.size,
            "sha256": manifest.sha256,
            "logical_hash": manifest.logical_hash,
        }


class BackupPlan(NamedTuple):
    """A backup that is to be made."""

    shelf: str
    instance: str
    run_id: str
    job_id: str  #: of the job that makes it, which is not in the backup
    to: str | None = None  #: a directory, or a file that is not there yet; None: the shelf's own directory of backups
    keep: int | None = None  #: how many of the shelf's backups stay in the directory; None: all


class NewBackup(NamedTuple):
    """A backup that was made, and the paths of those that made way."""

    backup: Backup
    removed: tuple[str, ...]


class Prepared(NamedTuple):
    """A backup that was checked and copied to where it can take a shelf's place."""

    shelf: str
    place: str  #: the copy
    backup: Backup
