"""Scenarios in which what stands beside notes is cut short: vectors, the index's image, what a model reads, many notes.

A daemon that was killed at it must answer, once it has made up for it, as one that never was.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, ClassVar, Final

from embedders import vectors
from erasing.furniture import secret
from erasing.house import House, Json
from erasing.purges import DeleteHard
from erasing.scenario import Scenario, Whole
from model_server import ModelServer, Received, sends, thinks
from running import TIMEOUT_S

_WORDS: Final = ("crane", "berth", "harbour", "anchor", "rope", "lantern", "gull", "pilot", "buoy", "tide")
_QUERIES: Final = ("which crane has a lantern", "rope at the berth", "gull 7", "tide")
#: Notes that one request writes before, and how many times: with those of the next there is an image.
_AT_ONCE, _TIMES = 750, 2
_LONG: Final = "Ada moved the crane to berth {0} because the tide was low. " * 5


def lines(count: int, first: int = 0) -> list[Json]:
    """Some notes, each another one, that share words."""
    numbers = range(first, first + count)
    said = [
        f"{_WORDS[n % 10]} {n} and {_WORDS[n // 10 % 10]} by the {_WORDS[(3 * n + n // 100) % 10]}" for n in numbers
    ]
    return [{"content": text, "nugget": "list"} for text in said]


def wait_until(house: House, is_true: Callable[[], bool], what: str) -> None:
    """Wait for something that a daemon does behind its replies.

    Raises:
        Gone: If it ends before.
        TimeoutError: If it takes too long.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while not is_true():
        house.call("system.version")
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.005)  # a pause between two looks at another process, bounded by the deadline


def is_imaged(house: House) -> bool:
    """Whether there is an image of the index."""
    return (house.home / "data/shelves/default/index/image.json").exists()


def is_warm(house: House) -> bool:
    """Whether recall knows all notes again."""
    return bool(house.call("recall", query="x")["index"]["state"] == "ready")


class Answered(Whole):
    """Notes are written whole or not at all, and are found with the same scores as if nothing had happened."""

    mode: ClassVar[str] = "lexical"

    def state(self, house: House) -> object:
        wait_until(house, lambda: is_warm(house), "the whole index")
        seq = house.call("shelf.log", limit=1)["last_seq"]
        found = [house.call("recall", query=query, mode=self.mode, min_seq=seq, k=7) for query in _QUERIES]
        assert {reply["mode"] for reply in found} == {self.mode}
        # Scores go down with the age of a note, from one trial to the next by some millionths.
        shown = [sorted((round(hit["score"], 3), hit["note"]["content"]) for hit in one["results"]) for one in found]
        return house.call("note.list", limit=1)["total"], seq, shown


class RememberMany(Answered):
    """So many notes are written that the reply waits for the index, and take effect whole or not at all."""

    name = "remember-many"
    method = "remember_many"

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        self.params = {"notes": lines(300)}
        self.before = self.state(house)


class Evolving(Whole):
    """Notes supersede others and are superseded by the next, though what they state is stored later."""

    name = "evolving"
    method = "remember_many"

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        self.remember(house, "Eva lives in Linz.", evolve=True)
        said = ["Eva lives in Graz.", "The gate code is 4711.", "The gate code is 4712."]
        said += [f"Host {number} runs Debian." for number in range(40)]
        self.params = {"notes": [{"content": text, "evolve": True} for text in said]}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        found = house.call("note.list", include_superseded=False)["notes"]
        return sorted(note["content"] for note in found)

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        faults = super().aftermath(house, first, keyed=keyed)
        for text in ("Eva lives in Wels.", "The gate code is 4713.", "Eva lives in Lyon."):
            if (reply := house.call("remember", content=text, evolve=True))["status"] != "updated":
                faults.append(f"with {text!r}, what was remembered before is {reply['status']}")
        return faults


class FirstImage(Answered):
    """With the notes that are written there are so many that an image of the index is; a note is purged afterwards."""

    name = "image"
    method = "remember_many"

    def furnish(self, house: House) -> None:
        for time_ in range(_TIMES):
            house.call("remember_many", notes=lines(_AT_ONCE, time_ * _AT_ONCE))
        self.keep(house, "stays")
        word = secret("imaged")
        self.secrets = {word: frozenset()}
        self._gone = self.remember(house, f"the safe opens with {word}")
        self.params = {"notes": lines(_AT_ONCE, _TIMES * _AT_ONCE)}
        self.before = self.state(house)

    def linger(self, house: House) -> None:
        wait_until(house, lambda: is_imaged(house), "an image")

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        faults = super().aftermath(house, first, keyed=keyed)
        house.call("forget", id=self._gone, purge=True)
        return faults + self.traces(house, None)


class ForgetImaged(DeleteHard):
    """A note is purged that was edited, is in an image of the index, and has vectors."""

    name = "forget-imaged"

    def furnish(self, house: House) -> None:
        super().furnish(house)
        for time_ in range(_TIMES + 1):
            house.call("remember_many", notes=lines(_AT_ONCE, time_ * _AT_ONCE))

    def approach(self, house: House) -> None:
        assert is_imaged(house)
        house.call("recall", query="safe")  # reads the image


