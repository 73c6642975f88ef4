"""What a shelf's notes are written as: lines that lose nothing, a file of Markdown each, or a graph.

Everything is read and written a page at a time, and a file is whole or not there.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

from shelfd.client.terminal import escaped

Line = Mapping[str, Any]
#: What stdout is called on the command line.
STDOUT: Final = "-"
_UNSAID: Final[tuple[Any, ...]] = (None, "", [], {})
_STEM_CHARACTERS: Final = 60
_LINE_BYTES: Final = 32 * 1024 * 1024
#: Fields of a note that its front matter has beside those that every one has.
_FRONT: Final = (
    *("type", "subject", "scope", "source", "confidence", "stability", "domain", "tier", "importance", "author"),
)
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRAPHML: Final = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""


class NotWritable(Exception):
    """A place that an export cannot be written to."""


@contextmanager
def written(place: str, *, may_replace: bool) -> Iterator[IO[bytes]]:
    """Open a file that is at *place*, private and durable, when the block ends well; else there is none.

    Raises:
        NotWritable: If it cannot be written, or is there already.
    """
    if place == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    draft = f"{place}.{os.getpid()}.new"
    try:
        if not may_replace and os.path.lexists(place):
            raise NotWritable(f"{place}: is there already; --force replaces it")
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            Path(draft).rename(place)
            _sync(Path(place).absolute().parent)
        finally:
            with suppress(FileNotFoundError):
                Path(draft).unlink()
    except OSError as error:
        if isinstance(error, BrokenPipeError | ConnectionError | TimeoutError):
            raise
        raise NotWritable(f"{place}: {error.strerror or error}") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_lines(lines: Iterable[Line], file: IO[bytes]) -> None:
    """Write each line as it is: JSON that ``shelfd import`` reads back without loss."""
    is_shown = file.isatty()
    for line in lines:
        file.write(_encoded(line, is_shown=is_shown))


def _encoded(line: Line, *, is_shown: bool = False) -> bytes:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return (escaped(text) if is_shown else text).encode("utf-8", "surrogatepass") + b"\n"


def _note(line: Line) -> Mapping[str, Any] | None:
    """A note's fields; None for a line that is no note's."""
    return line["shelfd"].get("note") if "content" in line else None


def _moment(micros: object) -> str | None:
    return None if not isinstance(micros, int) else datetime.fromtimestamp(micros / 1e6, UTC).isoformat()


# ------------------------------------------------------------------ Markdown


def write_markdown(lines: Iterable[Line], folder: str) -> int:
    """Write a file for each note to *folder*, which is made, or empty; return how many.

    Raises:
        NotWritable: If it cannot be, or holds something.
    """
    root = Path(folder)
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        if any(root.iterdir()):
            raise NotWritable(f"{folder}: holds something already; name a folder that is empty, or not there")
        with TemporaryFile() as spool:  # links name notes whose files get their names later
            names = _Names()
            for line in lines:
                note = _note(line)
                if note is not None:
                    names.add(line["id"], note)
                    spool.write(_encoded(line))
            spool.seek(0)
            count = 0
            for raw in iter(lambda: spool.readline(_LINE_BYTES), b""):
                line = json.loads(raw)
                path = root / names.of[line["id"]]
                path.parent.mkdir(mode=0o700, exist_ok=True)
                with path.open("xb") as file:
                    file.write(_markdown(line, names.of).encode("utf-8", "surrogatepass"))
                count += 1
        _sync(root)
    except OSError as error:
        if isinstance(error, BrokenPipeError | ConnectionError | TimeoutError):
            raise
        raise NotWritable(f"{folder}: {error.strerror or error}") from error
    return count


class _Names:
    """Which file each note is: in a folder of its nugget's name, by its title or its first words, each once."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, id_: str, note: Mapping[str, Any]) -> None:
        """Give a note's file a name."""
        stem = " ".join(re.sub(r"[^\w .,'()-]", " ", note.get("title") or id_).split())
        stem = stem[:_STEM_CHARACTERS].strip(" .") or "note"
        nugget = re.sub(r"[^\w.-]", "-", note.get("nugget", "memory")).strip(".") or "memory"
        tail = re.sub(r"[^A-Za-z0-9]", "", id_)[-8:]
        name, number = f"{nugget}/{stem}", 1
        while name.casefold() in self._taken:
            name = f"{nugget}/{stem} {tail}" if number == 1 else f"{nugget}/{stem} {tail} {number}"
            number += 1
        self._taken.add(name.casefold())
        self.of[id_] = f"{name}.md"


