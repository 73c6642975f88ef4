"""How a use case becomes a method: one table, in which each entry says what it is."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from shelfd.memory.call import Call
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context, Ended
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import Params
from shelfd.protocol.lazy_table import LazyTable

P = TypeVar("P", bound=Params)
Answer: TypeAlias = dict[str, Any]
ReadAnswer: TypeAlias = Answer | EncodedResult
Apply: TypeAlias = Callable[[Transaction, P, Call], Outcome]
Begin: TypeAlias = Callable[[Transaction, P, Call], Begun | Outcome]
Get: TypeAlias = Callable[[Shelf, P, Call], ReadAnswer | Awaitable[ReadAnswer]]
Render: TypeAlias = Callable[[Shelf, Changed, Call], Answer]
Then: TypeAlias = Callable[[Context, Shelf, Changed], None]
Settle: TypeAlias = Callable[[Context, Shelf, Changed, Call], Awaitable[None]]
DryRun: TypeAlias = Callable[[Context, Shelf, Call], Awaitable[Answer]]
Run: TypeAlias = Callable[[Context, Call], Awaitable[Answer]]


class ChangeMethod(NamedTuple):
    """One transaction of a shelf, and perhaps a job after it.

    Attributes:
        apply: What is done in the transaction.
        render: Makes the result, on the event loop, once the change is durable.
        then: What is done before that.
        ended: Makes the result when the transaction began a job, after the job's end.
        is_run: By its params: whether it is a run of its own, and may begin a job.
        dry_run: What is done instead when the params say ``dry_run``; it changes nothing.
        known_as: The method under which it is recorded, if that is another.
        settle: What is done before the result is made when the outcome names jobs as ``pending``.
        can_repeat: Whether *apply* may be called again after what it did was rolled back.
        ahead: What of it needs nothing of the shelf and may be done before, for *apply* to find in the call.
    """

    apply: Callable[[Transaction, Any, Call], Any]
    render: Render
    then: Then | None = None
    ended: Ended | None = None
    is_run: Callable[[Any], bool] | None = None
    dry_run: DryRun | None = None
    known_as: str | None = None
    settle: Settle | None = None
    can_repeat: bool = False
    ahead: Callable[[Any, Call], object] | None = None


class ReadMethod(NamedTuple):
    """A look at a shelf, once recall knows what is committed."""

    get: Callable[[Shelf, Any, Call], ReadAnswer | Awaitable[ReadAnswer]]


class Procedure(NamedTuple):
    """What concerns the daemon itself: a coroutine function that does everything itself."""

    run: Run


#: Every use case by the name of its method; which module beside this one has which.
USE_CASES: Final[LazyTable[ChangeMethod | ReadMethod | Procedure]] = LazyTable(
    "shelfd.memory.methods",
    {
        "backups": "shelf.backup shelf.backups shelf.restore shelf.move",
        "branching": "session.branch",
        "conflicts": "conflict.list conflict.resolve",
        "deleting": "forget note.delete nugget.clear nugget.remove",
        "distilling": "remember_with_extraction remember_report",
        "aliases": "alias.add alias.remove alias.list",
        "entities": "recall_entity recall_cve recall_actor recall_tool",
        "entity_graph": "get_entity_relationships traverse_graph graph.export",
        "entity_purge": "entity.purge",
        "exporting": "shelf.export",
        "extraction": "session.extract",
        "feedback": "recall.feedback",
        "graph": """
            note.move note.record_hit mark_note_superseded note.supersede link.upsert link.delete link.list
            """,
        "importing": "shelf.import shelf.merge",
        "injection": """
            session.record_injection session.get_injection_state session.list_always_inject session.context_at
            """,
        "jobs": "job.list job.get job.retry job.cancel",
        "knowledge": """
            knowledge.create_entities knowledge.create_relations knowledge.add_observations knowledge.delete_entities
            knowledge.delete_observations knowledge.delete_relations knowledge.read_graph knowledge.search_nodes
            knowledge.open_nodes
            """,
        "merging": "note.merge",
        "notes": """
            note.get note.hide note.restore note.release note.edit note.list note.history note.revert
            """,
        "nuggets": "nugget.create nugget.edit nugget.list nugget.status nugget.facts nugget.rename",
        "promotion": "promote promote_facts promotion.preview",
        "recall": "recall get_context",
        "reflection": "reflect reflect_and_clean_memory reflection.history",
        "remember": "remember note.create remember_many",
        "rewinding": "session.retract_turns session.select_variant",
        "rollups": "session.compaction_candidates session.compact_nodes session.compact",
        "schema": "schema.get session.get_schema schema.set_type schema.delete_type",
        "search": "note.search",
        "topics": "topic.list",
        "session_reading": """
            session.list_nodes session.get_node session.list_edges session.get_neighbors session.get_ancestor
            session.get_descendants session.get_nearest_visible_ancestor session.project_edges
            session.get_node_exposure session.list_visible_candidates session.get_edge_summary session.get_node_brief
            session.get_node_briefs session.expand_from_seeds session.keyword_search session.vector_search
            session.find_by_name
            """,
        "session_writing": """
            session.create_node session.edit_node session.delete_node session.upsert_links session.delete_links
            session.apply_extraction_batch
            """,
        "sessions": "session.open session.close session.list",
        "shelves": "shelf.create shelf.list shelf.drop shelf.check shelf.log events.since snapshot get_stats",
        "synthesis": "synthesize validate_synthesis check_synthesis_quality",
        "timeline": "graph.timeline",
        "watches": "watch.create watch.list watch.delete",
        "undo": "undo reflection.undo",
        "why_not": "why_not",
    },
)


def outcome_is_result(_shelf: Shelf, changed: Changed, _call: Call) -> Answer:
    """Answer with what the change's function returned."""
    return dict(changed.outcome)


