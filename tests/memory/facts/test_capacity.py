"""What status says of a full memory, measured."""

import re

import pytest

from memory.facts.one_nugget import FactMemory
from shelfd.memory.facts.capacity import Options, capacity, confirmed_share, status_of

SHAPES = [Options(), Options(dimension=64, banks=8), Options(dimension=512, banks=2, ensembles=4)]


def filled(count: int, options: Options) -> FactMemory:
    memory = FactMemory(options)
    for number in range(count):
        memory.put(str(number), f"the key number {number}", f"value {number}")
    return memory


@pytest.mark.parametrize("options", SHAPES, ids=["usual", "narrow", "wide"])
@pytest.mark.parametrize("fullness_pct", [100, 150, 300, 490, 900])
def test_the_warning_is_what_is_measured(options: Options, fullness_pct: int) -> None:
    count = capacity(options) * fullness_pct // 100
    memory = filled(count, options)
    measured = sum(memory.echo(str(number)).confirmed for number in range(count)) / count
    warning = memory.status().capacity_warning

    assert confirmed_share(count, options) == pytest.approx(measured, abs=0.07)
    if fullness_pct <= 150:
        assert (measured > 0.95, warning) == (True, "")
    else:
        told = re.fullmatch(r"mode fhrr confirms about (\d+)% of the facts by its banks; every key .*", warning)
        assert told is not None
        assert int(told[1]) / 100 == pytest.approx(measured, abs=0.07)


@pytest.mark.parametrize("fullness_pct", [100, 490, 900])
def test_every_key_answers_however_full_the_banks_are(fullness_pct: int) -> None:
    count = capacity(Options()) * fullness_pct // 100
    memory = filled(count, Options())
    for number in range(0, count, 7):
        for query in (f"the key number {number}", f"teh key nubmer {number}", f"what is the key with number {number}?"):
            answer = memory.recall(query)
            assert answer is not None
            assert answer.value == f"value {number}"


def test_where_facts_are_limited_the_warning_is_of_those_that_go() -> None:
    options = Options(max_facts=10)
    said = [status_of(count, options).capacity_warning.partition(" ")[0] for count in range(12)]

    assert said == [""] * 9 + ["approaching", "critical:", "critical:"]


def test_an_empty_memory_warns_of_nothing() -> None:
    assert [status_of(count, Options(banks=8)).capacity_warning for count in (0, 1)] == ["", ""]
