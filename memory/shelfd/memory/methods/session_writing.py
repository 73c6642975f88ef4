"""Use cases by which a session writes: typed notes and their links, one at a time or in a batch."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from pydantic.alias_generators import to_snake

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, NodeArchived, NoteNotFound, ShelfError, error_of
from shelfd.memory.log.idempotency import Outcome, RolledBack
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import change
from shelfd.memory.sessions.batch import apply_one, apply_operations, parse
from shelfd.memory.sessions.draft import Scene
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.sessions.session import write_session
from shelfd.memory.sessions.turns import Moment
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol.methods.session_writing import (
    CreateNodeParams,
    CreateOp,
    DeleteLinksParams,
    DeleteNodeParams,
    DeleteOp,
    EditNodeParams,
    EditOp,
    ExtractionBatchParams,
    LinkDeleteOp,
    LinkUpsertOp,
    NodeChange,
    NodeInput,
    SessionChangeParams,
    UpsertLinksParams,
)


def scene_of(tx: Transaction, params: SessionChangeParams, call: Call, moment: Moment | None = None) -> Scene:
    """Return the scene of a request that writes in a session.

    Raises:
        ShelfError: As :func:`~shelfd.memory.sessions.session.write_session` does.
    """
    session = write_session(tx, params.session_id, params.turn)
    schema = schema_of(tx.rows, session.nugget)
    return Scene(session.session_id, session.nugget, moment or Moment(params.turn), schema, call.limits)


def _said(params: NodeInput | NodeChange, model: type[NodeInput | NodeChange]) -> dict[str, Any]:
    """What was said of a note, by the names of *model*."""
    return {name: getattr(params, name) for name in model.model_fields if name in params.model_fields_set}


@change("session.create_node")
def create_node(tx: Transaction, params: CreateNodeParams, call: Call) -> Outcome:
    """Make a note, or merge it into the one of its name."""
    scene = scene_of(tx, params, call)
    try:
        effect = apply_one(tx, scene, CreateOp.model_construct(op="create", **_said(params, NodeInput)))
    except ShelfError as error:
        rejected = [{"index": 0, "error": error_of(error)}]
        field = error.data.get("field")
        raise InvalidParams(error.message, field=field, reason="OP_FAILED", rejected=rejected) from error
    named = {} if params.ref is None else {"ref": params.ref}
    made = {name: effect[name] for name in ("created", "merged", "archived")}
    return {"id": effect["node_id"], **named, **made}


def _not_there(error: ShelfError) -> Outcome | None:
    """Why a note is not there to be changed, if that is what is wrong."""
    reason = error.data.get("reason")
    if isinstance(error, NoteNotFound | NodeArchived) or reason == "NODE_NOT_SEMANTIC":
        return {"ok": False, "reason": reason, "message": error.message}
    return None


@change("session.edit_node")
def edit_node(tx: Transaction, params: EditNodeParams, call: Call) -> Outcome:
    """Change a note; an edit that changes nothing leaves no trace."""
    scene = scene_of(tx, params, call)
    operation = EditOp.model_construct(op="edit", node_id=params.id, **_said(params, NodeChange))
    try:
        effect = apply_one(tx, scene, operation)
    except ShelfError as error:
        if (refused := _not_there(error)) is None:
            raise
        return {**refused, "changed": False}
    return {"ok": True, "changed": effect["changed"], "rev": effect["rev"]}


@change("session.delete_node")
def delete_node(tx: Transaction, params: DeleteNodeParams, call: Call) -> Outcome:
    """Hide a note; its children return to the frontier."""
    scene = scene_of(tx, params, call)
    try:
        effect = apply_one(tx, scene, DeleteOp.model_construct(op="delete", node_id=params.id, if_rev=params.if_rev))
    except ShelfError as error:
        if (refused := _not_there(error)) is None:
            raise
        return refused
    return {"ok": True, "freed": effect["freed"]}


@change("session.upsert_links")
def upsert_links(tx: Transaction, params: UpsertLinksParams, call: Call) -> Outcome:
    """Link a note to others; a link that is there already takes over what is new about it."""
    operation = LinkUpsertOp.model_construct(op="link_upsert", source=params.source, links=params.links)
    return {"applied": 1, "added": apply_one(tx, scene_of(tx, params, call), operation)["added"]}


@change("session.delete_links")
def delete_links(tx: Transaction, params: DeleteLinksParams, call: Call) -> Outcome:
    """Take a link between two notes away."""
    operation = LinkDeleteOp.model_construct(
        op="link_delete",
        source=params.source,
        target=params.target,
        relation=params.relation,
        direction=params.direction,
    )
    return {"removed": apply_one(tx, scene_of(tx, params, call), operation)["removed"]}


def _show_batch(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    """Answer with the operations as they were given: the outcome, which is stored, has ids and errors alone."""
    ops = cast("ExtractionBatchParams", call.params).ops
    effects, errors = changed.outcome["effects"].items(), changed.outcome["errors"].items()
    return {
        "applied": [{**_snake(ops[int(index)]), **effect} for index, effect in effects],
        "rejected": [{"op": ops[int(index)], "index": int(index), "error": error} for index, error in errors],
        "rolled_back": changed.outcome["rolled_back"],
        "ids": changed.outcome["ids"],
    }


def _snake(given: Mapping[str, Any]) -> dict[str, Any]:
    """An operation by the names that results have; a note's own fields keep theirs."""
    snaked = {_spelled(name): value for name, value in given.items()}
    if "links" in snaked:
        snaked["links"] = [{_spelled(name): value for name, value in link.items()} for link in snaked["links"]]
    return snaked


@lru_cache(maxsize=256)
def _spelled(name: str) -> str:
    """The name that results have for a param: there are few, and each batch has them many times."""
    return to_snake(name)


@change("session.apply_extraction_batch", render=_show_batch)
def apply_extraction_batch(tx: Transaction, params: ExtractionBatchParams, call: Call) -> Outcome:
    """Carry out several operations, or none of them if one is bad and the batch atomic.

    They are checked here, on the store's thread: a thousand of them would hold up the event loop.
    """
    scene = scene_of(tx, params, call, Moment(params.turn, params.max_seq, params.from_seq))
    applied = apply_operations(tx, scene, parse(params.ops, call.limits), atomic=params.atomic)
    rolled_back = bool(params.atomic and applied.errors)
    outcome = {
        "effects": {str(index): effect for index, effect in sorted(applied.effects.items())},
        "errors": {str(index): error for index, error in sorted(applied.errors.items())},
        "rolled_back": rolled_back,
        "ids": dict(applied.ids),
    }
    if rolled_back:
        raise RolledBack(outcome)
    return outcome
