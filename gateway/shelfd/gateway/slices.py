"""Large messages, parsed a slice at a time: parsing holds the interpreter, in whatever thread, so others need turns.

A pass over the bytes finds how deeply the message nests and where its long lists have commas. The elements of these
are then parsed in groups, and what is left of the message with the lists empty. Whatever is odd about a message, the
parser is asked about it as a whole: it alone says what is wrong.
"""

from collections.abc import Generator
from itertools import pairwise
from secrets import token_hex
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

_Places = npt.NDArray[np.int32]  # a line has some megabytes at most
_Kinds = npt.NDArray[np.uint8]
_Levels = npt.NDArray[np.int8]

#: Bytes that are looked through in one turn, and that are parsed in one: some milliseconds each, at most.
_LOOKED_AT: Final = 1 << 20
_PARSED: Final = 1 << 18
#: Bytes of a list that is parsed in groups.
_LONG: Final = 1 << 16
#: Signs among which commas are looked for in one turn.
_SIGNS: Final = 1 << 20

#: Levels that are counted in a byte.
_MOST_LEVELS: Final = 127

_QUOTE, _BACKSLASH, _COMMA, _OPENS, _CLOSES, _OPENS_LIST, _CLOSES_LIST = range(1, 8)
_KINDS: Final = dict(zip(b'"\\,{}[]', range(1, 8), strict=True))
_KIND_OF: Final = np.array([_KINDS.get(code, 0) for code in range(256)], np.uint8)
#: A bit in which brackets differ from braces.
_BRACE: Final = ord("[") ^ ord("{")
#: What a sign adds to the depth, by its kind.
_DEEPER: Final = np.array([0, 0, 0, 0, 1, -1, 1, -1], np.int32)


class _List(NamedTuple):
    """A long list: where its bracket opens, where each group of elements ends, the last where the bracket closes."""

    opens: int
    ends: list[int]
    size: int  #: how many elements it has


class Odd(Exception):
    """The message is not as this takes it to be: no JSON, perhaps."""


class _Signs(NamedTuple):
    """Signs outside of strings: where each is, of which kind, and how deep it is nested behind it."""

    places: _Places
    kinds: _Kinds
    levels: _Levels


def parsed_in_turns(data: bytes, depth: int) -> Generator[None, None, Any]:
    """Return what *data* says as JSON, nested in *depth* levels at most, and yield between the turns that this takes.

    Raises:
        Odd: If it is no JSON, nests more deeply, or is otherwise to be parsed as a whole.
    """
    lists = yield from _long_lists((yield from _signs(data, min(depth, _MOST_LEVELS))))
    found: dict[str, list[Any]] = {}
    rest: list[bytes] = []
    begin, secret = 0, token_hex(16)  # what stands in for elements is nowhere in the message
    for number, long in enumerate(lists):
        mark = f"{secret}{number}"
        rest += (data[begin : long.opens + 1], b'"%b"' % mark.encode())
        begin = long.ends[-1]
        found[mark] = yield from _elements(data, long)
    message = _parsed(b"".join((*rest, data[begin:])))
    if found:
        yield
        _put(message, found)
    return message


def _parsed(data: bytes) -> Any:  # noqa: ANN401
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        raise Odd from None


def _signs(data: bytes, depth: int) -> Generator[None, None, _Signs]:
    """Return the signs of a message.

    Raises:
        Odd: If there are none, more levels than *depth*, or brackets that do not match.
    """
    places: list[_Places] = []
    all_kinds: list[_Kinds] = []
    all_levels: list[_Levels] = []
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
            if int(levels.min()) < 0 or int(levels.max()) > depth:
                raise Odd
            places.append(at + np.int32(begin))
            all_kinds.append(kinds)
            all_levels.append(levels.astype(np.int8))
        yield
    if level or not places:
        raise Odd
    joined: list[Any] = []
    for parts in (places, all_kinds, all_levels):  # one after the other, for so many signs may be some ten megabytes
        joined.append(np.concatenate(parts))
        parts.clear()
        yield
    return _Signs(*joined)


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


def _long_lists(signs: _Signs) -> Generator[None, None, list[_List]]:
    """Return the lists that are long and have no long one in them, in their order.

    Raises:
        Odd: If brackets do not match.
    """
    found: list[tuple[int, int, int]] = []  # where each begins and ends, and at which level
    for level in range(1, int(signs.levels.max()) + 1):
        begins, ends = yield from _lists(signs, level)
        longest = (ends - begins > _LONG).nonzero()[0].tolist()
        found += [(int(begins[at]), int(ends[at]), level) for at in longest]
        yield
    found.sort()
    # One that has others in it comes right before the first of these.
    inmost = [one for one, other in pairwise(found) if one[1] < other[0]] + found[-1:]
    lists: list[_List] = []
    for one in inmost:
        lists += [(yield from _grouped(signs, *one))]
    return lists


def _lists(signs: _Signs, level: int) -> Generator[None, None, tuple[_Places, _Places]]:
    """Return where lists of one level begin, and where each of them ends."""
    is_open = (signs.kinds == _OPENS_LIST) & (signs.levels == level)
    begins = signs.places[is_open]
    yield
    ends = signs.places[(signs.kinds == _CLOSES_LIST) & (signs.levels == level - 1)]
    if len(begins) != len(ends):
        raise Odd
    return begins, ends


def _grouped(signs: _Signs, begin: int, end: int, level: int) -> Generator[None, None, _List]:
    """Return a long list with its elements in groups of which each is parsed in one turn."""
    first, last = (int(at) for at in signs.places.searchsorted(np.array([begin + 1, end], np.int32)))
    ends: list[int] = []
    after, count = begin + _PARSED, 1
    for start in range(first, last, _SIGNS):
        part = slice(start, min(start + _SIGNS, last))
        commas = signs.places[part][(signs.kinds[part] == _COMMA) & (signs.levels[part] == level)]
        count += len(commas)
        while (at := int(commas.searchsorted(np.int32(after)))) < len(commas):
            ends.append(int(commas[at]))
            after = ends[-1] + _PARSED
        yield
    return _List(begin, [*ends, end], count)


def _elements(data: bytes, long: _List) -> Generator[None, None, list[Any]]:
    """Return the elements of a long list.

    Raises:
        Odd: If one is no JSON, or missing.
    """
    found: list[Any] = []
    begin = long.opens + 1
    for end in long.ends:
        found += _parsed(b"[%b]" % data[begin:end])
        begin = end + 1
        yield
    if len(found) != long.size:
        raise Odd
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
