"""Commands on whole shelves: back one up, put a backup in its place, rename one."""

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.failure import NotRunning
from shelfd.client.invocation import call, given, reported
from shelfd.client.offline import call_offline
from shelfd.client.output import clean, counted, local_time, notice, print_json, print_table
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import warn
from shelfd.client.terminal import is_terminal
from shelfd.client.transport import connect

DataDir = Annotated[
    str | None, typer.Option("--data-dir", metavar="DIR", help="Work on this directory, which no daemon has open.")
]
Config = Annotated[str | None, typer.Option("--config", metavar="FILE", help="With --data-dir: configuration (TOML).")]
Keep = Annotated[
    int | None, typer.Option("--keep", metavar="N", min=1, help="Remove all but the last N from the directory.")
]
To = Annotated[
    str | None, typer.Argument(metavar="PATH", help="A directory, or a file that is not there; default: [backup].")
]

_LOOK_S: Final = 0.3
_MIB: Final = 1 << 20


def backup(
    to: To = None,
    keep: Keep = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the backups there are.")] = False,
    data_dir: DataDir = None,
    config: Config = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Copy a shelf to a file, complete and checked, while it is in use.

    For example:

      shelfd backup

      shelfd backup /mnt/disk/ --keep 14

      shelfd backup --list
    """
    if list_:
        _list(call(socket, "shelf.backups", {"shelf": shelf}), as_json=as_json)
        return
    params = given({"shelf": shelf, "to": None if to is None else str(Path(to).absolute()), "keep": keep})
    result = _call("shelf.backup", params, socket, data_dir, config)
    if as_json:
        print_json(result)
        return
    made = result["backup"]
    print(f"{clean(made['path'])}  {_size(made['bytes'])}, up to change {made['seq']}")
    for path in result["removed"]:
        print(f"removed  {clean(path)}")


def restore_shelf(
    wanted: str | None,
    *,
    as_shelf: str | None,
    to_seq: int | None,
    discard: bool,
    dry_run: bool,
    data_dir: str | None,
    config: str | None,
    shelf: str,
    socket: str | None,
    as_json: bool,
) -> None:
    """Put a backup in a shelf's place, or take the shelf back, and say what came of it; None is the last backup."""
    if wanted is not None and ("/" in wanted or Path(wanted).exists()):
        wanted = str(Path(wanted).absolute())
    params = given(
        {
            "shelf": shelf, "backup": wanted, "as_shelf": as_shelf, "to_seq": to_seq, "dry_run": dry_run or None,
            "keep_replaced": False if discard else None,
        }
    )  # fmt: skip
    result = _call("shelf.restore", params, socket, data_dir, config)
    if as_json:
        print_json(result)
        return
    _say_restored(result)


def _say_restored(result: Mapping[str, Any]) -> None:
    made = result["backup"]
    verb = "would be" if result["dry_run"] else "is"
    if made is None:
        print(f"shelf {result['shelf']} {verb} what it was, in change {result['seq']}")
    else:
        when = local_time(made["made_at"])
        print(f"shelf {result['shelf']} {verb} the backup of {when}, up to change {result['seq']}")
    if result["replaced"]:
        print(f"what was there is kept: {clean(result['replaced'])}")
    if result["purged_since"]:
        warn(f"purged since, and back; purge them again: {' '.join(result['purged_since'])}")
    for one in result["kept"]:
        warn(f"stays as it is: {one['field']} of {one['note_id']} ({one['why']})")
    for kind, count in result["untouched"].items():
        warn(f"stays as it is: {kind}, {counted(count, 'time')}")


def move(
    to: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    shelf: Annotated[str, typer.Option("--shelf", metavar="NAME", help="The shelf to rename.")],
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Give a shelf another name.

    For example:

      shelfd move archive --shelf work
    """
    result = call(socket, "shelf.move", {"shelf": shelf, "to": to})
    print_json(result) if as_json else print(f"{result['moved_from']} is {result['shelf']} now")


def _list(result: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    if not result["backups"]:
        notice(f"no backups in {clean(result['directory'])}")
    rows = [
        (local_time(one["made_at"]), one["seq"], _size(one["bytes"]), one["shelfd"], clean(one["path"]))
        for one in result["backups"]
    ]
    print_table(rows, header=("made", "change", "size", "shelfd", "file"))


def _call(
    method: str, params: Mapping[str, Any], socket: str | None, data_dir: str | None, config: str | None
) -> Mapping[str, Any]:
    """Have the daemon do it, which may take as long as it takes; without one, on the data directory."""
    if data_dir is not None:
        return dict(call_offline(method, params, data_dir=data_dir, config=config))
    with reported():
        try:
            client = connect(socket, timeout_s=None)
        except NotRunning:
            if socket is not None or os.environ.get("SHELFD_SOCKET"):
                raise
            warn("no daemon is listening: working on the data directory itself")
            return dict(call_offline(method, params, data_dir=None, config=config))
        with client, _Following(socket, str(params["shelf"]), is_on=method == "shelf.backup"):
            return dict(client.call(method, params))


class _Following:
    """Shows on a terminal how far a backup is, by asking on another connection."""

    def __init__(self, socket: str | None, shelf: str, *, is_on: bool) -> None:
        self._params = {"shelf": shelf, "unfinished": True, "limit": 20}
        self._socket = socket
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow) if is_on and is_terminal(sys.stderr) else None

    def __enter__(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        try:
            with connect(self._socket, timeout_s=5) as client, ProgressLine("MiB") as line:
                while not self._ended.wait(_LOOK_S):
                    found = client.call("job.list", self._params)["jobs"]
                    for job in [job for job in found if job["kind"] == "backup"][:1]:
                        total = job["progress"]["total"]
                        line.update((job["progress"]["done"] or 0) // _MIB, None if total is None else total // _MIB)
        except (OSError, RuntimeError):  # how far it is need not be known
            return


def _size(count: int) -> str:
    return f"{count / _MIB:.1f} MiB"
