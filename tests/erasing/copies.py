"""Scenarios in which a shelf is backed up and a backup takes its place: whole or not at all, and nothing is left."""

import json
from hashlib import sha256
from typing import ClassVar

from erasing.house import House, Json
from erasing.scenario import Whole
from erasing.wholes import notes_of

_LINES = 40


class BackUp(Whole):
    """A shelf is backed up; the second of two is kept."""

    name = "shelf-backup"
    method = "shelf.backup"

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        house.call("shelf.backup")
        house.call("remember_many", notes=[{"content": f"line {number}"} for number in range(_LINES)])
        self.params = {"keep": 1}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        """What backups there are of what, if each is what its manifest says."""
        found = house.call("shelf.backups")["backups"]
        return [(one["seq"], one["logical_hash"]) for one in found]

    def repeated(self, house: House, *, keyed: bool) -> Json:
        reply = super().repeated(house, keyed=keyed)
        return {name: reply[name] for name in reply if name != "removed"}  # by whichever attempt

    def sound(self, house: House) -> list[str]:
        faults = super().sound(house)
        folder = house.home / "data" / "backups" / "default"
        files = {path.name for path in folder.iterdir()}
        whole = {name for name in files if f"{name}.json" in files}
        if files != whole | {f"{name}.json" for name in whole}:
            faults.append(f"among the backups there is {sorted(files)}")
        for name in whole:
            said = json.loads((folder / f"{name}.json").read_text())
            if said["sha256"] != sha256((folder / name).read_bytes()).hexdigest():
                faults.append(f"{name} is not what its manifest says")
        return faults


class Restore(Whole):
    """A backup takes the shelf's place."""

    name = "shelf-restore"
    method = "shelf.restore"
    takes_key = False

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        house.call("remember_many", notes=[{"content": f"line {number}"} for number in range(_LINES)])
        house.call("shelf.backup")
        house.call("nugget.clear", name="memory")
        self.kept.clear()
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return notes_of(house), house.call("shelf.log", limit=1)["last_seq"]

    def sound(self, house: House) -> list[str]:
        faults = super().sound(house)
        folder = house.home / "data" / "shelves" / "default"
        replaced = [path.name for path in folder.iterdir() if path.name.startswith("shelf.replaced-")]
        if self.state(house) == self.after and not replaced:
            faults.append("what was replaced is gone")
        return faults + [f"beside the shelf there is {name}" for name in replaced if name.endswith("-wal")]


class RestoreTo(Restore):
    """A backup takes the shelf's place as it was at an earlier change; what was there goes."""

    name = "shelf-restore-to"

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        self.params = {"to_seq": house.call("shelf.log", limit=1)["last_seq"], "backup": ""}
        house.call("remember_many", notes=[{"content": f"line {number}"} for number in range(_LINES)])
        self.params["backup"] = house.call("shelf.backup")["backup"]["path"]
        self.before = self.state(house)


class RestoreBeside(Whole):
    """A backup becomes a new shelf."""

    name = "shelf-restore-beside"
    method = "shelf.restore"
    takes_key = False
    shelves: ClassVar[tuple[str, ...]] = ("default", "work")

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        house.call("shelf.backup")
        self.params = {"as_shelf": "work"}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return [shelf["shelf"] for shelf in house.call("shelf.list")["shelves"]]

    def repeated(self, house: House, *, keyed: bool) -> Json:
        if self.state(house) == self.after:
            self.remember(house, "of use", shelf="work")
            return {}
        return super().repeated(house, keyed=keyed)


class Move(RestoreBeside):
    """A shelf gets another name."""

    name = "shelf-move"
    method = "shelf.move"
    shelves = ("default", "work", "old")

    def furnish(self, house: House) -> None:
        house.call("shelf.create", shelf="old")
        self.remember(house, "moves", shelf="old")
        self.params = {"shelf": "old", "to": "work"}
        self.before = self.state(house)


COPIES = (BackUp, Restore, RestoreTo, RestoreBeside, Move)
