"""Several clients that work on the same notes at once: whatever comes of it, the shelf is sound."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client import AsyncClient, RpcFailure

CLIENTS, CALLS = 4, 120
#: Not found, in conflict, or contradicting itself: what a client that chooses blindly has to expect.
EXPECTED = {-32001, -32002, -32602}


class Meddler:
    """A client that does one thing after another to notes it or others made; the same seed chooses the same."""

    def __init__(self, client: AsyncClient, ids: list[str], seed: int) -> None:
        self.client = client
        self.ids = ids
        self.dice = random.Random(seed)
        self.refusals: list[RpcFailure] = []

    async def meddle(self) -> None:
        """Make some notes, then meddle."""
        for _ in range(CALLS):
            method, params = self.choose()
            try:
                result = await self.client.call(method, params)
            except RpcFailure as refusal:
                self.refusals.append(refusal)
            else:
                if method == "remember":
                    self.ids.append(result["note"]["id"])

    def choose(self) -> tuple[str, dict[str, Any]]:
        """Return what to do next."""
        dice = self.dice
        if len(self.ids) < CLIENTS or dice.random() < 0.3:
            key = {"key": f"key {dice.randrange(6)}"} if dice.random() < 0.3 else {}
            return "remember", {"content": self.text(), "nugget": dice.choice("ab"), **key}
        one, other = dice.choice(self.ids), dice.choice(self.ids)
        choices: list[Callable[[], tuple[str, dict[str, Any]]]] = [
            lambda: ("note.edit", {"id": one, "content": self.text(), "add_tags": [f"tag-{dice.randrange(5)}"]}),
            lambda: ("note.merge", {"target": one, "source": other}),
            lambda: ("note.move", {"id": one, "nugget": dice.choice("ab")}),
            lambda: ("mark_note_superseded", {"note_id": one, "superseded_by_id": other}),
            lambda: ("note.revert", {"id": one, "rev": 1 + dice.randrange(3)}),
            lambda: ("forget", {"id": one, "purge": dice.random() < 0.3}),
            lambda: ("note.restore", {"id": one}),
            lambda: ("undo", {"tx": 1 + dice.randrange(200)}),
            lambda: ("recall", {"query": self.text(), "session_id": f"s{dice.randrange(5)}"}),
            lambda: ("note.search", {"query": self.text()}),
            lambda: ("reflect", {}),
            lambda: ("promote", {}),
            lambda: ("nugget.remove", {"name": "a", "purge": dice.random() < 0.5}),
        ]
        weights = [4, 3, 2, 2, 2, 2, 2, 3, 4, 1, 1, 1, 0.1]
        return dice.choices(choices, weights)[0]()

    def text(self) -> str:
        """A few words that others use, too."""
        words = "crane harbour tide pier rope anchor buoy ferry gull mast".split()
        return " ".join(self.dice.choices(words, k=self.dice.randrange(2, 9)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_shelf_is_sound_after_clients_in_conflict(tmp_path: Path, seed: int) -> None:
    async def meddle(socket: str) -> list[RpcFailure]:
        ids: list[str] = []
        meddlers = [Meddler(await AsyncClient.connect(socket), ids, 10 * seed + n) for n in range(CLIENTS)]
        await asyncio.gather(*(meddler.meddle() for meddler in meddlers))
        for meddler in meddlers:
            await meddler.client.close()
        return [refusal for meddler in meddlers for refusal in meddler.refusals]

    with Daemon(tmp_path) as daemon:
        refusals = asyncio.run(meddle(daemon.socket))
        seqs: list[int] = []
        while page := daemon.call("shelf.log", since_seq=len(seqs), limit=1000)["log"]:
            seqs += [row["seq"] for row in page]
        checked = daemon.call("shelf.check")
        assert daemon.stop() == 0

    assert checked["problems"] == []
    assert seqs == list(range(1, len(seqs) + 1))
    assert {refusal.code for refusal in refusals} <= EXPECTED
    assert [event for event in daemon.events() if event["level"] in {"error", "critical"}] == []
