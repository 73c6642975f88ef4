"""Commands on what the daemon does by itself: reflect, undo, promote, schedule, runs."""

import os
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call
from shelfd.client.output import clean, local_time, notice, print_json, print_table

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]

_DONE = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
_WRITTEN = ("added", "updated", "removed", "fell_out")


def reflect(
    nugget: options.Nugget = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-l", metavar="N", help="Look at this many notes; the settings say how many at most."),
    ] = None,
    dry_run: DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Tidy notes now: archive, rewrite, tag, merge, link. Prints the run and what it did.

    For example:

      shelfd reflect --dry-run

      shelfd reflect --nugget project --limit 5
    """
    params = {"nugget": nugget, "limit": limit, "dry_run": dry_run or None, "shelf": shelf}
    result = call(socket, "reflect", params)
    if as_json:
        print_json(result)
        return
    counts = ", ".join(f"{result[name]} {name}" for name in (*_DONE, "remaining"))
    print(f"{result['run_id'] or 'dry run'}: {counts}")
    print_table([(c["type"], c["nugget"], c["note_id"], c["detail"]) for c in result["changes"]])


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
    rows = [(_time(r["ran_at"]), r["run_id"], r["principal"], _what(r)) for r in result["runs"]]
    print_table(rows, header=("ran", "run", "asked by", "what it did"))


def undo(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A reflection or an undo; `shelfd reflections` has them.")],
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Take back what a run did, but for what was changed since. Prints this undo's own run and what stays.

    For example:

      shelfd undo run-5f0c31a2b4d6
    """
    result = call(socket, "reflection.undo", {"run_id": run, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    print(f"{result['run_id']}: {result['undone']} undone, {len(result['kept'])} kept")
    print_table([(kept["note_id"], kept["field"], kept["why"].replace("_", " ")) for kept in result["kept"]])


def promote(
    project: Annotated[
        str | None, typer.Option("--project", metavar="DIR", help="Write to the memory file of this project.")
    ] = None,
    dry_run: DryRun = False,
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
    result = call(socket, "promote", {"project": absolute, "dry_run": dry_run or None, "shelf": shelf})
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
    rows = [(j["job"], j["cron"], j["tz"], _time(j["next_at"]) or "never", _outcome(j["last"])) for j in result["jobs"]]
    print_table(rows, header=("job", "cron", "zone", "next", "last"))


def runs(
    job: Annotated[str | None, typer.Option("--job", metavar="NAME", help="Only this job.")] = None,
    limit: options.Limit = 20,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show which runs there were, the last one first.

    For example:

      shelfd runs --job reflection --limit 5
    """
    result = call(socket, "scheduler.history", {"job": job, "limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    if not result["runs"]:
        notice("no runs yet")
    rows = [
        (_time(r["started_at"]), r["job"], r["reason"], _outcome(r), r["run_id"], r["slot"]) for r in result["runs"]
    ]
    print_table(rows, header=("started", "job", "reason", "status", "run", "slot"))


def _what(run: dict[str, Any]) -> str:
    counts = [f"{run[name]} {name}" for name in _DONE if run[name]]
    undone = [f"undone by {run['undone_by']}"] if run.get("undone_by") else []
    return clean(", ".join([*counts, *undone])) or "nothing"


def _time(moment: str | None) -> str | None:
    return local_time(moment) if moment else None


def _outcome(run: dict[str, Any] | None) -> str:
    if run is None:
        return "not run yet"
    words = [run["status"], *([f"({run['error']})"] if run.get("error") else [])]
    finished = _time(run.get("finished_at"))
    return clean(" ".join([*words, *([finished] if finished else [])]))
