"""A daemon killed with SIGKILL while eight writers are at work, again and again.

Nothing acknowledged may be missing, nothing may be there twice, and the log may have no gap. Writers repeat what
was not acknowledged under the same idempotency key, as the contract tells them to.
"""

import asyncio
import contextlib
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from running import Daemon
from shelfd.client import AsyncClient, RpcFailure

WRITERS = 8
#: Four rounds of 25, so that they can run side by side: 100 kills in all.
ROUNDS = range(4)
KILLS = 25
#: Notes of one request.
MANY = 400


@dataclass
class Writer:
    """One writer: what it still has to store under which key, and what was acknowledged."""

    name: str
    number: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """The text of the note that is next."""
        return f"{self.name} wrote line {self.number}"

    async def write(self, client: AsyncClient) -> None:
        """Store notes until the connection is lost."""
        while True:
            params = {"content": self.content, "idempotency_key": f"{self.name}-{self.number}", "session_id": self.name}
            # Every third note is a fact, so that updates are under way as well.
            if self.number % 3 == 0:
                params["key"] = f"{self.name} latest"
            reply = await client.call("remember", params)
            self.acknowledged[self.content] = reply["note"]["id"]
            self.number += 1


async def write_until_killed(daemon: Daemon, writers: list[Writer], acknowledgements: int) -> None:
    """Let all writers write, and kill the daemon once so many notes were acknowledged."""
    goal = sum(len(writer.acknowledged) for writer in writers) + acknowledgements
    clients = [await AsyncClient.connect(daemon.socket) for _ in writers]
    tasks = [asyncio.create_task(writer.write(client)) for writer, client in zip(writers, clients, strict=True)]
    while sum(len(writer.acknowledged) for writer in writers) < goal:
        await asyncio.sleep(0)
        assert not any(task.done() for task in tasks), [task.exception() for task in tasks if task.done()]
    daemon.kill()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, ConnectionError | RpcFailure), result
    for client in clients:
        with contextlib.suppress(ConnectionError):
            await client.close()


def everything(daemon: Daemon) -> list[dict[str, object]]:
    """All notes, page by page."""
    notes: list[dict[str, object]] = []
    cursor: dict[str, str] = {}
    with daemon.connect() as client:
        while True:
            page = client.call("note.list", {"limit": 1000, "order": "created_at", **cursor})
            notes += page["notes"]
            if "next_cursor" not in page:
                return notes
            cursor = {"cursor": page["next_cursor"]}


def log_sequence(daemon: Daemon) -> list[int]:
    """Every sequence number of the log."""
    found: list[int] = []
    with daemon.connect() as client:
        while True:
            page = client.call("shelf.log", {"since_seq": found[-1] if found else 0, "limit": 1000})
            found += [row["seq"] for row in page["log"]]
            if not page["log"]:
                return found


@pytest.mark.parametrize("seed", ROUNDS)
def test_kill_loses_and_doubles_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    print(f"seed {seed}")
    daemon = Daemon(tmp_path)
    writers = [Writer(f"w{seed}-{number}") for number in range(WRITERS)]
    try:
        for _ in range(KILLS):
            daemon.start()
            asyncio.run(write_until_killed(daemon, writers, chance.randint(1, 60)))
        daemon.start()
        notes = everything(daemon)
        check = daemon.call("shelf.check")
        sequence = log_sequence(daemon)
        facts = {note["id"] for note in notes if note["kind"] == "fact"}
        said = Counter(str(note["content"]) for note in notes if note["kind"] == "note")
        for fact in facts:
            said.update(fact_values(daemon, str(fact)))
    finally:
        if daemon.is_running:
            daemon.kill()
    acknowledged = {content: note_id for writer in writers for content, note_id in writer.acknowledged.items()}
    assert not [content for content in acknowledged if not said[content]], "acknowledged and missing"
    assert not [content for content, times in said.items() if times > 1], "stored twice"
    # At most the one request each writer had on its way may be there without having been acknowledged.
    assert set(said) - set(acknowledged) <= {writer.content for writer in writers}
    assert sequence == list(range(1, len(sequence) + 1)), "the log has a gap"
    assert check == {"ok": True, "problems": [], "notes": len(notes), "last_seq": len(sequence)}
    assert len(acknowledged) >= KILLS


async def load_until_killed(daemon: Daemon, acknowledged: list[int], first: int, chance: random.Random) -> int:
    """Store many notes a request, each request in a nugget of its own; kill in one of them. Return the next number."""
    number = first
    loader, other = await AsyncClient.connect(daemon.socket), await AsyncClient.connect(daemon.socket)

    async def load() -> None:
        nonlocal number
        while True:
            notes = [{"content": f"line {line}", "nugget": f"load-{number}"} for line in range(MANY)]
            number += 1
            result = await loader.call("remember_many", {"notes": notes})
            assert len(result["ids"]) == MANY
            acknowledged.append(number - 1)

    task, goal = asyncio.create_task(load()), len(acknowledged) + chance.randint(0, 2)
    while len(acknowledged) < goal:
        await asyncio.sleep(0)
        assert not task.done()
    for _ in range(chance.randint(0, 25)):  # answered while the next one is being written, or recall takes it in
        await other.call("system.health")
    daemon.kill()
    assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], ConnectionError)
    for client in (loader, other):
        with contextlib.suppress(ConnectionError):
            await client.close()
    return number


def test_a_request_of_many_notes_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    chance, daemon, acknowledged, number = random.Random(14), Daemon(tmp_path), list[int](), 0
    try:
        for _ in range(3):
            daemon.start()
            number = asyncio.run(load_until_killed(daemon, acknowledged, number, chance))
        daemon.start()
        counts = {nugget["name"]: nugget["note_count"] for nugget in daemon.call("nugget.list", limit=1000)["nuggets"]}
        check = daemon.call("shelf.check")
        sequence = log_sequence(daemon)
    finally:
        if daemon.is_running:
            daemon.kill()
    assert set(counts.values()) == {MANY}
    assert {f"load-{done}" for done in acknowledged} <= counts.keys() <= {f"load-{begun}" for begun in range(number)}
    assert sequence == list(range(1, len(counts) * (MANY + 1) + 1)), "the log has a gap"
    assert check == {"ok": True, "problems": [], "notes": len(counts) * MANY, "last_seq": len(sequence)}


def fact_values(daemon: Daemon, note_id: str) -> list[str]:
    """Every value a fact ever had."""
    versions = []
    with daemon.connect() as client:
        page = client.call("note.history", {"id": note_id, "limit": 1000})
        versions += page["versions"]
        while "next_cursor" in page:
            page = client.call("note.history", {"id": note_id, "limit": 1000, "cursor": page["next_cursor"]})
            versions += page["versions"]
    return [version["change"]["content"] for version in versions if "content" in version["change"]]
