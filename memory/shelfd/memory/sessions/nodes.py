"""Typed notes: made, merged into the one of their name, changed, hidden."""

from typing import Final, NamedTuple

from shelfd.memory.errors import InvalidParams, NodeExists, RevisionConflict
from shelfd.memory.notes.inference import Traits, infer
from shelfd.memory.notes.names import names_of
from shelfd.memory.notes.note import NO_EXTRA, Note, fold_key
from shelfd.memory.sessions.columns import Row, Said, check_required, names_in, row_of, write
from shelfd.memory.sessions.draft import Draft, Scene
from shelfd.memory.sessions.schema import NoteType
from shelfd.memory.shelf.storing import DAY_MICROS, draw_id, unique_names, with_title_tags
from shelfd.protocol.methods.session_writing import NodeChange, NodeInput

#: Links of a note, or notes that it represents, which one change takes along. More links are work for ``note.merge``.
_MOVED: Final = 1000


class Made(NamedTuple):
    """The note that stands for what was given."""

    note: Note
    merged: tuple[str, ...] = ()  #: the note that was there, if there was one
    archived: tuple[str, ...] = ()  #: others of its name, hidden and replaced


def make(draft: Draft, given: NodeInput) -> Made:
    """Make a note, or let the one of its name take it over.

    Raises:
        InvalidParams: If its type does not exist, or does not allow it.
        TooLarge: If something is larger than a caller may give.
        NodeExists: If there is one of its name, and merging is ruled out.
    """
    scene = draft.scene
    kind = scene.schema.need(given.type)
    on_match = given.on_match or ("merge" if kind.latest_only else "new")
    said = Said(given.title, given.content, given.fields, (), given.aliases)
    row = write(kind, None, said, scene.limits)
    if on_match != "new" and (matches := _matches(draft, kind, row)):
        if on_match == "error":
            raise NodeExists(kind.name, matches[0].id)
        return _merged(draft, kind, matches, said, row)
    check_required(kind, None, row, said)
    return Made(draft.create(_composed(draft, kind, row)))


def _composed(draft: Draft, kind: NoteType, row: Row) -> Note:
    scene, now = draft.scene, draft.tx.now
    nugget = draft.tx.nugget(scene.nugget)
    ttl_days = None if nugget is None else nugget.ttl_days
    tags = with_title_tags((), row.title, scene.limits)
    # Columns such as "identity" or "goal" are those of whom the note is about, not of the assistant.
    traits = infer("note", row.title, row.content, tags, Traits(type=kind.name, scope="user"))
    extra = NO_EXTRA._replace(ttl_days=ttl_days, variant=draft.tx.variant or 0)
    note = Note(
        id=draw_id("note", scene.nugget),
        nugget=scene.nugget,
        tags=tuple(tag for tag in tags if tag != scene.nugget),
        **traits._asdict(),
        session_id=scene.session_id,
        turn=scene.moment.turn,
        expires_at=None if ttl_days is None else now + ttl_days * DAY_MICROS,
        created_at=now,
        updated_at=now,
        extra=extra,
    )
    return row.on(note)


def _matches(draft: Draft, kind: NoteType, row: Row) -> list[Note]:
    """Visible notes of the type that answer to a name of what is said, the one that is meant first."""
    title = fold_key(row.title)
    names = frozenset(fold_key(name) for name in (row.title, *row.aliases)) - {""}

    def fit(note: Note) -> tuple[bool, int, int]:
        return (fold_key(note.title) != title, -len(names & names_of(note)), -(note.seq_to or 0))

    return sorted(draft.named(kind.name, names), key=fit) if names else []


def _merged(draft: Draft, kind: NoteType, matches: list[Note], said: Said, row: Row) -> Made:
    """Let the first of *matches* take over what is said. Of a type with one note for each thing, others of that very
    title are replaced by it; one that shares no more than an alias may be about something else, and stays.
    """
    kept, *others = matches
    fields = {name: value for name, value in said.fields.items() if value is not None and name != "title"}
    if (known := names_in(kept.extra.fields.get("aliases"))) and "aliases" in fields:
        fields["aliases"] = list(unique_names([*known, *names_in(fields["aliases"])]))
    aliases = row.aliases
    if kept.title and row.title and fold_key(row.title) != fold_key(kept.title):
        aliases = (*aliases, row.title)  # it keeps its own title, and is found by both
    title = None if kept.title else row.title or None
    limits = draft.scene.limits
    more = Said(title, said.content, fields, (), aliases)
    before = row_of(kept)
    after = write(kind, before, more, limits)
    check_required(kind, before, after, more)
    merged = after.on(kept)
    draft.change(merged)
    same = fold_key(row.title)
    replaced = [note for note in others if kind.latest_only and same and fold_key(note.title) == same]
    for other in replaced:
        _replace(draft, other, merged)
    return Made(merged, (kept.id,), tuple(other.id for other in replaced))


