"""What can be set about the memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from typing import Literal, NamedTuple

from shelfd.protocol.base import Tier

#: How much of a note its events carry.
EventContent = Literal["none", "title", "full"]
#: What is done with text that a rule finds.
Treatment = Literal["allow", "redact", "refuse"]


@dataclass(frozen=True, slots=True)
class GovernanceSettings:
    """What text may come in.

    Attributes:
        min_characters: How many characters beside blanks the content of a note has at least.
        secrets: What is done with credentials.
        secret_patterns: Patterns of credentials beside those that are known, by the names of their rules; see
            :mod:`shelfd.memory.knowledge.entities.patterns`.
        personal_data: What is done with personal data.
        personal_kinds: Which kinds of it are meant.
        phone_region: Country, as two letters, whose phone numbers are written without a country code; empty: none.
        quarantine: Whether text that gives orders to its reader is quarantined.
    """

    min_characters: int = 1
    secrets: Treatment = "redact"
    secret_patterns: Mapping[str, str] = field(default_factory=dict)
    personal_data: Treatment = "allow"
    personal_kinds: tuple[str, ...] = ("email", "phone", "iban", "payment_card")
    phone_region: str = ""
    quarantine: bool = True


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
        decides_on_similar: Whether it is shown older notes like one that evolves, beside those that rules left open.
        recall_log: Whether recent queries are kept, for reflection to see that it pushes nothing away.
        governance: What text may come in.
        synthesis_tiers: Tiers of the notes of which answers are made.
        backup_keep: How many backups of a shelf stay in its own directory of them, unless one is told otherwise.
        embedding_deadline: For the vectors of a query; after it words have to do.
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
    decides_on_similar: bool = True
    recall_log: bool = True
    governance: GovernanceSettings = field(default_factory=GovernanceSettings)
    synthesis_tiers: tuple[Tier, ...] = ("A", "B")
    backup_keep: int = 7
    embedding_deadline: timedelta = timedelta(milliseconds=500)