def _markdown(line: Line, files: Mapping[str, str]) -> str:
    rest = line["shelfd"]
    note = rest["note"]
    extra = note.get("extra", {})
    links = [
        {"to": one["target"], "relation": one["relation"], "reason": one["reason"]} for one in rest.get("links", ())
    ]
    related = [f"[[{files[one['to']][:-3]}]]" for one in links if one["to"] in files]
    front: dict[str, Any] = {
        "id": line["id"],
        "nugget": note.get("nugget", "memory"),
        "title": note.get("title") if note.get("kind") != "fact" else None,
        "key": note.get("title") if note.get("kind") == "fact" else None,
        "tags": note.get("tags"),
        "aliases": extra.get("aliases"),
        "fields": extra.get("fields"),
        **{name: note[name] for name in _FRONT if name in note},
        "hidden": True if note.get("archived_at") is not None else None,
        "created": _moment(note.get("created_at")),
        "updated": _moment(note.get("updated_at")),
        "links": links,
        "related": related,
        "shelfd": rest["said"],
    }
    members = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items() if value not in _UNSAID
    ]
    return "\n".join(["---", *members, "---", line["content"]["raw"], ""])


# ------------------------------------------------------------------ GraphML


def write_graphml(lines: Iterable[Line], file: IO[bytes]) -> None:
    """Write notes as nodes and their links as edges."""
    said_as = _referred if file.isatty() else str
    keys = {"node": ("nugget", "kind", "title", "content", "tags", "hidden"), "edge": ("relation", "reason")}
    file.write(_GRAPHML.encode())
    for kind, names in keys.items():
        for name in names:
            key = f' <key id="{kind}.{name}" for="{kind}" attr.name="{name}" attr.type="string"/>\n'
            file.write(key.encode())
    file.write(b' <graph id="notes" edgedefault="directed">\n')
    with TemporaryFile() as edges:  # after the nodes, which some readers need first
        for line in lines:
            if (note := _note(line)) is None:
                continue
            said = {
                "nugget": note.get("nugget", "memory"),
                "kind": note.get("kind", "note"),
                "title": note.get("title", ""),
                "content": line["content"]["raw"],
                "tags": " ".join(note.get("tags", ())),
                "hidden": "true" if note.get("archived_at") is not None else "",
            }
            file.write(said_as(f"  <node id={_attribute(line['id'])}>{_data('node', said)}</node>\n").encode())
            for link in line["shelfd"].get("links", ()):
                ends = f"source={_attribute(link['source'])} target={_attribute(link['target'])}"
                told = _data("edge", {name: link[name] for name in keys["edge"]})
                edges.write(said_as(f"  <edge {ends}>{told}</edge>\n").encode())
        edges.seek(0)
        for block in iter(lambda: edges.read(1 << 20), b""):
            file.write(block)
    file.write(b" </graph>\n</graphml>\n")


def _data(kind: str, members: Mapping[str, str]) -> str:
    told = {name: escape(_xml(text)) for name, text in members.items() if text}
    return "".join(f'<data key="{kind}.{name}">{text}</data>' for name, text in told.items())


def _attribute(value: str) -> str:
    return quoteattr(_xml(value))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _referred(xml: str) -> str:
    """XML with references for what could steer a terminal: it says the same."""
    return "".join(c if c.isprintable() or c == "\n" else f"&#{ord(c)};" for c in xml)


#: What writes each format to a file.
TO_FILE: Final[Mapping[str, Callable[[Iterable[Line], IO[bytes]], None]]] = {
    "jsonl": write_lines,
    "graphml": write_graphml,
}
