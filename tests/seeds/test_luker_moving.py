"""What Luker's test suite says of reading its floor log and of putting a graph in order, by name of its cases.

Its log is only read here: what it says of writing one has its counterpart in rewinding. Fixed where it is said so.
"""

import copy
from pathlib import Path

import pytest

from fakes import ROOT, Api
from luker_files import Json, edge, floor_log, log_parts, message, node, state, write_chat, write_log
from shelfd.client.floor_log import graph_of, replay
from shelfd.client.foreign import load

FIRST = state([node("n_1", seq=1)])
SECOND = state([node("n_1", seq=1), node("n_2", seq=2)])
SWIPED = state([node("n_1", seq=1), node("n_3", seq=2, title="the other way")])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two turns, the second of which has two alternatives."""
    commits = floor_log(FIRST, SECOND)
    other = floor_log(FIRST, SWIPED, swipes=[0, 1])["commits"][1]
    return write_log(tmp_path / "tale__floor_log.json", {**commits, "commits": [*commits["commits"], other]})


def chat(folder: Path, messages: int, shown: int = 0) -> Path:
    said = [message(f"line {n}", user=n % 2 == 0, swipe_id=shown if n == 3 else 0) for n in range(messages)]
    return write_chat(folder / "tale.jsonl", said)


async def moved_in(api: Api, log: Path, its_chat: Path | None) -> list[str]:
    """Ids of the notes that are there once a log was imported."""
    parts = log_parts(log, its_chat, session_id="tale")
    await api.call("shelf.import", format="luker", parts=parts, principal=ROOT)
    return [one["id"] for one in (await api.call("session.list_nodes", session_id="tale"))["nodes"]]


async def test_deletion_to_n_leaves_what_came_before(api: Api, log: Path, tmp_path: Path) -> None:
    assert await moved_in(api, log, chat(tmp_path, 3)) == ["n_1"]


async def test_deletion_to_nothing_leaves_nothing(api: Api, log: Path, tmp_path: Path) -> None:
    assert await moved_in(api, log, chat(tmp_path, 0)) == []


@pytest.mark.parametrize(("shown", "notes"), [(0, ["n_1", "n_2"]), (1, ["n_1", "n_3"])])
async def test_each_swipe_has_its_state(api: Api, log: Path, tmp_path: Path, shown: int, notes: list[str]) -> None:
    assert await moved_in(api, log, chat(tmp_path, 4, shown)) == notes


async def test_without_the_chat_the_swipe_written_last_counts(api: Api, log: Path) -> None:
    """Luker has no such case: it always has the chat."""
    assert await moved_in(api, log, None) == ["n_1", "n_3"]


async def test_a_branch_has_what_came_before_its_point(api: Api, log: Path, tmp_path: Path) -> None:
    whole = load(str(log))
    branch = {**whole, "commits": [one for one in whole["commits"] if one["floor"] <= 1]}
    assert await moved_in(api, write_log(tmp_path / "branch__floor_log.json", branch), None) == ["n_1"]


def test_before_a_broken_commit_all_is_kept() -> None:
    """Fixed: Luker also drops what was committed before it for the same message."""
    commits = [*floor_log(FIRST, SECOND, floors=[1, 1])["commits"], {"floor": 1, "swipeId": 0, "patches": [{}]}]
    kept, findings = replay(commits, None)
    assert kept == SECOND
    assert [(one.which, one.is_refused) for one in findings] == [([2], True)]


def test_a_failed_commit_leaves_the_state_as_it_was() -> None:
    half = [{"op": "remove", "path": "/nodes/n_1"}, {"op": "remove", "path": "/nodes/n_1"}]
    kept, _ = replay([*floor_log(FIRST)["commits"], {"floor": 3, "swipeId": 0, "patches": half}], None)
    assert kept == FIRST


def test_normalise_of_what_is_no_object_is_an_empty_graph() -> None:
    for given in (None, [7], 7, "x"):
        assert graph_of(given, {})[0].nodes == []


def test_normalise_keeps_every_field() -> None:
    """Fixed: Luker loses the span, what replaced a node, and an edge's turn at the first write."""
    full = node("n_1", floorRange={"start": 1, "end": 2}, supersededBy="n_2", archived=True)
    given = state([full, node("n_2")], [edge("n_2", "n_1", "updates", seqTo=2)])
    graph, findings = graph_of(copy.deepcopy(given), {})
    kept = {one["id"]: one for one in graph.nodes}
    without: Json = {name: value for name, value in full.items() if name != "childrenIds"}
    assert kept["n_1"] == without
    assert graph.edges == {"n_2": [{"to": "n_1", "type": "updates", "seqTo": 2}]}
    assert findings == []


async def test_normalise_mends_the_tree(api: Api, tmp_path: Path) -> None:
    tree = state([
        node("n_1", seq=1, parentId="n_9"),
        node("n_2", seq=2),
        node("n_3", seq=2, childrenIds=["n_2", "n_8", "n_3"], semanticRollup=True, semanticDepth=1),
    ])  # fmt: skip
    log = write_log(tmp_path / "tale__floor_log.json", floor_log(tree))
    await moved_in(api, log, None)
    orphan = (await api.call("session.get_node", session_id="tale", id="n_1"))["node"]
    child = (await api.call("session.get_node", session_id="tale", id="n_2"))["node"]
    rollup = (await api.call("session.get_node", session_id="tale", id="n_3"))["node"]
    assert (orphan["parent_id"], child["parent_id"], rollup["children_ids"]) == ("", "n_3", ["n_2"])


async def test_normalise_keeps_edges_once_and_none_that_lead_nowhere(api: Api, tmp_path: Path) -> None:
    twice = [edge("n_1", "n_2", "Trusts"), edge("n_1", "n_2", "trusts"), edge("n_1", "n_9"), edge("n_1", "n_1")]
    log = write_log(tmp_path / "tale__floor_log.json", floor_log(state([node("n_1"), node("n_2")], twice)))
    await moved_in(api, log, None)
    edges = (await api.call("session.list_edges", session_id="tale"))["edges"]
    assert [(one["from"], one["type"], one["to"]) for one in edges] == [("n_1", "trusts", "n_2")]


async def test_levels_are_kept(api: Api, tmp_path: Path) -> None:
    """Fixed: Luker drops what is not semantic when it loads a graph."""
    log = write_log(tmp_path / "tale__floor_log.json", floor_log(state([node("n_1"), node("n_2", level="episodic")])))
    assert await moved_in(api, log, None) == ["n_1", "n_2"]
    listed = await api.call("session.list_nodes", session_id="tale", levels=["episodic"])
    assert [one["id"] for one in listed["nodes"]] == ["n_2"]


async def test_a_log_that_cannot_be_read_empties_nothing(api: Api, log: Path, tmp_path: Path) -> None:
    """A failed load is no empty graph: what is there stays."""
    await moved_in(api, log, None)
    broken = write_log(tmp_path / "b__floor_log.json", {"version": 1, "commits": [{"floor": 1, "patches": 7}]})
    assert await moved_in(api, broken, None) == ["n_1", "n_3"]
