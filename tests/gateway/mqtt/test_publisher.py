"""Events over MQTT: order, nothing lost, nothing twice without reason, and what is on record of it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.mqtt.publishing import FakeLink, Press, press
from shelfd.gateway.mqtt.feed import CONTENT_TYPE, WINDOW
from shelfd.gateway.mqtt.link import Trouble
from shelfd.memory import MemorySettings
from shelfd.memory.errors import HistoryTrimmed, StorageCorrupt
from shelfd.memory.ports.store import Store
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

SECOND = timedelta(seconds=1)
IDLE = timedelta(minutes=16)


@pytest.fixture
async def house() -> AsyncIterator[Press]:
    async with press() as running:
        yield running


@pytest.fixture(params=["inmemory", "sqlite"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Press]:
    """Over each kind of stores."""
    async with press(InMemoryStores if request.param == "inmemory" else lambda c: SqliteStores(tmp_path, c)) as running:
        yield running


def missing(link: FakeLink, last: int) -> set[int]:
    return set(range(1, last + 1)) - set(link.seqs)


# ---------------------------------------------------------------- what is published


async def test_every_change_is_published_in_order_and_once(either: Press) -> None:
    link = either.attach()
    await either.remember(100)
    await either.delivered()

    assert link.seqs == list(range(1, either.last_seq() + 1))
    assert either.publisher.status()["events_sent"] == len(link.sent)


async def test_an_event_is_a_cloudevent_on_its_topic(house: Press) -> None:
    link = house.attach()
    note = await house.api.remember("the tea is hot", nugget="Ärger")
    await house.api.call("forget", id=note["id"])
    await house.delivered()

    topics = [message.topic for message in link.sent]
    root = "shelfd/v1/local/ev/default/ärger"
    assert topics == [f"{root}/nugget.created", f"{root}/note.created", f"{root}/note.hidden"]
    created = link.sent[1]
    assert (created.qos, created.is_retained, created.content_type) == (1, False, CONTENT_TYPE)
    event = created.event
    assert (event["type"], event["subject"], event["id"]) == ("shelfd.note.created.v1", note["id"], "default:2")
    assert [message.event["prev_seq"] for message in link.sent] == [0, 1, 2]
    assert "note-ärger-" in created.payload.decode()
    assert "the tea is hot" not in created.payload.decode()


async def test_several_shelves_are_published_each_in_order(house: Press) -> None:
    link = house.attach()
    for name in ("one", "two"):
        await house.api.call("shelf.create", shelf=name)
    await asyncio.gather(*(house.remember(50, shelf=name) for name in ("default", "one", "two")))
    for name in ("default", "one", "two"):
        await house.delivered(name)
        seqs = [message.seq for message in link.sent if message.topic.split("/")[4] == name]
        assert seqs == list(range(1, house.last_seq(name) + 1))


async def test_a_bounded_number_is_on_the_way(house: Press) -> None:
    link = house.attach(holds=True)
    await house.remember(3 * WINDOW)
    await house.until(lambda: len(link.held) == WINDOW)
    await house.pass_time(SECOND)

    assert len(link.sent) == WINDOW
    link.take(0)
    await house.until(lambda: len(link.sent) == WINDOW + 1)
    link.release()
    await house.delivered()
    assert link.seqs == list(range(1, house.last_seq() + 1))


async def test_an_event_does_not_wait_for_others_to_be_acknowledged(house: Press) -> None:
    link = house.attach(holds=True)
    await house.api.remember("one")
    await house.until(lambda: len(link.sent) == house.last_seq())
    before = len(link.sent)
    await house.api.remember("two")
    await house.until(lambda: len(link.sent) > before)

    assert len(link.held) == len(link.sent)


async def test_without_a_connection_nothing_is_rendered_and_all_is_kept(house: Press) -> None:
    await house.remember(20)
    await house.pass_time(SECOND)
    assert house.lag() == house.last_seq()
    link = house.attach()
    await house.delivered()

    assert link.seqs == list(range(1, house.last_seq() + 1))


# ---------------------------------------------------------------- connections come and go


async def test_a_new_connection_goes_on_after_what_was_acknowledged(either: Press) -> None:
    first = either.attach(holds=True)
    await either.remember(WINDOW)
    await either.until(lambda: len(first.held) == WINDOW)
    first.take(*range(10))
    await either.until(lambda: either.publisher.status()["events_sent"] == 10)
    first.break_off()
    either.publisher.detached()
    await either.remember(5)
    second = either.attach()
    await either.delivered()

    assert second.seqs == list(range(11, either.last_seq() + 1))
    assert len(second.sent) == len(second.taken)


async def test_what_was_acknowledged_out_of_order_counts_up_to_the_first_hole(house: Press) -> None:
    first = house.attach(holds=True)
    await house.remember(20)
    await house.until(lambda: len(first.held) == house.last_seq())
    first.take(0, 1, 3, 4, 5)
    await house.until(lambda: house.publisher.status()["events_sent"] == 2)
    await house.pass_time(2 * SECOND)
    assert house.cursor() == 2
    first.break_off()
    house.publisher.detached()
    second = house.attach()
    await house.delivered()

    assert second.seqs == list(range(3, house.last_seq() + 1))


async def test_a_connection_that_fails_without_end_is_tried_again(house: Press) -> None:
    link = house.attach()
    link.is_broken = True
    with capture_logs() as logs:
        await house.remember(5)
        await house.pass_time(timedelta(milliseconds=500))
        assert link.sent == []
        link.is_broken = False
        await house.delivered()

    assert link.seqs == list(range(1, house.last_seq() + 1))
    assert [line["event"] for line in logs if line["event"].startswith("events.")] == ["events.held_up"]


async def test_a_refusal_holds_up_its_shelf_alone_and_is_tried_ever_more_rarely(house: Press) -> None:
    await house.api.call("shelf.create", shelf="closed-off")
    link = house.attach()
    link.refuses = lambda message: Trouble.NOT_AUTHORIZED if "/closed-off/" in message.topic else None
    await house.remember(1, shelf="closed-off")
    await house.until(lambda: len(link.sent) == 2)
    await house.pass_time(timedelta(seconds=20))
    tries = len([message for message in link.sent if message.seq == 1])
    await house.remember(3)
    await house.delivered()
    assert tries == 5  # at 0, 1, 3, 7 and 15 seconds
    link.refuses = lambda _: None
    await house.delivered("closed-off")


async def test_a_replaced_connection_is_forgotten(house: Press) -> None:
    first = house.attach(holds=True)
    await house.remember(3)
    await house.until(lambda: len(first.held) == house.last_seq())
    second = house.attach()
    await house.delivered()

    assert second.seqs == first.seqs
    assert all(answer.cancelled() for _, answer in first.held)


async def test_an_event_that_is_too_large_is_published_as_a_gap_and_the_rest_goes_on(house: Press) -> None:
    link = house.attach()
    link.refuses = lambda message: Trouble.TOO_LARGE if message.event.get("seq") == 3 else None
    await house.remember(20)
    await house.delivered()

    gap = next(message for message in link.taken if message.topic.endswith("/events.gap"))
    assert gap.topic == "shelfd/v1/local/ev/default/_/events.gap"
    assert gap.event["data"] == {"from_seq": 3, "to_seq": 3, "reason": "too_large"}
    told = [message.seq for message in link.taken if message is not gap]
    assert told == [seq for seq in range(1, house.last_seq() + 1) if seq != 3]


# ---------------------------------------------------------------- what is on record


async def test_the_cursor_is_no_change_of_the_shelf(either: Press) -> None:
    link = either.attach()
    await either.remember(3)
    await either.delivered()
    await either.until(lambda: either.cursor() == either.last_seq())
    seq, sent = either.last_seq(), len(link.sent)
    await either.pass_time(3 * SECOND)

    assert (either.last_seq(), len(link.sent)) == (seq, sent)


async def test_the_cursor_is_written_at_most_once_a_second(house: Press) -> None:
    written: list[int] = []
    house.attach()
    shelf = house.api.shelf()
    shelf.store.follow(lambda group: written.extend(a.last_seq for a in group if not a.rows and not a.notes))
    for number in range(100):
        await house.remember(1, first=number)
        await house.pass_time(timedelta(milliseconds=50))
    await house.until(lambda: house.cursor() == house.last_seq())

    assert 4 <= len(written) <= 7


async def test_a_crash_repeats_at_most_what_was_not_on_record(either: Press) -> None:
    first = either.attach()
    await either.remember(30)
    await either.delivered()
    await either.until(lambda: either.cursor() == either.last_seq())
    await either.remember(10, first=30)
    await either.delivered()
    noted, last = either.cursor(), either.last_seq()
    assert noted is not None
    assert noted < last
    again = await either.crash()
    second = again.attach()
    await again.delivered()

    assert set(first.seqs) == set(range(1, last + 1))
    assert second.seqs == list(range(noted + 1, last + 1))
    either.publisher = again.publisher


async def test_a_restart_repeats_nothing_and_loses_nothing(either: Press) -> None:
    first = either.attach()
    await either.remember(30)
    await either.delivered()
    again = await either.restart()
    await again.remember(5, first=30)
    second = again.attach()
    await again.delivered()

    assert first.seqs + second.seqs == list(range(1, again.last_seq() + 1))
    either.publisher = again.publisher


async def test_stopping_delivers_what_the_broker_takes_in_time(house: Press) -> None:
    link = house.attach()
    await house.remember(50)
    await house.waiting(house.publisher.close())

    assert link.seqs == list(range(1, house.last_seq() + 1))
    assert house.cursor() == link.seqs[-1]


async def test_stopping_does_not_wait_for_a_broker_that_hangs(house: Press) -> None:
    link = house.attach(holds=True)
    await house.remember(5)
    await house.until(lambda: len(link.held) == house.last_seq())
    link.take(0, 1)
    with capture_logs() as logs:
        await house.waiting(house.publisher.close(drain=timedelta(milliseconds=20)))

    assert house.cursor() == 2
    assert "events.left_for_later" in [line["event"] for line in logs]
    assert house.publisher.status()["shelves"] == []


async def test_a_cursor_that_cannot_be_written_is_tried_again(house: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    house.attach()
    shelf = house.api.shelf()
    commit = shelf.commit

    async def refuse(*_: object) -> None:
        raise StorageCorrupt("the disk says no")

    monkeypatch.setattr(shelf, "commit", refuse)
    with capture_logs() as logs:
        await house.remember(3)
        await house.delivered()
        await house.pass_time(SECOND)
    assert "events.cursor_not_written" in [line["event"] for line in logs]
    monkeypatch.setattr(shelf, "commit", commit)
    await house.until(lambda: house.cursor() == house.last_seq())


# ---------------------------------------------------------------- where it begins


async def test_a_shelf_that_was_there_before_mqtt_begins_at_its_present(either: Press) -> None:
    await either.waiting(either.publisher.close())
    shelf = either.api.shelf()
    await either.api.call("shelf.create", shelf="other")
    await either.remember(3, shelf="other")
    assert either.cursor("other") is None
    before = either.last_seq("other")
    await either.until(lambda: either.api.shelf("other").seq == before)
    later = Press(either.api)
    either.publisher = later.publisher
    await later.until(lambda: later.cursor("other") == before)
    link = later.attach()
    await later.remember(1, shelf="other", first=9)
    await later.delivered("other")

    assert shelf.view.sinks.get("mqtt") == 0
    assert link.seqs == [before + 1]


async def test_a_new_shelf_begins_with_its_first_change_even_if_nobody_listens_yet(house: Press) -> None:
    await house.api.call("shelf.create", shelf="new")
    await house.remember(3, shelf="new")
    link = house.attach()
    await house.delivered("new")

    assert next(message.seq for message in link.sent) == 1


async def test_changes_made_while_the_first_cursor_is_written_are_published(house: Press) -> None:
    await house.waiting(house.publisher.close())
    await house.api.call("shelf.create", shelf="other")
    await house.remember(2, shelf="other")
    before = house.last_seq("other")
    await house.until(lambda: house.api.shelf("other").seq == before)
    house.publisher = Press(house.api).publisher
    link = house.attach()
    await house.api.remember("at once", shelf="other")
    await house.delivered("other")

    assert link.seqs == [before + 1]


# ---------------------------------------------------------------- shelves that close and open


async def test_an_idle_shelf_closes_when_all_is_delivered(house: Press) -> None:
    await house.api.call("shelf.create", shelf="other")
    link = house.attach(holds=True)
    await house.remember(2, shelf="other")
    await house.until(lambda: len(link.held) == house.last_seq("other"))
    house.clock.advance(IDLE)
    await house.api.shelves.close_idle()
    assert house.api.shelves.state("other") == "open"
    link.release()
    await house.delivered("other")
    await house.until(lambda: house.api.shelf("other").is_idle)
    assert house.cursor("other") == house.last_seq("other")
    house.clock.advance(IDLE)
    await house.api.shelves.close_idle()

    assert house.api.shelves.state("other") == "closed"
    assert house.publisher.status()["shelves_to_visit"] == 0


async def test_a_shelf_that_closed_while_the_broker_was_away_is_opened_for_its_events(either: Press) -> None:
    await either.api.call("shelf.create", shelf="other")
    await either.remember(3, shelf="other")
    last = either.last_seq("other")
    await either.until(lambda: either.cursor("other") == 0)
    either.clock.advance(IDLE)
    await either.api.shelves.close_idle()
    assert either.api.shelves.state("other") == "closed"
    assert either.publisher.status()["shelves_to_visit"] == 1
    link = either.attach()
    await either.until(lambda: len(link.taken) == last and either.api.shelves.state("other") == "closed")

    assert link.seqs == list(range(1, last + 1))
    await either.remember(1, shelf="other")
    assert either.cursor("other") == last


async def test_what_an_earlier_daemon_left_is_delivered_and_its_shelf_closed_again(either: Press) -> None:
    for name in ("one", "two"):
        await either.api.call("shelf.create", shelf=name)
        await either.remember(2, shelf=name)
    again = await either.restart()
    either.publisher = again.publisher
    assert again.publisher.status()["shelves_to_visit"] == 2
    link = again.attach()
    await again.until(lambda: len(link.taken) == 6 and again.publisher.status()["shelves_to_visit"] == 0)
    await again.until(lambda: {again.api.shelves.state(name) for name in ("one", "two")} == {"closed"})

    assert [message.topic.split("/")[4] for message in link.sent] == ["one"] * 3 + ["two"] * 3


async def test_a_visited_shelf_that_is_in_use_stays_open(house: Press) -> None:
    await house.api.call("shelf.create", shelf="other")
    await house.remember(2, shelf="other")
    again = await house.restart()
    house.publisher = again.publisher
    link = again.attach(holds=True)
    await again.until(lambda: len(link.held) == 3)
    again.clock.advance(SECOND)
    await again.remember(1, shelf="other", first=5)
    link.release()
    await again.delivered("other")
    await again.pass_time(SECOND)

    assert again.api.shelves.state("other") == "open"
    assert link.seqs == [1, 2, 3, 4]


async def test_a_visit_goes_on_with_the_next_connection(house: Press) -> None:
    await house.api.call("shelf.create", shelf="other")
    await house.remember(2, shelf="other")
    again = await house.restart()
    house.publisher = again.publisher
    first = again.attach(holds=True)
    await again.until(lambda: len(first.held) == 3)
    first.take(0)
    await again.until(lambda: again.publisher.status()["events_sent"] == 1)
    first.break_off()
    again.publisher.detached()
    await again.until(lambda: again.api.shelves.state("other") == "closed")
    second = again.attach()
    await again.until(lambda: len(second.taken) == 2)

    assert second.seqs == [2, 3]


class Damaged(InMemoryStores):
    """Stores of which one shelf cannot be opened."""

    damaged: str | None = None

    async def open(self, shelf: str) -> Store:  # type: ignore[override]
        if shelf == self.damaged:
            raise StorageCorrupt("the file is damaged")
        return await super().open(shelf)


async def test_a_shelf_that_cannot_be_opened_is_skipped_with_one_line() -> None:
    async with press(Damaged) as house:
        for name in ("bad", "good"):
            await house.api.call("shelf.create", shelf=name)
            await house.remember(1, shelf=name)
        assert isinstance(house.api.stores, Damaged)
        house.api.stores.damaged = "bad"
        again = await house.restart()
        house.publisher = again.publisher
        with capture_logs() as logs:
            link = again.attach()
            await again.until(lambda: len(link.taken) == 2)
            await again.pass_time(timedelta(seconds=40))

        assert {message.topic.split("/")[4] for message in link.sent} == {"good"}
        assert [line["shelf"] for line in logs if line["event"] == "events.shelf_skipped"] == ["bad"]


async def test_dropping_a_shelf_does_not_wait_for_the_broker(either: Press) -> None:
    link = either.attach(holds=True)
    await either.api.call("shelf.create", shelf="other")
    await either.remember(2, shelf="other")
    await either.until(lambda: len(link.held) == either.last_seq("other"))
    async with asyncio.timeout(3):
        await either.api.call("shelf.drop", shelf="other", confirm="other")
    await either.pass_time(SECOND)
    assert either.publisher.status()["shelves_to_visit"] == 0
    link.release()
    await either.api.call("shelf.create", shelf="other")
    before = len(link.sent)
    await either.remember(1, shelf="other")
    await either.delivered("other")

    assert link.seqs[before:] == [1, 2]


# ---------------------------------------------------------------- a history that does not go back


def trim(root: Path, before: int) -> None:
    """Take changes out of the log's old end, as no version does yet."""
    with closing(sqlite3.connect(root / "default" / "shelf.db")) as connection:
        connection.execute("UPDATE floor SET last_seq = (SELECT max(seq) FROM change)")
        connection.execute("DELETE FROM change WHERE seq < ?", (before,))
        connection.commit()


