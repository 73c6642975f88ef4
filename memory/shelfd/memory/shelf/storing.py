"""Making notes out of what callers say, and changing them."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from shelfd.memory.errors import InvalidParams, NoteNotFound, TooLarge
from shelfd.memory.log.transaction import LinkStatus, Transaction, changed_fields
from shelfd.memory.notes.inference import NOTHING_KNOWN, Traits, clamp, default_confidence, infer, title_tags
from shelfd.memory.notes.note import EMPTY, NO_EXTRA, Extra, Link, Note, fold_key
from shelfd.memory.notes.relations import check_writable, directed
from shelfd.memory.notes.text import render_fields, tidy_content
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.nuggets import ensure_nugget, hide_surplus
from shelfd.memory.shelf.turns import check_far_turn, stamp_turn
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import KeyedInput, LinkInput, NoteInput

DAY_MICROS: Final = 86_400_000_000

_ID_DIGITS: Final = 8  #: of an id, drawn

#: Params that become fields of a note as they are.
_COPIED = (
    "domain", "author", "session_id", "turn", "occurred_at", "valid_from", "valid_to", "importance", "tier", "pinned",
)  # fmt: skip
_TRAITS = ("type", "subject", "scope", "source", "stability")
#: The rest of what makes a note, and what a caller says of :class:`Traits`: many fields at once, for every note.
_stated: Final = itemgetter(
    "nugget", "title", "tags", "fields", "domain", "tier", "importance", "author", "session_id", "turn", "occurred_at",
    "valid_from", "valid_to", "pinned", "source_type", "ttl_days",
)  # fmt: skip
_traits_of: Final = itemgetter(*Traits._fields)
_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time
#: Fields that say in which turn a note was last touched: saying the same again in another turn is no change.
_STAMPS = frozenset({"session_id", "turn", "seq_to"})
#: Beginnings of tags that follow a note's fields; nobody can have them as own tags, where they would go stale.
_RESERVED_TAGS = ("scope:", "type:")


class StoredNote(NamedTuple):
    """The effect of one input: the note as it stands, and whether it was created, updated or left as it was."""

    note: Note
    status: str


def store_note(
    tx: Transaction, given: NoteInput, limits: Limits, *, text: tuple[str, Extra] | None = None
) -> StoredNote:
    """Store what a caller gave as a new note, or as the new state of the fact with its key.

    Whatever can be wrong with it is found before the first write, which is the stamp of its turn.

    Args:
        text: What :func:`text_of` makes of it, if it was asked already.
    """
    old = None
    if isinstance(given, KeyedInput) and given.key is not None:
        old = tx.rows.notes.fact(given.nugget, fold_key(given.key))
    text = text or text_of(given, old, limits)
    targets = _targets(tx, given.links, old, limits) if given.links else []
    check_far_turn(tx, given.nugget, given.session_id, given.turn)
    nugget = tx.nugget(given.nugget)
    if old is not None and isinstance(given, KeyedInput):
        note = _revised(tx, old, given, text, None if nugget is None else nugget.ttl_days, limits)
    else:
        note = compose(tx, vars(given), text, limits)
    note = tx.admit(note, old)
    links = _admitted(tx, given.links) if given.links else ()
    seq_to = stamp_turn(tx, ensure_nugget(tx, given.nugget), given.session_id, given.turn)
    if seq_to is not None:
        note = note._replace(seq_to=seq_to)
    if old is None:
        stored = tx.create_note(note, redraw=lambda: draw_id(note.kind, note.nugget))
        kept = StoredNote(stored, "created")
    elif changed_fields(old, note).keys() <= _STAMPS:
        kept = StoredNote(old, "noop")
    else:
        kept = StoredNote(tx.change_note(old, note), "updated")
    if kept.note.key is not None and nugget is not None and (old is None or old.hidden):
        hide_surplus(tx, nugget, kept.note)
    for target, link in zip(targets, links, strict=True):
        _link(tx, kept.note, target, link, None if given.turn is None else note.seq_to)
    return kept


def compose(
    tx: Transaction, values: Mapping[str, Any], text: tuple[str, Extra], limits: Limits, *, by_words: str | None = None
) -> Note:
    """Return the new note that a caller's params are, of which nothing is stored yet.

    Args:
        values: Of all its params, those included that were not given.
        text: What :func:`text_of` makes of it.
        by_words: See :func:`infer`.
    """
    (
        nugget_name, title, tags, fields, domain, tier, importance, author, session_id, turn, occurred_at, valid_from,
        valid_to, pinned, source_type, own_ttl_days,
    ) = _stated(values)  # fmt: skip
    key: str | None = values.get("key")
    kind = "note" if key is None else "fact"
    title = key or title or (_column_title(fields) if fields else "")
    content, extra = text
    if tags:
        tags = own_tags(tags)
    if title:
        tags = with_title_tags(tuple(tags), title, limits)
    traits = infer(kind, title, content, tuple(tags), _said(values), by_words=by_words)
    nugget, now = tx.nugget(nugget_name), tx.now
    ttl_days, expires_at = life_of(own_ttl_days, None if nugget is None else nugget.ttl_days, now)
    if key is not None or ttl_days is not None or source_type != extra.source_type:
        extra = extra._replace(source_key=key, source_type=source_type, ttl_days=ttl_days)
    # In the order of its fields: by their names, this would take four times as long.
    return _made(
        Note,
        (
            tx.next_row(),
            tx.draw_id(kind, nugget_name, draw_ids),
            nugget_name,
            kind,
            title,
            None if key is None else fold_key(key),
            content,
            tuple([tag for tag in tags if tag != nugget_name]) if tags else (),
            *traits,
            domain,
            tier,
            importance,
            author,
            session_id,
            turn,
            None,  # seq_to
            occurred_at,
            valid_from,
            valid_to,
            expires_at,
            None,  # archived_at
            None,  # superseded_by
            None,  # parent_id
            pinned,
            now,
            now,
            1,
            extra,
        ),
    )


def life_of(ttl_days: int | None, default_ttl_days: int | None, now: int) -> tuple[int | None, int | None]:
    """Return after how many days a new note expires, and when in microseconds since 1970 UTC; None for never."""
    ttl_days = ttl_days or default_ttl_days
    return ttl_days, None if ttl_days is None else now + ttl_days * DAY_MICROS


def _column_title(fields: Mapping[str, Any]) -> str:
    """The title that a column ``title`` or ``name`` gives, as a title is kept."""
    value = fields.get("title") or fields.get("name")
    if not isinstance(value, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())[:128]


def text_of(given: NoteInput, old: Note | None, limits: Limits) -> tuple[str, Extra]:
    """Return the note's content and the rare fields that go with it; fields that *old* has stay unless given again.

    Raises:
        InvalidParams: If there is no content.
        TooLarge: If fields, or what they give of content, are larger than they may be.
    """
    fields = dict(given.fields) if old is None else {**old.extra.fields, **given.fields}
    if fields.get("summary") is None:
        fields.pop("summary", None)
    is_rendered = given.content is None and "summary" not in fields
    if given.content is not None:
        content = tidy_content(given.content)
    elif "summary" in fields:
        content = tidy_content(fields["summary"])
    else:
        content = checked_size(render_fields(fields), limits)
    if old is not None and content.strip() == old.content.strip():
        content = old.content  # outer blanks make no value different
    if not content.strip():
        raise InvalidParams("content: is empty or blank", field="content")
    if not (fields or given.aliases or given.source_ref):
        return content, NO_EXTRA
    return content, Extra(
        fields=with_summary(fields, content, limits),
        aliases=unique_names(given.aliases),
        source_ref=given.source_ref or None,
        rendered=is_rendered,
    )


def _revised(
    tx: Transaction,
    old: Note,
    given: KeyedInput,
    text: tuple[str, Extra],
    default_ttl_days: int | None,
    limits: Limits,
) -> Note:
    """The fact *old* with the value and everything else that was said explicitly; what was not said stays."""
    said = given.model_fields_set
    old = tx.unsuperseded(old)
    content, fresh = text
    extra = old.extra._replace(
        fields=fresh.fields or old.extra.fields,
        source_ref=fresh.source_ref or old.extra.source_ref,
        rendered=fresh.rendered,
    )
    if fresh.aliases:
        extra = extra._replace(aliases=unique_names([*extra.aliases, *fresh.aliases]))
        if len(extra.aliases) > limits.aliases_count:
            raise too_many("aliases", "aliases", limits.aliases_count)
    changes: dict[str, Any] = {name: getattr(given, name) for name in _COPIED if name in said}
    changes |= {name: value for name in _TRAITS if (value := getattr(given, name)) is not None}
    confidence = _new_confidence(given.confidence, given.source)
    if confidence is not None:
        changes["confidence"] = confidence
    ttl_days = given.ttl_days or extra.ttl_days or default_ttl_days
    has_expired = old.expires_at is not None and old.expires_at <= tx.now
    if ttl_days is not None and (content != old.content or given.ttl_days is not None or has_expired):
        extra = extra._replace(ttl_days=ttl_days)
        changes["expires_at"] = tx.now + ttl_days * DAY_MICROS
    tags = tuple(tag for tag in own_tags((*old.tags, *given.tags)) if tag != old.nugget)
    if len(tags) > max(limits.tags_count, len(old.tags)):
        raise too_many("tags", "own tags", limits.tags_count)
    changes["tags"] = with_title_tags(tags, old.title, limits)
    new = old._replace(**changes, content=content, extra=extra, archived_at=None)
    check_validity(new)
    return new


def scope_of(given: NoteInput, content: str) -> str:
    """Return the scope that a new note with this *content* gets."""
    if given.scope is not None:
        return given.scope
    key = given.key if isinstance(given, KeyedInput) else None
    kind, title = "note" if key is None else "fact", key or given.title or ""
    return infer(kind, title, content, own_tags(given.tags), _said(vars(given))).scope


def _said(values: Mapping[str, Any]) -> Traits:
    """What a caller says by itself of what is inferred otherwise."""
    said = _traits_of(values)
    return NOTHING_KNOWN if said == NOTHING_KNOWN else Traits._make(said)


def _new_confidence(given: float | None, source: str | None) -> float | None:
    if given is not None:
        return clamp(given)
    return None if source is None else default_confidence(source)


def own_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return *tags*, each once, without those that follow from a note's fields and are never stored."""
    if not tags:
        return ()
    return tuple(dict.fromkeys(tag for tag in tags if not tag.startswith(_RESERVED_TAGS)))


