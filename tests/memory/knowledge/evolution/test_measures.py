"""What is told of one thing in other words, another order or by another verb, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.measures import measure_of
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import slots_of, wanted
from shelfd.memory.knowledge.evolution.verdicts import Verdict

SUPERSEDED = {Verdict.UPDATED, Verdict.CORRECTED}


def verdict(old: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("old", old, 1)])["old"].verdict


OTHERWISE = [
    ("Nika weighs 31 kilos.", "Nika's weight is 33.5 kg."),
    ("IP address of the attic router: 10.0.8.3.", "The router in the attic answers at 10.0.8.9."),
    ("The porch thermostat runs firmware 2.1.4.", "Firmware of the porch thermostat: 2.2.0."),
    ("We pay 640 euros rent a month for the studio.", "Rent for the studio is 690 euros a month."),
    ("Mail logs are retained for 30 days.", "Retention of the mail logs is 45 days."),
    ("settings.toml sets max_workers to 8.", "max_workers in settings.toml is 12."),
    ("Seat for the concert in Graz: C14.", "The seat for the concert in Graz is D2."),
    ("Für die Werkstatt zahlen wir 300 Euro Miete.", "Die Miete der Werkstatt beträgt 340 Euro."),
    ("El precio del trastero es 60 euros.", "El trastero cuesta 75 euros."),
]
APART = [
    ("Dorn owes the miller four silver.", "The miller owes Dorn nine silver."),
    ("The bus to Linz leaves at 7:10.", "The bus from Linz departs at 8:20."),
    ("Check-in is at 14:00.", "Check-out is at 11:00."),
    ("Build 512 failed.", "Build 513 failed."),
    ("Nika weighs 31 kilos.", "Nika's brother weighs 33 kilos."),
    ("The porch thermostat runs firmware 2.1.4.", "The app of the porch thermostat runs 2.2.0."),
    ("Rent for the studio is 640 euros.", "The deposit for the studio is 900 euros."),
    ("In act one the prince is 19 years old.", "In act two the prince is 24 years old."),
    ("I paid 30 euros for the tickets.", "For the tickets I paid 45 euros."),
]


@pytest.mark.parametrize(("old", "new"), OTHERWISE)
def test_another_measure_of_the_same_supersedes_whatever_the_words(old: str, new: str) -> None:
    assert verdict(old, new) in SUPERSEDED
    assert set(slots_of(read(old))) & set(wanted(read(new)))


@pytest.mark.parametrize(("old", "new"), APART)
def test_a_measure_of_something_else_stays(old: str, new: str) -> None:
    assert verdict(old, new) is Verdict.STAYS


@pytest.mark.parametrize(("old", "new"), OTHERWISE)
def test_the_same_measure_in_other_words_is_a_repetition(old: str, new: str) -> None:
    first, again = measure_of(read(old)[0]), measure_of(read(new)[0])
    assert first is not None
    assert again is not None
    assert (first.kind, first.about) == (again.kind, again.about)


def test_two_measures_of_what_happened_once_are_a_conflict() -> None:
    old, new = "The outage on 4 July began at 02:10.", "The 4 July outage started at 03:40."
    assert verdict(old, new) is Verdict.CONFLICT
    assert verdict(old, f"Correction: {new}") is Verdict.CORRECTED
    assert verdict(old, "The 4 July outage started at 02:10.") is Verdict.DUPLICATE


@given(st.sampled_from(OTHERWISE), st.sampled_from(OTHERWISE))
def test_measures_of_different_things_have_nothing_to_do_with_each_other(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    for old in one:
        for new in other:
            assert one is other or verdict(old, new) is Verdict.STAYS
