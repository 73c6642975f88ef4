"""The files of Nuggets: facts (``*.nugget.json``, ``*.donna.json``, versions 1 to 4) and the graph (versions 1 to 3).

Fields that are missing get this memory's defaults, metadata that is missing is inferred by its rules. Ids and keys stay
as they are stored: no scope prefix is added to a key. In a graph older than version 3, what stands as metadata of a
note whose title has no such prefix was a guess known to be wrong, and is inferred again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, complaint, one_line, past
from shelfd.memory.moving.record import LinkRecord, Loss, NoteRecord, NuggetRecord, OutgoingLinks
from shelfd.memory.notes.inference import KnownTraits, Traits, clamp, infer, title_tags
from shelfd.memory.notes.note import Extra, Usage
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.shelf.storing import own_tags
from shelfd.protocol import Limits
from shelfd.protocol.base import Kind, NoteId, Scope, Source, Stability, Token, Word
from shelfd.protocol.methods.notes import KeyedInput
from shelfd.protocol.methods.nuggets import NuggetCreateParams

_FACTS_VERSION: Final = 4
_GRAPH_VERSION: Final = 3
_SUFFIXES: Final = (".nugget.json", ".donna.json", ".json")
_NAMES: Final = ("nuggetName", "donnaName", "nugget_name")
#: What this memory calls the options of a nugget.
_OPTIONS: Final = {"dimension": "D", "banks": "banks", "ensembles": "ensembles"}
_REASON_CHARACTERS: Final = 512
_ADAPTERS: Final[Mapping[str, TypeAdapter[Any]]] = {
    name: TypeAdapter(type_) for name, type_ in {"id": NoteId, "token": Token, "word": Word}.items()
}
#: Facets of a note that the graph speaks of; of a fact, only its value and that it is there.
_GRAPH_SAYS: Final = frozenset({"title", "content", "tags", "metadata", "hidden"})
_FACT_SAYS: Final = frozenset({"content", "hidden"})


def read_nugget(item: object, origin: ItemOrigin) -> NuggetRecord:
    """Read the header of a fact file: name and options. What it says of vectors has no counterpart here."""
    header = Item(item, origin.limits)
    given = _nugget_of(header, header.take("name"), origin)
    _check_version(header, _FACTS_VERSION)
    if header.take("config") is not None:
        header.record_loss("config", "this memory's vectors have no such settings")
    options = {name: value for name, theirs in _OPTIONS.items() if (value := header.take(theirs)) is not None}
    max_facts = header.count("max_facts")
    try:
        made = NuggetCreateParams.model_validate({"name": given, "max_facts": max_facts, **options})
    except ValidationError as error:
        header.record_loss("options", f"{complaint(error)}; the defaults are taken")
        made = NuggetCreateParams(name=given, max_facts=max_facts)
    return NuggetRecord(
        name=given,
        origin=_origin_name(item, ("name",), origin),
        dimension=made.dimension,
        banks=made.banks,
        ensembles=made.ensembles,
        max_facts=made.max_facts,
        losses=header.all_losses(),
    )


def read_fact(item: object, origin: ItemOrigin) -> NoteRecord:
    """Read a fact. It has no id, no dates and no metadata of its own."""
    fact = Item(item, origin.limits)
    name = _nugget_of(fact, origin.header.get("name"), origin)
    theirs = _origin_name(origin.header, ("name",), origin)
    given = _kept_text({"nugget": name, "key": _required(fact, "key"), "content": fact.take("value")}, origin.limits)
    key, content = str(given.key), tidy_content(str(given.content))
    tags = title_tags(key)[: origin.limits.tags_count]
    return NoteRecord(
        id=None,
        identity="",
        has_id=False,
        nugget=name,
        origin=theirs,
        kind="fact",
        title=key,
        content=content,
        tags=tags,
        traits=infer("fact", key, content, tags, Traits()),
        says=_FACT_SAYS,
        archived_at=None,
        created_at=origin.now,
        updated_at=origin.now,
        usage=_usage(fact, None),
        extra=Extra(source_key=key),
        losses=fact.all_losses(),
    )


def read_note(item: object, origin: ItemOrigin) -> NoteRecord:
    """Read a note of the graph; its links are read by :func:`read_links`."""
    note = Item(item, origin.limits)
    note.take("links")
    if note.take("vector") is not None:
        note.record_loss("vector", "is made anew of the words here")
    theirs = _origin_name(item, _NAMES, origin)
    name = _nugget_of(note, theirs, origin)
    note.take(*_NAMES)
    kind = note.choice(get_args(Kind), "kind") or "note"
    given = _text(note, kind, name)
    title, content = given.key or given.title or "", tidy_content(str(given.content))
    tags = _own_tags(note, name, theirs)
    id_, identity = _identity(note, (theirs, kind, title, content))
    created_at = _past(note, origin, "createdAt", "created_at") or origin.now
    updated_at = max(created_at, _past(note, origin, "updatedAt", "updated_at") or 0)
    return NoteRecord(
        id=id_,
        identity=identity,
        has_id=isinstance(note.take("id"), str),
        nugget=name,
        origin=theirs,
        kind=kind,
        title=title,
        content=content,
        tags=tags,
        traits=_traits(note, origin, (kind, title, content, tags)),
        says=_GRAPH_SAYS,
        archived_at=_archived_at(note, origin, updated_at),
        created_at=created_at,
        updated_at=updated_at,
        usage=_usage(note, _past(note, origin, "lastAccessedAt", "last_accessed_at")),
        extra=_extra(note, origin, kind, title),
        losses=note.all_losses(),
    )


def read_links(item: object, origin: ItemOrigin) -> OutgoingLinks:
    """Read the links of a note of the graph. Several to one note become one link with all of their reasons."""
    note = Item(item, origin.limits)
    source = note.take("id")
    if not isinstance(source, str):
        raise InvalidParams("id: is not text", field="id")
    given = note.take("links")
    by_target: dict[str, list[tuple[str, int]]] = {}
    for member in given if isinstance(given, list) else []:
        link = Item(member, origin.limits) if isinstance(member, Mapping) else None
        target = None if link is None else link.take("to")
        if link is None or not isinstance(target, str) or not target:
            note.record_loss("links", "a link leads nowhere")
            continue
        made_at = _past(link, origin, "createdAt", "created_at") or origin.now
        by_target.setdefault(target, []).append((one_line(link.take("reason")), made_at))
    links = tuple(_link(note, target, found) for target, found in by_target.items())
    return OutgoingLinks(source, links, tuple(note.losses))


def count_links(part: str, item: object) -> int:
    """Return about how many links an item makes: those that leave a note of the graph."""
    given = item.get("links") if part == "links" and isinstance(item, Mapping) else None
    return len(given) if isinstance(given, list) else 0


# ------------------------------------------------------------------ parts of a note


def _text(note: Item, kind: str, nugget: str) -> KeyedInput:
    """What a note cannot be without: content and, of a fact, a key."""
    content = note.take("content")
    key, title = note.take("sourceKey", "source_key"), note.take("title")
    if kind == "fact":
        key = title if key is None else key
        return _kept_text({"nugget": nugget, "key": "" if key is None else key, "content": content}, note.limits)
    if key is not None:
        note.record_loss("sourceKey", "only a fact has a key")
    return _kept_text({"nugget": nugget, "title": note.title(title), "content": content}, note.limits)


def _kept_text(fields: Mapping[str, Any], limits: Limits) -> KeyedInput:
    return KeyedInput.model_validate(fields, context=limits)


def _required(item: Item, name: str) -> Any:  # noqa: ANN401
    """A member that must be there: what is missing is as good as empty."""
    value = item.take(name)
    return "" if value is None else value


def _identity(note: Item, content: Sequence[str]) -> tuple[str | None, str]:
    """The note's id if it can be kept, and what it is known by in any case."""
    raw = note.take("id")
    id_: str | None = None
    try:
        id_ = str(_ADAPTERS["id"].validate_python(raw, strict=True, context=note.limits))
    except ValidationError as error:
        note.record_loss("id", f"{'is missing' if raw is None else complaint(error)}; the note gets a new one")
    return id_, raw if isinstance(raw, str) else "\n".join(content)


