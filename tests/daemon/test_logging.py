"""Log lines: shape, levels, what libraries say."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import structlog

from shelfd.daemon import logging as daemon_logging
from shelfd.daemon.logging import Form, Threshold


class Log:
    """A configured log and what was written to it."""

    def __init__(self, path: Path, form: Form, level: str = "info") -> None:
        self.path = path
        self.stream = path.open("w", encoding="utf-8")
        self.threshold: Threshold = daemon_logging.configure(level, form, self.stream)
        self.logger = structlog.get_logger()

    def lines(self) -> list[str]:
        self.stream.flush()
        return self.path.read_text(encoding="utf-8").splitlines()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines()]


@pytest.fixture(autouse=True)
def _undone() -> Iterator[None]:
    handlers = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = handlers
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "log", "json")
    yield made
    made.stream.close()


def test_a_line_is_json_with_time_level_event_and_fields(log: Log) -> None:
    structlog.contextvars.bind_contextvars(request_id="r1")
    log.logger.info("rpc.handled", method="remember", duration_ms=1.5)
    [event] = log.events()
    assert list(event)[:3] == ["timestamp", "level", "event"]
    assert event["timestamp"].endswith("Z")
    assert datetime.fromisoformat(event["timestamp"]).utcoffset() is not None
    expected = {"level": "info", "event": "rpc.handled", "method": "remember", "duration_ms": 1.5, "request_id": "r1"}
    assert expected.items() <= event.items()


def test_what_json_cannot_say_is_shown_somehow(log: Log) -> None:
    log.logger.info("odd.seen", raw=b"\xff", error=ValueError("x"), number=float("nan"))
    [event] = log.events()
    assert (event["raw"], event["error"], event["number"]) == ("ff", "ValueError('x')", "NaN")


def test_a_traceback_is_a_field_and_the_level_is_error(log: Log) -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        log.logger.exception("it.failed")
    [event] = log.events()
    assert event["level"] == "error"
    assert "ValueError: boom" in event["exception"]


def test_the_threshold_moves_under_a_logger_in_use(log: Log) -> None:
    log.logger.debug("not.seen")
    log.threshold.set("debug")
    log.logger.debug("now.seen")
    log.threshold.set("error")
    log.logger.warning("not.seen")
    assert [event["event"] for event in log.events()] == ["now.seen"]


def test_libraries_are_logged_from_warning_up(log: Log) -> None:
    library = logging.getLogger("some.library")
    library.info("executing INSERT with somebody's memory")
    library.warning("disk is %s", "slow")
    [event] = log.events()
    assert (event["event"], event["logger"], event["message"]) == ("library.reported", "some.library", "disk is slow")


def test_configuring_twice_writes_once(log: Log) -> None:
    daemon_logging.configure("info", "json", log.stream)
    logging.getLogger("x").error("once")
    assert len(log.lines()) == 1


def test_the_journal_gets_priorities(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", "journal", "debug")
    for method in ("debug", "info", "warning", "error", "critical"):
        getattr(log.logger, method)("a.b")
    assert [line[:4] for line in log.lines()] == ["<7>{", "<6>{", "<4>{", "<3>{", "<2>{"]
    log.stream.close()


def test_a_terminal_gets_words(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", "console")
    log.logger.warning("disk.filled", free_bytes=3)
    [line] = log.lines()
    assert "disk.filled" in line
    assert "free_bytes=3" in line
    assert not line.startswith("{")
    log.stream.close()


def test_the_form_follows_what_is_at_the_other_end(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as stream:
        status = (tmp_path / "log").stat()
        journal = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        assert daemon_logging.form_for("auto", stream, {}) == "json"
        assert daemon_logging.form_for("auto", stream, journal) == "journal"
        assert daemon_logging.form_for("json", stream, journal) == "journal"
        assert daemon_logging.form_for("console", stream, journal) == "console"
        assert daemon_logging.form_for("auto", stream, {"JOURNAL_STREAM": "1:2"}) == "json"
    assert daemon_logging.form_for("auto", io.StringIO(), journal) == "json"


def test_the_daemon_does_not_load_rich() -> None:
    code = "import shelfd.daemon.run, sys; print('rich' in sys.modules, 'rich.console' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]
