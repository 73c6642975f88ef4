"""Luker's memory graph: nodes, edges and types of notes of one chat, as the replay of its floor log leaves them.

A turn is there a message of the assistant that has text, by number; here it is a turn of the chat's session.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.chats import LAST_TURN, chat_of, read_turns, weigh
from shelfd.memory.moving.placing import identity
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, complaint
from shelfd.memory.moving.record import LinkRecord, Loss, NoteRecord, OutgoingLinks, TypeRecord
from shelfd.memory.notes.inference import Traits, infer
from shelfd.memory.notes.note import NO_EXTRA, Extra, fold_key
from shelfd.memory.sessions.columns import Row, Said, write
from shelfd.memory.sessions.rollup_rule import rule_of
from shelfd.protocol.base import Fields, NoteId, Relation, Word
from shelfd.protocol.methods.schema import TypeName, TypeProperties

_WORD: Final = TypeAdapter[str](Word)
_ID: Final = TypeAdapter[str](NoteId)
_RELATION: Final = TypeAdapter[str](Relation)
_FIELDS: Final = TypeAdapter[dict[str, Any]](Fields)
_TYPE_NAME: Final = TypeAdapter[str](TypeName)
#: Deeper rollups there are none.
_MOST_DEPTH: Final = 31
_SAYS: Final = frozenset({"title", "content", "fields", "metadata", "hidden", "turn", "rollup", "replacement"})

#: What this memory calls the properties of a type, by what they are called there.
_PROPERTIES: Final = {
    "label": "label",
    "tableName": "table_name",
    "tableColumns": "table_columns",
    "embeddingColumns": "embedding_columns",
    "columnHints": "column_hints",
    "requiredColumns": "required_columns",
    "primaryKeyColumns": "primary_key_columns",
    "forceUpdate": "force_update",
    "alwaysInject": "always_inject",
    "latestOnly": "latest_only",
    "editable": "editable",
    "recordsFloorRange": "records_span",
    "keywords": "keywords",
    "extractEveryN": "extract_every",
    "extractHint": "extract_hint",
    "extractionInstructions": "extraction_instructions",
    "ragPerTypeK": "recall_quota",
}
_COMPRESSION: Final = {
    "mode": "mode",
    "threshold": "threshold",
    "fanIn": "fan_in",
    "maxDepth": "max_depth",
    "keepRecentLeaves": "keep_recent_leaves",
    "rule": "rule",
    "summarizeInstruction": "summarize_instruction",
}


def read_type(item: object, origin: ItemOrigin) -> TypeRecord:
    """Read a type of notes; a property that cannot be as it is there is as it is without."""
    spec = Item(item, origin.limits)
    chat = chat_of(spec, origin)
    name = _TYPE_NAME.validate_python(spec.take("id"), context=origin.limits)
    spec.take("level")
    given = {ours: spec.take(theirs) for theirs, ours in _PROPERTIES.items()}
    found = {ours: value for ours, value in given.items() if value is not None and _fits(spec, ours, value)}
    compression = spec.take("compression")
    if isinstance(compression, Mapping):
        members = {ours: compression.get(theirs) for theirs, ours in _COMPRESSION.items()}
        kept = {ours: value for ours, value in members.items() if value is not None and _compresses(spec, ours, value)}
        if kept:
            found["compression"] = kept
    return TypeRecord(chat, name, found, spec.all_losses())


def _fits(spec: Item, name: str, value: object) -> bool:
    try:
        TypeProperties.model_validate({name: value}, context=spec.limits)
    except ValidationError as error:
        spec.record_loss(name, complaint(error))
        return False
    return True


def _compresses(spec: Item, name: str, value: object) -> bool:
    if not _fits(spec, "compression", {name: value}):
        return False
    if name == "rule":
        try:
            rule_of(str(value))
        except InvalidParams:
            spec.record_loss("compression", "its rule cannot be read here and is left out")
            return False
    return True


def read_node(item: object, origin: ItemOrigin) -> NoteRecord:
    """Read a node; its edges are read by :func:`read_edges`."""
    node = Item(item, origin.limits)
    chat = chat_of(node, origin)
    id_ = str(_ID.validate_python(node.take("id"), strict=True, context=origin.limits))
    node.take("childrenIds")  # they say which parent they have
    row = _row(node, id_)
    type_ = fold_key(node.checked(_WORD, "type") or "note")
    last_turn = _turn(node, "seqTo")
    parent, heir = node.take("parentId"), node.take("supersededBy")
    return NoteRecord(
        id=id_,
        identity=identity(chat, id_),
        has_id=False,
        nugget=chat.nugget,
        origin=chat.session_id,
        kind="note",
        title=row.title,
        content=row.content,
        tags=(),
        traits=infer("note", row.title, row.content, (), Traits(type=type_)),
        says=_SAYS,
        archived_at=origin.now if node.flag("archived") else None,
        created_at=origin.now,
        updated_at=origin.now,
        extra=_extra(node, row),
        chat=chat,
        last_turn=last_turn,
        span=_span(node, last_turn),
        parent=parent if isinstance(parent, str) and parent else None,
        replaced_by=heir if isinstance(heir, str) and heir else None,
        losses=node.all_losses(),
    )


def _row(node: Item, id_: str) -> Row:
    """What a node says: its title, its fields, and its summary as its content."""
    title = node.title(node.take("title")) or id_
    given = node.take("fields")
    if given is not None and not isinstance(given, dict):
        node.record_loss("fields", "are not an object")
        given = None
    fields = {str(name): value for name, value in (given or {}).items() if value is not None}
    other = fields.pop("title", None)
    also = node.title(other) if isinstance(other, str) else ""
    if other is not None and fold_key(also) == fold_key(title):
        fields["title"] = title
    elif other is not None:
        node.record_loss("fields", "a column title says something else than the title; it is an alias here")
    summary = fields.get("summary")
    if isinstance(summary, str) and not summary.strip():
        del fields["summary"]
    elif summary is not None and not isinstance(summary, str):
        fields["summary"] = json.dumps(summary, ensure_ascii=False)
        node.record_loss("fields", "a summary that is no text is written as JSON")
    fields = _FIELDS.validate_python(fields, context=node.limits)
    aliases = [also] if also and fold_key(also) != fold_key(title) else []
    return write(None, None, Said(title=title, fields=fields, aliases=aliases), node.limits)


def _extra(node: Item, row: Row) -> Extra:
    is_rollup = node.flag("semanticRollup")
    depth = _whole(node.take("semanticDepth")) or 0
    level = node.take("level")
    if is_rollup and not 1 <= depth <= _MOST_DEPTH:
        node.record_loss("semanticDepth", f"is moved into 1 to {_MOST_DEPTH}")
    return NO_EXTRA._replace(
        fields=row.fields,
        aliases=row.aliases,
        rendered=row.rendered,
        level="semantic" if level in (None, "semantic") else "episodic",
        is_rollup=is_rollup,
        rollup_depth=min(max(1, depth), _MOST_DEPTH) if is_rollup else 0,
    )


def _span(node: Item, last_turn: int | None) -> tuple[int, int] | None:
    """The turns a node comes from."""
    given = node.take("floorRange")
    if given is None:
        return None
    ends = [_whole(given.get(name)) for name in ("start", "end")] if isinstance(given, Mapping) else [None]
    first, last = (*ends, None)[:2]
    if first is None or last is None or not 0 <= first <= last <= LAST_TURN or last_turn is None:
        node.record_loss("floorRange", "is no range of turns")
        return None
    return max(1, first), max(1, last)


def _whole(value: object) -> int | None:
    """A number that is not negative, without its fraction; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        return None
    return int(value)


