"""The options of ``shelfd mcp``, read without the command line's library, which takes longer to load than all else."""

from collections.abc import Sequence
from typing import Final, NamedTuple

#: Seconds within which a request is answered, one way or the other.
TIMEOUT_S: Final = 60.0
TOOLSETS: Final = ("memory", "graph", "compat")


class BridgeOptions(NamedTuple):
    """What ``shelfd mcp`` was told.

    Attributes:
        socket: Where the daemon listens; None looks in the usual places.
        shelf: Whose memories; None for the default shelf.
        tools: Sets of tools.
        graph: Nugget of the knowledge graph; None for the usual one.
        timeout_s: Seconds within which a request is answered.
        starts: Whether a daemon is started where none listens.
    """

    socket: str | None = None
    shelf: str | None = None
    tools: tuple[str, ...] = ()
    graph: str | None = None
    timeout_s: float = TIMEOUT_S
    starts: bool = True


_VALUES: Final = {
    "--socket": "socket", "--shelf": "shelf", "--tools": "tools", "--graph": "graph", "--timeout": "timeout_s",
}  # fmt: skip


def parse(arguments: Sequence[str]) -> BridgeOptions | None:
    """Return what *arguments* say; None if they are not understood, or ask for help."""
    found: dict[str, str] = {}
    starts = True
    rest = iter(arguments)
    for argument in rest:
        name, is_joined, value = argument.partition("=")
        if argument == "--no-start":
            starts = False
        elif name not in _VALUES:
            return None
        else:
            found[_VALUES[name]] = value if is_joined else next(rest, "")
    return made(found, starts=starts)


def made(found: dict[str, str], *, starts: bool) -> BridgeOptions | None:
    """Return options from text; None if one of them makes no sense."""
    tools = tuple(name.strip() for name in found.pop("tools", "").split(",") if name.strip())
    try:
        timeout_s = float(found.pop("timeout_s", TIMEOUT_S))
    except ValueError:
        return None
    if not 0 < timeout_s <= 86_400 or not set(tools) <= set(TOOLSETS) or not all(found.values()):
        return None
    return BridgeOptions(**found, tools=tools, timeout_s=timeout_s, starts=starts)
