"""What can be set about the memory."""

from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from typing import Literal, NamedTuple

from shelfd.protocol.base import Tier

#: How much of a note its events carry.
EventContent = Literal["none", "title", "full"]


class EntityRule(NamedTuple):
    """What belongs to a type of entities, of its own or one that is there.

    Attributes:
        type: Its name.
        patterns: Regular expressions, see :mod:`shelfd.memory.knowledge.entities.patterns`.
        names: Words and phrases. A single word with a capital counts only where it is written with one.
    """

    type: str
    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What can be set about the memory.

    Attributes:
        instance: The daemon's name in events.
        language: Snowball language whose word forms recall knows.
        timezone: Zone in which a note's date is read and a day begins.
        event_content: How much of a note its events carry.
        idle_close: A shelf nobody used for this long is closed.
        idempotency_retention: How long an idempotency key is remembered.
        shelves_count: How many shelves may exist.
        shelves_per_principal_count: How many of them one principal may have made, unless it is an administrator.
        open_shelves_count: How many shelves may be open; those that nobody uses make way.
        reflection_max_notes: How many notes one reflection inspects at most.
        entity_rules: What notes are looked through for, beside what always is.
        reads_by_model: Whether a language model, if there is one, reads new notes for entities and causes.
        evolves_neighbours: Whether it rewords notes like new ones.
        recall_log: Whether recent queries are kept, for reflection to see that it pushes nothing away.
        synthesis_tiers: Tiers of the notes of which answers are made.
    """

    instance: str = "local"
    language: str = "english"
    timezone: tzinfo = UTC
    event_content: EventContent = "title"
    idle_close: timedelta = timedelta(minutes=15)
    idempotency_retention: timedelta = timedelta(days=7)
    shelves_count: int = 1000
    shelves_per_principal_count: int = 100
    open_shelves_count: int = 128
    reflection_max_notes: int = 10
    entity_rules: tuple[EntityRule, ...] = ()
    reads_by_model: bool = False
    evolves_neighbours: bool = False
    recall_log: bool = True
    synthesis_tiers: tuple[Tier, ...] = ("A", "B")
