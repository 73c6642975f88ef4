"""The table of methods, and the API as an OpenRPC 1.3 document made from it."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel

from shelfd.protocol.base import Params
from shelfd.protocol.lazy_table import LazyTable

#: What a principal needs to call a method: ``open`` needs nothing, the others are granted by the shelf's access rules.
Need = Literal["open", "read", "write", "admin"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the wire contract.

    Attributes:
        name: As it goes over the wire.
        params: Model that validates ``params``.
        result: Model that describes ``result``; handlers answer with plain dicts of this shape.
        need: What the caller must be allowed to do.
        is_change: Whether it changes the shelf, and so takes an idempotency key and keeps arrival order.
        summary: One sentence for documents and ``rpc.discover``.
        is_barrier: Whether the caller's later changes wait for its end: it decides access, or has to prepare before it
            takes its place among the changes.
        has_dry_run: Whether its params have ``dry_run``.
    """

    name: str
    params: type[Params]
    result: type[BaseModel]
    need: Need
    is_change: bool
    summary: str
    is_barrier: bool = False
    has_dry_run: bool = False


#: Every method of this version by name; which module of :mod:`shelfd.protocol.methods` defines which.
METHODS: Final[LazyTable[Method]] = LazyTable(
    "shelfd.protocol.methods",
    {
        "backups": "shelf.backup shelf.backups shelf.restore shelf.move",
        "conflicts": "conflict.list conflict.resolve",
        "distilling": "remember_with_extraction remember_report",
        "entities": """
            recall_entity recall_cve recall_actor recall_tool alias.add alias.remove alias.list entity.purge topic.list
            """,
        "entity_graph": "get_entity_relationships traverse_graph graph.timeline graph.export",
        "events": "events.subscribe events.unsubscribe events.since",
        "exporting": "shelf.export",
        "extraction": "session.extract",
        "graph": "note.delete note.move note.merge note.record_hit mark_note_superseded note.supersede",
        "importing": "shelf.import shelf.merge",
        "injection": """
            session.get_injection_state session.list_always_inject session.record_injection session.context_at
            """,
        "jobs": "job.list job.get job.retry job.cancel",
        "knowledge": """
            knowledge.create_entities knowledge.create_relations knowledge.add_observations knowledge.delete_entities
            knowledge.delete_observations knowledge.delete_relations knowledge.read_graph knowledge.search_nodes
            knowledge.open_nodes
            """,
        "links": "link.upsert link.delete link.list",
        "notes": """
            remember remember_many forget note.get note.create note.edit note.list note.hide note.release note.restore
            note.history note.revert
            """,
        "nuggets": """
            nugget.create nugget.edit nugget.list nugget.status nugget.facts nugget.clear nugget.rename nugget.remove
            """,
        "promotion": "promote promote_facts promotion.preview",
        "recall": "recall why_not get_context recall.feedback",
        "reflection": "reflect reflect_and_clean_memory reflection.history",
        "rewinding": "session.retract_turns session.select_variant session.branch",
        "rollups": "session.compaction_candidates session.compact_nodes session.compact",
        "scheduler": "scheduler.jobs scheduler.run scheduler.history",
        "schema": "schema.get schema.set_type schema.delete_type session.get_schema",
        "search": "note.search",
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
        "shelves": "shelf.create shelf.list shelf.drop shelf.check shelf.log snapshot get_stats",
        "synthesis": "synthesize validate_synthesis check_synthesis_quality",
        "system": """
            system.health system.version system.doctor system.metrics system.config system.log_level rpc.discover
            """,
        "undo": "undo reflection.undo",
        "watches": "watch.create watch.list watch.delete",
    },
)


def define(
    name: str,
    params: type[Params],
    result: type[BaseModel],
    *,
    need: Need,
    summary: str,
    is_change: bool | None = None,
    is_barrier: bool = False,
) -> Method:
    """Enter a method into the table; a method that needs ``write`` is a change unless *is_change* says otherwise.

    Raises:
        ValueError: If the name is taken, or the table does not have it.
    """
    if METHODS.has_loaded(name):
        raise ValueError(f"method {name!r} is defined twice")
    change = need == "write" if is_change is None else is_change
    has_dry_run = "dry_run" in params.model_fields
    METHODS[name] = Method(name, params, result, need, change, summary, is_barrier, has_dry_run)
    return METHODS[name]


_REF = "#/components/schemas/{model}"


def document(version: str) -> dict[str, Any]:
    """Return the OpenRPC document of every method, for the daemon's *version*."""
    from pydantic.json_schema import models_json_schema  # only this needs it

    wanted: list[tuple[type[BaseModel], str]] = [(method.params, "validation") for method in METHODS.values()]
    wanted += [(method.result, "serialization") for method in METHODS.values()]
    references, definitions = models_json_schema(wanted, ref_template=_REF)  # type: ignore[arg-type]
    schemas: dict[str, Any] = definitions.get("$defs", {})
    methods = []
    for method in METHODS.values():
        params_schema = schemas[references[method.params, "validation"]["$ref"].rsplit("/", 1)[1]]
        required = params_schema.get("required", [])
        methods.append(
            {
                "name": method.name,
                "summary": method.summary,
                "paramStructure": "by-name",
                "params": [
                    {"name": name, "required": name in required, "schema": schema}
                    for name, schema in params_schema.get("properties", {}).items()
                ],
                "result": {"name": "result", "schema": references[method.result, "serialization"]},
                "x-needs": method.need,
                "x-change": method.is_change,
            }
        )
    return {
        "openrpc": "1.3.2",
        "info": {
            "title": "shelfd",
            "version": version,
            "description": "The memory of an AI agent, over a Unix socket.",
        },
        "methods": methods,
        "components": {"schemas": schemas},
    }
