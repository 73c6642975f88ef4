"""What was acknowledged survives a kill in mid-write."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from fakes import FakeClock
from shelfd.storage import SqliteStores

WRITER = Path(__file__).with_name("crash_writer.py")


async def _write_and_kill(root: Path, run: str, *, after: int) -> list[str]:
    """Return the ids that a writer acknowledged before it was killed, *after* of them or more."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    process = await asyncio.create_subprocess_exec(
        sys.executable, WRITER, root, run, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    assert process.stdout is not None
    lines: list[bytes] = []
    while sum(line.startswith(b"acknowledged") for line in lines) < after:
        lines.append(await process.stdout.readline())
        assert lines[-1], "the writer ended by itself"
    process.send_signal(signal.SIGKILL)
    lines += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()
    words = [line.decode().split() for line in lines if line.endswith(b"\n")]
    return [line[1] for line in words if len(line) == 2 and line[0] == "acknowledged"]


async def test_every_acknowledged_change_survives_kills_in_mid_write(tmp_path: Path) -> None:
    stores = SqliteStores(tmp_path, FakeClock())
    await (await stores.create("default", owner="uid:1")).close()
    acknowledged: list[str] = []
    for run, after in enumerate((1, 150, 333)):
        acknowledged += await _write_and_kill(tmp_path, f"r{run}", after=after)

    store = await stores.open("default")
    assert store._background_check is not None
    assert len(acknowledged) >= 400
    assert store.view.notes.by_ids(acknowledged).keys() == set(acknowledged)
    log = store.view.log.page(since_seq=0, limit=1_000_000)
    assert [row.seq for row in log] == list(range(1, store.view.log.last_seq + 1))
    assert store.view.counts().notes == len(log)
    assert await store.check(full=True) == []
    await store.close()