def _own_tags(note: Item, nugget: str, theirs: str) -> tuple[str, ...]:
    """Tags but for those that follow from nugget, scope and type there and here."""
    system = {nugget, re.sub(r"\s+", "-", theirs.strip().lower())}
    own = own_tags([tag for tag in note.tags("tags") if tag not in system])
    most = note.limits.tags_count
    if len(own) > most:
        note.record_loss("tags", f"{len(own) - most} more than a note can have")
    return own[:most]


def _traits(note: Item, origin: ItemOrigin, text: tuple[str, str, str, tuple[str, ...]]) -> KnownTraits:
    stored = Traits(
        type=note.checked(_ADAPTERS["word"], "type"),
        subject=note.checked(_ADAPTERS["word"], "subject"),
        scope=note.choice(get_args(Scope), "scope"),
        source=note.choice(get_args(Source), "source"),
        confidence=note.number("confidence"),
        stability=note.choice(get_args(Stability), "stability"),
    )
    version = origin.header.get("version")
    is_old = not isinstance(version, int) or version < _GRAPH_VERSION
    if is_old and not _has_scope(text[1]):
        guessed = infer(*text, Traits())
        known = {name: value for name, value in stored._asdict().items() if value is not None}
        if any(getattr(guessed, name) != value for name, value in known.items()):
            note.record_loss("metadata", f"inferred anew: a graph before version {_GRAPH_VERSION} has it wrong")
        return guessed
    confidence = stored.confidence
    if confidence is not None and clamp(confidence) != confidence:
        note.record_loss("confidence", "lies outside of 0 to 1 and is moved into it")
    return infer(*text, stored)


