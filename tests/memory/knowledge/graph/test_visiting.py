"""A walk to the nodes around one, held to a plain search over the same edges."""

import asyncio
from collections import deque
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.samples import NEW_YEAR, create, write
from fakes import FakeClock
from shelfd.memory.knowledge.entities.aliases import Aliases
from shelfd.memory.knowledge.graph import walking
from shelfd.memory.knowledge.graph.visiting import visit
from shelfd.memory.knowledge.graph.walking import GraphReader
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.ports.edges import Edge, EdgeEnd, NoteEdges
from shelfd.memory.ports.entities import NoEnrichment, StoredAlias
from shelfd.memory.ports.store import Store
from shelfd.storage.inmemory import InMemoryStores

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


#: Of no note more than three.
_SAID = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")), max_size=3 * _NOTES).map(
    lambda ends: [(1 + at % _NOTES, *pair) for at, pair in enumerate(ends)]
)


@pytest.mark.parametrize(("page", "turn"), [(300, 200), (4, 2)])
def test_a_walk_comes_to_what_a_plain_search_does(page: int, turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_PAGE", page)
    monkeypatch.setattr(walking, "_TURN", turn)

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
        steps = {'"type":"tool","value":"a"': 0}
        for origin, _, _, there, _ in found.reached:
            before = 0 if origin < 0 else steps[found.reached[origin][3]]
            assert steps.setdefault(there, before + 1) == before + 1
        assert [*steps.values()] == sorted(steps.values())
        expected = plain(said, "a", depth, joined)
        assert steps == {f'"type":"tool","value":"{name}"': far for name, far in expected.items()}
        assert not found.is_truncated

    check()


async def test_others_have_their_turn_during_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_PAGE", 10)
    monkeypatch.setattr(walking, "_TURN", 10)
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
    assert len(found.reached) == 40
    assert turns > 3
