"""The numbers by which slots are stored, those of one subject beside each other."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from shelfd.memory.ports.evolution import WITHIN_BITS

#: A subject, and what is said of it; "" if all stands in the first.
Slot: TypeAlias = tuple[str, str]
#: Subjects, and all that may be said of each that has ended.
Ended: TypeAlias = tuple[Sequence[str], Sequence[str]]
#: Where statements stand and look for others, where they only stand, where they only look, and where that may stand
#: which a note names as ended.
Places: TypeAlias = tuple[list[Slot], list[Slot], list[Slot], list[Ended]]
_WITHIN: Final = (1 << WITHIN_BITS) - 1
_NUGGETS: Final = 64  #: whose numbers begin otherwise than others', and how they do is kept
#: Makes a named tuple of what is known to have its length, in a fraction of the time.
_new: Final = tuple.__new__


def numbers_of(slots: Iterable[Slot], salt: int) -> list[int]:
    """Return the numbers that *slots* are stored by, each once, in order: those of one subject beside each other.

    Two slots may have one number: then a note is looked at that has nothing to do with the other.

    Args:
        slots: Whose numbers are wanted.
        salt: Tells those of one nugget from those of others.
    """
    return sorted({*_numbers(slots, salt)})


def _numbers(slots: Iterable[Slot], salt: int) -> list[int]:
    begun = _begun(salt)
    numbers: list[int] = []
    last, place = "", 0
    for subject, said in slots:
        if subject is not last:
            if "|" in subject:  # which parted the two once: slots of older notes are stored by that
                first, _, rest = (f"{subject}|{said}" if said else subject).partition("|")
                numbers.append(crc32(first.encode(), begun) << WITHIN_BITS | crc32(rest.encode()) & _WITHIN)
                continue
            last, place = subject, crc32(subject.encode(), begun) << WITHIN_BITS
        numbers.append(place | crc32(said.encode()) & _WITHIN)
    return numbers


class Numbers(NamedTuple):
    """The numbers of the slots of a note.

    Attributes:
        standing: Of those that it stands in, in order.
        sought: Of those that it looks into, in order.
        ended: Of subjects of which it may name something as ended, with what may be said of each: a note has hundreds
            of these slots, and of most subjects nothing is stated at all.
    """

    standing: list[int]
    sought: list[int]
    ended: Sequence[tuple[Sequence[int], Sequence[str]]]

    def subjects(self) -> set[int]:
        """Return the numbers of all subjects that the note looks for."""
        found = {slot >> WITHIN_BITS for slot in self.sought}
        for some, _ in self.ended:
            found.update(some)
        return found

    def of(self, subjects: Collection[int]) -> list[int]:
        """Return the slots that the note looks into, those of some *subjects* alone, in order."""
        found = {slot for slot in self.sought if slot >> WITHIN_BITS in subjects}
        for some, kinds in self.ended:
            for subject in {*some}.intersection(subjects):
                found.update([subject << WITHIN_BITS | crc32(said.encode()) & _WITHIN for said in kinds])
        return sorted(found)


@lru_cache(_NUGGETS)
def _begun(salt: int) -> int:
    """Return the number from which those of a nugget's subjects go on."""
    return crc32(b"%d " % salt)


def numbered(places: Places, salt: int) -> Numbers:
    """Return the numbers of the slots of a note.

    Args:
        places: The slots.
        salt: That of its nugget.
    """
    shared, standing, sought, withdrawn = places
    ended = _subjects(withdrawn, salt) if withdrawn else ()
    numbers = _numbers(standing + shared + sought, salt)
    if not standing and not sought:
        both = sorted({*numbers})
        return _new(Numbers, (both, both, ended))
    stands = sorted({*numbers[: len(standing) + len(shared)]})
    return _new(Numbers, (stands, sorted({*numbers[len(standing) :]}), ended))


def _subjects(ended: Iterable[Ended], salt: int) -> list[tuple[Sequence[int], Sequence[str]]]:
    """Return the numbers of subjects, with what may be said of each."""
    begun = _begun(salt)
    found: list[tuple[Sequence[int], Sequence[str]]] = []
    for subjects, kinds in ended:
        for subject in subjects:
            if "|" in subject:  # which parted the two once: see _numbers
                first, _, rest = subject.partition("|")
                found.append(([crc32(first.encode(), begun)], [f"{rest}|{said}" for said in kinds]))
        found.append(([crc32(subject.encode(), begun) for subject in subjects if "|" not in subject], kinds))
    return found
