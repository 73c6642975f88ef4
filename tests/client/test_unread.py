"""What commands say while the notes of a large import are being read for what they mention."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import FakeDaemon, rpc_error
from client.in_process import shelfd

WARMING = {"state": "warming", "share": 0.37, "seq": 3700}
SAID = "notes are still being read: 37% of what is known was looked through"
STEP = {"relationship": "uses", "direction": "outgoing", "type": "tool", "value": "x", "note_id": "note-1"}
ANSWERS: dict[str, Any] = {
    "traverse_graph": {
        "nodes": [{"type": "tool", "value": "x", "depth": 1, "path": [STEP]}], "truncated": True, "index": WARMING,
    },
    "graph.export": {"format": "dot", "text": "digraph entities {\n}\n", "truncated": True, "index": WARMING},
    "graph.timeline": {
        "entries": [{"at": "2026-01-31T09:00:00Z", "event": "noted", "note_id": "note-1", "text": "It is so."}],
        "truncated": True, "index": WARMING,
    },
    "synthesize": {
        "format": "relationship_map", "synthesis": {"entities": [], "relationships": []},
        "sources": [], "metadata": {"model_used": None}, "engine": "rules", "index": WARMING,
    },
    "topic.list": {"topics": []},
}  # fmt: skip


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "s.sock", ANSWERS) as fake:
        yield fake


@pytest.mark.parametrize(
    "command",
    [
        ("graph", "APT7"),
        ("graph", "APT7", "--format", "dot"),
        ("timeline", "APT7"),
        ("synthesize", "what did APT7 use", "--format", "map"),
    ],
)
def test_it_is_said_how_far_notes_were_read(daemon: FakeDaemon, command: tuple[str, ...]) -> None:
    done = shelfd(*command, "--socket", str(daemon.path), is_terminal=True)
    assert SAID in done.stderr
    assert "there is more than is shown" not in done.stderr


def test_a_purge_asks_again_until_all_notes_were_read(daemon: FakeDaemon) -> None:
    asked: list[dict[str, Any]] = []

    def purge(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        if len(asked) in (1, 2, 4):
            return rpc_error(-32003, retryable=True, reason="WARMING", index=WARMING)
        return {
            "entity": {"type": "actor", "value": "apt7", "canonical": "apt7"}, "notes": 2, "note_ids": ["a", "b"],
            "staying": 0, "staying_ids": [], "known": True, "aliases": 0, "still_in": [],
            "purged": 0 if params.get("dry_run") else 2,
            "remaining": 2 if params.get("dry_run") else 0, "dry_run": bool(params.get("dry_run")), "run_id": None,
        }  # fmt: skip

    daemon.answers["entity.purge"] = purge
    done = shelfd("entity", "APT7", "--type", "actor", "--purge", "--yes", "--socket", str(daemon.path))
    assert (done.returncode, done.stdout) == (0, "purged 2 notes about actor apt7\n")
    assert [bool(one.get("dry_run")) for one in asked] == [True, True, True, False, False]


def test_another_failure_of_a_purge_is_told(daemon: FakeDaemon) -> None:
    daemon.answers["entity.purge"] = rpc_error(-32003, "the disk is full", retryable=True)
    done = shelfd("entity", "APT7", "--type", "actor", "--purge", "--yes", "--socket", str(daemon.path))
    assert (done.returncode, "the disk is full" in done.stderr) == (75, True)
