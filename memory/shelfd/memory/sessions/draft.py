"""What a batch of operations is going to write, before anything of it is written.

Operations are planned one after another on a draft of the notes and links they touch, each sees what those before it
did, and one that is refused leaves nothing. Only a plan that stands is written.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import InvalidParams, NodeArchived, NoteNotFound
from shelfd.memory.log.transaction import Transaction, changed_fields
from shelfd.memory.notes.names import names_of
from shelfd.memory.notes.note import Link, Note, fold_key
from shelfd.memory.notes.relations import check_writable, directed
from shelfd.memory.sessions.schema import Schema
from shelfd.memory.sessions.turns import Moment, number_of
from shelfd.memory.shelf.nuggets import ensure_nugget
from shelfd.memory.shelf.storing import draw_id, too_many
from shelfd.protocol import Limits

Triple = tuple[str, str, str]
_NOT_STORED: Final = 2**62


class Scene(NamedTuple):
    """In which conversation and by whose leave something is written.

    Attributes:
        session_id: The conversation.
        nugget: Whose notes it sees.
        moment: When in it.
        schema: The types of its nugget.
        limits: The configured limits.
        by_extraction: It was read out of a conversation by the daemon, which may not edit every type.
    """

    session_id: str
    nugget: str
    moment: Moment
    schema: Schema
    limits: Limits
    by_extraction: bool = False


class Draft:
    """Notes and links as they will be.

    Attributes:
        tx: The transaction, from which is read what is not in the draft.
    """

    def __init__(self, tx: Transaction, scene: Scene) -> None:
        self.tx = tx
        self.scene = scene
        self._notes: dict[str, Note] = {}  # in the order of their first touch
        self._stored: dict[str, Note | None] = {}
        self._read: dict[str, Note | None] = {}
        self._places: dict[str, int] = {}
        self._named: defaultdict[str, set[str]] = defaultdict(set)
        self._links: dict[Triple, Link | None] = {}
        self._added = Counter[str]()

    def prefetch(self, ids: Iterable[str]) -> None:
        """Read these notes together: one by one each would be a query."""
        missing = [note_id for note_id in dict.fromkeys(ids) if note_id not in self._read]
        if missing:
            found = self.tx.rows.notes.by_ids(missing)
            self._read |= {note_id: found.get(note_id) for note_id in missing}

    def find(self, note_id: str) -> Note | None:
        """Return a note of the session's nugget as it will be, hidden or not."""
        note = self._notes.get(note_id)
        if note is None:
            note = self._as_stored(note_id)
            if note is None or note.nugget != self.scene.nugget or self._is_of_another(note):
                return None
        return note

    def _as_stored(self, note_id: str) -> Note | None:
        if note_id not in self._read:
            self._read[note_id] = self.tx.rows.notes.get(note_id)
        return self._read[note_id]

    def _is_of_another(self, note: Note) -> bool:
        return note.private and note.session_id != self.scene.session_id

    def need(self, note_id: str, field: str) -> Note:
        """Return a visible note of the session's nugget as it will be.

        Raises:
            NoteNotFound: If there is none.
            NodeArchived: If it is hidden.
            InvalidParams: If it is a raw turn.
        """
        note = self.find(note_id)
        if note is None:
            raise NoteNotFound(note_id, field=field)
        if note.hidden:
            raise NodeArchived(note_id, field=field)
        if note.extra.level != "semantic":
            raise InvalidParams(f"{field}: is a raw turn and no node", field=field, reason="NODE_NOT_SEMANTIC")
        return note

    def create(self, note: Note) -> Note:
        """Add a new note under an id that is free; its row and times come when it is written.

        Raises:
            GovernanceViolation: If it may not be stored.
        """
        note = self.tx.admit(note)
        while note.id in self._notes or self.tx.rows.notes.get(note.id) is not None:
            note = note._replace(id=draw_id(note.kind, note.nugget))
        self._stored[note.id] = None
        self._put(note)
        return note

    def change(self, note: Note) -> bool:
        """Let a note become this; return whether it says anything else than what is stored.

        Raises:
            GovernanceViolation: If it may not.
        """
        before = self._notes.get(note.id) or self._stored.get(note.id) or self._as_stored(note.id)
        note = self.tx.admit(note, before)
        if note.id not in self._stored:
            self._stored[note.id] = self._as_stored(note.id)
        self._put(note)
        return before is None or bool(changed_fields(before, note))

    def _put(self, note: Note) -> None:
        self._notes[note.id] = note
        self._places.setdefault(note.id, len(self._places))
        for name in names_of(note):
            self._named[name].add(note.id)

    def named(self, type_: str, names: frozenset[str]) -> list[Note]:
        """Return the notes of the type that answer to one of *names*, the oldest first."""
        stored = {note.id: note for note in self.tx.rows.notes.named(self.scene.nugget, type_, sorted(names))}
        self._read |= stored
        found = set(stored)
        found.update(note_id for name in names for note_id in self._named.get(name, ()))
        notes = [note for note_id in found if (note := self.find(note_id)) is not None]
        now = self.tx.now
        matching = [
            note
            for note in notes
            if fold_key(note.type) == type_
            and not names.isdisjoint(names_of(note))
            and (note.expires_at is None or note.expires_at > now)
        ]
        return sorted(matching, key=self.age)

    def age(self, note: Note) -> tuple[int, int]:
        """Return what orders notes by creation, those of this draft last."""
        return (note.row, 0) if note.row else (_NOT_STORED, self._places[note.id])

    def link(self, triple: Triple) -> Link | None:
        """Return a link as it will be."""
        if triple in self._links:
            return self._links[triple]
        return self.tx.rows.links.get(*triple)

    def add_links(self, links: list[Link], field: str) -> int:
        """Add links, or let those that are there take over what is new; return how many are new.

        Raises:
            InvalidParams: If a note would have more links than it may; then none is added.
            GovernanceViolation: If the relation or reason of one may not be stored; nor then.
        """
        admit = self.tx.admit_line
        links = [
            link._replace(relation=admit(link.relation, f"{field}.relation"), reason=admit(link.reason, field))
            for link in links
        ]
        new = {link[:3] for link in links if self.link(link[:3]) is None}
        limit = self.scene.limits.links_count
        for source, count in Counter(source for source, _, _ in new).items():
            if self.tx.rows.links.count_leaving(source) + self._added[source] + count > limit:
                raise too_many(field, "links", limit)
            self._added[source] += count
        for link in links:
            self._links[link[:3]] = link
        return len(new)

    def remove_link(self, triple: Triple) -> bool:
        """Remove a link; return whether there was one."""
        there = self.link(triple) is not None
        if there:
            self._links[triple] = None
        return there

    def write(self) -> None:
        """Write it all: notes in the order in which they were first touched, then links."""
        is_new = any(stored is None for stored in self._stored.values())
        changed = list(self._changed())
        links = {triple: link for triple, link in self._links.items() if self._is_change(triple, link)}
        if not changed and not links:
            return
        nugget = ensure_nugget(self.tx, self.scene.nugget) if is_new else self.tx.nugget(self.scene.nugget)
        assert nugget is not None  # it has notes
        number = number_of(self.tx, nugget, self.scene.session_id, self.scene.moment)
        for stored, note, fields in changed:
            if stored is None:
                self.tx.create_note(self._spanned(note._replace(seq_to=number)))
            elif fields.keys() == {"parent_id"}:
                self.tx.change_note(stored, note)  # what it says was not touched
            else:
                self.tx.change_note(stored, note._replace(seq_to=max(stored.seq_to or 0, number)))
        for triple, link in links.items():
            self._write_link(triple, link, number)

    def _changed(self) -> Iterator[tuple[Note | None, Note, Mapping[str, Any]]]:
        """New notes, and those that say something else than what is stored: as stored, as they will be, and what."""
        for note_id, note in self._notes.items():
            stored = self._stored[note_id]
            fields = {} if stored is None else changed_fields(stored, note)
            if stored is None or fields:
                yield stored, note, fields

    def _spanned(self, note: Note) -> Note:
        kind = self.scene.schema.get(note.type)
        if kind is None or not kind.records_span or not note.seq_to:
            return note
        first = self.scene.moment.from_seq or note.seq_to
        return note._replace(extra=note.extra._replace(source_span=(min(first, note.seq_to), note.seq_to)))

    def _is_change(self, triple: Triple, link: Link | None) -> bool:
        return link is not None or self.tx.rows.links.get(*triple) is not None

    def _write_link(self, triple: Triple, link: Link | None, number: int) -> None:
        if link is not None:
            self.tx.put_link(link._replace(seq_to=number), self.scene.nugget)
        elif (stored := self.tx.rows.links.get(*triple)) is not None:
            self.tx.delete_link(stored, self.scene.nugget)


def ends_of(one: Note, other: Note, relation: str, direction: str, draft: Draft, field: str) -> list[Triple]:
    """Return which directed links a relation between two notes is.

    Raises:
        InvalidParams: If both are the same note, or the relation follows from something else.
    """
    check_writable(relation, f"{field}.relation")
    if one.id == other.id:
        raise InvalidParams(f"{field}: leads from a note to itself", field=field)
    is_older = draft.age(one) < draft.age(other)
    ends = directed(one.id, other.id, relation, direction, one_is_older=is_older)
    return [(source, target, relation) for source, target in ends]
