"""Methods on nuggets: named topics inside a shelf."""

from typing import Annotated

from pydantic import Field, model_validator

from shelfd.protocol.base import (
    ChangeParams,
    Count,
    NuggetName,
    PageParams,
    ReadParams,
    Result,
    between_params,
)
from shelfd.protocol.registry import define

#: Elements of all banks of a nugget together; each takes four bytes.
_MOST_ELEMENTS = 2**20


class NuggetParams(ChangeParams):
    """Params of a change that names one nugget."""

    name: NuggetName


class NuggetReadParams(ReadParams):
    """Params of a read that names one nugget."""

    name: NuggetName


class NuggetCreateParams(NuggetParams):
    """Params of ``nugget.create``."""

    dimension: Annotated[int, Field(ge=64, le=65_535)] = Field(
        default=1024, description="Elements of the vectors that its facts are kept in."
    )
    banks: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=4, description="Superpositions that its facts are spread over."
    )
    ensembles: Annotated[int, Field(ge=1, le=1024)] = Field(default=1, description="Copies of each bank.")
    max_facts: Count = Field(
        default=0, description="A new fact beyond these hides the oldest that is not pinned; 0 for no limit."
    )
    ttl_days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(
        default=None, description="Default for its new notes."
    )
    local_only: bool = Field(
        default=False,
        description="Its text is never sent to a language model or to an embedder elsewhere. The mark goes with the"
        " nugget's name when it is renamed, and is lost when it is removed.",
    )

    @model_validator(mode="after")
    def _fits(self) -> "NuggetCreateParams":
        if self.dimension * self.banks * self.ensembles > _MOST_ELEMENTS:
            raise between_params("dimension", f"dimension x banks x ensembles is more than {_MOST_ELEMENTS}")
        return self


class NuggetEditParams(NuggetParams):
    """Params of ``nugget.edit``: what is left out stays."""

    local_only: bool | None = Field(
        default=None, description="Whether its text may not be sent to a language model or to an embedder elsewhere."
    )
    max_facts: Count | None = Field(default=None, description="Holds from the next new fact on; 0 for no limit.")
    ttl_days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(
        default=None, description="Default for its new notes from now on; null for none."
    )

    @model_validator(mode="after")
    def _says_something(self) -> "NuggetEditParams":
        for name in ("local_only", "max_facts"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise between_params(name, f"{name} is not null")
        if not self.model_fields_set & {"local_only", "max_facts", "ttl_days"}:
            raise between_params("name", "at least one of local_only, max_facts and ttl_days is required")
        return self


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
    capacity: int = Field(description="Facts that its banks give back without their rows, which hold any number.")
    capacity_used_pct: float = Field(description="One decimal; may pass 100.")
    capacity_warning: str = Field(
        description="What is lost by being this full: facts that go because of `max_facts`, or banks that confirm fewer"
        " than 95 in 100. Empty if nothing is; a fact's key answers whatever it says."
    )
    ttl_days: int | None = None
    local_only: bool | None = Field(default=None, description="Its text stays here; left out if it need not.")
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
    run_id: str | None = Field(default=None, description="For `reflection.undo`, which brings them back.")
    replayed: bool | None = None


class NuggetRenameParams(NuggetParams):
    """Params of ``nugget.rename``."""

    new_name: NuggetName


class NuggetRemoveParams(NuggetParams):
    """Params of ``nugget.remove``."""

    purge: bool = Field(
        default=False, description="Its notes for good, hidden ones too, as `forget` with `purge`; cannot be undone."
    )


class NuggetRemoveResult(Result):
    """The nugget that is gone and what became of its notes."""

    removed: str
    hidden: int = Field(description="Notes that were hidden with it.")
    purged: int | None = Field(default=None, description="With `purge`: notes that are gone for good.")
    still_in: list[str] | None = Field(
        default=None, description="With `purge`: notes and files that still hold text of them."
    )
    run_id: str | None = Field(default=None, description="Without `purge`: for `reflection.undo`.")
    replayed: bool | None = None


define("nugget.create", NuggetCreateParams, NuggetStatus, need="write", summary="Make a nugget.")
define("nugget.edit", NuggetEditParams, NuggetStatus, need="write", summary="Change what holds for a nugget.")
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
    summary="Hide or purge a nugget's notes and drop its name.",
)
