"""The command line and a real daemon: the first minute of a user."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from running import TIMEOUT_S, Daemon, clean_environment
from shelfd.client import RpcFailure


def shelfd(daemon: Daemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = clean_environment(daemon.directory, {"SHELFD_SOCKET": str(daemon.socket)})
    command = [sys.executable, "-m", "shelfd.client", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def test_the_first_minute(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        stored = shelfd(
            daemon, "remember", "the kettle is green", "--nugget", "home", "--key", "kettle colour", "--json"
        )
        note_id = json.loads(stored.stdout)["note"]["id"]
        assert "the kettle is green" in shelfd(daemon, "recall", "kettle colour").stdout
        assert note_id in shelfd(daemon, "notes", "--nugget", "home").stdout
        assert "kettle colour" in shelfd(daemon, "facts", "home").stdout
        assert "the kettle is green" in shelfd(daemon, "note", note_id).stdout
        assert "uid:" in shelfd(daemon, "note", note_id, "--history").stdout
        assert "Relevant Memories" in shelfd(daemon, "context", "kettle").stdout
        assert note_id in shelfd(daemon, "log").stdout
        assert "ok, ready" in shelfd(daemon, "status").stdout
        watched = shelfd(daemon, "watch", "--since", "0", "--count", "1", "--json")
        assert json.loads(watched.stdout)["seq"] == 1
        assert shelfd(daemon, "forget", note_id).stdout == f"{note_id}\n"
        assert shelfd(daemon, "recall", "kettle colour", "--json").returncode == 0
        assert shelfd(daemon, "note", "nothing").returncode == os.EX_NOINPUT
        assert shelfd(daemon, "facts", "nowhere").returncode == os.EX_NOINPUT
        assert shelfd(daemon, "call", "recall.feedbacks").returncode == os.EX_USAGE
        assert daemon.stop() == 0


def test_what_notes_mention(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        for text in ("APT28 deployed X-Agent.", "Quentin lives in Lisbon.", "Rain in Lisbon."):
            assert shelfd(daemon, "remember", text).returncode == os.EX_OK
        shown = shelfd(daemon, "entity", "Fancy Bear").stdout
        assert shown.startswith("actor fancy-bear, which is apt28\n")
        assert "APT28 deployed X-Agent." in shown
        found = json.loads(shelfd(daemon, "entity", "lisbon", "--type", "location", "--json").stdout)
        assert [note["content"] for note in found["notes"]] == ["Rain in Lisbon.", "Quentin lives in Lisbon."]
        one = json.loads(shelfd(daemon, "entity", "LISBON", "-k", "1", "--json").stdout)
        assert (len(one["notes"]), one["entity"]["type"]) == (1, "location")
        assert [one["relationship"] for one in one["relationships"]] == ["LOCATED_AT"]
        assert "uses → x-agent" in shown
        nobody = shelfd(daemon, "entity", "Nobody")
        assert (nobody.returncode, nobody.stdout) == (os.EX_OK, "")
        refused = shelfd(daemon, "entity", "red", "--type", "colour")
        assert refused.returncode == os.EX_DATAERR
        assert "entity_type: is none of" in refused.stderr


def test_a_name_is_what_a_note_shows_it_to_be(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        told = {
            "Customer Halvorsen Marine complains.",
            "If Halvorsen Marine leaves, we lose money.",
            "For Halvorsen Marine",
        }
        for text in told:
            daemon.call("remember", content=text)
        found = json.loads(shelfd(daemon, "entity", "Halvorsen Marine", "--json").stdout)
        assert (found["entity"]["type"], {note["content"] for note in found["notes"]}) == ("organization", told)
        assert len(shelfd(daemon, "timeline", "halvorsen-marine").stdout.splitlines()) == len(told)
        purged = shelfd(daemon, "entity", "Halvorsen Marine", "--purge", "--yes").stdout
        assert purged == "purged 3 notes about organization halvorsen-marine\n"
        assert shelfd(daemon, "recall", "Halvorsen Marine").stdout == ""


def test_everything_about_somebody_goes_and_what_stays_is_said(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        name, *purge = "Karla Wolff", "--purge", "--yes"
        nothing = shelfd(daemon, "entity", name, *purge)
        assert (nothing.returncode, nothing.stdout) == (os.EX_OK, "")
        assert "nothing to purge" in nothing.stderr
        told = [
            daemon.call("remember", **note)["note"]["id"]
            for note in ({"content": "karla wolff rang"}, {"content": "Likes tea.", "author": name})
        ]
        stays = daemon.call("remember", content="Karla met Tom Wolff.")["note"]["id"]
        planned = shelfd(daemon, "entity", name, "--purge", "--dry-run").stdout.splitlines()
        assert planned[0] == "would purge 2 notes about person karla-wolff"
        assert sorted(planned[1:3]) == sorted(told)
        assert planned[3:] == [
            "1 note has the words and stays: nothing shows that it is meant", f"stays: {stays}"
        ]  # fmt: skip
        assert "purged 2 notes" in shelfd(daemon, "entity", name, *purge).stdout
        daemon.call("remember", content="Fancy Bear deployed HeadLace.")
        assert shelfd(daemon, "entity", "APT28", *purge).stdout == "purged 1 note about actor apt28\n"


def test_a_dry_run_of_nothing_is_refused_and_one_without_relations_is_told(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        refused = shelfd(daemon, "entity", "Eve", "--dry-run")
        assert (refused.returncode, "goes with --purge" in refused.stderr) == (os.EX_USAGE, True)
        alone = shelfd(daemon, "graph", "Eve")
        assert (alone.returncode, alone.stdout) == (os.EX_OK, "")
        assert "nothing is known of its relations" in alone.stderr


def test_what_lies_around_an_entity_and_when(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        old = daemon.call("remember", content="APT28 deployed X-Agent.", occurred_at="2024-01-01T12:00:00Z")["note"]
        new = daemon.call("remember", content="Fancy Bear deployed HeadLace.", occurred_at="2025-01-01T12:00:00Z")[
            "note"
        ]
        daemon.call("remember", content="Turla deployed HeadLace.")
        tree = shelfd(daemon, "graph", "Fancy Bear").stdout.splitlines()
        assert tree[0] == "Fancy Bear"
        assert tree[1].startswith("├─ uses → headlace (malware)  [note-")
        assert tree[2].startswith("│  └─ uses ← turla (actor)  [note-")
        assert tree[3] == f"└─ uses → x-agent (malware)  [{old['id']}]"
        assert len(tree) == 4
        assert len(shelfd(daemon, "graph", "Fancy Bear", "--depth", "1").stdout.splitlines()) == 3
        walked = json.loads(shelfd(daemon, "graph", "apt28", "--type", "actor", "--json").stdout)
        assert [node["value"] for node in walked["nodes"]] == ["headlace", "x-agent", "turla"]
        assert json.loads(shelfd(daemon, "graph", "apt28", "--format", "json").stdout)["node_count"] == 4
        assert shelfd(daemon, "graph", "apt28", "-f", "dot").stdout.startswith("digraph entities {")
        assert shelfd(daemon, "graph", "apt28", "-f", "graphml").stdout.startswith("<?xml")
        assert shelfd(daemon, "graph", "apt28", "-f", "svg").returncode == os.EX_USAGE
        nobody = shelfd(daemon, "graph", "Nobody")
        assert (nobody.returncode, nobody.stdout) == (os.EX_OK, "")

        daemon.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
        lines = shelfd(daemon, "timeline", "Fancy Bear").stdout.splitlines()
        assert [line.split("  ", 2)[1:] for line in lines] == [
            [old["id"], "APT28 deployed X-Agent."],
            [old["id"], f"replaced by {new['id']}: APT28 deployed X-Agent."],
            [new["id"], "Fancy Bear deployed HeadLace."],
        ]
        told = json.loads(shelfd(daemon, "timeline", "who deployed HeadLace", "--json").stdout)
        assert {entry["note_id"] for entry in told["entries"]} >= {new["id"]}


def test_a_shelf_of_a_newer_version_is_not_called_damaged_anywhere(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.call("remember", content="safe")
        assert daemon.stop() == 0
        file = daemon.data / "shelves" / "default" / "shelf.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 99")
        before = file.read_bytes()
        daemon.start()

        recalled = shelfd(daemon, "recall", "safe")
        told = [recalled.stderr, shelfd(daemon, "status").stdout, shelfd(daemon, "doctor").stdout]
        with pytest.raises(RpcFailure) as refused:
            daemon.call("get_stats")
        states = [shelf["state"] for shelf in daemon.call("system.health")["shelves"]]

        assert recalled.returncode == os.EX_IOERR
        assert all("install a newer shelfd" in text for text in told)
        troubles = [line for text in told for line in text.splitlines() if not line.startswith("ok")]
        assert not any(word in line for line in troubles for word in ("damaged", "backup", "restore", "corrupt"))
        assert "SchemaTooNew" in recalled.stderr
        assert (refused.value.code, refused.value.data["type"]) == (-32012, "SchemaTooNew")
        assert states == ["newer"]
        assert file.read_bytes() == before


def test_run_becomes_the_daemon_under_the_same_process_id(tmp_path: Path) -> None:
    run = "import sys; sys.argv = ['shelfd', 'run', *sys.argv[1:]]; from shelfd.client.cli import main; main()"
    flags = ("--data-dir", str(tmp_path / "data"), "--socket", str(tmp_path / "s"))
    with Daemon(tmp_path, argv=("-c", run, *flags)) as daemon:
        record = json.loads((tmp_path / "data" / "shelfd.lock").read_text())
        assert record["pid"] == daemon.pid
        assert daemon.stop() == 0


def test_config_is_handed_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shelfd.client", "config", "show", "--json", "--instance", "x"]
    done = subprocess.run(
        command, env=clean_environment(tmp_path), capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    assert json.loads(done.stdout)["daemon.instance"] == "x"


def test_answers_in_a_terminal(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        boat = daemon.call("remember", content="The boat was bought in 2019. It leaves for Orm at six.")["note"]["id"]
        asked = "when does the boat leave for Orm"
        told = shelfd(daemon, "synthesize", asked).stdout
        assert told.startswith("It leaves for Orm at six.\nconfidence 0.")
        assert boat in told
        assert json.loads(shelfd(daemon, "synthesize", asked, "--json").stdout)["engine"] == "rules"
        assert "It leaves" in shelfd(daemon, "synthesize", asked, "--format", "brief").stdout
        assert shelfd(daemon, "synthesize", asked, "--format", "timeline").stdout.startswith("2019")
        assert shelfd(daemon, "synthesize", asked, "--format", "relationship_map").returncode == 0
        assert "I don't know." in shelfd(daemon, "synthesize", asked, "--tier", "C").stdout
        refused = shelfd(daemon, "synthesize", asked, "--format", "essay")
        assert refused.returncode == os.EX_USAGE
        assert "is none of answer, brief, timeline, map" in refused.stderr
        assert shelfd(daemon, "timeline", "the boat").stdout.startswith("2019  ")
        assert boat in shelfd(daemon, "recall", "boat", "--max-age", "12h").stdout
