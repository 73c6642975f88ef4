"""The nine tools of MCP's reference memory server, with its names and shapes, over a nugget of the shelf."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import to_json

from shelfd.gateway.mcp.era import Unsuitable
from shelfd.gateway.mcp.options import McpOptions

Json: TypeAlias = dict[str, Any]
Given: TypeAlias = Mapping[str, Any]


class CompatTool(NamedTuple):
    """One of them.

    Attributes:
        method: What it asks.
        params: Makes the method's params of the arguments.
        tell: Makes its answer, as text and as data, of the method's result and the arguments.
    """

    method: str
    params: Callable[[Given], Json]
    tell: Callable[[Json, Given], tuple[str, Json]]


#: What members are called there, and here.
_ENTITY: Final = {"name": "name", "entityType": "type", "observations": "observations"}
_RELATION: Final = {"from": "source", "to": "target", "relationType": "relation"}
_ADDING: Final = {"entityName": "name", "contents": "observations"}
_DELETING: Final = {"entityName": "name", "observations": "observations"}
_ADDED: Final = {"entityName": "name", "addedObservations": "observations"}


def _from_there(items: object, names: Mapping[str, str], field: str) -> object:
    """Return items by the names that their members have here. What is none is left for the method to refuse."""
    if not isinstance(items, list):
        return items
    return [_member(item, names, f"{field}.{index}") for index, item in enumerate(items)]


def _member(item: object, names: Mapping[str, str], field: str) -> object:
    if not isinstance(item, dict):
        return item
    for name in names:
        if name not in item:
            raise Unsuitable(f"{field}.{name}: is required", f"{field}.{name}")
    return {here: item[there] for there, here in names.items()}


def _to_there(items: Sequence[Given], names: Mapping[str, str]) -> list[Json]:
    return [{there: item[here] for there, here in names.items()} for item in items]


def _taking(argument: str, param: str, names: Mapping[str, str]) -> Callable[[Given], Json]:
    return lambda given: {param: _from_there(given.get(argument), names, argument)}


def _text(value: object) -> str:
    return to_json(value, indent=2).decode()  # ten times as fast as the standard library, which would hold the loop


def _telling(member: str, names: Mapping[str, str]) -> Callable[[Json, Given], tuple[str, Json]]:
    def tell(result: Json, _given: Given) -> tuple[str, Json]:
        shown = _to_there(result[member], names)
        return _text(shown), {member: shown}

    return tell


def _tell_deleted_entities(result: Json, given: Given) -> tuple[str, Json]:
    missing, wanted = result["not_found"], given["entityNames"]
    message = "Entities deleted successfully"
    if missing:
        message = f"Deleted {len(result['deleted'])} of {len(wanted)} entities. Not found: {', '.join(missing)}"
    return _done(message)


def _tell_deleted_observations(result: Json, given: Given) -> tuple[str, Json]:
    wanted = sum(len(item["observations"]) for item in given["deletions"])
    message = "Observations deleted successfully"
    if result["removed"] != wanted:
        missing = f" Entities not found: {', '.join(result['not_found'])}" if result["not_found"] else ""
        message = f"Deleted {result['removed']} of {wanted} observations.{missing}"
    return _done(message)


def _tell_deleted_relations(result: Json, given: Given) -> tuple[str, Json]:
    wanted = len(given["relations"])
    message = "Relations deleted successfully"
    if result["removed"] != wanted:
        message = f"Deleted {result['removed']} of {wanted} relations. The rest matched nothing."
    return _done(message)


def _done(message: str) -> tuple[str, Json]:
    return message, {"success": True, "message": message}


def graph_there(result: Given) -> Json:
    """Return a graph in the reference server's shape."""
    return {
        "entities": _to_there(result["entities"], _ENTITY), "relations": _to_there(result["relations"], _RELATION)
    }  # fmt: skip


def _tell_graph(result: Json, _given: Given) -> tuple[str, Json]:
    graph = graph_there(result)
    return _text(graph), graph


COMPAT: Final[Mapping[str, CompatTool]] = {
    "create_entities": CompatTool(
        "knowledge.create_entities", _taking("entities", "entities", _ENTITY), _telling("entities", _ENTITY)
    ),
    "create_relations": CompatTool(
        "knowledge.create_relations", _taking("relations", "relations", _RELATION), _telling("relations", _RELATION)
    ),
    "add_observations": CompatTool(
        "knowledge.add_observations", _taking("observations", "observations", _ADDING), _telling("results", _ADDED)
    ),
    "delete_entities": CompatTool(
        "knowledge.delete_entities", lambda given: {"names": given.get("entityNames")}, _tell_deleted_entities
    ),
    "delete_observations": CompatTool(
        "knowledge.delete_observations",
        _taking("deletions", "observations", _DELETING),
        _tell_deleted_observations,
    ),
    "delete_relations": CompatTool(
        "knowledge.delete_relations", _taking("relations", "relations", _RELATION), _tell_deleted_relations
    ),
    "read_graph": CompatTool("knowledge.read_graph", lambda _: {}, _tell_graph),
    "search_nodes": CompatTool("knowledge.search_nodes", lambda given: {"query": given.get("query")}, _tell_graph),
    "open_nodes": CompatTool("knowledge.open_nodes", lambda given: {"names": given.get("names")}, _tell_graph),
}


def params_of(tool: CompatTool, given: Given, options: McpOptions) -> Json:
    """Return what a call asks the method."""
    return {**tool.params(given), "nugget": options.graph}


def missing_entity(error: Given, given: Given) -> str | None:
    """Return what the reference server says of an entity that is not there; None of anything else."""
    data = error.get("data", {})
    if data.get("reason") != "NODE_NOT_FOUND" or not isinstance(data.get("field"), str):
        return None
    # Like relations.3.source: the caller's own words are found again by where they stand.
    argument, _, rest = data["field"].partition(".")
    index, _, end = rest.partition(".")
    member = {"source": "from", "target": "to", "name": "entityName"}.get(end)
    try:
        return f"Entity with name {given[argument][int(index)][member]} not found"
    except (KeyError, IndexError, TypeError, ValueError):
        return None
