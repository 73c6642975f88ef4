"""Takes a shelf back to what it was after one of its changes: all later ones are undone, the last one first.

That is a change like any other: what was said since is hidden and not gone, and the log goes on.
"""

import asyncio
from collections import Counter
from copy import deepcopy
from typing import Any, Final

from shelfd.memory.errors import HistoryTrimmed, InvalidParams
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Change, Store
from shelfd.memory.ports.view import View, Writer
from shelfd.memory.tending import undo

#: What of the log an undo takes back, or what leaves nothing behind.
_TAKEN_BACK: Final = ("note", "link", "nugget", "conflict", "reflection", "promotion", "schedule", "context")
_PAGE: Final = 1000


def params_to(view: View, to_seq: int) -> dict[str, Any]:
    """Return the params of the undo that takes a shelf back to what it was after change *to_seq*.

    Raises:
        InvalidParams: If there is no such change, or it is not the last one of its transaction.
        HistoryTrimmed: If the log no longer reaches back that far.
    """
    last = view.log.last_seq
    if to_seq > last:
        raise InvalidParams(f"to_seq: the last change is {last}", field="to_seq", limit=last)
    if to_seq < view.log.first_seq - 1:
        raise HistoryTrimmed(f"the log begins with change {view.log.first_seq}", first_seq=view.log.first_seq)
    following = view.log.page(since_seq=to_seq, limit=1)
    if following and following[0].tx <= to_seq:
        first, size = following[0].tx, following[0].tx_size
        raise InvalidParams(
            f"to_seq: change {to_seq} is in the middle of a transaction; {first - 1} and {first + size - 1} are not",
            field="to_seq",
        )
    return undo.new_params(first=to_seq + 1, until=last + 1, run_id=None)


async def take_back(store: Store, to_seq: int, origin: Origin) -> dict[str, Any]:
    """Take a shelf back that nobody else uses; return how an undo ended, as its cursor.

    Raises:
        InvalidParams, HistoryTrimmed: As :func:`params_to` does.
    """
    params = params_to(store.view, to_seq)
    cursor = undo.new_cursor(params)

    def some(writer: Writer, now: int) -> tuple[dict[str, Any], Transaction]:
        tx, moved = Transaction(writer, now, origin), deepcopy(cursor)
        undo.undo_some(tx, moved, params)
        return moved, tx

    while not cursor["is_over"]:
        cursor = (await store.commit(Change(origin, some))).value
    return cursor


async def untouched(view: View, *, since: int, until: int) -> dict[str, int]:
    """Count the changes after *since* up to *until*, by kind, that an undo does not take back."""
    found: Counter[str] = Counter()
    while since < until and (rows := view.log.page(since_seq=since, limit=_PAGE)):
        found.update(row.kind for row in rows if row.seq <= until and row.kind.partition(".")[0] not in _TAKEN_BACK)
        since = rows[-1].seq
        await asyncio.sleep(0)
    return dict(sorted(found.items()))


async def purged_since(view: View, seq: int) -> list[str]:
    """Return the notes that were purged after a change, in order, at most a thousand."""
    found: list[str] = []
    while len(found) < _PAGE and (rows := view.log.page(since_seq=seq, limit=_PAGE)):
        found += [row.ids[0] for row in rows if row.kind == "note.purged"]
        seq = rows[-1].seq
        await asyncio.sleep(0)
    return found[:_PAGE]
