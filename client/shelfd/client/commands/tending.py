"""Commands on what the daemon does by itself: reflect, promote, schedule."""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call, daemon, fail, given
from shelfd.client.output import clean, counted, local_time, notice, print_json, print_table
from shelfd.client.patience import call_patiently
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import warn
from shelfd.client.transport import Client

_STILL: Final = 20  #: reflections in a row with as much left to do: it does not come to an end

_DONE = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
_WRITTEN = ("added", "updated", "removed", "fell_out")


def reflect(
    nugget: options.Nugget = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-k", metavar="N", help="At most this many notes; the settings say how many at most."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Go on until nothing is left to do.")] = False,
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Tidy notes now: archive, rewrite, tag, merge, link. Prints the run, what it did, and how much is left.

    For example:

      shelfd reflect --dry-run

      shelfd reflect --nugget project --limit 5

      shelfd reflect --all
    """
    params = given({"nugget": nugget, "limit": limit, "dry_run": dry_run or None, "shelf": shelf})
    if everything:
        if dry_run:
            fail("--all goes on from what was done, and --dry-run does nothing", os.EX_USAGE)
        _reflect_on_all(socket, params, as_json=as_json)
        return
    result = call_patiently(socket, "reflect", params)
    if as_json:
        print_json(result)
        return
    print(f"{result['run_id'] or 'dry run'}: {_counts(result)}")
    print_table([(c["type"], c["nugget"], c["note_id"], c["detail"]) for c in result["changes"]])
    if result["remaining"] and not dry_run:
        notice(f"{_left(result['remaining'])} left to look at: shelfd reflect --all goes on")


def _left(remaining: int) -> str:
    return f"{counted(remaining, 'note')} {'is' if remaining == 1 else 'are'}"


def _counts(result: Mapping[str, Any]) -> str:
    return ", ".join(f"{result[name]} {name}" for name in (*_DONE, "remaining"))


def _reflect_on_all(socket: str | None, params: Mapping[str, Any], *, as_json: bool) -> None:
    """Reflect again and again, and say what that did altogether."""
    total: dict[str, Any] = {"runs": [], **dict.fromkeys((*_DONE, "held_back", "remaining"), 0)}
    try:
        with daemon(socket, timeout_s=None) as client, ProgressLine("notes") as line:
            for result in _reflections(client, params):
                total["runs"].append(result["run_id"])
                total |= {name: total[name] + result[name] for name in (*_DONE, "held_back")}
                total["remaining"] = result["remaining"]
                line.update(total["inspected"], total["inspected"] + result["remaining"])
    except KeyboardInterrupt:
        warn(f"interrupted: {counted(len(total['runs']), 'run')}, {_counts(total)}; what they did stays")
        raise
    if as_json:
        print_json(total)
        return
    print(f"{counted(len(total['runs']), 'run')}: {_counts(total)}")
    for run_id in total["runs"]:
        print(run_id)
    if total["remaining"]:
        warn("it does not come to an end: each run finds as much to do as the one before")


def _reflections(client: Client, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    least, still = None, 0
    while still < _STILL:
        result = client.call("reflect", params)
        yield result
        remaining = result["remaining"]
        still, least = (0, remaining) if least is None or remaining < least else (still + 1, least)
        if not remaining or (still and not any(result[name] for name in _DONE[1:])):
            return


def reflections(
    limit: options.Limit = 20,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what past reflections did, the last one first.

    For example:

      shelfd reflections --limit 5
    """
    result = call(socket, "reflection.history", {"limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    if not result["runs"]:
        notice("no reflections yet")
    rows = [(time_of(r["ran_at"]), r["run_id"], r["principal"], _what(r)) for r in result["runs"]]
    print_table(rows, header=("ran", "run", "asked by", "what it did"))


def promote(
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Write to the memory file of this project.")
    ] = None,
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Write what was recalled in three or more sessions to MEMORY.md. Prints the file and what changed in it.

    For example:

      shelfd promote --dry-run

      shelfd promote --project .
    """
    # The daemon runs in another directory than we do.
    absolute = os.path.abspath(os.path.expanduser(project)) if project is not None else None  # noqa: PTH100, PTH111
    result = call_patiently(socket, "promote", {"project": absolute, "dry_run": dry_run or None, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    counts = ", ".join(f"{result[name]} {name.replace('_', ' ')}" for name in _WRITTEN if name in result)
    where = result["path"] or f"nothing written ({result.get('reason', 'no file')})"
    print(f"{clean(where)}: {'dry run, ' if dry_run else ''}{counts}")
    print_table([(f"  {clean(name)}", lines) for name, lines in result["sections"].items()])


def schedule(
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what runs by itself: when next, and how it went last.

    For example:

      shelfd schedule
    """
    result = call(socket, "scheduler.jobs", {"shelf": shelf})
    if as_json:
        print_json(result)
        return
    rows = [
        (j["job"], j["cron"], j["tz"], time_of(j["next_at"]) or "never", outcome(j["last"])) for j in result["jobs"]
    ]
    print_table(rows, header=("job", "cron", "zone", "next", "last"))


def _what(run: dict[str, Any]) -> str:
    counts = [f"{run[name]} {name}" for name in _DONE if run[name]]
    undone = [f"undone by {run['undone_by']}"] if run.get("undone_by") else []
    return clean(", ".join([*counts, *undone])) or "nothing"


def time_of(moment: str | None) -> str | None:
    """Return a moment in this machine's zone, if there is one."""
    return local_time(moment) if moment else None


def outcome(run: Mapping[str, Any] | None) -> str:
    """Return in words how a run of a scheduled job ended, and when."""
    if run is None:
        return "not run yet"
    words = [run["status"], *([f"({run['error']})"] if run.get("error") else [])]
    finished = time_of(run.get("finished_at"))
    return clean(" ".join([*words, *([finished] if finished else [])]))
