"""The import command against a daemon: a sample of every plain format, again, edited, and in zips and databases."""

import json
import os
import pickle
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client.commands.importing import import_
from shelfd.client.foreign import EXPECTED
from shelfd.client.invocation import Stop

Json = dict[str, Any]
SAMPLES = Path(__file__).parents[1] / "moving_in"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running


class Taken:
    """What an import said: its status, sums by kind of items, losses and refusals, as the command's JSON has them."""

    def __init__(self, status: int, said: Json) -> None:
        self.status = status
        self.unusable = [one["why"] for one in said["unusable"]]
        self.parts = said["parts"]

    def sums(self, kind: str) -> tuple[int, int, int]:
        parts = [part for part in self.parts if part["part"] == kind]
        created, updated, unchanged = (
            sum(part[name] for part in parts) for name in ("created", "updated", "unchanged")
        )
        return created, updated, unchanged

    @property
    def losses(self) -> dict[str, list[Any]]:
        return {loss["field"]: loss["indexes"] for part in self.parts for loss in part["not_kept"]}

    @property
    def rejected(self) -> dict[Any, str]:
        return {one["index"]: one["error"]["message"] for part in self.parts for one in part["rejected"]}

    @property
    def kept(self) -> list[list[str]]:
        return [one["fields"] for part in self.parts for one in part["kept"]]


