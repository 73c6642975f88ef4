"""Which notes somebody wants: one record and one meaning for listings, recall and search.

The store's SQL and the columns of the recall index ask for the same without reading the notes; a property test holds
each of them to :meth:`NoteFilter.admits`.
"""

from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from shelfd.memory.notes.note import Note

#: Filters that a note's field of the same name equals, where they are given.
EXACT: Final = ("nugget", "kind", "domain", "scope", "type", "subject", "author", "stability")


class NoteFilter(NamedTuple):
    """Which notes are wanted; None does not restrict. Times are microseconds since 1970 UTC.

    A private note, which has scope ``session`` and a session, is out unless *session* is that one, or *scope* asks
    for such notes, or *include_private* for all.
    """

    nugget: str | None = None
    kind: str | None = None
    include_hidden: bool = False
    include_superseded: bool = True
    subject: str | None = None
    scope: str | None = None
    type: str | None = None
    stability: str | None = None
    domain: str | None = None
    author: str | None = None
    tags: tuple[str, ...] = ()  #: a note has all of them, whatever kind of tag each is
    needs_review: bool | None = None
    quarantined: bool | None = None
    since: int | None = None  #: only what happened, else was written, from then on
    session: str | None = None
    include_private: bool = True
    include_expired: bool = True
    now: int = 0  #: what expires then or before has expired
    #: Only what holds then, from ``valid_from`` to before ``valid_to``; what is superseded and says until when it held
    #: did hold before that.
    as_of: int | None = None
    below: int | None = None  #: only rows below this one
    but: AbstractSet[int] = frozenset()  #: not these rows

    @property
    def has_private(self) -> bool:
        """Whether private notes of every session are wanted."""
        return self.include_private or self.scope == "session"

    def admits(self, note: Note) -> bool:
        """Return whether *note* is wanted."""
        for name in EXACT:
            value = getattr(self, name)
            if value is not None and value != getattr(note, name):
                return False
        return (
            (self.include_hidden or not note.hidden)
            and (self.include_superseded or note.superseded_by is None or self._held_once(note))
            and (self.as_of is None or note.holds(self.as_of))
            and (self.below is None or note.row < self.below)
            and note.row not in self.but
            and (self.include_expired or note.expires_at is None or note.expires_at > self.now)
            and (self.since is None or note.when >= self.since)
            and (self.has_private or not note.private or note.session_id == self.session)
            and (self.needs_review is None or note.needs_review == self.needs_review)
            and (self.quarantined is None or note.quarantined == self.quarantined)
            and (not self.tags or set(self.tags) <= set(note.all_tags))
        )

    def _held_once(self, note: Note) -> bool:
        return self.as_of is not None and note.valid_to is not None


#: What recall and search return of unless more is asked for: what holds now, is not another session's own, and gives
#: nobody orders.
RECALLABLE: Final = NoteFilter(
    include_superseded=False, include_private=False, include_expired=False, quarantined=False
)
