"""How results look: JSON for programs, aligned columns for people."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shelfd.client.streams import is_unicode

Note = Mapping[str, Any]

_INDENT = "    "
_TIMES = ("valid_from", "valid_to")  #: fields of a note that hold a moment, beside those that end in _at


def print_json(value: object) -> None:
    """Print *value* as JSON: one line for a program, indented on a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    separators = None if indent else (",", ":")
    # Where the characters cannot be written, escapes say the same.
    print(json.dumps(value, ensure_ascii=not is_unicode(), indent=indent, separators=separators))


def print_line(value: object) -> None:
    """Print *value* as one line of JSON, at once: for streams."""
    print(json.dumps(value, ensure_ascii=not is_unicode(), separators=(",", ":")), flush=True)


def width() -> int:
    """Return how many columns there are; text that goes into a pipe is not cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 1_000_000


def clean(text: str) -> str:
    """Return *text* without characters that could steer a terminal, but for line ends and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def one_line(text: str, columns: int) -> str:
    """Return *text* on one line of at most *columns* characters, cut with an ellipsis."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= columns else flat[: max(0, columns - 1)] + "…"


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
    cells = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]
    if header and sys.stdout.isatty():
        cells.insert(0, list(header))
    if not cells:
        return
    last = len(cells[0]) - 1
    widths = [max(len(row[i]) for row in cells) for i in range(last)]
    room = max(20, width() - sum(widths) - 2 * last)
    for row in cells:
        parts = [row[i].rjust(widths[i]) if i in right else row[i].ljust(widths[i]) for i in range(last)]
        print("  ".join([*parts, one_line(row[last], room)]).rstrip())


def print_note(note: Note) -> None:
    """Print everything there is to say about one note."""
    fields = {name: value for name, value in note.items() if name not in ("content", "links") and value not in ("", [])}
    broad = max(len(name) for name in fields)
    for name, value in fields.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        if isinstance(value, str) and (name.endswith("_at") or name in _TIMES):
            shown = local_time(value)
        print(f"{name.ljust(broad)}  {one_line(str(shown), width())}")
    for link in note.get("links", []):
        relation, reason = (one_line(str(link.get(name, "")), width()) for name in ("relation", "reason"))
        print(f"{'link'.ljust(broad)}  {relation} → {link['to']}  {reason}".rstrip())
    print(f"\n{clean(note['content'])}")


def print_found(
    note: Note, *, score: float | None = None, unsure: bool = False, signals: Mapping[str, float] | None = None
) -> None:
    """Print one recalled note: a line of what it is, then its content indented.

    A note that may not say what was asked is marked with a question mark after its *score*.
    """
    head = [note["id"], f"[{note['nugget']}]"]
    if score is not None:
        head.insert(0, f"{score:.2f}{'?' if unsure else ''}")
    if note.get("title"):
        head.append(one_line(note["title"], 60))
    print("  ".join(head))
    for line in clean(note["content"]).splitlines():
        print(f"{_INDENT}{line}")
    if signals:
        print(_INDENT + "  ".join(f"{name}={value:.3f}" for name, value in signals.items()))


def notice(message: str) -> None:
    """Say on stderr, to a person only, what is going on."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr)


def progress(done: int, total: int) -> None:
    """Show on stderr, to a person only, how far a long listing is."""
    if sys.stderr.isatty():
        print(f"\r{done}/{total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
