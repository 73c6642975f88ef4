"""A floor log's replay, by which of its commits count, and the order in which its graph is put."""

from typing import Any

from luker_files import HARBOUR, edge, floor_log, node, state
from shelfd.client.floor_log import LeftOut, graph_of, replay, turn_ranges

ONE, TWO, THREE = (state([node(f"n_{n}", seq=n) for n in range(1, last + 1)]) for last in (1, 2, 3))
OTHER = state([node("n_1"), node("n_2", title="another way")])


def names(found: tuple[Any, list[LeftOut]]) -> list[str]:
    return list(found[0].get("nodes", {}))


def told(found: tuple[Any, list[LeftOut]]) -> list[tuple[str, list[Any]]]:
    return [(finding.why, finding.which) for finding in found[1]]


def test_all_commits_of_a_chat_are_replayed() -> None:
    log = floor_log(ONE, TWO, THREE)
    assert replay(log["commits"], [0] * 6) == (THREE, [])
    assert replay(floor_log(ONE, TWO, THREE)["commits"], None) == (THREE, [])


def test_commits_of_messages_that_were_deleted_do_not_count() -> None:
    gone = "the chat does not have the message"
    to_four = replay(floor_log(ONE, TWO, THREE)["commits"], [0] * 4)
    assert (to_four[0], told(to_four)) == (TWO, [(gone, [2])])
    to_none = replay(floor_log(ONE, TWO, THREE)["commits"], [])
    assert (to_none[0], told(to_none)) == ({}, [(gone, [0, 1, 2])])


def test_each_alternative_has_its_own_state() -> None:
    commits = floor_log(ONE, TWO)["commits"]
    commits.append({**floor_log(ONE, OTHER)["commits"][1], "swipeId": 1})
    for shown, expected, left_out in (([0, 0, 0, 0], TWO, [2]), ([0, 0, 0, 1], OTHER, [1])):
        found = replay(floor_log(ONE)["commits"] + [dict(one) for one in commits[1:]], shown)
        assert found[0] == expected
        assert told(found) == [("the message shows another alternative", left_out)]


def test_without_the_chat_the_alternative_written_last_counts() -> None:
    commits = [*floor_log(ONE, TWO)["commits"], {**floor_log(ONE, OTHER)["commits"][1], "swipeId": 1}]
    assert replay(commits, None)[0] == OTHER


def test_what_is_before_a_broken_commit_is_kept() -> None:
    commits = floor_log(ONE, TWO, THREE)["commits"]
    good = commits[1]["patches"]
    commits[1]["patches"] = [*good, {"op": "remove", "path": "/nodes/n_9"}]
    found = replay(commits, None)
    assert found[0] == ONE
    assert [(finding.which, finding.is_refused) for finding in found[1]] == [([1], True), ([2], False)]
    assert found[1][0].why == "cannot be replayed: operation 1 points to nothing"


def test_what_is_no_commit_breaks_the_replay() -> None:
    for broken in (7, {}, {"floor": -1, "patches": []}, {"floor": 3}, {"floor": 3, "patches": {}}):
        found = replay([*floor_log(ONE)["commits"], broken], None)
        assert (found[0], [finding.is_refused for finding in found[1]]) == (ONE, [True]), broken


def test_a_graph_is_put_in_order() -> None:
    graph, findings = graph_of(HARBOUR, {})
    assert findings == []
    assert [one["id"] for one in graph.nodes] == ["n_5", "n_1", "n_2", "n_3", "n_4", "n_6"]
    assert {source: [one["to"] for one in some] for source, some in graph.edges.items()} == {
        "n_1": ["n_3"], "n_2": ["n_4"], "n_4": ["n_3"], "n_3": ["n_4"],
    }  # fmt: skip
    assert graph.last_turn == 4


def test_what_is_no_graph_is_an_empty_one() -> None:
    for given in (None, 7, [7], {"nodes": 7, "edges": "x"}):
        graph, findings = graph_of(given, {})
        assert (graph.nodes, graph.edges, graph.last_turn, findings) == ([], {}, 0, [])


def test_trees_are_mended_and_it_is_said() -> None:
    graph, findings = graph_of(
        state(
            [
                node("a", childrenIds=["b", "gone", "a"], semanticRollup=True, semanticDepth=7),
                node("b"),
                node("c", parentId="gone"),
                node("d", parentId="e"),
                node("e", parentId="d"),
                node("f", parentId="f", supersededBy="nobody"),
                node("g", "recall_trace"),
            ],
            [edge("a", "b", "contains"), edge("b", "a", "contains"), edge("a", "a"), edge("a", "x"), 7],  # type: ignore[list-item]
        ),
        {},
    )
    by_name = {one["id"]: one for one in graph.nodes}
    assert by_name["b"]["parentId"] == "a"
    assert by_name["a"]["semanticDepth"] == 1
    assert sorted(one.get("parentId") or "" for one in (by_name["d"], by_name["e"])) == ["", "e"]
    assert "g" not in by_name
    assert {(one.field, one.why): one.which for one in findings} == {
        ("nodes", "only records what a recall did"): ["g"],
        ("parentId", "names a node that is not there"): ["c", "f"],
        ("supersededBy", "names a node that is not there"): ["f"],
        ("parentId", "leads around in a circle"): ["e"],
        ("edges", "says of the tree what the nodes do not"): [1],
        ("edges", "leads from a node to itself"): [2],
        ("edges", "leads from or to a node that is not there"): [3],
        ("edges", "is not an object"): [4],
    }


def test_a_long_chain_of_rollups_is_no_matter() -> None:
    nodes = [node("n_0"), *(node(f"n_{n}", parentId=f"n_{n - 1}") for n in range(1, 5000))]
    graph, findings = graph_of(state(nodes[::-1]), {})
    assert [one["id"] for one in graph.nodes] == [f"n_{n}" for n in range(5000)]
    assert findings == []


def test_a_schema_comes_along() -> None:
    spec = {"id": "quest"}
    assert graph_of(state(), {"schema": [spec]})[0].types == [spec]
    assert graph_of(state(nodeTypeSchema=[spec]), {})[0].types == [spec]


def test_turns_come_in_ranges() -> None:
    assert list(turn_ranges(0)) == [[1, 0]]
    assert list(turn_ranges(3)) == [[1, 3]]
    ranges = list(turn_ranges(1000))
    assert [first for first, _ in ranges] == [1, *(last + 1 for _, last in ranges[:-1])]
    assert ranges[-1][1] == 1000
