"""Sessions that are frozen: what they read is what the others read then."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.sessions import frozen
from shelfd.storage import SqliteStores

TITLES = ["Ada", "mill", "ferry"]


async def opened(api: Api) -> None:
    await api.call("session.open", session_id="s", nugget="story")


async def create(api: Api, title: str, **named: Any) -> str:
    node = await api.call("session.create_node", session_id="s", type="note", title=title, fields={"x": title}, **named)
    return str(node["id"])


async def shown(api: Api, session_id: str) -> dict[str, Any]:
    """All that a session reads of nodes, links and frontier."""
    nodes = await api.call("session.list_nodes", session_id=session_id, active_only=False)
    links = await api.call("session.list_edges", session_id=session_id)
    frontier = await api.call("session.list_visible_candidates", session_id=session_id)
    found, named = [], []
    for title in TITLES:
        searched = await api.call("session.keyword_search", session_id=session_id, query=title)
        found.append(sorted(result["id"] for result in searched["results"]))
        matching = await api.call("session.find_by_name", session_id=session_id, query=title)
        named.append(sorted(node["id"] for node in matching["matches"]))
    edges = sorted((edge["from"], edge["to"], edge["type"]) for edge in links["edges"])
    return {"nodes": nodes, "edges": edges, "frontier": frontier, "found": found, "named": named}


async def test_a_frozen_session_reads_what_was(either: Api) -> None:
    await opened(either)
    ada, mill = await create(either, "Ada", turn=1), await create(either, "mill", turn=1)
    await either.call(
        "session.upsert_links",
        session_id="s",
        source={"id": ada},
        links=[{"target": {"id": mill}, "relation": "about"}],
    )
    await either.call("session.open", session_id="t", nugget="story", at_seq=either.shelf().view.log.last_seq)
    was = await shown(either, "t")
    assert was == await shown(either, "s")

    await either.call("session.edit_node", session_id="s", id=ada, title="Grace", turn=2)
    await either.call("session.delete_node", session_id="s", id=mill, turn=2)
    await create(either, "ferry", turn=2)
    assert await shown(either, "t") == was
    assert await shown(either, "s") != was
    refused = await either.refused("session.create_node", session_id="t", type="note", title="x")
    assert (refused.code, refused.reason) == (-32002, "FROZEN")


async def test_what_is_purged_is_gone_from_what_was(either: Api) -> None:
    await opened(either)
    ada = await create(either, "Ada")
    await create(either, "mill")
    await either.call("session.open", session_id="t", nugget="story", at_seq=either.shelf().view.log.last_seq)
    assert len((await either.call("session.list_nodes", session_id="t"))["nodes"]) == 2
    await either.call("forget", id=ada, purge=True)
    assert [node["title"] for node in (await either.call("session.list_nodes", session_id="t"))["nodes"]] == ["mill"]
    assert (await either.call("session.get_node", session_id="t", id=ada))["node"] is None


async def test_too_long_ago_is_refused(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "MOST_CHANGES", 3)
    await opened(either)
    await either.call("session.open", session_id="t", nugget="story", at_seq=1)
    for title in TITLES:
        await create(either, title)
    refused = await either.refused("session.list_nodes", session_id="t")
    assert (refused.code, refused.reason, refused.limit) == (-32002, "TOO_LONG_AGO", 3)


numbers = st.integers(0, 3)
ACTS = st.lists(
    st.tuples(st.sampled_from(["create", "edit", "delete", "link", "unlink", "move", "retract"]), numbers, numbers),
    max_size=8,
)


async def _act(api: Api, act: str, one: int, other: int) -> None:
    ids = [note.id for note in reversed(api.shelf().view.notes.scan(before_row=None, limit=9))]
    first, second = (ids[number % len(ids)] if ids else "" for number in (one, other))
    if act == "create" or not ids:
        await create(api, TITLES[one % 3], on_match="new", turn=1 + one)
    elif act == "edit":
        await api.call("session.edit_node", session_id="s", id=first, title=TITLES[other % 3], turn=1 + other)
    elif act == "delete":
        await api.call("session.delete_node", session_id="s", id=first, turn=1 + other)
    elif act == "move":
        await api.call("note.move", id=first, nugget="story" if other % 2 else "elsewhere")
    elif act == "retract":
        await api.call("session.retract_turns", session_id="s", from_turn=1 + one)
    elif first != second:
        method = "link.upsert" if act == "link" else "link.delete"
        is_there = api.shelf().view.links.get(first, second, "knows") is not None
        if act == "link" or is_there:
            await api.call(method, source=first, target=second, relation="knows", direction="outgoing")


@given(ACTS, ACTS)
@settings(deadline=None, max_examples=60)
def test_whatever_happens_since_what_was_is_shown(before: list[tuple[str, int, int]], since: list[Any]) -> None:
    async def run() -> None:
        async with memory() as api:
            await opened(api)
            await api.call("nugget.create", name="elsewhere")
            for act in [("create", 0, 0), *before]:
                await _act(api, *act)
            await api.call("session.open", session_id="t", nugget="story", at_seq=api.shelf().view.log.last_seq)
            was = await shown(api, "s")
            for act in since:
                await _act(api, *act)
            assert await shown(api, "t") == was

    asyncio.run(run())


async def test_it_survives_a_restart(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        await opened(api)
        await create(api, "Ada")
        await api.call("session.open", session_id="t", nugget="story", at_seq=api.shelf().view.log.last_seq)
        was = await shown(api, "t")
        await create(api, "mill")
        await api.reopen()
        assert await shown(api, "t") == was
