"""Folders of Markdown: Obsidian's vaults, basic-memory's projects, Claude Code's memory, and what this shelf exported.

A file is a note, and its path in the folder what it is known by. Links are found by the names of files, their titles
and aliases, so they are read when all of these are known. Nothing outside of the folder is read.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from shelfd.client.foreign import Unusable
from shelfd.client.formats import front_matter
from shelfd.client.formats.entries import EntryFile, ForeignEntry
from shelfd.client.formats.moments import moment

#: A larger file is no note: content is at most 256 KiB.
_LARGEST: Final = 1024 * 1024
_ENDS: Final = (".md", ".markdown")
#: Files of Claude Code in which each point is a note.
POINTS: Final = ("MEMORY.md", "CLAUDE.md", "CLAUDE.local.md")
_FILES_LOOKED_AT: Final = 20
_CODE: Final = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_LINK: Final = re.compile(r"(?<!!)\[[^\[\]\n]*\]\(<?([^()\s<>]+?\.(?:md|markdown))(?:#[^()\s]*)?>?\)")
#: basic-memory: "- part_of [[Other note]] (why)".
_RELATION: Final = re.compile(
    r"^\s*[-*]\s+([^\[\]\n]{1,64}?)\s+\[\[([^\[\]|#\n]+)[^\]\n]*\]\](?:\s*\((.*)\))?\s*$", re.MULTILINE
)
_OBSERVATION: Final = re.compile(r"^\s*[-*]\s+\[([^\[\]\n]{2,64})\]\s+\S", re.MULTILINE)
_HASHTAG: Final = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]*)")
#: What stands in an index for a note of its own: "- [Title](file.md) — about".
_ENTRY: Final = re.compile(r"^\s*[-*]\s+\[[^\[\]\n]*\]\([^()\n]+\.md\)")
_HEADING: Final = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_BULLET: Final = re.compile(r"^\s{0,3}[-*+]\s+(.*)$")
#: Members of front matter by what they are here.
_NAMES: Final[Mapping[str, str]] = {
    "title": "title", "tags": "tags", "tag": "tags", "aliases": "aliases", "alias": "aliases", "created": "created_at",
    "date": "created_at", "created_at": "created_at", "date created": "created_at", "updated": "updated_at",
    "modified": "updated_at", "updated_at": "updated_at", "date modified": "updated_at", "author": "author",
}  # fmt: skip
#: What this shelf writes besides, which other vaults may have for something else.
_OWN: Final = (
    *("id", "nugget", "key", "hidden", "fields", "links", "type", "subject", "scope", "source", "confidence"),
    *("stability", "domain", "tier", "importance", "source_type", "source_ref", "occurred_at"),
)
_KINDS: Final = {"feedback": "preference", "project": "project"}


def format_of(folder: str) -> str | None:
    """Return of which of these formats a folder is; None if it has no Markdown.

    Raises:
        Unusable: If it cannot be read.
    """
    if Path(folder, POINTS[0]).is_file():
        return "claude-code"
    found = None
    for looked_at, path in enumerate(_files(folder, []), 1):
        found = "markdown"
        if "permalink" in front_matter.split(_text(os.path.join(folder, path)) or "")[0]:  # noqa: PTH118
            return "basic-memory"
        if looked_at == _FILES_LOOKED_AT:
            break
    return found


def _files(folder: str, outside: list[str]) -> Iterator[str]:
    """The paths in a folder of its files of Markdown, in order; those that only lead out of it go to *outside*."""
    # By plain text: a path as an object takes longer than reading the file.
    root = os.path.realpath(folder) + os.sep
    begin = len(os.path.join(folder, ""))  # noqa: PTH118

    def refuse(error: OSError) -> None:
        raise Unusable(str(error.filename or folder), error.strerror or str(error), os.EX_NOINPUT) from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(_ENDS):
                continue
            path = os.path.join(place, name)  # noqa: PTH118
            if os.path.islink(path) and not os.path.realpath(path).startswith(root):  # noqa: PTH114
                outside.append(path[begin:])
            elif os.path.isfile(path):  # noqa: PTH113
                yield path[begin:]


def _text(path: str) -> str | None:
    """What a file says; None if that is no text of a note."""
    with open(path, "rb") as file:  # noqa: PTH123
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        return None
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


class Vault(EntryFile):
    """A folder of Markdown, or one file of it."""

    unit = "file"

    def __init__(self, path: str, header: Mapping[str, Any], format_: str) -> None:
        super().__init__(path, header)
        self.format = format_
        self._folder = path if Path(path).is_dir() else None
        self._root = self._folder or str(Path(path).parent)
        self._by_name: dict[str, str] = {}
        self._outside: list[str] = []
        self._linking: set[str] = set()  # files that may have links

    def count(self) -> int:
        """Return how many files it has."""
        return sum(1 for _ in self._names())

    def _names(self) -> Iterator[str]:
        """Its files by their paths in the folder."""
        if self._folder is None:
            return iter([Path(self.path).name])
        self._outside.clear()
        return _files(self._folder, self._outside)

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its notes; with the second part, over their links."""
        if part == "notes":
            for name in self._names():
                self._remember(name)
        for name in self._names():
            if part == "links" and name not in self._linking:
                continue
            try:
                text = _text(os.path.join(self._root, name))  # noqa: PTH118
            except OSError as error:
                yield ForeignEntry(name, why=f"cannot be read: {error.strerror or 'no reason given'}")
                continue
            if text is None:
                yield ForeignEntry(name, why=f"is no text in UTF-8 of at most {_LARGEST} bytes")
            elif self.format == "claude-code" and name.rpartition("/")[2] in POINTS:
                yield from _points(name, text)
            else:
                yield self._entry(name, text, part)
        if self._outside and part == "notes":
            self.leave_out("notes", "symlink", "leads out of the folder, and is left out", self._outside)

    def _entry(self, name: str, text: str, part: str) -> ForeignEntry:
        given, body = front_matter.split(text)
        note = self._note(name, given, body.strip("\n"))
        if part == "links":
            links = self._links(name, given, body)
            ref: dict[str, Any] = {key: note[key] for key in ("id", "name") if key in note}
            return ForeignEntry(name, links={**ref, "links": links} if links else None)
        if "links" in given or "[[" in text or "](" in text:
            self._linking.add(name)
        for named in (note.get("title"), *note.get("aliases", ()), given.get("permalink")):
            self._known(named, name)
        if not note["content"].strip():
            return ForeignEntry(name, why="has no text")
        return ForeignEntry(name, note)

    def _note(self, name: str, given: Mapping[str, Any], body: str) -> dict[str, Any]:
        is_own = isinstance(given.get("shelfd"), dict)
        note: dict[str, Any] = {"name": name, "content": body}
        if not is_own:
            note["title"] = _stem(name)
        fields: dict[str, Any] = {}
        for key, value in given.items():
            member = _NAMES.get(key.lower()) or (key if is_own and key in _OWN else None)
            if member is not None:
                _set(note, member, value)
            elif value is not None and not is_own:
                fields[key] = value
        if is_own:
            note["said"] = given["shelfd"]
            note.pop("links", None)
        elif fields:
            note["fields"] = fields
        self._specifics(note, fields)
        if "tags" in note:
            note["tags"] = list(dict.fromkeys(tag.strip().lstrip("#").lower() for tag in note["tags"] if tag))
        return note

    def _specifics(self, note: dict[str, Any], fields: Mapping[str, Any]) -> None:
        """What is particular to the format."""
        if self.format == "basic-memory":
            note["tags"] = [*note.get("tags", ()), *_HASHTAG.findall(_CODE.sub("", note["content"]))]
        if self.format == "claude-code":
            _claude(note, fields)

    def _links(self, name: str, given: Mapping[str, Any], body: str) -> list[dict[str, Any]]:
        found: dict[tuple[str, str], dict[str, Any]] = {}

        def add(to: str | None, relation: str, reason: str = "") -> None:
            if to is not None and to != name:
                found.setdefault((to, relation), {"to": to, "relation": relation, "reason": reason})

        if isinstance(given.get("shelfd"), dict):
            own = given.get("links")
            return [one for one in own if isinstance(one, dict)] if isinstance(own, list) else []
        text = _CODE.sub("", body)
        if self.format == "basic-memory":
            for relation, target, reason in _RELATION.findall(text):
                if not _OBSERVATION.match(f"- {relation} x"):
                    add(self._found(name, target), _relation(relation), reason)
        linked = {to for to, _ in found}
        for target in _WIKILINK.findall(text):
            if target.strip() and (to := self._found(name, target)) not in linked:
                add(to, "related")
        for target in _LINK.findall(text):
            place = os.path.normpath(str(Path(name).parent / target))
            add(self._found(name, place), "related")
        return list(found.values())

    # ------------------------------------------------------------- names

    def _remember(self, name: str) -> None:
        """Remember a file by its path and by its name; of several of one name the one nearest to the top counts."""
        plain = name[: name.rindex(".")]
        self._known(plain, name)
        stem = plain.rpartition("/")[2].casefold()
        known = self._by_name.get(stem)
        if known is None or known.count("/") > name.count("/"):
            self._by_name[stem] = name

    def _known(self, named: object, name: str) -> None:
        if isinstance(named, str) and named:
            self._by_name.setdefault(named.casefold(), name)

    def _found(self, name: str, target: str) -> str | None:
        """The file that a link leads to; None, and on record, if none of that name is here."""
        wanted = target.strip().removeprefix("/").casefold()
        for end in _ENDS:
            wanted = wanted.removesuffix(end)
        beside = f"{name.rpartition('/')[0]}/{wanted}".casefold()
        known = self._by_name.get(wanted) or self._by_name.get(beside)
        if known is None:
            self.leave_out("links", "links", "the note that a link leads to is not here", [name])
        return known


