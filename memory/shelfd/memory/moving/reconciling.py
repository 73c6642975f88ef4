"""How a record and the note of it that is here already are reconciled.

An imported note remembers, as short marks, what the import that wrote it said, facet by facet. So a later import can
distinguish what the file changed since, which is adopted, from what was changed here, which stays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from shelfd.memory.moving.record import NoteRecord
from shelfd.memory.notes.note import Imported, Note

#: What is compared and adopted as one, by the name it is reported under.
FACETS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title", "key"),
    "content": ("content",),
    "tags": ("tags",),
    "metadata": ("type", "subject", "scope", "source", "confidence", "stability"),
    "hidden": ("archived_at",),
    "fields": ("fields", "aliases"),
    "turn": ("seq_to", "turn", "source_span"),
    "rollup": ("parent_id", "is_rollup", "rollup_depth"),
    "replacement": ("superseded_by",),
    "origin": ("author", "occurred_at"),
    "standing": (
        "domain",
        "tier",
        "importance",
        "expires_at",
        "source_type",
        "source_ref",
        "evolution_count",
        "evolved_by",
    ),
}
#: Facets in which most notes say the same.
_COMMONPLACE: Final = frozenset({"tags", "metadata", "hidden"})
#: Facets that every note has, whether its item speaks of them or they were inferred.
_COMMON: Final = frozenset({"title", "content", "tags", "metadata", "hidden"})
_OF_NOTE: Final = frozenset(Note._fields)
#: What gives the values of facets that consist of several fields of a note, at once.
_VALUES: Final = {
    facet: itemgetter(*map(Note._fields.index, names))
    for facet, names in FACETS.items()
    if len(names) > 1 and _OF_NOTE.issuperset(names)
}


@dataclass(frozen=True, slots=True)
class Sender:
    """Who says something about a note: a kind of item of a format, and the nugget it had there.

    Attributes:
        leads: Whether what it says is marked even where the note says so already. Else another sender may be taken
            at its word for both, which spares a change of every note that both speak of.
    """

    format: str
    part: str
    nugget: str
    leads: bool


class Reconciled(NamedTuple):
    """The note as it is to be, and the facets that stay although the record says something else."""

    note: Note
    kept: tuple[str, ...]


def digest(text: str) -> str:
    """Return by what an id of another memory is known again, which so need not be stored."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def marked(note: Note, sender: Sender, says: frozenset[str], *, stands_for: str | None = None) -> Note:
    """Return a new note with the marks of the import that makes it.

    Args:
        says: Facets that its item speaks of.
        stands_for: Digest of the identity it has in the other memory, if its id is another one.
    """
    said = {sender.part: {facet: _mark(note, facet) for facet in _marked_facets(says)}}
    return note._replace(extra=note.extra._replace(imported=Imported(sender.format, sender.nugget, said, stands_for)))


@lru_cache(maxsize=64)  # the items of a file say nearly all the same ones
def _marked_facets(says: frozenset[str]) -> tuple[str, ...]:
    return tuple(facet for facet in FACETS if facet in _COMMON or facet in says)


def marks_of(note: Note, facets: Iterable[str]) -> dict[str, str]:
    """Return the mark of each of these facets of a note, as it is."""
    return {facet: _mark(note, facet) for facet in facets}


def mark_replaced(note: Note, heir_id: str) -> Note:
    """Return an imported note with the mark that the import had it replaced; the note itself if it has that mark."""
    marks = note.extra.imported
    said = {"replacement": digest(heir_id)}
    if marks is None or marks.parts.get("links") == said:
        return note
    return note._replace(extra=note.extra._replace(imported=marks._replace(parts={**marks.parts, "links": said})))


def speaks_for_another(note: Note, record: NoteRecord, part: str) -> bool:
    """Whether *note*, which has the record's key, is the result of another item of the same kind."""
    marks = note.extra.imported
    if marks is None or part not in marks.parts or marks.nugget != record.origin or not record.identity:
        return False
    return digest(record.identity) not in (marks.id, marks.alias)


def reconcile(old: Note, record: NoteRecord, sender: Sender, *, was_undone: bool) -> Reconciled:
    """Return what becomes of *old* when *record* says something about it.

    Args:
        was_undone: Whether it is hidden because its import was taken back; then it comes back.
    """
    marks = old.extra.imported
    if marks is None or marks.nugget != sender.nugget:
        # Made here, or by what another nugget there has under the same name: nothing of it is the sender's.
        marks, was_undone = None, False
    parts = {} if marks is None else marks.parts
    own = dict(parts.get(sender.part, {}))
    others = [mark for part, mark in parts.items() if part != sender.part]
    wanted = record.note()
    changes: dict[str, Any] = {}
    kept: list[str] = []
    for facet in (name for name in FACETS if name in record.says):
        want, now = _mark(wanted, facet), _mark(old, facet)
        written = [mark[facet] for mark in (own, record.base, *others) if facet in mark]
        if want == now:
            if sender.leads or facet in own:
                own[facet] = want
            continue
        if want in written[:1] and not (facet == "hidden" and was_undone):
            continue  # the file says what it said before; what differs was done here
        if now in written or (facet == "hidden" and was_undone):
            changes |= {name: _value(wanted, name) for name in FACETS[facet]}
            own[facet] = want
        else:
            kept.append(facet)
    if not changes and (marks is None or own == parts.get(sender.part, {})):
        return Reconciled(old, tuple(kept))
    name = digest(record.identity)
    if marks is None:
        marks = Imported(sender.format, sender.nugget, {})
    if record.identity and old.id != record.id and marks.id != name:
        marks = marks._replace(alias=name)
    rare = {name: value for name, value in changes.items() if name not in _OF_NOTE}
    extra = old.extra._replace(**rare, imported=marks._replace(parts={**parts, sender.part: own}))
    if "content" in changes:
        extra = extra.following(record.content)._replace(
            rendered=record.extra.rendered,
            last_rewritten_at=record.extra.last_rewritten_at or extra.last_rewritten_at,
        )
    elif "fields" in rare:
        extra = extra.following(old.content)
    changes = {name: value for name, value in changes.items() if name not in rare}
    return Reconciled(old._replace(**changes, extra=extra), tuple(kept))


def _value(note: Note, name: str) -> Any:  # noqa: ANN401
    value = getattr(note if name in _OF_NOTE else note.extra, name)
    return dict(value) if name == "fields" else value


def _mark(note: Note, facet: str) -> str:
    said: tuple[Any, ...]
    if facet == "hidden":
        said = (note.hidden,)  # when it was hidden makes no difference
    elif facet == "tags":
        said = tuple(sorted(note.tags)) if note.tags else ()
    elif facet == "content":
        said = (note.content,)
    elif (of_note := _VALUES.get(facet)) is not None:
        said = of_note(note)
    else:
        said = tuple(_value(note, name) for name in FACETS[facet])
    return _usual(said) if facet in _COMMONPLACE else _short(said)


def _short(said: tuple[Any, ...]) -> str:
    return blake2b(to_json(said), digest_size=6).hexdigest()


#: Most notes of a file say the same in some facets.
_usual: Final = lru_cache(maxsize=4096)(_short)
