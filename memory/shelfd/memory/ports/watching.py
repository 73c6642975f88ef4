"""Standing queries at work: the component that finds the notes which enter their results."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.projection import Purgeable, PurgedNote
from shelfd.memory.ports.watches import Watch

#: The type of event that says that a note entered the results of a standing query. It has no sequence number.
WATCH_MATCHED: Final = "watch.matched"


class WatchMatch(NamedTuple):
    """A note that entered the results of a standing query."""

    watch: str
    note: str
    relevance: float  #: 0 to 1: how probable it is that the note says what is asked
    principal: str  #: whose standing query it is


class MatchRun(Protocol):
    """The look at one change, perhaps in several turns of the loop."""

    @property
    def matches(self) -> Sequence[WatchMatch]:
        """What was found; complete once :meth:`advance` returned True."""

    @property
    def note(self) -> Note | None:
        """The note that was changed, as it was looked at; None as long as nothing was."""

    def advance(self, until: float) -> bool:
        """Go on until that time of the monotonic clock at the latest, seconds; return whether it is done."""


class Watching(Purgeable, Protocol):
    """Finds which standing queries of an open shelf a change concerns."""

    def __bool__(self) -> bool:
        """Whether there may be any standing query."""

    def begin(self, row: LogRow, note: Note | None = None) -> MatchRun | None:
        """Begin to look at a change; None if it can bring no note into any result.

        Args:
            row: The change.
            note: The note that was changed, as it is now, if that is known.
        """

    def until(self, seconds: float) -> float:
        """Return when so many seconds will be over, by the clock that a :class:`MatchRun` goes by."""

    def add(self, watch: Watch) -> None:
        """Match *watch* from now on; one that is known already is no error."""

    def remove(self, watch_id: str) -> None:
        """Match it no more; an unknown one is no error."""

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Note which words of standing queries these notes have, before they are gone from the index."""

    def telling(self, *, began_at: int) -> list[str]:
        """Return the standing queries with a word that only notes had which are purged now.

        Args:
            began_at: When the purge began, microseconds since 1970 UTC. Of one that began before the shelf was opened
                not all notes are known here: then every query with a word that no note has is returned.
        """


class NoWatches(Watching):
    """No standing queries."""

    def __bool__(self) -> bool:
        return False

    def begin(self, row: LogRow, note: Note | None = None) -> MatchRun | None:  # noqa: ARG002
        """There are none."""
        return None

    def until(self, seconds: float) -> float:
        """There is nothing to take any time."""
        return seconds

    def add(self, watch: Watch) -> None:
        """Match nothing."""

    def remove(self, watch_id: str) -> None:
        """Match nothing, as before."""

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """There is nothing to remove."""

    def telling(self, *, began_at: int) -> list[str]:  # noqa: ARG002
        """There are none."""
        return []
