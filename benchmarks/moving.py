"""How fast notes move in, from a file of each format, and out and in again, through the command and the socket.

Every file holds the same notes of some 150 characters. Each is imported into a shelf of its own by the command's own
functions in this process, as a person would: read, sent, made durable, and known to recall. It is compared with plain
reading: the time that the format's own pieces of text take to be parsed, in the same run. What the daemon took of its
processors says more than the rate on a machine that others use. What finds entities and statements works in the
background, when nobody changes a shelf; each shelf is dropped when it was measured, so that it is no part of the next.

Run: ``python benchmarks/moving.py [--notes N] [--dir DIR]``
"""

import argparse
import csv
import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from served import Served, served, table, working_directory
from shelfd.client import connect
from shelfd.client.commands.exporting import export
from shelfd.client.commands.importing import import_

WORDS: Final = "harbour crane ferry lighthouse tide anchor pier fog signal rope sail engine paint lamp berth".split()


class Moved(NamedTuple):
    """A format, where its file is, and what reads that plainly."""

    format: str
    path: Path
    read: Callable[[Path], int]


def sentences(count: int) -> Iterator[tuple[int, str]]:
    """The notes: a number and a text each."""
    chance = random.Random(3)
    for number in range(count):
        yield number, f"Watch {number} saw " + " ".join(chance.choices(WORDS, k=20)) + "."


def read_lines(path: Path) -> int:
    """Parse each line as JSON."""
    with path.open("rb") as file:
        return sum(1 for line in file if json.loads(line))


def read_document(path: Path) -> int:
    """Parse a file as one JSON document."""
    return len(json.loads(path.read_bytes()))


def read_rows(path: Path) -> int:
    """Parse a file as CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


def read_folder(path: Path) -> int:
    """Read each file as text."""
    return sum(1 for one in path.iterdir() if one.read_text(encoding="utf-8"))


def read_database(path: Path) -> int:
    """Fetch each row."""
    with closing(sqlite3.connect(path)) as connection:
        return sum(1 for _ in connection.execute("SELECT * FROM memories"))


def write_lines(path: Path, items: Iterator[Any]) -> Path:
    """Write an object on each line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(item) + "\n" for item in items)
    return path


