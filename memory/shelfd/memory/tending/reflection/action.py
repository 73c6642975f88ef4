"""What a reflection intends to do: one change each, planned on a picture of the shelf and checked again when done."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from shelfd.memory.log.transaction import Transaction, changed_fields
from shelfd.memory.notes.note import MERGED_INTO, Link, Note
from shelfd.protocol import Limits

ActionType = Literal["rewrite", "merge", "hide", "tag", "link"]


class Revision(NamedTuple):
    """A note as it was planned on, as it is to be, and the kind of change in the log."""

    old: Note
    new: Note
    kind: str = "note.updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One change of a reflection, with all that it does to the shelf.

    Attributes:
        type: As the result results it.
        note: The note the result names.
        detail: One sentence for people. May hold words of the note, so it is returned and never logged.
        revisions: Notes it rewrites.
        links: Links it adds where they are missing and their note has room for them.
        other: The second note of a pair, if there is one.
    """

    type: ActionType
    note: Note
    detail: str
    revisions: tuple[Revision, ...] = ()
    links: tuple[Link, ...] = ()
    other: Note | None = None

    def rests_on(self) -> Iterator[Note]:
        """Yield the notes that must still be as they were when this was planned."""
        yield self.note
        if self.other is not None:
            yield self.other

    def is_possible(self, tx: Transaction, limits: Limits) -> bool:
        """Return whether the shelf still lets it be done, beside its notes being unchanged."""
        return self.type != "link" or all(_has_room(tx, link, limits) for link in self.links)

    def apply(self, tx: Transaction, current: Mapping[str, Note], limits: Limits) -> None:
        """Do it; *current* are the notes it rests on, as they stand."""
        for old, new, kind in self.revisions:
            tx.change_note(current[old.id], new, kind=kind)
        for link in self.links:
            source = tx.rows.notes.get(link.source)
            if source is not None and tx.rows.notes.get(link.target) is not None and _has_room(tx, link, limits):
                tx.put_link(link, source.nugget)


def _has_room(tx: Transaction, link: Link, limits: Limits) -> bool:
    """Whether *link* is not there yet and its note may have one more; what a note was merged into is always linked."""
    if tx.rows.links.get(link.source, link.target, link.relation) is not None:
        return False
    return link.relation == MERGED_INTO or tx.rows.links.count_leaving(link.source) < limits.links_count


def apply_all(
    tx: Transaction, actions: list[Action], revs: Mapping[str, int], limits: Limits
) -> tuple[list[Action], dict[str, int]]:
    """Apply those of *actions* whose notes are unchanged.

    Dropping an action drops those after it that were planned on what it would have left.

    Args:
        revs: The rev at which this run left each note it has written, -1 for a note an action was dropped for.

    Returns:
        The actions that were done, and *revs* brought up to date.
    """
    known = dict(revs)
    done: list[Action] = []
    for action in actions:
        planned = {note.id: note for note in action.rests_on()}
        current = tx.rows.notes.by_ids(list(planned))
        if all(_is_as_planned(current.get(note_id), note, known) for note_id, note in planned.items()) and (
            action.is_possible(tx, limits)
        ):
            action.apply(tx, current, limits)
            known |= {note_id: tx.touched[note_id].rev for note_id in planned if note_id in tx.touched}
            done.append(action)
        else:
            known |= dict.fromkeys(planned, -1)
    return done, known


def _is_as_planned(current: Note | None, planned: Note, revs: Mapping[str, int]) -> bool:
    """Whether the note is unchanged since, and every action before this one that it was planned on was done."""
    if current is None or current.rev != revs.get(planned.id, planned.rev):
        return False
    return not changed_fields(current, planned)
