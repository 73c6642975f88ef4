"""``shelfd mcp``: MCP by standard input and output, for agents that start their servers themselves.

It answers nothing that concerns the memory itself: the daemon speaks MCP, and this carries lines to it and back. What
it adds is what a socket cannot give: it starts the daemon, finds it again after a restart and repeats what was under
way, and answers in the daemon's place when that does not answer in time.
"""

from collections.abc import Sequence

from shelfd.client.mcp.options import parse


def main(arguments: Sequence[str]) -> int | None:
    """Serve MCP until the client goes away; return the exit status, or None if *arguments* are not understood."""
    options = parse(arguments)
    if options is None:
        return None
    from shelfd.client.mcp.bridge import Bridge

    return Bridge(options).run()
