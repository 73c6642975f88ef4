"""From what is stored to what goes over the wire."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from shelfd.memory.facts.capacity import status_of
from shelfd.memory.facts.fact_memory import options_of
from shelfd.memory.knowledge.graph.chain import causal_chain
from shelfd.memory.notes.note import NO_EXTRA, Link, Note, Nugget, Usage
from shelfd.memory.notes.text import cut, first_sentence
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.notes import NuggetCounts
from shelfd.memory.ports.view import View
from shelfd.memory.recall.note_score import NoteVector, note_vector
from shelfd.protocol import from_micros

_NEVER_USED = Usage()
_INSTANTS = frozenset(
    "occurred_at valid_from valid_to expires_at archived_at created_at updated_at last_rewritten_at promoted_at".split()
)
#: Fields that are left out when null or empty, in the order they are shown.
_OPTIONAL = ("author", "session_id", "turn", "seq_to", "superseded_by", "parent_id")
_OPTIONAL_INSTANTS = ("occurred_at", "valid_from", "valid_to", "expires_at", "archived_at")
_OPTIONAL_EXTRA = (
    *("source_key", "aliases", "fields", "source_ref", "ttl_days"),
    *("is_rollup", "rollup_depth", "source_span", "copied_from", "evolution_count", "evolved_by", "superseded_reason"),
    *("trust", "redacted"),
)
#: Of these, those that are kept as tuples.
_LISTS = frozenset({"aliases", "source_span", "evolved_by", "redacted"})
# One call for all fields takes a third of one for each.
_NO_INSTANTS = (None,) * len(_OPTIONAL_INSTANTS)
_optional, _instants, _rare = attrgetter(*_OPTIONAL), attrgetter(*_OPTIONAL_INSTANTS), attrgetter(*_OPTIONAL_EXTRA)


class Relatives(NamedTuple):
    """What a note has to do with others: notes it replaced, represents, and that led to it; entities it mentions."""

    supersedes: list[str]
    children: list[str]
    causes: list[str]
    entities: list[str]


def relatives_of(view: View, note: Note) -> Relatives:
    """Return what others say of *note*."""
    children = view.notes.children([note.id]) if note.extra.is_rollup else ()
    return Relatives(
        view.notes.superseded_by(note.id),
        [child.id for child in children],
        causal_chain(view, note),
        list(dict.fromkeys(entity.value for entity in view.entities.of_note(note.row))),
    )


def note_view(
    note: Note,
    links: Sequence[Link] = (),
    usage: Usage = _NEVER_USED,
    *,
    relatives: Relatives | None = None,
    max_content_chars: int | None = None,
) -> dict[str, Any]:
    """Return a note's wire form.

    Args:
        links: Links that leave it.
        relatives: Notes it replaced and represents; giving them asks for the full form.
        max_content_chars: Cut the content at a word if it is longer.
    """
    view = unused_view(note)
    view["links"] = [link_of_note(link) for link in links] if links else []
    if usage is not _NEVER_USED:
        _add_use(view, note, usage)
    if max_content_chars is not None:
        view["content"] = cut(note.content, max_content_chars)
    if relatives is not None:
        _add_full(view, note, relatives)
    return view


def _add_use(view: dict[str, Any], note: Note, usage: Usage) -> None:
    view["hits"] = usage.hits
    view["last_hit_session"] = usage.last_hit_session
    view["access_count"] = usage.access_count
    if usage.last_accessed_at > note.created_at:
        view["last_accessed_at"] = from_micros(usage.last_accessed_at)


def unused_view(note: Note) -> dict[str, Any]:
    """Return the wire form of *note* without links and use: what follows from the note alone."""
    created = from_micros(note.created_at)
    view: dict[str, Any] = {
        "id": note.id,
        "nugget": note.nugget,
        "kind": note.kind,
        "title": note.title,
        "content": note.content,
        "tags": note.all_tags,
        "links": (),
        "hidden": note.archived_at is not None,
        "hits": 0,
        "last_hit_session": "",
        "subject": note.subject,
        "scope": note.scope,
        "type": note.type,
        "source": note.source,
        "confidence": note.confidence,
        "stability": note.stability,
        "domain": note.domain,
        "tier": note.tier,
        "importance": note.importance,
        "access_count": 0,
        "created_at": created,
        "updated_at": created if note.updated_at == note.created_at else from_micros(note.updated_at),
        "last_accessed_at": created,
        "rev": note.rev,
    }
    _add_optional(view, note)
    return view


def _add_optional(view: dict[str, Any], note: Note) -> None:
    view |= {name: value for name, value in zip(_OPTIONAL, _optional(note), strict=True) if value is not None}
    if (instants := _instants(note)) != _NO_INSTANTS:
        given = zip(_OPTIONAL_INSTANTS, instants, strict=True)
        view |= {name: from_micros(instant) for name, instant in given if instant is not None}
    if note.pinned:
        view["pinned"] = True
    if note.needs_review:
        view["needs_review"] = True
    if (extra := note.extra) is not NO_EXTRA:
        for name, value in zip(_OPTIONAL_EXTRA, _rare(extra), strict=True):
            if value:
                view[name] = list(value) if name in _LISTS else value
        for name in ("last_rewritten_at", "promoted_at"):
            if value := getattr(extra, name):
                view[name] = from_micros(value)


def _add_full(view: dict[str, Any], note: Note, relatives: Relatives) -> None:
    view["source_type"] = note.extra.source_type
    view["level"] = note.extra.level
    view["version"] = 1 + note.extra.evolution_count
    if context := first_sentence(note.content):
        view["context"] = context
    if relatives.supersedes:
        view["supersedes"] = relatives.supersedes
    if relatives.children:
        view["children_ids"] = relatives.children
    if relatives.causes:
        view["causal_chain"] = relatives.causes
    if relatives.entities:
        view["entities"] = relatives.entities
    vector = note_vector(note.title, note.content, note.tags)
    view["vector"] = _vector(vector)
    if vector.keywords:
        view["keywords"] = vector.keywords


def vector_view(note: Note) -> dict[str, Any]:
    """Return what stands for the note's vector."""
    return _vector(note_vector(note.title, note.content, note.tags))


