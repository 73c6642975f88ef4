"""Scenarios in which a job of each kind is cut short: it must end as if nothing had happened, no step done twice."""

from collections import Counter
from typing import ClassVar

from erasing.house import House, Json
from erasing.scenario import Whole
from erasing.wholes import notes_of

_CRANE = "The quick harbour crane number{0} lifts eleven blue{0} containers at berth{0} every single morning"
#: Of a job's result, what is another one in each trial.
_OWN = frozenset({"ran_at", "last_seq"})


class JobCutShort(Whole):
    """A job is cut short.

    What is compared is all that callers see of notes and links, what the change log says was done and how often, how
    each job ended, and the MEMORY.md.
    """

    def furnish(self, house: House) -> None:
        self.fill(house)
        house.wait_for_jobs()
        self.before = self.state(house)

    def fill(self, house: House) -> None:
        """Fill the shelf, and set what the request needs."""

    def state(self, house: House) -> object:
        done: Counter[tuple[str, ...]] = Counter()
        since = 0
        while rows := house.call("shelf.log", since_seq=since, limit=1000)["log"]:
            done.update((row["kind"], *row["ids"]) for row in rows)
            since = rows[-1]["seq"]
        jobs = [
            (job["kind"], job["state"], job["progress"], plain_result(job)) for job in house.call("job.list")["jobs"]
        ]
        file = house.memory_file()
        return notes_of(house), sorted(done.items()), jobs, file.read_bytes() if file.exists() else None


def plain_result(job: Json) -> Json:
    """Return what is the same of a job's result in each trial."""
    return {name: value for name, value in job.get("result", {}).items() if name not in _OWN}


class Hide(JobCutShort):
    """A nugget is cleared in steps."""

    name = "job-hide"
    method = "nugget.clear"

    def fill(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(200)])
        self.params = {"name": "list"}


class Purge(JobCutShort):
    """A nugget goes for good, in steps."""

    name = "job-purge"
    method = "nugget.remove"

    def fill(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(40)])
        house.call("remember", content="stays")
        self.params = {"name": "list", "purge": True}


class PurgeEntity(JobCutShort):
    """All that names somebody goes for good, in steps."""

    name = "job-purge-entity"
    method = "entity.purge"

    def fill(self, house: House) -> None:
        said = [{"content": f"karla wolff saw line {number}", "nugget": "list"} for number in range(20)]
        written = [{"content": f"line {number}", "nugget": "list", "author": "Karla Wolff"} for number in range(20)]
        house.call("remember_many", notes=[*said, *written])
        house.call("alias.add", type="person", alias="Wren Ashdown", canonical="Karla Wolff")
        house.call("remember", content="stays")
        self.params = {"entity_type": "person", "entity_value": "Karla Wolff"}


class Undo(JobCutShort):
    """A transaction of many notes is taken back in steps."""

    name = "job-undo"
    method = "undo"

    def fill(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(100)])
        self.params = {"tx": house.call("shelf.log", limit=1000)["log"][-1]["tx"]}


class UndoRun(JobCutShort):
    """A run of many transactions is taken back in steps."""

    name = "job-undo-run"
    method = "reflection.undo"

    def fill(self, house: House) -> None:
        house.call("remember_many", notes=[{"content": f"line {number}", "nugget": "list"} for number in range(100)])
        self.params = {"run_id": house.call("nugget.clear", name="list")["run_id"]}


