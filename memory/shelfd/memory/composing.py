"""Making notes out of what callers say, and changing them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from shelfd.memory.errors import InvalidParams, NoteNotFound, TooLarge
from shelfd.memory.inference import Traits, clamp, default_confidence, infer, title_tags
from shelfd.memory.note import Link, Note, Nugget, fold_key
from shelfd.memory.text import render_fields, tidy_content
from shelfd.memory.transaction import Transaction
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import KeyedInput, LinkInput, NoteInput

DAY_MICROS: Final = 86_400_000_000

#: Params that become fields of a note as they are.
_COPIED = (
    "domain",
    "author",
    "session_id",
    "turn",
    "occurred_at",
    "valid_from",
    "valid_to",
    "importance",
    "tier",
    "pinned",
)
_TRAITS = ("type", "subject", "scope", "source", "stability")


@dataclass(frozen=True, slots=True)
class Kept:
    """What one input came to: the note as it stands, and whether it was created, updated or left as it was."""

    note: Note
    status: str


def ensure_nugget(tx: Transaction, name: str) -> Nugget:
    """Return the nugget, made with defaults if it does not exist."""
    nugget = tx.rows.nugget(name)
    if nugget is None:
        nugget = Nugget(name, dimension=1024, banks=4, ensembles=1, max_facts=0, ttl_days=None, created_at=tx.now)
        tx.create_nugget(nugget)
    return nugget


def keep(tx: Transaction, given: NoteInput, limits: Limits) -> Kept:
    """Store what a caller gave as a new note, or as the new state of the fact with its key.

    Whatever can be wrong with it is found before the first write.
    """
    text = _text(given, limits)
    targets = [_target(tx, link, limits) for link in given.links]
    nugget = ensure_nugget(tx, given.nugget)
    seq_to = stamp_turn(tx, nugget, given.session_id, given.turn)
    existing = None
    if isinstance(given, KeyedInput) and given.key is not None:
        existing = tx.rows.fact(nugget.name, fold_key(given.key))
    if existing is not None and isinstance(given, KeyedInput):
        changed = _revised(tx, existing, given, text, seq_to, nugget)
        kind = "note.restored" if existing.hidden else "note.updated"
        note = tx.change_note(existing, changed, kind=kind)
        kept = Kept(note, "noop" if note is existing else "updated")
    else:
        note = tx.create_note(_composed(tx, given, text, seq_to, nugget))
        kept = Kept(note, "created")
    for target, link in zip(targets, given.links, strict=True):
        _link(tx, note, target, link)
    return kept


def _composed(
    tx: Transaction, given: NoteInput, text: tuple[str, dict[str, Any]], seq_to: int | None, nugget: Nugget
) -> Note:
    key = given.key if isinstance(given, KeyedInput) else None
    kind = "note" if key is None else "fact"
    title = key or given.title or str(given.fields.get("title") or given.fields.get("name") or "")[:128]
    content, extra = text
    tags = tuple(dict.fromkeys((*given.tags, *title_tags(title))))
    said = Traits(given.type, given.subject, given.scope, given.source, given.confidence, given.stability)
    traits = infer(kind, title, content, tags, said)
    if key is not None:
        extra["source_key"] = key
    if given.source_type != "conversation":
        extra["source_type"] = given.source_type
    ttl_days = given.ttl_days or nugget.ttl_days
    if ttl_days is not None:
        extra["ttl_days"] = ttl_days
    tags = _own_tags(tags, nugget.name, traits.scope, traits.type)
    return Note(
        row=0,
        id=new_id(tx, kind, nugget.name),
        nugget=nugget.name,
        kind=kind,
        title=title,
        key=None if key is None else fold_key(key),
        content=content,
        tags=tags,
        type=traits.type,
        subject=traits.subject,
        scope=traits.scope,
        source=traits.source,
        confidence=traits.confidence,
        stability=traits.stability,
        domain=given.domain,
        tier=given.tier,
        importance=given.importance,
        author=given.author,
        session_id=given.session_id,
        turn=given.turn,
        seq_to=seq_to,
        occurred_at=given.occurred_at,
        valid_from=given.valid_from,
        valid_to=given.valid_to,
        expires_at=None if ttl_days is None else tx.now + ttl_days * DAY_MICROS,
        archived_at=None,
        superseded_by=None,
        parent_id=None,
        pinned=given.pinned,
        created_at=tx.now,
        updated_at=tx.now,
        rev=1,
        extra=extra,
    )


def _text(given: NoteInput, limits: Limits) -> tuple[str, dict[str, Any]]:
    """The note's content and the rare fields that go with it."""
    extra: dict[str, Any] = {}
    fields = dict(given.fields)
    if given.content is not None:
        content = tidy_content(given.content)
    elif isinstance(fields.get("summary"), str):
        content = tidy_content(fields["summary"])
    else:
        content = checked_size(render_fields(fields), limits)
        extra["rendered"] = True
    if not content.strip():
        raise InvalidParams("content: is empty or blank", field="content")
    if "summary" in fields:
        fields["summary"] = content
    if fields:
        extra["fields"] = fields
    if given.aliases:
        extra["aliases"] = _unique(given.aliases)
    if given.source_ref:
        extra["source_ref"] = given.source_ref
    return content, extra


