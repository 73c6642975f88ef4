"""Kills a daemon while conversations are told to it, again and again, and sees that none of them took notice.

Eight conversations at a time have batches carried out, notes rolled up, turns taken back, brought back, extracted and
told in variants, branches made and types changed, most of them in jobs. The daemon is killed with SIGKILL after a
random number of answers. Each conversation then repeats what was not answered, under its key. In the end notes, links
and all answers are compared with those of the same conversations in memory, which nobody cut short.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from structlog.testing import capture_logs

from conversing import Call, Conversation, Json, RequestRefused
from fakes import Api, Refused, memory
from running import Daemon
from shelfd.client import AsyncClient, RpcFailure

CONVERSATIONS: Final = 8
#: Answers between two kills, at most.
_ANSWERS: Final = 40


def over_socket(client: AsyncClient) -> Call:
    """Requests of a daemon."""

    async def call(method: str, params: Json) -> Json:
        try:
            result: Json = await client.call(method, params)
        except RpcFailure as failure:
            raise RequestRefused(failure.code, is_retryable=failure.is_retryable) from None
        return result

    return call


def in_memory(api: Api) -> Call:
    """Requests of the memory alone."""

    async def call(method: str, params: Json) -> Json:
        try:
            return await api.call(method, params)
        except Refused as refusal:
            raise RequestRefused(refusal.code, is_retryable=refusal.error["data"]["retryable"]) from None

    return call


async def tell_until_killed(daemon: Daemon, told: Sequence[Conversation], answers: int) -> None:
    """Let all conversations go on, and kill the daemon once so many requests were answered."""
    goal = sum(one.step for one in told) + answers
    clients = [await AsyncClient.connect(daemon.socket) for _ in told]
    tasks = [asyncio.create_task(one.go_on(over_socket(client))) for one, client in zip(told, clients, strict=True)]
    while sum(one.step for one in told) < goal:
        await asyncio.sleep(0)
        assert not any(task.done() for task in tasks), [task.exception() for task in tasks if task.done()]
    daemon.kill()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, ConnectionError), repr(result)
    for client in clients:
        with contextlib.suppress(ConnectionError):
            await client.close()


async def looked_at(daemon: Daemon, told: Sequence[Conversation]) -> tuple[list[object], list[str]]:
    """End what was begun; return what the conversations came to, and what is wrong with the shelf."""
    async with await AsyncClient.connect(daemon.socket) as client:
        call = over_socket(client)
        for one in told:
            await one.go_on(call, until=one.step + 1)
        states = [await one.state(call) for one in told]
        check = await call("shelf.check", {})
        jobs = (await call("job.list", {"limit": 1000}))["jobs"]
        faults = list(check["problems"])
        faults += [f"a job {one['kind']} is {one['state']}" for one in jobs if one["state"] not in ("done", "failed")]
    return states, faults


async def uninterrupted(told: Sequence[Conversation]) -> tuple[list[object], list[Conversation]]:
    """What the same conversations come to in memory."""
    states, same = [], []
    async with memory() as api:
        for one in told:
            other = Conversation(one.name)
            await other.go_on(in_memory(api), until=one.step)
            states.append(await other.state(in_memory(api)))
            same.append(other)
    return states, same


def killed(directory: Path, seed: int, kills: int) -> tuple[list[str], Counter[str]]:
    """Kill a daemon so often; return what is wrong afterwards, and how many requests of each kind were answered."""
    chance = random.Random(seed)
    daemon = Daemon(directory)
    told = [Conversation(f"c{seed}-{number}") for number in range(CONVERSATIONS)]
    try:
        for _ in range(kills):
            daemon.start()
            asyncio.run(tell_until_killed(daemon, told, chance.randint(1, _ANSWERS)))
        daemon.start()
        states, faults = asyncio.run(looked_at(daemon, told))
    finally:
        if daemon.is_running:
            daemon.kill()
    with capture_logs():
        expected, same = asyncio.run(uninterrupted(told))
    for one, other, state, wanted in zip(told, same, states, expected, strict=True):
        if one.answers != other.answers:
            step = next(
                at for at, pair in enumerate(zip(one.answers, other.answers, strict=True)) if pair[0] != pair[1]
            )
            faults.append(f"{one.name}: answer {step} was {one.answers[step]} and not {other.answers[step]}")
        if state != wanted:
            faults.append(f"{one.name}: its notes or links are others than without kills")
    return faults, sum((one.kinds for one in told), Counter[str]())


def main() -> int:
    """Do as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="kills in all (100)")
    parser.add_argument("--each", type=int, default=10, help="kills of one daemon (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the first daemon; the next has the next one (1)")
    arguments = parser.parse_args()
    began = time.monotonic()
    faulty, done, kinds = 0, 0, Counter[str]()
    for number in range(-(-arguments.kills // arguments.each)):
        with tempfile.TemporaryDirectory() as directory:
            faults, answered = killed(Path(directory), arguments.seed + number, arguments.each)
        done += arguments.each
        kinds += answered
        faulty += bool(faults)
        print(f"seed {arguments.seed + number}: {sum(answered.values())} answers", *faults, sep="\n  ", flush=True)
    print(
        f"{done} kills, {sum(kinds.values())} answers, {faulty} daemons with faults, {time.monotonic() - began:.0f} s"
    )
    print(", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