def change(
    name: str,
    *,
    render: Render = outcome_is_result,
    then: Then | None = None,
    settle: Settle | None = None,
    can_repeat: bool = False,
    ahead: Callable[[P, Call], object] | None = None,
) -> Callable[[Apply[P]], Apply[P]]:
    """Make a function the change called *name*.

    The function runs in the store's transaction, maybe on its thread, and returns the outcome: ids and status,
    small and JSON-like, for that is what a repeated request is answered from. *render* makes the result of it; before
    that *settle* begins, and perhaps waits for, the jobs that it names as ``pending``. One that *can_repeat* may be
    called again after what it did was rolled back, which makes it cheaper among others. What can be worked out of its
    params alone is done by *ahead*, of several requests one after the other.
    """

    def register(apply: Apply[P]) -> Apply[P]:
        USE_CASES[name] = ChangeMethod(apply, render, then, settle=settle, can_repeat=can_repeat, ahead=ahead)
        return apply

    return register


def job(
    name: str,
    *,
    ended: Ended,
    render: Render = outcome_is_result,
    is_run: Callable[[P], bool] = lambda _: True,
    dry_run: DryRun | None = None,
    known_as: str | None = None,
) -> Callable[[Begin[P]], Begin[P]]:
    """Make a function the change called *name*, that does what fits one transaction and leaves the rest to a job.

    The function takes the first step. If that is all it returns the outcome, as that of a :func:`change`.

    Args:
        name: The method.
        ended: Makes the result of a job that is done.
        render: Makes the result if there is no job.
        is_run: By the params: whether it is a run of its own. What is not must not begin a job.
        dry_run: Done instead when the params say ``dry_run``.
        known_as: The method under which it is recorded, if that is another.
    """

    def register(begin: Begin[P]) -> Begin[P]:
        USE_CASES[name] = ChangeMethod(begin, render, None, ended, is_run, dry_run, known_as)
        return begin

    return register


def read(name: str) -> Callable[[Get[P]], Get[P]]:
    """Make a function the read called *name*; it runs once the shelf has reached ``min_seq``.

    One whose answer takes more than a few milliseconds is a coroutine function and yields to other tasks in between.
    """

    def register(get: Get[P]) -> Get[P]:
        USE_CASES[name] = ReadMethod(get)
        return get

    return register


def procedure(name: str) -> Callable[[Run], Run]:
    """Make a coroutine function the method called *name*; it gets the context and does everything itself."""

    def register(run: Run) -> Run:
        USE_CASES[name] = Procedure(run)
        return run

    return register
