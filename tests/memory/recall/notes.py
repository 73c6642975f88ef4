"""Documents for tests: everything has a default, the row gives the id."""

from typing import Any

from shelfd.memory.recall import Analyzer, Document, RecallIndex

DAY = 86_400_000_000  # microseconds
MAY_7_2023 = 19_484 * DAY

_PLAIN = Document(
    row=0, id="", nugget="memory", session=None, turn=None, author=None, when=MAY_7_2023, text="", kind="note",
    type="fact", subject="", scope="shelf", domain="", tags=(), hidden=False, superseded=False, expires_at=None,
)  # fmt: skip


def note(row: int, text: str, **fields: Any) -> Document:
    return _PLAIN._replace(**{"row": row, "id": f"n{row:04}", "text": text, **fields})


def index_of(*documents: Document, **options: Any) -> RecallIndex:
    index = RecallIndex(Analyzer(), **options)
    for document in documents:
        index.put(document)
    return index
