"""What a note names as ended: by which words, how, and what of the note says so."""

import pytest

from shelfd.memory.knowledge.evolution.ending import Ending, clauses_of, cues, phrases_in
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.withdrawing import LANGUAGES, looked_for, withdrawals


def named(text: str) -> list[tuple[Ending, str]]:
    """Return how *text* names something as ended, and the words it is named by."""
    return [(each.kind, " ".join(word for word, _ in each.phrase)) for each in withdrawals(text, read(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The hall is no longer lit by gas.", [(Ending.ENDS, "lit by gas")]),
        ("Odo left the guild.", [(Ending.LEAVES, "the guild")]),
        ("Odo's lease in Salo has lapsed.", [(Ending.ENDED, "has salo in lease odo")]),
        ("The file was wrongly tagged as Rook.", [(Ending.NEVER, "tagged as rook")]),
        ("The key was never in the safe.", [(Ending.NEVER, "in the safe")]),
        ("The sword is made of iron, not of bronze.", [(Ending.DENIES, "of bronze")]),
        ("The rent is 900 euros, formerly 820.", [(Ending.WAS, "820")]),
        ("Odo moved from Salo to Rome.", [(Ending.ENDS, "salo")]),
        ("Das Archiv wird nicht mehr von Frau Lenk geleitet.", [(Ending.ENDS, "von frau lenk geleitet")]),
        ("El archivo ya no usa fichas.", [(Ending.ENDS, "usa fichas")]),
        ("Le mot de passe du coffre a été noté.", []),  # "passe" tells of no change there
        ("The lamp is not red.", []),  # denied, and nothing put in its place
        ("Odo may leave the guild.", []),
        ("Did Odo leave the guild?", []),
        ("According to Pell, Odo left the guild.", []),
        ("Odo still uses the old quill instead of a pen.", []),
        ("Yesterday Odo rode the mule instead of the horse.", []),
        ("Odo left the guild in 1990, long before that.", []),
    ],
)
def test_what_is_named_as_ended(text: str, expected: list[tuple[Ending, str]]) -> None:
    assert named(text) == expected


def test_a_word_that_tells_of_an_end_counts_only_where_it_does() -> None:
    words = lexicon("en")
    over = [list(phrases_in(clause, words)) for clause in clauses_of("Odo handed the keys over to Pell.", "en")]
    assert all(phrase.kind is not Ending.ENDED for found in over for phrase in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_words_for_each_way_in_which_something_ends(language: str) -> None:
    kinds = {kind for phrases in cues(language).phrases.values() for _, kind, _ in phrases}
    assert kinds == set(Ending)


def test_what_is_looked_for_is_bounded() -> None:
    text = "No longer " + ", no longer ".join(f"a{n} b{n} c{n} d{n} e{n}" for n in range(40)) + " in Salo."
    found = withdrawals(text, read(text))
    assert len(found) <= 8
    assert sum(len(kinds) for _, _, kinds in looked_for(found)) <= 256
