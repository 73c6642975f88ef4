"""Banks hold what was put in, tell it from what was not, and forget without a trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts import algebra
from shelfd.memory.facts.banks import Banks
from shelfd.memory.facts.capacity import Options, capacity

pairs = st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), unique_by=lambda pair: pair[0], max_size=12)


def filled(count: int, options: Options) -> tuple[Banks, list[int]]:
    banks = Banks(options)
    return banks, [banks.add(f"key {number}", f"value {number}") for number in range(count)]


@given(pairs, st.randoms(use_true_random=False))
def test_what_is_taken_away_in_any_order_leaves_nothing(facts: list[tuple[str, str]], order: object) -> None:
    banks = Banks(Options(dimension=64, banks=3))
    held = [(key, value, banks.add(key, value)) for key, value in facts]
    order.shuffle(held)  # type: ignore[attr-defined]
    for key, value, bank in held:
        banks.subtract(key, value, bank)
    assert banks.counts == (0, 0, 0)
    assert banks.nbytes == 0


def test_taking_one_away_is_as_if_it_had_never_been() -> None:
    options = Options(dimension=128, banks=1)
    with_it, without = Banks(options), Banks(options)
    for banks in (with_it, without):
        banks.add("a", "1")
        banks.add("b", "2")
    with_it.add("c", "3")
    with_it.subtract("c", "3", 0)
    np.testing.assert_array_equal(with_it.unbound("a", 0), without.unbound("a", 0))


def test_facts_are_spread_evenly_over_as_many_banks_as_are_needed() -> None:
    banks, owners = filled(10, Options(banks=4))
    assert banks.counts == (10, 0, 0, 0)
    banks, owners = filled(90, Options(banks=4))
    assert banks.counts == (23, 23, 22, 22)
    for number in range(2):
        at = owners.index(0, 40 + number * 4)
        banks.subtract(f"key {at}", f"value {at}", 0)
    assert banks.counts == (21, 23, 22, 22)
    assert banks.add("new", "fact") == 0


def test_a_few_facts_cost_no_superposition_and_many_a_bounded_one() -> None:
    options = Options()
    assert filled(50, options)[0].nbytes == 0
    assert filled(500, options)[0].nbytes == 4 * 4 * 1024
    assert filled(500, Options(dimension=64, banks=1, ensembles=2))[0].nbytes == 4 * 128


@pytest.mark.parametrize("count", [15, 16, 17])
def test_a_bank_says_the_same_whether_or_not_it_is_superposed_yet(count: int) -> None:
    options = Options(dimension=256, banks=1)
    grown, _ = filled(count, options)
    shrunk, _ = filled(count + 9, options)
    for number in range(count, count + 9):
        shrunk.subtract(f"key {number}", f"value {number}", 0)
    assert shrunk.nbytes > 0
    for number in (0, count - 1):
        np.testing.assert_array_equal(grown.unbound(f"key {number}", 0), shrunk.unbound(f"key {number}", 0))


def test_a_bank_confirms_what_it_holds_and_nothing_else() -> None:
    banks, owners = filled(80, Options())
    assert all(banks.echo(f"key {n}", f"value {n}", owners[n]).confirmed for n in range(80))
    wrong = sum(banks.echo(f"key {n}", f"value {n + 1}", owners[n]).confirmed for n in range(79))
    assert wrong <= 2
    assert not banks.echo("never", "heard", 0).confirmed


def test_an_echo_is_one_over_the_root_of_what_the_bank_holds() -> None:
    banks, owners = filled(64, Options(dimension=4096, banks=4))
    heard = [banks.echo(f"key {n}", f"value {n}", owners[n]).similarity for n in range(64)]
    assert abs(float(np.mean(heard)) - 0.25) < 0.02


def test_within_the_capacity_values_come_back_from_the_banks_alone() -> None:
    options = Options()
    count = capacity(options)
    assert count == 204
    banks, owners = filled(count, options)
    values = algebra.phasor(np.stack([banks.value_phases(f"value {n}") for n in range(count)]))
    right = sum(algebra.clean_up(banks.unbound(f"key {n}", owners[n]), values)[0] == n for n in range(count))
    assert right / count >= 0.99


def test_banks_and_ensembles_multiply_the_capacity() -> None:
    assert capacity(Options(dimension=1024, banks=8)) == 408
    assert capacity(Options(dimension=1024, banks=1, ensembles=2)) == 102


def test_an_empty_bank_says_nothing() -> None:
    assert Banks(Options()).echo("a", "b", 0).similarity == 0
