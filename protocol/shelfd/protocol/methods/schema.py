"""Methods on types of notes: ``schema.*`` and what a session sees of them."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from shelfd.protocol.base import (
    ChangeParams,
    NuggetName,
    ReadParams,
    Result,
    Token,
    Wire,
    Word,
    between_params,
)
from shelfd.protocol.registry import define

_COLUMNS = 64
_INSTRUCTIONS = 8192


def _folded(value: str) -> str:
    name = value.casefold()
    if not name[0].isalnum() or not all(character.isalnum() or character in "_-" for character in name):
        raise PydanticCustomError("type_name", "is not a type's name: letters, digits, '_' and '-'")
    return name


TypeName = Annotated[Word, Field(max_length=64), AfterValidator(_folded)]
Column = Annotated[Word, Field(max_length=64)]
Columns = Annotated[list[Column], Field(max_length=_COLUMNS)]


class CompressionInput(Wire):
    """When notes of a type are rolled up; what is left out stays as it is."""

    mode: Literal["none", "hierarchical"] | None = None
    threshold: Annotated[int, Field(ge=2, le=1000)] | None = None
    fan_in: Annotated[int, Field(ge=2, le=100)] | None = None
    max_depth: Annotated[int, Field(ge=1, le=64)] | None = None
    keep_recent_leaves: Annotated[int, Field(ge=0, le=100_000)] | None = None
    rule: Annotated[str, Field(max_length=4096)] | None = None
    summarize_instruction: Annotated[str, Field(max_length=_INSTRUCTIONS)] | None = None


class MigrateInput(Wire):
    """How notes that are there come to fit a type."""

    rename: Annotated[dict[Column, Column], Field(max_length=_COLUMNS)] = Field(
        default_factory=dict, description="New name by the old one."
    )
    defaults: Annotated[dict[Column, Any], Field(max_length=_COLUMNS)] = Field(
        default_factory=dict, description="Value of a required column for notes without one."
    )


class TypeProperties(Wire):
    """What a type can be given."""

    label: Word | None = None
    table_name: Word | None = None
    table_columns: Columns | None = None
    embedding_columns: Columns | None = Field(
        default=None,
        description="Among the table's; none for all of them. Kept; an embedder gets all of a note's text.",
    )
    column_hints: Annotated[dict[Column, Annotated[str, Field(max_length=512)]], Field(max_length=_COLUMNS)] | None = (
        None
    )
    required_columns: Columns | None = Field(
        default=None, description="Among the table's. A title comes from the fields, a summary from the content."
    )
    primary_key_columns: Columns | None = Field(default=None, description="Among the table's.")
    additional_columns: bool | None = Field(
        default=None, description="Whether fields may have columns that are not the table's; true of built-in types."
    )
    force_update: bool | None = None
    always_inject: bool | None = None
    latest_only: bool | None = Field(default=None, description="A new note merges into the one that has its name.")
    editable: bool | None = Field(default=None, description="Whether extraction may edit and delete. Binds no caller.")
    records_span: bool | None = Field(default=None, description="Notes keep from which turns they come.")
    keywords: Annotated[list[Word], Field(max_length=_COLUMNS)] | None = None
    extract_every: Annotated[int, Field(ge=1, le=10_000)] | None = None
    extract_hint: Annotated[str, Field(max_length=_INSTRUCTIONS)] | None = None
    extraction_instructions: Annotated[str, Field(max_length=_INSTRUCTIONS)] | None = None
    recall_quota: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, description="Kept for recall by vectors, which this version does not have."
    )
    compression: CompressionInput | None = None


class SchemaGetParams(ReadParams):
    """Params of ``schema.get``."""

    nugget: NuggetName | None = Field(default=None, description="Its types; without one, the whole shelf's.")


class CompressionView(Result):
    """When notes of a type are rolled up."""

    mode: Literal["none", "hierarchical"]
    threshold: int = Field(description="Notes of one depth from which they are rolled up.")
    fan_in: int = Field(description="Notes that become one.")
    max_depth: int
    keep_recent_leaves: int
    rule: str
    summarize_instruction: str


class NoteTypeView(Result):
    """A type, with all that can be set."""

    type: str
    label: str
    table_name: str
    table_columns: list[str]
    embedding_columns: list[str]
    column_hints: dict[str, str]
    required_columns: list[str]
    primary_key_columns: list[str]
    additional_columns: bool
    force_update: bool
    always_inject: bool
    latest_only: bool
    editable: bool
    records_span: bool
    keywords: list[str]
    extract_every: int
    extract_hint: str
    extraction_instructions: str
    recall_quota: int
    compression: CompressionView
    origin: Literal["built_in", "shelf", "nugget"] = Field(description="Where it was set.")


class RelationView(Result):
    """What is known of a relation; links may have any other, too."""

    relation: str
    symmetric: bool = Field(description="Holds both ways: stored once, from the older note.")
    internal: bool = Field(description="Follows from rollups and cannot be written.")
    inverse: str | None = None


class SchemaGetResult(Result):
    """The types that hold in a nugget: built-in ones first, then by name."""

    nugget: str | None
    types: list[NoteTypeView]
    relations: list[RelationView]


class SetTypeParams(TypeProperties, ChangeParams):
    """Params of ``schema.set_type``: what is left out stays, or has the default of a new type."""

    type: TypeName
    nugget: NuggetName | None = Field(default=None, description="Only there; without one, in the whole shelf.")
    migrate: MigrateInput | None = Field(default=None, description="Without it, notes that do not fit refuse the type.")

    @model_validator(mode="after")
    def _consistent(self) -> "SetTypeParams":
        for name in ("table_columns", "required_columns", "primary_key_columns", "embedding_columns"):
            columns = getattr(self, name) or []
            if len(set(columns)) < len(columns):
                raise between_params(name, f"{name} names a column twice")
        return self


class SetTypeResult(Result):
    """The type as it is now, and how many notes were changed to fit it."""

    type: NoteTypeView
    migrated: int
    run_id: str | None = Field(default=None, description="Takes back what was done to the notes.")
    replayed: bool | None = None


class DeleteTypeParams(ChangeParams):
    """Params of ``schema.delete_type``."""

    type: TypeName
    nugget: NuggetName | None = Field(default=None, description="What was set there; without one, in the whole shelf.")


class DeleteTypeResult(Result):
    """Whether something was deleted, and the type that holds now, if there is one left of that name."""

    deleted: bool
    type: NoteTypeView | None = None
    replayed: bool | None = None


class GetSchemaParams(ReadParams):
    """Params of ``session.get_schema``."""

    session_id: Token


class SchemaSpecView(Result):
    """A type as a session shows it."""

    type: str
    table_name: str
    table_columns: list[str]
    required_columns: list[str]
    primary_key_columns: list[str]
    force_update: bool
    always_inject: bool
    editable: bool
    compression_mode: Literal["none", "hierarchical"]
    latest_only: bool
    compression: CompressionView


class GetSchemaResult(Result):
    """The types of a session's nugget."""

    types: list[SchemaSpecView]


define("schema.get", SchemaGetParams, SchemaGetResult, need="read", summary="Types of notes and their columns.")
define(
    "schema.set_type",
    SetTypeParams,
    SetTypeResult,
    need="write",
    summary="Make or change a type, with its notes.",
)
define(
    "schema.delete_type", DeleteTypeParams, DeleteTypeResult, need="write", summary="Take back what a type was set to."
)
define("session.get_schema", GetSchemaParams, GetSchemaResult, need="read", summary="The types of a session's notes.")
