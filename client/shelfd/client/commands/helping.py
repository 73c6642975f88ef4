"""The command help."""

from typing import Annotated

import typer

Words = Annotated[list[str] | None, typer.Argument(metavar="COMMAND", help="Like: session rewind")]


def help_(context: typer.Context, words: Words = None) -> None:
    """Explain a command, or list all of them.

    For example:

      shelfd help

      shelfd help session rewind
    """
    found = context.find_root()
    for word in words or ():
        command = found.command
        resolve = getattr(command, "resolve_command", None)
        if resolve is None:
            context.fail(f"{found.command_path} has no commands of its own")
        _, named, _ = resolve(found, [word])
        found = named.make_context(word, [], parent=found, resilient_parsing=True)
    typer.echo(found.get_help())
