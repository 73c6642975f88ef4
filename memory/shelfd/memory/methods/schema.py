"""Use cases on types of notes."""

from collections.abc import Mapping
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, InvalidParams
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import job, read
from shelfd.memory.notes.relations import known_relations
from shelfd.memory.ports.sessions import WHOLE_SHELF
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.retyping import (
    RETYPING,
    Plan,
    TypeInUse,
    TypeUnfit,
    new_cursor,
    result_of,
    retype_some,
)
from shelfd.memory.sessions.rollup_rule import rule_of
from shelfd.memory.sessions.schema import BUILT_IN, NoteType, new_type, schema_of, type_of
from shelfd.memory.sessions.session import read_session
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol.methods.schema import (
    DeleteTypeParams,
    GetSchemaParams,
    MigrateInput,
    SchemaGetParams,
    SetTypeParams,
    TypeProperties,
)

#: Notes counted of a type that cannot go.
_MOST_COUNTED = 100_000


def _origin(view: View, nugget: str, name: str) -> str:
    if nugget != WHOLE_SHELF and name in view.note_types.of(nugget):
        return "nugget"
    return "shelf" if name in view.note_types.of(WHOLE_SHELF) else "built_in"


def _view(view: View, nugget: str, kind: NoteType) -> dict[str, Any]:
    properties = {name: list(value) if isinstance(value, tuple) else value for name, value in kind.as_mapping().items()}
    return {"type": kind.name, **properties, "origin": _origin(view, nugget, kind.name)}


@read("schema.get")
def get(shelf: Shelf, params: SchemaGetParams, _call: Call) -> dict[str, Any]:
    """Return the types that hold in a nugget or the whole shelf, and what is known of relations."""
    nugget = params.nugget or WHOLE_SHELF
    relations = [
        {
            "relation": known.name,
            "symmetric": known.symmetric,
            "internal": known.internal,
            **({} if known.inverse is None else {"inverse": known.inverse}),
        }
        for known in known_relations()
    ]
    types = [_view(shelf.view, nugget, kind) for kind in schema_of(shelf.view, nugget).types.values()]
    return {"nugget": params.nugget, "types": types, "relations": relations}


_COLUMNS = ("table_columns", "required_columns", "primary_key_columns")
_FLAGS = ("force_update", "always_inject", "editable")


@read("session.get_schema")
def get_schema(shelf: Shelf, params: GetSchemaParams, _call: Call) -> dict[str, Any]:
    """Return the types of a session's nugget."""
    session = read_session(shelf, params.session_id)
    return {"types": [_spec_view(kind) for kind in schema_of(shelf.view, session.nugget).types.values()]}


def _spec_view(kind: NoteType) -> dict[str, Any]:
    properties = kind.as_mapping()
    return {
        "type": kind.name,
        "table_name": kind.table_name,
        **{name: list(properties[name]) for name in _COLUMNS},
        **{name: properties[name] for name in _FLAGS},
        "compression_mode": kind.compression.mode,
        "latest_only": kind.latest_only,
        "compression": properties["compression"],
    }


