"""The scenarios, one class each."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from erasing.furniture import secret
from erasing.house import PROJECT, House, Json
from erasing.scenario import NOT_FOUND, Erasure, Scenario, Whole, insist
from shelfd.client import RpcFailure

_HARBOUR = "the harbour opens at six"


class _OneNote(Erasure):
    """One note is purged by its id."""

    method = "forget"

    def __init__(self) -> None:
        super().__init__()
        self.note_id = ""

    def purge(self, note_id: str) -> None:
        self.note_id = note_id
        self.params = {"id": note_id, "purge": True}

    def is_gone(self, house: House) -> bool:
        try:
            house.call("note.get", id=self.note_id)
        except RpcFailure as failure:
            return failure.code == NOT_FOUND
        return False


class ForgetFact(_OneNote):
    """A fact with a history, remembered under a key of its own, asked for, linked, and in MEMORY.md."""

    name = "forget-fact"

    def furnish(self, house: House) -> None:
        self.write_by_hand(house.memory_file())
        words = {name: secret(name) for name in ("first", "second", "third", "tag", "alias", "reason", "query")}
        self.secrets = {word: frozenset() for word in words.values()}
        for name in ("first", "second", "third"):
            self.note_id = self.remember(
                house, f"it is {words[name]}, {words[name]}", key="door code", idempotency_key=name,
                tags=[words["tag"]], aliases=[words["alias"]],
            )  # fmt: skip
        other = self.keep(house, "the door is green", title="door")
        house.call("link.upsert", source=self.note_id, target=other, reason=f"see {words['reason']}")
        for session in ("one", "two", "three"):
            house.call("recall", query=f"door code {words['query']} {words['third']}", session_id=session)
        self.use(house, self.note_id, other)
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)
        self.params = {"key": "door code", "purge": True}


class ForgetProject(_OneNote):
    """A fact in the shelf's own MEMORY.md and in a project's."""

    name = "forget-project"

    def furnish(self, house: House) -> None:
        word = secret("project")
        self.secrets = {word: frozenset()}
        files = (house.memory_file(), house.project_file)
        for path in files:
            self.write_by_hand(path)
        self.purge(self.remember(house, f"the gate answers to {word}", key="gate"))
        self.use(house, self.note_id, self.keep(house, "the fence is oak", title="fence"))
        house.call("promote")
        house.call("promote", project=PROJECT)
        for path in files:
            self.write_by_hand(path, behind=True)


class DeleteHard(_OneNote):
    """The same by ``note.delete``, of a note that was edited."""

    name = "delete-hard"
    method = "note.delete"

    def furnish(self, house: House) -> None:
        words = [secret("old"), secret("new"), secret("title")]
        self.secrets = {word: frozenset() for word in words}
        self.write_by_hand(house.memory_file())
        self.note_id = self.remember(house, f"the safe opens with {words[0]}", title=f"safe {words[2]}")
        self.use(house, self.note_id)
        house.call("promote")
        house.call("note.edit", id=self.note_id, content=f"the safe opens with {words[1]}")
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)
        self.params = {"id": self.note_id, "hard": True}


class ForgetMerged(_OneNote):
    """A note whose lines another received, and a third from that one; theirs are in MEMORY.md."""

    name = "forget-merged"

    def furnish(self, house: House) -> None:
        word = secret("merged")
        self.secrets = {word: frozenset()}
        target = self.keep(house, _HARBOUR, title="harbour")
        source = self.remember(house, f"its code is {word}", tags=[f"of-{word}"])
        house.call("note.merge", target=target, source=source)
        third = self.remember(house, "ships come by night", title="ships")
        house.call("note.merge", target=third, source=target)
        self.kept = {("default", third): f"ships come by night\n{_HARBOUR}"}
        self.write_by_hand(house.memory_file())
        self.use(house, third)
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)
        self.purge(source)


class ForgetUnmerged(_OneNote):
    """A note that was merged into another, edited there, and taken out of it again."""

    name = "forget-unmerged"

    def furnish(self, house: House) -> None:
        whole, edited, later = secret("whole"), secret("edited"), secret("later")
        target = self.remember(house, _HARBOUR, title="harbour")
        source = self.remember(house, f"its code is {whole}\nits keeper is {edited}\nits buoy is {later}")
        house.call("note.merge", target=target, source=source)
        merge = house.call("shelf.log", limit=1000)["log"][-1]["tx"]
        received = house.call("note.get", id=target)["note"]["content"]
        house.call("note.edit", id=target, content=received.replace("its keeper is", "the keeper: "))
        received = house.call("note.get", id=target)["note"]["content"]
        house.call("note.edit", id=target, content=received.replace("its buoy is", "the buoy: "))
        house.call("undo", tx=merge)
        # Edited by somebody, these lines are the target's; the last is only in what the log has of it.
        kept = house.call("note.get", id=target)["note"]["content"].split("\n")
        house.call("note.edit", id=target, content="\n".join(line for line in kept if later not in line))
        self.secrets = {whole: frozenset(), edited: frozenset({target}), later: frozenset({target})}
        self.purge(source)


class ForgetEdited(_OneNote):
    """A note whose line in MEMORY.md a person has changed: it is theirs, and the reply names the file."""

    name = "forget-edited"

    def furnish(self, house: House) -> None:
        word = secret("edited")
        self.secrets = {word: frozenset({str(house.memory_file())})}
        self.write_by_hand(house.memory_file())
        self.purge(self.remember(house, f"the attic holds {word}", title="attic"))
        self.use(house, self.note_id)
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)

    def spoil(self, house: House) -> None:
        path = house.memory_file()
        path.write_bytes(path.read_bytes().replace(b"the attic holds", b"as I know, the attic holds"))


class ForgetUnreadable(_OneNote):
    """A note in a MEMORY.md that is UTF-8 no longer: the file is left alone, and the reply names it."""

    name = "forget-unreadable"

    def furnish(self, house: House) -> None:
        word = secret("unreadable")
        self.secrets = {word: frozenset({str(house.memory_file())})}
        self.purge(self.remember(house, f"the cellar holds {word}", title="cellar"))
        self.use(house, self.note_id)
        house.call("promote")

    def spoil(self, house: House) -> None:
        with house.memory_file().open("ab") as file:
            file.write(b"\n- caf\xe9\n")


class RemoveNugget(Erasure):
    """A nugget of sixty notes, some of them in MEMORY.md, is purged."""

    name = "nugget-remove"
    method = "nugget.remove"

    def furnish(self, house: House) -> None:
        word = secret("nugget")
        self.secrets = {word: frozenset()}
        files = (house.memory_file(), house.project_file)
        for path in files:
            self.write_by_hand(path)
        ids = house.call(
            "remember_many",
            notes=[{"content": f"bed {n} grows {word}", "title": f"bed {n}", "nugget": "garden"} for n in range(60)],
        )["ids"]
        house.call("note.merge", target=ids[1], source=ids[2])
        self.use(house, *ids[:4], *ids[40:44], self.keep(house, "rain is collected", title="rain"))
        house.call("promote")
        house.call("promote", project=PROJECT)
        for path in files:
            self.write_by_hand(path, behind=True)
        self.params = {"name": "garden", "purge": True}

    def is_gone(self, house: House) -> bool:
        left = house.call("note.list", nugget="garden", include_hidden=True)["total"] if self._is_there(house) else 0
        return not left

    @staticmethod
    def _is_there(house: House) -> bool:
        return any(nugget["name"] == "garden" for nugget in house.call("nugget.list")["nuggets"])


class DropShelf(Erasure):
    """A shelf whose lines are in a MEMORY.md of its own and in a project's."""

    name = "shelf-drop"
    method = "shelf.drop"
    takes_key = False
    shelves = ("default", "work")

    def furnish(self, house: House) -> None:
        word = secret("dropped")
        self.secrets = {word: frozenset()}
        house.call("shelf.create", shelf="work")
        self.write_by_hand(house.project_file)
        for number in range(8):
            note_id = self.remember(house, f"task {number} is {word}", shelf="work", title=f"task {number}")
            self.use(house, note_id, shelf="work")
        mine = self.keep(house, "the desk is tidy", title="desk")
        self.use(house, mine)
        house.call("promote", shelf="work")
        house.call("promote", shelf="work", project=PROJECT)
        house.call("promote", project=PROJECT)
        self.write_by_hand(house.project_file, behind=True)
        self.params = {"shelf": "work", "confirm": "work"}

    def approach(self, house: House) -> None:
        (word,) = self.secrets
        self.remember(house, f"one more is {word}", shelf="work")  # the shelf is open, its WAL in use

    def is_gone(self, house: House) -> bool:
        return all(shelf["shelf"] != "work" for shelf in house.call("shelf.list")["shelves"])


