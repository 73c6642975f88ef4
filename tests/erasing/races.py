"""Two requests a few milliseconds apart, of which one purges what the other is just writing."""

import threading
import time
from abc import ABC, abstractmethod
from typing import Any, Final, NamedTuple

from erasing.furniture import Furniture, secret
from erasing.house import PROJECT, House, Json
from erasing.scenario import same
from shelfd.client import RpcFailure

#: How long before the first request the second is sent, and how long after it, at most.
_BEFORE_S: Final = 0.004
_AFTER_S: Final = 0.012
#: Not there any more, or taken by the other one: one of two requests may be refused so.
_LOST: Final = (-32001, -32002)


class Asked(NamedTuple):
    """A request."""

    method: str
    params: Json


class Race(Furniture, ABC):
    """What is asked twice at a time, on a daemon that many such pairs are tried on one after another."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def furnish(self, house: House) -> None:
        for path in (house.memory_file(), house.project_file):
            self.write_by_hand(path)
            self.write_by_hand(path, behind=True)

    @abstractmethod
    def pair(self, house: House) -> tuple[Asked, Asked]:
        """Write what this pair is about, and return the two requests; the second one purges."""

    def run(self, house: House, share: float) -> list[str]:
        """Try one pair, the second request a *share* (0 to 1) of the way from earliest to latest; return the faults."""
        self.count += 1
        self.secrets = {}
        first, second = self.pair(house)
        replies: list[Json | RpcFailure] = [{}, {}]

        def ask(number: int, asked: Asked, delay_s: float) -> None:
            with house.connect() as client:
                start.wait()
                time.sleep(delay_s)  # what is being tried
                try:
                    replies[number] = client.call(asked.method, asked.params)
                except RpcFailure as failure:
                    replies[number] = failure

        start = threading.Barrier(2)
        delay_s = share * (_BEFORE_S + _AFTER_S) - _BEFORE_S
        other = threading.Thread(target=ask, args=(0, first, max(0.0, -delay_s)))
        other.start()
        ask(1, second, max(0.0, delay_s))
        other.join()
        return self.judged(house, *replies)

    def judged(self, house: House, first: Json | RpcFailure, second: Json | RpcFailure) -> list[str]:
        """Return what is wrong once both were answered."""
        faults = [
            f"refused: {reply}"
            for reply in (first, second)
            if isinstance(reply, RpcFailure) and reply.code not in _LOST and not reply.is_retryable
        ]
        faults += house.wait_for_jobs(self.shelves)
        named = None if isinstance(second, RpcFailure) else second.get("still_in") or []
        return faults + self.traces(house, named)

    def word(self, *names: str) -> str:
        """A secret of this pair."""
        word = secret("race")
        self.secrets[word] = frozenset(names)
        return word

    def used(self, house: House, **params: Any) -> str:
        """A note that the next promotion writes."""
        shelf = params.get("shelf", "default")
        note_id = self.remember(house, f"the shed holds {self.word()}", title=f"shed {self.count}", **params)
        self.use(house, note_id, shelf=shelf)
        return note_id


class PromoteAndForget(Race):
    name = "promote and forget"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        note_id = self.used(house)
        return Asked("promote", {}), Asked("forget", {"id": note_id, "purge": True})


class PromoteAndForgetEdited(Race):
    name = "promote and forget edited"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        path = house.memory_file()
        word = self.word(str(path))
        note_id = self.remember(house, f"the shed holds {word}", title=f"shed {self.count}")
        self.use(house, note_id)
        house.call("promote")
        path.write_bytes(path.read_bytes().replace(f"holds {word}".encode(), f"always holds {word}".encode()))
        return Asked("promote", {}), Asked("forget", {"id": note_id, "purge": True})

    def judged(self, house: House, first: Json | RpcFailure, second: Json | RpcFailure) -> list[str]:
        faults = super().judged(house, first, second)
        # The line is the person's; later pairs are about others.
        path = house.memory_file()
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if f"shed {self.count}".encode() not in line))
        return faults


class PromoteAndRemove(Race):
    name = "promote and nugget.remove"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        for _ in range(3):
            self.used(house, nugget="shed")
        return Asked("promote", {"project": PROJECT}), Asked("nugget.remove", {"name": "shed", "purge": True})


class PromoteAndDrop(Race):
    name = "promote and shelf.drop"
    shelves = ("default", "work")

    def pair(self, house: House) -> tuple[Asked, Asked]:
        house.call("shelf.create", shelf="work")
        self.used(house, shelf="work")
        return (
            Asked("promote", {"shelf": "work", "project": PROJECT}),
            Asked("shelf.drop", {"shelf": "work", "confirm": "work"}),
        )


class PurgeTwice(Race):
    name = "forget and forget"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        asked = Asked("forget", {"id": self.used(house), "purge": True, "idempotency_key": f"twice {self.count}"})
        house.call("promote")
        return asked, asked

    def judged(self, house: House, first: Json | RpcFailure, second: Json | RpcFailure) -> list[str]:
        faults = super().judged(house, first, second)
        if isinstance(first, RpcFailure) or isinstance(second, RpcFailure):
            return [*faults, "one request, sent twice, is refused"]
        if not same(first, second):
            faults.append("one request, sent twice, has two answers")
        return faults


class UndoAndForget(Race):
    name = "undo and forget"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        target = self.remember(house, "the shed is old", title=f"shed {self.count}")
        source = self.remember(house, f"it holds {self.word(target)}")
        house.call("note.merge", target=target, source=source)
        last = house.call("get_stats")["last_seq"]
        merge = house.call("shelf.log", since_seq=last - 1)["log"][-1]["tx"]
        return Asked("undo", {"tx": merge}), Asked("forget", {"id": source, "purge": True})


class MergeAndForget(Race):
    name = "note.merge and forget"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        target = self.remember(house, "the shed is old", title=f"shed {self.count}")
        source = self.remember(house, f"it holds {self.word(target)}")
        return Asked("note.merge", {"target": target, "source": source}), Asked("forget", {"id": source, "purge": True})


class RememberAndForget(Race):
    name = "remember and forget"

    def pair(self, house: House) -> tuple[Asked, Asked]:
        key = f"shed {self.count}"
        note_id = self.remember(house, f"the shed holds {self.word()}", key=key)
        self.use(house, note_id)
        house.call("promote")
        return Asked("remember", {"content": "the shed is empty", "key": key}), Asked(
            "forget", {"key": key, "purge": True}
        )


RACES: tuple[type[Race], ...] = (
    PromoteAndForget, PromoteAndForgetEdited, PromoteAndRemove, PromoteAndDrop, PurgeTwice, UndoAndForget,
    MergeAndForget, RememberAndForget,
)  # fmt: skip


def raced(house: House, race: Race, pairs: int) -> dict[int, list[str]]:
    """Try a race *pairs* times, with one distance after another; return the faults by the number of the pair.

    Those of the shelves and files after all of them come last.
    """
    house.clear()
    house.start()
    race.furnish(house)
    faults: dict[int, list[str]] = {}
    words: dict[str, frozenset[str]] = {}
    for number in range(pairs):
        if found := race.run(house, number / pairs):
            faults[number] = found
        else:
            words |= race.secrets
    last = race.sound(house)
    house.stop()
    race.secrets = words
    if last := [*last, *race.traces(house, None)]:
        faults[pairs] = last
    return faults
