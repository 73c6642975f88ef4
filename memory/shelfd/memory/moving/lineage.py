"""Which states a note has had: by that two copies of a shelf tell who has seen what the other one says.

A state is known by a digest of what the note says and of the states before it. So copies that began as one have the
same states up to where they part, and a state that one of them has behind it is no news to it. What was learnt of other
copies stands in the note itself; what was done here since follows from the log.
"""

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from shelfd.memory.log.history import rewind
from shelfd.memory.notes.note import BOOKKEEPING, NOTHING_KNOWN, Lineage, Note
from shelfd.memory.ports.view import View

#: What of a note is no part of what it says: when it was hidden is none, that it is hidden is.
_LEFT_OUT: Final = BOOKKEEPING | {"id", "archived_at", "extra"}
#: Past states that are remembered: the last ones. A copy that is further behind is taken to be edited apart.
_REMEMBERED: Final = 128


class NoteState(NamedTuple):
    """What a note says, and what is behind that.

    Attributes:
        says: Digest of what it says.
        now: The states that say so: several, where copies came to the same by different ways.
        past: States that these replaced.
        at: When it was so first, microseconds since 1970 UTC; later than that of any state before it.
    """

    says: str
    now: frozenset[str]
    past: frozenset[str]
    at: int

    @property
    def rank(self) -> tuple[int, list[str], str]:
        """What decides which of several states a note shows: the latest."""
        return self.at, sorted(self.now), self.says

    def lineage(self) -> Lineage:
        """Return what is to be remembered of it."""
        return Lineage(tuple(sorted(self.now)), tuple(sorted(self.past)[-_REMEMBERED:]), self.at, self.says)


def state_of(view: View, note: Note) -> NoteState:
    """Return the state of a note, by what it remembers and by its changes since."""
    now, past, at = frozenset[str](), frozenset[str](), 0
    says: str | None = None
    seen: set[Lineage] = set()
    for version, changed_at in _versions(view, note):
        told, known = says_of(version), version.extra.lineage
        if known is not NOTHING_KNOWN and known not in seen and known.says == told:
            seen.add(known)
            now, past, at, says = frozenset(known.now), frozenset(known.past), known.at, told
        elif told != says:
            past |= now
            now, at, says = frozenset({_next(now, told)}), max(changed_at, at + 1), told
    return NoteState(says or "", now, past, at)


def changed_to(state: NoteState, note: Note, at: int) -> NoteState:
    """Return the state of *note*, which was in *state* before it was changed at a time."""
    told = says_of(note)
    if told == state.says:
        return state
    return NoteState(told, frozenset({_next(state.now, told)}), state.past | state.now, max(at, state.at + 1))


def _versions(view: View, note: Note) -> Iterable[tuple[Note, int]]:
    """The states of a note that the log has, oldest first, and when each came to be."""
    if note.rev == 1:
        return [(note, note.created_at)]
    versions: list[tuple[Note, int]] = []
    state = note
    for change in reversed(view.log.of_note(note.row)):
        versions.append((state, note.created_at if change.kind == "note.created" else change.at))
        state = rewind(state, change.before)
    versions.reverse()
    return versions


def says_of(note: Note) -> str:
    """Return a digest of what a note says, whatever its id is."""
    told: dict[str, Any] = {name: value for name, value in note._asdict().items() if name not in _LEFT_OUT}
    told["hidden"] = note.hidden
    extra = note.extra._replace(last_rewritten_at=None, promoted_at=None, lineage=NOTHING_KNOWN, copied_from=None)
    told["extra"] = extra.as_mapping()
    return _digest(json.dumps(told, ensure_ascii=False, sort_keys=True, default=list))


def _next(now: Iterable[str], says: str) -> str:
    return _digest(" ".join([*sorted(now), says]))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def join(ours: NoteState, theirs: NoteState) -> tuple[NoteState | None, NoteState | None]:
    """Return what is left of two states of one note when both copies know all that either did.

    A state is gone that the other copy has behind it. Whatever order copies are joined in, the same is left.

    Returns:
        Ours and theirs, each None if it is gone, with all that is behind either; one that both say is ours.
    """
    past = ours.past | theirs.past
    left, right = ours.now - past, theirs.now - past
    if ours.says == theirs.says:
        now = (left | right) or (ours.now | theirs.now)
        return NoteState(ours.says, now, past - now, max(ours.at, theirs.at)), None
    if not left and not right:  # of logs that were cut, or a digest met twice
        left, right = ours.now, theirs.now
    return (
        ours._replace(now=left, past=past - left) if left else None,
        theirs._replace(now=right, past=past - right) if right else None,
    )
