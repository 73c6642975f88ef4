"""The export command against a daemon: lines and back, Markdown edited and back, a graph that is valid XML."""

import json
import os
import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from client.test_import_formats import Shelf
from running import Daemon
from shelfd.client.commands.exporting import export
from shelfd.client.commands.merging import merge
from shelfd.client.exports import TO_FILE
from shelfd.client.invocation import Stop

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running


@pytest.fixture
def shelf(daemon: Daemon, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Shelf:
    shelf = Shelf(daemon, f"{request.node.name.removeprefix('test_')[:40].replace('_', '-')}", capsys)
    fill(shelf)
    return shelf


def fill(shelf: Shelf) -> None:
    def remember(content: str, **params: object) -> str:
        return str(shelf.daemon.call("remember", shelf=shelf.name, content=content, **params)["note"]["id"])

    boat = remember("The boat & its <ropes>\n\n- are old", title="Boat: 1/2", tags=["sea"], aliases=["Ship"])
    again = remember("Another boat.", title="BOAT: 1/2", importance=9, fields={"length": 12})
    remember("blue \x01", key="colour", nugget="work")
    hidden = remember("[[not a link]]\n---\nx: y\n---")
    shelf.daemon.call("note.hide", shelf=shelf.name, id=hidden)
    shelf.daemon.call(
        "link.upsert",
        shelf=shelf.name,
        source=boat,
        target=again,
        relation="next_to",
        reason='"moored"',
        direction="outgoing",
    )


def write(shelf: Shelf, place: Path | str, format_: str | None = None, *, force: bool = False) -> int:
    try:
        export(str(place), format_, force, shelf.name, shelf.daemon.socket, as_json=True)
    except Stop as stop:
        return int(str(stop))
    return 0


def test_lines_are_read_back_without_loss(shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "all.jsonl"
    assert write(shelf, file) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == 4
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4
    assert write(shelf, file) == os.EX_CANTCREAT
    assert write(shelf, file, force=True) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]
    capsys.readouterr()
    other = Shelf(shelf.daemon, f"{shelf.name}-other", capsys)
    taken = other.take(file)
    assert (taken.status, taken.sums("notes"), taken.sums("links")) == (0, (4, 0, 0), (1, 0, 0))
    bare = dict.fromkeys(("rev", "last_accessed_at"))
    assert {name: {**note, **bare} for name, note in other.notes().items()} == {
        name: {**note, **bare} for name, note in shelf.notes().items()
    }
    assert write(shelf, tmp_path / "no" / "place.jsonl") == os.EX_CANTCREAT


def test_what_is_edited_in_markdown_is_taken_over(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "vault"
    assert write(shelf, folder, "markdown") == 0
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    assert len(names) == 4
    assert "memory/Boat 1 2.md" in names
    assert write(shelf, folder, "markdown") == os.EX_CANTCREAT
    capsys.readouterr()
    seq = shelf.seq
    taken = shelf.take(folder)
    assert (taken.rejected, taken.sums("notes"), taken.sums("links")[:2]) == ({}, (0, 0, 4), (0, 0))
    assert shelf.seq == seq

    boat, fact = folder / "memory/Boat 1 2.md", next(path for path in folder.rglob("work/*.md"))
    boat.write_text(boat.read_text(encoding="utf-8").replace("are old", "are new"), encoding="utf-8")
    fact.write_text(fact.read_text(encoding="utf-8").replace("blue", "green"), encoding="utf-8")
    shelf.daemon.call("note.edit", shelf=shelf.name, id=shelf.notes()["colour"]["id"], content="red")
    taken = shelf.take(folder)
    assert (taken.sums("notes")[:2], taken.kept) == ((0, 1), [["content"]])
    notes = shelf.notes()
    edited = notes["Boat: 1/2"] if "ropes" in notes["Boat: 1/2"]["content"] else None
    contents = {note["content"] for note in shelf.daemon.call("note.list", shelf=shelf.name)["notes"]}
    assert "The boat & its <ropes>\n\n- are new" in contents, edited
    assert notes["colour"]["content"] == "red"
    assert shelf.take(folder).sums("notes")[:2] == (0, 0)

    other = Shelf(shelf.daemon, f"{shelf.name}-other", capsys)
    taken = other.take(folder)
    assert (taken.status, taken.sums("notes"), taken.sums("links")) == (0, (4, 0, 0), (1, 0, 0))
    assert {note["id"] for note in other.notes().values()} == {note["id"] for note in shelf.notes().values()}
    assert other.notes()["colour"]["kind"] == "fact"


def test_a_graph_is_valid_xml(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "graph.graphml"
    assert write(shelf, file) == 0
    root = ET.parse(file).getroot()
    nodes = {node.get("id"): node for node in root.iter(f"{GRAPHML}node")}
    (edge,) = root.iter(f"{GRAPHML}edge")
    assert len(nodes) == 4
    assert {edge.get("source"), edge.get("target")} <= nodes.keys()
    told = {data.get("key"): data.text for data in edge}
    assert told == {"edge.relation": "next_to", "edge.reason": '"moored"'}
    declared = {key.get("id") for key in root.iter(f"{GRAPHML}key")}
    assert {data.get("key") for data in root.iter(f"{GRAPHML}data")} <= declared


class Terminal(BytesIO):
    """What is written to a person's terminal."""

    def isatty(self) -> bool:
        return True


def test_what_could_steer_a_terminal_is_written_otherwise_there_and_means_the_same() -> None:
    text = "a\x9b2J\x85b \x7f\u202e \U000e0041 é 漢"
    note = {"id": "n", "content": {"raw": text}, "shelfd": {"note": {"title": "t"}}}
    for write_to in TO_FILE.values():
        terminal, file = Terminal(), BytesIO()
        write_to([note], terminal)
        write_to([note], file)
        shown = terminal.getvalue().decode()
        assert shown.replace("\n", "").isprintable()
        assert "é 漢" in shown
        assert text.encode() in file.getvalue()
        if write_to is TO_FILE["jsonl"]:
            assert json.loads(shown) == json.loads(file.getvalue())
        else:
            told = [ET.fromstring(xml).findtext(f".//{GRAPHML}node/*[last()]") for xml in (shown, file.getvalue())]
            assert told == [text, text]


def joined(shelf: Shelf, file: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    merge(str(file), shelf=shelf.name, socket=shelf.daemon.socket, as_json=True)
    said: dict[str, object] = json.loads(capsys.readouterr().out)
    return said


def test_two_copies_are_merged(shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    assert write(shelf, here) == 0
    other = Shelf(shelf.daemon, f"{shelf.name}-other", capsys)
    joined(other, here, capsys)
    boat, fact = shelf.notes()["Boat: 1/2"]["id"], shelf.notes()["colour"]["id"]
    edited = {"note.edit": {"id": boat, "content": "The boat was sold."}, "remember": {"content": "new here"}}
    for method, params in edited.items():
        shelf.daemon.call(method, shelf=shelf.name, **params)
    for content, name in (("green", other.name), ("red", shelf.name)):
        shelf.daemon.call("note.edit", shelf=name, id=fact, content=content)
    hidden = next(note["id"] for note in shelf.notes().values() if note["hidden"])
    shelf.daemon.call("forget", shelf=other.name, id=hidden, purge=True)
    assert write(other, there) == 0
    joined(shelf, there, capsys)
    assert write(shelf, here, force=True) == 0
    joined(other, here, capsys)
    for one in (shelf, other):
        notes = one.daemon.call("note.list", shelf=one.name, include_hidden=True)["notes"]
        assert {note["content"] for note in notes} == {
            "The boat was sold.", "Another boat.", "red", "green", "new here",
        }  # fmt: skip
        (conflict,) = one.daemon.call("conflict.list", shelf=one.name)["conflicts"]
        assert {conflict["a"]["content"], conflict["b"]["content"]} == {"red", "green"}
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"text": "x"}\n', encoding="utf-8")
    with pytest.raises(Stop) as refused:
        merge(str(foreign), shelf=shelf.name, socket=shelf.daemon.socket)
    assert str(refused.value) == str(os.EX_DATAERR)
