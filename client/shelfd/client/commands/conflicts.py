"""Commands on notes that contradict each other: conflicts, with resolve."""

from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call
from shelfd.client.output import clean, local_time, notice, print_json
from shelfd.client.plain_command import PlainCommand

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
    result = call(socket, "conflict.resolve", {"id": conflict, "keep": keep, "shelf": shelf})
    if as_json:
        print_json(result)
    else:
        _print(result["conflict"])


def _print(conflict: dict[str, Any]) -> None:
    state = f"resolved: {conflict['resolution']}" if "resolution" in conflict else clean(conflict["reason"])
    print(f"{conflict['id']}  {clean(conflict['nugget'])}  {state}")
    for name in ("a", "b"):
        note = conflict[name]
        print(f"  {name}  {local_time(note['at'])}  {note['id']}  {clean(' '.join(note['content'].split()))}")
