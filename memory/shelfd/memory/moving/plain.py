"""What memories without rules of their own share: notes whose members are called as ``remember`` has them, and links.

A file's cutter gives each note its members; ``id`` is the note's id here if it is free, ``name`` only what it is known
by there. ``said`` are marks of what the file was written from, if a shelf wrote it: what differs from them was edited
in the file.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.placing import NAMED, known_as, named_id
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, past, plain_name
from shelfd.memory.moving.reconciling import FACETS
from shelfd.memory.moving.record import LinkRecord, NoteRecord, NoteStanding, OutgoingLinks
from shelfd.memory.notes.inference import Traits, infer
from shelfd.memory.notes.note import NO_EXTRA, Extra
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.shelf.storing import own_tags
from shelfd.protocol import from_validation
from shelfd.protocol.base import Content, NoteId, Relation
from shelfd.protocol.methods.notes import KeyedInput

_ID: Final = TypeAdapter[str](NoteId)
_RELATION: Final = TypeAdapter[str](Relation)
_REASON_CHARACTERS: Final = 512
_NUGGET_UNASKED: Final = "memory"
#: Members that are taken as they are, by the facet that they belong to.
_TAKEN: Final[Mapping[str, str]] = {
    "aliases": "fields",
    "fields": "fields",
    "type": "metadata",
    "subject": "metadata",
    "scope": "metadata",
    "source": "metadata",
    "confidence": "metadata",
    "stability": "metadata",
    "domain": "standing",
    "tier": "standing",
    "importance": "standing",
    "source_type": "standing",
    "source_ref": "standing",
    "author": "origin",
    "occurred_at": "origin",
}
#: Facets that every item speaks of.
_ALWAYS_SAID: Final = frozenset({"title", "content", "tags"})
#: Without these there is no note.
_REQUIRED: Final = frozenset({"content", "key", "nugget"})
_OWN: Final = frozenset({*_TAKEN, "key"})
_CONTENT: Final = TypeAdapter[str](Content)
#: What is known of a note of which only the content is given.
_NOTHING_SAID: Final = KeyedInput(content=".")
_TRAITS: Final = ("type", "subject", "scope", "source", "confidence", "stability")
_UNKNOWN: Final = Traits()


def read_note(given: object, origin: ItemOrigin) -> NoteRecord:
    """Read a note; its links are read by :func:`read_links`."""
    item = Item(given, origin.limits)
    space, nugget = _space(origin), _nugget_of(item, origin)
    item.take("links")
    base = _marks(item.take("said"))
    id_ = item.checked(_ID, "id")
    name = _named(item, id_)
    given_content, text, members = _checked(item, nugget, origin)
    key, content = text.key, tidy_content(given_content)
    title = key if key is not None else item.title(item.take("title"))
    given_tags = item.tags("tags")
    tags = own_tags([tag for tag in given_tags if tag != nugget])[: origin.limits.tags_count] if given_tags else ()
    kind = "note" if key is None else "fact"
    known = _UNKNOWN if text is _NOTHING_SAID else Traits(*(getattr(text, trait) for trait in _TRAITS))
    hidden = item.take("hidden")
    created_at = past(item, "created_at", item.instant("created_at"), origin) or origin.now
    updated_at = max(created_at, past(item, "updated_at", item.instant("updated_at"), origin) or 0)
    facets = {_TAKEN[name] for name in members if name in _TAKEN} if members else set()
    return NoteRecord(
        id=id_,
        identity=known_as(space, name),
        has_id=False,
        nugget=nugget,
        origin=space,
        kind=kind,
        title=title,
        content=content,
        tags=tags,
        traits=infer(kind, title, content, tags, known),
        says=_says(base, facets, says_hidden=hidden is not None),
        archived_at=origin.now if hidden is True else None,
        created_at=created_at,
        updated_at=updated_at,
        extra=_extra(text),
        author=text.author,
        occurred_at=text.occurred_at,
        standing=NoteStanding(text.domain, text.tier, text.importance),
        stem=NAMED,
        base=base,
        losses=item.all_losses(),
    )


def _says(base: Mapping[str, str], facets: set[str], *, says_hidden: bool) -> frozenset[str]:
    """The facets that an item speaks of."""
    if base or facets or says_hidden:
        return frozenset(base or {*_ALWAYS_SAID, *facets, *(("hidden",) if says_hidden else ())})
    return _ALWAYS_SAID


def _space(origin: ItemOrigin) -> str:
    """What distinguishes this memory from others of its kind."""
    space = origin.header.get("space")
    return space if isinstance(space, str) and space else origin.name


def _nugget_of(item: Item, origin: ItemOrigin) -> str:
    asked, own = origin.header.get("nugget"), item.take("nugget")
    if isinstance(asked, str):
        return item.nugget(asked)
    if isinstance(own, str) and own:
        return item.nugget(own)
    usual = origin.header.get("usual")
    return item.nugget(usual) if isinstance(usual, str) else _unasked(_space(origin))


@lru_cache(maxsize=64)  # each item of a file has the same
def _unasked(space: str) -> str:
    return plain_name(space) or _NUGGET_UNASKED


def _named(item: Item, id_: str | None) -> str:
    name = item.take("name")
    if id_ is not None:
        return id_
    if not isinstance(name, str) or not name:
        raise InvalidParams("name: neither an id nor a name says which note it is", field="name")
    return name


def _checked(item: Item, nugget: str, origin: ItemOrigin) -> tuple[str, KeyedInput, dict[str, Any]]:
    """An item's content, what else can be taken of its members, and which of them those are."""
    content = item.take("content")
    members = item.take_all(_OWN)
    if not members:  # most notes have nothing else
        said = _CONTENT.validate_python("" if content is None else content, context=origin.limits)
        return said, _NOTHING_SAID, members
    members |= {"nugget": nugget, "content": "" if content is None else content}
    while True:
        try:
            text = KeyedInput.model_validate(members, context=origin.limits)
            return str(text.content), text, members
        except ValidationError as error:
            broken = {str(one["loc"][0]) for one in error.errors() if one["loc"]} & members.keys()
            if broken & _REQUIRED or not broken:
                raise
            for name in broken:
                del members[name]
                item.record_loss(name, from_validation(error)["message"])


