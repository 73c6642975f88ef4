"""Requests of an import are made of their file by one thread, ahead of the one that sends them."""

import json
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import FakeDaemon
from client.fresh_process import run_fresh
from client.in_process import shelfd
from client.test_import import answered
from client.test_note_lines import LINES
from shelfd.client.foreign import ForeignBatch
from shelfd.client.sending import _ahead

HEAVY = {"sqlite3", "zipfile", "csv", "hashlib", "concurrent.futures", "logging", "asyncio"}
MADE: list[tuple[list[ForeignBatch], bytes]] = [([], b"%d" % number) for number in range(5)]


class Requests:
    """Yields some requests, and remembers on which threads it did, and how far it is."""

    def __init__(self, error: Exception | None = None) -> None:
        self.threads: set[str] = set()
        self.made = 0
        self.is_closed = False
        self._error = error

    def __call__(self) -> Generator[tuple[list[ForeignBatch], bytes]]:
        try:
            for one in MADE:
                self.threads.add(threading.current_thread().name)
                self.made += 1
                yield one
            if self._error is not None:
                raise self._error
        finally:
            self.threads.add(threading.current_thread().name)
            self.is_closed = True


def test_all_are_made_in_their_order_by_one_other_thread() -> None:
    requests = Requests()
    assert list(_ahead(requests())) == MADE
    assert requests.is_closed
    assert len(requests.threads) == 1
    assert threading.current_thread().name not in requests.threads


def test_what_fails_is_raised_where_they_are_sent() -> None:
    ahead = _ahead(Requests(OSError("the disk is gone"))())
    assert [next(ahead) for _ in MADE] == MADE
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)


def test_who_wants_no_more_ends_the_thread_which_is_one_ahead_at_most() -> None:
    requests = Requests()
    ahead = _ahead(requests())
    assert next(ahead) == MADE[0]
    ahead.close()
    assert requests.is_closed
    assert requests.made <= 2
    assert len(requests.threads) == 1
    assert not [thread for thread in threading.enumerate() if thread.name in requests.threads]


def test_a_snapshot_is_imported_without_what_reads_other_formats(tmp_path: Path) -> None:
    snapshot = tmp_path / "notes.jsonl"
    snapshot.write_text("\n".join(LINES[:3]) + "\n", encoding="utf-8")
    with FakeDaemon(tmp_path / "s.sock", {"shelf.import": answered}) as daemon:
        ran = run_fresh(
            "import", str(snapshot), "--socket", str(daemon.path), "--json",
            say="gc.isenabled(), gc.get_freeze_count() > 0",
        )  # fmt: skip
    assert ran.modules.isdisjoint(HEAVY)
    assert ran.said == "True True"
    assert '"created":3' in ran.stdout


def test_of_a_snapshot_what_has_to_come_first_goes_by_itself_and_no_step_is_split(tmp_path: Path) -> None:
    snapshot = tmp_path / "notes.jsonl"
    snapshot.write_text("\n".join([*LINES[:3] * 300, LINES[3], LINES[4], LINES[3]]) + "\n", encoding="utf-8")
    with FakeDaemon(tmp_path / "s.sock", {"shelf.import": answered}) as daemon:
        assert shelfd("import", str(snapshot), "--socket", str(daemon.path)).returncode == 0
        assert shelfd("import", str(snapshot), "--socket", str(daemon.path), "--dry-run").returncode == 0
    sent = [[(part["part"], len(part["items"])) for part in params["parts"]] for _, params in daemon.asked]
    *apart, together = sent
    assert together == [
        *(("nuggets", 1), ("nuggets", 1)),
        *(("notes", 84), ("notes", 336), ("notes", 336), ("notes", 147)),
        ("links", 1),
    ]
    assert apart == [[one] for one in together]


def test_lines_that_are_not_sent_are_told_before_those_that_the_daemon_refuses(tmp_path: Path) -> None:
    def refuse_first(params: dict[str, Any]) -> dict[str, Any]:
        result = answered(params)
        for part in result["parts"]:
            part["rejected"] = [{"index": 0, "error": {"code": -32602, "message": "no"}}]
        return {**result, "run_id": "run-000000000001"}

    snapshot = tmp_path / "notes.jsonl"
    snapshot.write_text("\n".join([*LINES[:3] * 100, "no JSON", *LINES[:3] * 100]) + "\n", encoding="utf-8")
    with FakeDaemon(tmp_path / "s.sock", {"shelf.import": refuse_first}) as daemon:
        done = shelfd("import", str(snapshot), "--socket", str(daemon.path), "--json")
    (part,) = json.loads(done.stdout)["parts"]
    assert [one["index"] for one in part["rejected"]] == [301, 1, 85, 422]
