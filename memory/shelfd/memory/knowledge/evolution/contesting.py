"""Finds which notes contradict each other, of those that were stored as they came."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from shelfd.memory.knowledge.evolution.applying import (
    CONFLICTS,
    CONTESTED,
    LOOKED_AT,
    OF_SLOT,
    Speaker,
    note_conflict,
    told,
)
from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.naming import renamed
from shelfd.memory.knowledge.evolution.numbering import numbers_of
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import contradicted, wanted
from shelfd.memory.knowledge.evolution.statement import Arity, Statement
from shelfd.memory.knowledge.evolution.verdicts import Judgement, Verdict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note


class _Asked(NamedTuple):
    """A note of which it is asked what it contradicts.

    Attributes:
        slots: Where that may stand.
        is_changed: Whether it was there before: then newer notes did not see what it says now.
    """

    note: Note
    said: Sequence[Statement]
    slots: Sequence[int]
    is_changed: bool

    @property
    def is_rare(self) -> bool:
        """Whether it says what few notes say, and what others contradict by what is often said."""
        return any(not statement.positive or statement.slot is Arity.FIXED for statement in self.said)


def contest(
    tx: Transaction, notes: Iterable[tuple[Note, Sequence[Statement] | None]], changed: Collection[int] = ()
) -> None:
    """Note down what notes contradict of older ones, where nothing tells which is right.

    They were stored as they came, and supersede nothing. A pair that was in conflict before, however that ended, is
    not noted down again.

    Args:
        notes: Each with what it states, as it is kept; None if that has to be read.
        changed: Rows of those that were there before, and say or are something else now: newer notes may contradict
            them, too.
    """
    asked: list[_Asked] = []
    often: set[int] = set()
    for note, statements in notes:
        nugget = tx.nugget(note.nugget)
        if nugget is None or not _counts(tx, note):
            continue
        said = renamed(read(note.content), tx.rows.entities) if statements is None else statements
        slots = numbers_of(contradicted(said), nugget.created_at)
        if not slots:
            continue
        one = _Asked(note, said, slots, note.row in changed)
        asked.append(one)
        if not one.is_rare:
            often.update(slots)
    # What most notes could contradict is looked for together: there is nearly never anything.
    is_any = bool(often and tx.rows.statements.in_slots(sorted(often), limit=1))
    for one in asked:
        if is_any or one.is_rare:
            _contest(tx, one)


def contest_again(tx: Transaction, rows: Collection[int]) -> None:
    """Compare the notes with these rows again, whose conflict is over.

    Others say the same as the note that each was in conflict with, perhaps, and nothing was asked of them while that
    question was open.
    """
    if rows:
        contest(tx, [(note, None) for note in tx.rows.notes.by_rows(sorted(rows)).values()], rows)


def _contest(tx: Transaction, asked: _Asked) -> None:
    note = asked.note
    judged = _judged(tx, asked)
    concerned = [note_id for note_id, one in judged.items() if one.verdict in (Verdict.CONFLICT, Verdict.DUPLICATE)]
    found = [one for one in tx.rows.notes.by_ids(concerned).values() if one.live and one.scope == note.scope]
    found = [one for one in found if one.row < note.row or _counts(tx, one)]
    repeated = [one.row for one in found if judged[one.id].verdict is Verdict.DUPLICATE]
    if repeated and tx.rows.conflicts.disputed(repeated):
        return  # whether this is so is asked already; of what changes to and fro each note would ask it again
    known = {row for one in tx.rows.conflicts.of_note(note.row, limit=CONFLICTS) for row in (one.a, one.b)}
    contested = [one for one in found if judged[one.id].verdict is Verdict.CONFLICT]
    for one in sorted(contested, key=lambda one: -one.row)[:CONTESTED]:
        if one.row not in known:
            note_conflict(tx, one, note, judged[one.id].reason)


def _counts(tx: Transaction, note: Note) -> bool:
    """Return whether a note can contradict older ones."""
    is_over = note.expires_at is not None and note.expires_at <= tx.now
    return note.live and not note.extra.is_rollup and note.holds(tx.now) and not is_over


def _judged(tx: Transaction, asked: _Asked) -> Mapping[str, Judgement]:
    """What the newer note of each pair does to the older one, by the id of the one that was not asked."""
    note, statements, nugget = asked.note, tx.rows.statements, tx.nugget(asked.note.nugget)
    near = statements.in_slots(asked.slots, limit=OF_SLOT)
    if nugget is None or not any(row < note.row or (asked.is_changed and row > note.row) for row in near):
        return {}
    near |= statements.in_slots(numbers_of(wanted(asked.said), nugget.created_at), limit=OF_SLOT)
    about = Speaker(note.author, note.subject, note.session_id)
    own = Told("", note.content, note.when, note.key, asked.said, ())
    older = sorted(row for row in near if row < note.row)[-LOOKED_AT:]
    judged = decide(own, told(tx, note.nugget, older, note.when, about, asked.said))
    if asked.is_changed:
        newer = sorted(row for row in near if row > note.row)[-LOOKED_AT:]
        for one in told(tx, note.nugget, newer, note.when, about, asked.said):
            if note.valid_to is None or note.valid_to > one.when:
                judged[one.id] = decide(one._replace(withdraws=()), [own])[""]
    return judged
