"""A walk to the nodes around one, held to a plain search over the same edges."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.samples import NEW_YEAR, create, write
from fakes import FakeClock
from shelfd.memory.knowledge.entities.aliases import Aliases
from shelfd.memory.knowledge.graph import walking
from shelfd.memory.knowledge.graph.visiting import Visited, visit
from shelfd.memory.knowledge.graph.walking import GraphReader
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.ports.edges import Edge, EdgeEnd, NoteEdges
from shelfd.memory.ports.entities import NoEnrichment, StoredAlias
from shelfd.memory.ports.store import Store
from shelfd.storage.inmemory import InMemoryStores

READY = {"state": "ready", "share": 1.0, "seq": 9}
#: Which note says it, from which entity to which.
Said = tuple[int, str, str]
_NOTES = 8
_HIDDEN = frozenset({2, 5})


class Known(NoEnrichment):
    """Knows that some names mean the same."""

    def __init__(self, aliases: Sequence[StoredAlias] = ()) -> None:
        self._names = Aliases(aliases)

    def names(self) -> Aliases:
        return self._names


def alias(name: str, other: str) -> StoredAlias:
    return StoredAlias("tool", name, name, other, other, "tool", 0, NEW_YEAR)


def edge(source: str, target: str) -> Edge:
    ends = [EdgeEnd("tool", value, value) for value in (source, target)]
    return Edge(ends[0], ends[1], "uses", "causal", 0.9)


async def filled(said: Sequence[Said], notes: int = _NOTES) -> Store:
    store = await InMemoryStores(FakeClock()).create("default", owner="uid:1000")
    for row in range(1, notes + 1):
        await store.commit(create(f"n{row}", archived_at=5 if row in _HIDDEN else None))
        edges = list(dict.fromkeys(edge(*ends) for note, *ends in said if note == row))
        await store.commit(write(lambda rows, row=row, edges=edges: rows.edges.put([NoteEdges(row, edges, 1)])))  # type: ignore[misc]
    return store


def plain(said: Sequence[Said], start: str, depth: int, joined: dict[str, str]) -> dict[str, int]:
    """Which nodes are how many steps away."""
    ends = [(joined.get(a, a), joined.get(b, b)) for note, a, b in said if note not in _HIDDEN]
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        for pair in ends:
            if at in pair and found[at] < depth:
                other = pair[0] if pair[1] == at else pair[1]
                if other not in found:
                    found[other] = found[at] + 1
                    waiting.append(other)
    return found


def check_path(node: dict[str, Any], said: Sequence[Said], joined: dict[str, str]) -> None:
    """Each step is what a note says that is wanted, and the last one leads to the node."""
    ends = {(f"n{note}", joined.get(a, a), joined.get(b, b)) for note, a, b in said if note not in _HIDDEN}
    at = "a"
    assert len(node["path"]) == node["depth"]
    for step in node["path"]:
        pair = (at, step["value"]) if step["direction"] == "outgoing" else (step["value"], at)
        assert (step["note_id"], *pair) in ends
        assert (step["relationship"], step["type"]) == ("uses", "tool")
        at = step["value"]
    assert (node["type"], node["value"]) == ("tool", at)


#: Of no note more than three.
_SAID = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")), max_size=3 * _NOTES).map(
    lambda ends: [(1 + at % _NOTES, *pair) for at, pair in enumerate(ends)]
)


@pytest.mark.parametrize(("page", "turn"), [(300, 200), (4, 2)])
def test_a_walk_comes_to_what_a_plain_search_does(page: int, turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "PAGE", page)
    monkeypatch.setattr(walking, "TURN", turn)

    @settings(derandomize=True, max_examples=60, deadline=None)
    @given(_SAID, st.integers(1, 4), st.booleans())
    def check(said: list[Said], depth: int, has_alias: bool) -> None:
        asyncio.run(compare(said, depth, has_alias=has_alias))

    async def compare(said: list[Said], depth: int, *, has_alias: bool) -> None:
        joined = {"b": "a"} if has_alias else {}
        store = await filled(said)
        known = Known([alias("b", "a")] if has_alias else ())
        reader = GraphReader(store.view, known, RECALLABLE._replace(now=6))
        start = reader.node("tool", "a")
        if start is None:
            assert not any("a" in ends or (has_alias and "b" in ends) for _, *ends in said)
            return
        found = await visit(reader, start, max_depth=depth, most_nodes=99)
        shown = json.loads(found.json(READY))
        steps = {"a": 0, **{one["value"]: one["depth"] for one in shown["nodes"]}}
        assert len(steps) == len(shown["nodes"]) + 1
        assert [*steps.values()] == sorted(steps.values())
        assert steps == plain(said, "a", depth, joined)
        assert shown["truncated"] is False
        for one in shown["nodes"]:
            check_path(one, said, joined)

    check()


async def test_others_have_their_turn_during_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "PAGE", 10)
    monkeypatch.setattr(walking, "TURN", 10)
    names = "abcd"
    store = await filled([(1, name, f"{name}{number}") for name in names for number in range(100)], notes=1)
    reader = GraphReader(store.view, Known([alias(name, "a") for name in "bcd"]), RECALLABLE._replace(now=6))
    start = reader.node("tool", "c")
    assert start is not None
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    found = await visit(reader, start, max_depth=1, most_nodes=1000)
    ticking.cancel()
    # Only what one page shows of a note: no more is looked at than two pages of each name.
    assert len(found.nodes) == 40
    assert turns > 3


async def test_a_way_is_told_as_json_whatever_it_leads_past() -> None:
    values = ["plain", 'a "quoted" one', "back\\slash", "Größe 日本 🙂", "\t\n\x00\x1f\x7f\u2028"]
    store = await InMemoryStores(FakeClock()).create("default", owner="uid:1000")
    for row, (value, other) in enumerate(pairwise(values), 1):
        await store.commit(create(f'n"{row}ü'))
        source, target = (value, other) if row % 2 else (other, value)
        said = edge(source, target)._replace(relation='EINGESETZT_für "')
        await store.commit(write(lambda rows, row=row, said=said: rows.edges.put([NoteEdges(row, [said], 1)])))  # type: ignore[misc]
    reader = GraphReader(store.view, Known(), RECALLABLE._replace(now=6))
    start = reader.node("tool", "plain")
    assert start is not None
    steps = [
        {
            "relationship": 'EINGESETZT_für "',
            "direction": "outgoing" if row % 2 else "incoming",
            "type": "tool",
            "value": value,
            "note_id": f'n"{row}ü',
        }
        for row, value in enumerate(values[1:], 1)
    ]
    found = await visit(reader, start, max_depth=4, most_nodes=4)
    assert json.loads(found.json(READY)) == {
        "nodes": [
            {"type": "tool", "value": value, "depth": depth, "path": steps[:depth]}
            for depth, value in enumerate(values[1:], 1)
        ],
        "truncated": False,
        "index": READY,
    }


def test_nothing_is_an_empty_list() -> None:
    assert json.loads(Visited([], is_truncated=False).json(READY)) == {"nodes": [], "truncated": False, "index": READY}


@pytest.mark.parametrize("hidden", [False, True])
async def test_the_newest_note_that_is_wanted_says_where_it_goes(*, hidden: bool) -> None:
    store = await filled([(row, "a", "u") for row in (1, 2, 4, 5)] + [(row, "v", "a") for row in (2, 3)])
    if hidden:
        note = store.view.notes.by_rows([4])[4]
        await store.commit(write(lambda rows: rows.notes.update(note, note._replace(archived_at=5))))
    reader = GraphReader(store.view, Known(), RECALLABLE._replace(now=6))
    start = reader.node("tool", "a")
    assert start is not None
    shown = json.loads((await visit(reader, start, max_depth=1, most_nodes=9)).json(READY))
    said = {one["value"]: one["path"][0]["note_id"] for one in shown["nodes"]}
    assert said == {"u": "n1" if hidden else "n4", "v": "n3"}
