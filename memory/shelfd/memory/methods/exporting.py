"""Use case: shelf.export."""

from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.methods.registry import read
from shelfd.memory.moving.export import next_page
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.exporting import ShelfExportParams


@read("shelf.export")
async def export(shelf: Shelf, params: ShelfExportParams, _call: Call) -> dict[str, Any]:
    """Return some of the shelf's notes, as one moment had them."""
    return await next_page(shelf, params.cursor, limit=params.limit, has_marks=params.marks, has_states=params.states)
