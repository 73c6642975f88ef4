"""Entities through the socket, and of a daemon that is killed while it derives them."""

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client import AsyncClient, Client, RpcFailure

#: Rounds that can run side by side, and how often each kills.
ROUNDS = range(2)
KILLS = 8
#: Notes of a request, and requests of a round: deriving takes longer than writing, and who asks waits for all.
AT_ONCE = 20
REQUESTS = 10


def contents(result: dict[str, Any]) -> list[str]:
    return [note["content"] for note in result["notes"]]


def test_entities_through_the_socket(daemon: Daemon) -> None:
    with daemon.connect() as client:
        client.call("remember", {"content": "APT28 deployed X-Agent by CVE-2024-3094."})
        client.call("remember", {"content": "Blue Otter used Cobalt Strike on web-01."})
        assert len(contents(client.call("recall_actor", {"actor_name": "Fancy Bear"}))) == 1
        assert len(contents(client.call("recall_cve", {"cve_id": "cve-2024-3094"}))) == 1
        assert len(contents(client.call("recall_tool", {"toolName": "cobalt strike"}))) == 1
        entity = client.call("recall_entity", {"entity_type": "asset", "entity_value": "WEB-01"})["entity"]
        assert entity == {"type": "asset", "value": "web-01", "canonical": "web-01"}

        new = {"type": "actor", "alias": "Storm Weasel", "canonical": "Blue Otter"}
        assert client.call("alias.add", new)["added"]
        assert len(contents(client.call("recall_actor", {"actor_name": "storm weasel"}))) == 1
        listed = client.call("alias.list", {"type": "actor", "limit": 1000})["aliases"]
        assert "storm-weasel" in [alias["alias"] for alias in listed if alias["source"] == "caller"]
        assert client.call("alias.remove", {"type": "actor", "alias": "Storm Weasel"}) == {"removed": True}
        assert contents(client.call("recall_actor", {"actor_name": "storm weasel"})) == []

        for method, params, code, field in (
            ("recall_entity", {"entity_type": "colour", "entity_value": "red"}, -32602, "entity_type"),
            ("alias.add", {"type": "tool", "alias": "a b", "canonical": "A-B"}, -32602, "alias"),
            ("alias.add", {"type": "actor", "alias": "apt28", "canonical": "Pawn Storm"}, -32002, "canonical"),
        ):
            with pytest.raises(RpcFailure) as refused:
                client.call(method, params)
            assert (refused.value.code, refused.value.data["field"]) == (code, field)


def test_types_of_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "shelfd.toml"
    config.write_text("[entities.types.ticket]\npatterns = ['INC-?\\d{4,8}']\n")
    with Daemon(tmp_path, "--config", str(config)) as daemon:
        daemon.call("remember", content="INC-204412 is solved.")
        found = daemon.call("recall_entity", entity_type="ticket", entity_value="inc204412")
        assert contents(found) == ["INC-204412 is solved."]
        daemon.stop()


async def remember_and_ask(daemon: Daemon, remembered: list[int], answers: int) -> None:
    """Have one client remember and another one ask, and kill the daemon after so many answers."""
    writer, reader = [await AsyncClient.connect(daemon.socket) for _ in range(2)]
    has_begun = asyncio.Event()

    async def write() -> None:
        for _ in range(REQUESTS):
            first = len(remembered)
            notes = [{"content": f"Host web-{number} ran Emotet."} for number in range(first, first + AT_ONCE)]
            result = await writer.call("remember_many", {"notes": notes, "idempotency_key": f"from {first}"})
            remembered.extend(range(first, first + len(result["ids"])))
            has_begun.set()

    async def ask() -> None:
        await has_begun.wait()
        for _ in range(answers):
            await reader.call("recall_tool", {"tool_name": "Emotet"})

    writing, asking = asyncio.create_task(write()), asyncio.create_task(ask())
    await asking
    daemon.kill()
    for result in await asyncio.gather(writing, return_exceptions=True):
        assert result is None or isinstance(result, ConnectionError | RpcFailure), result
    for client in (writer, reader):
        with contextlib.suppress(ConnectionError):
            await client.close()


@pytest.mark.parametrize("seed", ROUNDS)
def test_a_daemon_that_is_killed_while_it_derives_entities_has_all_of_them_afterwards(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    remembered: list[int] = []
    daemon = Daemon(tmp_path)
    try:
        for _ in range(KILLS):
            daemon.start()
            asyncio.run(remember_and_ask(daemon, remembered, chance.randint(1, 12)))
        daemon.start()
        with daemon.connect() as client:
            check(client, remembered, chance)
    finally:
        if daemon.is_running:
            daemon.kill()


def check(client: Client, remembered: list[int], chance: random.Random) -> None:
    last = client.call("shelf.check")["last_seq"]
    while client.call("recall_tool", {"tool_name": "Emotet", "min_seq": last})["index"]["state"] != "ready":
        pass  # each waits some seconds for what is not read yet
    stats = client.call("get_stats")
    count = stats["total_notes"]
    assert count >= len(remembered) > KILLS
    assert stats["entity_index"]["malware"] == {"unique_entities": 1, "total_mappings": count}
    assert stats["entity_index"]["asset"] == {"unique_entities": count, "total_mappings": count}
    assert client.call("shelf.check")["ok"]
    for number in chance.sample(remembered, 20):
        asked = {"entity_type": "asset", "entity_value": f"web-{number}"}
        assert contents(client.call("recall_entity", asked)) == [f"Host web-{number} ran Emotet."]
