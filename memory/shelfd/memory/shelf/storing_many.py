"""Storing many notes in one transaction: what follows from storing one after the other, in half the time.

Most notes of a large request have neither key nor links, and so depend on nothing that is stored. Those that follow
each other are taken through every stage together: a short loop for each stage costs a quarter less than all stages for
each note, and one statement writes them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Extra, Note
from shelfd.memory.shelf.nuggets import ensure_nugget
from shelfd.memory.shelf.storing import StoredNote, compose, store_note, text_of
from shelfd.memory.shelf.turns import TURNS_AHEAD, stamp_turn
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import RememberInput

#: Notes that are taken through a stage together.
_AT_ONCE: Final = 256

_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time

#: What became of an item: the note, or why it was not stored; then nothing of it was.
Stored: TypeAlias = StoredNote | ValidationError | ShelfError
#: Stores a note that evolves.
Evolve: TypeAlias = Callable[[Transaction, RememberInput, Limits], StoredNote]


def store_many(tx: Transaction, items: Sequence[Any], limits: Limits, evolve: Evolve = store_note) -> Iterator[Stored]:
    """Store the params of many notes in their order, and yield what became of each."""
    with tx.writing_together():
        for begin in range(0, len(items), _AT_ONCE):
            yield from _store_slice(tx, _validated(items[begin : begin + _AT_ONCE], limits), limits, evolve)


@cache
def _inputs() -> TypeAdapter[list[RememberInput]]:
    return TypeAdapter(list[RememberInput])


def _validated(items: Sequence[Any], limits: Limits) -> Sequence[RememberInput | ValidationError]:
    try:
        return _inputs().validate_python(items, context=limits)
    except ValidationError:
        return [_validated_one(item, limits) for item in items]


def _validated_one(item: object, limits: Limits) -> RememberInput | ValidationError:
    try:
        return RememberInput.model_validate(item, context=limits)
    except ValidationError as error:
        return error


def _store_slice(
    tx: Transaction, given: Sequence[RememberInput | ValidationError], limits: Limits, evolve: Evolve
) -> Iterator[Stored]:
    new: list[RememberInput] = []
    for one in given:
        if isinstance(one, RememberInput) and not _depends(one):
            new.append(one)
            continue
        yield from _store_new(tx, new, limits)
        new = []
        yield one if isinstance(one, ValidationError) else _store_one(tx, one, limits, evolve)
    yield from _store_new(tx, new, limits)


def _depends(given: RememberInput) -> bool:
    """Whether it takes a look at what is stored to know what becomes of it."""
    return given.key is not None or given.evolve or bool(given.links) or (given.turn or 0) > TURNS_AHEAD


def _store_one(tx: Transaction, given: RememberInput, limits: Limits, evolve: Evolve) -> StoredNote | ShelfError:
    tx.write_in(given.session_id, given.turn)
    try:
        return evolve(tx, given, limits) if given.evolve else store_note(tx, given, limits)
    except ShelfError as error:  # found before its first write
        return error


def _store_new(tx: Transaction, given: Sequence[RememberInput], limits: Limits) -> Iterator[Stored]:
    """Store notes that depend on nothing. What one of them has refused concerns no other."""
    texts: list[tuple[str, Extra] | ShelfError] = []
    for one in given:
        try:
            texts.append(text_of(one, None, limits))
        except ShelfError as error:
            texts.append(error)
    stated = [(one, text) for one, text in zip(given, texts, strict=True) if not isinstance(text, ShelfError)]
    admitted = iter(tx.admit_many([compose(tx, one, text, limits) for one, text in stated]))
    for one, text in zip(given, texts, strict=True):
        new = text if isinstance(text, ShelfError) else next(admitted)
        yield new if isinstance(new, ShelfError) else _create(tx, one, new)


def _create(tx: Transaction, given: RememberInput, note: Note) -> StoredNote:
    tx.write_in(note.session_id, note.turn)
    nugget = ensure_nugget(tx, note.nugget)
    if given.turn is not None and (seq_to := stamp_turn(tx, nugget, given.session_id, given.turn)) is not None:
        note = note._replace(seq_to=seq_to)
    return _made(StoredNote, (tx.create_note(note, is_free=True), "created"))
