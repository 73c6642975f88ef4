"""Purge: a note leaves the shelf for good, with what others received of it and what the log kept of it.

The log's numbers stay: what a row replaced is redacted, and ``note.purged`` is a change of its own. What cannot be
reached from here, such as backups and messages under way at a broker, is not promised.
"""

from typing import Final

from shelfd.memory.log import Entry, Origin
from shelfd.memory.note import Note
from shelfd.memory.reflection.merging import MERGED_INTO, fingerprint
from shelfd.memory.shelf import Shelf
from shelfd.memory.transaction import Transaction

#: Notes that point at one as their successor and are looked at; more would be no chain of corrections any more.
_FOLLOWED: Final = 1000


def purge(tx: Transaction, note: Note) -> list[str]:
    """Take *note* out of the shelf; return the notes that still hold text of it."""
    still_in = [target.id for target in _merged_into(tx, note) if not _take_lines_back(tx, target, note.id)]
    for other_id in tx.rows.superseded_by(note.id)[:_FOLLOWED]:
        other = tx.rows.note(other_id)
        if other is not None:
            tx.change_note(other, other._replace(superseded_by=None))
    tx.rows.erase_note(note)
    tx.touched.pop(note.id, None)
    tx.log(Entry("note.purged", note.nugget, (note.id,)))
    return still_in


async def forget_for_good(shelf: Shelf, notes: list[Note]) -> None:
    """Let go of everything that the daemon's memory still holds of purged *notes*."""
    await shelf.reach(None)  # what was written of them before is on its way to recall
    shelf.event_log.forget()
    for note in notes:
        shelf.index.remove(note.row)
        shelf.facts.forget(note.id)
        shelf.vectors.forget(note.id)
        shelf.hot.drop(note.id)
        shelf.usage.drop(note.row)
    ids = frozenset(note.id for note in notes)
    shelf.queries.drop(ids)

    def forget_queries(tx: Transaction) -> None:
        for note_id in ids:
            tx.rows.forget_queries_of(note_id)

    # Behind a write of the log that was under way when the note went.
    await shelf.commit(Origin("shelfd", "forget"), forget_queries)


def _merged_into(tx: Transaction, note: Note) -> list[Note]:
    """Notes that *note* became part of, however many merges away."""
    found: dict[str, Note] = {}
    waiting = [note.id]
    while waiting:
        links = tx.rows.links_from([waiting.pop()])
        for link in (link for made in links.values() for link in made if link.relation == MERGED_INTO):
            target = tx.rows.note(link.target)
            if target is not None and target.id not in found and target.id != note.id:
                found[target.id] = target
                waiting.append(target.id)
    return list(found.values())


def _take_lines_back(tx: Transaction, target: Note, source: str) -> bool:
    """Take the lines out of *target* that only *source* gave it; return False if some of that text stays."""
    entries = [entry for entry in target.extra.get("provenance", ()) if entry["from"] == source]
    if not entries:
        return True
    marks = {line for entry in entries for line in entry["lines"]}
    lines = target.content.split("\n")
    received = [line for line in lines if fingerprint(line) in marks]
    rest = "\n".join(line for line in lines if fingerprint(line) not in marks)
    if not rest.strip():
        return False
    others = [entry for entry in target.extra["provenance"] if entry["from"] != source]
    extra = {name: value for name, value in target.extra.items() if name != "provenance"}
    if others:
        extra["provenance"] = others
    changed = tx.change_note(target, target._replace(content=rest, extra=extra))
    # Earlier states of the target hold those lines too, and so does the row of this very change.
    tx.redact(changed, lambda text: any(line in text for line in received))
    return len(received) == len(marks)
