"""The base of all params and the field types they share.

Every model accepts the camelCase spelling of its names on input (``sessionId`` for ``session_id``), and ``nuggetName``
or ``nugget_name`` for ``nugget``; two spellings at once are refused. Sizes in bytes and counts are checked against the
configured :class:`~shelfd.protocol.limits.Limits`, which travel as pydantic's validation context.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, to_json

from shelfd.protocol.limits import LIST_LIMIT, MAX_INTEGER, NUGGET_NAME, SHELF_NAME, TOKEN_CHARACTERS, Limits

_DEFAULT_LIMITS = Limits()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DURATION: TypeAdapter[timedelta] = TypeAdapter(timedelta)
_NUGGET = re.compile(NUGGET_NAME)
#: What a param is called elsewhere, beside its camelCase spelling.
_SYNONYMS = {"nugget": ("nugget_name", "nuggetName")}


class Wire(BaseModel):
    """A model of something a caller sends: strict types, no unknown names, either spelling."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)

    _names: ClassVar[frozenset[str]] = frozenset()
    _spellings: ClassVar[dict[str, str]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:  # noqa: ANN401
        cls._names = frozenset(cls.model_fields)
        cls._spellings = {
            other: name for name in cls.model_fields for other in (to_camel(name), *_SYNONYMS.get(name, ()))
        }

    @model_validator(mode="before")
    @classmethod
    def _accept_other_spellings(cls, data: Any) -> Any:  # noqa: ANN401
        if not isinstance(data, dict) or data.keys() <= cls._names:
            return data
        renamed: dict[Any, Any] = {}
        for name, value in data.items():
            snake = cls._spellings.get(name, name)
            if snake in renamed:
                raise between_params(str(snake), f"{snake} is given in two spellings")
            renamed[snake] = value
        return renamed


def limits_of(info: ValidationInfo) -> Limits:
    """Return the limits this validation runs under."""
    return info.context if isinstance(info.context, Limits) else _DEFAULT_LIMITS


def max_bytes(limit_name: str, *, is_text: bool = False) -> AfterValidator:
    """Refuse what is longer in UTF-8 than the limit called *limit_name*; as text also what is blank."""

    def check(value: str, info: ValidationInfo) -> str:
        limit: int = getattr(limits_of(info), limit_name)
        # A character takes at most four bytes: most text need not be encoded to be known short enough.
        if len(value) * 4 > limit and len(value.encode()) > limit:
            raise PydanticCustomError("too_large", "is larger than {limit} bytes", {"limit": limit})
        return _not_blank(value) if is_text else value

    return AfterValidator(check)


def max_count(limit_name: str) -> AfterValidator:
    """Refuse a list with more members than the limit called *limit_name*."""

    def check(value: list[Any], info: ValidationInfo) -> list[Any]:
        limit: int = getattr(limits_of(info), limit_name)
        if len(value) > limit:
            raise PydanticCustomError("too_many", "has more than {limit} members", {"limit": limit})
        return value

    return AfterValidator(check)


def not_available(allowed: Callable[[Any], bool], what: str) -> AfterValidator:
    """Refuse, with reason NOT_AVAILABLE, a value the contract names and this version lacks."""

    def check(value: Any) -> Any:  # noqa: ANN401
        if not allowed(value):
            raise PydanticCustomError("not_available", "{what} is not available in this version", {"what": what})
        return value

    return AfterValidator(check)


def check_validity(valid_from: int | None, valid_to: int | None) -> None:
    """Raise unless *valid_to* is not before *valid_from*, where both are given."""
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise between_params("valid_to", "valid_to lies before valid_from")


def between_params(field: str, message: str) -> PydanticCustomError:
    """Return a complaint about how params go together, to be raised by a model; *field* is the one to change."""
    return PydanticCustomError("between_params", "{message}", {"message": message, "field": field})


def _is_falsy(value: object) -> bool:
    return not value


def _no_control(value: str) -> str:
    if not value.isprintable() and any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in value):
        raise PydanticCustomError("control_character", "holds a control character")
    return value


def _token(value: str) -> str:
    if value.isprintable() and " " not in value and value:
        return value
    return _no_control(_not_blank(value))


def _one_line(value: str) -> str:
    value = _no_control(value).strip()
    return re.sub(" {2,}", " ", value) if "  " in value else value


