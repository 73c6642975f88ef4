"""The same attribute in many forms: whichever two say it, the newer one holds, and the older one is found."""

import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.numbering import numbered
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import places_of
from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.knowledge.evolution.withdrawing import withdrawals

_DATA: Final = Path(__file__).parents[3] / "data"
_SUPERSEDED: Final = (Verdict.UPDATED, Verdict.CORRECTED)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_DATA / name).read_text(encoding="utf-8").splitlines()]


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def assert_updates(older: str, new: str) -> None:
    said = read(new)
    verdict = decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict
    assert verdict in _SUPERSEDED, f"{older} => {new}"
    looks = numbered(places_of(said, withdrawals(new, said)), 0)
    stands = numbered(places_of(read(older), ()), 0)
    assert set(stands.standing) & set(looks.of(looks.subjects())), f"not found: {older} => {new}"


@pytest.mark.parametrize("row", rows("forms.jsonl"), ids=lambda row: f"{row['language']}: {row['forms'][0]}")
def test_each_form_of_an_attribute_updates_each(row: dict[str, Any]) -> None:
    before, value = row["values"]
    for form, other in product(row["forms"], repeat=2):
        older = capital(form.format(value=before, Value=capital(before)))
        assert_updates(older, capital(other.format(value=value, Value=capital(value))))


@pytest.mark.parametrize("row", rows("forms.jsonl"), ids=lambda row: f"{row['language']}: {row['forms'][0]}")
def test_no_form_updates_what_is_told_of_another(row: dict[str, Any]) -> None:
    before, value = row["values"]
    for form, other in product(row["forms"], repeat=2):
        of_another = form
        for name, another in row["others"].items():
            of_another = of_another.replace(name, another)
        older = capital(of_another.format(value=before, Value=capital(before)))
        new = capital(other.format(value=value, Value=capital(value)))
        verdict = decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict
        assert of_another == form or verdict not in _SUPERSEDED, f"{older} => {new}"


@pytest.mark.parametrize(
    ("told", "change", "of"),
    [(row["told"], change, row["of"]) for row in rows("changing.jsonl") for change in row["changes"]],
)
def test_each_way_to_say_that_something_changed_ends_what_was_told(
    told: str, change: str, of: list[dict[str, str]]
) -> None:
    for names in of:
        assert_updates(capital(told.format(**names)), capital(change.format(**names)))
