"""Views of many notes: made a few at a time."""

import asyncio

from fakes import Api
from shelfd.memory.sessions import views
from shelfd.memory.sessions.reading import open_reading


async def test_others_have_their_turn_while_a_long_page_is_made(api: Api) -> None:
    await api.call("session.open", session_id="s")
    await api.call("remember_many", notes=[{"content": f"note {number}"} for number in range(300)])
    reading = await open_reading(api.shelf(), "s")
    nodes = [node for _, node in reading.graph.timeline()]
    seen: list[int] = []

    async def made() -> None:
        async for node, note in views.noted(reading, nodes, lambda node: node):
            assert reading.graph.id(node) == note.id
            seen.append(node)

    task, pauses = asyncio.create_task(made()), 0
    while not task.done():
        await asyncio.sleep(0)
        pauses += 0 < len(seen) < 300
    assert seen == nodes
    assert pauses == 2