class Embedding(Answered):
    """Some notes are given vectors, behind the reply."""

    name = "vectors"
    method = "remember_many"
    mode = "hybrid"

    def __init__(self) -> None:
        super().__init__()
        self.server = ModelServer(otherwise=_embeds)
        self.server.__enter__()  # its thread ends with this process
        self.model = "one"

    @property
    def environment(self) -> Mapping[str, str]:
        settings = {"kind": "http", "url": self.server.url, "model": self.model, "deadline_ms": 60_000}
        return {f"SHELFD__EMBEDDER__{name.upper()}": str(value) for name, value in settings.items()}

    def furnish(self, house: House) -> None:
        house.call("remember_many", notes=lines(40))
        self.keep(house, "stays")
        self.params = {"notes": lines(100, 40)}
        self.before = self.state(house)

    def state(self, house: House) -> object:
        self.linger(house)
        return super().state(house)

    def linger(self, house: House) -> None:
        def is_whole() -> bool:
            dense = house.call("recall", query="x", mode="hybrid")["dense"]
            return bool(dense == {"model": f"http/{self.model}", "share": 1.0})

        wait_until(house, is_whole, "vectors of all notes")

    def sound(self, house: House) -> list[str]:
        return super().sound(house) + strays(house, f"http/{self.model}")


class OtherModel(Embedding):
    """Notes that have vectors are given those of another model."""

    name = "vectors-anew"

    def furnish(self, house: House) -> None:
        house.call("remember_many", notes=lines(100))
        self.keep(house, "stays")
        self.params = {"notes": lines(10, 100)}
        self.linger(house)

    def spoil(self, house: House) -> None:
        """Set another model, and learn how it answers without the request."""
        self.model = "two"
        house.environment = self.environment
        house.save("first model")
        house.start()
        self.before = self.state(house)
        house.kill()
        house.restore("first model")


class ForgetEmbedded(Embedding):
    """A note is purged while the vectors of others are made."""

    name = "vectors-purge"
    method = "forget"

    def furnish(self, house: House) -> None:
        house.call("remember_many", notes=lines(40))
        word = secret("embedded")
        self.secrets = {word: frozenset()}
        self.params = {"id": self.remember(house, f"crane {word} by the tide"), "purge": True}
        self.keep(house, "stays")
        self.before = self.state(house)

    def approach(self, house: House) -> None:
        house.call("remember_many", notes=lines(60, 40), idempotency_key="beside")

    def learn(self, house: House) -> None:
        super().learn(house)
        assert not self.traces(house, None)

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        return super().aftermath(house, first, keyed=keyed) + self.traces(house, None)


class Reading(Whole):
    """A language model reads new notes, behind the reply."""

    name = "job-enrichment"
    method = "remember_many"
    _COUNT = 12

    def __init__(self) -> None:
        super().__init__()
        self.server = ModelServer(otherwise=thinks(_reads))
        self.server.__enter__()  # its thread ends with this process

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "SHELFD__LLM__URL": self.server.url,
            "SHELFD__LLM__MODEL": "test-model",
            "SHELFD__EVOLUTION__READING": "true",
        }

    def furnish(self, house: House) -> None:
        self.keep(house, "stays")
        self.params = {"notes": [{"content": _LONG.format(number)} for number in range(self._COUNT)]}
        self.before = self.state(house)

    def linger(self, house: House) -> None:
        wait_until(house, lambda: self._read(house) >= self._COUNT, "what a model reads")
        house.wait_for_jobs()

    def state(self, house: House) -> object:
        total = house.call("note.list", limit=1)["total"]
        if total > 1:
            self.linger(house)
        found = house.call("recall_entity", entity_type="person", entity_value="Ada", k=50)
        return total, self._read(house), len(found["notes"])

    @staticmethod
    def _read(house: House) -> int:
        """How many notes were read, by whichever jobs."""
        jobs = house.call("job.list", limit=1000)["jobs"]
        return sum(job["result"]["read"] for job in jobs if job["state"] == "done")


async def _embeds(received: Received, writer: Any) -> None:
    """Answer as an embedder's server: a text points where its words do."""
    model = received.json["model"]
    made = [vectors(text, model).astype(int).sum(axis=0) for text in received.json["input"]]
    rows = [{"index": at, "embedding": [*map(float, vector)]} for at, vector in enumerate(made)]
    await sends(json.dumps({"data": rows, "usage": {"prompt_tokens": 1}}).encode())(received, writer)


def _reads(data: dict[str, Any]) -> dict[str, Any]:
    """Answer as a model that finds one person in every note."""
    return {"notes": [{"n": row["n"], "entities": [{"type": "person", "value": "Ada"}]} for row in data["notes"]]}


def strays(house: House, model: str) -> list[str]:
    """Return what is wrong with the vectors in a shelf's file."""
    file = house.home / "data/shelves/default/shelf.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        counted = dict(connection.execute("SELECT model, notes FROM vector_count WHERE notes"))
        there = dict(connection.execute("SELECT model, count(*) FROM vector GROUP BY model"))
        (lost,) = connection.execute("SELECT count(*) FROM vector WHERE note NOT IN (SELECT row FROM note)").fetchone()
    faults = [f"{lost} vectors are of no note"] if lost else []
    if counted != there or there.keys() - {model}:
        faults.append(f"there are vectors {there}, counted {counted}")
    return faults


DERIVED: Final[tuple[type[Scenario], ...]] = (
    RememberMany, Evolving, FirstImage, ForgetImaged, Embedding, OtherModel, ForgetEmbedded, Reading,
)  # fmt: skip
#: Those that wait for what a daemon does once it is quiet: too long for the test suite.
UNHURRIED: Final[tuple[type[Scenario], ...]] = (FirstImage, Embedding, OtherModel, ForgetEmbedded, Reading)
