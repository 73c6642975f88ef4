"""Purge: a note leaves the shelf for good, with what others received of it and what the log kept of it.

The log's numbers stay: what a row replaced is redacted, and ``note.purged`` is a change of its own. What cannot be
reached from here, such as backups and messages under way at a broker, is not promised.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from shelfd.memory.log.history import rewind
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import NO_EXTRA, Extra, Link, Note
from shelfd.memory.ports.log import REDACTED, Entry
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.tending.inheritance import handed_on, receivers
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
    """Take *note* out of the shelf; return the notes that still hold text of it.

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
    release(tx, note, limit=_ALL)
    after: int | None = None if is_redacted else 0
    while after is not None:
        after = tx.rows.notes.redact(note, after=after, limit=_ALL)
    tx.rows.notes.erase(note)
    tx.touched.pop(note.id, None)
    tx.log(Entry(PURGED, note.nugget, (note.id,), note.row))
    return still_in


def release(tx: Transaction, note: Note, *, limit: int) -> bool:
    """Let *limit* notes that *note* replaced count again; return whether there are more."""
    ids = tx.rows.notes.superseded_by(note.id)
    for other in tx.rows.notes.by_ids(ids[:limit]).values():
        tx.change_note(other, other._replace(superseded_by=None))
    return len(ids) > limit


def _is_leaving(tx: Transaction, link: Link, leaving: Leaving) -> bool:
    """Whether a link goes anyway, with one of its ends."""
    return leaving is not _NONE and any(map(leaving.has, tx.rows.notes.by_ids(list(link[:2])).values()))


def _unlink(tx: Transaction, given: Link) -> str | None:
    """Take away a link that a merge handed on; return whose it is now if somebody made it again with its words."""
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
