"""What is sent of a note, cut out of its line in a snapshot: to parse the line and write it anew takes three times as
long, and most of it is not sent.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final


def _each(part: bytes) -> bytes:
    """Return a pattern of as many *part* as there are, none of which is given back.

    As an atomic group and not as a possessive repeat: before Python 3.11.5, what one of these had begun to match in
    vain counted as matched.
    """
    return rb"(?>(?:%b)*)" % part


def _members(name: bytes, value: bytes) -> bytes:
    """Return a pattern of a comma and a member, as many as there are."""
    return _each(rb',"%b[a-z_]++":%b' % (name, value))


def _object(value: bytes) -> bytes:
    return rb"\{%b\}" % _each(rb'"[a-z_]++":%b(?:,(?=")|(?=\}))' % value)


#: Text whose escapes are those that a shelf writes. Others could be half a surrogate pair, which cannot be sent. It may
#: be long, so it is a possessive repeat, which remembers nothing: behind the backslash of another escape is no quote.
_TEXT: Final = rb'"[^"\\\x00-\x1f]*+(?:\\["\\bfnrt][^"\\\x00-\x1f]*+)*+"'
#: A number that says the same however it is written. There are none below zero.
_NUMBER: Final = rb"(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?"
_LIST: Final = rb"\[%b\]" % _each(rb'%b(?:,(?=")|(?=\]))' % _TEXT)
_FLAT: Final = rb"(?:%b|%b|true|false|null|%b|\{\})" % (_TEXT, _NUMBER, _LIST)
#: That, or an object of such members.
_VALUE: Final = rb"(?:%b|%b)" % (_FLAT, _object(_FLAT))
#: And one of these. A note's rare fields are nested as deeply.
_NESTED: Final = rb"(?:%b|%b)" % (_FLAT, _object(_VALUE))
_BESIDE: Final = rb'(?!id"|content"|shelfd")'  #: what is not sent
#: A line as a shelf writes it: none of its members that are sent stands twice, and of ``shelfd`` all are.
_LINE: Final = rb"".join(
    (
        rb'\{"id":(%b)%b' % (_TEXT, _members(_BESIDE, _FLAT)),
        rb',"content":(\{"raw":%b%b\})' % (_TEXT, _members(b"", _FLAT)),
        _members(_BESIDE, _VALUE),
        rb',"shelfd":(\{"format":1%b\})\}[ \t\r\n]*+' % _members(rb'(?!links"|nugget"|types")', _NESTED),
    )
)


@cache
def _pattern() -> Callable[[bytes], re.Match[bytes] | None]:
    return re.compile(_LINE).fullmatch  # two milliseconds, for those who import a snapshot


def note_of(raw: bytes) -> bytes | None:
    """Return what is sent of the note on a line, as JSON; None if the line has to be parsed to know that."""
    if (found := _pattern()(raw)) is None:
        return None
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError:
            return None
    return b'{"id":%b,"content":%b,"shelfd":%b}' % found.groups()
