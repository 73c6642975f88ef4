"""Large messages, parsed a slice at a time: parsing holds the interpreter, in whatever thread, so others need turns.

A pass over the bytes finds how deeply the message nests and where its long lists have commas. The elements of these
are then parsed in groups, and what is left of the message with the lists empty. Whatever is odd about a message, the
parser is asked about it as a whole: it alone says what is wrong.
"""

from collections.abc import Generator, Iterator
from secrets import token_hex
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

_Places = npt.NDArray[np.int32]  # a line has some megabytes at most
_Kinds = npt.NDArray[np.uint8]

#: Bytes that are looked through in one turn, and that are parsed in one: some milliseconds each, at most.
_LOOKED_AT: Final = 1 << 20
_PARSED: Final = 1 << 18
#: Bytes of a list that is parsed in groups.
_LONG: Final = 1 << 16

_QUOTE, _BACKSLASH, _COMMA, _OPENS, _CLOSES, _OPENS_LIST, _CLOSES_LIST = range(1, 8)
_KINDS: Final = dict(zip(b'"\\,{}[]', range(1, 8), strict=True))
_KIND_OF: Final = np.array([_KINDS.get(code, 0) for code in range(256)], np.uint8)
#: A bit in which brackets differ from braces.
_BRACE: Final = ord("[") ^ ord("{")
#: What a sign adds to the depth, by its kind.
_DEEPER: Final = np.array([0, 0, 0, 0, 1, -1, 1, -1], np.int32)


class _List(NamedTuple):
    """A long list: where its bracket opens, where each element ends, the last one where the bracket closes."""

    opens: int
    ends: list[int]


class _Odd(ValueError):
    """The message is not as this takes it to be."""


class _Signs(NamedTuple):
    """Signs outside of strings: where each is, of which kind, and how deep it is nested behind it."""

    places: _Places
    kinds: _Kinds
    levels: _Places


def parsed_in_turns(data: bytes, depth: int) -> Generator[None, None, Any]:
    """Return what *data* says as JSON, nested in *depth* levels at most, and yield between the turns that this takes.

    Raises:
        ValueError: If it is no JSON, nests more deeply, or is otherwise to be parsed as a whole.
    """
    signs = yield from _signs(data)
    lists = yield from _long_lists(signs, depth)
    found: dict[str, list[Any]] = {}
    rest: list[bytes] = []
    begin, secret = 0, token_hex(16)  # what stands in for elements is nowhere in the message
    for number, long in enumerate(lists):
        mark = f"{secret}{number}"
        rest += (data[begin : long.opens + 1], b'"%b"' % mark.encode())
        begin = long.ends[-1]
        found[mark] = yield from _elements(data, long)
    message = _parsed(b"".join((*rest, data[begin:])))
    yield
    _put(message, found)
    return message


def _parsed(data: bytes) -> Any:  # noqa: ANN401
    return from_json(data, allow_inf_nan=False, cache_strings="keys")


def _signs(data: bytes) -> Generator[None, None, _Signs]:
    """Return the signs of a message.

    Raises:
        _Odd: If there are none.
    """
    found: list[_Signs] = []
    in_string = escaped = False  # where a part begins
    level = 0
    for begin in range(0, len(data), _LOOKED_AT):
        part = np.frombuffer(data[begin : begin + _LOOKED_AT], np.uint8)
        at = _any_signs(part)
        kinds = _KIND_OF[part[at]]
        is_quote = kinds == _QUOTE
        slashes = at[kinds == _BACKSLASH]
        if escaped or len(slashes):
            after, escaped = _escaped(slashes, len(part), is_first=escaped)
            is_quote &= ~_among(at, after)
        quotes = is_quote.cumsum(dtype=np.uint8)  # of which only the lowest bit counts
        outside = (kinds > _BACKSLASH) & (quotes & 1 == in_string)
        in_string ^= bool(len(quotes) and quotes[-1] & 1)
        at, kinds = at[outside], kinds[outside]
        if len(at):
            levels = _DEEPER[kinds].cumsum(dtype=np.int32) + np.int32(level)
            level = int(levels[-1])
            found.append(_Signs(at + np.int32(begin), kinds, levels))
        yield
    if not found:
        raise _Odd
    return _Signs(*map(np.concatenate, zip(*found, strict=True)))


