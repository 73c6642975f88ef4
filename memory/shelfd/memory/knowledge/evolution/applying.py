"""Remembering a note together with what it does to older ones."""

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.lexicon import ME, US
from shelfd.memory.knowledge.evolution.naming import renamed
from shelfd.memory.knowledge.evolution.numbering import Numbers, numbered, numbers_of
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.repeating import adds, prolonged
from shelfd.memory.knowledge.evolution.slots import places_of, slots_of
from shelfd.memory.knowledge.evolution.stated import Stated, decode, encode
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.knowledge.evolution.text_reading import TextRead, read_text
from shelfd.memory.knowledge.evolution.verdicts import Judgement, Verdict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import EMPTY, Note, fold_key
from shelfd.memory.ports.evolution import CHANGED, OlderNote, StoredConflict
from shelfd.memory.shelf.storing import scope_of, store_note, text_of
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import KeyedInput, NoteInput

#: Older notes of one slot, and of all slots, that are looked at: the newest.
OF_SLOT: Final = 32
LOOKED_AT: Final = 64
#: Notes whose statements were not read yet and that are read before a single decision: some milliseconds at most.
_CAUGHT_UP: Final = 32
#: Conflicts of one note among which one that is known already is looked for.
CONFLICTS: Final = 256
#: Conflicts that a note is found in as it comes: with the newest. What contradicts one of these is told by that.
CONTESTED: Final = 3
#: Scopes of what everybody says of the same world; "self" is the assistant's own.
OPEN_SCOPES: Final = frozenset(("user", "shared", "project"))
_SUPERSEDED: Final = (Verdict.UPDATED, Verdict.CORRECTED)
#: Makes a named tuple of what is known to have its length, in a fraction of the time.
_new: Final = tuple.__new__
#: Older notes that do not simply stay, each with what becomes of it, the newest first.
_Judged: TypeAlias = Sequence[tuple[Note, Judgement]]


class Evolved(NamedTuple):
    """What became of a note that was to be remembered, and of older ones.

    Attributes:
        note: The note as it stands; of a ``noop`` the one that says it already.
        status: ``created``, ``updated``, ``corrected`` or ``noop``.
        superseded: Ids of the notes that it replaced.
        conflicts: Ids of the conflicts that it is in.
        judged: What was decided of older notes, by id.
    """

    note: Note
    status: str
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    judged: Mapping[str, Judgement] = EMPTY


def remember_evolved(
    tx: Transaction,
    given: NoteInput,
    limits: Limits,
    *,
    known: TextRead | None = None,
    decided: Mapping[str, Judgement] | None = None,
    catch_up: int = _CAUGHT_UP,
) -> Evolved:
    """Store what a caller gave, and let it supersede, repeat or contradict older notes of its nugget and scope.

    A note that tells of an earlier time, or of a time that is over or still to come, supersedes nothing; with a key,
    it is stored beside the fact, as superseded by it. What an update replaces held until its time, and the update
    holds from then on; what is corrected never held. What says the same as an older note and nothing beside is not
    stored; the older note then lives as long as it would have.

    Args:
        known: Its text, if that was read before.
        decided: What becomes of older notes by id, if that was decided elsewhere; if None, the rules decide it.
        catch_up: Notes whose statements were not read yet and that are read before that, the newest.
    """
    rows = tx.rows
    _read_lost(tx)
    fact = None
    if isinstance(given, KeyedInput) and given.key is not None:
        fact = rows.notes.fact(given.nugget, fold_key(given.key))
    text = text_of(given, fact, limits)
    content = text[0]
    when = tx.now if given.occurred_at is None else given.occurred_at
    of_text = known if known is not None and known.text == content else read_text(content)
    said = renamed(of_text.statements, rows.entities, of_text.keys)
    new = _new(Told, ("", content, when, None, said, of_text.withdrawn))
    if fact is not None:
        new = new._replace(key=fact.key)
        if fact.live and new.when < _told_at(fact) and content != fact.content:
            return _former(tx, given, fact, limits)
        if content == fact.content:
            given = given.model_copy()
            given.model_fields_set.discard("occurred_at")  # told again: that it was told at all is known since then
    nugget = tx.nugget(given.nugget)
    places = of_text.places if said is of_text.statements else places_of(said, of_text.withdrawn)
    slots = None if nugget is None else numbered(places, nugget.created_at)
    judged = decided
    if judged is None:
        judged = EMPTY if slots is None else _judged(tx, given, new, fact, slots, catch_up)
    found = _found(tx, given, new, judged) if judged else ()
    superseding = tuple(one for one in found if one[1].verdict in _SUPERSEDED) if found else ()
    if found and not superseding and (repeated := _repeated(given, new, found, decided is None)) is not None:
        return _told_again(tx, given, repeated, None if nugget is None else nugget.ttl_days)
    if superseding:
        given = _holding(given, new.when, superseding, tx.now)
    kept = store_note(tx, given, limits, text=text)
    if kept.note.quarantined:
        return Evolved(kept.note, kept.status)  # what gives orders makes nothing untrue
    for note, judgement in superseding:
        has_held = judgement.verdict is Verdict.UPDATED
        tx.supersede(note, kept.note.id, reason=judgement.reason, until=new.when, has_held=has_held)
    conflicts = _conflicts(tx, found, kept.note) if found else ()
    is_same = kept.note.content == content
    _keep(tx, kept.note, new.statements if is_same else None, slots.standing if is_same and slots is not None else None)
    status = kept.status
    if superseding:
        verdicts = [judgement.verdict for _, judgement in superseding]
        status = str(max(verdicts, key=_SUPERSEDED.index))
    elif status == "updated" and any(statement.corrects for statement in new.statements):
        status = str(Verdict.CORRECTED)
    ids = tuple([note.id for note, _ in superseding]) if superseding else ()
    return _new(Evolved, (kept.note, status, ids, conflicts, judged))