def _stem(name: str) -> str:
    """The name of a file without folders and end."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _set(note: dict[str, Any], member: str, value: object) -> None:
    """Set a member of a note to what the front matter says of it, unless that is nothing."""
    if value is None:
        return
    if member.endswith("_at"):
        note.setdefault(member, moment(value))
    elif member in ("tags", "aliases"):
        note[member] = [*note.get(member, ()), *_listed(value, member)]
    else:
        note[member] = value


def _listed(value: object, member: str) -> list[str]:
    if isinstance(value, str):
        return [part for part in re.split(r"[,\s]+" if member == "tags" else r",\s*", value) if part]
    return [str(one) for one in value if one is not None] if isinstance(value, list) else []


def _relation(text: str) -> str:
    return "_".join(text.strip().lower().split()) or "related"


def _claude(note: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """What Claude Code says of a memory: its name, what it is about, and what kind of memory it is."""
    more = fields.get("metadata")
    kind = fields.get("type") or (more.get("type") if isinstance(more, dict) else None)
    if isinstance(name := fields.get("name"), str):
        note["title"] = name
    if isinstance(kind, str):
        note["tags"] = [*note.get("tags", ()), kind]
        if kind in _KINDS:
            note["type"] = _KINDS[kind]
    kept = {key: value for key, value in fields.items() if key not in ("name", "type", "metadata")}
    note.pop("fields", None)
    if kept:
        note["fields"] = kept


def _points(name: str, text: str) -> Iterator[ForeignEntry]:
    """Each point of a list, and each paragraph, as a note with the heading that it stands under."""
    _, body = front_matter.split(text)
    heading, said, first = "", list[str](), 1
    for number, line in enumerate([*body.split("\n"), ""], 1):
        is_new = not line.strip() or _HEADING.match(line) or _BULLET.match(line)
        if is_new and said:
            yield _point(name, first, heading, "\n".join(said))
            said = []
        if title := _HEADING.match(line):
            heading = title[1]
        elif line.strip() and not _ENTRY.match(line):
            if not said:
                first = number
            bullet = _BULLET.match(line) if not said else None
            said.append(bullet[1] if bullet else line.strip())


def _point(name: str, line: int, heading: str, text: str) -> ForeignEntry:
    known_by = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    note: dict[str, Any] = {"name": f"{name}#{known_by}", "content": text}
    if heading:
        note["fields"] = {"section": heading}
    return ForeignEntry(f"{name}:{line}", note)
