"""Writing usage while it is being written."""

import asyncio

from fakes import Api


async def test_a_write_waits_for_the_one_before(durable: Api) -> None:
    shelf = durable.shelf()
    notes = [shelf.view.notes.get((await durable.remember(f"note {number}"))["id"]) for number in range(2)]
    stored = [note for note in notes if note is not None]

    shelf.record_use(stored[:1], session_id="a")
    first = asyncio.ensure_future(shelf.write_usage())
    await asyncio.sleep(0)
    shelf.record_use(stored[1:], session_id="a")
    await shelf.write_usage()
    await first

    assert [usage.hits for usage in shelf.view.usage.by_rows([note.row for note in stored]).values()] == [1, 1]
