"""What tending leaves behind beside the notes: how far reflection has come, and which lines promotion wrote."""

from typing import NamedTuple


class Tended(NamedTuple):
    """How far reflection has come in one nugget.

    Notes are looked at in the order (updated_at, row). Behind ``changed`` lies what is new or was changed since
    it was last looked at; ``again`` goes round through the rest.
    """

    nugget: str
    changed: tuple[int, int] = (0, 0)  #: (updated_at, row) of the last note seen for the first time since its change
    again: tuple[int, int] = (0, 0)  #: (updated_at, row) of the last note seen once more
    served_at: int = 0  #: when the nugget last had its turn, microseconds since 1970 UTC

    def as_of(self, now: int) -> "Tended":
        """Return this without what lies after *now*: a clock that was set back since had put it there.

        What is new would stand before such a position and be passed over; so the looking begins anew.
        """
        start = (0, 0)
        return Tended(
            self.nugget,
            self.changed if self.changed[0] <= now else start,
            self.again if self.again[0] <= now else start,
            min(self.served_at, now),
        )


class Promoted(NamedTuple):
    """One line of a MEMORY.md that promotion wrote, or a section's heading (then without a note)."""

    note_id: str
    section: str
    line: str  #: as it was written, without the line end; a heading with the line breaks of blank lines around it
    promoted_at: int  #: microseconds since 1970 UTC
