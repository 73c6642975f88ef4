"""A daemon with the model of the extra "dense": through its socket, and killed."""

from pathlib import Path
from typing import Any

import pytest

from running import Daemon, until

ENVIRONMENT = {"SHELFD__EMBEDDER__KIND": "minilm", "SHELFD__EMBEDDER__DEADLINE_MS": "60000"}
NOTES = ["The physician comes on Monday.", "Interest rates were raised again.", "Our cat sleeps on the sofa."]


def recall(daemon: Daemon, query: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = daemon.call("recall", query=query, **params)
    return answer


def has_all(daemon: Daemon) -> bool:
    return bool(recall(daemon, "shelf", session_id=None)["dense"]["share"] == 1)


@pytest.mark.component("minilm")
def test_notes_are_found_by_meaning_also_after_a_kill(tmp_path: Path) -> None:
    with Daemon(tmp_path, environment=ENVIRONMENT) as daemon:
        for note in NOTES:
            daemon.call("remember", content=note)
        until(lambda: has_all(daemon), "all notes have vectors")
        assert recall(daemon, "pets at home", mode="lexical")["results"] == []
        daemon.kill()
        daemon.start()
        until(lambda: has_all(daemon), "all notes have vectors")
        found = recall(daemon, "pets at home")
        assert (found["mode"], found["results"][0]["note"]["content"]) == ("hybrid", NOTES[2])
        assert daemon.call("system.health")["embedder"]["state"] == "ready"
        findings = {one["check"]: one["ok"] for one in daemon.call("system.doctor")["findings"]}
        assert findings["embedder"]
        assert daemon.stop() == 0
