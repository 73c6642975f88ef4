"""Where what comes from a conversation belongs here: its session, its nugget's numbers of turns, the notes it names."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from shelfd.memory.errors import InvalidParams, SessionElsewhere, SessionFrozen
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.moving.reconciling import digest
from shelfd.memory.moving.record import Chat, Loss, NoteRecord, TurnsRecord, TypeRecord
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import Entry
from shelfd.memory.ports.sessions import Session
from shelfd.memory.sessions.schema import BUILT_IN, NoteType, new_type, schema_of
from shelfd.memory.shelf.nuggets import ensure_nugget
from shelfd.memory.shelf.turns import stamp_turn

#: How the ids of notes begin that only have a name in their memory.
NAMED: Final = "note-in"
#: The same of those that have one in a conversation.
CHAT: Final = "note-chat"
#: How many notes may represent each other: more steps up than these go around in a circle.
_HIGHEST: Final = 64


@dataclass(slots=True)
class Placement:
    """Puts what records say of conversations and of each other in this memory's terms, within one transaction."""

    tx: Transaction
    _nuggets: dict[Chat, str] = field(default_factory=dict)
    _numbers: dict[tuple[Chat, int], int | None] = field(default_factory=dict)

    def nugget_of(self, chat: Chat) -> str:
        """Return the nugget that a conversation works on, or will.

        Raises:
            SessionElsewhere: If its session is here and works on another one than was asked for.
            SessionFrozen: If its session shows the shelf as it was.
        """
        known = self._nuggets.get(chat)
        if known is None:
            session = self.tx.rows.sessions.get(chat.session_id)
            if session is not None and chat.is_named and session.nugget != chat.nugget:
                raise SessionElsewhere(chat.session_id, session.nugget)
            if session is not None and session.at_seq is not None:
                raise SessionFrozen(chat.session_id, session.at_seq)
            known = self._nuggets[chat] = chat.nugget if session is None else session.nugget
        return known

    def open(self, record: TurnsRecord) -> bool:
        """Make a conversation's session if there is none, and count its turns; return whether anything was new."""
        name, session_id = self.nugget_of(record.chat), record.chat.session_id
        nugget = ensure_nugget(self.tx, name)
        is_new = self.tx.rows.sessions.get(session_id) is None
        if is_new:
            self.tx.rows.sessions.put(Session(session_id, name, opened_at=self.tx.now, last_used_at=self.tx.now))
            self.tx.log(Entry("session.opened", name, ()))
        before = nugget.turn_count
        for turn in range(record.first, record.last + 1):
            nugget = self.tx.nugget(name) or nugget
            stamp_turn(self.tx, nugget, session_id, turn)
        nugget = self.tx.nugget(name) or nugget
        return is_new or nugget.turn_count != before

    def set_type(self, record: TypeRecord) -> tuple[bool, list[Loss]]:
        """Set a type of notes in a conversation's nugget; one that was set there stays.

        Returns:
            Whether it is new, and what of it is lost.
        """
        name = self.nugget_of(record.chat)
        kind = typed(record)
        if schema_of(self.tx.rows, name).get(record.name) == kind:
            return False, []
        if record.name in self.tx.rows.note_types.of(name):
            return False, [Loss("schema", "the nugget has set the type otherwise and keeps it")]
        ensure_nugget(self.tx, name)
        self.tx.rows.note_types.put(name, kind.name, kind.as_mapping())
        return True, []

    def number(self, chat: Chat, turn: int | None) -> int | None:
        """Return the nugget's number of a conversation's turn; None if that was not counted."""
        if turn is None:
            return None
        place = (chat, turn)
        if place not in self._numbers:
            self._numbers[place] = self.tx.turn_number(self.nugget_of(chat), chat.session_id, turn)
        return self._numbers[place]

    def placed(self, record: NoteRecord, chat: Chat, losses: list[Loss]) -> NoteRecord:
        """Return what a record of a conversation is here; add to *losses* what of it has no place.

        Raises:
            SessionElsewhere, SessionFrozen: As :meth:`nugget_of` does.
        """
        parent = self._named(chat, record.parent, losses, "parent")
        heir = self._named(chat, record.replaced_by, losses, "replacement")
        span = None
        if record.span is not None:
            first, last = (self.number(chat, turn) for turn in record.span)
            span = None if first is None or last is None else (first, last)
        return replace(
            record,
            nugget=self.nugget_of(chat),
            seq_to=self.number(chat, record.last_turn),
            parent_id=parent,
            superseded_by=heir,
            extra=record.extra if span is None else record.extra._replace(source_span=span),
        )

    def _named(self, chat: Chat, name: str | None, losses: list[Loss], role: str) -> str | None:
        if name is None:
            return None
        note = self.note(chat, name)
        if note is None:
            losses.append(Loss(role, "the note it names is not here"))
        return None if note is None else note.id

    def note(self, chat: Chat, name: str) -> Note | None:
        """Return the note here that a conversation calls *name*."""
        here = self.tx.rows.notes.get(name)
        marks = None if here is None else here.extra.imported
        if marks is not None and marks.nugget == chat.session_id and marks.id is None:
            return here
        return stand_in(self.tx.rows.notes.get, CHAT, digest(identity(chat, name)))[0]

    def named(self, space: str, name: str) -> Note | None:
        """Return the note here that another memory calls *name*, or that has it as its id."""
        here = self.tx.rows.notes.get(name)
        marks = None if here is None else here.extra.imported
        if marks is not None and (marks.nugget, marks.id) == (space, None):
            return here
        return stand_in(self.tx.rows.notes.get, NAMED, digest(known_as(space, name)))[0] or here

    def is_above(self, note: Note, parent_id: str) -> bool:
        """Return whether *note* is its would-be parent, or represents that, or too many do."""
        at: str | None = parent_id
        for _ in range(_HIGHEST):
            if at == note.id:
                return True
            above = None if at is None else self.tx.rows.notes.get(at)
            if above is None:
                return False
            at = above.parent_id
        return True

    def may_replace(self, heir: Note, note_id: str) -> bool:
        """Return whether a note may replace another: it is not that one, and was not replaced by it itself."""
        at: Note | None = heir
        for _ in range(_HIGHEST):
            if at is None:
                return True
            if at.id == note_id:
                return False
            at = None if at.superseded_by is None else self.tx.rows.notes.get(at.superseded_by)
        return False