def _word(value: str) -> str:
    if value.isprintable() and " " not in value and value:  # as most are: nothing to be tidied or refused
        return value
    return _not_blank(_one_line(value))


def _not_blank(value: str) -> str:
    if not value or value.isspace():
        raise PydanticCustomError("blank", "is empty or blank")
    return value


def _squeezed(value: str) -> str:
    """Outer blanks off, runs of blanks to one: how titles and keys are kept."""
    return re.sub(r"\s+", " ", _no_control(value.strip()))


def parse_instant(value: Any) -> Any:  # noqa: ANN401
    """Return the microseconds since 1970 UTC of a time as text.

    Raises:
        PydanticCustomError: If it is none.
    """
    if not isinstance(value, str):
        raise PydanticCustomError("instant", "is not a time like 2026-01-31T09:00:00Z")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise PydanticCustomError("instant", "is not a time like 2026-01-31T09:00:00Z") from None
    if moment.tzinfo is None:
        raise PydanticCustomError("instant_zone", "is a time without a zone; add Z or an offset like +02:00")
    micros = to_micros(moment)
    if not _FIRST_INSTANT <= micros <= _LAST_INSTANT:
        raise PydanticCustomError("instant_range", "is not a time from 0001-01-02 to 9999-12-30")
    return micros


def to_micros(moment: datetime) -> int:
    """Return *moment* as microseconds since 1970 UTC, the form times have inside."""
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_micros(micros: int) -> str:
    """Return the RFC 3339 UTC form of *micros*, as it goes over the wire; beyond the calendar that of its end."""
    second, rest = divmod(min(max(micros, _BEGINNING), _END), 1_000_000)
    return f"{_second(second)}.{rest:06d}Z" if rest else f"{_second(second)}Z"


@lru_cache(maxsize=4096)
def _second(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).isoformat().removesuffix("+00:00")


_BEGINNING = to_micros(datetime.min.replace(tzinfo=UTC))
_END = to_micros(datetime.max.replace(tzinfo=UTC))
#: A day is left at either end, so that a time can be expressed in every zone.
_FIRST_INSTANT = to_micros(datetime(1, 1, 2, tzinfo=UTC))
_LAST_INSTANT = to_micros(datetime(9999, 12, 31, tzinfo=UTC)) - 1
_LONGEST_SPAN = timedelta(days=3_652_059)  #: reaches back beyond the first instant


#: "30d", "12h", and seconds.
_SHORT_SPAN = re.compile(r"([0-9]{1,11}(?:\.[0-9]{1,6})?) ?(w|d|h|min|m|s|)")
_UNIT_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "min": 60, "m": 60, "s": 1, "": 1}
_NO_SPAN = "is not a number of seconds, nor a span like 30d, 12h or P7D"


def _parse_span(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("span", _NO_SPAN)
    if not isinstance(value, str) and value >= _LONGEST_SPAN.total_seconds():
        return _LONGEST_SPAN
    if isinstance(value, str) and (short := _SHORT_SPAN.fullmatch(value.strip())) is not None:
        return timedelta(seconds=min(float(short[1]) * _UNIT_SECONDS[short[2]], _LONGEST_SPAN.total_seconds()))
    try:
        span = _DURATION.validate_python(value, strict=False)
    except ValueError:
        raise PydanticCustomError("span", _NO_SPAN) from None
    if span < timedelta(0):
        raise PydanticCustomError("span", "is negative")
    return min(span, _LONGEST_SPAN)


def fold_relation(value: str) -> str:
    """Return the one spelling in which a link's relation is kept and looked up."""
    return value if value.isascii() and value.islower() else unicodedata.normalize("NFKC", value).lower().strip()


def _check_nugget(value: str) -> str:
    name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold())
    # Marks are parts of letters: many scripts write vowels by them, and Python's \w does not know that.
    plain = name if name.isascii() else "".join("_" if unicodedata.category(c)[0] == "M" else c for c in name)
    if not _NUGGET.fullmatch(plain):
        raise PydanticCustomError(
            "nugget_name",
            "is not a nugget name: 1 to {limit} letters, digits, '_', '.', '-', starting with a letter or digit",
            {"limit": 64},
        )
    return name


