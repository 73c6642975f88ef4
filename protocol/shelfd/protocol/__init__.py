"""What goes over the wire: models of methods, events and errors. Imports nothing of ours."""

from shelfd.protocol.base import (
    ChangeParams,
    PageParams,
    Params,
    ReadParams,
    Result,
    ShelfParams,
    Wire,
    from_micros,
    to_micros,
)
from shelfd.protocol.errors import BAD_ARGS, NOT_AVAILABLE, Code, ErrorData, ErrorObject, error_object, from_validation
from shelfd.protocol.limits import Limits
from shelfd.protocol.registry import METHODS, Method, Need, document

#: The wire version of topics and methods.
WIRE_VERSION = 1

__all__ = [
    "BAD_ARGS",
    "METHODS",
    "NOT_AVAILABLE",
    "WIRE_VERSION",
    "ChangeParams",
    "Code",
    "ErrorData",
    "ErrorObject",
    "Limits",
    "Method",
    "Need",
    "PageParams",
    "Params",
    "ReadParams",
    "Result",
    "ShelfParams",
    "Wire",
    "document",
    "error_object",
    "from_micros",
    "from_validation",
    "to_micros",
]