def _repeated(given: NoteInput, new: Told, found: _Judged, by_rules: bool) -> Note | None:
    """Return the newest note that says already all of what a caller gave."""
    repeated = next((note for note, judgement in found if judgement.verdict is Verdict.DUPLICATE), None)
    if repeated is None:
        return None
    statements = new.statements if by_rules else None
    return None if adds(given, repeated, when=new.when, statements=statements) else repeated


def _told_again(tx: Transaction, given: NoteInput, repeated: Note, default_ttl_days: int | None) -> Evolved:
    """Let a note that is told again live as long as if it were told now for the first time."""
    kept = prolonged(given, repeated, default_ttl_days, tx.now)
    return Evolved(repeated, "noop") if kept is repeated else Evolved(tx.change_note(repeated, kept), "updated")


def _conflicts(tx: Transaction, found: _Judged, newer: Note) -> tuple[str, ...]:
    """Note down which older notes a new one contradicts, the newest of them; return the ids of the conflicts."""
    contested = [(note, judgement.reason) for note, judgement in found if judgement.verdict is Verdict.CONFLICT]
    contested = contested[:CONTESTED]
    return tuple([note_conflict(tx, note, newer, reason) for note, reason in contested])


def _holding(given: NoteInput, when: int, superseding: _Judged, now: int) -> NoteInput:
    """What a caller gave, with the time from which on it holds if it says what has changed by then."""
    is_update = any(judgement.verdict is Verdict.UPDATED for _, judgement in superseding)
    if not is_update or given.valid_from is not None or when > now or (given.valid_to or now) < when:
        return given
    return given.model_copy(update={"valid_from": when})


def _former(tx: Transaction, given: NoteInput, fact: Note, limits: Limits) -> Evolved:
    """Store what a key's value was before the one it has."""
    without_key = given.model_copy(update={"key": None, "title": given.title or fact.title})
    note = store_note(tx, without_key, limits).note
    return Evolved(tx.supersede(note, fact.id, reason="the key has a value of a later time"), "created")


def state(tx: Transaction, note: Note, statements: Sequence[Statement] | None = None) -> Sequence[Statement]:
    """Keep what a note states, so that newer ones find it; return that.

    Args:
        statements: What it states, if that was read already.
    """
    _read_lost(tx)
    said = renamed(read(note.content) if statements is None else statements, tx.rows.entities)
    tx.rows.statements.put(note.row, note.rev, encode(said), _slots(tx, note, said))
    return said


def store_held(tx: Transaction) -> None:
    """Store what newer notes state that were compared with older ones before they were committed."""
    _read_lost(tx)
    tx.rows.statements.store_held()


def _keep(
    tx: Transaction, note: Note, known: Sequence[Statement] | None = None, standing: Sequence[int] | None = None
) -> None:
    """Have what a note states be found from now on. The worker stores it, so that nobody waits for that.

    Args:
        known: What it states, if that was read already.
        standing: Numbers of the slots in which that stands, if they are known.
    """
    said = renamed(read(note.content), tx.rows.entities) if known is None else known
    slots = _slots(tx, note, said) if standing is None else standing
    tx.rows.statements.hold(note.row, note.rev, _new(Stated, (said,)), slots)


def _slots(tx: Transaction, note: Note, said: Sequence[Statement]) -> list[int]:
    nugget = tx.nugget(note.nugget)
    return numbers_of(slots_of(said), 0 if nugget is None else nugget.created_at)


def _read_lost(tx: Transaction) -> None:
    """Read what notes state of which that was not stored yet when the daemon was killed."""
    if lost := tx.rows.statements.lost():
        _keep_all(tx, lost)