class Rewind(JobCutShort):
    """Turns of a conversation are taken back in steps: notes, values of facts, links."""

    name = "job-rewind"
    method = "session.retract_turns"

    def fill(self, house: House) -> None:
        house.call("session.open", session_id="chat", nugget="list")
        for number in range(60):
            fact = {"key": f"key {number % 40}", "content": f"line {number}", "nugget": "list"}
            house.call("remember", **fact, session_id="chat", turn=1 + number // 10)
        self.params = {"session_id": "chat", "from_turn": 2}


class Reflect(JobCutShort):
    """A reflection that archives, rewrites, tags, merges and links is carried out in steps."""

    name = "job-reflect"
    method = "reflect"

    def fill(self, house: House) -> None:
        messy = [{"content": f"{_CRANE.format(number)}.\nIt repeats.\nIt repeats.\nOn."} for number in range(4)]
        same = [{"content": _CRANE.format("A")}, {"content": _CRANE.format("A")}]
        passing = [{"content": f"scribbled {number}", "title": "tmp file"} for number in range(2)]
        house.call("remember_many", notes=[*messy, *same, *passing])


class Promote(JobCutShort):
    """Notes are promoted: the shelf's intention, the file, the shelf's record."""

    name = "job-promote"
    method = "promote"

    def fill(self, house: House) -> None:
        self.write_by_hand(house.memory_file())
        ids = [self.remember(house, f"the chair {number} is blue", title=f"chair {number}") for number in range(3)]
        self.use(house, *ids[:1])
        house.call("promote")
        self.write_by_hand(house.memory_file(), behind=True)
        self.use(house, *ids)


class Import(JobCutShort):
    """Notes and links of another memory are taken in, in steps."""

    name = "job-import"
    method = "shelf.import"

    def fill(self, house: House) -> None:
        self.keep(house, "was here before")
        notes = [
            {"id": f"note-work-{number:08x}", "nuggetName": "work", "title": f"t{number}", "content": f"came {number}",
             "kind": "note", "hits": 3, "links": [{"to": f"note-work-{(number + 1) % 160:08x}", "reason": "next"}]}
            for number in range(160)
        ]  # fmt: skip
        self.params = {"parts": [{"part": "notes", "items": notes}, {"part": "links", "items": notes}]}


class Retype(JobCutShort):
    """A type of notes is set, and its notes come along in steps."""

    name = "job-retype"
    method = "schema.set_type"

    def fill(self, house: House) -> None:
        quests = [{"fields": {"goal": f"goal {number}"}, "type": "quest"} for number in range(600)]
        house.call("remember_many", notes=quests)
        migrate = {"rename": {"goal": "aim"}, "defaults": {"state": "open"}}
        columns = {"table_columns": ["aim", "state"], "required_columns": ["aim", "state"]}
        self.params = {"type": "quest", **columns, "additional_columns": False, "migrate": migrate}


class Extract(JobCutShort):
    """Turns of a conversation are extracted, one at a step. Ids are drawn, so what is compared are names."""

    name = "job-extract"
    method = "session.extract"

    def fill(self, house: House) -> None:
        house.call("session.open", session_id="s")
        said = [
            f"My cousin Ada{'abc'[number % 3]} painted door {number}. I'll paint wall {number}." for number in range(40)
        ]
        turns = [{"turn": at, "text": text, "author": "Ben"} for at, text in enumerate(said, 1)]
        self.params = {"session_id": "s", "turns": turns}

    def state(self, house: House) -> object:
        notes = (
            house.call("note.list", nugget="memory", limit=1000)["notes"]
            if house.call("nugget.list")["nuggets"]
            else []
        )
        names = {note["id"]: (note["type"], note["title"], note["content"]) for note in notes}
        links = [
            (names[one["source"]], one["relation"], names[one["target"]])
            for one in house.call("link.list", limit=1000)["links"]
        ]
        kinds = Counter[str]()
        since = 0
        while rows := house.call("shelf.log", since_seq=since, limit=1000)["log"]:
            kinds.update(row["kind"] for row in rows)
            since = rows[-1]["seq"]
        jobs = [
            (job["kind"], job["state"], job["progress"], plain_result(job)) for job in house.call("job.list")["jobs"]
        ]
        return sorted(names.values()), sorted(links), kinds, jobs


class Distil(Extract):
    """A report is read, a chunk at a step."""

    name = "job-distil"
    method = "remember_report"

    def fill(self, house: House) -> None:
        self.keep(house, "was here before")
        said = [f"Ada moved crane {number} to berth {number % 7} for good." for number in range(300)]
        self.params = {"content": " ".join(said), "chunk_size": 500, "max_facts": 50}


class Scheduled(Reflect):
    """A run that the scheduler is asked for is cut short; the reply says only that it was claimed."""

    name = "job-scheduled"
    method = "scheduler.run"
    job: ClassVar[str] = "reflection"

    def fill(self, house: House) -> None:
        super().fill(house)
        self.params = {"job": self.job}

    def linger(self, house: House) -> None:
        house.wait_for_jobs()


class ScheduledPromotion(Scheduled):
    """The same with the job that changes a file."""

    name = "job-scheduled-promotion"
    job = "promotion"

    def fill(self, house: House) -> None:
        ids = [self.remember(house, f"the chair {number} is blue", title=f"chair {number}") for number in range(3)]
        self.use(house, *ids)
        self.params = {"job": self.job}


JOBS = (
    Hide,
    Purge,
    PurgeEntity,
    Undo,
    UndoRun,
    Rewind,
    Reflect,
    Promote,
    Import,
    Retype,
    Extract,
    Distil,
    Scheduled,
    ScheduledPromotion,
)
