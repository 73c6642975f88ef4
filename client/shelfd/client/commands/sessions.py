"""Commands on conversations: session, with list, show, graph, compact, rewind, variant and branch."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from shelfd.client.commands import options
from shelfd.client.commands.tree import Branch, print_tree
from shelfd.client.invocation import call, daemon, given
from shelfd.client.output import clean, counted, local_time, notice, one_line, print_json, print_table
from shelfd.client.patience import call_patiently
from shelfd.client.plain_command import PlainCommand
from shelfd.client.transport import Client

sessions = typer.Typer(no_args_is_help=True, help="Conversations: their notes as a graph, rewound, branched.")

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="A conversation; `shelfd session list` has them.")]

_PAGE: Final = 1000
_TITLE: Final = 60
_LAST: Final = 2**53  #: no turn is later


@sessions.command("list", cls=PlainCommand)
def list_sessions(
    nugget: options.Nugget = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Closed and long unused ones, too.")] = False,
    limit: options.Limit = 100,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show conversations, and the nugget that each works on.

    For example:

      shelfd session list

      shelfd session list --nugget story --all
    """
    params = {"nugget": nugget, "include_closed": everything or None, "limit": limit, "shelf": shelf}
    result = call(socket, "session.list", params)
    if as_json:
        print_json(result)
        return
    if not result["sessions"]:
        notice("no sessions; session.open makes one")
    rows = [
        (one["session_id"], one["nugget"], one.get("last_turn"), _state(one), local_time(one["last_used_at"]))
        for one in result["sessions"]
    ]
    print_table(rows, header=("session", "nugget", "turns", "state", "last used"), right=(2,))
    if "next_cursor" in result:
        notice(f"there are more; --limit shows more than {limit}")


def _state(session: Mapping[str, Any]) -> str:
    if not session["open"]:
        return "closed"
    return "open" if session.get("at_seq") is None else f"frozen at {session['at_seq']}"


@sessions.command("show", cls=PlainCommand)
def show(
    session: SessionId,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", min=1, help="What the prompt of this turn held; else the last.")
    ] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what a conversation's prompt held, and how many notes of each type it can choose from.

    For example:

      shelfd session show talk --turn 12
    """
    with daemon(socket) as client:
        where = {"session_id": session, "shelf": shelf}
        held = client.call("session.context_at", {**where, "turn": _LAST if turn is None else turn})
        nodes = list(_pages(client, "session.list_visible_candidates", where))
    if as_json:
        print_json({"context": held, "visible": _counted(nodes)})
        return
    print_table([(count, type_) for type_, count in _counted(nodes).items()], header=("notes", "type"), right=(0,))
    _print_held(held)


def _counted(nodes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    types = [str(node["type"]) for node in nodes]
    return {type_: types.count(type_) for type_ in sorted(set(types))}


def _print_held(held: Mapping[str, Any]) -> None:
    context = held["context"]
    if not context:
        notice("nothing was recorded of what its prompts held")
        return
    for name in ("turn", "at", "tokens"):
        if context.get(name) is not None:
            print(f"{name.ljust(8)}  {local_time(context[name]) if name == 'at' else context[name]}")
    for name in ("pinned", "recalled"):
        for note_id in context.get(name) or ():
            print(f"{name.ljust(8)}  {note_id}")
    for name, text in (context.get("blocks") or {}).items():
        print(f"\n{clean(name)}:\n{clean(text)}")


@sessions.command("graph", cls=PlainCommand)
def graph(
    session: SessionId,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type; may be given several times.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Open rollups: what they represent, too.")] = False,
    links: Annotated[bool, typer.Option("--links", help="How what is shown is linked.")] = False,
    limit: options.Many = 200,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show a conversation's notes as a tree: what is visible, the earliest turn first, and what that represents.

    For example:

      shelfd session graph talk --all

      shelfd session graph talk --type character_sheet --links
    """
    with daemon(socket) as client:
        where = {"session_id": session, "shelf": shelf}
        found = _some(_pages(client, "session.list_visible_candidates", given({**where, "types": types})), limit)
        nodes, is_cut = found
        below = _below(client, where, nodes) if everything else {}
        edges = list(_pages(client, "session.project_edges", where, "edges")) if links else []
        titles = {node["id"]: _title(node) for node in nodes}
        titles |= _titles(client, where, {edge["to"] for edge in edges if edge["from"] in titles} - titles.keys())
    if as_json:
        print_json({"nodes": nodes, "below": [node for nodes in below.values() for node in nodes], "edges": edges})
        return
    if not nodes:
        notice("no notes are visible to this session")
    for type_ in dict.fromkeys(node["type"] for node in nodes):
        branches = [_branch(node, below, edges, titles) for node in reversed(nodes) if node["type"] == type_]
        print_tree(Branch(clean(type_), branches))
    if is_cut:
        notice(f"only the latest {limit} are shown; --limit shows more")


def _some(nodes: Iterator[dict[str, Any]], limit: int) -> tuple[list[dict[str, Any]], bool]:
    found: list[dict[str, Any]] = []
    for node in nodes:
        if len(found) == limit:
            return found, True
        found.append(node)
    return found, False


