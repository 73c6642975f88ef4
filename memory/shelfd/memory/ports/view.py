"""What a store shows of a shelf: its aggregates, each with a reading and a writing face. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false
# Nobody sets an aggregate but the store that makes it, so what writes may stand for what reads.
# pyright: reportIncompatibleVariableOverride=false

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from shelfd.memory.ports.edges import EdgesView, EdgesWriter
from shelfd.memory.ports.entities import EntitiesView, EntitiesWriter
from shelfd.memory.ports.evolution import ConflictsView, ConflictsWriter, StatementsView, StatementsWriter
from shelfd.memory.ports.feedback import FeedbackView, FeedbackWriter
from shelfd.memory.ports.job import JobsView, JobsWriter
from shelfd.memory.ports.log import LogView, LogWriter, RecordedView, RecordedWriter, SinksView, SinksWriter
from shelfd.memory.ports.notes import LinksView, LinksWriter, NotesView, NotesWriter, NuggetsView, NuggetsWriter
from shelfd.memory.ports.sessions import (
    InjectionsView,
    InjectionsWriter,
    NoteTypesView,
    NoteTypesWriter,
    RewindsView,
    RewindsWriter,
    SessionsView,
    SessionsWriter,
)
from shelfd.memory.ports.tending import (
    PromotionsView,
    PromotionsWriter,
    ReflectionProgressView,
    ReflectionProgressWriter,
)
from shelfd.memory.ports.usage import QueriesView, QueriesWriter, UsageView, UsageWriter
from shelfd.memory.ports.vectors import VectorsView, VectorsWriter
from shelfd.memory.ports.watches import WatchesView, WatchesWriter


class Counts(NamedTuple):
    """How many rows a shelf has."""

    notes: int
    facts: int
    hidden: int
    superseded: int
    nuggets: int
    links: int


class MetaView(Protocol):
    """Reads of the shelf's own properties: ``shelf``, ``owner``, ``created_at``, and what is gone from it."""

    def get(self, name: str) -> str | None:
        """Return one of them."""

    def page(self, beginning: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        """Return properties whose names begin so, by name, after the name *after*."""


class MetaWriter(MetaView, Protocol):
    """Reads and writes of the shelf's own properties."""

    def put(self, name: str, value: str) -> None:
        """Set one of them."""


class View:
    """Synchronous reads of one consistent state of a shelf, by aggregate. Each takes well under a millisecond."""

    notes: NotesView  #: facts among them
    links: LinksView  #: between notes
    nuggets: NuggetsView  #: and the turns that each has seen
    log: LogView  #: of changes
    recorded: RecordedView  #: outcomes of requests with an idempotency key
    usage: UsageView  #: how notes are used
    queries: QueriesView  #: what was asked lately
    jobs: JobsView  #: durable work
    reflection: ReflectionProgressView  #: how far reflection has come
    promotions: PromotionsView  #: what promotion wrote to files
    sessions: SessionsView  #: conversations
    note_types: NoteTypesView  #: that were set
    rewinds: RewindsView  #: what was taken back of conversations
    injections: InjectionsView  #: what was handed to prompts
    entities: EntitiesView  #: that notes mention, and their aliases
    edges: EdgesView  #: between entities
    statements: StatementsView  #: what notes state
    conflicts: ConflictsView  #: between what notes state
    watches: WatchesView  #: standing queries
    feedback: FeedbackView  #: what callers said of results
    vectors: VectorsView  #: of notes
    sinks: SinksView  #: how far receivers of events have come
    meta: MetaView  #: the shelf's own properties

    @abstractmethod
    def counts(self) -> Counts:
        """Return how many rows the shelf has."""

    @abstractmethod
    def one_state(self) -> AbstractContextManager[None]:
        """Let the reads inside see one state, and take no lock each.

        Nothing may be awaited inside, and this not entered again.
        """


class Writer(View):
    """Reads and writes inside one transaction. Used by :class:`~shelfd.memory.log.transaction.Transaction` alone."""

    notes: NotesWriter
    links: LinksWriter
    nuggets: NuggetsWriter
    log: LogWriter
    recorded: RecordedWriter
    usage: UsageWriter
    queries: QueriesWriter
    jobs: JobsWriter
    reflection: ReflectionProgressWriter
    promotions: PromotionsWriter
    sessions: SessionsWriter
    note_types: NoteTypesWriter
    rewinds: RewindsWriter
    injections: InjectionsWriter
    entities: EntitiesWriter
    edges: EdgesWriter
    statements: StatementsWriter
    conflicts: ConflictsWriter
    watches: WatchesWriter
    feedback: FeedbackWriter
    vectors: VectorsWriter
    sinks: SinksWriter
    meta: MetaWriter
