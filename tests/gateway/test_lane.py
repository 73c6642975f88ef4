"""Turns and tickets, without a server."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import FakeClock
from shelfd.gateway.lane import Lane
from shelfd.memory.errors import Cancelled
from shelfd.memory.ports.store import Ticket


@given(st.permutations(range(1, 8)), st.lists(st.integers(0, 7), max_size=12))
def test_no_request_begins_before_the_turns_it_waits_for(ends: list[int], waits: list[int]) -> None:
    lane = Lane("uid:0", "a")
    begun: list[tuple[int, int]] = []
    over: set[int] = set()
    for _ in range(7):
        lane.enter()

    def begin(number: int, turn: int) -> None:
        assert set(range(1, turn + 1)) <= over
        begun.append((turn, number))

    for number, turn in enumerate(waits):
        lane.when_over(turn, lambda number=number, turn=turn: begin(number, turn))  # type: ignore[misc]
    for turn in ends:
        over.add(turn)
        lane.leave(turn)
    assert len(begun) == len(waits)
    # Those that waited for the same turn begin in the order in which they came.
    assert begun == sorted(begun)


def test_a_withdrawn_ticket_cannot_start_and_a_started_one_cannot_be_withdrawn() -> None:
    withdrawn, started = Ticket(FakeClock()), Ticket(FakeClock())
    assert withdrawn.withdraw()
    with pytest.raises(Cancelled):
        withdrawn.start()
    started.start()
    assert not started.withdraw()


def test_start_and_withdraw_never_both_succeed() -> None:
    for _ in range(200):
        ticket = Ticket(FakeClock())
        barrier = threading.Barrier(2)

        def start(ticket: Ticket = ticket, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            try:
                ticket.start()
            except Cancelled:
                return

        thread = threading.Thread(target=start)
        thread.start()
        barrier.wait()
        withdrawn = ticket.withdraw()
        thread.join()
        assert withdrawn is not ticket.started
