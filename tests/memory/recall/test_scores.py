"""Scores say the same of a note and a question wherever and whenever they are asked."""

import random
from collections.abc import Callable, Sequence
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.notes import DAY, MAY_7_2023, index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Document, RecallIndex
from shelfd.memory.recall.document import Hit
from shelfd.memory.recall.rarity import rarities

#: What is asked about, with neighbours, and what is beside it.
KNOWN = [
    note(1, "Where did you leave the green bicycle?", session="s", turn=1, author="Ana"),
    note(2, "Behind the boathouse, and it is locked.", session="s", turn=2, author="Bo"),
    note(3, "The boiler is serviced every October by Mr. Okafor.", author="Ana"),
    note(4, "CVE-2024-3094 is fixed in version 5.6.2."),
]
QUESTIONS = [
    "where is the green bicycle",
    "who services the boiler in October?",
    "CVE-2024-3094",
    "is the boathouse locked",
]
#: What else a large shelf holds: words of the questions, but never two of one.
OTHERS = "boiler bicycle green october boathouse service lock kettle meeting train garden report Bo Ana".split()


def others(count: int, nugget: str = "memory", seed: int = 3) -> list[Document]:
    rng = random.Random(seed)
    filler = [f"word{number}" for number in range(500)]
    return [
        note(
            1000 + row, " ".join([rng.choice(OTHERS), *rng.choices(filler, k=5)]), nugget=nugget,
            author=rng.choice(["Ana", "Cy", None]), when=MAY_7_2023 + row * DAY // 50,
        )
        for row in range(count)
    ]  # fmt: skip


def best(index: RecallIndex, query: str, nugget: str | None = None) -> Hit:
    return index.search(query, RECALLABLE._replace(nugget=nugget), 5, explain=True).hits[0]


def test_a_score_is_the_same_on_a_shelf_of_a_hundred_and_of_twenty_thousand_notes() -> None:
    index = index_of(*KNOWN, *others(96))
    small = [best(index, query) for query in QUESTIONS]
    index.extend(others(20_000))
    large = [best(index, query) for query in QUESTIONS]
    assert [hit.id for hit in large] == [hit.id for hit in small]
    assert [hit.score for hit in large] == pytest.approx([hit.score for hit in small], abs=1e-9)


def test_a_score_is_the_same_in_another_nugget_and_at_another_time() -> None:
    index = index_of(*KNOWN, *others(500))
    scores = [best(index, query).score for query in QUESTIONS]
    moved = [one._replace(row=one.row + 50, id=f"{one.id}b", nugget="other", when=one.when + 30 * DAY) for one in KNOWN]
    index.extend([*moved, *others(50, nugget="other", seed=4)])
    assert [best(index, query, "other").score for query in QUESTIONS] == pytest.approx(scores, abs=1e-9)
    assert [best(index, query, "memory").score for query in QUESTIONS] == pytest.approx(scores, abs=1e-9)


@given(st.lists(st.sampled_from(others(200)), max_size=30, unique_by=lambda one: one.row), st.sampled_from(QUESTIONS))
def test_whatever_else_there_is_the_best_note_has_the_score_it_has_alone(some: Sequence[Document], query: str) -> None:
    alone, among = best(index_of(*KNOWN), query), best(index_of(*KNOWN, *some), query)
    assert among.id == alone.id
    assert among.score == pytest.approx(alone.score, abs=1e-9)


def test_a_note_that_is_not_the_best_keeps_about_its_score() -> None:
    rest = [note(5, "The green bicycle has a flat tyre."), note(6, "A bicycle shop opened.")]
    small, large = index_of(*KNOWN, *rest, *others(90)), index_of(*KNOWN, *rest, *others(5_000))

    def scores(index: RecallIndex) -> dict[str, float]:
        return {hit.id: hit.score for hit in index.search("where is the green bicycle", RECALLABLE, 6_000).hits}

    before, after = scores(small), scores(large)
    assert {name: after[name] for name in ("n0001", "n0005", "n0006")} == pytest.approx(
        {name: before[name] for name in ("n0001", "n0005", "n0006")}, abs=0.06
    )


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("green boat", "green bicycle"),  # one word of two, and both
        ("a walk in the green park by the old mill with the green bicycle of his late uncle", "green bicycle"),
    ],
)
def test_who_says_more_of_it_scores_higher(less: str, more: str) -> None:
    score: Callable[[str], float] = lambda text: best(index_of(note(1, text)), "green bicycle").score  # noqa: E731
    assert 0 < score(less) < score(more) < 1


def test_words_nobody_ever_used_count() -> None:
    index = index_of(*KNOWN)
    assert best(index, "green bicycle zeppelin").score < 0.8 * best(index, "green bicycle").score


def test_scores_are_descending_and_their_signals_add_up() -> None:
    hits = index_of(*KNOWN, *others(300)).search("who left the green bicycle?", RECALLABLE, 50, explain=True).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(abs(sum(hit.signals.values()) - hit.score) < 1e-9 for hit in hits)


def test_the_table_is_that_of_its_version() -> None:
    """Whoever changes the table raises its version: scores by different ones do not compare."""
    table = rarities("english")
    known = crc32(repr(sorted((term, round(value, 6)) for term, value in table.known.items())).encode())
    assert (table.version, known) == (1, 1794278095)


def test_a_common_word_is_less_than_a_rare_one_and_another_language_knows_none() -> None:
    table = rarities("english")
    assert 0 < table.of("has") < table.of("work") < table.of("zeppelin") == 1
    assert rarities("german").version == 0 < rarities("german").of("haus") == 1
