"""Storing many notes in one transaction: what follows from storing one after the other, in half the time.

Most notes of a large request have neither key nor links, and so depend on nothing that is stored. Those that follow
each other are taken through every stage together: a short loop for each stage costs a quarter less than all stages for
each note, and one statement writes them. Params of which none depends on another are checked without a model of them,
whose twenty defaults take longer than what was given.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import CoreConfig, SchemaValidator, core_schema

from shelfd.memory.errors import InvalidParams, ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.inference import scopes_by_words, untitled
from shelfd.memory.notes.note import NO_EXTRA, Extra, Note
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.shelf.nuggets import ensure_nugget
from shelfd.memory.shelf.storing import StoredNote, compose, draw_ids, own_tags, store_note, text_of
from shelfd.memory.shelf.turns import TURNS_AHEAD, stamp_turn
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import RememberInput

#: Notes that are taken through a stage together.
_AT_ONCE: Final = 256
#: Params that are looked at together with others, or with what is stored.
_TOGETHER: Final = frozenset({"key", "evolve", "links", "fields", "aliases", "source_ref", "valid_to"})
#: Those that are not: params of no others, with content and a turn that is not far on, are plain.
_PLAIN: Final = RememberInput.model_fields.keys() - _TOGETHER
#: All that most notes say. Those that say no more differ in nothing else, and are made after the first of them.
_USUAL: Final = frozenset({"content", "tags", "author", "session_id"})

_NUGGET, _CONTENT, _DOMAIN, _AUTHOR, _TURN = map(Note._fields.index, ("nugget", "content", "domain", "author", "turn"))
_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time

#: What became of an item: the note, or why it was not stored; then nothing of it was.
Stored: TypeAlias = StoredNote | ValidationError | ShelfError
#: Stores a note that evolves.
Evolve: TypeAlias = Callable[[Transaction, RememberInput, Limits], StoredNote]
#: Plain params of a note: the usual ones that were given, or all, those included that were not given.
_Values: TypeAlias = dict[str, Any]
#: Params of an item, or what is wrong with them.
_Given: TypeAlias = _Values | RememberInput | ValidationError


def store_many(tx: Transaction, items: Sequence[Any], limits: Limits, evolve: Evolve = store_note) -> Iterator[Stored]:
    """Store the params of many notes in their order, and yield what became of each."""
    with tx.writing_together():
        for begin in range(0, len(items), _AT_ONCE):
            yield from _store_slice(tx, _validated(items[begin : begin + _AT_ONCE], limits), limits, evolve)


@cache
def _plain_inputs() -> tuple[SchemaValidator, _Values]:
    """What checks plain params as the model of all params does, and the values of those that are not given."""
    fields = RememberInput.model_fields
    checked = {
        name: core_schema.typed_dict_field(TypeAdapter(fields[name].rebuild_annotation()).core_schema, required=False)
        for name in _PLAIN
    }
    schema = core_schema.list_schema(core_schema.typed_dict_schema(checked))
    validator = SchemaValidator(schema, CoreConfig(strict=True, allow_inf_nan=False))
    return validator, {name: field.get_default(call_default_factory=True) for name, field in fields.items()}


def _validated(items: Sequence[Any], limits: Limits) -> Sequence[_Given]:
    is_plain = list(map(_is_plain, items))
    validator, unsaid = _plain_inputs()
    try:
        said = validator.validate_python(
            [item for item, plain in zip(items, is_plain, strict=True) if plain], context=limits
        )
    except ValidationError:
        return [_validated_one(item, limits) for item in items]
    plain = iter([one if one.keys() <= _USUAL else {**unsaid, **one} for one in said])
    return [
        next(plain) if is_one else _validated_one(item, limits) for item, is_one in zip(items, is_plain, strict=True)
    ]


def _is_plain(item: Any) -> bool:  # noqa: ANN401
    """Whether an item's params are plain, as far as they are right at all."""
    if type(item) is not dict or not item.keys() <= _PLAIN or item.get("content") is None:
        return False
    turn = item.get("turn")
    return turn is None or (type(turn) is int and turn <= TURNS_AHEAD)


