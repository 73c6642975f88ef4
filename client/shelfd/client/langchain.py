"""A retriever for LangChain: what recall finds, as documents. Needs the extra ``langchain``."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from shelfd.client.transport import connect


class ShelfdRetriever(BaseRetriever):
    """Notes that fit a query, best first.

    A document's text is the note's; its metadata are the note's other fields, with ``score`` (0 to 1) and ``relevant``,
    whether it probably says what is asked.

    Attributes:
        socket: The daemon's; None looks in the usual places.
        k: Documents at most, also as ``retriever.invoke(query, k=…)``.
        only_relevant: Leave out what is not ``relevant``: nothing, where nothing says what is asked.
        params: Further params of ``recall``, like ``{"tags": ["work"]}``.
    """

    socket: str | None = None
    shelf: str = "default"
    nugget: str | None = None
    k: int = 10
    only_relevant: bool = False
    params: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager  # it is told by the base class
        params = {"shelf": self.shelf, **self.params, "query": query, "k": self.k if k is None else k}
        if self.nugget is not None:
            params["nugget"] = self.nugget
        with connect(self.socket) as client:  # a retriever is never closed
            found = client.call("recall", params)
        return [_document(hit) for hit in found["results"] if hit["relevant"] or not self.only_relevant]


def _document(hit: dict[str, Any]) -> Document:
    note = dict(hit["note"])
    content = note.pop("content")
    metadata = {**note, "score": hit["score"], "relevant": hit["relevant"]}
    return Document(page_content=content, id=note["id"], metadata=metadata)
