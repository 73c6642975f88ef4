"""Commands on durable background work: jobs, with get, retry and cancel."""

import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call, daemon, given
from shelfd.client.output import clean, local_time, notice, print_json, print_table
from shelfd.client.plain_command import PlainCommand
from shelfd.client.progress import Pace, bar, progress_text
from shelfd.client.terminal import columns_of, cut, is_terminal
from shelfd.client.transport import Client

jobs = typer.Typer(invoke_without_command=True)

JobId = Annotated[str, typer.Argument(metavar="ID", help="A job; `shelfd jobs` has them.")]

_FAR: Final = 70  #: columns for how far a job is
_SHOWN: Final = 20  #: jobs at a time: what has scrolled away cannot be drawn again
_NAMED: Final = 3  #: notes of a job that are named
_LOOK_AGAIN_S: Final = 0.5
_MOST: Final = 1000


@jobs.callback()
def list_jobs(
    context: typer.Context,
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Only what has work left.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay until no work is left, and show how far it is.")] = False,
    limit: options.Limit = 20,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show background work, the last begun first, and how far it is.

    For example:

      shelfd jobs

      shelfd jobs --watch

      shelfd jobs get job-5f0c31a2b4d6
    """
    if context.invoked_subcommand is not None:
        return
    params = {"shelf": shelf, "limit": limit, "unfinished": unfinished or None}
    with daemon(socket) as client:
        if watch:
            _watch(client, shelf)
        result = client.call("job.list", given(params))
    if as_json:
        print_json(result)
        return
    if not result["jobs"]:
        notice("no jobs")
    print_table(_rows(result["jobs"]), header=("begun", "job", "kind", "state", "progress", "on"))


@jobs.command("get", cls=PlainCommand)
def get(
    job_id: JobId, shelf: options.Shelf = "default", socket: options.Socket = None, as_json: options.Json = False
) -> None:
    """Show all there is to say of one job.

    For example:

      shelfd jobs get job-5f0c31a2b4d6
    """
    _show(call(socket, "job.get", {"id": job_id, "shelf": shelf}), as_json=as_json)


@jobs.command("retry", cls=PlainCommand)
def retry(
    job_id: JobId, shelf: options.Shelf = "default", socket: options.Socket = None, as_json: options.Json = False
) -> None:
    """Begin a job again that was given up or ended: it goes on where it was.

    For example:

      shelfd jobs retry job-5f0c31a2b4d6
    """
    _show(call(socket, "job.retry", {"id": job_id, "shelf": shelf}), as_json=as_json)


@jobs.command("cancel", cls=PlainCommand)
def cancel(
    job_id: JobId, shelf: options.Shelf = "default", socket: options.Socket = None, as_json: options.Json = False
) -> None:
    """End a job where it is; what it did stays, and `shelfd undo` takes back its run.

    For example:

      shelfd jobs cancel job-5f0c31a2b4d6
    """
    _show(call(socket, "job.cancel", {"id": job_id, "shelf": shelf}), as_json=as_json)


def _show(result: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    for name, value in result["job"].items():
        shown = local_time(value) if name.endswith("_at") else value
        if name == "progress":
            shown = how_far(value)
        elif isinstance(value, Mapping):
            shown = ", ".join(f"{key} {one}" for key, one in value.items())
        elif isinstance(value, list):
            shown = _some(value)
        print(f"{name.ljust(10)}  {clean(str(shown))}".rstrip())


def _rows(found: Sequence[Mapping[str, Any]]) -> list[Sequence[object]]:
    return [
        (local_time(job["created_at"]), job["id"], job["kind"], _state(job), how_far(job["progress"]), _on(job))
        for job in found
    ]


def _state(job: Mapping[str, Any]) -> str:
    return f"{job['state']} ({clean(job['error'])})" if job.get("error") else str(job["state"])


def _on(job: Mapping[str, Any]) -> str:
    return clean(job.get("nugget") or _some(job["note_ids"]))


def _some(found: Sequence[object]) -> str:
    """Name the first of what may be thousands; ``--json`` has all."""
    named = ", ".join(map(str, found[:_NAMED]))
    return named if len(found) <= _NAMED else f"{named} and {len(found) - _NAMED} more"


def how_far(progress: Mapping[str, int | None]) -> str:
    """Return how far work is: a bar on a terminal, numbers for a program."""
    done, total = progress["done"] or 0, progress.get("total")
    if not total:
        return str(done)
    count = f"{done}/{total}"
    return f"{bar(done, total)} {count}" if is_terminal() else count


def _watch(client: Client, shelf: str) -> None:
    """Wait until no work is left; on a terminal, show how far it is."""
    drawn = 0
    paces: defaultdict[str, Pace] = defaultdict(Pace)
    while found := client.call("job.list", {"shelf": shelf, "unfinished": True, "limit": _MOST})["jobs"]:
        if is_terminal(sys.stderr):
            columns = columns_of(sys.stderr) - 1
            lines = [cut(_watched(job, paces[job["id"]]), columns) for job in found[:_SHOWN]]
            up = f"\x1b[{drawn}A" if drawn else ""
            text = "".join(f"{line}\x1b[K\n" for line in lines)
            print(f"{up}{text}\x1b[J", end="", file=sys.stderr, flush=True)
            drawn = len(lines)
        time.sleep(_LOOK_AGAIN_S)


def _watched(job: Mapping[str, Any], pace: Pace) -> str:
    done = job["progress"]["done"] or 0
    far = progress_text(done, job["progress"].get("total"), pace.rate(done), "", _FAR)
    return f"{job['id']}  {job['kind']}  {_state(job)}  {far}"
