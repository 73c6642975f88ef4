"""Views of many notes: made a few at a time."""

import asyncio
from typing import Any

from fakes import Api
from shelfd.memory.notes.note import Note
from shelfd.memory.sessions import views
from shelfd.memory.sessions.reading import open_reading


async def test_others_have_their_turn_while_a_long_page_is_made(api: Api) -> None:
    await api.call("session.open", session_id="s")
    await api.call("remember_many", notes=[{"content": f"note {number}"} for number in range(300)])
    reading = await open_reading(api.shelf(), "s")
    nodes = [node for _, node in reading.graph.timeline()]
    seen: list[int] = []

    def view(node: int, note: Note) -> str:
        assert reading.graph.id(node) == note.id
        seen.append(node)
        return note.id

    task, pauses = asyncio.create_task(views.views_of(reading, nodes, lambda node: node, view)), 0
    while not task.done():
        await asyncio.sleep(0)
        pauses += 0 < len(seen) < 300
    assert seen == nodes
    assert pauses == 2
    assert task.result() == [reading.graph.id(node) for node in nodes]


async def test_a_node_is_shown_as_it_is_now_however_often_it_was_shown(api: Api) -> None:
    await api.call("session.open", session_id="s")
    made = await api.call("session.create_node", session_id="s", type="event", title="Fog", fields={"what": "fog"})
    asked = {"session_id": "s", "id": made["id"]}
    first = (await api.call("session.get_node", **asked))["node"]
    assert (await api.call("session.get_node", **asked))["node"] == first
    await api.call("session.edit_node", **asked, set_fields={"what": "rain"})
    assert (await api.call("session.get_node", **asked))["node"]["fields"]["what"] == "rain"
    assert "summary" in (await api.call("session.get_node", **asked))["node"]["fields"]
    columns: dict[str, Any] = {"table_columns": ["title", "what"]}
    columns |= {"required_columns": ["title"], "embedding_columns": ["title"]}
    await api.call("schema.set_type", type="event", **columns)
    assert "summary" not in (await api.call("session.get_node", **asked))["node"]["fields"]
    await api.call("session.delete_node", **asked)
    assert (await api.call("session.get_node", **asked))["node"]["archived"]
