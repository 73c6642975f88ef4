"""A walk as JSON."""

import json

from shelfd.memory.knowledge.graph.formats import visited_json
from shelfd.memory.knowledge.graph.visiting import NodesAround, ReachedRow
from shelfd.memory.ports.entities import EntityNode, StoredEntity, placed_row


def told(value: str) -> str:
    return placed_row(StoredEntity(1, "tool", value, value), EntityNode("tool", value, "tool", value))[-1]


def test_each_node_has_the_steps_of_the_way_there() -> None:
    values = ["plain", 'a "quoted" one', "back\\slash", "Größe 日本 🙂", "\t\n\x00\x1f\x7f\u2028"]
    reached: list[ReachedRow] = [
        (
            number - 1 if number % 2 else -1,
            number > 1,
            "uses" if number > 2 else "EINGESETZT_für",
            told(value),
            f"n{number}",
        )
        for number, value in enumerate(values)
    ]
    shown = json.loads(visited_json(NodesAround(reached, is_truncated=True)))
    assert shown["truncated"] is True
    assert [one["value"] for one in shown["nodes"]] == values
    for number, one in enumerate(shown["nodes"]):
        steps = [(*reached[at], values[at]) for at in ([number - 1, number] if number % 2 else [number])]
        assert (one["type"], one["depth"]) == ("tool", len(steps))
        assert one["path"] == [
            {
                "relationship": relation,
                "direction": "outgoing" if is_outgoing else "incoming",
                "type": "tool",
                "value": value,
                "note_id": note_id,
            }
            for _, is_outgoing, relation, _, note_id, value in steps
        ]


def test_nothing_is_an_empty_list() -> None:
    assert json.loads(visited_json(NodesAround([], is_truncated=False))) == {"nodes": [], "truncated": False}
