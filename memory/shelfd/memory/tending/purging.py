"""Purge: the removal of a note, of what others received from it and of what the log kept of it.

The log's numbers stay: what a row replaced is redacted, and ``note.purged`` is a separate change. What cannot be
reached from here, such as backups and messages under way at a broker, is not promised.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, takewhile
from typing import Any, Final, NamedTuple

from shelfd.memory.knowledge.position import unlearn
from shelfd.memory.log.history import rewind
from shelfd.memory.log.superseding import can_stand_for
from shelfd.memory.log.transaction import Transaction, gone_note
from shelfd.memory.notes.note import EVOLVED_BY, MERGED_INTO, NO_EXTRA, Extra, Link, Note
from shelfd.memory.ports.log import REDACTED, Entry, LogRow
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.tending.reflection.merging import fingerprint

_ALL: Final = 2**31


class Leaving(NamedTuple):
    """A nugget of which every note is about to go, up to a row: those keep for now what they have of each other."""

    nugget: str
    row: int

    def has(self, note: Note) -> bool:
        """Return whether *note* goes."""
        return note.nugget == self.nugget and note.row <= self.row


_NONE: Final = Leaving("", 0)


def purge(tx: Transaction, note: Note, *, leaving: Leaving = _NONE, is_redacted: bool = False) -> list[str]:
    """Purge *note*; return the notes that still hold text of it.

    Args:
        leaving: What is about to go as well.
        is_redacted: Whether the log holds nothing of the note any more.
    """
    links_kept = {
        end
        for link in handed_on(tx, note)
        if not _is_leaving(tx, link, leaving) and (end := _unlink(tx, link)) is not None
    }
    still_in = [
        target.id
        for target in receivers(tx, note)
        if not leaving.has(target) and (not _take_back(tx, target, note.id) or target.id in links_kept)
    ]
    still_in += _copied(tx, note)
    release(tx, note, limit=_ALL)
    after: int | None = None if is_redacted else 0
    while after is not None:
        after = tx.rows.notes.redact(note, after=after, limit=_ALL)
    said = tx.rows.entities.said_by(note.row)
    tx.end_conflicts(note)
    tx.rows.notes.delete(note)
    unlearn(tx, said)
    tx.touched.pop(note.id, None)
    tx.rows.meta.put(gone_note(note.id), str(tx.now))  # a copy of the shelf may still have it
    tx.log(Entry(PURGED, note.nugget, (note.id,), note.row))
    return still_in


def _copied(tx: Transaction, note: Note) -> list[str]:
    """The copies of a note, and of those that it was merged into, which hold its text in nuggets of their own."""
    originals = [note, *receivers(tx, note)]
    return [copy for original in originals for copy in tx.rows.rewinds.copies(original.id)]


def reworded_by(tx: Transaction, note: Note) -> Iterator[str]:
    """Yield the notes that a model reworded by what this one says, as long as links to it are there.

    Words of it may be anywhere in them.
    """
    after = 0
    while page := tx.rows.links.page(note_id=note.id, relation=EVOLVED_BY, after=after, limit=_PAGE):
        yield from (link.source for _, link in page if link.target == note.id)
        after = page[-1][0]


def release(tx: Transaction, note: Note, *, limit: int) -> bool:
    """Let *limit* notes that *note* replaced count again, or what replaced it stand for them; return if there are more.

    That is no writing of theirs: a nugget that is purged with its notes takes them along.
    """
    ids = tx.rows.notes.superseded_by(note.id)
    heir = note.superseded_by
    for other in tx.rows.notes.by_ids(ids[:limit]).values():
        if heir is not None and can_stand_for(tx.rows, heir, other.id):
            tx.change_note(other, other._replace(superseded_by=heir), kind="note.superseded")
        else:
            tx.change_note(other, tx.unsuperseded(other), kind="note.updated")
    return len(ids) > limit


def _is_leaving(tx: Transaction, link: Link, leaving: Leaving) -> bool:
    """Whether a link goes anyway, with one of its ends."""
    return leaving is not _NONE and any(map(leaving.has, tx.rows.notes.by_ids(list(link[:2])).values()))


def _unlink(tx: Transaction, given: Link) -> str | None:
    """Delete a link that a merge handed on; return whose it is now if it was made again with its words."""
    now = tx.rows.links.get(given.source, given.target, given.relation)
    if now is not None and now != given:
        return given.source if given.reason and now.reason == given.reason else None
    tx.rows.log.redact([row.seq for row in tx.rows.log.of_link(given.source, given.target)])
    if now is not None and (source := tx.rows.notes.get(given.source)) is not None:
        tx.rows.links.delete(given)
        tx.log(Entry("link.removed", source.nugget, (given.source, given.target), None, REDACTED))
    return None


def _take_back(tx: Transaction, target: Note, source: str) -> bool:
    """Take out of *target* what only *source* gave it; return False if some of its text stays, or may."""
    now = _received(target, source)
    states = [target, *_past_states(tx, target)]
    is_rewritten = _is_rewritten(states, source)
    marks = _Marks().union(*(_received(state, source) for state in states))
    if not marks:
        return True
    lines = target.content.split("\n")
    rest = "\n".join(line for line in lines if fingerprint(line) not in now.lines)
    if rest != target.content and not rest.strip():
        return False
    found = {fingerprint(line) for line in lines}
    words = "\n".join(chain.from_iterable(_texts(state, marks) for state in states)).lower()
    extra = target.extra.following(rest)._replace(
        aliases=_without(target.extra.aliases, now.names),
        provenance=tuple(entry for entry in target.extra.provenance if entry.source != source),
        derived_tags=tuple(tag for tag in target.derived_tags if tag not in words),
    )
    changed = tx.change_note(
        target,
        target._replace(
            title="" if target.kind == "note" and fingerprint(target.title) in now.names else target.title,
            content=rest,
            tags=_without(target.tags, now.names),
            extra=extra,
        ),
    )
    # Earlier states of the target hold that too, and so does the row of this very change.
    tx.redact(changed, lambda before: _holds(before, marks, words))
    return now.lines <= found and not is_rewritten


def _is_rewritten(states: Sequence[Note], source: str) -> bool:
    """Whether a note holds a line that came with an edit in which a line from *source* went, or one that came so.

    It may be that line in other words. It stays when the merge is taken back, and then nothing says any more that
    it came from *source*.

    Args:
        states: Of the note, the latest first.
    """
    suspect: frozenset[str] = frozenset()
    for before, after in pairwise(reversed(states)):
        given = _received(before, source).lines
        lines, lines_before = _fingerprints(after), _fingerprints(before)
        is_edit = given == _received(after, source).lines
        if is_edit and not (given | suspect) & lines_before <= lines:
            suspect |= lines - lines_before
    return not suspect.isdisjoint(_fingerprints(states[0]))


def _fingerprints(note: Note) -> frozenset[str]:
    return frozenset(fingerprint(line) for line in note.content.split("\n"))


class _Marks(NamedTuple):
    """Fingerprints of what a note has from another: lines of its text, and its title, aliases and tags."""

    lines: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.lines or self.names)

    def union(self, *others: "_Marks") -> "_Marks":
        every = (self, *others)
        return _Marks(
            frozenset().union(*(marks.lines for marks in every)), frozenset().union(*(marks.names for marks in every))
        )


def _received(note: Note, source: str) -> _Marks:
    """What *note* says it has from *source*."""
    entries = [entry for entry in note.extra.provenance if entry.source == source]
    return _Marks(
        frozenset(line for entry in entries for line in entry.lines),
        frozenset(name for entry in entries for name in entry.names),
    )


def _without(names: Iterable[str], marks: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if fingerprint(name) not in marks)


def _texts(note: Note, marks: _Marks) -> Iterator[str]:
    """Lines and names of a state of a note that are of *marks*: tags may have been derived from them."""
    yield from (line for line in note.content.split("\n") if fingerprint(line) in marks.lines)
    yield from (name for name in _names(note.title, note.tags, note.extra) if fingerprint(name) in marks.names)


def _names(title: str, tags: Iterable[str], extra: Extra) -> list[str]:
    return [title, *tags, *extra.aliases]


def _holds(before: Mapping[str, Any], marks: _Marks, words: str) -> bool:
    """Whether what a change replaced holds something that is to go, or a tag derived from it."""
    extra: Extra = before.get("extra", NO_EXTRA)
    texts = (before.get("content", ""), extra.fields.get("summary", ""))
    lines = [line for text in texts for line in str(text).split("\n")]
    names = _names(before.get("title", ""), before.get("tags", ()), extra)
    return (
        any(fingerprint(line) in marks.lines for line in lines)
        or len(_without(names, marks.names)) < len(names)
        or any(tag in words for tag in extra.derived_tags)
    )


def _past_states(tx: Transaction, note: Note) -> Iterator[Note]:
    state = note
    for row in reversed(tx.rows.log.of_note(note.row)):
        state = rewind(state, row.before)
        yield state


#: Changes read at once after a merge: few notes have more links.
_PAGE: Final = 64


class _Merge(NamedTuple):
    """A note, by its row, that was merged into another; and the change that hid it."""

    source: int
    target: str
    target_row: int
    hidden: LogRow


def receivers(tx: Transaction, note: Note) -> list[Note]:
    """Return the notes that *note* was merged into, however many merges away, also by merges that were taken back.

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
    """The links that a merge gave to the note that stayed: they were made right after it."""
    after, end = merge.hidden.seq, merge.hidden.tx + merge.hidden.tx_size - 1
    while rows := tx.rows.log.page(since_seq=after, limit=min(_PAGE, end - after)):
        made = list(takewhile(lambda row: row.kind == "link.added", rows))
        links = [Link(*row.before["link"]) for row in made if row.before and "link" in row.before]
        yield from (link for link in links if link.relation != MERGED_INTO)
        if len(made) < len(rows):
            return
        after = rows[-1].seq
