"""A daemon with the model of the extra "dense": through its socket, and killed."""

from pathlib import Path
from typing import Any

import pytest

from running import Daemon, until

NOTES = ["The physician comes on Monday.", "Interest rates were raised again.", "Our cat sleeps on the sofa."]


def recall(daemon: Daemon, query: str, **params: Any) -> dict[str, Any]:
    answer: dict[str, Any] = daemon.call("recall", query=query, **params)
    return answer


def has_all(daemon: Daemon) -> bool:
    return bool(recall(daemon, "shelf", session_id=None)["dense"]["share"] == 1)


def all_have_vectors(daemon: Daemon) -> None:
    until(lambda: has_all(daemon), "all notes have vectors")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.component(kind)) for kind in ("minilm", "wordllama")],
)
def test_notes_are_found_by_meaning_also_after_a_kill(tmp_path: Path, kind: str) -> None:
    environment = {"SHELFD__EMBEDDER__KIND": kind, "SHELFD__EMBEDDER__DEADLINE_MS": "60000"}
    with Daemon(tmp_path, environment=environment) as daemon:
        for note in NOTES:
            daemon.call("remember", content=note)
        all_have_vectors(daemon)
        assert recall(daemon, "pets at home", mode="lexical")["results"] == []
        daemon.kill()
        daemon.start()
        all_have_vectors(daemon)
        found = recall(daemon, "pets at home")
        assert (found["mode"], found["results"][0]["note"]["content"]) == ("hybrid", NOTES[2])
        assert daemon.call("system.health")["embedder"]["state"] == "ready"
        findings = {one["check"]: one["ok"] for one in daemon.call("system.doctor")["findings"]}
        assert findings["embedder"]
        assert daemon.stop() == 0