def _vector(vector: NoteVector) -> dict[str, Any]:
    return {"seed": vector.seed, "basis": list(vector.basis)}


def link_of_note(link: Link) -> dict[str, Any]:
    """Return a link as a note shows it."""
    view = {
        "to": link.target,
        "relation": link.relation,
        "reason": link.reason,
        "created_at": from_micros(link.created_at),
    }
    for name in ("valid_from", "valid_to"):
        if (value := getattr(link, name)) is not None:
            view[name] = from_micros(value)
    return view if link.seq_to is None else {**view, "seq_to": link.seq_to}


def link_view(link: Link) -> dict[str, Any]:
    """Return a link with both its ends."""
    view = link_of_note(link)
    return {"source": link.source, "target": view.pop("to"), **view}


def nugget_view(nugget: Nugget, counts: NuggetCounts) -> dict[str, Any]:
    """Return a nugget and what it holds."""
    status = status_of(counts.facts, options_of(nugget))
    view: dict[str, Any] = {
        "name": nugget.name,
        "fact_count": counts.facts,
        "note_count": counts.notes,
        "hidden_count": counts.hidden,
        "dimension": nugget.dimension,
        "banks": nugget.banks,
        "ensembles": nugget.ensembles,
        "max_facts": nugget.max_facts,
        "capacity": status.capacity,
        "capacity_used_pct": status.capacity_used_pct,
        "capacity_warning": status.capacity_warning,
        "created_at": from_micros(nugget.created_at),
    }
    if nugget.local_only:
        view["local_only"] = True
    if nugget.ttl_days is not None:
        view["ttl_days"] = nugget.ttl_days
    return view


def log_view(row: LogRow) -> dict[str, Any]:
    """Return a change as the log shows it: who did what to which notes, without the text."""
    optional = {
        "request_id": row.origin.request_id,
        "session_id": row.origin.session_id,
        "turn": row.origin.turn,
        "variant": row.origin.variant,
        "run_id": row.origin.run_id,
        "nugget": row.nugget,
    }
    return {
        "seq": row.seq,
        "tx": row.tx,
        "tx_size": row.tx_size,
        "at": from_micros(row.at),
        "principal": row.origin.principal,
        "method": row.origin.method,
        "kind": row.kind,
        "ids": list(row.ids),
        **{name: value for name, value in optional.items() if value is not None},
    }


def change_view(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored field values as a history shows them: times as text."""
    shown: dict[str, Any] = {}
    for name, value in values.items():
        if name == "archived_at":
            shown["hidden"] = value is not None
        elif name in _INSTANTS and value is not None:
            shown[name] = from_micros(value)
        else:
            shown[name] = value
    return shown


class NoteRenderer:
    """Renders several notes of one shelf with few reads."""

    def __init__(
        self, view: View, usage: Mapping[int, Usage], links: Mapping[str, Sequence[Link]], *, full: bool
    ) -> None:
        self._view = view
        self._usage = usage
        self._links = links
        self._full = full

    def __call__(self, note: Note, max_content_chars: int | None = None) -> dict[str, Any]:
        """Return the wire form of *note*."""
        return note_view(
            note,
            self._links.get(note.id, ()),
            self._usage.get(note.row, _NEVER_USED),
            relatives=relatives_of(self._view, note) if self._full else None,
            max_content_chars=max_content_chars,
        )