def _check_fields(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    limit = limits_of(info).fields_bytes
    if len(to_json(value)) > limit:
        raise PydanticCustomError("too_large", "is larger than {limit} bytes", {"limit": limit})
    _check_numbers(value)
    return value


def _check_numbers(value: object) -> None:
    match value:
        case bool():
            return
        case int() if abs(value) > MAX_INTEGER:
            raise PydanticCustomError("integer_range", "holds an integer beyond 2^53", {"limit": MAX_INTEGER})
        case float() if not isfinite(value):
            raise PydanticCustomError("finite_number", "holds a number that is not finite")
        case dict():
            for member in value.values():
                _check_numbers(member)
        case list():
            for member in value:
                _check_numbers(member)
        case _:
            return


def _normal_tag(value: str, info: ValidationInfo) -> str:
    is_plain = value.isprintable() and " " not in value  # a blank is the only white space that can be printed
    tag = value.lower() if is_plain else re.sub(r"\s+", "-", _no_control(value.strip()).lower())
    limit = limits_of(info).tag_characters
    if not tag:
        raise PydanticCustomError("blank", "is empty or blank")
    if len(tag) > limit:
        raise PydanticCustomError("too_long", "is longer than {limit} characters", {"limit": limit})
    return tag


#: A time on the wire is RFC 3339 with a zone; inside it is microseconds since 1970 UTC.
Instant = Annotated[int, BeforeValidator(parse_instant), WithJsonSchema({"type": "string", "format": "date-time"})]
#: A span on the wire is a number of seconds, with a unit after it such as ``30d`` or ``12h``, or an ISO 8601 duration.
Span = Annotated[
    timedelta,
    BeforeValidator(_parse_span),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "examples": ["30d", "12h", "P7D"]}]}),
]
ShelfName = Annotated[str, Field(pattern=SHELF_NAME)]
NuggetName = Annotated[str, AfterValidator(_check_nugget)]
Content = Annotated[str, max_bytes("content_bytes", is_text=True)]
Title = Annotated[str, max_bytes("title_bytes"), AfterValidator(_squeezed)]
Key = Annotated[str, max_bytes("title_bytes"), AfterValidator(_squeezed), AfterValidator(_not_blank)]
Query = Annotated[str, max_bytes("query_bytes"), AfterValidator(_not_blank)]
Tag = Annotated[str, AfterValidator(_normal_tag)]
Tags = Annotated[list[Tag], max_count("tags_count")]
Aliases = Annotated[list[Key], max_count("aliases_count")]
Fields = Annotated[dict[str, Any], AfterValidator(_check_fields)]
Token = Annotated[str, Field(min_length=1, max_length=TOKEN_CHARACTERS), AfterValidator(_token)]
Word = Annotated[str, Field(min_length=1, max_length=TOKEN_CHARACTERS), AfterValidator(_word)]
#: A free word; what is known of some is in the schema.
Relation = Annotated[Word, AfterValidator(fold_relation)]
NoteId = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_no_control)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Positive = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
ListLimit = Annotated[int, Field(ge=1, le=LIST_LIMIT)]

Scope = Literal["self", "user", "shared", "project", "session"]
Source = Literal["explicit_user", "agent_reflection", "tool_observation", "inferred", "system"]
SourceType = Literal["conversation", "task_output", "ingestion", "observation", "mcp", "report"]
Stability = Literal["temporary", "durable"]
Tier = Literal["A", "B", "C"]
Kind = Literal["fact", "note"]

OnlyFalse = not_available(_is_falsy, "this value")


class Params(Wire):
    """Params every method takes."""

    timeout_ms: Annotated[int, Field(ge=1, le=MAX_INTEGER)] | None = Field(
        default=None, description="Milliseconds after which the caller no longer wants the request done."
    )


class ShelfParams(Params):
    """Params of a method that works on one shelf."""

    shelf: ShelfName = "default"


class ReadParams(ShelfParams):
    """Params of a method that reads."""

    min_seq: Count | None = Field(
        default=None,
        description="Wait, at most 5 s, until the answer can know every change up to this sequence number.",
    )


class ChangeParams(ShelfParams):
    """Params of a method that changes something."""

    idempotency_key: Token | None = Field(
        default=None, description="A repeated request with this key gets the first one's outcome (7 days)."
    )


class PageParams(ReadParams):
    """Params of a method that lists."""

    limit: ListLimit = 100
    cursor: Annotated[str, Field(max_length=1024)] | None = None


class Result(BaseModel):
    """Base of everything a method answers with."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
