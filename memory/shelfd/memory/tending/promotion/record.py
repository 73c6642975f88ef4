"""What a shelf has on record of a MEMORY.md: what promotion wrote, and what it was about to write."""

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Final

from shelfd.memory.ports.tending import Promoted

_SEAL: Final = "sha256:"
#: In the place of a line that a person has changed, of a note that has gone: the file may still hold text of it.
_EDITED: Final = "edited"
#: Stands with what is intended, so that to intend nothing is not to have no intention.
_MARK: Final = Promoted("", "", "", 0)
#: A value shorter than this may stand in a person's line by chance.
_TELLING: Final = 8


def settle(text: str | None, written: Sequence[Promoted], intended: Sequence[Promoted]) -> list[Promoted]:
    """Return what promotion has in a file, whichever side of its last change the daemon died on.

    The file is replaced atomically, so that either all of what was intended is there or none of it; people may have
    edited it since.

    Args:
        text: The file's text, None if there is no file.
        written: What was on record before that change.
        intended: What the change would make of it, as :func:`intention` gives it; empty if none was under way.
    """
    lines = frozenset((text or "").splitlines())
    known, wanted = _unsealed(written, lines), _unsealed([row for row in intended if row != _MARK], lines)
    return wanted if intended and _has_happened(lines, known, wanted) else known


def intention(rows: Sequence[Promoted]) -> list[Promoted]:
    """Return what to put on record when a file is about to hold *rows* and nothing else of promotion's."""
    return [*rows, _MARK]


def edited(rows: Sequence[Promoted], text: str, gone: Collection[str], ours: Collection[str]) -> list[Promoted]:
    """Return, without their text, the rows of notes that are *gone* whose line a person has changed.

    Whoever purges them has to name the file, also if a crash or another promotion comes before.

    Args:
        rows: What was on record before.
        text: What the file holds now.
        ours: The lines that promotion has there.
    """
    return [
        row._replace(section="", line=_EDITED)
        for row in rows
        if row.note_id in gone and (is_edited(row) or is_left_in(text, row, ours))
    ]


def is_edited(row: Promoted) -> bool:
    """Return whether *row* only says that a file may hold text of a note that has gone."""
    return row.line == _EDITED


def _has_happened(lines: Collection[str], written: Sequence[Promoted], intended: Sequence[Promoted]) -> bool:
    old, new = ({row.line for row in rows if row.note_id and not _is_blind(row)} for rows in (written, intended))
    if added := new - old:
        return any(line in lines for line in added)
    return not any(line in lines for line in old - new)


def sealed(rows: Sequence[Promoted], ids: Collection[str]) -> list[Promoted]:
    """Return *rows* with the lines of the notes *ids* replaced by their fingerprints.

    For a file that cannot be written now: its line can still be recognised later, and the record holds no text.
    """
    return [row._replace(line=seal(row.line)) if _is_to_seal(row, ids) else row for row in rows]


def seal(line: str) -> str:
    """Return the fingerprint of a line."""
    return _SEAL + sha256(line.encode()).hexdigest()


def _unsealed(rows: Sequence[Promoted], lines: Collection[str]) -> list[Promoted]:
    """Return *rows* with the lines that are known by their fingerprints alone, as far as they stand in the file."""
    by_seal = {seal(line): line for line in lines} if any(_is_sealed(row) for row in rows) else {}
    return [row._replace(line=by_seal[row.line]) if row.line in by_seal else row for row in rows]


def _is_blind(row: Promoted) -> bool:
    return _is_sealed(row) or is_edited(row)


def _is_to_seal(row: Promoted, ids: Collection[str]) -> bool:
    return row.note_id in ids and not _is_blind(row)


def _is_sealed(row: Promoted) -> bool:
    return row.line.startswith(_SEAL)  # promotion's own lines are bullets


def is_left_in(text: str, row: Promoted, ours: Collection[str]) -> bool:
    """Return whether *text* still holds what promotion once wrote in *row*, in a line that a person has changed.

    Args:
        ours: The lines that promotion has there now.
    """
    if _is_sealed(row):
        return any(seal(line) == row.line for line in text.splitlines())
    title, _, value = row.line.removeprefix("- ").partition("**: ")
    for line in text.splitlines():
        if line not in ours and (title in line or (len(value) >= _TELLING and value in line)):
            return True
    return False
