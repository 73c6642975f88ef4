"""The lines of a snapshot: notes, links and nuggets as they were on a shelf, to be there again in every field."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.lineage import NoteState
from shelfd.memory.moving.reading import Format, ItemOrigin
from shelfd.memory.moving.record import RestoredLinks, RestoredNote, RestoredNugget
from shelfd.memory.moving.snapshot import ELSEWHERE, FORMAT
from shelfd.memory.notes.note import BLANK, NEVER_USED, NO_EXTRA, Extra, Link, Note, Nugget, Usage, fold_key
from shelfd.protocol.base import NoteId
from shelfd.protocol.limits import MAX_INTEGER
from shelfd.protocol.methods.notes import KeyedInput
from shelfd.protocol.methods.schema import TypeName, TypeProperties

_ID: Final = TypeAdapter[str](NoteId)
_NOTE: Final = TypeAdapter(Note)
_USAGE: Final = TypeAdapter(Usage)
_LINK: Final = TypeAdapter(Link)
_NUGGET: Final = TypeAdapter(Nugget)
_TYPE_NAME: Final = TypeAdapter[str](TypeName)
_DIGESTS: Final = TypeAdapter(frozenset[Annotated[str, Field(max_length=32)]])
_SAYS: Final = TypeAdapter[str](Annotated[str, Field(max_length=32)])
_AT: Final = TypeAdapter[int](Annotated[int, Field(strict=True, ge=0, le=MAX_INTEGER)])
_PLACES: Final = {name: at for at, name in enumerate(Note._fields) if name not in ELSEWHERE}
_ID_AT, _CONTENT, _TAGS, _EXTRA = map(Note._fields.index, ("id", "content", "tags", "extra"))  # which is the last
_NO_EXTRA: Final = NO_EXTRA._replace(fields={})  # as JSON has it
#: Of a note's fields, those whose limits are those of what callers say.
_SAID: Final = ("nugget", "type", "subject", "scope", "source", "stability", "domain", "importance", "tier")
#: Those of which more is asked than that they are of the right type.
_JUDGED: Final = frozenset({*_SAID, "kind", "title", "key", "confidence", "extra"})
_said: Final = itemgetter(*map(Note._fields.index, _SAID))
_SHORT: Final = 128  #: characters of an id, which may have more
_CACHED: Final = 1_024  #: values of these together, of which a shelf has few
#: What is known of notes by the names of the fields that their lines have, and the types of the values. Checking each
#: value anew takes several times as long.
_SHAPES: Final[dict[tuple[object, ...], "_Shape"]] = {}
_SHAPES_KEPT: Final = 256
_TEXT: Final = frozenset((str,))
_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time


class _Shape(NamedTuple):
    """What is known of notes whose lines have the same fields, with values of the same types: that these are right.

    Attributes:
        places: Of the values, in a note.
        integers: Those of them that are integers.
        is_judged: Whether what one of them may be depends on more than its type.
    """

    places: tuple[int, ...]
    integers: tuple[int, ...]
    is_judged: bool


def read_note(item: object, origin: ItemOrigin) -> RestoredNote:
    """Read a note; its links are read by :func:`read_links`."""
    line, rest = _line(item)
    note = _read_alike(line, rest, origin) or _read(line, rest, origin)
    usage = rest.get("usage")
    used = NEVER_USED if usage is None else _record(_USAGE, Usage, usage, "shelfd.usage")
    return _made(RestoredNote, (note, used))


def _read_alike(line: Mapping[str, Any], rest: Mapping[str, Any], origin: ItemOrigin) -> Note | None:
    """Return the note of a line that is like others before; None if it is not, or if something may be wrong with it."""
    fields, content, note_id = rest.get("note"), line.get("content"), line.get("id")
    if type(fields) is not dict or type(content) is not dict or type(note_id) is not str or "state" in rest:
        return None
    text = content.get("raw")
    shape = _SHAPES.get((*fields, *map(type, fields.values())))
    if shape is None or type(text) is not str:
        return None
    values: list[Any] = list(BLANK)
    values[_ID_AT], values[_CONTENT] = note_id, text
    for place, value in zip(shape.places, fields.values(), strict=True):
        values[place] = value
    if not _TEXT.issuperset(map(type, values[_TAGS])):
        return None
    values[_TAGS] = tuple(values[_TAGS])
    note = _made(Note, values)
    if shape.is_judged or not (_is_plain_id(note_id) and _is_plain_text(text, origin)):
        _check(note, origin)
    for place in shape.integers:
        if abs(values[place]) > MAX_INTEGER:
            return None
    return note


def _read(line: Mapping[str, Any], rest: Mapping[str, Any], origin: ItemOrigin) -> Note:
    fields = _object(rest.get("note", {}), "shelfd.note")
    values: list[Any] = list(BLANK)
    for name, value in fields.items():
        if (place := _PLACES.get(name)) is None:
            unknown = min(fields.keys() - _PLACES.keys())
            raise InvalidParams(f"shelfd.note.{unknown[:64]}: is not known here", field="shelfd.note")
        values[place] = value
    values[_ID_AT], values[_CONTENT] = line.get("id"), _object(line.get("content"), "content").get("raw")
    values[_EXTRA] = NO_EXTRA
    if "extra" in fields or "state" in rest:
        extra = _extra(fields.get("extra", {}))
        values[_EXTRA] = extra._replace(lineage=read_state(rest).lineage()) if "state" in rest else extra
    if isinstance(tags := values[_TAGS], list):
        values[_TAGS] = tuple(tags)
    note = _note(tuple(values))
    _check(note, origin)
    _check_integers(fields.values())
    if note.extra is NO_EXTRA and tuple(map(type, values)) == tuple(map(type, note)):
        _remember(fields)
    return note


def _note(values: tuple[Any, ...]) -> Note:
    """Return the note of these values, in the order of its fields.

    Raises:
        ValidationError: If one is of another type than its field.
    """
    if values[_EXTRA] is not NO_EXTRA:
        return _NOTE.validate_python(values, strict=True)
    return _NOTE.validate_python((*values[:_EXTRA], _NO_EXTRA), strict=True)._replace(extra=NO_EXTRA)


def _remember(fields: Mapping[str, Any]) -> None:
    """Remember that values of these types are right for these fields."""
    if len(_SHAPES) < _SHAPES_KEPT:
        integers = tuple(_PLACES[name] for name, value in fields.items() if type(value) is int)
        places = tuple(_PLACES[name] for name in fields)
        _SHAPES[*fields, *map(type, fields.values())] = _Shape(places, integers, not _JUDGED.isdisjoint(fields))


def read_state(rest: Mapping[str, Any]) -> NoteState:
    """Read which states a note has had there, as far as the line says."""
    given = rest.get("state")
    if given is None:
        return NoteState("", frozenset(), frozenset(), 0)
    state = _object(given, "shelfd.state")
    try:
        now, past = (_DIGESTS.validate_python(state.get(name)) for name in ("now", "past"))
        return NoteState(_SAYS.validate_python(state.get("says")), now, past, _AT.validate_python(state.get("at")))
    except ValidationError:
        raise InvalidParams("shelfd.state: is not what a shelf has", field="shelfd.state") from None


def _extra(given: object) -> Extra:
    try:
        extra = Extra.of({"fields": {}, **_object(given, "shelfd.note.extra")})
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InvalidParams("shelfd.note.extra: is not what a note has", field="shelfd.note.extra") from None
    return extra


def _check(note: Note, origin: ItemOrigin) -> None:
    """Raise unless *note* could be on a shelf."""
    if not _is_plain_id(note.id):
        _ID.validate_python(note.id, strict=True, context=origin.limits)
    content = note.content
    is_plain = not note.title and _is_plain_text(content, origin)
    if not (is_plain and note.kind == "note" and _may_be_said(_said(note))):
        named = {"key": note.title} if note.kind == "fact" else {"title": note.title}
        said = dict(zip(_SAID, _said(note), strict=True))
        KeyedInput.model_validate({**said, **named, "content": content}, context=origin.limits)
    if (note.kind, note.key) != ("note", None) and (note.kind, note.key) != ("fact", fold_key(note.title)):
        raise InvalidParams("shelfd.note.key: is not that of its title", field="shelfd.note.key")
    if not 0 <= note.confidence <= 1:
        raise InvalidParams("shelfd.note.confidence: lies outside of 0 to 1", field="shelfd.note.confidence")


def _is_plain_id(note_id: str) -> bool:
    """Return whether an id is right at first sight, as nearly all are."""
    return 0 < len(note_id) <= _SHORT and note_id.isprintable()


def _is_plain_text(content: str, origin: ItemOrigin) -> bool:
    """Return whether a text is right at first sight, as nearly all are."""
    return 0 < len(content) * 4 <= origin.limits.content_bytes and not content.isspace()


@lru_cache(_CACHED)
def _may_be_said(values: tuple[Any, ...]) -> bool:
    """Return whether a caller may say these values of a note, the fields *_SAID*."""
    try:
        KeyedInput.model_validate({**dict(zip(_SAID, values, strict=True)), "content": "."})
    except ValidationError:
        return False
    return True


def _check_integers(record: Iterable[object]) -> None:
    if any([abs(value) > MAX_INTEGER for value in record if type(value) is int]):  # noqa: C419 (a third of the time)
        raise InvalidParams(f"shelfd: a number is larger than {MAX_INTEGER}", field="shelfd", limit=MAX_INTEGER)


def read_links(item: object, _origin: ItemOrigin) -> RestoredLinks:
    """Read the links that leave a note."""
    line, rest = _line(item)
    given = rest.get("links", [])
    if not isinstance(given, list):
        raise InvalidParams("shelfd.links: is no list", field="shelfd.links")
    links = tuple(_record(_LINK, Link, link, "shelfd.links") for link in given)
    for link in links:
        if link.source != line.get("id"):
            raise InvalidParams("shelfd.links: leave another note", field="shelfd.links")
        _check_integers(link)
    return RestoredLinks(str(line.get("id")), links)


def read_nugget(item: object, origin: ItemOrigin) -> RestoredNugget:
    """Read a nugget's options, and the types of notes that were set in it."""
    _, rest = _line(item)
    nugget = _record(_NUGGET, Nugget, rest.get("nugget"), "shelfd.nugget")
    KeyedInput.model_validate({"nugget": nugget.name, "content": "."}, context=origin.limits)
    _check_integers(nugget)
    types = _object(rest.get("types", {}), "shelfd.types")
    for name, properties in types.items():
        _TYPE_NAME.validate_python(name, context=origin.limits)
        TypeProperties.model_validate(properties, context=origin.limits)
    return RestoredNugget(nugget, types)


