"""Resources: notes, nuggets and the knowledge graph, as JSON to be read."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from pydantic_core import to_json

from shelfd.gateway.mcp import texts
from shelfd.gateway.mcp.compat import graph_there
from shelfd.gateway.mcp.era import invalid
from shelfd.gateway.mcp.options import McpOptions
from shelfd.memory.notes.text import cut

GRAPH: Final = "memory://knowledge-graph"
_NUGGETS: Final = "memory://nuggets/"
_NOTES: Final = "memory://notes/"
_JSON: Final = "application/json"
#: Resources on one page.
PAGE: Final = 100
_URI_CHARACTERS: Final = 1024

TEMPLATES: Final[list[dict[str, Any]]] = [
    {
        "name": "note", "title": "Note", "uriTemplate": f"{_NOTES}{{id}}", "mimeType": _JSON,
        "description": "One memory with its links.",
    },
    {
        "name": "nugget", "title": "Nugget", "uriTemplate": f"{_NUGGETS}{{name}}", "mimeType": _JSON,
        "description": "A topic: the memories in it, those changed last first.",
    },
]  # fmt: skip


class Ask(NamedTuple):
    """What is asked of the memory, and what is made of its answer."""

    method: str
    params: dict[str, Any]
    render: Callable[[dict[str, Any]], dict[str, Any]]


class ResourceName(NamedTuple):
    """What a URI names: a ``note`` or ``nugget`` by its name, or the ``graph``."""

    kind: str
    name: str


def note_uri(note_id: str) -> str:
    """Return the URI of a note."""
    return _NOTES + quote(note_id, safe="")


def nugget_uri(name: str) -> str:
    """Return the URI of a nugget."""
    return _NUGGETS + quote(name, safe="")


def place_of(uri: object) -> ResourceName:
    """Return what *uri* names, which need not exist.

    Raises:
        Refusal: If it cannot name anything.
    """
    if isinstance(uri, str) and len(uri) <= _URI_CHARACTERS:
        if uri == GRAPH:
            return ResourceName("graph", "")
        for kind, beginning in (("nugget", _NUGGETS), ("note", _NOTES)):
            if uri.startswith(beginning) and (name := unquote(uri[len(beginning) :])):
                return ResourceName(kind, name)
    raise invalid(f"uri: is none of {_NOTES}ID, {_NUGGETS}NAME and {GRAPH}", "uri")


def canonical(place: ResourceName) -> str:
    """Return the one spelling of the URI that names *place*."""
    if place.kind == "graph":
        return GRAPH
    return note_uri(place.name) if place.kind == "note" else nugget_uri(place.name.casefold())


def reading(uri: object, options: McpOptions) -> Ask:
    """Return how a resource is read.

    Raises:
        Refusal: If *uri* cannot name one.
    """
    place = place_of(uri)
    shelf = {"shelf": options.shelf}
    if place.kind == "note":
        return Ask("note.get", {"id": place.name, **shelf}, lambda result: _contents(uri, _note(result["note"])))
    if place.kind == "graph":
        return Ask(
            "knowledge.read_graph",
            {"nugget": options.graph, **shelf},
            lambda result: _contents(uri, graph_there(result)),
        )
    params = {"nugget": place.name, "limit": PAGE, "desc": True, "include_superseded": False, **shelf}
    return Ask("note.list", params, lambda result: _contents(uri, _nugget(place.name, result)))


def _contents(uri: object, value: object) -> dict[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": _JSON, "text": to_json(value, indent=1).decode()}]}


def _note(note: Mapping[str, Any]) -> dict[str, Any]:
    return {"warning": texts.QUARANTINED, **note} if texts.is_quarantined(note) else dict(note)


def _nugget(name: str, result: Mapping[str, Any]) -> dict[str, Any]:
    notes = [
        {
            **{field: note[field] for field in ("id", "kind", "title", "type", "tags", "updated_at")},
            **({"warning": texts.QUARANTINED} if texts.is_quarantined(note) else {}),
            "content": cut(note["content"], texts.CONTENT_CHARS),
        }
        for note in result["notes"]
    ]
    return {"nugget": name, "total": result["total"], "notes": notes}


def listing(cursor: object, options: McpOptions) -> Ask:
    """Return how a page of the list is made: the graph and the nuggets first, then notes, those changed last first.

    Raises:
        Refusal: If *cursor* is none of ours.
    """
    if cursor is None:
        cursor = "nuggets:"
    if not isinstance(cursor, str):
        raise invalid("cursor: is not text", "cursor")
    part, _, rest = cursor.partition(":")
    params: dict[str, Any] = {"limit": PAGE, "shelf": options.shelf} | ({"cursor": rest} if rest else {})
    if part == "nuggets":
        return Ask("nugget.list", params, lambda result: _nuggets_page(result, is_first=not rest))
    if part == "notes":
        return Ask("note.list", params | {"desc": True, "include_superseded": False}, _notes_page)
    raise invalid("cursor: is none that was given out", "cursor")


def _nuggets_page(result: Mapping[str, Any], *, is_first: bool) -> dict[str, Any]:
    page = [
        {
            "uri": GRAPH, "name": "knowledge-graph", "title": "Knowledge Graph", "mimeType": _JSON,
            "description": "The full knowledge graph with all entities and relations",
        }
    ] * is_first  # fmt: skip
    page += [
        {
            "uri": nugget_uri(nugget["name"]), "name": nugget["name"], "mimeType": _JSON,
            "description": f"{nugget['note_count'] - nugget['hidden_count']} memories",
        }
        for nugget in result["nuggets"]
    ]  # fmt: skip
    more = result.get("next_cursor")
    return {"resources": page, "nextCursor": f"nuggets:{more}" if more else "notes:"}


def _notes_page(result: Mapping[str, Any]) -> dict[str, Any]:
    page = [
        {
            "uri": note_uri(note["id"]), "name": note["id"], "mimeType": _JSON,
            "title": texts.one_line(cut(note["title"] or note["content"], 80)),
        }
        if not texts.is_quarantined(note)
        else {"uri": note_uri(note["id"]), "name": note["id"], "mimeType": _JSON, "title": "(in quarantine)"}
        for note in result["notes"]
    ]  # fmt: skip
    more = result.get("next_cursor")
    return {"resources": page} | ({"nextCursor": f"notes:{more}"} if more else {})
