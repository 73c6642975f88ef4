"""Writes to a shelf until it is killed, and prints the id of each note that was acknowledged."""

import asyncio
import sys
from pathlib import Path

from contract.samples import create
from fakes import FakeClock
from shelfd.storage import SqliteStores


async def write_for_ever(root: Path, run: str) -> None:
    store = await SqliteStores(root, FakeClock()).open("default")

    async def write(worker: int) -> None:
        number = 0
        while True:
            note_id = f"{run}-{worker}-{number}"
            await store.commit(create(note_id, content=note_id * 40))
            print("acknowledged", note_id, flush=True)
            number += 1

    await asyncio.gather(*(write(worker) for worker in range(16)))


if __name__ == "__main__":
    asyncio.run(write_for_ever(Path(sys.argv[1]), sys.argv[2]))
