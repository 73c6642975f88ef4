"""What the bridge says by itself."""

import json
from typing import Any, Final

from shelfd.client.mcp.options import BridgeOptions

Json = Any
#: The daemon's codes, for what the bridge has to say in its place.
UNAVAILABLE: Final = -32003
DEADLINE: Final = -32009
TOO_LARGE: Final = -32005
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
#: Levels of nesting that the daemon takes, less those that the bridge adds.
DEPTH: Final = 30

_TYPES: Final = {
    UNAVAILABLE: "Unavailable", DEADLINE: "DeadlineExceeded", TOO_LARGE: "TooLarge", PARSE_ERROR: "ParseError",
    INVALID_REQUEST: "InvalidRequest", METHOD_NOT_FOUND: "MethodNotFound", INVALID_PARAMS: "InvalidParams",
}  # fmt: skip
_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_OPTIONS: Final = "shelfd/options"


def encoded(message: Json) -> bytes:
    """Return *message* as a line.

    Raises:
        UnicodeEncodeError: If it holds half a surrogate pair.
    """
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decoded(line: bytes) -> Json:
    """Return the message on *line*.

    Raises:
        ValueError: If it is none: no JSON, or a number that is not finite.
        RecursionError: If it is nested very deeply.
    """
    return json.loads(line, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def is_deep(line: bytes, message: Json) -> bool:
    """Return whether a message is nested deeper than the daemon takes: it would not say whose it is."""
    if line.count(b"{") + line.count(b"[") <= DEPTH:
        return False
    level = [message]
    for _ in range(DEPTH + 1):
        parents = [one for one in level if isinstance(one, dict | list)]
        level = [child for one in parents for child in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(one, dict | list) for one in level)


def error(request_id: Json, code: int, message: str) -> Json:
    """Return the refusal of a request."""
    data = {"type": _TYPES[code], "retryable": code == UNAVAILABLE}
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}}


def tool_error(request_id: Json, code: int, message: str, *, stateless: bool) -> Json:
    """Return the answer to a call of a tool that went wrong here: for the model that called it, not for its client."""
    data = {"error": {"code": code, "message": message, "retryable": code == UNAVAILABLE}}
    result = {"content": [{"type": "text", "text": message}], "structuredContent": data, "isError": True}
    if stateless:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def version_of(message: Json) -> Json:
    """Return the revision of MCP that a request names; None if it is of one that is agreed on once."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(_VERSION) if isinstance(meta, dict) else None


def with_options(message: Json, options: BridgeOptions, key: str | None) -> Json:
    """Return a request that says what the command line said, and by which key a repeated call is known again.

    One whose params make no sense is left as it is: the daemon says what is wrong with it.
    """
    given: dict[str, Any] = {"shelf": options.shelf, "tools": list(options.tools), "graph": options.graph, "key": key}
    said = {name: value for name, value in given.items() if value}
    params = message.get("params", {})
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not said or not isinstance(params, dict) or not isinstance(meta, dict | None):
        return message
    return {**message, "params": {**params, "_meta": {**(meta or {}), _OPTIONS: {**said, **_own(meta)}}}}


def _own(meta: Json) -> dict[str, Any]:
    """What a client says of its own accord."""
    own = (meta or {}).get(_OPTIONS)
    return own if isinstance(own, dict) else {}
