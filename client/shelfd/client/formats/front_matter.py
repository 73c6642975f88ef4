"""The front matter of a Markdown file: the part of YAML that people write there, without YAML's surprises.

Dates, numbers and words stay the text they are, but for ``true`` and ``false``, and what is written as JSON.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_FENCE: Final = "---"
_KEY: Final = re.compile(r"""(?:"([^"]*)"|'([^']*)'|([^\s#'"\-][^:]*?))\s*:(?:\s+(.*))?$""")
#: Lines of front matter beyond which a file has none.
_LINES: Final = 2000


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the members of the front matter, and the text behind it."""
    lines = text.split("\n")
    if not lines or lines[0].strip("\ufeff \r") != _FENCE:
        return {}, text
    for number, line in enumerate(lines[1:_LINES], 1):
        if line.rstrip() in (_FENCE, "..."):
            return members([one.rstrip() for one in lines[1:number]]), "\n".join(lines[number + 1 :])
    return {}, text


def members(lines: list[str]) -> dict[str, Any]:
    """Return the members that *lines* name; what is no member is passed over."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(lines):
        match = _KEY.match(lines[at]) if not lines[at].startswith((" ", "\t")) else None
        at += 1
        if match is None:
            continue
        name = next(part for part in match.groups()[:3] if part is not None).strip()
        below: list[str] = []
        while at < len(lines) and (
            not lines[at].strip() or lines[at].startswith((" ", "\t", "- ")) or lines[at] == "-"
        ):
            below.append(lines[at])
            at += 1
        found[name] = _value(match[4] or "", below)
    return found


def _value(text: str, below: list[str]) -> Any:  # noqa: ANN401
    text = text.strip()
    if text[:1] in ("|", ">") and len(text) <= 3:
        return _block(text, below)
    if not text and below:
        listed = [line.strip()[1:].strip() for line in below if line.strip().startswith("-")]
        if listed:
            return [scalar(one) for one in listed if one]
        return members([line.strip() for line in below if line.strip()])
    return scalar(" ".join([text, *(line.strip() for line in below)]).strip())


def _block(sign: str, below: list[str]) -> str:
    widths = [len(line) - len(line.lstrip()) for line in below if line.strip()]
    lines = [line[min(widths, default=0) :] for line in below]
    return ("\n" if sign[0] == "|" else " ").join(lines).strip()


def scalar(text: str) -> Any:  # noqa: ANN401
    """Return what a value says: JSON, a list in brackets, text with or without quotes; None for nothing."""
    if text[:1] in ('"', "[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    if text.startswith("[") and text.endswith("]"):
        return [scalar(part.strip()) for part in _parts(text[1:-1])]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    text = re.sub(r"\s+#.*$", "", text) if " #" in text and text[:1] != '"' else text
    return {"true": True, "false": False, "null": None, "~": None, "": None}.get(text, text)


def _parts(text: str) -> Iterator[str]:
    return (part for part in re.split(r""",(?=(?:[^"']|"[^"]*"|'[^']*')*$)""", text) if part.strip())
