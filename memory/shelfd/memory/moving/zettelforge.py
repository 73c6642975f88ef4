"""ZettelForge's notes, as the lines of its older store have them and the rows of its newer one say the same.

What it derives of a note, such as context, keywords, entities and a vector, is derived here too. It lets every note
vanish after some days unsaid; here only one with a TTL expires.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from shelfd.memory.errors import InvalidParams
from shelfd.memory.knowledge.entities.kinds import ENTITY_TYPES, key_of, shown
from shelfd.memory.knowledge.model.reading import RELATIONS
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, past
from shelfd.memory.moving.record import USUAL, LinkRecord, NoteRecord, NoteStanding, OutgoingLinks
from shelfd.memory.notes.inference import Traits, clamp, infer
from shelfd.memory.notes.note import NO_EXTRA, Extra, Usage
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.ports.edges import Edge, EdgeEnd
from shelfd.memory.shelf.storing import DAY_MICROS, own_tags
from shelfd.protocol.base import NoteId, SourceType, Tier, Word
from shelfd.protocol.methods.notes import KeyedInput

_ID: Final = TypeAdapter[str](NoteId)
_IDS: Final = TypeAdapter[list[str]](list[NoteId])
_WORD: Final = TypeAdapter[str](Word)
_NUGGET_UNASKED: Final = "memory"
_SOURCE_REF_CHARACTERS: Final = 2048
_LONGEST_LIFE_DAYS: Final = 36_500
#: Notes by which one evolved, as many as are remembered.
_REMEMBERED: Final = 16
#: Characters of an edge's end, of what type it is if that is not known here, and how sure such an edge is.
_LONGEST_END: Final = 120
_OTHER_TYPE: Final = "event"
_EDGE_CONFIDENCE: Final = 0.7
_SAYS: Final = frozenset({"content", "hidden", "tags", "metadata", "standing", "fields"})
#: Members without a counterpart that say nothing as they come.
_UNSAID: Final[Mapping[str, Any]] = {"tlp": "", "stix_confidence": -1}
#: By what a note was derived from that it makes anew.
_DERIVED: Final = ("context", "keywords", "entities")


def read_note(given: object, origin: ItemOrigin) -> NoteRecord:
    """Read a note; its links are read by :func:`read_links`."""
    item = Item(given, origin.limits)
    nugget = _nugget_of(item, origin)
    content, semantic, metadata = (_part(item, name) for name in ("content", "semantic", "metadata"))
    item.take("version", "embedding", "links", "evolved_from")  # what it evolved from follows from the other's
    raw = content.take("raw")
    text = KeyedInput.model_validate({"nugget": nugget, "content": "" if raw is None else raw}, context=origin.limits)
    said = tidy_content(str(text.content))
    id_ = str(_ID.validate_python(item.take("id"), strict=True, context=origin.limits))
    created_at = past(item, "created_at", item.instant("created_at"), origin) or origin.now
    updated_at = max(created_at, past(item, "updated_at", item.instant("updated_at"), origin) or 0)
    semantic.take(*_DERIVED)
    tags = own_tags([tag for tag in semantic.tags("tags") if tag != nugget])[: origin.limits.tags_count]
    ttl_days = _ttl_days(metadata)
    traits = infer("note", "", said, tags, Traits(confidence=_confidence(metadata)))
    return NoteRecord(
        id=id_,
        identity=id_,
        has_id=True,
        nugget=nugget,
        origin=nugget,
        kind="note",
        title="",
        content=said,
        tags=tags,
        traits=traits,
        says=_SAYS,
        archived_at=None,
        created_at=created_at,
        updated_at=updated_at,
        usage=_usage(metadata, origin),
        extra=_extra(content, metadata, ttl_days)._replace(evolved_by=_evolved_by(item)),
        standing=_standing(metadata, updated_at, ttl_days),
        losses=(
            *(loss for part in (content, semantic, metadata) for loss in part.all_losses()),
            *item.all_losses(),
        ),
    )


def _part(item: Item, name: str) -> Item:
    """A member that is an object, as an item of its own; an empty one if there is none."""
    value = item.take(name)
    if value is not None and not isinstance(value, Mapping):
        raise InvalidParams(f"{name}: is not an object", field=name)
    return Item(value or {}, item.limits)


def _nugget_of(item: Item, origin: ItemOrigin) -> str:
    asked = origin.header.get("nugget")
    return item.nugget(asked) if isinstance(asked, str) else _NUGGET_UNASKED


def _confidence(metadata: Item) -> float | None:
    confidence = metadata.number("confidence")
    if confidence is not None and clamp(confidence) != confidence:
        metadata.record_loss("confidence", "lies outside of 0 to 1 and is moved into it")
    return confidence


def _extra(content: Item, metadata: Item, ttl_days: int | None) -> Extra:
    source_type = content.choice(get_args(SourceType), "source_type") or NO_EXTRA.source_type
    source_ref = content.take("source_ref")
    if source_ref is not None and not isinstance(source_ref, str):
        content.record_loss("source_ref", "is not text")
        source_ref = None
    elif source_ref and len(source_ref) > _SOURCE_REF_CHARACTERS:
        content.record_loss("source_ref", f"is cut to {_SOURCE_REF_CHARACTERS} characters")
    if content.take("previous_raw"):
        content.record_loss("previous_raw", "history begins here: what the note said before is not kept")
    return NO_EXTRA._replace(
        source_type=source_type,
        source_ref=source_ref[:_SOURCE_REF_CHARACTERS] if source_ref else None,
        ttl_days=ttl_days,
        evolution_count=metadata.count("evolution_count"),
        fields=_fields(metadata),
    )


def _ttl_days(metadata: Item) -> int | None:
    days = metadata.count("ttl")
    if days > _LONGEST_LIFE_DAYS:
        metadata.record_loss("ttl", f"is cut to {_LONGEST_LIFE_DAYS} days")
    return min(days, _LONGEST_LIFE_DAYS) or None


def _fields(metadata: Item) -> dict[str, Any]:
    """What is kept as fields, having no other place here: a handling mark, STIX confidence, a weakness's scores."""
    found = {name: value for name, unset in _UNSAID.items() if (value := metadata.take(name)) not in (None, unset)}
    weakness = metadata.take("vuln")
    if isinstance(weakness, Mapping):
        found |= {str(name): value for name, value in weakness.items() if value is not None}
    kept = {name: value for name, value in found.items() if isinstance(value, str | int | float)}
    for name in found.keys() - kept.keys():
        metadata.record_loss(name, "is neither text nor a number")
    return kept


