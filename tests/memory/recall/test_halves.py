"""Questions about two things: what each half asks, and that both have to be answered."""

import pytest

from fakes import Api
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.halves import halves_of

NOTES = (
    "The retro is on Friday at 15:00 in the Elbe room.",
    "The deploy is on Tuesday at 9:00, from the ops corner.",
    "Standup is every day at 9:30 in the kitchen.",
    "The canteen serves soup on Mondays.",
)
BOTH = list(NOTES[:2])


@pytest.mark.parametrize(
    ("query", "halves"),
    [
        ("when is the retro", None),
        ("where and when is the retro", None),
        ("when is the retro and why", None),
        ("when is the retro and the deploy", ("when is the retro", "when is the the deploy")),
        (
            "where and when is the retro and the deploy",
            ("where and when is the retro", "where and when is the the deploy"),
        ),
        ("who leads the retro, and where is the deploy?", ("who leads the retro", "where is the deploy?")),
        ("wann ist die Retro und das Deployment", ("wann ist die Retro", "wann ist die das Deployment")),
        ("retro and deploy", ("retro", "deploy")),
    ],
)
def test_the_second_half_asks_the_same_of_something_else(query: str, halves: tuple[str, str] | None) -> None:
    assert halves_of(query, Analyzer()) == halves


@pytest.mark.parametrize(
    "query",
    [
        "where and when is the retro and the deploy",
        "When are the retro and the deploy?",
        "when is the retro and where is the deploy?",
        "wann ist retro und deploy",
    ],
)
async def test_a_question_about_two_things_is_answered_by_two_notes(either: Api, query: str) -> None:
    for note in NOTES:
        await either.remember(note)
    found = await either.call("recall", query=query)
    assert not found["abstained"]
    assert sorted(hit["note"]["content"] for hit in found["results"] if hit["relevant"]) == sorted(BOTH)
    assert [hit["score"] for hit in found["results"]] == sorted(
        (hit["score"] for hit in found["results"]), reverse=True
    )
    few = await either.call("recall", query=query, k=2)
    assert sorted(hit["note"]["content"] for hit in few["results"]) == sorted(BOTH)
    text = (await either.call("get_context", query=query))["text"]
    assert all(note in text for note in BOTH)


@pytest.mark.parametrize("query", ["when is the retro and the wedding", "when is the wedding and the deploy"])
async def test_half_an_answer_is_none(either: Api, query: str) -> None:
    for note in NOTES:
        await either.remember(note)
    assert (await either.call("recall", query=query))["abstained"]
