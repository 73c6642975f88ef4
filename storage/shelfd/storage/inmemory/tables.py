"""A shelf's rows as dictionaries with a journal, by which a transaction can be taken back."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final, TypeAlias, TypeVar

from shelfd.memory.notes.note import Link, Note, Nugget, Usage
from shelfd.memory.ports.edges import Edge
from shelfd.memory.ports.entities import MentionedEntity, StoredAlias, StoredEntity
from shelfd.memory.ports.evolution import StoredConflict
from shelfd.memory.ports.feedback import Feedback
from shelfd.memory.ports.image import Image
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import LogRow, Recorded
from shelfd.memory.ports.sessions import Injection, Retraction, Session, Variant
from shelfd.memory.ports.tending import Promoted, ReflectionProgress
from shelfd.memory.ports.usage import RecentQuery
from shelfd.memory.ports.vectors import NoteVectors
from shelfd.memory.ports.watches import Watch

K = TypeVar("K")
V = TypeVar("V")

#: Source and target by type and canonical form, relation, row of the note, who read it there.
EdgeKey: TypeAlias = tuple[tuple[str, str], tuple[str, str], str, int, str]

_ABSENT: Final = object()
#: Of Tables: the last numbers given away.
_NUMBERS: Final = (
    "last_seq",
    "last_row",
    "link_row",
    "job_number",
    "retraction_number",
    "injection_number",
    "entity_number",
    "conflict_number",
    "watch_number",
    "feedback_number",
)


class Tables:
    """One shelf's rows.

    Attributes:
        notes: By row, ascending.
        note_rows: Row by id.
        facts: Row by (key, nugget).
        links: (row, link) by (source, target, relation).
        link_row: Row of the last link ever made.
        nuggets: By name.
        turns: Nugget's number by (nugget, session id, turn).
        log: By seq, ascending.
        usage: By note row.
        expiring: When a note expires, by its row, as long as nobody was told that it has.
        hit_sessions: Set of session ids by note row; the sets are replaced, not changed.
        recorded: By (principal, method, key).
        meta: By name.
        sinks: Delivered seq by name.
        tended: By nugget.
        promoted: Lines by path.
        promoting: Lines by path.
        jobs: (number, job) by id.
        job_number: Number of the last job ever added.
        pieces: By (job id, number).
        recent_queries: By params.
        sessions: By id.
        note_types: Spec by (nugget, name).
        variants: By (session id, turn, variant).
        retractions: By number, ascending.
        retraction_number: Number of the last retraction ever added.
        injections: By number, ascending.
        injection_number: Number of the last injection ever added.
        entities: By (type, canonical form).
        entity_number: Number of the last entity ever added.
        mentions: Weight by (entity, note row).
        read_mentions: What a model found, and the text it found it in, by note row.
        edges: Edge and the text it was read in, by :data:`EdgeKey`.
        aliases: By (family, canonical form, note row).
        statements: Rev, text and slots by note row.
        conflicts: By id.
        conflict_number: Number of the last conflict ever added.
        watches: Standing queries by number, ascending.
        watch_number: Number of the last standing query ever added.
        feedback: By number.
        feedback_number: Number of the last feedback ever added.
        vectors: By note row.
        embedding: Up to where notes were given vectors, as "position".
        enrichment: How far the log was read for entities, as "position".
        last_seq: The last change in the log.
        last_row: Row number of the last note ever made.
        image: Of the shelf's projections.
    """

    def __init__(self) -> None:
        self.notes: dict[int, Note] = {}
        self.note_rows: dict[str, int] = {}
        self.facts: dict[tuple[str, str], int] = {}
        self.links: dict[tuple[str, str, str], tuple[int, Link]] = {}
        self.link_row = 0
        self.nuggets: dict[str, Nugget] = {}
        self.turns: dict[tuple[str, str, int], int] = {}
        self.log: dict[int, LogRow] = {}
        self.usage: dict[int, Usage] = {}
        self.expiring: dict[int, int] = {}
        self.hit_sessions: dict[int, frozenset[str]] = {}
        self.recorded: dict[tuple[str, str, str], Recorded] = {}
        self.meta: dict[str, str] = {}
        self.sinks: dict[str, int] = {}
        self.tended: dict[str, ReflectionProgress] = {}
        self.promoted: dict[str, tuple[Promoted, ...]] = {}
        self.promoting: dict[str, tuple[Promoted, ...]] = {}
        self.jobs: dict[str, tuple[int, Job]] = {}
        self.job_number = 0
        self.pieces: dict[tuple[str, int], Mapping[str, Any]] = {}
        self.recent_queries: dict[str, RecentQuery] = {}
        self.sessions: dict[str, Session] = {}
        self.note_types: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.variants: dict[tuple[str, int, int], Variant] = {}
        self.retractions: dict[int, Retraction] = {}
        self.copies: dict[tuple[str, str], bool] = {}
        self.injections: dict[int, Injection] = {}
        self.retraction_number = 0
        self.injection_number = 0
        self.entities: dict[tuple[str, str], StoredEntity] = {}
        self.mentions: dict[tuple[int, int], int] = {}
        self.read_mentions: dict[int, tuple[int, tuple[MentionedEntity, ...]]] = {}
        self.edges: dict[EdgeKey, tuple[Edge, int]] = {}
        self.aliases: dict[tuple[str, str, int], StoredAlias] = {}
        self.enrichment: dict[str, Mapping[str, Any]] = {}
        self.entity_number = 0
        self.statements: dict[int, tuple[int, str, tuple[int, ...]]] = {}
        self.conflicts: dict[str, StoredConflict] = {}
        self.conflict_number = 0
        self.watches: dict[int, Watch] = {}
        self.watch_number = 0
        self.feedback: dict[int, Feedback] = {}
        self.feedback_number = 0
        self.vectors: dict[int, NoteVectors] = {}
        self.embedding: dict[str, Mapping[str, Any]] = {}
        self.last_seq = 0
        self.last_row = 0
        self.image: Image | None = None
        self._journal: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(self, table: dict[K, V], key: K, value: V) -> None:
        """Set an entry of one of the tables."""
        self._journal.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def remove(self, table: dict[K, V], key: K) -> bool:
        """Remove an entry of one of the tables; return whether there was one."""
        if key not in table:
            return False
        self._journal.append((table, key, table.pop(key)))
        return True

    def copy(self) -> "Tables":
        """Return the rows as they are now; what is done to these changes none of those."""
        tables = Tables()
        for name, value in vars(self).items():
            setattr(tables, name, copy(value))
        return tables

    def savepoint(self) -> Callable[[], None]:
        """Begin a transaction; return what takes everything since back."""
        self._journal.clear()
        numbers = [getattr(self, name) for name in _NUMBERS]

        def rollback() -> None:
            for table, key, old in reversed(self._journal):
                if old is _ABSENT:
                    del table[key]
                else:
                    table[key] = old
            self._journal.clear()
            for name in ("notes", "retractions", "injections"):  # what was deleted came back at the end
                setattr(self, name, dict(sorted(getattr(self, name).items())))
            for name, number in zip(_NUMBERS, numbers, strict=True):
                setattr(self, name, number)

        return rollback


class InMemoryRows:
    """Rows of one aggregate."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