class Shelf:
    """A shelf of the daemon, and what is imported into it."""

    def __init__(self, daemon: Daemon, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.daemon, self.name, self._capsys = daemon, name, capsys
        daemon.call("shelf.create", shelf=name)

    def take(self, *paths: Path, dry_run: bool = False, map_: str | None = None, nugget: str | None = None) -> Taken:
        status = 0
        try:
            import_(
                [str(path) for path in paths],
                dry_run,
                map_=map_,
                nugget=nugget,
                shelf=self.name,
                socket=self.daemon.socket,
                as_json=True,
            )
        except Stop as stop:
            status = int(str(stop))
        return Taken(status, json.loads(self._capsys.readouterr().out))

    def notes(self, **params: Any) -> dict[str, Json]:
        found = self.daemon.call("note.list", shelf=self.name, limit=100, include_hidden=True, **params)["notes"]
        return {
            note["title"] or note["content"]: self.daemon.call("note.get", shelf=self.name, id=note["id"], full=True)[
                "note"
            ]
            for note in found
        }

    @property
    def seq(self) -> int:
        return int(self.daemon.call("get_stats", shelf=self.name)["last_seq"])

    def links(self, note: Json) -> set[tuple[str, str]]:
        names = {one["id"]: name for name, one in self.notes().items()}
        return {(link["relation"], names[link["to"]]) for link in note["links"]}


@pytest.fixture
def shelf(daemon: Daemon, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Shelf:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name.removeprefix("test_"))[:60]
    return Shelf(daemon, name, capsys)


def copied(name: str, to: Path) -> Path:
    source = SAMPLES / name
    return Path(shutil.copytree(source, to / name) if source.is_dir() else shutil.copy(source, to / name))


def changes_nothing_again(shelf: Shelf, path: Path, map_: str | None = None) -> None:
    seq = shelf.seq
    again = shelf.take(path, map_=map_)
    assert again.sums("notes")[:2] == again.sums("links")[:2] == (0, 0)
    assert shelf.seq == seq


def memory_service(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT,"
            " memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, deleted_at REAL)"
        )
        store.execute(
            "CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, relationship_type TEXT, created_at REAL)"
        )
        rows = [
            (
                "a" * 64,
                "The pump leaks",
                "boat,urgent",
                "observation",
                '{"room": "bilge"}',
                1714557600.0,
                1714557601.0,
                None,
            ),
            ("b" * 64, "The pump is new", "", "", "{broken", 1714557700.0, 1714557700.0, None),
            ("c" * 64, "Deleted", "", "", None, 1.0, 1.0, 1714557800.0),
            ("d" * 64, " ", "", "", None, 1.0, 1.0, None),
        ]
        store.executemany("INSERT INTO memories VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        store.execute("INSERT INTO memory_graph VALUES (?, ?, 'fixes', 1714557700.0)", ("b" * 64, "a" * 64))
    return path


def mem0_history(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
            " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        made, later = "2024-05-01T10:00:00-07:00", "2024-06-01T10:00:00-07:00"
        rows = [
            ("h1", "memory-0001", None, "Likes tea", "ADD", made, None, 0),
            ("h2", "memory-0002", None, "Gone soon", "ADD", made, None, 0),
            ("h3", "memory-0001", "Likes tea", "Likes green tea", "UPDATE", made, later, 0),
            ("h4", "memory-0002", "Gone soon", None, "DELETE", None, None, 1),
        ]  # fmt: skip
        store.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", rows)
    return path


def test_an_obsidian_vault(shelf: Shelf, tmp_path: Path) -> None:
    vault = copied("vault", tmp_path)
    (tmp_path / "secret.md").write_text("not in the vault", encoding="utf-8")
    (vault / "out.md").symlink_to(tmp_path / "secret.md")
    (vault / "latin.md").write_bytes(b"caf\xe9")
    (vault / "huge.md").write_bytes(b"x" * (1024 * 1024 + 1))
    rehearsed = shelf.take(vault, dry_run=True)
    assert (rehearsed.sums("notes"), shelf.seq) == ((3, 0, 0), 0)
    taken = shelf.take(vault)
    assert taken.status == os.EX_DATAERR
    assert (taken.sums("notes"), taken.sums("links")) == ((3, 0, 0), (3, 0, 0))
    assert set(taken.rejected) == {"latin.md", "huge.md"}
    assert taken.losses == {"symlink": ["out.md"], "links": ["Home.md", "projects/Boat.md"]}
    notes = shelf.notes()
    home = notes["Home page"]
    assert (home["nugget"], home["aliases"], home["fields"]) == ("vault", ["Start"], {"rating": "5"})
    assert {"start", "garden"} <= set(home["tags"])
    assert home["created_at"].startswith(("2024-04-30", "2024-05-01"))
    assert shelf.links(home) == {("related", "Lighthouse"), ("related", "Boat")}
    assert shelf.links(notes["Lighthouse"]) == {("related", "Home page")}
    changes_nothing_again(shelf, vault)

    shelf.daemon.call("note.edit", shelf=shelf.name, id=notes["Boat"]["id"], content="It was painted.")
    for name in ("Lighthouse.md", "projects/Boat.md"):
        with (vault / name).open("a", encoding="utf-8") as file:
            file.write("\nEdited there.\n")
    edited = shelf.take(vault)
    assert (edited.sums("notes")[:2], edited.kept) == ((0, 1), [["content"]])
    notes = shelf.notes()
    assert notes["Lighthouse"]["content"].endswith("Edited there.")
    assert notes["Boat"]["content"] == "It was painted."


def test_basic_memory(shelf: Shelf, tmp_path: Path) -> None:
    project = copied("basic", tmp_path)
    taken = shelf.take(project)
    assert (taken.status, taken.sums("notes"), taken.losses) == (0, (2, 0, 0), {"links": ["Coffee.md"]})
    coffee = shelf.notes()["Coffee Brewing"]
    assert {"drinks", "brewing"} <= set(coffee["tags"])
    assert [(link["relation"], link["reason"]) for link in coffee["links"]] == [("requires", "at 94 degrees")]
    changes_nothing_again(shelf, project)


def test_claude_code_memory(shelf: Shelf, tmp_path: Path) -> None:
    folder = copied("claude", tmp_path)
    taken = shelf.take(folder)
    assert (taken.status, taken.sums("notes"), taken.sums("links")) == (0, (4, 0, 0), (1, 0, 0))
    notes = shelf.notes()
    habit = notes["Ada prefers tabs\nin Makefiles only"]
    assert habit["fields"] == {"section": "Habits"}
    rule = notes["Run tests with make"]
    assert (rule["type"], rule["fields"]) == ("preference", {"description": "how tests are run here"})
    assert shelf.links(rule) == {("related", "Who Ada is")}
    changes_nothing_again(shelf, folder)


def test_the_graph_of_the_mcp_reference_server(shelf: Shelf, tmp_path: Path) -> None:
    graph = copied("memory.jsonl", tmp_path)
    taken = shelf.take(graph)
    assert (taken.status, taken.sums("notes"), taken.sums("links")) == (os.EX_DATAERR, (2, 0, 0), (1, 0, 0))
    assert taken.rejected == {5: "is not JSON"}
    assert taken.losses == {"links": [4]}
    ada = shelf.notes()["Ada"]
    assert (ada["nugget"], ada["type"], ada["content"]) == ("memory", "person", "Keeps the lighthouse\nPrefers tea")
    assert shelf.links(ada) == {("works_at", "Lighthouse")}
    changes_nothing_again(shelf, graph)
    graph.write_text(graph.read_text().replace("Prefers tea", "Prefers coffee"))
    assert shelf.take(graph).sums("notes")[:2] == (0, 1)
    elsewhere = shelf.take(graph, nugget="other")
    assert elsewhere.sums("notes")[:2] == (2, 0)


def test_mem0s_export_and_history(shelf: Shelf, tmp_path: Path) -> None:
    export = copied("mem0.json", tmp_path)
    taken = shelf.take(export)
    assert (taken.status, taken.sums("notes"), list(taken.rejected)) == (os.EX_DATAERR, (2, 0, 0), [2])
    assert "relations" in taken.losses
    likes = shelf.notes()["Likes to sail at dawn"]
    assert likes["id"] == "8f14e45f-ceea-467f-a7f3-5c1d4f3a0001"
    assert likes["fields"] == {"user_id": "ada", "category": "hobbies"}
    assert likes["created_at"] == "2024-07-20T08:30:36.275141Z"
    changes_nothing_again(shelf, export)
    store = tmp_path / "store"
    store.mkdir()
    mem0_history(store / "history.db")
    taken = shelf.take(store)
    assert (taken.sums("notes"), taken.losses["event"]) == ((1, 0, 0), [4])
    assert "Likes green tea" in shelf.notes()
    changes_nothing_again(shelf, store)


def test_the_store_of_mcp_memory_service(shelf: Shelf, tmp_path: Path) -> None:
    store = memory_service(tmp_path / "sqlite_vec.db")
    before = store.read_bytes()
    taken = shelf.take(store)
    assert (taken.status, taken.sums("notes"), taken.sums("links")) == (os.EX_DATAERR, (2, 0, 0), (1, 0, 0))
    assert (list(taken.rejected), taken.losses) == ([4], {"deleted_at": [3]})
    leak = shelf.notes()["The pump leaks"]
    assert (leak["id"], leak["type"], leak["fields"]) == ("a" * 64, "observation", {"room": "bilge"})
    assert {"boat", "urgent"} <= set(leak["tags"])
    assert leak["created_at"] == "2024-05-01T10:00:00Z"
    assert shelf.links(shelf.notes()["The pump is new"]) == {("fixes", "The pump leaks")}
    changes_nothing_again(shelf, store)
    assert store.read_bytes() == before


def test_lines_of_json(shelf: Shelf, tmp_path: Path) -> None:
    lines = copied("notes.jsonl", tmp_path)
    taken = shelf.take(lines)
    assert (taken.status, taken.sums("notes"), set(taken.rejected)) == (os.EX_DATAERR, (2, 0, 0), {2, 4})
    harbour = shelf.notes()["Harbour"]
    assert (harbour["content"], harbour["fields"]) == ("The harbour closes at nine.", {"when": "evening"})
    assert harbour["created_at"] == "2024-05-01T10:00:00Z"
    changes_nothing_again(shelf, lines)


def test_rows_of_csv_with_columns_that_are_mapped(shelf: Shelf, tmp_path: Path) -> None:
    table = copied("notes.csv", tmp_path)
    named = "text=content,title=name"
    taken = shelf.take(table, map_=named)
    assert (taken.status, taken.sums("notes"), list(taken.rejected)) == (os.EX_DATAERR, (2, 0, 0), [5])
    buoy = shelf.notes()["Buoy"]
    assert buoy["content"] == "The buoy is red, and\nblinks twice."
    assert (buoy["fields"], {"sea", "signal"} <= set(buoy["tags"])) == ({"colour": "red"}, True)
    changes_nothing_again(shelf, table, named)
    table.write_text(table.read_text().replace("is closed", "is open"))
    assert shelf.take(table, map_=named).sums("notes")[:2] == (0, 1)
    assert shelf.notes()["Quay"]["content"] == "The quay is open."
    missing = shelf.take(table, map_="words=content")
    assert (missing.status, missing.unusable) == (os.EX_DATAERR, ["no record has the columns that --map names: words"])


@pytest.mark.parametrize("whose", ["chatgpt", "claude"])
def test_conversations(shelf: Shelf, tmp_path: Path, whose: str) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(SAMPLES / f"{whose}.json", "data/conversations.json")
        packed.writestr("../../escaped", "nothing of this is written")
    taken = shelf.take(archive)
    assert taken.sums("notes") == (2, 0, 0)
    notes = shelf.notes(nugget=whose)
    if whose == "chatgpt":
        assert (taken.status, taken.rejected, taken.losses) == (
            65,
            {2: "is no conversation of chatgpt"},
            {"branches": [0]},
        )
        answer = notes["To the lighthouse."]
        assert (answer["session_id"], answer["fields"]) == ("c0ffee00-0001", {"conversation": "Sailing"})
    else:
        assert (taken.status, sorted(taken.losses)) == (0, ["attachments", "content"])
        answer = notes["A bowline."]
    assert (answer["author"], answer["turn"], answer["level"]) == ("assistant", 1, "episodic")
    changes_nothing_again(shelf, archive)


def test_what_is_hostile_is_refused_by_name(shelf: Shelf, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        packed.writestr("conversations.json", b"[" + b" " * (80 * 1024 * 1024) + b"]")
    (tmp_path / "none.zip").write_bytes(b"PK\3\4 and no more")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr("readme.txt", "x")
    with closing(sqlite3.connect(tmp_path / "qdrant.sqlite")) as store, store:
        store.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        store.execute("INSERT INTO points VALUES ('1', ?)", (pickle.dumps({"payload": {"data": "x"}}),))
    (tmp_path / "nul.csv").write_bytes(b"text,title\nwith \0 in it,one\nlatin \xe9,two\ngood,three\n")
    (tmp_path / "cut.json").write_text('[{"text": "whole"}, {"text": "cut')
    names = ("bomb.zip", "none.zip", "other.zip", "qdrant.sqlite", "nul.csv", "cut.json")
    taken = shelf.take(*(tmp_path / name for name in names))
    assert taken.status == os.EX_DATAERR
    assert [why.removeprefix(f"{EXPECTED}; ") for why in taken.unusable] == [
        "conversations.json in it would become 83886082 bytes, which no export is",
        "is a damaged zip",
        "is a zip without conversations.json; it has readme.txt",
        "this is a SQLite file with points",
    ]
    assert taken.sums("notes") == (2, 0, 0)
    assert taken.rejected == {2: "holds a NUL", 3: "is not UTF-8", 1: "is cut off: the file ends within it"}
