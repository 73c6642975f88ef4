"""What goes over the wire: models of methods, events and errors. Imports nothing of ours."""

from shelfd.protocol import methods
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
from shelfd.protocol.methods.events import EVENT_TYPES, CloudEvent
from shelfd.protocol.note import NoteLink, NoteView
from shelfd.protocol.registry import METHODS, PLANNED, Method, Need, document

#: The wire version of topics and methods.
WIRE_VERSION = 1

__all__ = [
    "BAD_ARGS",
    "EVENT_TYPES",
    "METHODS",
    "NOT_AVAILABLE",
    "PLANNED",
    "WIRE_VERSION",
    "ChangeParams",
    "CloudEvent",
    "Code",
    "ErrorData",
    "ErrorObject",
    "Limits",
    "Method",
    "Need",
    "NoteLink",
    "NoteView",
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
    "methods",
    "to_micros",
]
