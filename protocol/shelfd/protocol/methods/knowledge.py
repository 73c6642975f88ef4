"""Methods on a knowledge graph: entities with observations, and relations between them, all known by their names.

The graph is a nugget. An entity is one of its titled notes, its observations are the note's lines, a relation is a
link: what is written here is found by recall, and a titled note that was written otherwise is an entity.
"""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, ReadParams, Result, Wire, max_bytes
from shelfd.protocol.registry import define

#: Items of one request.
_ITEMS = 1000
_QUERY_CHARACTERS = 2048

EntityName = Annotated[str, Field(min_length=1), max_bytes("title_bytes", is_text=True)]
Observation = Annotated[str, max_bytes("content_bytes")]
Observations = Annotated[list[Observation], Field(max_length=10 * _ITEMS)]


class EntityInput(Wire):
    """An entity."""

    name: EntityName = Field(description="What it is known by; capitals count.")
    type: Annotated[str, Field(max_length=128)]
    observations: Observations


class RelationInput(Wire):
    """A relation between two entities, by their names."""

    source: EntityName
    target: EntityName
    relation: Annotated[str, Field(min_length=1, max_length=128)]


class ObservationsInput(Wire):
    """Observations of one entity."""

    name: EntityName
    observations: Observations


class GraphChangeParams(ChangeParams):
    """Params of a change of a knowledge graph."""

    nugget: NuggetName = "memory"


class GraphReadParams(ReadParams):
    """Params of a read of a knowledge graph."""

    nugget: NuggetName = "memory"


class CreateEntitiesParams(GraphChangeParams):
    """Params of ``knowledge.create_entities``."""

    entities: Annotated[list[EntityInput], Field(max_length=_ITEMS)]


class RelationsParams(GraphChangeParams):
    """Params of a change of relations."""

    relations: Annotated[list[RelationInput], Field(max_length=_ITEMS)]


class ObservationsParams(GraphChangeParams):
    """Params of a change of observations."""

    observations: Annotated[list[ObservationsInput], Field(max_length=_ITEMS)]


class DeleteEntitiesParams(GraphChangeParams):
    """Params of ``knowledge.delete_entities``."""

    names: Annotated[list[EntityName], Field(max_length=_ITEMS)]


class SearchNodesParams(GraphReadParams):
    """Params of ``knowledge.search_nodes``."""

    query: Annotated[str, Field(max_length=_QUERY_CHARACTERS)] = Field(
        description="Part of a name, a type or an observation; capitals do not count."
    )


class OpenNodesParams(GraphReadParams):
    """Params of ``knowledge.open_nodes``."""

    names: Annotated[list[EntityName], Field(max_length=_ITEMS)]


class GraphEntity(Result):
    """An entity."""

    name: str
    type: str
    observations: list[str]


class GraphRelation(Result):
    """A relation between two entities."""

    source: str
    target: str
    relation: str


class CreateEntitiesResult(Result):
    """Those that are new; one whose name was taken is left as it was."""

    entities: list[GraphEntity]
    replayed: bool | None = None


class CreateRelationsResult(Result):
    """Those that are new."""

    relations: list[GraphRelation]
    replayed: bool | None = None


class AddedObservations(Result):
    """What is new of one entity."""

    name: str
    observations: list[str]


class AddObservationsResult(Result):
    """What is new, for each item of the request."""

    results: list[AddedObservations]
    replayed: bool | None = None


class DeleteEntitiesResult(Result):
    """Names of those that are hidden now, and of those that were not there."""

    deleted: list[str]
    not_found: list[str]
    replayed: bool | None = None


class DeleteObservationsResult(Result):
    """How many are gone, and names of entities that are not there."""

    removed: int
    not_found: list[str]
    replayed: bool | None = None


class DeleteRelationsResult(Result):
    """How many are gone."""

    removed: int
    replayed: bool | None = None


class GraphResult(Result):
    """Entities in the order they were made, and the relations between them or with others, in theirs."""

    entities: list[GraphEntity]
    relations: list[GraphRelation]


def _change(name: str, params: type[GraphChangeParams], result: type[Result], summary: str) -> None:
    define(f"knowledge.{name}", params, result, need="write", summary=summary)


_change("create_entities", CreateEntitiesParams, CreateEntitiesResult, "Make entities of a knowledge graph.")
_change("create_relations", RelationsParams, CreateRelationsResult, "Relate entities, which have to be there.")
_change("add_observations", ObservationsParams, AddObservationsResult, "Add to entities what they do not say yet.")
_change("delete_entities", DeleteEntitiesParams, DeleteEntitiesResult, "Hide entities, and so their relations.")
_change("delete_observations", ObservationsParams, DeleteObservationsResult, "Take observations out of entities.")
_change("delete_relations", RelationsParams, DeleteRelationsResult, "Take relations away.")
define("knowledge.read_graph", GraphReadParams, GraphResult, need="read", summary="An entire knowledge graph.")
define("knowledge.search_nodes", SearchNodesParams, GraphResult, need="read", summary="Entities that hold a text.")
define("knowledge.open_nodes", OpenNodesParams, GraphResult, need="read", summary="Entities by their names.")
