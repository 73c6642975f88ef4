"""Use cases on nuggets."""

from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import DuplicateNugget
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import change, read
from shelfd.memory.methods.render import nugget_view
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Nugget
from shelfd.memory.shelf.counts import ShelfCounts
from shelfd.memory.shelf.nuggets import get_nugget, rename_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.tending.nuggets import check_free
from shelfd.protocol import PageParams
from shelfd.protocol.methods.nuggets import (
    NuggetCreateParams,
    NuggetEditParams,
    NuggetFactsParams,
    NuggetReadParams,
    NuggetRenameParams,
)

_EDITABLE: Final = ("local_only", "max_facts", "ttl_days")


def _show(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    # It may have been renamed or removed since, even before this answer was made.
    nugget = shelf.view.nuggets.get(changed.outcome["name"]) or Nugget(*changed.outcome["nugget"])
    return _status(shelf, nugget)


def _status(shelf: Shelf, nugget: Nugget) -> dict[str, Any]:
    counts = shelf.exact(ShelfCounts)
    return nugget_view(nugget, (shelf.view.nuggets.counts if counts is None else counts.nugget)(nugget.name))


@change("nugget.create", render=_show)
def create(tx: Transaction, params: NuggetCreateParams, _call: Call) -> Outcome:
    """Make a nugget."""
    if tx.rows.nuggets.get(params.name) is not None:
        raise DuplicateNugget(params.name)
    nugget = Nugget(
        params.name,
        dimension=params.dimension,
        banks=params.banks,
        ensembles=params.ensembles,
        max_facts=params.max_facts,
        ttl_days=params.ttl_days,
        created_at=tx.now,
        local_only=params.local_only,
    )
    tx.admit_name(params.name, "name")
    tx.create_nugget(nugget)
    return _outcome(nugget)


def _outcome(nugget: Nugget) -> Outcome:
    return {"name": nugget.name, "nugget": list(nugget)}


@change("nugget.edit", render=_show)
def edit(tx: Transaction, params: NuggetEditParams, _call: Call) -> Outcome:
    """Change what holds for a nugget."""
    wanted = {name: getattr(params, name) for name in _EDITABLE if name in params.model_fields_set}
    nugget = get_nugget(tx.rows, params.name)._replace(**wanted)
    tx.change_nugget(nugget)
    return _outcome(nugget)


@read("nugget.list")
def list_nuggets(shelf: Shelf, params: PageParams, _call: Call) -> dict[str, Any]:
    """Return a page of nuggets by name."""
    found = shelf.view.nuggets.page(after=cursor.decode_text(params.cursor) or "", limit=params.limit + 1)
    result: dict[str, Any] = {"nuggets": [_status(shelf, nugget) for nugget in found[: params.limit]]}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(found[params.limit - 1].name)
    return result


@read("nugget.status")
def status(shelf: Shelf, params: NuggetReadParams, _call: Call) -> dict[str, Any]:
    """Return what a nugget holds."""
    return _status(shelf, get_nugget(shelf.view, params.name))


@read("nugget.facts")
def facts(shelf: Shelf, params: NuggetFactsParams, _call: Call) -> dict[str, Any]:
    """Return the visible facts of a nugget in the order they were first given."""
    get_nugget(shelf.view, params.name)
    position = cursor.decode_numbers(params.cursor, 1)
    after = None if position is None else (position[0], position[0])
    wanted = NoteFilter(nugget=params.name, kind="fact", include_superseded=False)
    found = shelf.view.notes.page(wanted, order="row", descending=False, after=after, limit=params.limit + 1)
    page = found[: params.limit]
    usage = shelf.usage.of(page)
    shown = [
        {
            "key": note.title,
            "value": note.content,
            "hits": usage[note.row].hits if note.row in usage else 0,
            "note_id": note.id,
        }
        for note in page
    ]
    result: dict[str, Any] = {"facts": shown}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1].row)
    return result


@change("nugget.rename", render=_show)
def rename(tx: Transaction, params: NuggetRenameParams, _call: Call) -> Outcome:
    """Give a nugget another name; ids of its notes stay."""
    nugget = get_nugget(tx.rows, params.name)
    if params.new_name == params.name:
        return _outcome(nugget)
    if tx.rows.nuggets.get(params.new_name) is not None:
        raise DuplicateNugget(params.new_name)
    tx.admit_name(params.new_name, "new_name")
    check_free(tx, params.name)
    rename_nugget(tx, params.name, params.new_name)
    return _outcome(nugget._replace(name=params.new_name))
