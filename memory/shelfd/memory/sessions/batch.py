"""A batch of operations on a session's graph: planned as a whole, then written in one transaction.

Notes are made, changed and hidden first, in their order, then links in theirs: so an operation may name a note by the
``ref`` under which the batch creates it, wherever that stands. Nothing is left out silently: each operation is applied
or rejected with a reason. An operation is rejected as a whole, and with it those that name what it would have created.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import ValidationError

from shelfd.memory.errors import InvalidParams, NoteNotFound, ShelfError, error_of
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.sessions import nodes
from shelfd.memory.sessions.draft import Draft, Scene, ends_of
from shelfd.protocol import Limits, from_validation
from shelfd.protocol.methods.session_writing import (
    OPERATIONS,
    CreateOp,
    DeleteOp,
    EditOp,
    LinkDeleteOp,
    LinkSpec,
    LinkUpsertOp,
    NodeAddress,
    Operation,
)

#: What an operation did: ``node_id`` and counts or ids.
Effect: TypeAlias = dict[str, Any]
Error: TypeAlias = dict[str, Any]


def parse(given: Sequence[object], limits: Limits) -> list[Operation | Error]:
    """Return each operation, or what is wrong with it."""
    return [_parsed(index, item, limits) for index, item in enumerate(given)]


def _parsed(index: int, given: object, limits: Limits) -> Operation | Error:
    name = given.get("op") if isinstance(given, Mapping) else None
    model = OPERATIONS.get(name) if isinstance(name, str) else None
    if model is None:
        text = f"op: is none of {', '.join(OPERATIONS)}"
        return _error(index, InvalidParams(text, field="op"))
    try:
        return model.model_validate(given, context=limits)
    except ValidationError as error:
        return from_validation(error, prefix=("ops", index))


class BatchOutcome:
    """What became of a batch: effects of the operations that were applied, errors of the others, by their index."""

    def __init__(self, effects: Mapping[int, Effect], errors: Mapping[int, Error], ids: Mapping[str, str]) -> None:
        self.effects = effects
        self.errors = errors
        self.ids = ids


def apply_operations(
    tx: Transaction, scene: Scene, operations: Sequence[Operation | Error], *, atomic: bool
) -> BatchOutcome:
    """Carry out operations; if *atomic*, none of them if one is rejected.

    Args:
        tx: The transaction they are carried out in.
        scene: The conversation they belong to.
        operations: As :func:`parse` returns them.
        atomic: Whether one that is rejected refuses all.

    Raises:
        InvalidParams: If the turn is far ahead of all before.
    """
    errors = {index: item for index, item in enumerate(operations) if isinstance(item, dict)}
    good = {index: item for index, item in enumerate(operations) if not isinstance(item, dict)}
    errors |= _misnamed(good)
    while True:
        _spread(good, errors)
        plan = _Plan(Draft(tx, scene))
        plan.draft.prefetch(_named_in(good.values()))
        found = plan.carry_out({index: item for index, item in good.items() if index not in errors})
        errors |= found
        if atomic and errors:
            return BatchOutcome({}, errors, {})
        if not found:
            break
        # Planned anew without those: what the others did may have built on them.
    plan.draft.write()
    return BatchOutcome(plan.effects, errors, {ref: note.id for ref, note in plan.created.items()})


def apply_one(tx: Transaction, scene: Scene, operation: Operation) -> Effect:
    """Carry out one operation; return what it did.

    Raises:
        ShelfError: If it is rejected, with nothing written.
    """
    plan = _Plan(Draft(tx, scene), node="id")
    plan.plan_note(0, operation)
    plan.plan_links(0, operation)
    plan.draft.write()
    return plan.effects[0]


def _refs_of(operation: Operation) -> dict[str, str]:
    """The refs by which an operation names others, with their fields."""
    named: dict[str, NodeAddress] = {}
    match operation:
        case CreateOp():
            named = {f"links.{number}": link.other for number, link in enumerate(operation.links)}
        case LinkUpsertOp():
            named = {"source": operation.one}
            named |= {f"links.{number}": link.other for number, link in enumerate(operation.links)}
        case LinkDeleteOp():
            named = {"source": operation.one, "target": operation.other}
        case _:
            pass
    return {address.ref: field for field, address in named.items() if address.ref is not None}


def _named_in(operations: Iterable[Operation]) -> Iterator[str]:
    """The ids by which operations name notes."""
    for operation in operations:
        if isinstance(operation, EditOp | DeleteOp):
            yield operation.node_id
            continue
        ends = [link.other for link in operation.links] if isinstance(operation, CreateOp | LinkUpsertOp) else []
        if isinstance(operation, LinkUpsertOp | LinkDeleteOp):
            ends.append(operation.one)
        if isinstance(operation, LinkDeleteOp):
            ends.append(operation.other)
        yield from (address.id for address in ends if address.id is not None)


def _misnamed(operations: Mapping[int, Operation]) -> dict[int, Error]:
    """What names a note that the batch does not create, or names two alike."""
    errors: dict[int, Error] = {}
    refs: set[str] = set()
    for index, item in operations.items():
        if isinstance(item, CreateOp) and item.ref is not None:
            if item.ref in refs:
                errors[index] = _error(index, InvalidParams("ref: is that of another operation, too", field="ref"))
            refs.add(item.ref)
    for index, item in operations.items():
        for ref, field in _refs_of(item).items():
            if ref not in refs:
                text = f"{field}: no operation of this batch creates a note with this ref"
                errors[index] = _error(index, InvalidParams(text, field=field, reason="NODE_NOT_FOUND"))
    return errors


def _spread(operations: Mapping[int, Operation], errors: dict[int, Error]) -> None:
    """Reject what names the ref of a rejected operation, and what names that one's."""
    creators = {
        item.ref: index for index, item in operations.items() if isinstance(item, CreateOp) and item.ref is not None
    }
    naming: dict[int, list[tuple[int, str]]] = {}
    for index, item in operations.items():
        for ref, field in _refs_of(item).items():
            if ref in creators:
                naming.setdefault(creators[ref], []).append((index, field))
    waiting = [index for index in errors if index in naming]
    while waiting:
        for index, field in naming.get(waiting.pop(), ()):
            if index not in errors:
                text = f"{field}: the operation that creates this note was rejected"
                errors[index] = _error(index, InvalidParams(text, field=field, reason="OP_FAILED"))
                waiting.append(index)


