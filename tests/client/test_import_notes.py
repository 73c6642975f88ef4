"""The command against a daemon: ZettelForge's stores, a snapshot and back, and files that are none of these."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from running import TIMEOUT_S, Daemon, clean_environment, until
from zettelforge_files import Json, note, write_database, write_lines

OLD, NEW = "note_20250102_030405_ab12", "note_20250103_030405_cd34"
#: Central European time by its rule: no machine needs to have a table of zones for it.
ZONE = "CET-1CEST,M3.5.0,M10.5.0/3"


def told_to(daemon: Daemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = clean_environment(daemon.directory, {"SHELFD_SOCKET": str(daemon.socket), "TZ": ZONE})
    command = [sys.executable, "-m", "shelfd.client", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix("shelfd: ") for line in done.stderr.splitlines()]


def rows() -> list[Json]:
    return [
        {
            "id": OLD, "content_raw": "Alice lives in Rome.", "tags": '["general"]', "superseded_by": NEW,
            "created_at": "2025-01-02T03:04:05.5", "updated_at": "2025-01-02T03:04:05.5", "embedding_vector": "[0.5]",
        },
        {
            "id": NEW, "content_raw": "Alice lives in Oslo.", "domain": "personal", "tier": "A", "importance": 8.0,
            "ttl": 3000, "related": json.dumps([OLD]), "vuln_meta": '{"cvss_v3_score": 9.8}', "tags": "broken",
            "last_accessed": "2025-06-01T00:00:00",
        },
    ]  # fmt: skip


def test_the_newer_store_moves_in(tmp_path: Path) -> None:
    home = tmp_path / ".amem"
    home.mkdir()
    said = {"from": ("threat_actor", "Alice Group"), "relation": "uses", "to": ("entity", "Rome")}
    store = write_database(home / "zettelforge.db", rows(), causal=[{**said, "note": NEW}, {**said, "note": "gone"}])
    write_lines(home / "notes.jsonl", [note("note_older", "what the newer store has, too")])
    before = store.read_bytes()
    with Daemon(tmp_path) as daemon:
        done = told_to(daemon, "import", str(home))
        assert done.returncode == 0
        assert done.stdout.splitlines() == [
            "notes  2 created, 0 updated, 0 unchanged",
            "links  1 created, 1 updated, 0 unchanged",
        ]
        edges = "1 edges that say what causes what are no note's, and not kept"
        assert sorted(lines(done)) == [f"{store}: kg_edges: {edges}", f"{store}: row 2: tags: is not a list"]
        assert store.read_bytes() == before
        related = daemon.call("get_entity_relationships", entity_type="threat_actor", entity_value="alice group")
        (edge,) = related["relationships"]
        assert (edge["node"]["value"], edge["relationship"], edge["edge_type"], edge["note_id"]) == (
            "rome", "uses", "causal", NEW,
        )  # fmt: skip
        new, old = (daemon.call("note.get", id=id_)["note"] for id_ in (NEW, OLD))
        shown = {name: new[name] for name in ("domain", "tier", "importance", "ttl_days", "fields")}
        assert shown == {
            "domain": "personal", "tier": "A", "importance": 8, "ttl_days": 3000, "fields": {"cvss_v3_score": 9.8},
        }  # fmt: skip
        assert old["superseded_by"] == NEW
        assert old["created_at"] == "2025-01-02T02:04:05.500000Z"  # that machine's own time, an hour ahead
        again = told_to(daemon, "import", str(store))
        assert again.stdout.splitlines() == [
            "notes  0 created, 0 updated, 2 unchanged",
            "links  0 created, 0 updated, 1 unchanged",
        ]
        assert daemon.stop() == 0


def test_the_older_store_moves_in_and_a_broken_line_harms_none_of_the_others(tmp_path: Path) -> None:
    store = write_lines(tmp_path / "notes.jsonl", [note(OLD, "one", links={"superseded_by": NEW}), note(NEW, "two")])
    with store.open("a", encoding="utf-8") as file:
        file.write('{"id": \n\n{"id": "x"}\n')
    with Daemon(tmp_path) as daemon:
        dry = told_to(daemon, "import", str(store), "--dry-run", "--nugget", "cti")
        assert "dry run: nothing was changed" in dry.stdout
        assert daemon.call("get_stats")["total_notes"] == 0
        done = told_to(daemon, "import", str(store), "--nugget", "cti", "--json")
        assert done.returncode == os.EX_DATAERR
        account = json.loads(done.stdout)["parts"][0]
        assert [(one["index"], one["error"]["message"]) for one in account["rejected"]] == [
            (3, "is not JSON"),
            (5, "is no note"),
        ]
        assert (account["created"], account["unit"]) == (2, "line")
        assert daemon.call("note.get", id=OLD)["note"]["nugget"] == "cti"


def test_a_snapshot_is_written_and_read_back(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        for name in range(30):
            daemon.call("remember", content=f"line {name}", key=f"k{name}", nugget="list")
        daemon.call("remember", content="APT28 uses X-Agent.", tags=["cti"])
        done = told_to(daemon, "snapshot")
        path = Path(done.stdout.strip())
        assert (done.returncode, path.parent.name) == (0, "snapshots")
        assert json.loads(told_to(daemon, "snapshot", "--json").stdout)["notes"] == 31
        kept = path.read_text(encoding="utf-8")
        daemon.call("shelf.create", shelf="other")
        copied = told_to(daemon, "import", str(path), "--shelf", "other")
        assert copied.stdout.splitlines() == [
            "nuggets  2 created, 0 updated, 0 unchanged",
            "notes    31 created, 0 updated, 0 unchanged",
        ]
        again = told_to(daemon, "import", str(path), "--shelf", "other", "--format", "shelfd")
        assert again.stdout.splitlines()[1] == "notes    0 created, 0 updated, 31 unchanged"
        second = told_to(daemon, "snapshot", "--shelf", "other").stdout.strip()
        assert sorted(plain(kept)) == sorted(plain(Path(second).read_text(encoding="utf-8")))
        assert daemon.stop() == 0


def test_a_long_snapshot_with_links_is_read_back(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        notes = [{"content": f"line {number}", "session_id": f"s{number // 9}"} for number in range(900)]
        ids = daemon.call("remember_many", notes=notes)["ids"]
        for one, other in ((0, 899), (899, 1), (300, 400)):
            daemon.call("link.upsert", source=ids[one], target=ids[other], direction="outgoing")
        deep: Json = {}
        for _ in range(40):
            deep = {"deep": deep}
        path = Path(told_to(daemon, "snapshot").stdout.strip())
        kept = path.read_text(encoding="utf-8").splitlines()
        broken = json.loads(kept[450])
        broken["shelfd"]["note"] = deep
        path.write_text("\n".join([*kept[:450], json.dumps(broken), *kept[451:]]), encoding="utf-8")
        daemon.call("shelf.create", shelf="other")
        copied = told_to(daemon, "import", str(path), "--shelf", "other")
        assert copied.returncode == os.EX_DATAERR
        assert [line.partition(": ")[2] for line in lines(copied)] == [
            "line 451 rejected: json: is nested deeper than 32 levels"
        ]
        assert copied.stdout.splitlines()[1:] == [
            "notes    899 created, 0 updated, 0 unchanged, 1 rejected",
            "links    3 created, 0 updated, 0 unchanged",
        ]
        second = told_to(daemon, "snapshot", "--shelf", "other").stdout.strip()
        assert sorted(plain("\n".join([*kept[:450], *kept[451:]]))) == sorted(plain(Path(second).read_text()))
        assert daemon.stop() == 0


def plain(text: str) -> list[str]:
    """The lines of a snapshot without what is each shelf's own."""
    found = []
    for line in map(json.loads, text.splitlines()):
        line["metadata"] = line["semantic"]["entities"] = None
        line["shelfd"].pop("usage", None)
        found.append(json.dumps(line, sort_keys=True))
    return found


