"""Structured values as JSON text, the form in which rows keep them.

What was stored comes back as JSON knows it: tuples as lists, any mapping as a dict. Floats are exact.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from pydantic_core import from_json

from shelfd.memory.notes.note import NO_EXTRA, Extra


def _plain(value: object) -> Any:  # noqa: ANN401
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


_encoder: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
_STRING: Final = re.compile(r'"([^"]*)"')
_quote: Final = json.encoder.encode_basestring


def encode(value: Mapping[str, Any]) -> str:
    """Return *value* as JSON text.

    Raises:
        TypeError: If it holds something JSON does not know.
    """
    return _encoder.encode(value if type(value) is dict else dict(value))


def decode(text: str) -> dict[str, Any]:
    """Return the mapping that :func:`encode` was given, as JSON knows it."""
    return cast("dict[str, Any]", from_json(text))


def encode_extra(extra: Extra) -> str | None:
    """Return the rare fields of a note as JSON text; None if none is set."""
    if extra is NO_EXTRA:
        return None
    if extra[1:] == NO_EXTRA[1:]:  # of most facts, their key is all
        return None if extra.source_key is None else f'{{"source_key":{_quote(extra.source_key)}}}'
    return _encoder.encode(extra.as_mapping())


def decode_extra(text: str | None) -> Extra:
    """Return the record that :func:`encode_extra` was given."""
    return NO_EXTRA if text is None else Extra.of(from_json(text))


def encode_before(before: Mapping[str, Any]) -> str:
    """Return what a change replaced as JSON text."""
    if "extra" in before and isinstance(before["extra"], Extra):
        before = {**before, "extra": before["extra"].as_mapping()}
    return encode(before)


def decode_before(text: str) -> dict[str, Any]:
    """Return what :func:`encode_before` was given: a note's fields as the note has them, anything else as JSON."""
    before = decode(text)
    if "extra" in before:
        before["extra"] = Extra.of(before["extra"])
    if "tags" in before:
        before["tags"] = tuple(before["tags"])
    return before


def quote(value: str) -> str:
    """Return *value* as a JSON string, exactly as the other functions embed it."""
    return _quote(value)


def encode_strings(values: Iterable[str]) -> str:
    """Return strings as a JSON array; three times faster than the general encoder."""
    if type(values) is tuple and len(values) == 1:
        return f"[{_quote(values[0])}]"
    return f"[{','.join(map(_quote, values))}]"


def decode_strings(text: str) -> tuple[str, ...]:
    """Return the strings that :func:`encode_strings` was given."""
    return tuple(from_json(text))


def strings_in(text: str) -> set[str]:
    """Return every string, names included, in the JSON *text* that one of these functions made."""
    if "\\" in text:  # rare enough to be read for good
        return set(_strings(from_json(text)))
    return set(_STRING.findall(text))


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from (name, *_strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def encode_integers(values: Iterable[int]) -> str:
    """Return integers as a JSON array."""
    return f"[{','.join(map(str, values))}]"
