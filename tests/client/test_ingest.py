"""Transcripts, and what agents' hooks ask and tell."""

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.in_process import Ended, shelfd
from running import Daemon
from shelfd.client import json_lines
from shelfd.client.transcript import Transcript, requests

LINES: list[Any] = [
    {"type": "summary", "summary": "The kitchen"},
    {"type": "user", "sessionId": "kitchen-1", "timestamp": "2026-01-31T09:00:00Z",
     "message": {"role": "user", "content": "My sister Eve lives in Bremen."}},
    {"type": "assistant", "sessionId": "kitchen-1", "message": {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "secret.txt"}]}},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Anything else?"}]}},
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat: generated"}},
    {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
    {"type": "user", "message": {"role": "user", "content": "We need to book the night train to Oslo."}},
]  # fmt: skip


def written(path: Path, lines: list[Any], *raw: bytes) -> Path:
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b"".join(raw))
    return path


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("ingest")) as running:
        yield running


def told(daemon: Daemon, *arguments: str, stdin: str = "") -> Ended:
    return shelfd(*arguments, "--socket", daemon.socket, stdin=stdin)


def test_turns_are_what_a_person_says_and_all_up_to_the_next(tmp_path: Path) -> None:
    transcript = Transcript(json_lines.read(str(written(tmp_path / "t.jsonl", LINES))))
    assert transcript.session_id == "kitchen-1"
    assert [(one["turn"], one["role"], one["text"]) for one in transcript.messages] == [
        (1, "user", "My sister Eve lives in Bremen."),
        (1, "assistant", "Noted.\n\nAnything else?"),
        (2, "user", "We need to book the night train to Oslo."),
    ]
    assert transcript.messages[0]["occurred_at"] == "2026-01-31T09:00:00Z"


def test_lines_of_role_and_text_are_taken_and_broken_ones_named(tmp_path: Path) -> None:
    lines = [{"role": "user", "text": "a"}, {"role": "tool", "content": "b"}, {"role": "assistant", "content": "c"}, 7]
    path = written(tmp_path / "t.jsonl", [*lines, {"role": "user", "text": "x" * 300_000}], b"{half\n\xff\n")
    transcript = Transcript(json_lines.read(str(path)))
    assert [one["text"] for one in transcript.messages] == ["a", "c"]
    assert [(one.line, one.why.split()[0]) for one in transcript.left] == [(4, "is"), (5, "is"), (6, "is"), (7, "is")]


def test_a_request_holds_whole_turns() -> None:
    messages = [{"turn": turn, "role": role, "text": "x" * 10} for turn in range(1, 8) for role in "ab"]
    sent = list(requests(messages, most=5, size=10_000))
    assert [[one["turn"] for one in request] for request in sent] == [[1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6], [7, 7]]
    assert [len(request) for request in requests(messages, most=100, size=45)] == [4, 4, 4, 2]
    assert list(requests([], most=5, size=5)) == []


def test_a_transcript_is_read_once_and_again_when_it_has_grown(daemon: Daemon, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", LINES[:6])
    assert told(daemon, "ingest", str(path), "--dry-run").stdout == "kitchen-1: 1 turn would be read\n"
    first = json.loads(told(daemon, "ingest", str(path), "-n", "journey", "--json").stdout)
    assert (first["extracted"], first["skipped"], first["operations"] > 0) == (1, 0, True)
    written(path, LINES)
    grown = json.loads(told(daemon, "ingest", str(path), "--json").stdout)
    assert (grown["extracted"], grown["skipped"]) == (1, 1)
    assert told(daemon, "ingest", str(path)).stdout == "kitchen-1: 0 turns read, 2 known, 0 operations\n"
    assert "book the night train" in told(daemon, "notes", "--nugget", "journey").stdout
    changed = [*LINES[:-1], {"role": "user", "content": "Something else."}]
    assert (
        "1 turn says something else than when it was read" in told(daemon, "ingest", str(written(path, changed))).stderr
    )


def test_what_cannot_be_read_is_named(daemon: Daemon, tmp_path: Path) -> None:
    assert told(daemon, "ingest").returncode == os.EX_USAGE
    assert told(daemon, "ingest", str(tmp_path / "none")).returncode == os.EX_NOINPUT
    path = tmp_path / "garbage\x1b[2J"
    path.write_bytes(b"\x00\xff\n" * 9)
    done = told(daemon, "ingest", str(path))
    assert (done.returncode, "\x1b" in done.stderr, "and 4 lines more" in done.stderr) == (os.EX_DATAERR, False, True)
    mixed = written(tmp_path / "t.jsonl", [{"role": "user", "content": "The ferry leaves at nine."}], b"{half\n")
    done = told(daemon, "ingest", str(mixed), "--session", "ferry")
    assert (done.returncode, "line 2: is not JSON" in done.stderr) == (0, True)


def test_hooks_are_answered_and_never_fail(daemon: Daemon, tmp_path: Path) -> None:
    daemon.call("remember", content="The bakery in Orm opens at seven.")
    asked = json.dumps({"session_id": "hooked", "prompt": "when does the bakery open", "cwd": "/"})
    assert "The bakery in Orm opens" in told(daemon, "context", "--stdin-prompt", stdin=asked).stdout
    nothing = json.dumps({"session_id": "hooked", "prompt": "xyzzy plugh"})
    assert told(daemon, "context", "--stdin-prompt", stdin=nothing) == (0, "", "")
    path = written(tmp_path / "t.jsonl", LINES)
    ended = json.dumps({"session_id": "hooked", "transcript_path": str(path)})
    assert told(daemon, "ingest", "--stdin-hook", stdin=ended).stdout.startswith("hooked: 2 turns read")
    for command in (("context", "--stdin-prompt"), ("ingest", "--stdin-hook")):
        for bad in ("", "[]", "{half", "{}", '{"prompt": 7, "transcript_path": 7}'):
            done = told(daemon, *command, stdin=bad)
            assert (done.returncode, done.stdout, done.stderr.startswith("shelfd: stdin ")) == (0, "", True)
        gone = shelfd(*command, "--socket", "/nonexistent/s", stdin=asked if command[0] == "context" else ended)
        assert (gone.returncode, gone.stdout, "no daemon is listening" in gone.stderr) == (0, "", True)


def test_the_hooks_of_the_documentation_do_what_it_says(daemon: Daemon, tmp_path: Path) -> None:
    daemon.call("remember", content="The bakery in Orm opens at seven.")
    page = (Path(__file__).resolve().parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")
    hooks = json.loads(page.partition("```json\n")[2].partition("```")[0])["hooks"]
    path = written(tmp_path / "t.jsonl", LINES)
    told_to = {"session_id": "documented", "transcript_path": str(path), "prompt": "when does the bakery in Orm open"}
    shown = {
        event: told(daemon, *shlex.split(entry["hooks"][0]["command"])[1:], stdin=json.dumps(told_to)).stdout
        for event, [entry] in hooks.items()
    }
    assert "opens at seven" in shown["UserPromptSubmit"]
    assert shown["PreCompact"].startswith("documented: 2 turns read")
    assert shown["SessionEnd"] == "documented: 0 turns read, 2 known, 0 operations\n"
