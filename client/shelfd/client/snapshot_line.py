"""What is sent of a note, cut out of its line in a snapshot: to parse the line and write it anew takes three times as
long, and most of it is not sent.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

#: Text whose escapes are those that a shelf writes. Others could be half a surrogate pair, which cannot be sent.
_TEXT: Final = rb'"[^"\\\x00-\x1f]*+(?:\\["\\bfnrt][^"\\\x00-\x1f]*+)*+"'
#: A number that says the same however it is written. There are none below zero.
_NUMBER: Final = rb"(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?"
_FLAT: Final = rb'(?:%b|%b|true|false|null|\[(?:%b(?:,(?=")|(?=\])))*+\]|\{\})' % (_TEXT, _NUMBER, _TEXT)
#: That, or an object of such members.
_VALUE: Final = rb'(?:%b|\{(?:"[a-z_]++":%b(?:,(?=")|(?=\})))*+\})' % (_FLAT, _FLAT)
#: And one of these. A note's rare fields are nested as deeply.
_NESTED: Final = rb'(?:%b|\{(?:"[a-z_]++":%b(?:,(?=")|(?=\})))*+\})' % (_FLAT, _VALUE)
#: A line as a shelf writes it: none of its members that are sent stands twice, and of ``shelfd`` all are.
_LINE: Final = rb"".join(
    (
        rb'\{"id":(%b)(?:,"(?!id"|content"|shelfd")[a-z_]++":%b)*+' % (_TEXT, _FLAT),
        rb',"content":(\{"raw":%b(?:,"[a-z_]++":%b)*+\})' % (_TEXT, _FLAT),
        rb'(?:,"(?!id"|content"|shelfd")[a-z_]++":%b)*+' % _VALUE,
        rb',"shelfd":(\{"format":1(?:,"(?!links"|nugget"|types")[a-z_]++":%b)*+\})\}[ \t\r\n]*+' % _NESTED,
    )
)
#: Before, what a possessive repeat had begun to match in vain counted as matched.
_IS_EXACT: Final = sys.version_info >= (3, 11, 5)


@cache
def _pattern() -> Callable[[bytes], re.Match[bytes] | None]:
    return re.compile(_LINE).fullmatch  # two milliseconds, for those who import a snapshot


def note_of(raw: bytes) -> bytes | None:
    """Return what is sent of the note on a line, as JSON; None if the line has to be parsed to know that."""
    if not _IS_EXACT or (found := _pattern()(raw)) is None:
        return None
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError:
            return None
    return b'{"id":%b,"content":%b,"shelfd":%b}' % found.groups()
