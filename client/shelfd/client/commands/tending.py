"""Commands on what the daemon does by itself: reflect, undo, promote, schedule, runs."""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import call, daemon, fail, given
from shelfd.client.output import clean, local_time, notice, print_json, print_table
from shelfd.client.patience import ask_patiently, call_patiently
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import warn
from shelfd.client.transport import Client

_STILL: Final = 20  #: reflections in a row with as much left to do: it does not come to an end
_PAGE: Final = 1000
_PAGES: Final = 50  #: of events that are looked through for the last run
_NOT_IN_LOG: Final = -32013
#: What a run ends with that is not taken back by asking for the last one: a file was written, text is gone.
_NOT_BY_DEFAULT: Final = ("promotion.completed", "note.purged", "note.promoted")
#: What events of a run begin with that are no change of a note.
_NO_CHANGE: Final = ("reflection.", "schedule.", "context.")

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
        notice(f"{result['remaining']} notes are left to look at: shelfd reflect --all goes on")


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
        warn(f"interrupted: {len(total['runs'])} runs, {_counts(total)}; what they did stays")
        raise
    if as_json:
        print_json(total)
        return
    print(f"{len(total['runs'])} runs: {_counts(total)}")
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
    rows = [(_time(r["ran_at"]), r["run_id"], r["principal"], _what(r)) for r in result["runs"]]
    print_table(rows, header=("ran", "run", "asked by", "what it did"))


def undo(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="A run, or the number of a change of your own; default: the last run."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which run it would be.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Take back what a run did, but for what was changed since. Prints this undo's own run and what stays.

    Without RUN it is the last run that was not taken back yet: a reflection, a rewind, a removal, …
    A number is that of the first change of a transaction: `shelfd log` shows them.

    For example:

      shelfd undo

      shelfd undo run-5f0c31a2b4d6

      shelfd undo 1042
    """
    with daemon(socket, timeout_s=None) as client:
        if run is None:
            run = _last_run(client, shelf)
            notice(f"the last run is {run}")
        if dry_run:
            print_json({"run_id": run}) if as_json else print(f"would undo {clean(run)}")
            return
        method, named = ("undo", {"tx": int(run)}) if run.isdecimal() else ("reflection.undo", {"run_id": run})
        result = ask_patiently(client, socket, method, {**named, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    print(f"{result['run_id']}: {result['undone']} undone, {len(result['kept'])} kept")
    print_table([(kept["note_id"], kept["field"], kept["why"].replace("_", " ")) for kept in result["kept"]])
    if result.get("more_kept"):
        print(f"and {result['more_kept']} more")


def _last_run(client: Client, shelf: str) -> str:
    """Return the last run that changed something, stands, and is no undo itself.

    Raises:
        Stop: If there is none among the latest changes.
    """
    gone: set[str] = set()  # undone, an undo, or of another kind than is meant
    found = None
    for event in _latest_events(client, shelf):
        data, kind = event["data"], event["type"].removeprefix("shelfd.").removesuffix(".v1")
        if (run_id := data.get("run_id")) is None:
            continue
        if kind == "reflection.undone":
            if run_id not in gone:
                gone.add(data["undone_run_id"])
            gone.add(run_id)
        elif kind in _NOT_BY_DEFAULT:
            gone.add(run_id)
        elif run_id not in gone and not kind.startswith(_NO_CHANGE):
            found = str(run_id)
            break
    if found is None:
        fail(
            "there is no run to take back; shelfd reflections and shelfd log name earlier ones", os.EX_NOINPUT, "NoRun"
        )
    return found


def _latest_events(client: Client, shelf: str) -> Iterator[dict[str, Any]]:
    """Iterate over what happened, the last first, as far as the log reaches and is worth a wait."""
    before = client.call("get_stats", {"shelf": shelf})["last_seq"]
    for _ in range(_PAGES if before else 0):
        since = max(0, before - _PAGE)
        try:
            page = client.call("events.since", {"seq": since, "limit": before - since, "shelf": shelf})["events"]
        except RpcFailure as failure:
            if failure.code == _NOT_IN_LOG:
                return
            raise
        yield from reversed(page)
        if (before := since) == 0:
            return


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
