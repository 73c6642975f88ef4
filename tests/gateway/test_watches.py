"""Standing queries, from the outside: which notes are pushed, to whom, and what becomes of them."""

import os
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from gateway.fakes import Client, Open
from gateway.mqtt.publishing import press
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores


@pytest.fixture(params=["inmemory", "sqlite"])
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """The memory over each kind of stores."""
    stores = InMemoryStores if request.param == "inmemory" else lambda clock: SqliteStores(tmp_path / "shelves", clock)
    async with memory(stores) as real:
        yield real


class Listener:
    """A client that keeps the events which come between replies."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._events: deque[dict[str, Any]] = deque()

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call, and return the result."""
        reply = await self._reply(method, **params)
        assert "result" in reply, reply
        result: dict[str, Any] = reply["result"]
        return result

    async def refused(self, method: str, **params: Any) -> dict[str, Any]:
        """Call, and return the error."""
        error: dict[str, Any] = (await self._reply(method, **params))["error"]
        return error

    async def _reply(self, method: str, **params: Any) -> dict[str, Any]:
        sent = self._client.send(method, **params)
        while (message := await self._client.read()).get("id") != sent:
            self._events.append(message["params"])
        reply: dict[str, Any] = message
        return reply

    async def watch(self, query: str, **params: Any) -> str:
        """Make a standing query and return its id."""
        made = await self.call("watch.create", query=query, **params)
        assert made["subscription"]
        watch_id: str = made["watch"]["id"]
        return watch_id

    async def pushed(self) -> dict[str, Any]:
        """The next event."""
        if not self._events:
            await self.call("watch.list")  # no time passes by itself here: a read makes recall know what was written
        if self._events:
            return self._events.popleft()
        message = await self._client.read()
        assert message["method"] == "event", message
        params: dict[str, Any] = message["params"]
        return params

    async def nothing_more(self) -> None:
        """What would have been pushed by now comes before what is pushed next."""
        name = await self.watch("zebras in the snow")
        await self.call("remember", content="There are zebras in the snow today")
        assert (await self.pushed())["data"].get("watch") == name


async def listener(api: Api, open_house: Open) -> Listener:
    return Listener(await (await open_house(memory=api.service)).connect())


@pytest.fixture
async def client(api: Api, open_house: Open) -> Listener:
    return await listener(api, open_house)


async def test_a_note_that_enters_the_results_is_pushed(client: Listener) -> None:
    await client.call("remember", content="Nadja waters the tomatoes on Sundays")
    name = await client.watch("when does the bakery open?")
    await client.call("remember", content="The cat sleeps on the sofa")
    noted = await client.call("remember", content="The bakery on Mill Street opens at seven")
    event = await client.pushed()
    assert event["type"] == "shelfd.watch.matched.v1"
    assert event["subject"] == event["data"]["watch"] == name
    assert event["data"]["ids"] == [noted["note"]["id"]]
    assert 0.5 < event["data"]["relevance"] <= 1
    assert "seq" not in event
    assert event["cause_seq"] == int(event["id"].split(":")[1])


async def test_notes_from_before_and_notes_beside_it_are_not(client: Listener) -> None:
    await client.call("remember", content="The bakery on Mill Street opens at seven")
    await client.watch("when does the bakery open?")
    await client.call("remember", content="The library opens at nine")
    await client.nothing_more()


async def test_filters_nugget_and_score_hold(client: Listener) -> None:
    await client.call("nugget.create", name="work")
    await client.watch("bakery opening hours", nugget="work")
    await client.watch("bakery opening hours", filters={"tags": ["food"]})
    await client.watch("bakery opening hours", filters={"author": "Nadja"}, min_score=1.0)
    await client.call("remember", content="The bakery has opening hours from seven to noon")
    await client.call("remember", content="The bakery has opening hours from seven to noon", nugget="work")
    assert (await client.pushed())["data"]["nugget"] == "work"
    await client.call("remember", content="The bakery has opening hours till one", tags=["Food"])
    assert (await client.pushed())["data"]["nugget"] == "memory"
    await client.call("remember", content="The bakery of the village, said Nadja, is closed", author="Nadja")
    await client.nothing_more()


async def test_an_edit_is_pushed_only_if_it_brings_the_note_in(client: Listener) -> None:
    name = await client.watch("the bakery opening hours")
    note = (await client.call("remember", content="Something about the village"))["note"]["id"]
    await client.call("note.edit", id=note, content="The bakery has opening hours from seven to noon")
    assert (await client.pushed())["data"]["watch"] == name
    await client.call("note.edit", id=note, add_tags=["seen"])
    await client.call("note.edit", id=note, pinned=True)
    await client.call("note.hide", id=note)
    await client.call("note.restore", id=note)
    assert (await client.pushed())["data"]["watch"] == name
    await client.nothing_more()


async def test_another_principal_gets_none_of_it(api: Api, client: Listener) -> None:
    await api.call("watch.create", query="the bakery", principal="uid:4711")
    mine = await client.watch("the bakery opens")
    await client.call("remember", content="The bakery opens at seven")
    assert (await client.pushed())["data"]["watch"] == mine
    listed = await client.call("watch.list")
    assert ([one["id"] for one in listed["watches"]], listed["total"]) == ([mine], 1)
    theirs = (await api.call("watch.list", principal="uid:4711"))["watches"][0]["id"]
    assert await client.call("watch.delete", id=theirs) == {"removed": False}
    await client.nothing_more()


