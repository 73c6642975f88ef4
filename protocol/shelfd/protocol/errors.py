"""Error codes and reasons of the wire contract, and how a pydantic complaint becomes one of them.

Codes below -32000 are JSON-RPC's own; the rest are ours. Messages name the field and the limit and never repeat
what the caller sent: it may be memory text.
"""

from enum import IntEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError


class Code(IntEnum):
    """Every error code that can go over the wire."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    NOT_FOUND = -32001
    CONFLICT = -32002
    UNAVAILABLE = -32003
    FORBIDDEN = -32004
    TOO_LARGE = -32005
    GOVERNANCE_VIOLATION = -32006
    NO_EMBEDDER = -32007
    NO_LANGUAGE_MODEL = -32008
    DEADLINE_EXCEEDED = -32009
    QUOTA_EXCEEDED = -32010
    CANCELLED = -32011
    STORAGE_CORRUPT = -32012
    HISTORY_TRIMMED = -32013


#: ``data.reason`` of something the contract names and this version does not have yet.
NOT_AVAILABLE: Final = "NOT_AVAILABLE"
BAD_ARGS: Final = "BAD_ARGS"

_FIELD_CHARACTERS = 128
#: Complaints about several params at once, whose message names them.
_SELF_EXPLAINING = frozenset({"between_params"})


class ErrorData(BaseModel):
    """``error.data``: what a program needs to react to an error."""

    model_config = ConfigDict(extra="allow")

    type: str
    retryable: bool
    reason: str | None = None
    field: str | None = None
    limit: int | None = None


class ErrorObject(BaseModel):
    """A JSON-RPC error object."""

    code: int
    message: str
    data: ErrorData


def error_object(code: int, message: str, *, kind: str, retryable: bool = False, **data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Build the JSON form of an error; entries of *data* that are None are left out."""
    extra = {key: value for key, value in data.items() if value is not None}
    return {"code": int(code), "message": message, "data": {"type": kind, "retryable": retryable, **extra}}


def from_validation(error: ValidationError, *, prefix: tuple[str | int, ...] = ()) -> dict[str, Any]:
    """Turn the first and most specific complaint about params into an error object.

    A size in bytes over its limit is TOO_LARGE, everything else INVALID_PARAMS. Both carry the field's path
    and, where there is one, the limit.
    """
    complaints = error.errors(include_url=False, include_input=False)
    first = next((c for c in complaints if c["type"] in ("not_available", "too_large")), complaints[0])
    context = first.get("ctx", {})
    own_field = (context["field"],) if "field" in context else ()
    field: str | None = ".".join(str(part) for part in (*prefix, *first["loc"], *own_field)) or None
    if field is not None:
        field = field[:_FIELD_CHARACTERS]  # an unknown param's name is the caller's own text
    message = _message(first["type"], first["msg"])
    limit = next(
        (context[k] for k in ("limit", "max_length", "le", "lt", "ge", "gt", "min_length") if k in context), None
    )
    if first["type"] == "too_large":
        return error_object(Code.TOO_LARGE, f"{field}: {message}", kind="TooLarge", field=field, limit=limit)
    reason = NOT_AVAILABLE if first["type"] == "not_available" else context.get("reason", BAD_ARGS)
    return error_object(
        Code.INVALID_PARAMS,
        message if field is None or first["type"] in _SELF_EXPLAINING else f"{field}: {message}",
        kind="InvalidParams",
        field=field,
        limit=int(limit) if isinstance(limit, int | float) and limit == int(limit) else None,
        reason=reason,
    )


def _message(kind: str, message: str) -> str:
    match kind:
        case "extra_forbidden":
            return "unknown param"
        case "missing":
            return "is required"
        case "model_type" | "model_attributes_type":
            return "is not an object"
        case _:
            return message.removeprefix("Value error, ")
