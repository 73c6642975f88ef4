"""What a commit promises: order, all or nothing, and who is notified when."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from contract.samples import NEW_YEAR, ORIGIN, Outbox, change, create, edit, fail, make_note, ticket
from fakes import FakeClock
from shelfd.memory.errors import Cancelled, DeadlineExceeded, NoteNotFound, ShuttingDown
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Entry
from shelfd.memory.ports.store import Applied, Change, Store
from shelfd.storage.commit_queue import NOTIFIED_AT_ONCE


async def test_a_commit_returns_value_log_rows_notes_and_the_last_seq(store: Store) -> None:
    applied = await store.commit(create("n1", content="tea at four"))

    assert applied.value.row == 1
    assert applied.value.content == "tea at four"
    assert applied.notes == {"n1": applied.value}
    assert applied.last_seq == 1
    assert list(applied.rows) == store.view.log.page(since_seq=0, limit=10)
    (row,) = applied.rows
    assert (row.seq, row.tx, row.tx_size, row.at) == (1, 1, 1, NEW_YEAR)
    assert (row.kind, row.nugget, row.ids, row.row) == ("note.created", "memory", ("n1",), 1)
    assert row.origin == ORIGIN


async def test_a_transaction_takes_consecutive_seqs(store: Store) -> None:
    def three(tx: Transaction) -> None:
        for number in range(3):
            tx.create_note(make_note(f"n{number}"))

    first, second = await asyncio.gather(store.commit(create("first")), store.commit(change(three)))

    assert [(row.seq, row.tx, row.tx_size) for row in first.rows] == [(1, 1, 1)]
    assert [(row.seq, row.tx, row.tx_size) for row in second.rows] == [(2, 2, 3), (3, 2, 3), (4, 2, 3)]
    assert (first.last_seq, second.last_seq) == (1, 4)
    assert [row.seq for row in store.view.log.page(since_seq=0, limit=10)] == [1, 2, 3, 4]


async def test_changes_apply_in_the_order_of_the_calls_and_see_those_before(store: Store) -> None:
    seen: list[tuple[int, int]] = []

    def look(number: int) -> Change[None]:
        def apply(tx: Transaction) -> None:
            seen.append((number, tx.rows.log.last_seq))
            tx.create_note(make_note(f"n{number}"))

        return change(apply)

    await asyncio.gather(*(store.commit(look(number)) for number in range(1200)))

    assert seen == [(number, number) for number in range(1200)]
    assert store.view.log.last_seq == 1200


async def test_a_change_sees_its_own_writes_and_its_group(store: Store) -> None:
    def read(tx: Transaction) -> list[str]:
        tx.create_note(make_note("mine"))
        return [note.id for note in tx.rows.notes.scan(before_row=None, limit=9)]

    _, applied = await asyncio.gather(store.commit(create("before")), store.commit(change(read)))

    assert applied.value == ["mine", "before"]


async def test_the_log_of_earlier_changes_of_the_group_is_readable(store: Store) -> None:
    def read(tx: Transaction) -> list[int]:
        assert [row.seq for row in tx.rows.log.of_note(1)] == [1]
        return [row.seq for row in tx.rows.log.page(since_seq=0, limit=9)]

    _, applied = await asyncio.gather(store.commit(create("before")), store.commit(change(read)))

    assert applied.value == [1]


@pytest.mark.parametrize("has_written", [True, False])
async def test_of_changes_that_can_be_repeated_too_only_the_failing_one_is_rolled_back(
    store: Store, *, has_written: bool
) -> None:
    def refuse(_: Transaction) -> None:
        raise NoteNotFound("gone")

    failing: Change[None] = fail(NoteNotFound("gone")) if has_written else change(refuse)
    changes: list[Change[Any]] = [create("before"), failing, edit("before", title="Edited"), failing, create("after")]
    outcomes = await asyncio.gather(
        *(store.commit(one._replace(can_repeat=True)) for one in changes), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [Applied, NoteNotFound, Applied, NoteNotFound, Applied]
    assert store.view.notes.get("doomed") is None
    assert store.view.nuggets.get("doomed") is None
    assert [note[:5:4] for note in store.view.notes.scan(before_row=None, limit=9)] == [
        (2, "About after"),
        (1, "Edited"),
    ]
    assert [row.seq for row in store.view.log.page(since_seq=0, limit=9)] == [1, 2, 3]


async def test_what_is_done_ahead_changes_nothing_even_if_it_fails(store: Store) -> None:
    def refuse() -> None:
        raise ValueError

    changes = [create(f"n{at}")._replace(ahead=refuse if at % 3 else int) for at in range(100)]
    applied = await asyncio.gather(*(store.commit(one) for one in changes))

    assert [one.value.id for one in applied] == [f"n{at}" for at in range(100)]
    assert [one.last_seq for one in applied] == list(range(1, 101))


async def test_a_failing_change_is_rolled_back_alone(store: Store) -> None:
    outcomes = await asyncio.gather(
        store.commit(create("before")),
        store.commit(fail(NoteNotFound("gone"))),
        store.commit(create("after")),
        return_exceptions=True,
    )

    assert isinstance(outcomes[1], NoteNotFound)
    assert store.view.notes.get("doomed") is None
    assert store.view.nuggets.get("doomed") is None
    assert store.view.links.get("doomed", "doomed", "related") is None
    assert store.view.nuggets.turn_number("doomed", "sess-1", 1) is None
    assert [note.id for note in store.view.notes.scan(before_row=None, limit=9)] == ["after", "before"]
    assert [note.row for note in store.view.notes.scan(before_row=None, limit=9)] == [2, 1]
    assert [row.seq for row in store.view.log.page(since_seq=0, limit=9)] == [1, 2]


@pytest.mark.parametrize("error", [ValueError("a mistake"), KeyError("x"), RuntimeError()], ids=repr)
async def test_an_unexpected_exception_reaches_its_caller_as_it_is(store: Store, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await store.commit(fail(error))

    assert caught.value is error
    assert (await store.commit(create("after"))).last_seq == 1


@pytest.mark.parametrize("error", [StopIteration(), SystemExit(), asyncio.CancelledError()], ids=repr)
async def test_no_exception_of_a_change_stops_the_store(store: Store, error: BaseException) -> None:
    with pytest.raises(RuntimeError, match=type(error).__name__):
        await store.commit(fail(error))

    assert (await store.commit(create("after"))).last_seq == 1


async def test_a_log_row_that_cannot_be_stored_fails_its_change_alone(store: Store) -> None:
    unstorable: Change[None] = Change(
        ORIGIN, lambda *_: (None, Outbox(entries=[Entry("note.updated", "memory", (), None, {"x": object()})]))
    )
    outcomes = await asyncio.gather(
        store.commit(create("before")), store.commit(unstorable), store.commit(create("after")), return_exceptions=True
    )

    assert isinstance(outcomes[1], TypeError)
    assert store.view.log.last_seq == 2


async def test_a_change_without_log_rows_takes_no_seq(store: Store) -> None:
    await store.commit(create("n1"))
    applied = await store.commit(edit("n1"))

    assert list(applied.rows) == []
    assert applied.last_seq == 1
    assert store.view.log.last_seq == 1


async def test_order_comes_from_seq_and_time_from_the_clock(store: Store, clock: FakeClock) -> None:
    await store.commit(create("n1"))
    clock.advance(timedelta(days=20_000))
    ahead = await store.commit(create("n2"))
    clock.set_back(timedelta(days=20_000, seconds=5))
    back = await store.commit(create("n3"))

    assert ahead.rows[0].at == NEW_YEAR + 20_000 * 86_400_000_000
    assert back.rows[0].at == NEW_YEAR - 5_000_000
    assert [row.seq for row in store.view.log.page(since_seq=0, limit=9)] == [1, 2, 3]


async def test_a_store_at_rest_reads_and_writes_as_before(store: Store) -> None:
    heard: list[int] = []
    store.follow(lambda group: heard.extend(applied.last_seq for applied in group))
    for number in range(3):
        await store.commit(create(f"n{number}"))
        for _ in range(number):
            await store.rest()
        assert store.view.log.last_seq == number + 1
        assert await store.scrub()

    assert [note.id for note in store.view.notes.scan(before_row=None, limit=9)] == ["n2", "n1", "n0"]
    assert heard == [1, 2, 3]


async def test_listeners_are_notified_of_a_group_in_order_before_its_callers(store: Store) -> None:
    heard: list[str] = []

    def listen(group: Sequence[Applied[Any]]) -> None:
        heard.extend(f"listener {row.seq}" for applied in group for row in applied.rows)
        assert store.view.log.last_seq >= group[-1].last_seq

    async def call(note_id: str) -> None:
        applied = await store.commit(create(note_id))
        heard.append(f"caller {applied.last_seq}")

    store.follow(listen)
    await asyncio.gather(call("n1"), store.commit(fail(ValueError())), call("n2"), return_exceptions=True)

    assert heard == ["listener 1", "listener 2", "caller 1", "caller 2"]


async def test_following_ends(store: Store) -> None:
    heard: list[int] = []
    unfollow = store.follow(lambda group: heard.append(group[-1].last_seq))
    await store.commit(create("n1"))
    unfollow()
    unfollow()
    await store.commit(create("n2"))

    assert heard == [1]


async def test_a_listener_that_raises_harms_no_other(store: Store) -> None:
    heard: list[int] = []

    def broken(_: Sequence[Applied[Any]]) -> None:
        raise ValueError("a mistake")

    store.follow(broken)
    store.follow(lambda group: heard.append(group[-1].last_seq))
    with capture_logs() as logs:
        applied = await store.commit(create("n1"))

    assert applied.last_seq == 1
    assert heard == [1]
    assert [entry["event"] for entry in logs] == ["store.listener_failed"]


async def test_no_listener_is_notified_of_a_group_in_which_all_failed(store: Store) -> None:
    heard: list[int] = []
    store.follow(lambda group: heard.append(len(group)))
    with pytest.raises(ValueError, match="a mistake"):
        await store.commit(fail(ValueError("a mistake")))

    assert heard == []


async def test_a_cancelled_ticket_does_not_start(store: Store, clock: FakeClock) -> None:
    taken_back = ticket(clock, cancelled=True)
    with pytest.raises(Cancelled):
        await store.commit(change(lambda tx: tx.create_note(make_note("n1")), ticket=taken_back))

    assert not taken_back.started
    assert store.view.log.last_seq == 0


async def test_a_ticket_cancelled_while_it_waits_does_not_start(store: Store, clock: FakeClock) -> None:
    waiting = ticket(clock)
    task = asyncio.create_task(store.commit(change(lambda tx: tx.create_note(make_note("n1")), ticket=waiting)))
    await asyncio.sleep(0)  # the task's first step queues the change, the group starts after it
    waiting.cancelled = True
    with pytest.raises(Cancelled):
        await task

    assert store.view.log.last_seq == 0


async def test_a_deadline_that_passed_means_nothing_happened(store: Store, clock: FakeClock) -> None:
    late, timely = ticket(clock, deadline=5.0), ticket(clock, deadline=5.1)
    clock.advance(timedelta(seconds=5))
    outcomes = await asyncio.gather(
        store.commit(change(lambda tx: tx.create_note(make_note("late")), ticket=late)),
        store.commit(change(lambda tx: tx.create_note(make_note("timely")), ticket=timely)),
        return_exceptions=True,
    )

    assert isinstance(outcomes[0], DeadlineExceeded)
    assert timely.started
    assert store.view.notes.get("late") is None
    assert store.view.notes.get("timely") is not None


async def test_cancelling_the_caller_does_not_take_its_change_back(store: Store) -> None:
    task = asyncio.create_task(store.commit(create("n1")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.commit(create("n2"))

    assert [row.ids for row in store.view.log.page(since_seq=0, limit=9)] == [("n1",), ("n2",)]


async def test_close_finishes_what_is_queued(store: Store) -> None:
    tasks = [asyncio.create_task(store.commit(create(f"n{number}"))) for number in range(600)]
    await asyncio.sleep(0)
    await store.close()

    assert [task.result().last_seq for task in tasks] == list(range(1, 601))


async def test_a_closed_store_takes_nothing_and_closes_again(store: Store) -> None:
    await asyncio.gather(store.close(), store.close())
    await store.close()
    with pytest.raises(ShuttingDown):
        await store.commit(create("n1"))


async def test_a_sound_store_checks_out(store: Store) -> None:
    await store.commit(create("n1", key="colour"))
    await store.commit(edit("n1", content="blue"))

    assert await store.check(full=False) == []
    assert await store.check(full=True) == []


async def test_callers_that_do_not_wait_are_notified_in_order_and_later(store: Store) -> None:
    told: list[int | Exception] = []
    over = asyncio.Event()

    def take(outcome: Applied[Any] | Exception) -> None:
        told.append(outcome.last_seq if isinstance(outcome, Applied) else outcome)
        if len(told) == 3:
            over.set()

    error = NoteNotFound("gone")
    changes: list[Change[Any]] = [create("n1"), fail(error), create("n2")]
    for one in changes:
        store.submit(one, take)
    assert told == []
    await over.wait()

    assert told == [1, error, 2]


async def test_a_caller_that_cannot_be_notified_harms_no_other(store: Store) -> None:
    def broken(_: object) -> None:
        raise ValueError("a mistake")

    with capture_logs() as logs:
        store.submit(create("n1"), broken)
        applied = await store.commit(create("n2"))

    assert applied.last_seq == 2
    assert [entry["event"] for entry in logs] == ["store.caller_failed"]


async def test_what_a_caller_submits_when_it_is_notified_follows(store: Store) -> None:
    over: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def again(outcome: Applied[Any] | Exception) -> None:
        assert isinstance(outcome, Applied)
        if outcome.last_seq < 3:
            store.submit(create(f"n{outcome.last_seq + 1}"), again)
        else:
            over.set_result(outcome.last_seq)

    store.submit(create("n1"), again)

    assert await over == 3
    assert [row.ids for row in store.view.log.page(since_seq=0, limit=9)] == [("n1",), ("n2",), ("n3",)]


async def test_a_closed_store_says_so_at_once(store: Store) -> None:
    await store.close()
    told: list[object] = []
    with pytest.raises(ShuttingDown):
        store.submit(create("n1"), told.append)

    assert told == []


async def test_other_work_runs_while_the_callers_of_a_large_group_are_notified(store: Store) -> None:
    told: list[int] = []
    seen: set[int] = set()

    def look() -> None:
        seen.add(len(told))
        if len(told) < 300:
            asyncio.get_running_loop().call_soon(look)

    for number in range(300):
        store.submit(create(f"n{number}"), lambda _, number=number: told.append(number))  # type: ignore[misc]
    look()
    await store.close()

    assert told == list(range(300))
    assert len(seen) > 300 / NOTIFIED_AT_ONCE