class _Promotion(Scenario):
    """A promotion is cut short; then its note is no longer what it was."""

    method = "promote"
    project: ClassVar[str | None] = None
    was_promoted: ClassVar[bool] = False  #: whether the file has a line of it already, which is brought up to date

    def __init__(self) -> None:
        super().__init__()
        self.note_id = ""

    def furnish(self, house: House) -> None:
        word = secret("promoted")
        self.secrets = {word: frozenset()}
        self.write_by_hand(self.file(house))
        self.note_id = self.remember(house, f"the lamp needs {word}", key="lamp")
        self.use(house, self.keep(house, "the chair is blue", title="chair"))
        if self.was_promoted:
            self.use(house, self.note_id)
        self.params = {} if self.project is None else {"project": self.project}
        house.call("promote", **self.params)
        self.write_by_hand(self.file(house), behind=True)
        house.call("note.edit", id=self.note_id, content=f"the lamp really needs {word}")
        self.use(house, self.note_id)

    def file(self, house: House) -> Path:
        """The MEMORY.md that is promoted to."""
        return house.memory_file() if self.project is None else house.project_file

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        faults = []
        if keyed:
            try:
                reply = self.repeated(house, keyed=True)
            except RpcFailure as failure:
                faults.append(f"repeated, it is refused: {failure}")
            else:
                faults += self.retold(house, first, reply, keyed=True)
        return faults + self.follow(house)

    @abstractmethod
    def follow(self, house: House) -> list[str]:
        """What happens next, and the faults that it shows."""

    def purge(self, house: House) -> list[str]:
        """Purge the note, which takes its text out of the log, too."""
        self.named = insist(house, "forget", id=self.note_id, purge=True)["still_in"]
        return house.wait_for_jobs() + self.traces(house, self.named)


