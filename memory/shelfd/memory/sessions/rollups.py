"""Rollups: notes that represent others of their type, so that a conversation's frontier stays short.

What a rollup represents stays as it is, is found by recall, and returns to the frontier when the rollup is hidden.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeVar

from shelfd.memory.errors import ChildHasParent, ChildNotFound, InvalidParams
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.inference import default_confidence
from shelfd.memory.notes.note import EMPTY, Note, fold_key
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.columns import Said, write
from shelfd.memory.sessions.schema import Compression, NoteType
from shelfd.memory.shelf.storing import DAY_MICROS, draw_id
from shelfd.protocol import Limits

T = TypeVar("T")

#: Values that a rollup has from the notes it represents if they all have the same.
_COMMON: Final = ("subject", "scope", "stability", "domain", "tier", "author", "session_id")


class RollupSummary(NamedTuple):
    """What a rollup is to say, and where that comes from."""

    content: str
    source: str
    fields: Mapping[str, Any] = EMPTY
    title: str | None = None  #: else one is made of the type, the depth and a number


def groups(candidates: Sequence[T], compression: Compression, depth: int) -> list[Sequence[T]]:
    """Return which notes become one rollup each, if all that are due are rolled up, the oldest first.

    Args:
        candidates: Notes of that depth which nothing represents, the oldest first.
        compression: When notes of the type are rolled up.
        depth: Of the notes, not of the rollups.
    """
    if compression.mode != "hierarchical" or depth >= compression.max_depth:
        return []
    left = len(candidates) - (compression.keep_recent_leaves if depth == 0 else 0)
    found: list[Sequence[T]] = []
    at = 0
    while left >= max(2, compression.threshold, compression.fan_in):
        found.append(candidates[at : at + compression.fan_in])
        at += compression.fan_in
        left -= compression.fan_in
    return found


def is_represented(view: View, note: Note, now: int) -> bool:
    """Return whether the note's parent stands for it in the frontier, as of *now*.

    One that is hidden, replaced, quarantined, expired, of another type by now or in another nugget does not.
    """
    parent = None if note.parent_id is None else view.notes.get(note.parent_id)
    return (
        parent is not None
        and (parent.nugget, parent.type) == (note.nugget, note.type)
        and not parent.hidden
        and parent.superseded_by is None
        and not parent.quarantined
        and (parent.expires_at is None or parent.expires_at > now)
    )


def in_time(notes: Iterable[Note]) -> list[Note]:
    """Return notes by the turn that touched them last, those without one at the end, then by creation."""
    return sorted(notes, key=lambda note: (note.seq_to is None, note.seq_to or 0, note.row))


def children_to_be(
    tx: Transaction, kind: NoteType, ids: Sequence[str], nugget: str, session_id: str | None
) -> list[Note]:
    """Return the notes that a rollup is to represent, in the order of time.

    Raises:
        InvalidParams: If they are not of one type and depth, fewer than two, or one is given twice or is hidden.
        ChildNotFound: If one is not there.
        ChildHasParent: If one is represented already.
    """
    if len(ids) < 2 or len(set(ids)) < len(ids):
        raise InvalidParams("child_ids: give two notes or more, each once", field="child_ids", reason="BAD_ARGS")
    found = tx.rows.notes.by_ids(ids)
    for at, note_id in enumerate(ids):
        field = f"child_ids.{at}"
        note = found.get(note_id)
        if note is None or note.nugget != nugget or (note.private and note.session_id != session_id):
            raise ChildNotFound(note_id, field=field)
        if note.hidden or note.extra.level != "semantic":
            raise InvalidParams(f"{field}: is hidden, or a raw turn", field=field, reason="BAD_ARGS")
        if fold_key(note.type) != kind.name:
            raise InvalidParams(
                f"{field}: is of type {note.type}, not {kind.name}", field=field, reason="TYPE_MISMATCH"
            )
        if is_represented(tx.rows, note, tx.now):
            raise ChildHasParent(note_id, note.parent_id or "", field=field)
    notes = in_time(found.values())
    if len({note.extra.rollup_depth for note in notes}) > 1:
        raise InvalidParams("child_ids: are rollups of different depth", field="child_ids", reason="BAD_ARGS")
    if len({note.private for note in notes}) > 1:
        text = "child_ids: some belong to the session alone, and others do not"
        raise InvalidParams(text, field="child_ids", reason="BAD_ARGS")
    return notes


def roll_up(
    tx: Transaction,
    kind: NoteType,
    children: Sequence[Note],
    summary: RollupSummary,
    limits: Limits,
    *,
    is_repeatable: bool = False,
) -> Note:
    """Make the rollup of *children*, which nothing represents; return it.

    Args:
        tx: The transaction.
        kind: Type of the notes.
        children: In the order of time.
        summary: What it is to say.
        limits: The configured limits.
        is_repeatable: Whether its id is to follow from the children's.

    Raises:
        InvalidParams: If its type does not allow what it is to say.
        TooLarge: If that is larger than a caller may give.
    """
    depth = 1 + max(note.extra.rollup_depth for note in children)
    title = summary.title or _free_title(tx, kind, children[0].nugget, depth)
    row = write(kind, None, Said(title, summary.content, summary.fields), limits)
    note = row.on(_blank(tx, kind, children, summary.source))
    extra = note.extra._replace(is_rollup=True, rollup_depth=depth, source_span=_span(children))
    id_ = _id_of(children) if is_repeatable else note.id
    note = note._replace(id=id_, extra=extra)
    if not is_repeatable:  # else it was worded here, of what had been admitted
        note = tx.admit(note)
    rollup = tx.create_note(note, redraw=lambda: draw_id("note", note.nugget))
    for child in children:
        tx.change_note(child, child._replace(parent_id=rollup.id))
    return rollup


def _blank(tx: Transaction, kind: NoteType, children: Sequence[Note], source: str) -> Note:
    first = children[0]
    common = {name: getattr(first, name) for name in _COMMON if len({getattr(one, name) for one in children}) == 1}
    nugget = tx.nugget(first.nugget)
    ttl_days = None if nugget is None else nugget.ttl_days
    note = Note(
        id=draw_id("note", first.nugget),
        nugget=first.nugget,
        type=kind.name,
        source=source,
        confidence=min(default_confidence(source), *(one.confidence for one in children)),
        importance=max(one.importance for one in children),
        seq_to=max((one.seq_to for one in children if one.seq_to is not None), default=None),
        expires_at=None if ttl_days is None else tx.now + ttl_days * DAY_MICROS,
        created_at=tx.now,
        updated_at=tx.now,
        **common,
    )
    return note._replace(extra=note.extra._replace(ttl_days=ttl_days))


def _id_of(children: Sequence[Note]) -> str:
    ids = "\n".join(note.id for note in children)
    return f"note-{children[0].nugget}-{sha256(ids.encode()).hexdigest()[:8]}"


def _span(children: Sequence[Note]) -> tuple[int, int] | None:
    spans = [one.extra.source_span for one in children if one.extra.source_span is not None]
    return (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None


def _free_title(tx: Transaction, kind: NoteType, nugget: str, depth: int) -> str:
    """A numbered title that no note of the type has, found in few steps: numbers given away are mostly without gaps."""

    def title(number: int) -> str:
        return f"{kind.label or kind.name} Summary L{depth} #{number}"

    def is_taken(number: int) -> bool:
        return bool(tx.rows.notes.named(nugget, kind.name, [fold_key(title(number))]))

    taken, free = 0, 1
    while is_taken(free):
        taken, free = free, 2 * free
    while free - taken > 1:
        middle = (taken + free) // 2
        taken, free = (middle, free) if is_taken(middle) else (taken, middle)
    return title(free)