def _keep_all(tx: Transaction, rows: Sequence[int]) -> None:
    for _, note in sorted(tx.rows.notes.by_rows(rows).items()):
        _keep(tx, note)


def _told_at(note: Note) -> int:
    """The time a fact's value is of: unless it says, when it was given."""
    return note.updated_at if note.occurred_at is None else note.occurred_at


def _judged(
    tx: Transaction, given: NoteInput, new: Told, fact: Note | None, slots: Numbers, catch_up: int
) -> Mapping[str, Judgement]:
    """What the rules say of each older note in one of the *slots* that the new one looks into."""
    statements = new.statements
    if not statements:
        return EMPTY
    stated = tx.rows.statements
    if unread := stated.unread(limit=catch_up):
        _keep_all(tx, unread)
    spoken_of = stated.spoken_of(slots.subjects())
    near = stated.in_slots(slots.of(spoken_of), limit=OF_SLOT) if spoken_of else None
    if near and fact is not None:
        near.discard(fact.row)
    if not near:
        return EMPTY
    about = Speaker(given.author, given.subject, given.session_id)
    return decide(new, told(tx, given.nugget, sorted(near)[-LOOKED_AT:], new.when, about, statements))


class Speaker(NamedTuple):
    """Who says something, of whom, and in which session."""

    author: str | None
    subject: str | None
    session_id: str | None


def told(
    tx: Transaction, nugget: str, rows: Sequence[int], when: int, about: Speaker, statements: Sequence[Statement]
) -> list[Told]:
    """What older notes tell that statements of this time may be compared with."""
    by_speaker = any(not {ME, US}.isdisjoint(statement.subject) for statement in statements)
    return [
        Told(one.id, "", one.when, one.key, said_by(tx, one))
        for one in tx.rows.statements.older(rows, nugget, now=tx.now)
        if not (by_speaker and is_of_another(about, one))
        and (one.valid_to is None or one.valid_to > when)
        and (one.scope != "session" or one.session_id in (None, about.session_id))
    ]


def said_by(tx: Transaction, older: OlderNote) -> Sequence[Statement]:
    """What an older note states now."""
    if older.rev == older.said_rev:
        return older.said.statements if isinstance(older.said, Stated) else decode(cast("str", older.said))
    return renamed(read(tx.rows.notes.by_rows([older.row])[older.row].content), tx.rows.entities)


def is_of_another(about: Speaker, older: OlderNote | Note) -> bool:
    """Return whether "I" is somebody else in an older note."""
    if about.author is not None and older.author is not None and about.author != older.author:
        return True
    named = about.subject is not None and about.subject.startswith("user:") and older.subject.startswith("user:")
    return named and about.subject != older.subject


def _found(
    tx: Transaction, given: NoteInput, new: Told, judged: Mapping[str, Judgement]
) -> list[tuple[Note, Judgement]]:
    """The notes that do not simply stay, each with what becomes of it, the newest first."""
    concerned = [note_id for note_id, judgement in judged.items() if judgement.verdict is not Verdict.STAYS]
    if not concerned:
        return []
    is_now = (given.valid_from is None or given.valid_from <= tx.now) and (
        given.valid_to is None or given.valid_to > tx.now
    )
    found = []
    for note in tx.rows.notes.by_ids(concerned).values():
        judgement = judged[note.id]
        if not note.live or note.nugget != given.nugget or note.extra.is_rollup or not _share(given, new.text, note):
            continue
        if judgement.verdict in _SUPERSEDED and new.when < (note.when if note.key is None else _told_at(note)):
            continue
        if is_now or judgement.verdict is Verdict.DUPLICATE:
            found.append((note, judgement))
    return sorted(found, key=lambda one: -one[0].row)


def _share(given: NoteInput, content: str, older: Note) -> bool:
    """Return whether two notes are of one scope; which of the open ones it is may have been inferred."""
    scope = scope_of(given, content)
    return scope == older.scope or (given.scope is None and {scope, older.scope} <= OPEN_SCOPES)


def note_conflict(tx: Transaction, older: Note, newer: Note, reason: str) -> str:
    """Note down that two notes contradict each other; return the id of their conflict."""
    pair = {older.row, newer.row}
    for known in tx.rows.conflicts.of_note(newer.row, limit=CONFLICTS):
        if {known.a, known.b} != pair or known.resolution not in (None, CHANGED):
            continue
        if known.resolution is not None:
            tx.put_conflict(known._replace(resolved_at=None, resolution=None))
        return known.id
    conflict_id = f"conflict-{newer.nugget}-{os.urandom(4).hex()}"
    while tx.rows.conflicts.get(conflict_id) is not None:
        conflict_id = f"conflict-{newer.nugget}-{os.urandom(4).hex()}"
    a, b = sorted(pair)
    tx.put_conflict(StoredConflict(0, conflict_id, newer.nugget, a, b, reason, tx.now))
    return conflict_id
