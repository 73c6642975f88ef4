"""Commands on notes that contradict each other: conflicts, with resolve."""

from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import call, daemon
from shelfd.client.output import clean, in_one_line, local_time, notice, print_json
from shelfd.client.plain_command import PlainCommand
from shelfd.client.transport import Client

conflicts = typer.Typer(invoke_without_command=True)


@conflicts.callback()
def list_conflicts(
    context: typer.Context,
    nugget: options.Nugget = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="Those that are resolved.")] = False,
    limit: options.Limit = 20,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show notes that cannot both be true, the last found first.

    For example:

      shelfd conflicts

      shelfd conflicts resolve conflict-memory-1a2b3c4d --keep b
    """
    if context.invoked_subcommand is not None:
        return
    params = {"nugget": nugget, "resolved": resolved or None, "limit": limit, "shelf": shelf}
    result = call(socket, "conflict.list", params)
    if as_json:
        print_json(result)
        return
    if not result["conflicts"]:
        notice("no conflicts")
    for conflict in result["conflicts"]:
        _print(conflict)


@conflicts.command("resolve", cls=PlainCommand)
def resolve(
    conflict: Annotated[str, typer.Argument(metavar="ID", help="A conflict; `shelfd conflicts` has them.")],
    keep: Annotated[str, typer.Option("--keep", metavar="a|b|both", help="The older note, the newer one, or both.")],
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Decide which of two notes counts: it supersedes the other one, or both stay.

    For example:

      shelfd conflicts resolve conflict-memory-1a2b3c4d --keep b
    """
    if keep not in ("a", "b", "both"):
        raise typer.BadParameter("is none of a, b, both", param_hint="--keep")
    with daemon(socket) as client:
        try:
            result = client.call("conflict.resolve", {"id": conflict, "keep": keep, "shelf": shelf})
        except RpcFailure as failure:
            if failure.data.get("reason") == "RESOLVED":
                failure.message += f"; {_how_to_change(client, shelf, conflict)}"
            raise
    if as_json:
        print_json(result)
    else:
        _print(result["conflict"])


def _how_to_change(client: Client, shelf: str, conflict_id: str) -> str:
    from shelfd.client.undoable import command_to_undo, resolving  # for those who have changed their mind

    tx = resolving(client, shelf, conflict_id)
    if tx is None:
        return "shelfd log shows when, and shelfd undo takes that back"
    return f"to decide anew, take that back first: {command_to_undo(tx, shelf)}"


def _print(conflict: dict[str, Any]) -> None:
    state = f"resolved: {conflict['resolution']}" if "resolution" in conflict else clean(conflict["reason"])
    print(f"{conflict['id']}  {clean(conflict['nugget'])}  {state}")
    for name in ("a", "b"):
        note = conflict[name]
        print(f"  {name}  {local_time(note['at'])}  {note['id']}  {in_one_line(note['content'])}")
