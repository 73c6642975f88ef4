"""Whether an answer can be used, and how good it is, whatever object it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.synthesis.quality import errors_of, quality_of


def answer(text: str = "At five.", confidence: float = 0.8, sources: int = 2) -> dict[str, Any]:
    return {
        "format": "direct_answer",
        "synthesis": {"answer": text, "confidence": confidence, "sources": ["note-0"][:sources]},
        "sources": [{"note_id": f"note-{number}"} for number in range(sources)],
    }


def test_an_answer_with_sources_is_valid() -> None:
    assert errors_of(answer()) == []
    assert errors_of(answer(confidence=0.3, sources=20)) == []


@pytest.mark.parametrize(
    ("response", "field"),
    [
        ({}, "synthesis"),
        ({"synthesis": "five"}, "synthesis"),
        (answer(confidence=0.29), "synthesis.confidence"),
        (answer(confidence=1.1), "synthesis.confidence"),
        (answer(sources=0), "sources"),
        (answer(sources=21), "sources"),
        ({**answer(), "format": "essay"}, "format"),
        ({**answer(), "sources": [{"note_id": 7}]}, "sources.0.note_id"),
        ({**answer(), "sources": [{"note_id": "another"}]}, "synthesis"),
        ({**answer(), "synthesis": {"answer": "x", "confidence": True}}, "synthesis.confidence"),
        ({**answer(), "synthesis": {"answer": "x", "confidence": "high"}}, "synthesis.confidence"),
        (answer(""), "synthesis"),
    ],
)
def test_what_is_wrong_is_named(response: dict[str, Any], field: str) -> None:
    assert field in [error.split(":")[0] for error in errors_of(response)]


def test_the_score_is_made_of_three_parts() -> None:
    full = quality_of(answer(confidence=0.7, sources=5))
    assert (full.score, full.grade) == (1.0, "EXCELLENT")
    less = quality_of(answer(confidence=0.35, sources=1))
    assert less.components == {"confidence": 0.5, "sources": 0.2, "completeness": 1.0}
    assert (less.score, less.grade) == (0.56, "GOOD")
    assert quality_of(answer(confidence=0.1, sources=1)).grade == "NEEDS_WORK"


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "I don't know.", "I don\u2019t know", "I do not know when.", "No specific answer found for: tea...",
        "Unknown.", "N/A", "Not enough information.", "No relevant memories found.", "Ich weiß es nicht.",
        "Nothing is known about that.", "I cannot answer this from the notes.",
        "I'm sorry, but I don't know.", "Unfortunately, I could not find that.", "I'm not sure when it was.",
        "There is no information about the boat in the notes.", "The provided notes do not mention a boat.",
        "I have no idea.", "We don't have any record of that.", "Das weiß ich nicht.", "Ich weiss es leider nicht.",
        "Leider liegen dazu keine Notizen vor.", "Darüber ist nichts bekannt.", "No lo sé.", "No se",
        "Lo siento, no tengo información.", "Je ne sais pas.", "Désolé, je n'en sais rien.", "我不知道。",
        "没有相关信息。", "わかりません。", "情報がありません。",
    ],
)  # fmt: skip
def test_no_answer_needs_work_whatever_sources_it_names(text: str) -> None:
    quality = quality_of(answer(text, confidence=0.9, sources=20))
    assert quality.grade == "NEEDS_WORK"
    assert quality.score <= 0.3
    assert errors_of(answer(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "No notes are taken on Mondays.",
        "Unknown attackers used it.",
        "I know: at five.",
        "No answer was given by Kim.",
        "There is no record of rain in May; it snowed.",
        "The notes do not mention Kim, but say that it is at five.",
        "Ich weiß, dass es um fünf ist.",
        "No se permite fumar.",
        "Je ne mange pas de noix.",
    ],
)
def test_what_only_sounds_like_it_is_an_answer(text: str) -> None:
    assert quality_of(answer(text, sources=5)).grade == "EXCELLENT"


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["synthesis", "sources", "confidence", "answer", "note_id", "format", "themes"]), children
        )
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["synthesis", "sources", "format", "x"]), json))
def test_any_object_may_be_asked_about(response: dict[str, Any]) -> None:
    assert all(isinstance(error, str) for error in errors_of(response))
    quality = quality_of(response)
    assert 0 <= quality.score <= 1