def _standing(metadata: Item, updated_at: int, ttl_days: int | None) -> NoteStanding:
    domain = metadata.checked(_WORD, "domain") or USUAL.domain
    tier = metadata.choice(get_args(Tier), "tier") or USUAL.tier
    importance = metadata.number("importance")
    if importance is not None and not 1 <= importance <= 10:
        metadata.record_loss("importance", "lies outside of 1 to 10 and is moved into it")
    whole = USUAL.importance if importance is None else round(min(max(importance, 1), 10))
    metadata.take("persistence_semantics")
    began = max(metadata.instant("ttl_anchor") or 0, updated_at)
    return NoteStanding(domain, tier, whole, None if ttl_days is None else began + ttl_days * DAY_MICROS)


def _usage(metadata: Item, origin: ItemOrigin) -> Usage:
    accessed_at = past(metadata, "last_accessed", metadata.instant("last_accessed"), origin)
    if metadata.count("access_count"):
        metadata.record_loss("access_count", "accesses are counted from now on")
    return Usage(0, 0, accessed_at or 0, "")


def _evolved_by(item: Item) -> tuple[str, ...]:
    given = item.checked(_IDS, "evolved_by") or []
    return tuple(dict.fromkeys(given))[-_REMEMBERED:]


def read_links(given: object, origin: ItemOrigin) -> OutgoingLinks:
    """Read the links that leave a note, and by which it was replaced. What it replaced follows from those notes."""
    item = Item(given, origin.limits)
    source = item.take("id")
    if not isinstance(source, str):
        raise InvalidParams("id: is not text", field="id")
    links = _part(item, "links")
    made_at = past(item, "updated_at", item.instant("updated_at"), origin) or origin.now
    links.take("supersedes")
    found = {target: LinkRecord(target, (), made_at) for target in _ids(links, "related")}
    chain = list(dict.fromkeys(_ids(links, "causal_chain")))
    if any(target != source for target in chain):
        links.record_loss("causal_chain", "is kept as links: what causes what is not known from it")
        found |= {target: LinkRecord(target, (), made_at) for target in chain if target not in found}
    found.pop(source, None)
    heir = links.take("superseded_by")
    if heir is not None and not isinstance(heir, str):
        links.record_loss("superseded_by", "is not text")
        heir = None
    edges = _edges(links)
    return OutgoingLinks(source, tuple(found.values()), tuple(links.losses), replaced_by=heir or None, edges=edges)


def _edges(links: Item) -> tuple[Edge, ...]:
    """What a model read of causes in the note: each as two entities, by type and value, and what one does to the other.

    Other edges follow from the note's text.
    """
    given = links.take("causal_edges")
    found: dict[Edge, None] = {}
    for member in given if isinstance(given, list) else []:
        edge = _edge(member)
        if edge is None:
            links.record_loss("causal_edges", "an edge has an end, or a relation, that cannot be here")
        else:
            found[edge] = None
    return tuple(found)


def _edge(member: object) -> Edge | None:
    if not isinstance(member, list) or len(member) != 5 or not all(isinstance(one, str) for one in member):
        return None
    from_type, from_value, relation, to_type, to_value = member
    source, target, relation = _end(from_type, from_value), _end(to_type, to_value), relation.strip().lower()
    if source is None or target is None or source[:2] == target[:2] or relation not in RELATIONS:
        return None
    return Edge(source, target, relation, "causal", _EDGE_CONFIDENCE, "llm")


def _end(type_: str, value: str) -> EdgeEnd | None:
    known = type_ if type_ in ENTITY_TYPES else _OTHER_TYPE
    if not 1 < len(value.strip()) <= _LONGEST_END or not (key := key_of(known, value)):
        return None
    return EdgeEnd(known, key, shown(known, value))


def _ids(links: Item, name: str) -> list[str]:
    value = links.take(name)
    members = value if isinstance(value, list) else []
    if value is not None and not isinstance(value, list):
        links.record_loss(name, "is not a list")
    return [member for member in members if isinstance(member, str) and member]


def weigh(part: str, item: object) -> int:
    """Return about how many links an item makes."""
    links = item.get("links") if part == "links" and isinstance(item, Mapping) else None
    related = links.get("related") if isinstance(links, Mapping) else None
    return len(related) if isinstance(related, list) else 0


#: The complete format.
ZETTELFORGE: Final = Format(name="zettelforge", readers={"notes": read_note, "links": read_links}, weigh=weigh)
