"""Notes that replace others, through the socket and the command line, and of a daemon that is killed meanwhile."""

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client import AsyncClient, RpcFailure

DEPLOYED = "APT28 deployed X-Agent via spearphishing targeting NATO members"
SWITCHED = "APT28 stopped using X-Agent, switched to HeadLace backdoor"
CLIENTS = 4
KILLS = 6


def test_a_note_replaces_another_and_events_say_so(daemon: Daemon) -> None:
    with daemon.connect() as client:
        old = client.call("remember", {"content": DEPLOYED, "domain": "cti"})
        new = client.call("remember", {"content": SWITCHED, "domain": "cti", "evolve": True})
        assert (new["status"], new["superseded"]) == ("updated", [old["note"]["id"]])
        found = client.call("recall", {"query": "What backdoor does APT28 use?"})["results"]
        assert [one["note"]["id"] for one in found] == [new["note"]["id"]]
        told = [event["type"] for event in client.call("events.since", {"seq": 0})["events"]]
        assert told[-2:] == ["shelfd.note.created.v1", "shelfd.note.superseded.v1"]

        for blood in ("A positive", "AB negative"):
            last = client.call("remember", {"content": f"Paul's blood type is {blood}.", "evolve": True})
        (event,) = [
            event for event in client.call("events.since", {"seq": 0})["events"] if ".conflict." in event["type"]
        ]
        assert event["type"] == "shelfd.conflict.found.v1"
        assert event["data"]["conflict"] == last["conflicts"][0]
        assert len(event["data"]["ids"]) == 2
        client.call("conflict.resolve", {"id": last["conflicts"][0], "keep": "a"})
        (event,) = client.call("events.since", {"seq": event["seq"], "limit": 1})["events"]
        assert (event["type"], event["data"]["resolution"]) == ("shelfd.conflict.resolved.v1", "a")


class Teller:
    """Who says again and again where somebody lives."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0
        self.answers: list[dict[str, Any]] = []

    async def tell(self, client: AsyncClient) -> None:
        """Tell until the connection is lost; what was not answered is told again under its key."""
        while True:
            content = f"{self.name} lives in Town{self.number}."
            params = {"content": content, "evolve": True, "idempotency_key": f"{self.name}-{self.number}"}
            self.answers.append(await client.call("remember", params))
            self.number += 1


async def tell_until_killed(daemon: Daemon, tellers: list[Teller], answers: int) -> None:
    goal = sum(teller.number for teller in tellers) + answers
    clients = [await AsyncClient.connect(daemon.socket) for _ in tellers]
    tasks = [asyncio.create_task(teller.tell(client)) for teller, client in zip(tellers, clients, strict=True)]
    while sum(teller.number for teller in tellers) < goal:
        await asyncio.sleep(0)
        assert not any(task.done() for task in tasks)
    daemon.kill()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, ConnectionError | RpcFailure), result
    for client in clients:
        with contextlib.suppress(ConnectionError):
            await client.close()


@pytest.mark.parametrize("seed", range(1))
def test_what_was_acknowledged_as_superseded_is_so_after_kills(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    tellers = [Teller(name) for name in ("Ada", "Bruno", "Clara", "Dora")]
    with Daemon(tmp_path) as daemon:
        for _ in range(KILLS):
            asyncio.run(tell_until_killed(daemon, tellers, dice.randrange(1, 60)))
            daemon.start()
        notes = {
            note["id"]: note
            for note in daemon.call("note.list", limit=1000, include_superseded=True)["notes"]
        }  # fmt: skip
        for teller in tellers:
            for answer in teller.answers:
                for note_id in answer["superseded"]:
                    assert notes[note_id]["superseded_by"] == answer["note"]["id"]
            live = [
                note
                for note in notes.values()
                if note["content"].startswith(teller.name) and not note.get("superseded_by")
            ]
            assert len(live) == 1
        assert daemon.call("shelf.check")["ok"]
