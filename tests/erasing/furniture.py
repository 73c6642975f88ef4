"""What a house is furnished with, and what must be true of it whatever happened: for scenarios and races alike."""

import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

from erasing.house import House
from shelfd.client import RpcFailure

#: How long a daemon may take, after its start, to clean up what an earlier one left.
_CLEANING_S: Final = 20.0
#: What a person has written into a MEMORY.md, before promotion's lines and behind them.
_HEAD: Final = b"# Mine\r\n\r\nby hand,\twith a tab:\r\n* nested\r\n  - bullets \n\n- **by hand**: stays\n"
_TAIL: Final = "\n## Zuletzt\n\n- **von Hand**: bleibt, auch ü  \n- ohne Zeilenende".encode()


def secret(label: str) -> str:
    """A word that is in no file unless it was written there; not of ASCII alone, so that JSON may escape it."""
    return f"{label}{secrets.token_hex(6)}ü"


def in_time(look: Callable[[], list[str]]) -> list[str]:
    """Return the faults that *look* finds, once there are none or they have had their time to go.

    A daemon cleans up behind its start: no reply, and no job, says when it is done with that.
    """
    deadline = time.monotonic() + _CLEANING_S
    while (faults := look()) and time.monotonic() < deadline:
        time.sleep(0.01)  # a pause between two looks, bounded by the deadline
    return faults


class Furniture:
    """Notes and lines, of which some are to go without a trace and others are to stay as they are.

    Attributes:
        name: What it is called on the command line.
        shelves: The shelves it is about.
        secrets: What must be gone in the end, each with the names in a reply's ``still_in`` (ids of notes, paths) under
            which it may have stayed.
        foreign: Files in which a person has written.
        kept: Notes that must stay as they are, by shelf and id.
    """

    name: ClassVar[str]
    shelves: ClassVar[tuple[str, ...]] = ("default",)

    def __init__(self) -> None:
        self.secrets: dict[str, frozenset[str]] = {}
        self.foreign: set[Path] = set()
        self.kept: dict[tuple[str, str], str] = {}

    def remember(self, house: House, content: str, *, shelf: str = "default", **params: Any) -> str:
        """Write a note; return its id."""
        note_id: str = house.call("remember", content=content, shelf=shelf, **params)["note"]["id"]
        return note_id

    def keep(self, house: House, content: str, *, shelf: str = "default", **params: Any) -> str:
        """Write a note that nobody purges; return its id."""
        note_id = self.remember(house, content, shelf=shelf, **params)
        self.kept[shelf, note_id] = content
        return note_id

    @staticmethod
    def use(house: House, *note_ids: str, shelf: str = "default") -> None:
        """Have notes used so often that they are promoted."""
        for note_id in note_ids:
            for session in ("one", "two", "three"):
                house.call("note.record_hit", id=note_id, session_id=session, shelf=shelf)

    def write_by_hand(self, path: Path, *, behind: bool = False) -> None:
        """Be the person who writes into a MEMORY.md: before there is one, or behind what is there."""
        self.foreign.add(path)
        with path.open("ab") as file:
            file.write(_TAIL if behind else _HEAD)

    def sound(self, house: House) -> list[str]:
        """Return what is wrong with the shelves themselves, with what others wrote, and with what was to stay."""
        faults = in_time(lambda: [f"left behind: {name}" for name in house.leftovers()])
        existing = {shelf["shelf"] for shelf in house.call("shelf.list")["shelves"]}
        for shelf in existing.intersection(self.shelves):
            check = house.call("shelf.check", shelf=shelf)
            faults += [f"shelf.check: {problem}" for problem in check["problems"]]
            if _sequence(house, shelf) != list(range(1, check["last_seq"] + 1)):
                faults.append(f"the log of {shelf} has a gap")
        for path in self.foreign:
            data = path.read_bytes() if path.exists() else b""
            if not data.startswith(_HEAD) or _TAIL not in data:
                faults.append(f"lines by hand are gone from {path.relative_to(house.home)}")
        return faults + self._changed(house)

    def traces(self, house: House, named: Iterable[str] | None) -> list[str]:
        """Return where secrets still are although no reply says so.

        Args:
            named: What a reply's ``still_in`` names; None if there was no reply that could.
        """
        faults = []
        for word, path in house.find(self.secrets):
            allowed = self.secrets[word] if named is None else self.secrets[word].intersection(named)
            is_shelf = path.name.startswith("shelf.db")
            if not any(str(path) == name or (is_shelf and not name.startswith("/")) for name in allowed):
                faults.append(f"{word} is in {path.relative_to(house.home.parent)}, and no reply says so")
        return faults

    def _changed(self, house: House) -> list[str]:
        faults = []
        for (shelf, note_id), content in self.kept.items():
            try:
                note = house.call("note.get", id=note_id, shelf=shelf)["note"]
            except RpcFailure as failure:
                faults.append(f"a note that was to stay: {failure}")
            else:
                if note["content"] != content:
                    faults.append("a note that was to stay has changed")
        return faults


def _sequence(house: House, shelf: str) -> list[int]:
    found: list[int] = []
    while page := house.call("shelf.log", shelf=shelf, since_seq=found[-1] if found else 0, limit=1000)["log"]:
        found += [row["seq"] for row in page]
    return found
