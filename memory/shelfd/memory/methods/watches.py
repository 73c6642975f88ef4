"""Use cases on standing queries."""

import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import QuotaExceeded
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import change, read
from shelfd.memory.ports.watches import Watch
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.watches import WatchCreateParams, WatchDeleteParams, WatchListParams

#: Standing queries of one shelf, and of one principal among them.
MOST_WATCHES: Final = 20_000
MOST_OF_ONE: Final = 10_000


def _view(watch: Watch) -> dict[str, Any]:
    return {
        "id": watch.id,
        "query": watch.query,
        **({} if watch.nugget is None else {"nugget": watch.nugget}),
        "filters": dict(watch.filters),
        **({} if watch.min_score is None else {"min_score": watch.min_score}),
        "created_at": from_micros(watch.created_at),
        "since_seq": watch.since_seq,
    }


def _watch(params: WatchCreateParams, outcome: Mapping[str, Any], principal: str) -> Watch:
    return Watch(
        outcome["id"],
        principal,
        params.query,
        params.nugget,
        params.filters.model_dump(mode="json", exclude_defaults=True),
        params.min_score,
        outcome["created_at"],
        outcome["since_seq"],
    )


def _created(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    return {"watch": _view(_watch(cast("WatchCreateParams", call.params), changed.outcome, call.principal))}


def _begin_matching(_context: Context, shelf: Shelf, changed: Changed) -> None:
    if (watch := shelf.view.watches.get(changed.outcome["id"])) is not None:
        shelf.watching.add(watch)


def _check_names(tx: Transaction, params: WatchCreateParams) -> None:
    """Raise if what is looked for may not be stored: if something were taken out of it, something else would be."""
    tx.admit_name(params.query, "query")
    for name in ("domain", "type", "subject", "author"):
        if (said := getattr(params.filters, name)) is not None:
            tx.admit_name(said, f"filters.{name}")
    for tag in params.filters.tags:
        tx.admit_name(tag, "filters.tags")


@change("watch.create", render=_created, then=_begin_matching)
def create(tx: Transaction, params: WatchCreateParams, call: Call) -> Outcome:
    """Store a standing query."""
    if params.nugget is not None:
        get_nugget(tx.rows, params.nugget)
    _check_names(tx, params)
    watches = tx.rows.watches
    if watches.count() >= MOST_WATCHES or watches.count(call.principal) >= MOST_OF_ONE:
        message = f"a shelf has at most {MOST_WATCHES} standing queries, and a principal {MOST_OF_ONE} of them"
        raise QuotaExceeded(message, field="watches", limit=MOST_OF_ONE)
    outcome = {
        "id": f"watch-{secrets.token_hex(8)}",
        "created_at": tx.now,
        "since_seq": tx.rows.log.last_seq,
    }
    watches.add(_watch(params, outcome, call.principal))
    return outcome


@read("watch.list")
def list_watches(shelf: Shelf, params: WatchListParams, call: Call) -> dict[str, Any]:
    """Return the caller's standing queries, in the order they were made."""
    position = cursor.decode_numbers(params.cursor, 1)
    after = 0 if position is None else position[0]
    page, reached = shelf.view.watches.page(principal=call.principal, after=after, limit=params.limit)
    result: dict[str, Any] = {
        "watches": [_view(watch) for watch in page],
        "total": shelf.view.watches.count(call.principal),
    }
    return result if reached is None else result | {"next_cursor": cursor.encode(reached)}


def _end_matching(_context: Context, shelf: Shelf, changed: Changed) -> None:
    if changed.outcome["removed"]:
        shelf.watching.remove(changed.outcome["id"])


def _removed(_shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    return {"removed": changed.outcome["removed"]}


@change("watch.delete", render=_removed, then=_end_matching)
def delete(tx: Transaction, params: WatchDeleteParams, call: Call) -> Outcome:
    """Delete a standing query of the caller's; what is another's is not there."""
    watch = tx.rows.watches.get(params.id)
    is_theirs = watch is not None and watch.principal == call.principal
    return {"id": params.id, "removed": is_theirs and tx.rows.watches.delete([params.id]) > 0}
