"""Notes and changes for tests of stores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import BLANK, Link, Note, Nugget
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.store import Change, Clock, Ticket
from shelfd.memory.ports.view import Writer

T = TypeVar("T")

NEW_YEAR = 1_767_225_600_000_000  # where the fake clock begins, in microseconds
ORIGIN = Origin("uid:1000", "remember", "req-1", "sess-1", 3, "run-1")


@dataclass(slots=True)
class Outbox:
    """A hand-made outbox, for changes that need no transaction."""

    entries: Sequence[Entry] = ()
    touched: Mapping[str, Note] = field(default_factory=dict)
    variant: int | None = None


def make_note(note_id: str, **fields: Any) -> Note:
    plain = BLANK._replace(
        id=note_id,
        kind="fact" if fields.get("key") is not None else "note",
        title=f"About {note_id}",
        content=f"What {note_id} says",
        subject="user",
        created_at=NEW_YEAR,
        updated_at=NEW_YEAR,
    )
    return plain._replace(**fields)


def make_nugget(name: str, **fields: Any) -> Nugget:
    return Nugget(name, 1024, 4, 1, 0, None, NEW_YEAR)._replace(**fields)


def make_link(source: str, target: str, relation: str = "related", **fields: Any) -> Link:
    return Link(source, target, relation, "", NEW_YEAR)._replace(**fields)


def change(apply: Callable[[Transaction], T], *, origin: Origin = ORIGIN, ticket: Ticket | None = None) -> Change[T]:
    """Return a change that runs *apply* in a transaction, as every use case does."""

    def run(writer: Writer, now: int) -> tuple[T, Transaction]:
        transaction = Transaction(writer, now, origin)
        return apply(transaction), transaction

    return Change(origin, run, ticket)


def create(note_id: str, **fields: Any) -> Change[Note]:
    return change(lambda tx: tx.create_note(make_note(note_id, **fields)))


def edit(note_id: str, **fields: Any) -> Change[Note]:
    def apply(tx: Transaction) -> Note:
        old = tx.rows.notes.get(note_id)
        assert old is not None
        return tx.change_note(old, old._replace(**fields))

    return change(apply)


def write(apply: Callable[[Writer], T]) -> Change[T]:
    """Return a change that writes rows and leaves no trace in the log."""
    return Change(ORIGIN, lambda writer, _: (apply(writer), Outbox()))


def fail(error: BaseException) -> Change[None]:
    """Return a change that writes a note, a link and a nugget and then raises *error*."""

    def apply(tx: Transaction) -> None:
        tx.create_nugget(make_nugget("doomed"))
        tx.create_note(make_note("doomed", nugget="doomed"))
        tx.put_link(make_link("doomed", "doomed"), "doomed")
        tx.rows.nuggets.claim_turn("doomed", "sess-1", 1, 1)
        raise error

    return change(apply)


def ticket(clock: Clock, **fields: Any) -> Ticket:
    return Ticket(clock, **fields)
