"""Commands on what was done by runs: undo takes it back, runs lists it."""

import os
import sys
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.commands.changing import confirm
from shelfd.client.commands.tending import outcome, time_of
from shelfd.client.failure import RpcFailure
from shelfd.client.hints import command_of
from shelfd.client.invocation import daemon, fail, given
from shelfd.client.output import clean, counted, local_time, notice, print_json, print_table
from shelfd.client.patience import ask_patiently
from shelfd.client.transport import Client
from shelfd.client.undoable import (
    MOST,
    Undoable,
    Undoables,
    command_to_undo,
    look_for,
    look_for_transaction,
    transaction_of,
)

_SHOWN: Final = 20  #: notes that are named, with what they say
#: By the kind of a change of a note, what taking it back makes of the note.
_BACK: Final = {
    "note.created": "is hidden", "note.superseded": "counts again", "note.merged": "loses what it was given",
    "note.hidden": "comes back", "note.restored": "is hidden again", "note.purged": "stays purged",
}  # fmt: skip
_BEFORE: Final = "is what it was before"


def undo(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="A run, or the number of a change of your own; default: the last run or supersession.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be taken back.")] = False,
    yes: options.Yes = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Take back what a run did, but for what was changed since. Prints this undo's own run and what stays.

    Without RUN it is what was done last of these and was not taken back yet: a run (a reflection, a report, an import,
    a rewind, a removal, …), or a change in which a note replaced another. It says which, and asks if there is somebody
    to ask. `shelfd runs` lists them. A number is that of the first change of a transaction: `shelfd log` shows them.

    For example:

      shelfd undo --dry-run

      shelfd undo run-5f0c31a2b4d6

      shelfd undo 1042
    """
    if dry_run:
        with daemon(socket, timeout_s=None) as client:
            _say_what_would_be(client, _look_for(client, shelf, run).first, shelf, run, as_json=as_json)
        return
    chosen = None
    if run is None:
        with daemon(socket, timeout_s=None) as client:
            found = _look_for(client, shelf, run)
        chosen = found.first or fail(f"there is nothing to take back; {_ALL}", os.EX_NOINPUT, "NoRun")
        _ask(chosen, found.latest, shelf, yes=yes)
        run = chosen.name
    result = _taken_back(run, shelf, socket)
    if as_json:
        print_json(result if chosen is None else {**result, "taken_back": _about(chosen)})
        return
    print(f"{result['run_id']}: {result['undone']} undone, {len(result['kept'])} kept")
    if chosen is not None:
        print(f"taken back: {chosen.in_words} ({chosen.name})")
    print_table([(kept["note_id"], kept["field"], kept["why"].replace("_", " ")) for kept in result["kept"]])
    if result.get("more_kept"):
        print(f"and {result['more_kept']} more")


_ALL: Final = "shelfd runs lists what was done, shelfd log all changes"


def _look_for(client: Client, shelf: str, run: str | None) -> Undoables:
    if run is not None and run.isdecimal():
        return look_for_transaction(client, shelf, int(run))
    return look_for(client, shelf, many=1, named=run, offered=run is None)


def _ask(chosen: Undoable, latest: Mapping[str, Any] | None, shelf: str, *, yes: bool) -> None:
    """Say what will be taken back, and ask whether that is meant if there is a person to ask."""
    if latest is not None and latest.get("run_id") is None and latest["tx"] != chosen.tx:
        command = command_to_undo(latest["tx"], shelf)
        notice(f"what was changed later stays; the last of it ({command_of(latest['method'])}): {command}")
    question = f"Take back {chosen.in_words} ({chosen.name})?"
    if yes or sys.stdin is None or not sys.stdin.isatty():
        notice(f"taking back {chosen.in_words} ({chosen.name})")
    else:
        confirm(question, yes=yes)


def _taken_back(run: str, shelf: str, socket: str | None) -> dict[str, Any]:
    method, named = ("undo", {"tx": int(run)}) if run.isdecimal() else ("reflection.undo", {"run_id": run})
    with daemon(socket, timeout_s=None) as client:
        try:
            result: dict[str, Any] = ask_patiently(client, socket, method, {**named, "shelf": shelf})
        except RpcFailure as failure:
            if "tx" in failure.data and (whole := _whole(client, shelf, run)):
                failure.message = whole
            raise
    return result


def _whole(client: Client, shelf: str, run: str | None) -> str:
    """Say of which transaction the change with this number is a part, if it is."""
    tx = transaction_of(client, shelf, int(run)) if run is not None and run.isdecimal() else None
    return "" if tx is None else f"change {run} is a part of transaction {tx}: {command_to_undo(tx, shelf)}"


def _say_what_would_be(client: Client, chosen: Undoable | None, shelf: str, run: str | None, *, as_json: bool) -> None:
    if chosen is None:
        where = "" if run is None else f" that is called {clean(run)} among the last {MOST:,} changes"
        why = _whole(client, shelf, run) or f"there is nothing to take back{where}; {_ALL}"
        fail(why, os.EX_NOINPUT, "NoRun")
    notes = chosen.by_note()
    if as_json:
        changed = [{"note_id": note_id, "changes": kinds} for note_id, kinds in notes.items()]
        print_json({**_about(chosen), "notes": changed})
        return
    done = ", taken back already" if chosen.taken_back else ""
    print(f"would undo {chosen.name}: {chosen.in_words}{done}")
    shown = list(notes.items())[:_SHOWN]
    print_table([(note_id, _back(kinds), _text(client, shelf, note_id)) for note_id, kinds in shown])
    if len(notes) > _SHOWN:
        print(f"and {counted(len(notes) - _SHOWN, 'more note')}")
    for words in chosen.beside_notes():
        print(words)


def _back(kinds: list[str]) -> str:
    if "note.created" in kinds:
        return _BACK["note.created"]
    return ", ".join(dict.fromkeys(_BACK.get(kind, _BEFORE) for kind in reversed(kinds)))


def _text(client: Client, shelf: str, note_id: str) -> str:
    try:
        note = client.call("note.get", {"id": note_id, "shelf": shelf})["note"]
    except RpcFailure:
        return "(is not there any more)"
    return str(note["content"])


def _about(one: Undoable) -> dict[str, Any]:
    """What there is to say of a run or a transaction, for a program."""
    return {
        "run_id": one.run_id,
        "tx": one.tx if one.run_id is None else None,
        "method": one.method,
        "principal": one.principal,
        "at": one.at,
        "changes": len(one.changes),
        "undone": one.taken_back,
    }


def runs(
    job: Annotated[str | None, typer.Option("--job", metavar="NAME", help="Only this scheduled job.")] = None,
    limit: options.Limit = 20,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show which runs there were, the last one first. `shelfd undo RUN` takes one back.

    Beside the scheduled jobs these are reports, imports, rewinds and whatever else is taken back as a whole, and
    changes in which a note replaced another, which go by their number.

    For example:

      shelfd runs

      shelfd runs --job reflection --limit 5
    """
    with daemon(socket, timeout_s=None) as client:
        result = client.call("scheduler.history", given({"job": job, "limit": limit, "shelf": shelf}))
        done = list(look_for(client, shelf, many=limit)) if job is None else []
    if as_json:
        print_json(result if job is not None else {**result, "undoable": [_about(one) for one in done]})
        return
    rows = sorted(_rows(result["runs"], done), key=itemgetter(0), reverse=True)[:limit]
    if not rows:
        notice("no runs yet")
    print_table((row for _at, row in rows), header=("started", "what", "by", "status", "run", "slot"))


def _rows(scheduled: list[dict[str, Any]], done: list[Undoable]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Iterate over the rows of the table, each after the moment by which they are in order."""
    undone = {one.run_id for one in done if one.taken_back}
    for run in scheduled:
        status = outcome(run) + (", taken back" if run["run_id"] in undone else "")
        at = run["started_at"] or run["planned_at"] or ""
        yield at, (time_of(run["started_at"]), run["job"], run["reason"], status, run["run_id"], run["slot"])
    named = {run["run_id"] for run in scheduled}
    for one in done:
        if one.run_id not in named:
            status = one.extent + (", taken back" if one.taken_back else "")
            yield one.at, (local_time(one.at), one.what, clean(one.principal), status, one.name, None)
