"""What something has one of, told by noun or by verb; what a measure and a name are of; in which language a note is."""

from collections import Counter

import pytest

from shelfd.memory.knowledge.evolution.attributes import attribute_of
from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.language import language_of
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, lexicon, load
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.tokens import tokenise
from shelfd.memory.knowledge.evolution.verdicts import Verdict


def verdict(older: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict


@pytest.mark.parametrize(
    "texts",
    [
        ("The licence of Kite is MIT.", "Kite is licensed under MIT.", "Licence of Kite: MIT"),
        ("Ida's insurer is Meridian.", "Ida is insured with Meridian."),
        ("Der Name des Schiffs ist Möwe.", "Das Schiff heißt Möwe."),
        ("El nombre del barco es Gaviota.", "El barco se llama Gaviota."),
        ("Le nom du chat d'Odile est Ravel.", "Le chat d'Odile s'appelle Ravel."),
    ],
)
def test_an_attribute_is_the_same_by_noun_and_by_verb(texts: tuple[str, ...]) -> None:
    told = [attribute_of(read(text)[0]) for text in texts]
    assert all(told)
    assert len({(each.about, each.value) for each in told if each is not None}) == 1
    assert verdict(*texts[:2]) is Verdict.DUPLICATE


@pytest.mark.parametrize(
    "text",
    [
        "Kite may be licensed under MIT.",
        "Kite is not licensed under MIT.",
        "Kite was licensed under MIT before 2019.",
        "The wheel turns.",
    ],
)
def test_what_is_denied_supposed_or_long_past_is_no_attribute(text: str) -> None:
    assert attribute_of(read(text)[0]) is None


def test_what_happened_on_two_dates_is_a_conflict_and_what_will_happen_a_change() -> None:
    assert verdict("Ella was christened on 9 June 2013.", "Ella was christened on 2 June 2013.") is Verdict.CONFLICT
    assert verdict("The review is on 9 June.", "The review was moved to 16 June.") is Verdict.UPDATED
    assert verdict("Ida's birthday is 9 October.", "Ida has her birthday on October 9th.") is Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Tom n'a plus d'appareil dentaire.", "fr"),
        ("Le projet a repris.", "fr"),
        ("Marta pone leche de avena en el café.", "es"),
        ("A Inés le gusta la novela negra.", "es"),
        ("La novela transcurre en Lyon.", "es"),
        ("Miete: 940 €", "de"),
        ("Hausverwaltung: Firma Kessel & Partner.", "de"),
        ("gate: B22", "en"),
        ("Rocío prefers WhatsApp.", "en"),
        ("José: gold card", "en"),
        ("Timeout am Gateway Otter:", "de"),
        ("Standup: 9 am", "en"),
        ("Alarm 6:30 am -> 7 am", "en"),
        ("I am late", "en"),
        ("Code PIN du portail :", "fr"),
        ("status : green", "en"),
    ],
)
def test_a_language_is_told_by_its_words_and_else_by_how_it_is_written(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ('The title is "The Cinder Coast".', "en", ["the", "title", "is", "the_cinder_coast"]),
        ("We ship to the US.", "en", ["we", "ship", "to", "the", "US"]),
        ("Die Lizenz ist MIT.", "de", ["die", "lizenz", "ist", "MIT"]),
        ("Svenjas Tablet ist neu.", "de", ["svenja", "tablet", "ist", "neu"]),
        ("Jonas Tablet ist neu.", "de", ["jonas", "tablet", "ist", "neu"]),
        ("Check-in im Haus Seeblick", "de", ["check-in", "im", "haus", "seeblick"]),
    ],
)
def test_titles_acronyms_and_genitives_are_words_of_their_own(text: str, language: str, words: list[str]) -> None:
    assert tokenise(text, lexicon(language)).words == words


@pytest.mark.parametrize("language", ALPHABETIC)
@pytest.mark.parametrize("name", ["attributes", "held"])
def test_a_verb_tells_of_one_attribute(language: str, name: str) -> None:
    groups = [group.partition("/")[2] for group in load(f"{language}.json")[name].split("|")]
    times = Counter(verb for group in groups for verb in group.split() if verb != "/")
    assert [verb for verb, count in times.items() if count > 1] == []