@pytest.mark.parametrize("what", ["sqlite", "half", "lines"])
def test_files_that_are_none_of_these_are_refused(tmp_path: Path, what: str) -> None:
    file = tmp_path / "store.db"
    if what == "sqlite":
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE other (id)")
    elif what == "half":
        file.write_bytes(b"SQLite format 3\0" + b"\xff" * 600)
    else:
        file.write_text('{"id": 1}\n', encoding="utf-8")
    with Daemon(tmp_path) as daemon:
        done = told_to(daemon, "import", str(file), "--format", "zettelforge")
        assert (done.returncode, done.stdout) == (os.EX_DATAERR, "")
        assert str(file) in done.stderr


def test_what_expired_is_told_of_once_whatever_kills_the_daemon(tmp_path: Path) -> None:
    notes = [note(f"note_{n}", f"old {n}", metadata={"ttl": 1}) for n in range(300)]
    store = write_lines(tmp_path / "notes.jsonl", [*notes, note("note_kept", "stays")])
    with Daemon(tmp_path) as daemon:
        told_to(daemon, "import", str(store))
        assert daemon.call("get_stats")["total_notes"] == 301
        for wanted in (1, 200, 300):  # they are told of when a shelf is opened, some at a time
            daemon.kill()
            daemon.start()
            until(lambda wanted=wanted: len(expired(daemon)) >= wanted, "notes are told of")  # type: ignore[misc]
        daemon.kill()
        daemon.start()
        told = expired(daemon)
        assert sorted(told) == sorted(one["id"] for one in notes)
        assert daemon.stop() == 0


def expired(daemon: Daemon) -> list[str]:
    """Whom events told of, in their order."""
    found: list[str] = []
    since = 0
    while events := daemon.call("events.since", seq=since, limit=1000)["events"]:
        found += [event["subject"] for event in events if event["type"] == "shelfd.note.expired.v1"]
        since = events[-1]["seq"]
    return found
