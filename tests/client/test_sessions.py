"""The commands on conversations and a real daemon."""

import json
from pathlib import Path
from typing import Any

import pytest

from client.test_cli_with_daemon import shelfd
from running import Daemon

TALK = {"session_id": "talk"}


def tell(daemon: Daemon, turns: int = 9) -> list[str]:
    """Open a conversation and tell it of an event in each turn, and of a place."""
    daemon.call("session.open", **TALK, nugget="story")
    ids = []
    for turn in range(1, turns + 1):
        fields = {"summary": f"Ada walked to mill {turn}."}
        ids.append(daemon.call("session.create_node", **TALK, type="event", fields=fields, turn=turn)["id"])
    mill = daemon.call("session.create_node", **TALK, type="location_state", title="The \x1bmill".replace("\x1b", ""),
                       turn=turns, links=[{"target": {"id": ids[-1]}, "relation": "occurred_at",
                                           "direction": "incoming"}])  # fmt: skip
    return [*ids, mill["id"]]


@pytest.fixture
def daemon(tmp_path: Path) -> Any:
    with Daemon(tmp_path) as running:
        yield running
        assert running.stop() == 0


def test_a_conversation_as_people_see_it(daemon: Daemon) -> None:
    *events, mill = tell(daemon)
    listed = shelfd(daemon, "session", "list").stdout
    assert listed.split()[:4] == ["talk", "story", "9", "open"]
    assert shelfd(daemon, "session", "list", "--nugget", "other").stdout == ""

    compacted = shelfd(daemon, "session", "compact", "talk").stdout
    assert compacted.endswith("3 notes rolled up into 1\n")
    tree = shelfd(daemon, "session", "graph", "talk").stdout.splitlines()
    assert tree[0] == "event"
    assert [line.split("[")[1] for line in tree[2:8]] == [f"{note_id}]" for note_id in events[3:]]
    assert "event Summary L1 #1  (represents 3)" in tree[1]
    assert tree[8:] == ["location_state", f"└─ The mill  · turn 9  [{mill}]"]

    opened = shelfd(daemon, "session", "graph", "talk", "--all", "--type", "event").stdout.splitlines()
    assert [line[:6] for line in opened[2:5]] == ["│  ├─ ", "│  ├─ ", "│  └─ "]
    assert [line.split("[")[1] for line in opened[2:5]] == [f"{note_id}]" for note_id in events[:3]]
    linked = shelfd(daemon, "session", "graph", "talk", "--links").stdout
    assert "   └─ → occurred_at  The mill\n" in linked.replace("│  ", "   ")
    told = json.loads(shelfd(daemon, "session", "graph", "talk", "--json").stdout)
    assert len(told["nodes"]) == 8
    cut = shelfd(daemon, "session", "graph", "talk", "--limit", "2").stdout
    assert cut.count("[note-") == 2


def test_what_a_prompt_held(daemon: Daemon) -> None:
    *events, _ = tell(daemon)
    nothing = json.loads(shelfd(daemon, "session", "show", "talk", "--json").stdout)
    assert nothing["context"] == {"context": None}
    for turn in (2, 4):
        daemon.call("session.record_injection", **TALK, turn=turn, recalled=[events[turn]], tokens=100 * turn,
                    blocks={"recalled": f"said in {turn}"})  # fmt: skip
    last = shelfd(daemon, "session", "show", "talk").stdout
    assert last.splitlines()[:2] == ["9  event", "1  location_state"]
    assert f"recalled  {events[4]}" in last
    assert "said in 4" in last
    earlier = shelfd(daemon, "session", "show", "talk", "--turn", "3").stdout
    assert f"recalled  {events[2]}" in earlier
    assert "400" not in earlier


def test_rewinding_and_undoing_that(daemon: Daemon) -> None:
    *events, mill = tell(daemon)
    told = shelfd(daemon, "session", "rewind", "talk", "--from-turn", "8", "--dry-run").stdout
    assert told.startswith("dry run: 3 notes")
    assert len(shelfd(daemon, "session", "graph", "talk").stdout.splitlines()) == 12
    rewound = shelfd(daemon, "session", "rewind", "talk", "--from-turn", "8").stdout
    shown = shelfd(daemon, "session", "graph", "talk").stdout
    assert events[6] in shown
    assert not any(note_id in shown for note_id in (*events[7:], mill))
    assert shelfd(daemon, "undo", rewound.split(":")[0]).returncode == 0
    assert mill in shelfd(daemon, "session", "graph", "talk").stdout


def test_alternatives_of_a_turn(daemon: Daemon) -> None:
    tell(daemon, turns=2)
    assert shelfd(daemon, "session", "variant", "talk", "2", "1").returncode == 0
    daemon.call("session.create_node", **TALK, type="event", fields={"summary": "Ada stayed at home."}, turn=2)
    other = shelfd(daemon, "session", "graph", "talk").stdout
    assert "Ada stayed at home." in other
    assert "mill 2" not in other
    shelfd(daemon, "session", "variant", "talk", "2", "0")
    first = shelfd(daemon, "session", "graph", "talk").stdout
    assert "mill 2" in first
    assert "stayed at home" not in first


def test_an_unknown_conversation_is_said_to_be_one(daemon: Daemon) -> None:
    for command in (["graph"], ["show"], ["compact"], ["rewind", "--from-turn", "1"], ["variant"]):
        name, *rest = command
        arguments = ["nobody", "1", "0"] if name == "variant" else ["nobody", *rest]
        refused = shelfd(daemon, "session", name, *arguments)
        assert refused.returncode != 0, command
        assert "session.open" in refused.stderr
