"""Whatever is done to a command, it says one sentence and ends with a status that fits; it shows no traceback."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import BrokenOff, FakeDaemon, event, note
from client.test_cli import ANSWERS, COMMANDS, RECALLED
from running import TIMEOUT_S, Daemon, clean_environment, until

SHELFD = f"{sys.executable} -m shelfd.client"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "s.sock", ANSWERS) as fake:
        yield fake


def in_a_shell(daemon: FakeDaemon, command: bytes | str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run *command*, in which ``shelfd`` is ours."""
    line = command.encode() if isinstance(command, str) else command
    env = clean_environment(daemon.path.parent, {"SHELFD_SOCKET": str(daemon.path), **environment})
    script = b'shelfd() { %s "$@"; }\n%s' % (SHELFD.encode(), line)
    return subprocess.run(["sh", "-c", script], env=env, capture_output=True, check=False, timeout=TIMEOUT_S)


def assert_one_sentence(stderr: bytes, *, has: str) -> None:
    [line] = stderr.decode(errors="replace").splitlines()
    assert line.startswith("shelfd: ")
    assert has in line


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (b"shelfd remember 'a\xff'", os.EX_DATAERR, "not UTF-8"),
        (b"shelfd remember x --tag 'a\xff'", os.EX_DATAERR, "not UTF-8"),
        (b"""shelfd call remember '{"content": "\\ud800"}'""", os.EX_DATAERR, "not UTF-8"),
        (b"""shelfd call remember '{"content": 1e400}'""", os.EX_DATAERR, "not finite"),
        (b"""shelfd call remember '{"content": -Infinity}'""", os.EX_DATAERR, "not finite"),
        (b"""shelfd call remember '{"content": '""", os.EX_USAGE, "not JSON"),
        (b"""head -c 100000 /dev/zero | tr '\\0' '[' | shelfd call remember -""", os.EX_USAGE, "not JSON"),
        (b"""head -c 5000 /dev/zero | tr '\\0' '1' | shelfd call remember -""", os.EX_USAGE, "not JSON"),
        (b"printf 'a\\377' | shelfd remember -", os.EX_DATAERR, "stdin is not UTF-8"),
        (b"shelfd remember - <&-", os.EX_NOINPUT, "stdin is closed"),
        (b"shelfd import 'a\xff.json'", os.EX_NOINPUT, "No such file"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_a_sentence(
    daemon: FakeDaemon, command: bytes, status: int, said: str
) -> None:
    done = in_a_shell(daemon, command)
    assert (done.returncode, done.stdout) == (status, b"")
    assert_one_sentence(done.stderr, has=said)
    assert daemon.asked == []


@pytest.mark.parametrize(
    "command", ["shelfd recall x", "shelfd -h", "shelfd recall -h", "shelfd --version",
                "shelfd config show --offline"]
)  # fmt: skip
def test_a_full_stdout_is_an_error(daemon: FakeDaemon, command: str) -> None:
    done = in_a_shell(daemon, f"{command} > /dev/full")
    assert done.returncode == os.EX_IOERR
    assert_one_sentence(done.stderr, has="cannot write the output: No space left on device")


def test_with_json_a_full_stdout_is_told_as_json(daemon: FakeDaemon) -> None:
    done = in_a_shell(daemon, "shelfd recall x --json > /dev/full")
    assert done.returncode == os.EX_IOERR
    why = "cannot write the output: No space left on device"
    assert json.loads(done.stderr) == {"error": {"message": why, "data": {"type": "OSError"}}}


@pytest.mark.parametrize("command", ["shelfd remember x", "shelfd -h", "shelfd config show", "shelfd watch"])
def test_a_closed_stdout_is_an_error_and_nothing_is_done(daemon: FakeDaemon, command: str) -> None:
    done = in_a_shell(daemon, f"{command} >&-")
    assert done.returncode == os.EX_IOERR
    assert_one_sentence(done.stderr, has="stdout is closed")
    assert daemon.asked == []


def test_a_stderr_that_takes_nothing_changes_no_status(daemon: FakeDaemon) -> None:
    assert in_a_shell(daemon, "shelfd recall x 2>&-").stdout != b""
    for nowhere in ("2>&-", "2> /dev/full"):
        assert in_a_shell(daemon, f"shelfd recall x --socket /nonexistent {nowhere}").returncode == os.EX_UNAVAILABLE


@pytest.mark.parametrize(
    "command", ["shelfd recall x", "shelfd watch", "shelfd watch --json", "shelfd config show --offline"]
)
def test_a_reader_that_has_had_enough_is_no_error(daemon: FakeDaemon, command: str) -> None:
    daemon.answers["recall"] = {**RECALLED, "results": RECALLED["results"] * 3000}  # more than a pipe holds
    daemon.notifications = [[event(seq) for seq in range(5, 2000)]]
    done = in_a_shell(daemon, f"({command}; echo $? >&2) | head -n 1")
    assert (done.returncode, done.stderr) == (0, b"0\n")
    assert done.stdout.count(b"\n") == 1


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_what_a_locale_cannot_show_is_replaced_and_in_json_escaped(daemon: FakeDaemon) -> None:
    daemon.answers["note.get"] = {"note": note(content="grün → blau")}
    assert in_a_shell(daemon, "shelfd note x", **C_LOCALE).stdout.endswith(b"\n\ngr?n ? blau\n")
    answer = in_a_shell(daemon, "shelfd note x --json", **C_LOCALE)
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert json.loads(answer.stdout) == daemon.answers["note.get"]
    assert "grün → blau" in in_a_shell(daemon, "shelfd note x", LC_ALL="C").stdout.decode()


def test_a_text_in_a_locale_that_is_not_utf_8_is_not_guessed_at(daemon: FakeDaemon) -> None:
    done = in_a_shell(daemon, "shelfd remember 'grün'", **C_LOCALE)
    assert done.returncode == os.EX_DATAERR
    assert_one_sentence(done.stderr, has="not UTF-8")


def test_a_socket_that_breaks_off_is_no_reader_that_has_had_enough(daemon: FakeDaemon) -> None:
    daemon.answers["remember"] = _break_off
    done = in_a_shell(daemon, "shelfd remember x")
    assert done.returncode == os.EX_TEMPFAIL
    assert_one_sentence(done.stderr, has="closed the connection")


def _break_off(_: dict[str, Any]) -> Any:
    raise BrokenOff


def test_an_answer_that_makes_no_sense_is_an_internal_error_without_a_traceback(daemon: FakeDaemon) -> None:
    daemon.answers["remember"] = {"secret": "the kettle is green"}
    done = in_a_shell(daemon, "shelfd remember x")
    assert done.returncode == os.EX_SOFTWARE
    assert_one_sentence(done.stderr, has="internal error, please report it: KeyError in remembering.py:")
    assert b"kettle" not in done.stderr


@pytest.mark.parametrize("by", ["socket", "mqtt"])
def test_ctrl_c_ends_a_watch_with_130(tmp_path: Path, by: str) -> None:
    with Daemon(tmp_path, *(["--embedded-broker"] if by == "mqtt" else [])) as daemon:
        env = clean_environment(tmp_path, {"SHELFD_SOCKET": daemon.socket})
        flags = ["--mqtt"] if by == "mqtt" else []
        if by == "mqtt":
            until(lambda: daemon.call("system.health")["mqtt"]["state"] == "connected", "the broker")
        command = [sys.executable, "-m", "shelfd.client", "watch", *flags]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watch:
            assert watch.stdout is not None
            # An event proves that it follows; until then, one might come before it does.
            until(lambda: _readable(daemon, watch.stdout), "an event")
            watch.send_signal(signal.SIGINT)
            _, stderr = watch.communicate(timeout=TIMEOUT_S)
            assert (watch.returncode, stderr) == (130, b"")
        assert daemon.stop() == 0


def _readable(daemon: Daemon, stream: Any) -> bool:
    daemon.call("remember", content="something")
    return bool(select.select([stream], [], [], 0.05)[0])


# ------------------------------------------------------------------ version and help


def test_the_version_is_asked_for_anywhere(daemon: FakeDaemon) -> None:
    for command in ("--version", "recall --version", "run --version", "config check --version"):
        done = in_a_shell(daemon, f"shelfd {command}")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"shelfd 0.1.0\n", b"")
    done = subprocess.run([sys.executable, "-m", "shelfd.daemon", "--version"], capture_output=True, check=True)
    assert done.stdout == b"shelfd 0.1.0\n"
    assert in_a_shell(daemon, "shelfd remember -- --version").returncode == 0
    assert daemon.params("remember")["content"] == "--version"


@pytest.mark.parametrize("command", ["", *COMMANDS, "setup", "doctor", "config", "config check", "config show"])
def test_h_is_help(daemon: FakeDaemon, command: str) -> None:
    short, long = (in_a_shell(daemon, f"shelfd {command} {flag}") for flag in ("-h", "--help"))
    assert (short.returncode, short.stdout, short.stderr) == (0, long.stdout, b"")
    assert short.stdout.startswith(b"Usage: shelfd")


def test_help_and_version_load_little() -> None:
    code = (
        "import sys; sys.argv = ['shelfd', *{!r}]\n"
        "from shelfd.client.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "heavy = {{'pydantic', 'rich', 'asyncio', 'structlog', 'paho', 'shelfd.daemon', 'shelfd.protocol'}}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    for arguments in (["--version"], ["-h"], ["recall", "-h"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(arguments)], capture_output=True, check=True, timeout=TIMEOUT_S
        )
        assert done.stderr == b"[]\n"