def with_title_tags(tags: tuple[str, ...], title: str, limits: Limits) -> tuple[str, ...]:
    """Return own tags and, as far as there is room, the tags that the title gives."""
    if not title:
        return tags
    added = [tag for tag in title_tags(title) if tag not in tags]
    return (*tags, *added[: max(0, limits.tags_count - len(tags))]) if added else tags


def with_summary(fields: Mapping[str, Any], content: str, limits: Limits) -> Mapping[str, Any]:
    """Return typed fields with their summary, if they have one, following the content.

    Raises:
        TooLarge: If the fields beside the summary, together, are larger than a caller may give.
    """
    if not fields:
        return EMPTY
    others = {name: value for name, value in fields.items() if name != "summary"}
    if len(to_json(others)) > limits.fields_bytes:
        limit = limits.fields_bytes
        raise TooLarge(f"fields: are larger than {limit} bytes together", field="fields", limit=limit)
    return {name: content if name == "summary" else value for name, value in fields.items()}


def check_validity(note: Note) -> None:
    """Raise unless a note's validity ends after it begins.

    Raises:
        InvalidParams: If it ends before.
    """
    if note.valid_from is not None and note.valid_to is not None and note.valid_to < note.valid_from:
        raise InvalidParams("valid_to lies before valid_from", field="valid_to")


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return *names* in their order, each once in the spelling it first has."""
    return tuple({fold_key(name): name for name in reversed(names)}.values())[::-1] if names else ()


def _targets(tx: Transaction, links: Sequence[LinkInput], old: Note | None, limits: Limits) -> list[Note]:
    """The notes that *links* lead to, which must exist and have room for the links back."""
    targets = [get_note(tx.rows, link.to) for link in links]
    for number, link in enumerate(links):
        check_writable(link.relation, f"links.{number}.relation")
    there = {(link.to, link.relation) for link in links}
    back = set(there)
    if old is not None:
        if any(target.id == old.id for target in targets):
            raise InvalidParams("links: a note cannot link to itself", field="links")
        there = {(to, relation) for to, relation in there if tx.rows.links.get(old.id, to, relation) is None}
        back = {(to, relation) for to, relation in back if tx.rows.links.get(to, old.id, relation) is None}
        if tx.rows.links.count_leaving(old.id) + len(there) > limits.links_count:
            raise _too_many_links(limits)
    for to, count in Counter(to for to, _ in back).items():
        if tx.rows.links.count_leaving(to) + count > limits.links_count:
            raise _too_many_links(limits)
    return targets


def _admitted(tx: Transaction, links: Sequence[LinkInput]) -> list[LinkInput]:
    admitted = []
    for number, link in enumerate(links):
        lines = {name: tx.admit_line(getattr(link, name), f"links.{number}.{name}") for name in ("relation", "reason")}
        admitted.append(link.model_copy(update=lines))
    return admitted


def _link(tx: Transaction, note: Note, target: Note, link: LinkInput, seq_to: int | None) -> None:
    there = Link(note.id, target.id, link.relation, link.reason, tx.now, link.valid_from, link.valid_to, seq_to)
    ends = directed(note.id, target.id, link.relation, "bidirectional", one_is_older=note.row < target.row)
    for one, other in ends:
        tx.put_link(there._replace(source=one, target=other), (note if one == note.id else target).nugget)


def too_many(field: str, what: str, limit: int) -> InvalidParams:
    """Return the complaint that a note would have more than *limit* of something."""
    return InvalidParams(f"{field}: a note has at most {limit} {what}", field=field, limit=limit)


def _too_many_links(limits: Limits) -> InvalidParams:
    return too_many("links", "links", limits.links_count)


def connect(tx: Transaction, link: Link, nugget: str, limits: Limits) -> LinkStatus:
    """Store a directed link; return whether that changed anything.

    Raises:
        InvalidParams: If the source note has as many links as it may.
    """
    status = tx.put_link(link, nugget)
    if status == "added" and tx.rows.links.count_leaving(link.source) > limits.links_count:
        raise _too_many_links(limits)
    return status


def draw_id(kind: str, nugget: str) -> str:
    """Return a random id for a new note of *nugget*."""
    return draw_ids(kind, nugget, 1).pop()


def draw_ids(kind: str, nugget: str, count: int) -> set[str]:
    """Return so many random ids for new notes of *nugget*, or some fewer if any was drawn twice."""
    digits = os.urandom(_ID_DIGITS // 2 * count).hex()
    return {f"{kind}-{nugget}-{digits[at : at + _ID_DIGITS]}" for at in range(0, len(digits), _ID_DIGITS)}


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


def get_note(view: View, note_id: str) -> Note:
    """Return a note that must exist.

    Raises:
        NoteNotFound: If it does not.
    """
    note = view.notes.get(note_id)
    if note is None:
        raise NoteNotFound(note_id)
    return note
