"""The retriever for LangChain, by that library's own suite for retrievers, and what that does not ask."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from running import Daemon
from shelfd.client.langchain import ShelfdRetriever

LINES = ("The kettle is green.", "The kettle whistles.", "The kettle is new.", "The kettle stands on the stove.")


@pytest.fixture(scope="module", autouse=True)
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("d")) as running:
        for line in LINES:
            running.call("remember", content=line, nugget="kitchen")
        running.call("remember", content="The kettle of the neighbours is red.", nugget="next-door")
        TestRetriever.socket = running.socket
        yield running


class TestRetriever(RetrieversIntegrationTests):
    socket: ClassVar[str] = ""

    @property
    def retriever_constructor(self) -> type[ShelfdRetriever]:
        return ShelfdRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"socket": self.socket, "nugget": "kitchen"}

    @property
    def retriever_query_example(self) -> str:
        return "What is said of the kettle?"


def test_a_document_is_a_note(daemon: Daemon) -> None:
    retriever = ShelfdRetriever(socket=daemon.socket, nugget="next-door", k=3)
    (document,) = retriever.invoke("Which colour has the neighbours' kettle?")
    assert document.page_content == "The kettle of the neighbours is red."
    assert document.id == document.metadata["id"]
    assert document.metadata["nugget"] == "next-door"
    assert document.metadata["relevant"]
    assert 0 < document.metadata["score"] <= 1


def test_nothing_may_be_what_is_relevant(daemon: Daemon) -> None:
    retriever = ShelfdRetriever(socket=daemon.socket, only_relevant=True, params={"focus": "off"})
    assert retriever.invoke("Which colour has the neighbours' kettle?")
    assert retriever.invoke("Who won the chess tournament in Orm?") == []