def _turn(item: Item, name: str) -> int | None:
    given = item.take(name)
    turn = _whole(given)
    if given is not None and (turn is None or turn > LAST_TURN):
        item.record_loss(name, f"is no turn from 0 to {LAST_TURN}")
        return None
    return turn or None


def read_edges(item: object, origin: ItemOrigin) -> OutgoingLinks:
    """Read the edges that leave a node; those of the tree follow from it and are none."""
    node = Item(item, origin.limits)
    chat = chat_of(node, origin)
    source, given = node.take("id"), node.take("links")
    if not isinstance(source, str) or not isinstance(given, list):
        raise InvalidParams("id: is not text, or there are no links", field="id")
    found: dict[tuple[str, str], LinkRecord] = {}
    for member in given:
        if (link := _edge(node, member, origin)) is not None:
            found.setdefault((link.target, link.relation), link)
    return OutgoingLinks(source, tuple(found.values()), tuple(node.losses), chat)


def _edge(node: Item, member: object, origin: ItemOrigin) -> LinkRecord | None:
    target = member.get("to") if isinstance(member, Mapping) else None
    if not isinstance(member, Mapping) or not isinstance(target, str) or not target:
        node.record_loss("links", "a link leads nowhere")
        return None
    edge = Item(member, origin.limits)
    relation = edge.checked(_RELATION, "type")
    turn = _turn(edge, "seqTo")
    node.losses += [Loss("links", f"{loss.field}: {loss.why}") for loss in edge.losses]
    return LinkRecord(target, (), origin.now, relation or "related", turn)


#: The complete format.
LUKER: Final = Format(
    name="luker",
    readers={"sessions": read_turns, "types": read_type, "notes": read_node, "links": read_edges},
    weigh=weigh,
)
