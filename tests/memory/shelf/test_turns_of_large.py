"""Who asks for little does not wait for all of those who asked for much before."""

import asyncio
from threading import Event
from typing import Any

from contract.samples import create
from fakes import Api
from shelfd.memory.call import Call
from shelfd.memory.shelf.backlog import LARGE

MANY = [{"content": f"The ferry of {number} o'clock is full."} for number in range(LARGE + 1)]


async def test_a_small_change_goes_before_large_ones_that_came_earlier(durable: Api) -> None:
    await durable.remember("The shelf is open.")
    shelf = await durable.shelves.get("default")
    release, held = Event(), create("held")

    def wait(writer: Any, now: int) -> Any:
        release.wait(60)
        return held.apply(writer, now)

    def ask(sender: str, name: str, **params: Any) -> Call:
        call = durable.request(name, params)
        call.request_id, call.sender = f"{name} of {sender}", sender
        return call

    shelf.store.submit(held._replace(apply=wait), lambda _: None)
    asked = [ask(sender, "remember_many", notes=MANY) for sender in ("Ines", "Jonas", "Mira")]
    asked += [ask(sender, "remember", content="A dog may come along.") for sender in ("Tom", "Mira", "Ines")]
    answers = asyncio.gather(*map(durable.handle, asked))
    await asyncio.sleep(0)
    release.set()
    await answers
    rows = shelf.view.log.page(since_seq=0, limit=5_000)
    assert list(dict.fromkeys(row.origin.request_id for row in rows))[-6:] == [
        "remember_many of Ines",
        "remember of Tom",
        "remember of Ines",
        "remember_many of Jonas",
        "remember_many of Mira",
        "remember of Mira",
    ]
