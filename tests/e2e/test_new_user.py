"""What a new user does, by the commands that the pages name, at the usual places of a home directory.

README is run by docs/readme.py, the recipes of docs/mcp.md by tests/client/test_mcp_recipes.py, and ``setup`` under a
real systemd by tests/systemd; this is the rest, from moving in to uninstalling. The broker is the embedded one.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.test_import_formats import SAMPLES, memory_service
from luker_files import floor_log, message, node, state, write_chat, write_log
from nuggets_files import write_home
from running import TIMEOUT_S, Daemon, clean_environment, until
from zettelforge_files import note, write_lines

COMMANDS = Path(sys.executable).parent  # where the command is, for whoever installed it


class Home:
    """A user's home directory with a daemon that was started in it by ``shelfd run``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = clean_environment(
            directory, {"PATH": os.pathsep.join([str(COMMANDS), os.environ["PATH"]]), "PYTHONSAFEPATH": "1"}
        )
        self.daemon = Daemon(directory, argv=(str(COMMANDS / "shelfd"), "run", "--embedded-broker"))
        self.data = directory / ".local" / "share" / "shelfd"

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start *command* in the home directory."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            ["/bin/bash", "-euo", "pipefail", "-c", command], cwd=self.directory, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
        )  # fmt: skip

    def run(self, command: str, status: int = 0) -> str:
        """Run *command*, which has to end with *status*, and return what it printed."""
        process = self.start(command)
        printed, complaints = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == status, f"{command}\n{printed}{complaints}"
        return printed

    def logical_hash(self, shelf: str) -> str:
        """What a backup of *shelf* says of what is in it."""
        made: dict[str, Any] = json.loads(self.run(f"shelfd backup --json --shelf {shelf}"))["backup"]
        return str(made["logical_hash"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    home = Home(tmp_path_factory.mktemp("ada"))
    with home.daemon:
        yield home


def test_every_sample_moves_in_goes_out_and_comes_back_as_it_was(home: Home) -> None:
    moving = home.directory / "moving"
    home.run(f'cp -r {SAMPLES} moving && shelfd call shelf.create \'{{"shelf": "moved"}}\'')
    write_home(moving / "nuggets")
    write_chat(moving / "evening.jsonl", [message("Welcome aboard."), message("Where to?", user=True)])
    write_log(moving / "evening__floor_log.json", floor_log(state([node("n1")]), floors=[0]))
    (moving / "zettel").mkdir()
    write_lines(moving / "zettel" / "notes.jsonl", [note("note_20250102_030405_ab12", "APT28 used X-Agent.")])
    memory_service(moving / "sqlite_vec.db")
    broken = 65  # the samples of these have a line that is none; all else of them is taken
    for what, status in {
        "vault": 0, "basic": 0, "claude": 0, "memory.jsonl": broken, "mem0.json": broken, "notes.jsonl": broken,
        "notes.csv --map text=content,title=name": broken, "chatgpt.json": broken, "claude.json": 0, "nuggets": 0,
        "evening.jsonl moving/evening__floor_log.json": 0, "zettel": 0, "sqlite_vec.db": broken,
    }.items():  # fmt: skip
        printed = home.run(f"shelfd import moving/{what} --shelf moved", status)
        assert "created" in printed, what
    here = home.logical_hash("moved")
    home.run("shelfd export all.jsonl --shelf moved && shelfd export folder --format markdown --shelf moved")
    home.run("shelfd export all.graphml --shelf moved")

    home.run('shelfd call shelf.create \'{"shelf": "lines"}\' && shelfd import all.jsonl --shelf lines')
    assert home.logical_hash("lines") == here
    home.run('shelfd call shelf.create \'{"shelf": "pages"}\' && shelfd import folder --shelf pages')
    taken = json.loads(home.run('shelfd call snapshot \'{"shelf": "moved"}\''))["path"]
    home.run(f'shelfd call shelf.create \'{{"shelf": "taken"}}\' && shelfd import {taken} --shelf taken')
    shelves = ("moved", "pages", "taken")
    listed = [json.loads(home.run(f"shelfd notes --json --limit 100 --shelf {shelf}")) for shelf in shelves]
    assert len({len(one["notes"]) for one in listed}) == 1
    home.run("shelfd merge all.jsonl --shelf moved")
    assert home.logical_hash("moved") == here


def test_a_backup_takes_back_what_was_done_since(home: Home) -> None:
    home.run('shelfd remember "The kettle is green" | cut -d " " -f 1 > id && shelfd backup kept.db')
    before = home.logical_hash("default")
    home.run('shelfd remember "The kettle is blue" && shelfd forget "$(cat id)"')
    assert home.logical_hash("default") != before
    assert "what was there is kept" in home.run("shelfd restore kept.db")
    assert home.logical_hash("default") == before
    assert "The kettle is green" in home.run("shelfd recall kettle")


def test_an_agent_remembers_by_mcp_and_the_command_line_finds_it(home: Home) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
    store = {"name": "remember", "arguments": {"content": "The anchor is in the locker."}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": store},
    ]
    (home.directory / "asked").write_text("".join(json.dumps(one) + "\n" for one in asked))
    answers = [json.loads(line) for line in home.run("shelfd mcp < asked").splitlines()]
    assert sorted(one["id"] for one in answers) == [1, 2, 3]
    assert all("result" in one for one in answers)
    assert "The anchor is in the locker." in home.run("shelfd recall where is the anchor")


def test_a_subscriber_sees_by_mqtt_what_is_remembered(home: Home) -> None:
    watching = home.start("shelfd watch --mqtt --count 1")
    try:
        # Nothing tells when it has subscribed: what comes after that is one of these.
        until(lambda: home.run("shelfd remember one more thing") and watching.poll() is not None, "an event by MQTT")
        printed, complaints = watching.communicate()
        assert "note.created" in printed, complaints
    finally:
        watching.kill()
        watching.communicate()


def test_the_doctor_has_no_complaint(home: Home) -> None:
    found = json.loads(home.run("shelfd doctor --json"))
    assert found["ok"], [one for one in found["findings"] if not one["ok"]]
    home.run("shelfd status && shelfd config check && shelfd help && shelfd completion bash > /dev/null")


def test_uninstalling_leaves_the_data_and_says_where(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.daemon:
        uninstall(home)
    assert (home.data / "shelves" / "default" / "shelf.db").is_file()
    assert "would be" in home.run("shelfd restore last.db --dry-run")  # which needs no daemon


def uninstall(home: Home) -> None:
    home.run("shelfd remember something && shelfd backup last.db && shelfd setup --user --command /usr/bin/shelfd")
    units = home.directory / ".config" / "systemd" / "user"
    assert (units / "shelfd.service").is_file()
    said = home.run("shelfd setup --user --uninstall")
    assert not (units / "shelfd.service").exists()
    assert f"the data stays in {home.data}" in said
    assert home.daemon.stop() == 0