def _any_signs(part: _Kinds) -> _Places:
    """Return where there is any of the signs."""
    braces = part | _BRACE
    found = braces == ord("{")
    for signs, sign in ((braces, "}"), (part, '"'), (part, "\\"), (part, ",")):
        found |= signs == ord(sign)
    places: _Places = found.nonzero()[0].astype(np.int32)
    return places


def _among(places: _Places, some: _Places) -> npt.NDArray[np.bool_]:
    """Return which of *places* are *some*; both ascend."""
    found = np.zeros(len(places) + 1, np.bool_)
    at = places.searchsorted(some)
    found[at] = np.append(places, -1)[at] == some
    return found[:-1]


def _escaped(slashes: _Places, size: int, *, is_first: bool) -> tuple[_Places, bool]:
    """Return the places after which escaping signs stand, and whether the sign after *size* bytes is escaped, too.

    Args:
        slashes: Where backslashes are.
        size: Of the part.
        is_first: Whether its first sign is escaped.
    """
    if is_first and len(slashes) and slashes[0] == 0:  # which escapes nothing
        slashes = slashes[1:]
    first = np.diff(slashes, prepend=-2) != 1
    begins = slashes[first]
    lengths = np.diff(first.nonzero()[0], append=len(slashes))
    after = (begins + lengths)[lengths & 1 == 1]
    reaches_on = len(after) > 0 and int(after[-1]) == size
    return np.insert(after, 0, 0) if is_first else after, reaches_on


def _long_lists(signs: _Signs, depth: int) -> Generator[None, None, list[_List]]:
    """Return the lists that are long and have no long one in them, in their order.

    Raises:
        _Odd: If brackets do not match, or there are more levels than may be.
    """
    places, kinds, levels = signs
    if int(levels[-1]) != 0 or int(levels.min()) < 0 or int(levels.max()) > depth:
        raise _Odd
    yield
    found: list[_List] = []
    opening, closing = (kinds == _OPENS_LIST).nonzero()[0], (kinds == _CLOSES_LIST).nonzero()[0]
    for level in range(1, int(levels.max()) + 1):
        begins, ends = opening[levels[opening] == level], closing[levels[closing] == level - 1]
        if len(begins) != len(ends):
            raise _Odd
        for begin, end in _longest(places, begins, ends):
            inside = slice(begin + 1, end)
            commas = places[inside][(kinds[inside] == _COMMA) & (levels[inside] == level)]
            found.append(_List(int(places[begin]), [*commas.tolist(), int(places[end])]))
            yield
    found.sort()
    # One that has others in it comes right before the first of these.
    following = [*(long.opens for long in found[1:]), len(found) and int(places[-1]) + 1]
    return [long for long, after in zip(found, following, strict=False) if long.ends[-1] < after]


def _longest(places: _Places, begins: _Places, ends: _Places) -> Iterator[tuple[int, int]]:
    for at in (places[ends] - places[begins] > _LONG).nonzero()[0].tolist():
        yield int(begins[at]), int(ends[at])


def _elements(data: bytes, long: _List) -> Generator[None, None, list[Any]]:
    """Return the elements of a long list.

    Raises:
        ValueError: If one is no JSON, or missing.
    """
    found: list[Any] = []
    begin, last = long.opens + 1, long.ends[-1]
    for end in long.ends:
        if end - begin >= _PARSED or end == last:
            found += _parsed(b"[%b]" % data[begin:end])
            begin = end + 1
            yield
    if len(found) != len(long.ends):
        raise _Odd
    return found


def _put(value: Any, found: dict[str, list[Any]]) -> None:  # noqa: ANN401
    """Put the elements of long lists where they belong, in what was parsed without them."""
    if isinstance(value, dict):
        for member in value.values():
            _put(member, found)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], str) and value[0] in found:
            value[:] = found[value[0]]
            return
        for member in value:
            _put(member, found)