def _show_set(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    outcome = changed.outcome
    kind = schema_of(shelf.view, outcome["nugget"]).get(outcome["type"])
    view = {} if kind is None else {"type": _view(shelf.view, outcome["nugget"], kind)}
    if "deleted" in outcome:
        return {"deleted": outcome["deleted"], **view}
    run = {"run_id": outcome["run_id"]} if outcome["migrated"] else {}
    return {**view, "migrated": outcome["migrated"], **run}


def _ended(shelf: Shelf, job: Job) -> dict[str, Any]:
    """What a job came to.

    Raises:
        TypeUnfit: If there were notes that do not fit; nothing was done.
    """
    name, nugget, result = job.params["type"], job.params["nugget"], job.result or {}
    if result["unfit"]:
        raise TypeUnfit(name, result["unfit"], result["offenders"])
    view = _view(shelf.view, nugget, schema_of(shelf.view, nugget).need(name))
    if job.method == "schema.delete_type":
        return {"deleted": True, "type": view}
    return {"type": view, "migrated": result["migrated"], "run_id": job.run_id}


@job("schema.set_type", ended=_ended, render=_show_set)
def set_type(tx: Transaction, params: SetTypeParams, call: Call) -> Begun | Outcome:
    """Make or change a type; notes that would not fit come along, or refuse it."""
    nugget = params.nugget or WHOLE_SHELF
    _admit_words(tx, params.model_dump(exclude_none=True, exclude={"idempotency_key", "shelf"}))
    before = schema_of(tx.rows, nugget).get(params.type)
    kind = (before or new_type(params.type)).with_properties(_properties(params))
    _check_columns(kind)
    rule_of(kind.compression.rule)
    migrate = params.migrate or MigrateInput()
    _check_migration(kind, migrate)
    plan = Plan(nugget, kind, stored=True, rename=migrate.rename, defaults=migrate.defaults)
    begun = _begin(tx, plan, call, has_to_look=bool(params.migrate) or _is_stricter(before, kind))
    if not isinstance(begun, dict):
        return begun
    return {"nugget": nugget, "type": kind.name, "migrated": begun["migrated"], "run_id": call.run_id}


@job("schema.delete_type", ended=_ended, render=_show_set)
def delete_type(tx: Transaction, params: DeleteTypeParams, call: Call) -> Begun | Outcome:
    """Take back what a type was set to. What then holds of that name has to fit its notes; if nothing does, there must
    be none.
    """
    nugget = params.nugget or WHOLE_SHELF
    outcome = {"nugget": nugget, "type": params.type, "deleted": True}
    properties = tx.rows.note_types.of(nugget).get(params.type)
    if properties is None:
        return {**outcome, "deleted": False}
    before = type_of(params.type, properties)
    outer = {} if nugget == WHOLE_SHELF else tx.rows.note_types.of(WHOLE_SHELF)
    after = type_of(params.type, outer[params.type]) if params.type in outer else BUILT_IN.get(params.type)
    if after is None:
        count = tx.rows.notes.count_typed(params.type, params.nugget, limit=_MOST_COUNTED)
        if count:
            raise TypeInUse(params.type, count)
        tx.rows.note_types.delete(nugget, params.type)
        return outcome
    begun = _begin(tx, Plan(nugget, after, stored=False), call, has_to_look=_is_stricter(before, after))
    return outcome if isinstance(begun, dict) else begun


def _begin(tx: Transaction, plan: Plan, call: Call, *, has_to_look: bool) -> Begun | dict[str, Any]:
    """Take the first step; return what it came to, or what is left.

    Raises:
        Conflict: If another job sets types.
        TypeUnfit: If there are notes that do not fit.
    """
    for _, other in tx.rows.jobs.page(unfinished=True, kind=RETYPING.name, before=None, limit=1):
        text = f"job {other.id} is setting type {other.params['type']}; try again when it has ended"
        raise Conflict(text, job=other.id)
    cursor = new_cursor(has_to_look=has_to_look)
    retype_some(tx, cursor, plan, call.limits)
    if cursor["phase"] != "over":
        params = {"nugget": plan.nugget, "type": plan.kind.name}
        return Begun(RETYPING, params, cursor, {0: plan.as_piece()})
    result = result_of(cursor)
    if result["unfit"]:
        raise TypeUnfit(plan.kind.name, result["unfit"], result["offenders"])
    return result


def _admit_words(tx: Transaction, said: Mapping[str, Any]) -> None:
    """Raise if what a caller says of a type may not be stored: columns and instructions are used as they are."""
    for field, value in said.items():
        left = [value]
        while left:
            match left.pop():
                case str(text):
                    tx.admit_name(text, field)
                case dict(members):
                    left += [*members, *members.values()]
                case list(members):
                    left += members


def _properties(params: SetTypeParams) -> dict[str, Any]:
    """What was said of the type."""
    said = {name: getattr(params, name) for name in TypeProperties.model_fields}
    properties = {name: value for name, value in said.items() if value is not None}
    if params.compression is not None:
        properties["compression"] = params.compression.model_dump(exclude_none=True)
    return properties


def _check_columns(kind: NoteType) -> None:
    for name in ("required_columns", "primary_key_columns", "embedding_columns"):
        strange = [column for column in getattr(kind, name) if column not in kind.table_columns]
        if strange:
            text = f"{name}: {', '.join(strange)} is no column of the table"
            raise InvalidParams(text, field=name, columns=strange)
    if not kind.table_columns:
        raise InvalidParams("table_columns: is empty", field="table_columns")


def _check_migration(kind: NoteType, migrate: MigrateInput) -> None:
    for old, new in migrate.rename.items():
        if old == new or not kind.is_known_column(new):
            raise InvalidParams("migrate.rename: leads to no column of the table", field="migrate.rename")
    if strange := [column for column in migrate.defaults if column not in kind.required_columns]:
        text = f"migrate.defaults: {', '.join(strange)} is not required"
        raise InvalidParams(text, field="migrate.defaults")


def _is_stricter(before: NoteType | None, after: NoteType) -> bool:
    """Whether a note may fit the one and not the other."""
    if before is None:  # notes may have the type all the same: it is a free word
        return bool(after.required_columns) or not after.additional_columns
    if not after.additional_columns and (
        before.additional_columns or not set(before.table_columns) <= set(after.table_columns)
    ):
        return True
    return not set(after.required_columns) <= set(before.required_columns)
