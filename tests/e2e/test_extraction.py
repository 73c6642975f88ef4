"""session.extract over the socket of a real daemon: conversations of our own, and what stays of them."""

import json
from pathlib import Path
from typing import Any

from running import Daemon

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "extraction.jsonl"
DIALOGUES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def titles(daemon: Daemon, nugget: str) -> list[tuple[str, str]]:
    notes = daemon.call("note.list", nugget=nugget, limit=1000)["notes"]
    return sorted((note["type"], note["title"]) for note in notes if note["type"] != "event")


def test_conversations_are_extracted_turn_by_turn_as_they_are_at_once_and_never_twice(daemon: Daemon) -> None:
    chosen = [one for one in DIALOGUES if not one["known"]][:20]
    with daemon.connect() as client:
        for one in chosen:
            by_turn, at_once = f"{one['id']}-by-turn", f"{one['id']}-at-once"
            client.call("session.open", {"session_id": by_turn, "nugget": by_turn})
            client.call("session.open", {"session_id": at_once, "nugget": at_once})
            numbers = sorted({message["turn"] for message in one["turns"]})
            for number in numbers:
                said = [message for message in one["turns"] if message["turn"] == number]
                result = client.call("session.extract", {"session_id": by_turn, "turns": said})
                assert (result["extracted"], result["rejected"]) == ([number], []), (one["id"], number)
            result = client.call("session.extract", {"session_id": at_once, "turns": one["turns"]})
            assert result["extracted"] == numbers
            assert titles(daemon, by_turn) == titles(daemon, at_once)
    daemon.stop()
    daemon.start()
    for one in chosen:
        result = daemon.call("session.extract", session_id=f"{one['id']}-by-turn", turns=one["turns"])
        assert result["extracted"] == []
