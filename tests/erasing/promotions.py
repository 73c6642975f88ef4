"""Scenarios in which a promotion is cut short."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from erasing.furniture import secret
from erasing.house import PROJECT, House, Json
from erasing.scenario import Scenario, insist
from shelfd.client import RpcFailure


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


class PromoteLastThenRestore(_Promotion):
    """The last line of a project's file is taken out, as its note was hidden; then the note comes back."""

    name = "promote-last"
    project = PROJECT

    def furnish(self, house: House) -> None:
        word = secret("last")
        self.secrets = {word: frozenset()}
        self.params = {"project": PROJECT}
        self.write_by_hand(self.file(house))
        self.note_id = self.remember(house, f"the lamp needs {word}", key="lamp")
        self.use(house, self.note_id)
        house.call("promote", **self.params)
        self.write_by_hand(self.file(house), behind=True)
        house.call("note.hide", id=self.note_id)

    def follow(self, house: House) -> list[str]:
        house.call("note.restore", id=self.note_id)
        insist(house, "promote", **self.params)
        faults = house.wait_for_jobs()
        text = self.file(house).read_bytes()
        faults += [f"MEMORY.md does not say {word} again" for word in self.secrets if word.encode() not in text]
        return faults + self.purge(house)
