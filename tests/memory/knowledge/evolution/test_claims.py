"""Two sources that claim the same but for one thing contradict each other, and nothing that is claimed ends a fact."""

import pytest

from fakes import Api
from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import slots_of, wanted
from shelfd.memory.knowledge.evolution.stated import decode, encode
from shelfd.memory.knowledge.evolution.verdicts import Verdict


def verdict(older: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("According to Ida, nine people came to the fair.", "According to Odo, twelve people came to the fair."),
        ("Ida says that the mill was tested on 12 April.", "Odo says that the mill was not tested on 12 April."),
        ("Ida says the mill failed at 02:40.", "The mill failed at 03:10, says Odo."),
        ("Ida's sister says Ida loves olives.", "Ida's brother says Ida hates olives."),
        ("Minutes by Ida: 5 members came to the vote.", "Minutes by Odo: 7 members came to the vote."),
        ("Laut Ida hat die Glocke 400 Euro gekostet.", "Laut Odo hat die Glocke 300 Euro gekostet."),
        ("Ida erzählt, dass zwei Reiter am Hof waren.", "Odo erzählt, dass drei Reiter am Hof waren."),
        ("Según Ida, el molino estuvo abierto el lunes.", "Según Odo, el molino estuvo cerrado el lunes."),
        ("D'après Ida, Odo aime les champignons.", "D'après Pell, Odo n'aime pas les champignons."),
    ],
)
def test_two_sources_that_exclude_each_other_are_a_conflict_that_is_found(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.CONFLICT
    assert not {*wanted(read(new))}.isdisjoint(slots_of(read(older)))


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("According to Ida, nine people came to the fair.", "According to Odo, nine people came to the fair."),
        ("According to Ida, nine people came to the fair.", "According to Ida, twelve people came to the fair."),
        ("According to Ida, nine people came to the fair.", "According to Odo, nine people came to the market."),
        ("Ida says that Pell likes olives.", "Odo says that Pell likes figs."),
        ("Ida says the fair on 6 May had 9 guests.", "Odo says the fair on 7 May had 9 guests."),
        ("Ida says the fair on 6 May had 9 guests.", "Odo says the fair on 7 May had 12 guests."),
        ("Ida writes all her letters in blue.", "Odo writes all his letters in blue."),
        ("The fair had 9 guests.", "Odo says the fair had 12 guests."),
    ],
)
def test_what_may_both_be_so_is_none_and_a_claim_ends_nothing(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.STAYS


@pytest.mark.parametrize(
    "text",
    [
        "According to Ida, nine people did not come on 6 May.",
        'Ida says that "The Cinder Coast" is loved.',
        "Ida lives in Salo.",
    ],
)
def test_what_is_stored_of_a_claim_is_what_was_read(text: str) -> None:
    said = read(text)
    assert decode(encode(said)) == said


async def test_both_notes_of_a_contradiction_between_sources_stay_and_are_listed(either: Api) -> None:
    older = await either.call("remember", content="According to Ida, nine people came to the fair.")
    newer = await either.call("remember", content="According to Odo, twelve people came to the fair.", evolve=True)
    assert newer["superseded"] == []
    (conflict,) = (await either.call("conflict.list"))["conflicts"]
    assert {conflict["a"]["id"], conflict["b"]["id"]} == {older["note"]["id"], newer["note"]["id"]}
    assert conflict["reason"] == "two sources contradict each other"