def known_as(space: str, name: str) -> str:
    """Return what a note is known by whose name is unique in its memory only."""
    return f"{space}\n{name}"


def identity(chat: Chat, name: str) -> str:
    """Return what a note is known by whose name is unique in its conversation only."""
    return known_as(chat.session_id, name)


def stand_in(get: Callable[[str], Note | None], stem: str, stands_for: str) -> tuple[Note | None, str]:
    """Return the note that stands for one whose id is no good here, and its id: the same one each time.

    Args:
        get: Returns the note with an id.
        stem: How the id begins.
        stands_for: Digest of its identity.
    """
    for salt in count():
        note_id = _stand_in_id(stem, stands_for, salt)
        here = get(note_id)
        marks = None if here is None else here.extra.imported
        if here is None or (marks is not None and marks.id == stands_for):
            return here, note_id
    raise AssertionError  # numbers do not end


def _stand_in_id(stem: str, stands_for: str, salt: int) -> str:
    return f"{stem}-{digest(f'{stands_for}{salt}')[:8]}"


def named_id(space: str, name: str, *, stem: str = NAMED) -> str:
    """Return the id that a note has which only has a name in its memory, unless another note has that."""
    return _stand_in_id(stem, digest(known_as(space, name)), 0)


def typed(record: TypeRecord) -> NoteType:
    """Return the type that a record describes.

    Raises:
        InvalidParams: If it requires columns that it does not have.
    """
    kind = (BUILT_IN.get(record.name) or new_type(record.name)).with_properties(record.properties)
    missing = [name for name in (*kind.required_columns, *kind.primary_key_columns) if name not in kind.table_columns]
    if missing:
        raise InvalidParams(f"requiredColumns: are not all among the columns of type {kind.name}", field="tableColumns")
    return kind
