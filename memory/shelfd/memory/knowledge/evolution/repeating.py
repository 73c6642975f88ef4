"""Whether a note that says the same as an older one says something new all the same."""

from collections.abc import Iterable, Sequence
from typing import Final

from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value
from shelfd.memory.notes.note import Note
from shelfd.memory.shelf.storing import DAY_MICROS, life_of, own_tags
from shelfd.protocol.methods.notes import KeyedInput, NoteInput

#: By these notes are found; one that says them otherwise than the older note does would not be found by them.
_FOUND_BY: Final = ("type", "subject", "author", "domain", "tier")
#: What is told again sooner is the same occasion, told twice.
_OCCASION: Final = DAY_MICROS // 4


def adds(given: NoteInput, note: Note, *, when: int, statements: Sequence[Statement] | None) -> bool:
    """Return whether a caller says more than an older note that says the same.

    Args:
        given: What the caller says.
        note: The older note.
        when: Microseconds since 1970 UTC of what the caller tells.
        statements: What both state; None if it is known to be the same occasion.
    """
    if isinstance(given, KeyedInput) and given.key is not None:
        return True
    more: Iterable[object] = (given.links, given.fields, given.aliases, given.pinned and not note.pinned)
    times = (given.valid_from not in (None, note.valid_from), given.valid_to not in (None, note.valid_to))
    if any(more) or any(times) or (given.title and given.title != note.title):
        return True
    said = given.model_fields_set
    if any(name in said and getattr(given, name) not in (None, getattr(note, name)) for name in _FOUND_BY):
        return True
    if not set(own_tags(given.tags)) <= set(note.all_tags):
        return True
    return statements is not None and _is_again(given, note, when, statements)


def prolonged(given: NoteInput, note: Note, default_ttl_days: int | None, now: int) -> Note:
    """Return the older note with as long a life as the caller's would have, if its own ends sooner."""
    ttl_days, expires_at = life_of(given.ttl_days, default_ttl_days, now)
    if note.expires_at is None or (expires_at is not None and expires_at <= note.expires_at):
        return note
    return note._replace(expires_at=expires_at, extra=note.extra._replace(ttl_days=ttl_days))


def _is_again(given: NoteInput, note: Note, when: int, statements: Sequence[Statement]) -> bool:
    """Whether what both tell may have happened twice: "The backup failed", in March and in May."""
    if all(_lasts(statement) or _is_dated(statement) for statement in statements):
        return False
    if given.occurred_at is not None and note.occurred_at is not None:
        return given.occurred_at != note.occurred_at
    return abs(when - note.when) >= _OCCASION


def _lasts(statement: Statement) -> bool:
    """Whether a statement is of what is so, not of what happened; of what was not understood, it is not known."""
    if statement.effect is not Effect.SAYS or statement.slot is Arity.FIXED:
        return True
    return not statement.event and statement.value is not Value.NONE


def _is_dated(statement: Statement) -> bool:
    """Whether a statement says on which day, or in which month of which year."""
    words = (*statement.words, *statement.core, *statement.rest)
    return any(word[0] == "~" and ":" not in word and any(sign.isdigit() for sign in word) for word in words)
