"""Queries for all that is known of something: what of them is looked for."""

import pytest

from fakes import Api
from shelfd.memory.recall.frames import subject_of


@pytest.mark.parametrize(
    "query",
    [
        "tell me about {}",
        "Can you tell me about {}",
        "What do you know about {}?",
        "What do we know about {}?",
        "what should I know about {}?",
        "What do I need to know about {}?",
        "remind me of {}",
        "brief me on {}",
        "fill me in on {}",
        "everything about {}",
        "anything new about {}?",
        "is there anything about {}?",
        "give me an overview of {}",
        "show me all notes about {}",
        "summarize {}",
        "Do you remember {}?",
        "help me prepare for {}",
        "Was weißt du über {}?",
        "Was muss ich über {} wissen?",
        "Erzähl mir alles über die {}",
        "Was gibt es Neues zu {}?",
        "¿Qué sabes de {}?",
        "Cuéntame todo sobre los {}",
        "Que sais-tu de {} ?",
        "Parle-moi d'{}",
        "关于{}你知道什么",
        "{}について教えてください",
    ],
)
def test_what_asks_for_all_is_not_looked_for(query: str) -> None:
    for subject in ("Aquila", "Halvorsen Marine"):
        assert subject_of(query.format(subject)).strip(" ?") == subject


@pytest.mark.parametrize(
    "query",
    [
        "", "tell me", "what do we know?", "remind me to call Ana", "Do you remember where the key is?",
        "what did Ana tell me about the boat", "prepare for the exam", "describe", "王芳喜欢什么",
        "who told you about the release", "Know-how", "does Ana know about it",
    ],
)  # fmt: skip
def test_other_queries_are_looked_for_whole(query: str) -> None:
    assert subject_of(query) is query


async def test_who_asks_for_all_about_something_gets_it(either: Api) -> None:
    release = "The release of Larkspur is on 27 November."
    for text in (release, "Ana, also known as Nan, bought a kettle.", "Do not tell the children.", "Bob needs glue."):
        await either.remember(text)
    for query in (
        "tell me about the release",
        "What do I need to know about the release?",
        "Was weißt du über Larkspur?",
    ):
        found = await either.call("recall", query=query)
        assert [(one["note"]["content"], one["relevant"]) for one in found["results"]] == [(release, True)]
        assert release in (await either.call("get_context", query=query))["text"]
    nothing = await either.call("recall", query="what do we know about zebras?")
    assert nothing["results"] == []


@pytest.mark.parametrize("part", [" ", "please ", "alles ", "about ", "について教えて", "关于", "all of "])
def test_no_query_takes_long(part: str) -> None:
    for query in ("please" + part * 2_000_000, "erzähl mir " + part * 2_000_000):
        subject_of(query)  # what goes back and forth takes longer than a test may