def formats(root: Path, count: int) -> Iterator[Moved]:
    """Write a file of each format."""
    texts = list(sentences(count))
    at = "2025-05-01T10:00:00Z"
    lines = ({"id": f"note-number-{n:06}", "text": text, "created_at": at} for n, text in texts)
    yield Moved("jsonl", write_lines(root / "lines.jsonl", lines), read_lines)
    with (root / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "content", "tags"])
        rows.writerows((f"n{n}", text, "sea") for n, text in texts)
    yield Moved("csv", root / "rows.csv", read_rows)
    (root / "vault").mkdir()
    for n, text in texts:
        (root / "vault" / f"Watch {n}.md").write_text(f"---\ntags: [sea]\n---\n{text}\n", encoding="utf-8")
    yield Moved("markdown", root / "vault", read_folder)
    entities = ({"type": "entity", "name": f"n{n}", "entityType": "watch", "observations": [text]} for n, text in texts)
    yield Moved("mcp-memory", write_lines(root / "memory.jsonl", entities), read_lines)
    (root / "mem0.json").write_text(
        json.dumps([{"id": f"memory-{n:06}", "memory": text, "user_id": "ada", "created_at": at} for n, text in texts])
    )
    yield Moved("mem0", root / "mem0.json", read_document)
    with closing(sqlite3.connect(root / "sqlite_vec.db")) as store, store:
        store.execute("CREATE TABLE memories (content_hash TEXT, content TEXT, tags TEXT, created_at REAL)")
        store.executemany("INSERT INTO memories VALUES (?, ?, 'sea', 1.7e9)", ((f"{n:064}", text) for n, text in texts))
    yield Moved("mcp-memory-service", root / "sqlite_vec.db", read_database)
    said = [
        {"uuid": f"m{n}", "sender": "assistant" if n % 2 else "human", "text": text, "created_at": at}
        for n, text in texts
    ]
    chats = [{"uuid": f"chat-{n}", "name": "Watch", "chat_messages": said[n : n + 20]} for n in range(0, count, 20)]
    (root / "conversations.json").write_text(json.dumps(chats))
    yield Moved("claude", root / "conversations.json", read_document)
    (root / "chatgpt.json").write_text(json.dumps([conversation(texts[n : n + 20]) for n in range(0, count, 20)]))
    yield Moved("chatgpt", root / "chatgpt.json", read_document)
    head = "---\ntitle: Watch {0}\ntype: note\npermalink: watch-{0}\n---\n"
    yield Moved("basic-memory", write_folder(root / "basic", head, texts), read_folder)
    head = "---\nname: watch {0}\ndescription: what was seen\nmetadata:\n  type: project\n---\n"
    folder = write_folder(root / "memory", head, texts)
    (folder / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    yield Moved("claude-code", folder, read_folder)


def write_folder(path: Path, head: str, texts: list[tuple[int, str]]) -> Path:
    """Write a file for each text, below a *head* with its number."""
    path.mkdir()
    for n, text in texts:
        (path / f"watch_{n}.md").write_text(f"{head.format(n)}{text}\n", encoding="utf-8")
    return path


def conversation(said: list[tuple[int, str]]) -> dict[str, Any]:
    """A conversation as ChatGPT exports it: a tree of messages, here without branches."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": [f"m{said[0][0]}"]}}
    for n, text in said:
        message = {
            "id": f"m{n}", "author": {"role": "assistant" if n % 2 else "user"}, "create_time": 1.7e9 + n,
            "content": {"content_type": "text", "parts": [text]},
        }  # fmt: skip
        parent = "root" if n == said[0][0] else f"m{n - 1}"
        nodes[f"m{n}"] = {"id": f"m{n}", "message": message, "parent": parent, "children": [f"m{n + 1}"]}
    nodes[f"m{said[-1][0]}"]["children"] = []
    first = f"chat-{said[0][0]:08}"
    return {
        "title": "Watch", "create_time": 1.7e9, "update_time": 1.7e9, "current_node": f"m{said[-1][0]}",
        "conversation_id": first, "mapping": nodes,
    }  # fmt: skip


def measured(daemon: Served, one: Moved, count: int, out: Callable[[], None] | None = None) -> list[str]:
    """Import a file into a shelf of its own, do *out* before that is dropped, and return the row of the table."""
    with connect(daemon.socket) as client:
        client.call("shelf.create", {"shelf": one.format})
    began = time.perf_counter()
    one.read(one.path)
    plain_s = time.perf_counter() - began
    cpu_s, began = daemon.cpu_s(), time.perf_counter()
    with redirect_stdout(StringIO()):
        import_([str(one.path)], shelf=one.format, socket=daemon.socket)
    took_s, cpu_s = time.perf_counter() - began, daemon.cpu_s() - cpu_s
    with connect(daemon.socket) as client:
        there = client.call("get_stats", {"shelf": one.format})["total_notes"]
    if there != count:
        raise SystemExit(f"{one.format}: {there} notes of {count}")
    if out is not None:
        out()
    with connect(daemon.socket) as client:
        client.call("shelf.drop", {"shelf": one.format, "confirm": one.format})
    rates = f"{count / took_s:,.0f}", f"{count / plain_s:,.0f}", f"{took_s / plain_s:.0f}"
    return [one.format, *rates, f"{cpu_s / count * 1e6:.0f}"]


def main() -> None:
    """Measure every format, then an export and its way back, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=5000)
    parser.add_argument("--dir", help="where to work; default: below the checkout")
    options = parser.parse_args()
    rows = [["format", "notes/s", "plain reading, notes/s", "times", "daemon's CPU, µs a note"]]
    with working_directory(options.dir) as root, served(root) as daemon:
        (root / "files").mkdir()
        lines, out_s = root / "files" / "export.jsonl", 0.0

        def out() -> None:
            nonlocal out_s
            began = time.perf_counter()
            with redirect_stdout(StringIO()):
                export(str(lines), shelf="jsonl", socket=daemon.socket)
            out_s = time.perf_counter() - began

        rows += [
            measured(daemon, one, options.notes, out if one.format == "jsonl" else None)
            for one in formats(root / "files", options.notes)
        ]
        rows.append(measured(daemon, Moved("shelfd", lines, read_lines), options.notes))
    print(table(rows))
    print(f"\nexport: {options.notes / out_s:,.0f} notes/s")


if __name__ == "__main__":
    main()
