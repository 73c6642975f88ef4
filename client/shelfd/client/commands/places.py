"""Commands on where notes are kept: shelves, and nuggets, the topics inside them."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.commands.changing import confirm
from shelfd.client.invocation import call
from shelfd.client.output import clean, counted, notice, print_json, print_table
from shelfd.client.patience import call_patiently
from shelfd.client.plain_command import PlainCommand
from shelfd.client.streams import warn

shelves = typer.Typer(invoke_without_command=True)
nuggets = typer.Typer(invoke_without_command=True)

NewName = Annotated[str, typer.Argument(metavar="NAME", help="Of the new one.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The nugget.")]
TtlDays = Annotated[
    int | None, typer.Option("--ttl-days", metavar="N", min=1, help="Days after which its new notes expire.")
]
MaxFacts = Annotated[
    int | None, typer.Option("--max-facts", metavar="N", min=0, help="A further one hides the oldest; 0: no limit.")
]


@shelves.callback()
def list_shelves(
    context: typer.Context,
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show the shelves you may read, whose, and how they are.

    For example:

      shelfd shelves

      shelfd shelves create work
    """
    if context.invoked_subcommand is not None:
        return
    result = call(socket, "shelf.list", {})
    if as_json:
        print_json(result)
        return
    rows = [(one["shelf"], one["state"], one["owner"]) for one in result["shelves"]]
    print_table(rows, header=("shelf", "state", "owner"))


@shelves.command("create", cls=PlainCommand)
def create_shelf(
    name: NewName,
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Make a shelf; it is yours, and others cannot read it.

    For example:

      shelfd shelves create work
    """
    result = call(socket, "shelf.create", {"shelf": name})
    print_json(result) if as_json else print(f"{clean(result['shelf'])}  created")


@nuggets.callback()
def list_nuggets(
    context: typer.Context,
    limit: options.Limit = 100,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show the nuggets of a shelf, and how much is in each.

    A nugget is a topic: each note belongs to one.

    For example:

      shelfd nuggets

      shelfd nuggets rename project old-project
    """
    if context.invoked_subcommand is not None:
        return
    result = call(socket, "nugget.list", {"limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    rows = [
        (one["name"], one["note_count"] - one["hidden_count"], one["fact_count"], one["hidden_count"], _holds(one))
        for one in result["nuggets"]
    ]
    print_table(rows, header=("nugget", "notes", "facts", "hidden", ""), right=(1, 2, 3))
    if not rows:
        notice("no nuggets; the first note makes one")
    if result.get("next_cursor"):
        notice(f"there are more; --limit shows more than {limit}")


def _holds(nugget: Mapping[str, Any]) -> str:
    """What holds for a nugget beside the defaults."""
    said = [
        f"expires after {counted(nugget['ttl_days'], 'day')}" if nugget.get("ttl_days") else "",
        f"at most {counted(nugget['max_facts'], 'fact')}" if nugget["max_facts"] else "",
        "stays here" if nugget.get("local_only") else "",
        nugget["capacity_warning"],
    ]
    return ", ".join(filter(None, said))


@nuggets.command("create", cls=PlainCommand)
def create_nugget(
    name: NewName,
    ttl_days: TtlDays = None,
    max_facts: MaxFacts = None,
    local_only: Annotated[
        bool, typer.Option("--local-only", help="Its text is never sent to a language model elsewhere.")
    ] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Make a nugget, with settings of its own; the first note in one makes it as well.

    For example:

      shelfd nuggets create diary --local-only
    """
    params = {
        "name": name, "ttl_days": ttl_days, "max_facts": max_facts, "local_only": local_only or None, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "nugget.create", params)
    print_json(result) if as_json else print(f"{clean(result['name'])}  created")


@nuggets.command("edit", cls=PlainCommand)
def edit_nugget(
    nugget: Name,
    ttl_days: TtlDays = None,
    max_facts: MaxFacts = None,
    local_only: Annotated[
        bool | None, typer.Option("--local-only/--not-only-local", help="Whether its text has to stay here.")
    ] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Change what holds for a nugget.

    For example:

      shelfd nuggets edit diary --ttl-days 365
    """
    params = {"name": nugget, "ttl_days": ttl_days, "max_facts": max_facts, "local_only": local_only, "shelf": shelf}
    result = call(socket, "nugget.edit", params)
    print_json(result) if as_json else print(f"{clean(result['name'])}  changed")


@nuggets.command("rename", cls=PlainCommand)
def rename(
    nugget: Name,
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="What it is called from now on.")],
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Give a nugget another name; the ids of its notes stay.

    For example:

      shelfd nuggets rename project old-project
    """
    result = call(socket, "nugget.rename", {"name": nugget, "new_name": new_name, "shelf": shelf})
    print_json(result) if as_json else print(f"{clean(result['name'])}  renamed")


@nuggets.command("remove", cls=PlainCommand)
def remove(
    nugget: Name,
    purge: Annotated[bool, typer.Option("--purge", help="Its notes for good; that cannot be undone.")] = False,
    yes: options.Yes = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Drop a nugget and hide its notes; `shelfd undo` brings them back. Prints how many, and the run.

    For example:

      shelfd nuggets remove scratch

      shelfd nuggets remove scratch --purge
    """
    if purge:
        confirm(f"Purge all notes of nugget {clean(nugget)} for good?", yes=yes)
    params = {"name": nugget, "purge": purge or None, "shelf": shelf}
    result = call_patiently(socket, "nugget.remove", params)
    if as_json:
        print_json(result)
        return
    if purge:
        print(f"{clean(result['removed'])}: {counted(result.get('purged', 0), 'note')} purged")
        print_table([(place, "still holds text of it") for place in result.get("still_in") or ()])
    else:
        print(f"{result['run_id']}: {counted(result['hidden'], 'note')} hidden")


@nuggets.command("clear", cls=PlainCommand)
def clear(
    nugget: Name,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Hide every note of a nugget, which stays; `shelfd undo` brings them back. Prints how many, and the run.

    For example:

      shelfd nuggets clear scratch
    """
    result = call_patiently(socket, "nugget.clear", {"name": nugget, "shelf": shelf})
    if as_json:
        print_json(result)
    elif result["hidden"]:
        print(f"{result['run_id']}: {counted(result['hidden'], 'note')} hidden")
    else:
        warn("it holds nothing that is not hidden")