def _line(item: object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    line = _object(item, "item")
    rest = _object(line.get("shelfd"), "shelfd")
    if rest.get("format") != FORMAT:
        raise InvalidParams("shelfd.format: is not known here; install a newer shelfd", field="shelfd.format")
    return line, rest


def rest_of(item: object) -> Mapping[str, Any]:
    """Return what stands under ``shelfd`` in a line.

    Raises:
        InvalidParams: If that is not known here.
    """
    return _line(item)[1]


def _object(value: object, name: str) -> Mapping[str, Any]:
    if type(value) is dict:  # as nearly always; to ask whether it is a mapping takes ten times as long
        return value
    if not isinstance(value, Mapping):
        raise InvalidParams(f"{name}: is not an object", field=name)
    return value


def _record(adapter: TypeAdapter[Any], kind: type, value: object, name: str) -> Any:  # noqa: ANN401
    try:
        return adapter.validate_python(kind(**_object(value, name)), strict=True)
    except (TypeError, ValidationError):
        raise InvalidParams(f"{name}: is not what a shelf has", field=name) from None


def weigh(part: str, item: object) -> int:
    """Return how many links an item makes."""
    if part != "links":
        return 0
    rest = item.get("shelfd") if isinstance(item, Mapping) else None
    links = rest.get("links") if isinstance(rest, Mapping) else None
    return len(links) if isinstance(links, list) else 0


#: The complete format.
LINES: Final = Format(
    name="shelfd",
    readers={"nuggets": read_nugget, "notes": read_note, "links": read_links},
    weigh=weigh,
    times=2,
)
