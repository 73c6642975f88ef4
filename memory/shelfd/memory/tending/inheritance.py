"""What notes handed on when they became part of others, read from the log: whatever became of it since."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final, NamedTuple

from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import MERGED_INTO, Link, Note
from shelfd.memory.ports.log import LogRow

#: Changes read at once behind a merge: few notes have more links.
_PAGE: Final = 64


class _Merge(NamedTuple):
    """A note, by its row, that became part of another; and the change that hid it."""

    source: int
    target: str
    target_row: int
    hidden: LogRow


def receivers(tx: Transaction, note: Note) -> list[Note]:
    """Return the notes that *note* became part of, however many merges away, also by merges that were taken back.

    One in between may have gone since.
    """
    ids = dict.fromkeys(merge.target for merge in _merges(tx, note))
    return [one for one in tx.rows.notes.by_ids(list(ids)).values() if one.id != note.id]


def handed_on(tx: Transaction, note: Note) -> list[Link]:
    """Return the links that others got because *note* had them, as they were made."""
    found: dict[int, dict[tuple[str, ...], Link]] = {}
    for merge in _merges(tx, note):
        for link in _links_made(tx, merge):
            outgoing = link.source == merge.target
            name = (link.target if outgoing else link.source, link.relation, "to" if outgoing else "from")
            if merge.source == note.row or name in found.get(merge.source, {}):
                found.setdefault(merge.target_row, {})[name] = link
    return [link for links in found.values() for link in links.values()]


def _merges(tx: Transaction, note: Note) -> Iterator[_Merge]:
    """The merges of *note* into others, then those of these: nearer ones first."""
    seen = {note.row}
    waiting = [note.row]
    for source in waiting:
        for hidden in (row for row in tx.rows.log.of_note(source) if row.kind == "note.hidden"):
            # A merge writes the note that stays, then hides the other one.
            for row in tx.rows.log.page(since_seq=hidden.seq - 2, limit=1):
                if row.kind == "note.merged" and row.tx == hidden.tx and row.row is not None:
                    yield _Merge(source, row.ids[0], row.row, hidden)
                    if row.row not in seen:
                        seen.add(row.row)
                        waiting.append(row.row)


def _links_made(tx: Transaction, merge: _Merge) -> Iterator[Link]:
    """The links that a merge gave to the note that stayed: they were made right behind it."""
    after, end = merge.hidden.seq, merge.hidden.tx + merge.hidden.tx_size - 1
    while rows := tx.rows.log.page(since_seq=after, limit=min(_PAGE, end - after)):
        made = list(takewhile(lambda row: row.kind == "link.added", rows))
        links = [Link(*row.before["link"]) for row in made if row.before and "link" in row.before]
        yield from (link for link in links if link.relation != MERGED_INTO)
        if len(made) < len(rows):
            return
        after = rows[-1].seq
