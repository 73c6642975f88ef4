"""Step: link isolated notes to those with words in common."""

from typing import Final

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.tending.reflection.action import Action
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import Planning, Step
from shelfd.memory.tending.reflection.words import context_words

_ENOUGH_LINKS: Final = 2
_SHARED: Final = 2  # words two notes must have in common
_NAMED: Final = 3  # words a reason names
_RARE_TERMS: Final = 8
_TRIED: Final = 16  # notes tried for each that wants a link


def plan(picture: Picture) -> Planning[None]:
    """Link each note that has fewer than two links to the nearest one it may be linked to, once per run."""
    linked: set[str] = set()
    for number, note_id in enumerate(picture.looked):
        if len(linked) >= 2 * picture.limit:
            picture.left.update(picture.looked[number:])
            return
        if note_id in linked or (note := picture.live(note_id)) is None:
            yield None
            continue
        if len(picture.linked(note_id)) >= _ENOUGH_LINKS:
            yield None
            continue
        action = yield from _partner(picture, note, linked)
        yield action
        if action is not None and action.other is not None:
            linked |= {note.id, action.other.id}


def _partner(picture: Picture, note: Note, linked: set[str]) -> Planning[Action | None]:
    words = context_words(note, picture.idle_words(note))
    if len(words) < _SHARED:
        return None
    for other_id in picture.near(note, words, terms=_RARE_TERMS, missing=None, limit=_TRIED):
        yield None
        if other_id not in linked and (action := _link(picture, note, picture.live(other_id))) is not None:
            return action
    return None


def _link(picture: Picture, note: Note, other: Note | None) -> Action | None:
    """Link two notes if they fit and have words in common."""
    if other is None or not _fits(picture, note, other):
        return None
    theirs = frozenset(context_words(other, picture.idle_words(other)))
    shared = [word for word in context_words(note, picture.idle_words(note)) if word in theirs]
    return _connected(note, other, shared, picture.now) if len(shared) >= _SHARED else None


def _fits(picture: Picture, note: Note, other: Note) -> bool:
    """Whether the two may be linked and are not."""
    shared_side = {note.scope, other.scope} & {"shared", "project"}
    if note.subject != other.subject and not shared_side:
        return False
    if not picture.may_meet(note, other):
        return False
    if picture.is_linked(note.id, other.id) or picture.is_linked(other.id, note.id):
        return False
    return len(picture.linked(other.id)) < picture.limits.links_count


def _connected(note: Note, other: Note, shared: list[str], now: int) -> Action:
    there = Link(note.id, other.id, "related", "shared context: " + ", ".join(shared[:_NAMED]), now)
    back = there._replace(source=other.id, target=note.id)
    return Action(type="link", note=note, other=other, detail=f"Linked to {other.id}", links=(there, back))


LINK: Final = Step("link", plan, _link)