class PromoteThenPurge(_Promotion):
    """The note is purged."""

    name = "promote-purge"

    def follow(self, house: House) -> list[str]:
        return self.purge(house)


class PromoteProjectThenPurge(PromoteThenPurge):
    """The same in a project's file."""

    name = "promote-project"
    project = PROJECT
    was_promoted = True


class PromoteThenChange(_Promotion):
    """The fact changes: what the file said of it before is nobody's edit."""

    name = "promote-change"

    def follow(self, house: House) -> list[str]:
        house.call("note.edit", id=self.note_id, content="the lamp needs nothing")
        insist(house, "promote")
        faults = house.wait_for_jobs()
        text = self.file(house).read_bytes()
        faults += [f"MEMORY.md still says {word}" for word in self.secrets if word.encode() in text]
        if b"- **lamp**: the lamp needs nothing" not in text:
            faults.append("MEMORY.md does not say what the fact says now")
        lines = house.call("promotion.preview")["lines"]
        faults += [f"a line nobody touched is {line['status']}" for line in lines if line["status"] != "in_file"]
        return faults + self.purge(house)


class PromoteThenHide(_Promotion):
    """The note is hidden: its line goes."""

    name = "promote-hide"
    was_promoted = True

    def follow(self, house: House) -> list[str]:
        house.call("note.hide", id=self.note_id)
        insist(house, "promote")
        faults = house.wait_for_jobs()
        text = self.file(house).read_bytes()
        faults += [f"MEMORY.md still says {word}" for word in self.secrets if word.encode() in text]
        return faults + self.purge(house)


def _notes(house: House) -> object:
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
        return _notes(house)


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
        return _notes(house)


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
        return _notes(house)


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


SCENARIOS: tuple[type[Scenario], ...] = (
    ForgetFact, ForgetProject, DeleteHard, ForgetMerged, ForgetUnmerged, ForgetEdited, ForgetUnreadable, RemoveNugget,
    DropShelf, PromoteThenPurge, PromoteProjectThenPurge, PromoteThenChange, PromoteThenHide, UndoMany, UndoReflection,
    Import, CreateShelf,
)  # fmt: skip
