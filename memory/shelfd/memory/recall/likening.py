"""How like a query the notes of a shelf are in meaning."""

from typing import Final

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.shelf_index import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf

#: Notes that words find first, which are compared where not all vectors are in memory.
_FIRST: Final = 200


async def likeness_of(shelf: Shelf, query: str, filters: NoteFilter) -> Likeness:
    """Return how like the query notes are: all that have vectors, or of a large shelf those that words find first.

    Raises:
        NoEmbedder: If there is none, or it is elsewhere and the nugget that is asked for is marked ``local_only``.
        EmbedderUnavailable: If it failed or took too long.
        QuotaExceeded: If it would take more tokens than are left for today.
    """
    asked = await shelf.dense.query(query, filters.nugget)
    rows: list[int] = []
    index = shelf.projection(ShelfIndex).index
    if not shelf.dense.is_held:
        parsed = index.analyzer.parse_query(query)
        scan = index.scan(parsed, filters, _FIRST)
        found = index.rank(parsed, filters, _FIRST) if scan is None else await shelf.scanner.run(scan)
        rows = [hit.row for hit in found.hits]
        rows = [*dict.fromkeys([*rows, *index.beside(rows)])]
    return await shelf.dense.likeness(asked, rows, index.neighbours)
