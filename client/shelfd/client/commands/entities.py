"""Commands on what notes mention: entity, graph and timeline."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.commands.changing import confirm
from shelfd.client.commands.tree import Branch, print_tree
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import daemon, given
from shelfd.client.output import clean, counted, local_time, notice, one_line, print_found, print_json, print_table
from shelfd.client.patience import ask_patiently
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import is_unicode, warn
from shelfd.client.texts import needed
from shelfd.client.transport import Client

#: Types that are tried when none was given; actor and tool stand for those related to them.
_TYPES = (
    "actor", "tool", "person", "organization", "location", "cve", "campaign", "attack_pattern", "asset", "domain",
    "ipv4", "ipv6", "url", "email", "md5", "sha1", "sha256", "path", "mqtt_topic", "version", "sector", "event",
    "activity", "temporal",
)  # fmt: skip
#: Relationships that are shown of an entity.
_SHOWN = 12
_COLUMNS = 120

_Name = Annotated[
    list[str], typer.Argument(metavar="NAME", help="What is mentioned, any of its names; several words are one.")
]
_Type = Annotated[str, typer.Option("--type", metavar="TYPE", help="actor, tool, cve, person, location, …")]


def _first(
    client: Client, shelf: str, name: str, type_: str, ask: Callable[[str], dict[str, Any]], field: str
) -> tuple[str, dict[str, Any]]:
    """Ask for one type, or without one for each until there is an answer: first those as which notes show the name."""
    if type_:
        return type_, ask(type_)
    usual = _TYPES[0]
    wanted, answer = usual, ask(usual)  # notes are read first, unless many are left
    for wanted in () if answer[field] else _likely(client, shelf, name, but=usual):
        answer = ask(wanted)
        if answer[field]:
            break
    return wanted, answer


def _likely(client: Client, shelf: str, name: str, *, but: str) -> list[str]:
    """Types but one in the order in which they are tried: of the name, of longer ones that begin so, all others."""
    topics = client.call("topic.list", {"shelf": shelf, "beginning": name[:256], "limit": 100})["topics"]
    entities = [one for one in topics if one["kind"] == "entity"]
    begun = {one["type"] for one in entities}
    known = {one["type"] for one in entities if _letters(one["name"]) == _letters(name)}
    order = [type_ for type_ in (*_TYPES, *sorted(begun.difference(_TYPES))) if type_ != but]
    return sorted(order, key=lambda type_: (type_ not in known, type_ not in begun))


def _letters(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def entity(
    words: _Name,
    type_: _Type = "",
    k: options.Best = None,
    purge: Annotated[
        bool, typer.Option("--purge", help="Purge all notes that name it instead, whatever nugget they are in.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --purge: only say what would be purged.")] = False,
    yes: options.Yes = False,
    nugget: options.Nugget = None,
    session: options.Session = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show the notes that mention NAME, and what it has to do with.

    NAME is a person, a place, an address, a tool, …

    Without a type, types are tried until notes mention it as one of them, first those as which a note shows it.

    For example:

      shelfd entity Fancy Bear --type actor

      shelfd entity CVE-2024-3094

      shelfd entity Mara Winter --type person --purge --dry-run
    """
    name = needed(words, name="NAME")
    if dry_run and not purge:
        raise typer.BadParameter("goes with --purge", param_hint="--dry-run")
    if purge:
        if not dry_run:
            confirm(f"Purge all notes about {clean(name)} for good?", yes=yes)
        _purge(name, type_, shelf, socket, is_dry=dry_run, as_json=as_json)
        return
    base = given({"entity_value": name, "nugget": nugget, "session_id": session, "shelf": shelf})
    with daemon(socket) as client:
        wanted, result = _first(
            client,
            shelf,
            name,
            type_,
            lambda tried: client.call("recall_entity", given({**base, "entity_type": tried, "k": k})),
            "notes",
        )
        related = client.call("get_entity_relationships", {**base, "entity_type": wanted})
    if as_json:
        print_json({**result, "relationships": related["relationships"]})
        return
    if not result["notes"]:
        notice("no note mentions it")
    else:
        _print_mentioning(result)
        _print_related(related["relationships"])
    _say_unread(related)


