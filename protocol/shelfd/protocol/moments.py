"""Params by which a caller asks for what was, or what held, at another time."""

from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import Instant, parse_instant
from shelfd.protocol.limits import MAX_INTEGER


class WireMoment(NamedTuple):
    """A moment of a shelf: a time, microseconds since 1970 UTC, or the number of a change."""

    at: int | None
    seq: int | None


def _parse_moment(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return WireMoment(parse_instant(value), None)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value <= MAX_INTEGER:
            raise PydanticCustomError("moment_seq", "is not the number of a change")
        return WireMoment(None, value)
    if value is None or isinstance(value, WireMoment):
        return value
    raise PydanticCustomError("moment", "is neither a time like 2026-01-31T09:00:00Z nor the number of a change")


AsOf = Annotated[
    Instant | None,
    Field(
        description="Only what holds at that time by its valid_from and valid_to, as far as is known now; what was"
        " superseded, too, if it says until when it held."
    ),
]
KnownAt = Annotated[
    WireMoment | None,
    BeforeValidator(_parse_moment),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0}, {"type": "null"}]}
    ),
    Field(
        description="What the shelf knew at that time, or after the change of that number: what is hidden, replaced or"
        " said differently by now as it was then."
    ),
]
