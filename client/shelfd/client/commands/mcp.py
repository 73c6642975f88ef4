"""The command mcp, for agents that start their servers themselves."""

import os
from typing import Annotated

import typer

from shelfd.client import mcp as bridge
from shelfd.client.commands import options
from shelfd.client.invocation import Stop
from shelfd.client.mcp.options import TIMEOUT_S, TOOLSETS
from shelfd.client.streams import complain


def mcp(
    tools: Annotated[
        str | None,
        typer.Option("--tools", metavar="SETS", help="memory, graph or compat: docs/mcp.md."),
    ] = None,
    shelf: Annotated[str | None, typer.Option("--shelf", metavar="NAME", help="Shelf to work on.")] = None,
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="NUGGET", help="Nugget of the knowledge graph.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="SECONDS", help="Answer within this time; 60 without it.")
    ] = None,
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start a daemon where none runs.")] = False,
    socket: options.Socket = None,
) -> None:
    """Speak MCP on standard input and output: the command to give to an agent. Starts the daemon if none runs.

    For example:

      claude mcp add memory -- shelfd mcp

      shelfd mcp --tools compat --graph people
    """
    given = {"--tools": tools, "--shelf": shelf, "--graph": graph, "--timeout": timeout, "--socket": socket}
    arguments = [f"{name}={value}" for name, value in given.items() if value is not None]
    status = bridge.main([*arguments, *(["--no-start"] if no_start else [])])
    if status is None:
        complain(f"--timeout takes seconds, {TIMEOUT_S:g} for example; --tools some of {', '.join(TOOLSETS)}")
        raise Stop(os.EX_USAGE)
    raise Stop(status)
