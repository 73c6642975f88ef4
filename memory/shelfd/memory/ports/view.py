"""What a store shows of a shelf: its aggregates, each with a reading and a writing face. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from typing import NamedTuple, Protocol

from shelfd.memory.ports.job import JobsView, JobsWriter
from shelfd.memory.ports.ledger import RunsView, RunsWriter
from shelfd.memory.ports.log import LogView, LogWriter, RecordedView, RecordedWriter, SinksView, SinksWriter
from shelfd.memory.ports.notes import LinksView, LinksWriter, NotesView, NotesWriter, NuggetsView, NuggetsWriter
from shelfd.memory.ports.tending import PromotionsView, PromotionsWriter, TendedView, TendedWriter
from shelfd.memory.ports.usage import QueriesView, QueriesWriter, UsageView, UsageWriter


class Counts(NamedTuple):
    """How many rows a shelf has."""

    notes: int
    facts: int
    hidden: int
    superseded: int
    nuggets: int
    links: int


class MetaView(Protocol):
    """Reads of the shelf's own properties: ``shelf``, ``owner``, ``created_at``."""

    def get(self, name: str) -> str | None:
        """Return one of them."""


class MetaWriter(MetaView, Protocol):
    """Reads and writes of the shelf's own properties."""

    def put(self, name: str, value: str) -> None:
        """Set one of them."""


class View(Protocol):
    """Synchronous reads of one consistent state of a shelf, by aggregate. Each takes well under a millisecond."""

    @property
    def notes(self) -> NotesView:
        """Notes, facts among them."""

    @property
    def links(self) -> LinksView:
        """Links between notes."""

    @property
    def nuggets(self) -> NuggetsView:
        """Nuggets and the turns that each has seen."""

    @property
    def log(self) -> LogView:
        """The change log."""

    @property
    def recorded(self) -> RecordedView:
        """Outcomes of requests with an idempotency key."""

    @property
    def usage(self) -> UsageView:
        """How notes are used."""

    @property
    def queries(self) -> QueriesView:
        """What was asked lately."""

    @property
    def jobs(self) -> JobsView:
        """Durable work."""

    @property
    def runs(self) -> RunsView:
        """The scheduler's ledger."""

    @property
    def tended(self) -> TendedView:
        """How far reflection has come."""

    @property
    def promotions(self) -> PromotionsView:
        """What promotion wrote to files."""

    @property
    def sinks(self) -> SinksView:
        """How far receivers of events have come."""

    @property
    def meta(self) -> MetaView:
        """The shelf's own properties."""

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""


# ruff: noqa: D102 (what it narrows is documented where it is read)


class Writer(View, Protocol):
    """Reads and writes inside one transaction. Used by :class:`~shelfd.memory.log.transaction.Transaction` alone."""

    @property
    def notes(self) -> NotesWriter: ...

    @property
    def links(self) -> LinksWriter: ...

    @property
    def nuggets(self) -> NuggetsWriter: ...

    @property
    def log(self) -> LogWriter: ...

    @property
    def recorded(self) -> RecordedWriter: ...

    @property
    def usage(self) -> UsageWriter: ...

    @property
    def queries(self) -> QueriesWriter: ...

    @property
    def jobs(self) -> JobsWriter: ...

    @property
    def runs(self) -> RunsWriter: ...

    @property
    def tended(self) -> TendedWriter: ...

    @property
    def promotions(self) -> PromotionsWriter: ...

    @property
    def sinks(self) -> SinksWriter: ...

    @property
    def meta(self) -> MetaWriter: ...