async def test_what_is_deleted_is_silent(client: Listener) -> None:
    name = await client.watch("the bakery opens")
    assert await client.call("watch.delete", id=name) == {"removed": True}
    assert await client.call("watch.delete", id=name) == {"removed": False}
    await client.call("remember", content="The bakery opens at seven")
    await client.nothing_more()


async def test_another_connection_subscribes_to_them_and_takes_up_where_it_left(api: Api, open_house: Open) -> None:
    house = await open_house(memory=api.service)
    first = Listener(await house.connect())
    name = await first.watch("the bakery opens")
    await first.call("remember", content="The bakery opens at seven")
    seq = (await first.pushed())["cause_seq"]
    await first.call("remember", content="The bakery opens at eight on Sundays")
    await first.pushed()
    second = Listener(await house.connect())
    await second.call("events.subscribe", types=["watch.matched"], since_seq=seq)
    event = await second.pushed()
    assert (event["data"]["watch"], event["cause_seq"]) == (name, seq + 1)
    everything = Listener(await house.connect())
    await everything.call("events.subscribe", since_seq=seq)
    assert (await everything.pushed())["type"] == "shelfd.note.created.v1"
    await first.call("remember", content="The bakery opens at nine in winter")
    assert (await everything.pushed())["type"] == "shelfd.note.created.v1"
    assert (await second.pushed())["data"]["watch"] == name


async def test_they_outlive_the_shelf_being_closed(api: Api, open_house: Open) -> None:
    mine = f"uid:{os.getuid()}"
    name = (await api.call("watch.create", query="the bakery opens", principal=mine))["watch"]["id"]
    await api.reopen()
    client = await listener(api, open_house)
    await client.call("events.subscribe", types=["watch.*"])
    await api.remember("The bakery opens at seven")
    assert (await client.pushed())["data"]["watch"] == name


async def test_a_renamed_nugget_keeps_its_own(client: Listener) -> None:
    await client.call("nugget.create", name="work")
    name = await client.watch("the bakery opens", nugget="work")
    await client.call("nugget.rename", name="work", new_name="job")
    await client.call("remember", content="The bakery opens at seven", nugget="job")
    assert (await client.pushed())["data"]["watch"] == name
    assert (await client.call("watch.list"))["watches"][0]["nugget"] == "job"


async def test_a_purge_takes_those_that_say_what_only_the_note_said(client: Listener) -> None:
    await client.call("remember", content="The bakery opens at seven")
    secret = (await client.call("remember", content="The code of the safe is xyzzy12"))["note"]["id"]
    told = await client.watch("where does it say xyzzy12?")
    kept = await client.watch("the bakery opens")
    unknown = await client.watch("any quokkas?")
    await client.call("forget", id=secret, purge=True)
    left = [one["id"] for one in (await client.call("watch.list"))["watches"]]
    assert told not in left
    assert left == [kept, unknown]


async def test_many_matches_of_one_note_all_come_in_parts(client: Listener) -> None:
    names = {await client.watch("the bakery opens") for _ in range(300)}
    await client.call("remember", content="The bakery opens at seven")
    assert {(await client.pushed())["data"]["watch"] for _ in range(300)} == names
    await client.nothing_more()


async def test_those_match_that_share_enough_words_and_one_is_deleted(client: Listener) -> None:
    queries = ["the bakery opens", "when does the bakery open?", "tomatoes on Sundays", "bakery in the street", "seven"]
    names = [await client.watch(query) for query in queries]
    await client.call("watch.delete", id=names[1])
    await client.call("remember", content="The bakery on Mill Street opens at seven")
    assert {(await client.pushed())["data"]["watch"] for _ in range(3)} == {names[0], names[3], names[4]}
    await client.nothing_more()


async def test_bad_ones_are_refused(client: Listener) -> None:
    for params, field in (
        ({"query": "a", "filters": {"colour": "red"}}, "filters.colour"),
        ({"query": "a", "min_score": 2}, "min_score"),
        ({"query": "a", "nugget": "nowhere"}, None),
        ({}, "query"),
    ):
        error = await client.refused("watch.create", **params)
        assert error["data"].get("field") == field
    assert (await client.call("watch.list"))["total"] == 0


async def test_matches_follow_their_change_to_the_broker_each_at_least_once(tmp_path: Path) -> None:
    async with press(lambda clock: SqliteStores(tmp_path, clock)) as house:
        made = [await house.api.call("watch.create", query="the bakery opens") for _ in range(200)]
        names = {one["watch"]["id"] for one in made}
        link = house.attach()
        await house.api.remember("The bakery opens at seven")
        await house.delivered()
        cause, *matches = link.sent[-201:]
        assert cause.event["type"] == "shelfd.note.created.v1"
        assert {message.topic.rpartition("/")[0] for message in matches} == {"shelfd/v1/local/watch/default"}
        assert {message.topic.rpartition("/")[2] for message in matches} == names
        assert {message.event["cause_seq"] for message in matches} == {cause.seq}

        link.holds = True
        await house.api.remember("The bakery opens at eight in winter")
        await house.until(lambda: len(link.held) > 20)
        link.take(*range(20))
        link.break_off()
        again = house.attach()
        await house.delivered()
        assert {m.topic.rpartition("/")[2] for m in again.sent if "cause_seq" in m.event} == names
        await house.until(lambda: house.cursor() == house.last_seq())
