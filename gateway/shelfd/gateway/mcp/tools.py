"""The tools: which there are, what each asks of the memory, and how the answer is told."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import to_json

from shelfd.gateway.mcp import texts
from shelfd.gateway.mcp.compat import COMPAT, CompatTool, missing_entity, params_of
from shelfd.gateway.mcp.era import Unsuitable, invalid
from shelfd.gateway.mcp.options import McpOptions

Json: TypeAlias = dict[str, Any]

#: Sets of tools that can be asked for.
TOOLSETS: Final = ("memory", "graph", "compat")
_DATA: Final = files("shelfd.gateway.mcp")
_FILES: Final = {"memory": "tools.json", "compat": "tools.json", "graph": "session_tools.json"}


class ToolAnswer(NamedTuple):
    """An answer as text, and as data."""

    text: str
    data: Json


class Tool(NamedTuple):
    """One tool.

    Attributes:
        method: What it asks.
        arguments: Names it takes.
        tell: Makes its answer of the method's result and the arguments.
        params: Makes the method's params of the arguments.
        explain: Words an error in the tool's own way, None where it has none; who has it passes over what else it is
            given.
    """

    method: str
    arguments: frozenset[str]
    tell: Callable[[Json, Mapping[str, Any]], ToolAnswer]
    params: Callable[[Json, McpOptions], Json]
    explain: Callable[[Mapping[str, Any], Mapping[str, Any]], str | None] | None = None


class ToolAsk(NamedTuple):
    """What a call of a tool asks, and how its answer and its error are told."""

    method: str
    params: Json
    tell: Callable[[Json], ToolAnswer]
    explain: Callable[[Mapping[str, Any]], str | None]


def chosen(names: Sequence[str]) -> list[str]:
    """Return the sets that *names* ask for: ``graph`` adds to the usual ones, ``compat`` stands alone.

    Raises:
        Refusal: If there is no such set.
    """
    for name in names:
        if name not in TOOLSETS:
            raise invalid(f"tools: there is no set of this name; there are {', '.join(TOOLSETS)}", "tools")
    sets = {*names, *(("memory",) if "graph" in names or not names else ())}
    return [name for name in TOOLSETS if name in sets]


@cache
def listed(name: str) -> list[Json]:
    """Return the tools of a set as ``tools/list`` describes them."""
    catalogue: Mapping[str, list[Json]] = json.loads(_DATA.joinpath(_FILES[name]).read_bytes())
    return catalogue[name]


def find(name: object, arguments: Mapping[str, Any], sets: Sequence[str], options: McpOptions) -> ToolAsk:
    """Return what a call of a tool asks.

    Raises:
        Refusal: If there is no such tool, or it does not take these arguments.
    """
    tool = next((tools[name] for tools in map(table, sets) if name in tools), None) if isinstance(name, str) else None
    if tool is None:
        names = ", ".join(one for tools in map(table, sets) for one in tools)
        raise invalid(f"Unknown tool; there are {names}", "name")
    unknown = sorted(arguments.keys() - tool.arguments)
    if unknown and tool.explain is None:
        takes = ", ".join(sorted(tool.arguments)) or "none"
        raise Unsuitable(f"{unknown[0][:64]}: is no argument of this tool, which takes {takes}", unknown[0][:64])
    params = tool.params(dict(arguments), options)
    return ToolAsk(
        tool.method,
        {**params, "shelf": options.shelf},
        lambda result: tool.tell(result, arguments),
        lambda error: None if tool.explain is None else tool.explain(error, arguments),
    )


def told(answer: ToolAnswer) -> Json:
    """Return an answer as a tool's result."""
    return {"content": [{"type": "text", "text": answer.text}], "structuredContent": answer.data, "isError": False}


def failed(error: Mapping[str, Any], said: str | None = None) -> Json:
    """Return an error as a tool's result: what went wrong, or what is *said* of that, and what can be done about it."""
    data = error.get("data", {})
    message = said or error["message"]
    if data.get("retryable"):
        message = f"{message}. Nothing was changed: try again in a moment"
    told_data = {"code": error["code"], "message": error["message"], **data}
    return {"content": [{"type": "text", "text": message}], "structuredContent": {"error": told_data}, "isError": True}


# ------------------------------------------------------------------ the usual ones


def _as_given(arguments: Json, _options: McpOptions) -> Json:
    return arguments


def _remember(arguments: Json, _options: McpOptions) -> Json:
    return {"evolve": True, "source_type": "mcp", **arguments}


def _recall(arguments: Json, _options: McpOptions) -> Json:
    return {"max_content_chars": texts.CONTENT_CHARS, **arguments}


def _tell_remembered(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(texts.remembered_text(result), result)


def _tell_recalled(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(texts.recall_text(result), result)


def _tell_context(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(result["text"], result)


def _tell_note(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    note = result["note"]
    marked = {**result, "warning": texts.QUARANTINED} if texts.is_quarantined(note) else result
    return ToolAnswer(texts.note_text(note), marked)


def _tell_forgotten(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(texts.forgotten_text(result), result)


def _tell_reflected(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(texts.reflected_text(result), result)


def _tell_promoted(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(texts.promoted_text(result), result)


def _tell_data(result: Json, _arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(to_json(result, inf_nan_mode="null").decode(), result)


_MEMORY: Final = {
    "remember": ("remember", _remember, _tell_remembered),
    "recall": ("recall", _recall, _tell_recalled),
    "context": ("get_context", _as_given, _tell_context),
    "note": ("note.get", _as_given, _tell_note),
    "forget": ("forget", _as_given, _tell_forgotten),
    "reflect": ("reflect", _as_given, _tell_reflected),
    "promote": ("promote", _as_given, _tell_promoted),
}


@cache
def table(name: str) -> Mapping[str, Tool]:
    """Return the tools of a set by their names."""
    taken = {one["name"]: frozenset(one["inputSchema"]["properties"]) for one in listed(name)}
    if name == "graph":
        methods = {tool: tool.replace("_", ".", 1) for tool in taken}  # a tool's name cannot have a dot
        return {tool: Tool(methods[tool], names, _tell_data, _as_given) for tool, names in taken.items()}
    if name == "compat":
        return {tool: _compatible(taken[tool], COMPAT[tool]) for tool in taken}
    return {tool: Tool(method, taken[tool], tell, params) for tool, (method, params, tell) in _MEMORY.items()}


def _compatible(taken: frozenset[str], tool: CompatTool) -> Tool:
    return Tool(
        tool.method,
        taken,
        lambda result, given: ToolAnswer(*tool.tell(result, given)),
        lambda given, options: params_of(tool, given, options),
        missing_entity,
    )
