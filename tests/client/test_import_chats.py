"""The import command on chats and floor logs: what it recognises, what it says, and with a daemon that is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from client.test_cli_with_daemon import shelfd as told_to
from luker_files import HARBOUR, Json, floor_log, message, node, state, write_chat, write_log
from nuggets_files import write_home
from running import TIMEOUT_S, Daemon, until
from shelfd.client import chat_file, json_lines
from shelfd.client.foreign import EXPECTED, Unusable
from shelfd.client.recognition import recognise

EVENING = (
    message("Welcome aboard.", at="2025-05-01T10:00:00Z"),
    message("Where do we sail?", name="Tom", user=True, at="May 1, 2025 10:01am"),
    message("To the lighthouse.", at="2025-05-01T10:02:00Z", swipes=["Home.", "To the lighthouse."], swipe_id=1),
    "{broken",
    message("Then cast off.", name="Tom", user=True, at="2025-05-01T10:03:00Z"),
)


def write(folder: Path) -> tuple[Path, Path]:
    """A chat, and the floor log of it, one of whose commits is of a message that was deleted."""
    log = floor_log(HARBOUR, state([*HARBOUR["nodes"].values(), node("n_9", seq=9)]), floors=[0, 99])
    return write_chat(folder / "evening.jsonl", EVENING), write_log(folder / "evening__floor_log.json", log)


# ------------------------------------------------------------------ what is recognised


def test_formats_are_recognised_by_what_a_file_holds(tmp_path: Path) -> None:
    chat, log = write(tmp_path)
    home = write_home(tmp_path / "home")
    assert recognise(str(chat), None) == (str(chat), "sillytavern", None)
    assert recognise(str(log), None) == (str(log), "luker", None)
    nuggets = recognise(str(home / "work.nugget.json"), None)
    assert nuggets is not None
    assert nuggets.format == "nuggets"
    assert nuggets.file is not None
    documents = write_log(tmp_path / "all.json", {"x__floor_log": floor_log(HARBOUR), "x__meta": {}})
    assert recognise(str(documents), None) == (str(documents), "luker", None)
    bare = write_chat(tmp_path / "bare.jsonl", [message("Hello.")], header=None)
    assert recognise(str(bare), None) == (str(bare), "sillytavern", None)
    alone = write_chat(tmp_path / "alone.jsonl", [])
    assert recognise(str(alone), None) == (str(alone), "sillytavern", None)
    assert recognise(str(write_log(tmp_path / "m.json", {"sourceMessageCount": 3})), None) is None


@pytest.mark.parametrize(
    ("name", "content", "asked", "seen"),
    [
        ("a.json", "{}", None, "; this is an object with nothing in it"),
        ("a.json", '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}', None,
         "; this is an object with `a`, `b`, `c`, `d`, 1 more"),
        ("a.json", "[]", None, "; this is a list"),
        ("a.json", "7", "luker", "; this is a single value"),
        ("a.json", '{"commits": []}', "nuggets", "; this is an object with `commits`"),
        ("a.json", '{"facts": []}', "luker", "; this is an object with `facts`"),
        ("a.jsonl", '{"a": 1}\n{"b": 2}\n', None, "; of this, no line is a message"),
        ("a.json", '{"facts": []}', "sillytavern", "; of this, no line is a message"),
    ],
)  # fmt: skip
def test_what_is_of_no_format_is_said_with_what_was_seen(
    tmp_path: Path, name: str, content: str, asked: str | None, seen: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(Unusable) as refused:
        recognise(str(tmp_path / name), asked)
    assert (refused.value.why, refused.value.status) == (EXPECTED + seen, os.EX_DATAERR)


@pytest.mark.parametrize("asked", [None, "sillytavern", "luker", "nuggets"])
@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.json", ""), ("a.json", "\ufeff \n\n"), ("a", "")])
def test_a_file_that_holds_nothing_is_said_to_be_empty(
    tmp_path: Path, name: str, content: str, asked: str | None
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(Unusable) as refused:
        recognise(str(tmp_path / name), asked)
    assert (refused.value.why, refused.value.status) == ("is empty: there is nothing to import", os.EX_DATAERR)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 1000)
    path = write_chat(tmp_path / "a.jsonl", [message("one"), message("x" * 3000), message("two")])
    found = list(chat_file.lines(str(path)))
    assert [(line.number, line.why) for line in found] == [(2, ""), (3, "is longer than 1000 bytes"), (4, "")]


# ------------------------------------------------------------------ with a daemon


def sums(daemon: Daemon, *arguments: str) -> tuple[int, dict[str, list[int]]]:
    done = told_to(daemon, "import", *arguments, "--json")
    found: dict[str, list[int]] = {}
    for part in json.loads(done.stdout)["parts"]:
        counts = found.setdefault(part["part"], [0, 0, 0])
        for at, name in enumerate(("created", "updated", "unchanged")):
            counts[at] += part[name]
    return done.returncode, found


def test_a_chat_and_its_graph_move_in_together_and_again(tmp_path: Path) -> None:
    chat, log = write(tmp_path)
    with Daemon(tmp_path) as daemon:
        dry = told_to(daemon, "import", str(chat), str(log), "--dry-run")
        done = told_to(daemon, "import", str(chat), str(log))
        assert (dry.returncode, done.returncode) == (os.EX_DATAERR, os.EX_DATAERR)
        assert done.stdout.splitlines() == [
            "notes  11 created, 0 updated, 0 unchanged, 1 of them alternatives, 1 rejected",
            "links  3 created, 0 updated, 1 unchanged",
        ]
        assert dry.stdout.splitlines() == ["dry run: nothing was changed", *done.stdout.splitlines()]
        assert dry.stderr == done.stderr
        told = [line.removeprefix("shelfd: ") for line in done.stderr.splitlines()]
        assert told == [
            f"{chat}: line 5 rejected: is not JSON",
            f"{chat}: line 3: send_date: is without a zone and taken as UTC",
            f"{log}: commit 1: floor: the chat does not have the message",
        ]
        session = told_to(daemon, "call", "session.list").stdout
        assert '"session_id":"evening"' in session
        assert '"nugget":"evening"' in session
        assert daemon.call("note.get", id="n_1")["note"]["parent_id"] == "n_5"
        before = daemon.call("shelf.log")["last_seq"]
        again = sums(daemon, str(chat), str(log))
        assert [counts[:2] for counts in again[1].values()] == [[0, 0]] * 4  # turns, too
        assert daemon.call("shelf.log")["last_seq"] == before
        assert "lighthouse" not in daemon.log.read_text(encoding="utf-8")
        assert daemon.stop() == 0


def test_a_graph_alone_goes_where_it_is_told(tmp_path: Path) -> None:
    chat, log = write(tmp_path)
    with Daemon(tmp_path) as daemon:
        done = told_to(daemon, "import", str(log), "--chat", str(chat), "--nugget", "pier", "--format", "luker")
        assert done.returncode == 0
        assert done.stdout.splitlines()[0] == "notes  6 created, 0 updated, 0 unchanged"
        assert daemon.call("note.get", id="n_1")["note"]["nugget"] == "pier"
        alone = told_to(daemon, "import", str(log))
        assert "chat: is not given: of each message the alternative that was written last counts" in alone.stderr
        assert alone.stdout.splitlines()[0] == "notes  1 created, 0 updated, 6 unchanged"
        for wrong in (("--format", "x"), ("--chat", str(chat))):
            assert told_to(daemon, "import", str(chat), *wrong).returncode == os.EX_USAGE
        meta = write_log(tmp_path / "evening__meta.json", {"lastRecallTrace": [1], "sourceMessageCount": 7})
        beside = told_to(daemon, "import", str(log), str(meta))
        assert "how the last recall went is not kept" in beside.stderr
        assert beside.returncode == 0
        lonely = told_to(daemon, "import", str(meta))
        assert (lonely.returncode, "name that" in lonely.stderr) == (os.EX_DATAERR, True)


def test_an_import_that_a_kill_cut_short_is_made_whole_by_another(tmp_path: Path) -> None:
    said: list[Json] = [message(f"said {n}", user=n % 2 == 0, at=f"2025-05-01T{n // 60:02}:{n % 60:02}:00Z")
                        for n in range(1200)]  # fmt: skip
    chat = write_chat(tmp_path / "long.jsonl", [*said[:700], "{" * 8, *said[700:]])
    with Daemon(tmp_path) as daemon:
        importing = subprocess.Popen(
            [sys.executable, "-m", "shelfd.client", "import", str(chat), "--socket", daemon.socket],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda: daemon.call("shelf.log")["last_seq"] > 100, "part of it is there")
        daemon.kill()
        assert importing.wait(TIMEOUT_S) != 0
        daemon.start()
        created, updated, unchanged = sums(daemon, str(chat))[1]["notes"]
        assert (created + unchanged, updated) == (1200, 0)
        assert unchanged > 0
        assert sums(daemon, str(chat))[1]["notes"] == [0, 0, 1200]
        last = daemon.call("session.list")["sessions"][-1]
        assert (last["session_id"], last["last_turn"]) == ("long", 600)


def test_notes_are_taken_from_imported_conversations_when_asked_and_once(tmp_path: Path) -> None:
    said = [
        message("My name is Tom and I live in Hamburg.", name="Tom", user=True, at="2025-05-01T10:00:00Z"),
        message("Welcome, Tom.", at="2025-05-01T10:01:00Z", swipes=["Hello.", "Welcome, Tom."], swipe_id=1),
        message("I prefer tea.", name="Tom", user=True, at="2025-05-01T10:02:00Z"),
        message("Noted.", at="2025-05-01T10:03:00Z"),
    ]
    chat = write_chat(tmp_path / "evening.jsonl", said)
    with Daemon(tmp_path) as daemon:
        dry = json.loads(told_to(daemon, "import", str(chat), "--extract", "--dry-run", "--json").stdout)
        assert "extracted" not in dry
        assert "extracted" not in json.loads(told_to(daemon, "import", str(chat), "--json").stdout)
        done = json.loads(told_to(daemon, "import", str(chat), "--extract", "--json").stdout)["extracted"]
        assert (done["extracted"], done["skipped"], done["refused"]) == (2, 0, 0)
        assert done["operations"] > 0
        assert [job["kind"] for job in daemon.call("job.list")["jobs"]] == ["extraction"]
        again = told_to(daemon, "import", str(chat), "--extract")
        assert again.stdout.splitlines()[-1].split(None, 1) == ["turns", "0 read, 2 known, 0 operations"]
        export = Path(__file__).parents[1] / "moving_in" / "claude.json"
        both = json.loads(told_to(daemon, "import", str(export), "--extract", "--json").stdout)["extracted"]
        assert (both["extracted"] > 0, both["skipped"], both["refused"]) == (True, 0, 0)
        daemon.call("session.select_variant", session_id="evening", turn=1, variant=0)
        assert told_to(daemon, "import", str(chat), "--extract", "--json").returncode == 0


def test_an_empty_folder_and_one_with_chats(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    write(tmp_path / "chats")
    with Daemon(tmp_path) as daemon:
        assert sums(daemon, str(tmp_path / "chats"))[1]["notes"] == [11, 0, 0]