def _has_scope(key: str) -> bool:
    prefix, colon, _ = key.partition(":")
    return bool(colon) and prefix.casefold() in get_args(Scope)


def _archived_at(note: Item, origin: ItemOrigin, updated_at: int) -> int | None:
    archived_at = _past(note, origin, "archivedAt", "archived_at")
    if note.flag("hidden"):
        return archived_at or updated_at
    if archived_at is not None:
        note.record_loss("archivedAt", "the note is not hidden")
    return None


def _past(item: Item, origin: ItemOrigin, *names: str) -> int | None:
    return past(item, names[0], item.instant(*names), origin)


def _usage(item: Item, accessed_at: int | None) -> Usage:
    hits = item.count("hits")
    session = item.checked(_ADAPTERS["token"], "lastHitSession", "last_hit_session") if _has_session(item) else ""
    if hits > 1:
        item.record_loss("hits", "kept as a count: of the sessions behind it only the last one is known")
    return Usage(hits, 0, accessed_at or 0, session or "")


def _has_session(item: Item) -> bool:
    """Whether a last session is named: an empty name means never used."""
    return bool(item.take("lastHitSession", "last_hit_session") != "")


def _extra(note: Item, origin: ItemOrigin, kind: str, title: str) -> Extra:
    if kind == "fact":
        shown = note.take("title")
        if isinstance(shown, str) and shown.strip().casefold() != title.casefold():
            note.record_loss("title", "a fact's title is its key")
    rewritten_at = _past(note, origin, "lastRewrittenAt", "last_rewritten_at")
    return Extra(source_key=title if kind == "fact" else None, last_rewritten_at=rewritten_at)


def _link(note: Item, target: str, found: Sequence[tuple[str, int]]) -> LinkRecord:
    reasons: dict[str, str] = {}
    for reason, _ in found:
        if reason:
            reasons.setdefault(reason.lower(), reason)
    kept: list[str] = []
    for reason in reasons.values():
        if len("; ".join([*kept, reason])) > _REASON_CHARACTERS:
            note.record_loss("links", f"reasons beyond {_REASON_CHARACTERS} characters")
            break
        kept.append(reason)
    return LinkRecord(target, tuple(kept), min(made_at for _, made_at in found))


# ------------------------------------------------------------------ names and versions


def _origin_name(item: object, names: Sequence[str], origin: ItemOrigin) -> str:
    """The nugget's name there; a file that does not say it is named by its own name."""
    given = item if isinstance(item, Mapping) else {}
    named = next((value for name in names if isinstance(value := given.get(name), str) and value.strip()), None)
    if named is not None:
        return named
    suffix = next((suffix for suffix in _SUFFIXES if origin.name.endswith(suffix)), "")
    return origin.name.removesuffix(suffix) if suffix != ".json" else "memory"


def _nugget_of(item: Item, named: object, origin: ItemOrigin) -> str:
    theirs = named if isinstance(named, str) and named.strip() else _origin_name(None, (), origin)
    return item.nugget(theirs)


def _check_version(header: Item, newest: int) -> None:
    version = header.take("version")
    if version is not None and (not isinstance(version, int) or version > newest):
        header.losses.append(Loss("version", f"is not known here; read as version {newest}"))


#: The complete format.
NUGGETS: Final = Format(
    name="nuggets",
    readers={"nuggets": read_nugget, "notes": read_note, "facts": read_fact, "links": read_links},
    weigh=count_links,
)
