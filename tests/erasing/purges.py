"""Scenarios in which something is purged."""

from erasing.furniture import secret
from erasing.house import PROJECT, House, Json
from erasing.scenario import NOT_FOUND, Erasure, insist
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
    """A fact with a history, under a key of its own, asked for, told to a prompt, linked, and in MEMORY.md."""

    name = "forget-fact"

    def furnish(self, house: House) -> None:
        self.write_by_hand(house.memory_file())
        names = ("first", "second", "third", "key", "tag", "alias", "field", "origin", "reason", "query", "block")
        words = {name: secret(name) for name in names}
        self.secrets = {word: frozenset() for word in words.values()}
        for name in ("first", "second", "third"):
            self.note_id = self.remember(
                house, f"it is {words[name]}, {words[name]}", key=f"door {words['key']}",
                idempotency_key=name, tags=[words["tag"]], aliases=[words["alias"]], fields={"lock": words["field"]},
                source_ref=words["origin"],
            )  # fmt: skip
        other = self.keep(house, "the door is green", title="door")
        house.call("link.upsert", source=self.note_id, target=other, reason=f"see {words['reason']}")
        for session in ("one", "two", "three"):
            house.call("recall", query=f"door {words['query']} {words['third']}", session_id=session)
        house.call("session.open", session_id="one")
        house.call("get_context", query="door", session_id="one", turn=1)
        shown = {
            "recalled": [self.note_id, other],
            "blocks": {"core": words["block"]},
            "trace": {"why": words["block"]},
        }
        house.call("session.record_injection", session_id="one", turn=2, **shown)
        self.use(house, self.note_id, other)
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)
        self.params = {"key": f"door {words['key']}", "purge": True}


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


class ForgetBranched(_OneNote):
    """A note of which a branch of its conversation has a copy: that is another one, and the reply names it."""

    name = "forget-branched"

    def furnish(self, house: House) -> None:
        word = secret("branched")
        house.call("session.open", session_id="talk", nugget="story")
        event: Json = {"op": "create", "type": "event", "title": "night", "fields": {"what": f"the code is {word}"}}
        told = house.call("session.apply_extraction_batch", session_id="talk", turn=1, ops=[event])
        house.call("session.branch", session_id="talk", at_turn=1, new_session_id="other")
        original = told["applied"][0]["node_id"]
        found = house.call("note.list", include_hidden=True)["notes"]
        (copy,) = (note["id"] for note in found if note["title"] == "night" and note["id"] != original)
        self.secrets = {word: frozenset({copy})}
        self.purge(original)


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


class PromoteMeanwhile(ForgetProject):
    """A purge is cut short, and the first thing that the next daemon is asked for is a promotion."""

    name = "forget-and-promote"

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        """Promote, then ask for the purge again."""
        insist(house, "promote")
        insist(house, "promote", project=PROJECT)
        return super().aftermath(house, first, keyed=keyed)


class PromoteEditedMeanwhile(ForgetEdited):
    """The same of a note whose line a person has changed."""

    name = "forget-edited-promote"

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        """Promote, then ask for the purge again."""
        insist(house, "promote")
        return super().aftermath(house, first, keyed=keyed)


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