def _validated_one(item: object, limits: Limits) -> RememberInput | ValidationError:
    try:
        return RememberInput.model_validate(item, context=limits)
    except ValidationError as error:
        return error


def _store_slice(tx: Transaction, given: Sequence[_Given], limits: Limits, evolve: Evolve) -> Iterator[Stored]:
    new: list[_Values | RememberInput] = []
    for one in given:
        if isinstance(one, dict) or (isinstance(one, RememberInput) and not _depends(one)):
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


def _store_new(tx: Transaction, given: Sequence[_Values | RememberInput], limits: Limits) -> Iterator[Stored]:
    """Store notes that depend on nothing. What one of them has refused concerns no other."""
    texts: list[tuple[str, Extra] | ShelfError] = []
    for one in given:
        try:
            texts.append(_plain_text(one["content"]) if isinstance(one, dict) else text_of(one, None, limits))
        except ShelfError as error:
            texts.append(error)
    stated = [
        (values := one if isinstance(one, dict) else vars(one), text, own_tags(values.get("tags", ())))
        for one, text in zip(given, texts, strict=True)
        if not isinstance(text, ShelfError)
    ]
    composed = _composed(tx, stated, limits)
    admitted = iter(tx.admit_many(composed))
    for text in texts:
        new = text if isinstance(text, ShelfError) else next(admitted)
        yield new if isinstance(new, ShelfError) else _create(tx, new)


def _composed(
    tx: Transaction, stated: Sequence[tuple[_Values, tuple[str, Extra], tuple[str, ...]]], limits: Limits
) -> list[Note]:
    """Return the notes that params, with their texts and own tags, are."""
    scopes = scopes_by_words([(content, tags) for _, (content, _), tags in stated])
    first: Note | None = None
    composed: list[Note] = []
    for (values, text, tags), scope in zip(stated, scopes, strict=True):
        if not values.keys() <= _USUAL:
            composed.append(compose(tx, values, text, limits, by_words=scope))
        elif first is None:
            _, unsaid = _plain_inputs()
            first = compose(tx, {**unsaid, **values}, text, limits, by_words=scope)
            composed.append(first)
        else:
            composed.append(_alike(tx, first, values, text[0], tags, scope))
    return composed


def _alike(tx: Transaction, first: Note, values: _Values, content: str, tags: tuple[str, ...], by_words: str) -> Note:
    """Return what :func:`compose` does of usual params, given the *first* note of such in this transaction."""
    nugget = first.nugget
    return _made(
        Note,
        (
            tx.next_row(),
            tx.draw_id("note", nugget, draw_ids),
            *first[_NUGGET:_CONTENT],
            content,
            tuple([tag for tag in tags if tag != nugget]) if tags else (),
            *untitled("note", by_words, tags),
            *first[_DOMAIN:_AUTHOR],
            values.get("author"),
            values.get("session_id"),
            *first[_TURN:],
        ),
    )


def _plain_text(content: str) -> tuple[str, Extra]:
    """Return what :func:`text_of` does of plain params."""
    content = tidy_content(content)
    if not content.strip():
        raise InvalidParams("content: is empty or blank", field="content")
    return content, NO_EXTRA


def _create(tx: Transaction, note: Note) -> StoredNote:
    tx.write_in(note.session_id, note.turn)
    if note.turn is not None:
        seq_to = stamp_turn(tx, ensure_nugget(tx, note.nugget), note.session_id, note.turn)
        note = note if seq_to is None else note._replace(seq_to=seq_to)
    elif not tx.knows(note.nugget):
        ensure_nugget(tx, note.nugget)
    return _made(StoredNote, (tx.create_note(note, is_free=True), "created"))