def _error(index: int, error: ShelfError) -> Error:
    found = error_of(error)
    if (field := found["data"].get("field")) is not None:
        found["data"]["field"] = f"ops.{index}.{field}"
    return found


class _Plan:
    """Operations on a draft.

    Args:
        draft: What they are planned on.
        node: What the caller calls the note that an operation changes.

    Attributes:
        created: Notes by ref.
        effects: What the operations did, by their index.
    """

    def __init__(self, draft: Draft, node: str = "node_id") -> None:
        self.draft = draft
        self._node = node
        self.created: dict[str, Note] = {}
        self.effects: dict[int, Effect] = {}

    def carry_out(self, operations: Mapping[int, Operation]) -> dict[int, Error]:
        """Plan operations; return the errors of those that are rejected, by their index."""
        errors: dict[int, Error] = {}
        for plan in (self.plan_note, self.plan_links):
            for index, operation in operations.items():
                if index in errors:
                    continue
                try:
                    plan(index, operation)
                except ShelfError as error:
                    errors[index] = _error(index, error)
        return errors

    def plan_note(self, index: int, operation: Operation) -> None:
        """Plan what an operation does to notes."""
        match operation:
            case CreateOp():
                made = nodes.make(self.draft, operation)
                if operation.ref is not None:
                    self.created[operation.ref] = made.note
                merged, archived = list(made.merged), list(made.archived)
                effect = {"created": not merged, "merged": merged, "archived": archived}
                self.effects[index] = {"node_id": made.note.id, **effect}
            case EditOp():
                note, changed = nodes.edit(self.draft, operation.node_id, operation, self._node)
                self.effects[index] = {"node_id": note.id, "changed": changed, "rev": note.rev + changed}
            case DeleteOp():
                note = self.draft.need(operation.node_id, self._node)
                nodes.check_revision(note, operation.if_rev)
                nodes.check_editable(self.draft.scene, note, self._node)
                self.effects[index] = {"node_id": note.id, "freed": nodes.hide(self.draft, note)}
            case _:
                pass

    def plan_links(self, index: int, operation: Operation) -> None:
        """Plan what an operation does to links, once all notes are planned."""
        match operation:
            case CreateOp() if operation.links:
                note = self.draft.need(self.effects[index]["node_id"], "ref")
                self.effects[index]["added"] = self._link(note, operation.links)
            case LinkUpsertOp():
                note = self._named(operation.one, "source")
                self.effects[index] = {"node_id": note.id, "added": self._link(note, operation.links)}
            case LinkDeleteOp():
                self._unlink(index, operation)
            case _:
                pass

    def _link(self, one: Note, specs: Sequence[LinkSpec]) -> int:
        links = []
        for number, spec in enumerate(specs):
            other = self._named(spec.other, f"links.{number}.target")
            triples = ends_of(one, other, spec.relation, spec.direction, self.draft, f"links.{number}")
            now, since, until = self.draft.tx.now, spec.valid_from, spec.valid_to
            links += [Link(*triple, spec.reason, now, since, until) for triple in triples]
        return self.draft.add_links(links, "links")

    def _unlink(self, index: int, operation: LinkDeleteOp) -> None:
        one, other = self._any(operation.one, "source"), self._any(operation.other, "target")
        triples = ends_of(one, other, operation.relation, operation.direction, self.draft, "relation")
        removed = sum(self.draft.remove_link(triple) for triple in triples)
        self.effects[index] = {"node_id": one.id, "removed": removed}

    def _named(self, address: NodeAddress, field: str) -> Note:
        """The visible note of that name."""
        return self.draft.need(self._id(address), field)

    def _any(self, address: NodeAddress, field: str) -> Note:
        """The note of that name, hidden or not."""
        note_id = self._id(address)
        note = self.draft.find(note_id)
        if note is None:
            raise NoteNotFound(note_id, field=field)
        return note

    def _id(self, address: NodeAddress) -> str:
        if address.ref is None:
            return address.id or ""
        if address.ref not in self.created:
            raise InvalidParams("ref: nothing was created under it", field="ref", reason="OP_FAILED")
        return self.created[address.ref].id
