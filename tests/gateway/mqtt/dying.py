"""A daemon's MQTT half that dies as a power cut would: run by tests with a broker's URL, a directory and a moment.

``commit``: when a request is committed and about to be acknowledged. ``later``: when the test kills it.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from gateway.mqtt.requesting import station
from shelfd.gateway.mqtt.adapter import AiomqttLink
from shelfd.gateway.mqtt.link import Arrived
from shelfd.storage import SqliteStores


def die(_link: AiomqttLink, _message: Arrived) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(url: str, directory: str, moment: str) -> None:
    if moment == "commit":
        AiomqttLink.acknowledge = die  # type: ignore[assignment,method-assign]
    async with station(url, stores=lambda clock: SqliteStores(Path(directory), clock)):
        print("connected", flush=True)
        await asyncio.to_thread(sys.stdin.readline)  # until the test kills it


asyncio.run(main(*sys.argv[1:]))
