"""A daemon killed while conversations are told to it: a few of the kills of ``tests/killed_conversations.py``."""

from pathlib import Path

from killed_conversations import killed


def test_conversations_take_no_notice_of_kills(tmp_path: Path) -> None:
    faults, answered = killed(tmp_path, seed=7, kills=3)
    assert faults == []
    assert answered["batch"] > 0