def _below(
    client: Client, where: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """What rollups represent, by the id of the note that does."""
    below: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        if node["children_ids"]:
            for child in _pages(client, "session.get_descendants", {**where, "id": node["id"]}):
                below.setdefault(child["parent_id"], []).append(child)
    return below


def _titles(client: Client, where: Mapping[str, Any], ids: Collection[str]) -> dict[str, str]:
    """What other notes are called."""
    found: dict[str, str] = {}
    wanted = sorted(ids)
    for at in range(0, len(wanted), _PAGE):
        params = {**where, "ids": wanted[at : at + _PAGE], "include_edge_summary": False}
        briefs = client.call("session.get_node_briefs", params)["briefs"]
        found |= {brief["id"]: _title({**brief, "fields": {"summary": brief["summary"]}}) for brief in briefs if brief}
    return found


def _branch(
    node: Mapping[str, Any],
    below: Mapping[str, Sequence[Mapping[str, Any]]],
    edges: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
) -> Branch:
    said = _title(node)
    if not below.get(node["id"]) and node["children_ids"]:
        said += f"  (represents {len(node['children_ids'])}{'+' if len(node['children_ids']) >= _PAGE else ''})"
    if node["seq_to"] >= 0:
        said += f"  · turn {node['seq_to']}"
    branches = [_branch(child, below, (), titles) for child in below.get(node["id"], ())]
    branches += [
        Branch(_linked(edge, titles[edge["to"]]))
        for edge in edges
        if edge["from"] == node["id"] and edge["to"] in titles
    ]
    return Branch(f"{said}  [{node['id']}]", branches)


def _linked(edge: Mapping[str, Any], title: str) -> str:
    times = f"  ×{edge['weight']}" if edge["weight"] > 1 else ""
    return f"→ {clean(edge['type'])}  {title}{times}"


def _title(node: Mapping[str, Any]) -> str:
    untitled = node["title"] in ("", node["id"])
    text = (node["fields"].get("summary") if untitled else node["title"]) or node["id"]
    return one_line(str(text), _TITLE)


def _pages(client: Client, method: str, params: Mapping[str, Any], name: str = "nodes") -> Iterator[dict[str, Any]]:
    """All that a method lists, page by page."""
    cursor: str | None = None
    while True:
        page = client.call(method, given({**params, "limit": _PAGE, "cursor": cursor}))
        yield from page[name]
        cursor = page.get("next_cursor")
        if cursor is None:
            return


@sessions.command("compact", cls=PlainCommand)
def compact(
    session: SessionId,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Roll up now what is due in a conversation's nugget; it is done daily anyway.

    For example:

      shelfd session compact talk
    """
    result = call_patiently(socket, "session.compact", {"session_id": session, "shelf": shelf})
    if as_json:
        print_json(result)
    else:
        print(f"{result['run_id']}: {counted(result['notes'], 'note')} rolled up into {result['rollups']}")


@sessions.command("rewind", cls=PlainCommand)
def rewind(
    session: SessionId,
    from_turn: Annotated[int, typer.Option("--from-turn", metavar="N", min=1, help="The first turn to take back.")],
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Take back what a conversation's turns added and changed, from one turn on. `shelfd undo` takes that back.

    For example:

      shelfd session rewind talk --from-turn 12 --dry-run
    """
    params = {"session_id": session, "from_turn": from_turn, "dry_run": dry_run or None, "shelf": shelf}
    _print_rewound(call_patiently(socket, "session.retract_turns", params), as_json=as_json)


@sessions.command("variant", cls=PlainCommand)
def variant(
    session: SessionId,
    turn: Annotated[int, typer.Argument(metavar="TURN", min=1, help="The turn, from 1.")],
    number: Annotated[int, typer.Argument(metavar="VARIANT", min=0, help="From 0, what was written first.")],
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Switch a turn to another alternative of it: what this wrote is there again, what the other wrote is put away.

    For example:

      shelfd session variant talk 12 1
    """
    params = {"session_id": session, "turn": turn, "variant": number, "dry_run": dry_run or None, "shelf": shelf}
    _print_rewound(call_patiently(socket, "session.select_variant", params), as_json=as_json)


def _print_rewound(result: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    kept = len(result["kept"]) + result.get("more_kept", 0)
    counts = f"{counted(result['notes'], 'note')}, {counted(result['undone'], 'change')}, {kept} kept"
    print(f"{result['run_id'] or 'dry run'}: {counts}")
    print_table([(one["note_id"], one["field"], one["why"]) for one in result["kept"]])
    for job in result["cancelled"]:
        print(f"cancelled {job}")


@sessions.command("branch", cls=PlainCommand)
def branch(
    session: SessionId,
    new_session: Annotated[str, typer.Argument(metavar="NEW", help="Id of the new conversation; must be free.")],
    at_turn: Annotated[int, typer.Option("--at-turn", metavar="N", min=0, help="The last turn that both share.")],
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="For the copy; default: OLD-NEW. Must be free.")
    ] = None,
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Copy a conversation's memory, as it was at a turn, into a nugget of its own, for a new conversation.

    For example:

      shelfd session branch talk what-if --at-turn 12
    """
    params = {
        "session_id": session, "new_session_id": new_session, "at_turn": at_turn, "nugget": nugget,
        "dry_run": dry_run or None, "shelf": shelf,
    }  # fmt: skip
    result = call_patiently(socket, "session.branch", params)
    if as_json:
        print_json(result)
    else:
        print(f"{result['session_id']}: {counted(result['notes'], 'note')} in {result['nugget']}")