def _say_unread(result: dict[str, Any]) -> None:
    index = result["index"]
    if index["state"] == "warming":
        notice(f"notes are still being read: {index['share']:.0%} of what is known was looked through")


def _purge(name: str, type_: str, shelf: str, socket: str | None, *, is_dry: bool, as_json: bool) -> None:
    base = given({"entity_value": name, "shelf": shelf})

    def ask(tried: str) -> dict[str, Any]:
        return _when_read(client, socket, {**base, "entity_type": tried, "dry_run": True})

    with daemon(socket, timeout_s=None) as client:
        wanted, result = (type_, ask(type_)) if type_ else _known(client, shelf, name, ask)
        is_left = not is_dry and bool(result["notes"] or result["aliases"])
        while is_left:
            result = _when_read(client, socket, {**base, "entity_type": wanted})
            is_left = bool(result["remaining"])
    if as_json:
        print_json(result)
    else:
        _print_purged(result, wanted, is_dry=is_dry)


def _known(client: Client, shelf: str, name: str, ask: Callable[[str], dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Ask for the type as which something of this name is known, for a person if it is as none.

    Notes that have the words are found by any; what else it is called is known by its type alone.
    """
    usual = "person"
    answer = first = ask(usual)  # all notes are read first
    if not first["known"]:
        for wanted in _likely(client, shelf, name, but=usual):
            answer = ask(wanted)
            if answer["known"]:
                return wanted, answer
    return usual, first


def _print_purged(result: dict[str, Any], type_: str, *, is_dry: bool) -> None:
    count, names, staying = result["notes"], result["aliases"], result.get("staying", 0)
    if count:
        what = f"{counted(count, 'note')} about {type_} {clean(result['entity']['value'])}"
        print(f"{'would purge' if is_dry else 'purged'} {what}")
    elif names:
        print(f"{'would purge' if is_dry else 'purged'} no note, and {names} of its names")
    else:
        warn("nothing to purge: no note names it")
    for note_id in result["note_ids"] if is_dry else result["still_in"]:
        print(clean(note_id) if is_dry else f"still in {clean(note_id)}")
    if staying:
        has = "has the words and stays" if staying == 1 else "have the words and stay"
        print(f"{counted(staying, 'note')} {has}: nothing shows that it is meant")
        for note_id in result["staying_ids"]:
            print(f"stays: {clean(note_id)}")


def _when_read(client: Client, socket: str | None, params: dict[str, Any]) -> dict[str, Any]:
    """Purge once all notes were read for what they mention, however long that takes, and the purge."""
    with ProgressLine("per cent of the notes read") as line:
        while True:
            try:
                answer: dict[str, Any] = ask_patiently(client, socket, "entity.purge", params)
            except RpcFailure as failure:
                if failure.data.get("reason") != "WARMING":
                    raise
                line.update(math.floor(failure.data["index"]["share"] * 100), 100)
            else:
                return answer


def _print_mentioning(result: dict[str, Any]) -> None:
    found = result["entity"]
    also = "" if found["canonical"] == found["value"] else f", which is {clean(found['canonical'])}"
    print(f"{found['type']} {clean(found['value'])}{also}\n")
    for note in result["notes"]:
        print_found(note)


def _print_related(relationships: Sequence[dict[str, Any]]) -> None:
    notes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in relationships:
        said = f"{_arrow(one)} {one['node']['value']}", one["node"]["type"]
        notes[said].append(one["note_id"])
    if notes:
        print()
    rows = [(said, type_, _cited(ids)) for (said, type_), ids in notes.items()]
    print_table(rows[:_SHOWN])
    if len(rows) > _SHOWN:
        notice(f"and {len(rows) - _SHOWN} more: shelfd graph shows them")


def _cited(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{ids[0]} and {len(ids) - 1} more"


def _arrow(one: dict[str, Any]) -> str:
    arrows = ("→", "←") if is_unicode() else ("->", "<-")
    return f"{one['relationship']} {arrows[one['direction'] == 'incoming']}"


def graph(
    words: _Name,
    type_: _Type = "",
    depth: Annotated[int, typer.Option("--depth", "-d", metavar="N", min=1, max=4, help="Steps from NAME.")] = 2,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="FORMAT", help="tree, or for other programs json, graphml or dot.")
    ] = "tree",
    nugget: options.Nugget = None,
    session: options.Session = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what lies around NAME, and around that.

    It is what NAME has to do with others, and these with more.

    An arrow to the left means that the one further out does it. Each step names the note that says so.

    For example:

      shelfd graph Fancy Bear --depth 1

      shelfd graph Sandworm --format dot | dot -Tsvg > sandworm.svg
    """
    name = needed(words, name="NAME")
    if form not in ("tree", "json", "graphml", "dot"):
        raise typer.BadParameter("is none of tree, json, graphml, dot", param_hint="--format")
    base = given({"nugget": nugget, "session_id": session, "shelf": shelf, "max_depth": depth})
    with daemon(socket) as client:
        wanted, walked = _first(
            client,
            shelf,
            name,
            type_,
            lambda tried: client.call("traverse_graph", {**base, "start_type": tried, "start_value": name}),
            "nodes",
        )
        if form != "tree":
            result = client.call("graph.export", {**base, "entity_type": wanted, "entity_value": name, "format": form})
            print_json(result) if as_json or form == "json" else print(result["text"], end="")
            _say_cut(result)
            return
    if as_json:
        print_json(walked)
    elif walked["nodes"]:
        print_tree(Branch(clean(name), _branches(walked["nodes"], 0)))
        _say_cut(walked)
    else:
        warn("nothing is known of its relations: no note says what it has to do with anything")
        _say_unread(walked)


def _say_cut(result: dict[str, Any]) -> None:
    if result["truncated"] and result["index"]["state"] == "ready":
        notice("there is more than is shown")
    _say_unread(result)


def _branches(nodes: Sequence[dict[str, Any]], depth: int) -> list[Branch]:
    """What hangs from one node: of those further out, each under the one that its path leads through."""
    under: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for node in nodes:
        step = node["path"][depth]
        under.setdefault((step["type"], step["value"]), []).append(node)
    found = []
    for (type_, value), group in under.items():
        step = group[0]["path"][depth]
        said = one_line(f"{_arrow(step)} {value} ({type_})", _COLUMNS)
        further = [node for node in group if node["depth"] > depth + 1]
        found.append(Branch(f"{said}  [{clean(step['note_id'])}]", _branches(further, depth + 1)))
    return found


def timeline(
    words: Annotated[
        list[str], typer.Argument(metavar="NAME", help="What is mentioned, or what to look for; - reads stdin.")
    ],
    type_: _Type = "",
    limit: options.Limit = 100,
    nugget: options.Nugget = None,
    session: options.Session = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what notes say of NAME in the order it happened.

    What was replaced is marked.

    Without a type, types are tried; if no note mentions NAME as one of them, it is looked for like a query.

    For example:

      shelfd timeline Sandworm

      shelfd timeline the kitchen renovation
    """
    name = needed(words, name="NAME")
    base = given({"nugget": nugget, "session_id": session, "shelf": shelf, "limit": limit})
    with daemon(socket) as client:
        result = _timeline(client, base, name, type_)
    if as_json:
        print_json(result)
        return
    rows = [(one.get("said") or local_time(one["at"]), one["note_id"], _happened(one)) for one in result["entries"]]
    print_table(rows, header=("at", "note", "what"))
    if not rows:
        notice("nothing is known of it")
        _say_unread(result)
    else:
        _say_cut({**result, "truncated": result["truncated"] or "next_cursor" in result})


def _timeline(client: Client, base: dict[str, Any], name: str, type_: str) -> dict[str, Any]:
    def ask(tried: str) -> dict[str, Any]:
        answer: dict[str, Any] = client.call("graph.timeline", {**base, "entity_type": tried, "entity_value": name})
        return answer

    result = _first(client, base["shelf"], name, type_, ask, "entries")[1]
    if not result["entries"] and not type_:
        result = client.call("graph.timeline", {**base, "query": name})
    return result


def _happened(entry: dict[str, Any]) -> str:
    said = f"{entry['title']}: {entry['text']}" if entry.get("title") else entry["text"]
    if entry["event"] == "superseded":
        return f"replaced by {entry['superseded_by']}: {said}"
    return str(said)
