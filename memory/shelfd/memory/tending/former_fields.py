"""What the fields of a note go back to when some of its changes are taken back, and which of them stay."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from shelfd.memory.log.history import rewind
from shelfd.memory.notes.note import Extra, Note
from shelfd.memory.ports.log import LogRow

EDITED: Final = "edited"
LATER_RUN: Final = "later_run"
PURGED: Final = "purged"


class Retained(NamedTuple):
    """A field that stays as it is, and why: ``edited``, ``later_run`` or ``purged``."""

    note_id: str  #: or a nugget's name, if *field* is ``nugget``
    field: str
    why: str


def restored_fields(note: Note, changes: list[LogRow], later: list[LogRow], kept: list[Retained]) -> tuple[Note, int]:
    """Return the note with every field back that still says what *changes* wrote, and how many those are."""
    own = {row.seq for row in changes}
    states = _states(note, later)
    values: dict[str, Any] = {}
    restored = 0
    originals = _originals(changes)
    extra = originals.pop("extra", None)
    for name, was in originals.items():
        wrote = next(getattr(state, name) for row, state in reversed(states) if row.seq in own and _has(row, name))
        if getattr(note, name) == wrote:
            values[name] = was
            restored += 1
        elif name == "content" and (rest := _without_received(note.content, was, wrote)) is not None:
            values[name] = rest
            restored += 1
            if not _lines_gained(was, wrote) <= set(note.content.split("\n")):
                kept.append(Retained(note.id, name, _reason(later, own, name)))  # some of the lines were edited since
        else:
            kept.append(Retained(note.id, name, _reason(later, own, name)))
    if extra is not None:
        values["extra"], count = _restored_extra(note, extra, states, own, kept)
        restored += count
    return note._replace(**values), restored


def _states(note: Note, later: list[LogRow]) -> list[tuple[LogRow, Note]]:
    """Each of the note's changes with the state it left, oldest first."""
    found: list[tuple[LogRow, Note]] = []
    state = note
    for row in reversed(later):
        found.append((row, state))
        state = rewind(state, row.before)
    found.reverse()
    return found


def _originals(changes: list[LogRow]) -> dict[str, Any]:
    """What each field was before the first of *changes* that set it."""
    originals: dict[str, Any] = {}
    for row in changes:
        for name, value in (row.before or {}).items():
            originals.setdefault(name, value)
    return originals


def _has(row: LogRow, name: str) -> bool:
    return name in (row.before or {})


def _restored_extra(
    note: Note, was: Extra, states: list[tuple[LogRow, Note]], own: set[int], kept: list[Retained]
) -> tuple[Extra, int]:
    """The rare fields, each back that still says what was written, and how many those are."""
    wrote = next(state.extra for row, state in reversed(states) if row.seq in own and _has(row, "extra"))
    values: dict[str, Any] = {}
    is_superseded_since = any((one.note_id, one.field) == (note.id, "superseded_by") for one in kept)
    for name in sorted(Extra._fields):
        old, new = getattr(was, name), getattr(wrote, name)
        if old == new or (name == "superseded_reason" and is_superseded_since):  # it goes with what it is the reason of
            continue
        if getattr(note.extra, name) == new:
            values[name] = old
        else:
            kept.append(Retained(note.id, name, _reason([row for row, _ in states], own, "extra")))
    return note.extra._replace(**values), len(values)


def _without_received(content: str, was: str, wrote: str) -> str | None:
    """A content that was edited since, without the lines it had received; None if none of those is left."""
    received = _lines_gained(was, wrote)
    lines = content.split("\n")
    rest = [line for line in lines if line not in received]
    if not received or len(rest) == len(lines) or not any(line.strip() for line in rest):
        return None
    return "\n".join(rest)


def _lines_gained(was: str, wrote: str) -> set[str]:
    before = set(was.split("\n"))
    return {line for line in wrote.split("\n") if line.strip() and line not in before}


def _reason(later: Iterable[LogRow], own: set[int], name: str) -> str:
    """Why a field stays: the last change of it that is not ours says whose it is now."""
    others = [row for row in later if row.seq not in own and _has(row, name)]
    return LATER_RUN if others and others[-1].origin.run_id is not None else EDITED
