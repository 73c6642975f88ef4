"""How results look: JSON for programs, aligned columns for people."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from shelfd.client.streams import is_unicode
from shelfd.client.terminal import cells, columns_of, cut, escaped, harmless, is_terminal, padded, styled

Note = Mapping[str, Any]

_INDENT = "    "
_LEAST: Final = 20  #: columns that the last column of a table has in any case
#: By the name of a column, how it looks on a terminal.
_LOOKS: Final = {
    "id": "cyan", "note": "cyan", "job": "cyan", "run": "cyan", "updated": "dim", "at": "dim", "ran": "dim",
    "begun": "dim", "started": "dim", "last used": "dim", "score": "green",
}  # fmt: skip
_TIMES = ("valid_from", "valid_to")  #: fields of a note that hold a moment, beside those that end in _at


def print_json(value: object) -> None:
    """Print *value* as JSON: one line for a program, indented on a terminal."""
    if not sys.stdout.isatty():
        print(_json(value, separators=(",", ":")))
        return
    print(_json(value, indent=2))


def _json(value: object, **form: Any) -> str:  # noqa: ANN401 - what json takes
    # Where the characters cannot be written, or would steer a terminal, escapes say the same.
    text = json.dumps(value, ensure_ascii=not is_unicode(), **form)
    return escaped(text) if sys.stdout.isatty() else text


def print_line(value: object) -> None:
    """Print *value* as one line of JSON, at once: for streams."""
    print(_json(value, separators=(",", ":")), flush=True)


def width() -> int:
    """Return how many columns there are; text that goes into a pipe is not cut."""
    return columns_of()


def clean(text: str) -> str:
    """Return *text* without characters that could steer a terminal, but for line ends and tabs."""
    return harmless(text)


def in_one_line(text: str) -> str:
    """Return *text* on one line.

    Not all white space becomes a blank: a space that does not break, or is as wide as a sign, belongs to the text.
    """
    return " ".join(filter(None, _without_ends(text).split(" ")))


def one_line(text: str, columns: int) -> str:
    """Return *text* on one line of at most *columns* columns, cut with an ellipsis."""
    return cut(in_one_line(text), columns)


def counted(number: int, thing: str) -> str:
    """Return how many of a *thing* there are: ``1 note``, ``2 notes``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def local_time(moment: str) -> str:
    """Return an RFC 3339 *moment* in this machine's zone, to the second: ``2026-01-31 10:00:00+01:00``.

    What is no moment, or outside the years that can be reckoned with, stays as it is.
    """
    try:
        # isoformat and not strftime, which cuts the colon out of the offset.
        return datetime.fromisoformat(moment).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return clean(moment)


def print_table(rows: Iterable[Sequence[object]], *, header: Sequence[str] = (), right: Sequence[int] = ()) -> None:
    """Print rows in aligned columns; the last column takes what room is left.

    Args:
        rows: Cells; None is shown empty.
        header: Names of the columns, shown on a terminal only.
        right: Numbers of the columns that hold numbers.
    """
    shown = [["" if cell is None else _without_ends(str(cell)) for cell in row] for row in rows]
    if not shown:
        return
    looks = [_LOOKS.get(name, "") for name in header] or [""] * len(shown[0])
    styles = [looks] * len(shown)
    if header and is_terminal():
        shown.insert(0, list(header))
        styles.insert(0, ["bold"] * len(header))
    last = len(shown[0]) - 1
    widths = [max(cells(row[i]) for row in shown) for i in range(last)]
    room = max(_LEAST, width() - sum(widths) - 2 * last)
    for row, look in zip(shown, styles, strict=True):
        parts = [padded(row[i], widths[i], right=i in right) for i in range(last)]
        parts.append(one_line(row[last], room))
        while parts and not parts[-1].strip():
            parts.pop()
        if parts:
            parts[-1] = parts[-1].rstrip()
        print("  ".join(map(styled, parts, look)))


def _without_ends(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")


def print_note(note: Note) -> None:
    """Print everything there is to say about one note."""
    fields = {name: value for name, value in note.items() if name not in ("content", "links") and value not in ("", [])}
    broad = max(len(name) for name in (*fields, "link"))
    for name, value in fields.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        if isinstance(value, str) and (name.endswith("_at") or name in _TIMES):
            shown = local_time(value)
        print(f"{styled(name.ljust(broad), 'dim')}  {one_line(str(shown), width() - broad - 2)}")
    for link in note.get("links", []):
        relation, reason = (one_line(str(link.get(name, "")), width()) for name in ("relation", "reason"))
        print(f"{styled('link'.ljust(broad), 'dim')}  {relation} → {link['to']}  {reason}".rstrip())
    print(f"\n{clean(note['content'])}")


def print_found(
    note: Note,
    *,
    score: float | None = None,
    unsure: bool = False,
    contradicted: bool = False,
    signals: Mapping[str, float] | None = None,
) -> None:
    """Print one recalled note: a line of what it is, then its content indented.

    A note that may not say what was asked is marked with a question mark after its *score*; one that another
    contradicts is, too.
    """
    head = [styled(clean(note["id"]), "cyan"), f"[{note['nugget']}]"]
    if score is not None:
        head.insert(0, styled(f"{score:.2f}{'?' if unsure else ''}", "yellow" if unsure else "green"))
    if note.get("title"):
        head.append(styled(one_line(note["title"], 60), "bold"))
    if contradicted:
        head.append("contradicted by another note")
    print("  ".join(head))
    for line in clean(note["content"]).splitlines():
        print(f"{_INDENT}{line}")
    if signals:
        print(_INDENT + "  ".join(f"{name}={value:.3f}" for name, value in signals.items()))


def notice(message: str) -> None:
    """Say on stderr, to a person only, what is going on."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr)