@pytest.mark.parametrize("kept_from", [6, 1000], ids=["partly", "whole"])
async def test_a_trimmed_history_is_published_as_a_gap(tmp_path: Path, kept_from: int) -> None:
    async with press(lambda clock: SqliteStores(tmp_path, clock)) as house:
        await house.remember(9)
        last = house.last_seq()
        await house.waiting(house.publisher.close())
        await house.api.shelves.close()
        trim(tmp_path, kept_from)
        first = min(kept_from, last + 1)
        await house.api.reopen()
        house.publisher = Press(house.api).publisher
        with pytest.raises(HistoryTrimmed):
            house.api.shelf().events(2, 10, lambda *_: True)
        link = house.attach()
        await house.remember(2, first=20)
        await house.delivered()

        gap, *events = link.sent
        assert gap.topic == "shelfd/v1/local/ev/default/_/events.gap"
        assert gap.event["type"] == "shelfd.events.gap.v1"
        assert gap.event["data"] == {"from_seq": 1, "to_seq": first - 1, "reason": "history_trimmed"}
        assert [message.seq for message in events] == list(range(first, last + 3))
        await house.until(lambda: house.cursor() == house.last_seq())


async def test_nothing_of_a_memory_reaches_the_log(house: Press) -> None:
    with capture_logs() as logs:
        link = house.attach()
        link.refuses = lambda message: Trouble.TOO_LARGE if message.event.get("seq") == 2 else None
        await house.api.remember("a secret told to nobody", title="secret title")
        await house.delivered()
        link.is_broken = True
        await house.api.remember("another secret", title="secret title")
        await house.pass_time(SECOND)

    assert logs
    assert "secret" not in str(logs)


async def test_full_contents_are_published_when_configured() -> None:
    async with press(settings=MemorySettings(event_content="full", instance="lab")) as house:
        link = house.attach()
        await house.api.remember("tea at four")
        await house.delivered()

        assert link.sent[-1].topic.startswith("shelfd/v1/lab/ev/default/")
        assert link.sent[-1].event["data"]["content"] == "tea at four"