def _revised(
    tx: Transaction,
    old: Note,
    given: KeyedInput,
    text: tuple[str, dict[str, Any]],
    seq_to: int | None,
    nugget: Nugget,
) -> Note:
    """The fact *old* with the value and everything else that was said explicitly; what was not said stays."""
    said = given.model_fields_set
    content, fresh = text
    extra = {name: value for name, value in old.extra.items() if name != "rendered"}
    if aliases := fresh.get("aliases"):
        extra["aliases"] = _unique([*extra.get("aliases", []), *aliases])
    if fields := fresh.get("fields"):
        extra["fields"] = {**extra.get("fields", {}), **fields}
    for name in ("source_ref", "rendered"):
        if name in fresh:
            extra[name] = fresh[name]
    changes: dict[str, Any] = {name: getattr(given, name) for name in _COPIED if name in said}
    changes |= {name: value for name in _TRAITS if (value := getattr(given, name)) is not None}
    confidence = _new_confidence(given.confidence, given.source)
    if confidence is not None:
        changes["confidence"] = confidence
    ttl_days = given.ttl_days or extra.get("ttl_days") or nugget.ttl_days
    if ttl_days is not None and (content != old.content or given.ttl_days is not None):
        extra["ttl_days"] = ttl_days
        changes["expires_at"] = tx.now + ttl_days * DAY_MICROS
    if seq_to is not None:
        changes["seq_to"] = seq_to
    new = old._replace(**changes, content=content, extra=extra, archived_at=None, superseded_by=None)
    tags = tuple(dict.fromkeys((*old.tags, *given.tags, *title_tags(old.title))))
    return new._replace(tags=_own_tags(tags, new.nugget, new.scope, new.type))


def _new_confidence(given: float | None, source: str | None) -> float | None:
    if given is not None:
        return clamp(given)
    return None if source is None else default_confidence(source)


def _own_tags(tags: Sequence[str], nugget: str, scope: str, type_: str) -> tuple[str, ...]:
    """Tags without the system tags, which follow from the note's fields and are never stored."""
    system = (nugget, f"scope:{scope}", f"type:{type_}")
    return tuple(tag for tag in tags if tag not in system)


def _unique(names: Sequence[str]) -> list[str]:
    return list({fold_key(name): name for name in reversed(names)}.values())[::-1]


def _target(tx: Transaction, link: LinkInput, limits: Limits) -> Note:
    """The note a link leads to, which must exist and have room for the link back."""
    target = get_note(tx, link.to)
    if tx.rows.count_links_from(target.id) >= limits.links_count:
        raise _too_many_links(limits)
    return target


def _link(tx: Transaction, note: Note, target: Note, link: LinkInput) -> None:
    if target.id == note.id:
        raise InvalidParams("links: a note cannot link to itself", field="links")
    there = Link(note.id, target.id, link.relation, link.reason, tx.now, link.valid_from, link.valid_to)
    tx.put_link(there, note.nugget)
    tx.put_link(there._replace(source=target.id, target=note.id), target.nugget)


def _too_many_links(limits: Limits) -> InvalidParams:
    limit = limits.links_count
    return InvalidParams(f"links: a note has at most {limit} links", field="links", limit=limit)


def connect(tx: Transaction, link: Link, nugget: str, limits: Limits) -> bool:
    """Store a directed link; return whether it is new.

    Raises:
        InvalidParams: If the source note has as many links as it may.
    """
    new = tx.put_link(link, nugget)
    if new and tx.rows.count_links_from(link.source) > limits.links_count:
        raise _too_many_links(limits)
    return new


def stamp_turn(tx: Transaction, nugget: Nugget, session_id: str | None, turn: int | None) -> int | None:
    """Return the nugget's number of a conversation's turn, counted on when the turn is new."""
    if session_id is None or turn is None:
        return None
    number = tx.rows.turn_number(nugget.name, session_id, turn)
    if number is None:
        current = tx.rows.nugget(nugget.name) or nugget
        number = current.turn_count + 1
        tx.rows.put_nugget(current._replace(turn_count=number))
        tx.rows.put_turn(nugget.name, session_id, turn, number)
    return number


def new_id(tx: Transaction, kind: str, nugget: str) -> str:
    """Return an id that no note of this shelf has or had."""
    while True:
        note_id = f"{kind}-{nugget}-{secrets.token_hex(4)}"
        if tx.rows.note(note_id) is None:
            return note_id


def checked_size(content: str, limits: Limits) -> str:
    """Return content that was made here from what a caller gave.

    Raises:
        TooLarge: If it is larger than a caller's content may be.
    """
    if len(content.encode()) > limits.content_bytes:
        raise TooLarge(
            f"fields: give more than {limits.content_bytes} bytes of content",
            field="fields",
            limit=limits.content_bytes,
        )
    return content


def get_note(tx: Transaction, note_id: str) -> Note:
    """Return a note that must exist.

    Raises:
        NoteNotFound: If it does not.
    """
    note = tx.rows.note(note_id)
    if note is None:
        raise NoteNotFound(note_id)
    return note