def _replace(draft: Draft, old: Note, new: Note) -> None:
    """Hide a note in favour of another, which gets its links."""
    links = draft.tx.rows.links.page(note_id=old.id, relation=None, after=0, limit=_MOVED + 1)
    if len(links) > _MOVED:
        raise InvalidParams(
            "on_match: another note of this name has too many links; note.merge moves them", field="on_match"
        )
    moved = []
    for _, link in links:
        source, target = (new.id if end == old.id else end for end in link[:2])
        draft.remove_link(link[:3])
        if source != target and draft.link((source, target, link.relation)) is None:
            moved.append(link._replace(source=source, target=target))
    draft.add_links(moved, "on_match")
    free_children(draft, old)
    draft.change(old._replace(archived_at=draft.tx.now, superseded_by=new.id))


def edit(draft: Draft, note_id: str, given: NodeChange, field: str) -> tuple[Note, bool]:
    """Change a note; return it, and whether that changed anything.

    Raises:
        NoteNotFound, NodeArchived: If there is none that can be changed.
        RevisionConflict: If it has moved on.
        InvalidParams: If it is of another type than was said, or its type does not allow what it would be.
    """
    note = draft.need(note_id, field)
    check_revision(note, given.if_rev)
    check_editable(draft.scene, note, field)
    if given.type is not None and fold_key(given.type) != fold_key(note.type):
        raise InvalidParams(f"type: the note is of type {note.type}", field="type", reason="TYPE_MISMATCH")
    said = Said(given.title, given.content, given.set_fields, given.clear_fields, name="set_fields")
    if note.kind == "fact" and (given.title is not None or "title" in {*given.set_fields, *given.clear_fields}):
        raise InvalidParams("title: a fact's title is its key; note.edit changes it", field="title")
    kind, before = draft.scene.schema.get(note.type), row_of(note)
    after = write(kind, before, said, draft.scene.limits)
    check_required(kind, before, after, said)
    return note, draft.change(after.on(note))


def check_revision(note: Note, if_rev: int | None) -> None:
    """Raise unless a note still has the rev that was given, if one was.

    Raises:
        RevisionConflict: If it has another.
    """
    if if_rev is not None and if_rev != note.rev:
        raise RevisionConflict(note.id, expected=if_rev, actual=note.rev)


def check_editable(scene: Scene, note: Note, field: str) -> None:
    """Raise if a note is not for extraction to change, and this is one.

    Raises:
        InvalidParams: If it is not.
    """
    kind = scene.schema.get(note.type)
    if scene.by_extraction and kind is not None and not kind.editable:
        raise InvalidParams(f"{field}: extraction cannot change notes of type {kind.name}", field=field)


def hide(draft: Draft, note: Note) -> list[str]:
    """Hide a note; return the ids of its children, which no rollup represents any more."""
    freed = free_children(draft, note)
    draft.change(note._replace(archived_at=draft.tx.now))
    return freed


def free_children(draft: Draft, note: Note) -> list[str]:
    """Return a note's children to the frontier; return their ids.

    Raises:
        InvalidParams: If it has more than one transaction should change.
    """
    freed: list[str] = []
    children = draft.tx.rows.notes.children([note.id], limit=_MOVED + 1)
    if len(children) > _MOVED:
        text = f"id: represents more than {_MOVED} notes; note.hide takes it out of sight, and they are visible again"
        raise InvalidParams(text, field="id", limit=_MOVED)
    for child in children:
        planned = draft.find(child.id)
        if planned is not None and planned.parent_id == note.id:
            draft.change(planned._replace(parent_id=None))
            freed.append(child.id)
    return freed
