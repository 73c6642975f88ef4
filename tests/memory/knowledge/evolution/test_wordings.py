"""What is found by the form of a sentence, whatever its words: unlisted verbs, attributes, places, opposites, times."""

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import slots_of, wanted, withdrawing
from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.knowledge.evolution.withdrawing import withdrawals

SUPERSEDED = {Verdict.UPDATED, Verdict.CORRECTED}


def verdict(old: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("old", old, 1)])["old"].verdict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We snorkel on Sundays.", "We no longer snorkel on Sundays."),
        ("Wir zelten im Mai.", "Wir zelten im Mai nicht mehr."),
        ("Nosotros patrullamos los lunes.", "Nosotros ya no patrullamos los lunes."),
        ("The mouthpiece of the guild is Odo.", "The mouthpiece of the guild is Pell."),
        ("La contraseña del faro es mar-1.", "La contraseña del faro es mar-2."),
        ("The owl sleeps beneath Mill Bridge.", "The owl sleeps beneath Toll Bridge."),
        ("Der Ofen steht im Hof.", "Ich habe den Ofen in den Keller gestellt."),
        ("El horno está en el patio.", "He puesto el horno en el sótano."),
        ("Le four est dans la cour.", "J'ai mis le four dans la cave."),
        ("I have a Leica.", "I traded my Leica for a Nikon."),
        ("The scroll is hidden in the barn.", "The scroll is hidden behind the altar."),
        ("The relay is trusted.", "The relay is untrusted."),
        ("The forecast is issued with low certainty.", "The forecast is issued with high certainty."),
        ("The door of the mill is green.", "The door of the mill is blue."),
        ("The audit is on the last Friday of the month.", "The audit is on the first Tuesday of the month."),
        ("The pump switches on at 6:15.", "The pump switches on at 5:45."),
        ("El taller cierra a las seis.", "El taller cierra a las siete y media."),
        ("Le car part à 8 h 15.", "Le car part à 9 h."),
        ("The pass is valid until 3 May.", "The pass is valid until 9 May."),
        ("The crew has 9 members.", "The crew has 12 members after the merger."),
        ("Ida works at Volt.", "Ida changed jobs: she works at Ampere now."),
        ("The pump is offline.", "The pump got a new fuse. It is online now."),
        ("Der Leiter der Wache ist Herr Ott.", "Die Leiterin der Wache ist Frau Imm."),
        ("Der Stromausfall dauerte 12 Minuten.", "Korrektur: Der Stromausfall dauerte 21 Minuten, nicht 12."),
        ("The talk is on Friday.", "The talk on Friday was cancelled."),
    ],
)
def test_a_wording_is_understood_and_what_it_ends_is_found_by_its_slots(old: str, new: str) -> None:
    assert verdict(old, new) in SUPERSEDED
    said = read(new)
    assert not {*wanted(said), *withdrawing(withdrawals(new, said))}.isdisjoint(slots_of(read(old)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The talk on Friday is in hall B.", "The talk on Friday was cancelled."),
        ("My cousin is Odo.", "My cousin is Pell."),
        ("Kite is linked to the Quarry campaign.", "Kite is linked to the Meadow campaign."),
        ("The user wants a weekly summary.", "The user wants answers in Danish from now on."),
        ("Ida owns a kiln.", "Ida now owns a loom."),
        ("Ida has a red scarf.", "Ida has a blue scarf."),
        ("Ida likes hot soup.", "Ida likes cold soup."),
        ("The mill opens at nine on Mondays.", "The mill opens at ten on Sundays."),
        ("The talk is on Thursday.", "The talk on Friday was cancelled."),
        ("Ida has a new tablet.", "Ida gave the old tablet to Odo."),
        ("Ida met Odo.", "Ida met Odo. She lives in Turku."),
        ("Odo lives in Pori.", "Ida married Odo. He lives in Turku."),
        ("The gate is shut.", "The gate is closed."),
        ("The mower works fine.", "The mower has been repaired."),
        ("The shop opens at 9:00.", "The shop opens at 9 am."),
        ("Hay dos gatos en la granja.", "Hay 2 gatos en la granja."),
        ("Ida quiere mudarse a Lugo.", "Ida quiere mudarse a Vigo."),
        ("Ida sold the cart for 300 euros.", "Ida sold the cart for 400 euros."),
        ("The crew has 9 members in Turku.", "The crew has 12 members in Pori."),
    ],
)
def test_near_misses_of_these_stay(old: str, new: str) -> None:
    assert verdict(old, new) not in SUPERSEDED


def test_who_dislikes_what_was_liked_contradicts() -> None:
    assert verdict("Ida likes fennel.", "Ida dislikes fennel.") is Verdict.CONFLICT


def test_numbers_that_are_left_out_of_what_is_read_make_no_duplicate() -> None:
    assert verdict("Sold the cart for 300 euros.", "Sold the cart for 400 euros.") is Verdict.STAYS
    assert verdict("Sold the cart for 300 euros.", "I sold the cart for 300 euros.") is not Verdict.STAYS


@pytest.mark.parametrize(
    ("language", "form", "infinitive", "told"),
    [
        ("es", "patrullamos", "patrullar", False),
        ("es", "resistieron", "resistir", True),
        ("fr", "remplissent", "remplir", False),
        ("fr", "jardinait", "jardiner", True),
        ("fr", "veut", "vouloir", False),
    ],
)
def test_regular_verbs_are_given_by_their_infinitives(language: str, form: str, infinitive: str, told: bool) -> None:
    assert lexicon(language).verbs[form] == (infinitive, told)
