"""Methods on nuggets: named topics inside a shelf."""

from typing import Annotated

from pydantic import Field

from shelfd.protocol.base import ChangeParams, NuggetName, OnlyFalse, PageParams, ReadParams, Result, not_available
from shelfd.protocol.registry import define


class NuggetParams(ChangeParams):
    """Params of a change that names one nugget."""

    name: NuggetName


class NuggetReadParams(ReadParams):
    """Params of a read that names one nugget."""

    name: NuggetName


class NuggetCreateParams(NuggetParams):
    """Params of ``nugget.create``. The holographic options have their defaults only in this version."""

    dimension: Annotated[int, not_available(lambda v: v == 1024, "another dimension than 1024")] = 1024
    banks: Annotated[int, not_available(lambda v: v == 4, "another number of banks than 4")] = 4
    ensembles: Annotated[int, not_available(lambda v: v == 1, "another number of ensembles than 1")] = 1
    max_facts: Annotated[int, not_available(lambda v: v == 0, "a limit on facts")] = 0
    ttl_days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(
        default=None, description="Default for its new notes."
    )


class NuggetStatus(Result):
    """What a nugget holds."""

    name: str
    fact_count: int
    note_count: int = Field(description="Notes and facts, hidden ones included.")
    hidden_count: int
    dimension: int
    banks: int
    ensembles: int
    max_facts: int
    ttl_days: int | None = None
    created_at: str
    replayed: bool | None = None


class NuggetListResult(Result):
    """All nuggets of a shelf, by name."""

    nuggets: list[NuggetStatus]
    next_cursor: str | None = None


class FactView(Result):
    """A fact as key and value."""

    key: str
    value: str
    hits: int
    note_id: str


class NuggetFactsParams(PageParams):
    """Params of ``nugget.facts``."""

    name: NuggetName


class NuggetFactsResult(Result):
    """The visible facts of a nugget in the order they were first given."""

    facts: list[FactView]
    next_cursor: str | None = None


class NuggetClearResult(Result):
    """How many notes were hidden."""

    hidden: int
    replayed: bool | None = None


class NuggetRenameParams(NuggetParams):
    """Params of ``nugget.rename``."""

    new_name: NuggetName


class NuggetRemoveParams(NuggetParams):
    """Params of ``nugget.remove``."""

    purge: Annotated[bool, OnlyFalse] = Field(default=False, description="Not available in this version.")


class NuggetRemoveResult(Result):
    """The nugget that is gone and how many of its notes were hidden with it."""

    removed: str
    hidden: int
    replayed: bool | None = None


define("nugget.create", NuggetCreateParams, NuggetStatus, need="write", summary="Make a nugget.")
define("nugget.list", PageParams, NuggetListResult, need="read", summary="All nuggets of the shelf.")
define("nugget.status", NuggetReadParams, NuggetStatus, need="read", summary="What a nugget holds.")
define("nugget.facts", NuggetFactsParams, NuggetFactsResult, need="read", summary="Keys and values of a nugget.")
define("nugget.clear", NuggetParams, NuggetClearResult, need="write", summary="Hide every note of a nugget.")
define("nugget.rename", NuggetRenameParams, NuggetStatus, need="write", summary="Give a nugget another name.")
define(
    "nugget.remove",
    NuggetRemoveParams,
    NuggetRemoveResult,
    need="write",
    summary="Hide a nugget's notes and drop its name.",
)
