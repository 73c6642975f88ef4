"""Scenarios of what happens whole or not at all."""

from erasing.house import House, Json
from erasing.scenario import Whole


def notes_of(house: House) -> object:
    """What callers see of all notes: the text, not the numbers that only count."""
    found = []
    cursor: Json = {}
    while True:
        page = house.call("note.list", include_hidden=True, limit=1000, order="created_at", **cursor)
        for note in page["notes"]:
            links = sorted((link["to"], link["relation"]) for link in note["links"])
            found.append((note["title"], note["content"], note["nugget"], sorted(note["tags"]), note["hidden"], links))
        if "next_cursor" not in page:
            return sorted(found)
        cursor = {"cursor": page["next_cursor"]}


class UndoMany(Whole):
    """A transaction with sixty notes in it is undone."""

    name = "undo"
    method = "undo"

    def furnish(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(60)])
        self.params = {"tx": house.call("shelf.log", limit=1000)["log"][-1]["tx"]}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return notes_of(house)


class UndoReflection(Whole):
    """A reflection that archived, rewrote and merged is undone."""

    name = "undo-reflection"
    method = "reflection.undo"

    def furnish(self, house: House) -> None:
        crane = "The quick harbour crane lifts eleven blue containers at berth four every morning"
        for content, title in (
            (crane, ""),
            (crane, ""),
            ("scribbled", "tmp file"),
            ("It repeats.\nIt repeats.\nOn.", ""),
        ):
            self.remember(house, content, title=title)
        self.params = {"run_id": house.call("reflect")["run_id"]}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return notes_of(house)


class ClearNugget(Whole):
    """A nugget of some hundred notes is cleared."""

    name = "nugget-clear"
    method = "nugget.clear"

    def furnish(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(700)])
        self.params = {"name": "list"}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return house.call("note.list", nugget="list", limit=1)["total"]


class Import(Whole):
    """Notes and links of another memory are taken in."""

    name = "import"
    method = "shelf.import"

    def furnish(self, house: House) -> None:
        self.keep(house, "was here before")
        notes = [
            {"id": f"note-work-{number:08x}", "nuggetName": "work", "title": f"t{number}", "content": f"came {number}",
             "kind": "note", "links": [{"to": f"note-work-{(number + 1) % 60:08x}", "reason": "next"}]}
            for number in range(60)
        ]  # fmt: skip
        self.params = {"parts": [{"part": "notes", "items": notes}, {"part": "links", "items": notes}]}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return notes_of(house)


class CreateShelf(Whole):
    """A shelf is made, which is then of use or not there."""

    name = "shelf-create"
    method = "shelf.create"
    takes_key = False
    shelves = ("default", "work")

    def furnish(self, house: House) -> None:
        self.params = {"shelf": "work"}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        return [shelf["shelf"] for shelf in house.call("shelf.list")["shelves"]]

    def repeated(self, house: House, *, keyed: bool) -> Json:
        if self.state(house) == self.after:
            self.remember(house, "of use", shelf="work")
            return {}
        return super().repeated(house, keyed=keyed)