def _extra(text: KeyedInput) -> Extra:
    if text is _NOTHING_SAID:
        return NO_EXTRA
    unset = (text.key, text.source_ref, text.aliases, text.fields) == (None, None, [], {})
    if unset and text.source_type == NO_EXTRA.source_type:
        return NO_EXTRA
    return NO_EXTRA._replace(
        source_key=text.key,
        source_type=text.source_type,
        source_ref=text.source_ref,
        aliases=tuple(text.aliases),
        fields=text.fields,
    )


def _marks(said: object) -> Mapping[str, str]:
    if not isinstance(said, Mapping):
        return {}
    return {name: mark for name, mark in said.items() if name in FACETS and isinstance(mark, str)}


def read_links(given: object, origin: ItemOrigin) -> OutgoingLinks:
    """Read the links that leave a note: ``links``, each with ``to``, and maybe ``relation`` and ``reason``."""
    item = Item(given, origin.limits)
    id_ = item.checked(_ID, "id")
    made_at = past(item, "created_at", item.instant("created_at"), origin) or origin.now
    members = item.take("links")
    found: dict[tuple[str, str], LinkRecord] = {}
    for member in members if isinstance(members, Sequence) else []:
        link = _link(item, member, made_at)
        if link is not None:
            found.setdefault((link.target, link.relation), link)
    return OutgoingLinks(_named(item, id_), tuple(found.values()), tuple(item.losses), space=_space(origin))


def _link(item: Item, member: object, made_at: int) -> LinkRecord | None:
    to = member.get("to") if isinstance(member, Mapping) else None
    if not isinstance(member, Mapping) or not isinstance(to, str) or not to:
        item.record_loss("links", "does not say where it leads")
        return None
    try:
        relation = _RELATION.validate_python(member.get("relation") or "related")
    except ValidationError:
        item.record_loss("links", "a relation that cannot be here is `related`")
        relation = "related"
    reason = member.get("reason")
    reasons = (reason[:_REASON_CHARACTERS],) if isinstance(reason, str) and reason else ()
    return LinkRecord(to, reasons, made_at, relation)


def weigh(part: str, item: object) -> int:
    """Return how many links an item makes."""
    links = item.get("links") if part == "links" and isinstance(item, Mapping) else None
    return len(links) if isinstance(links, list) else 0


def id_of(item: object, origin: ItemOrigin) -> str | None:
    """Return the id that the note of an item gets if it only has a name."""
    known = item.get("id") or item.get("name") if isinstance(item, Mapping) else None
    return named_id(_space(origin), known) if isinstance(known, str) else None


def plain(name: str) -> Format:
    """Return a format of such notes."""
    return Format(name=name, readers={"notes": read_note, "links": read_links}, weigh=weigh, id_of=id_of)


#: Those whose files come down to such notes.
PLAIN: Final = tuple(
    map(plain, ("jsonl", "csv", "markdown", "basic-memory", "mcp-memory", "mem0", "claude-code", "mcp-memory-service"))
)
