"""What is cut short, and what must be true of a house afterwards: the shapes that scenarios come in."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from erasing.furniture import Furniture, in_time
from erasing.house import House, Json
from running import TIMEOUT_S
from shelfd.client import RpcFailure

NOT_FOUND: Final = -32001
_KEY: Final = "the-same-request"


class Scenario(Furniture, ABC):
    """A house as it is before a request, the request, and what must be true after it was cut short.

    Attributes:
        method: Of the request.
        takes_key: Whether the method knows idempotency keys.
        params: Of the request.
        named: What the last reply named in ``still_in``; None while there was none that could.
    """

    method: ClassVar[str]
    takes_key: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.params: Json = {}
        self.named: list[str] | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """Settings of the daemon."""
        return {}

    @abstractmethod
    def furnish(self, house: House) -> None:
        """Fill the shelves, over a running daemon, and set what the request needs."""

    def spoil(self, house: House) -> None:
        """Change files as a person does, with no daemon running."""

    def approach(self, house: House) -> None:
        """What happens on the daemon that is then killed, before the request."""

    def linger(self, house: House) -> None:
        """Wait, after the reply and before the daemon is killed, for what goes on behind it."""

    def learn(self, house: House) -> None:
        """Look at what the request comes to when nothing cuts it short."""

    @abstractmethod
    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        """Ask the daemon that was started after the kill for what was to be; return the faults.

        Args:
            first: The reply, if it came before the kill.
            keyed: Whether the request had an idempotency key, and is repeated at once. If not, the daemon has ended
                its jobs.
        """

    def request(self, *, keyed: bool) -> Json:
        """Return the params of the request."""
        return self.params | ({"idempotency_key": _KEY} if keyed and self.takes_key else {})

    def repeated(self, house: House, *, keyed: bool) -> Json:
        """Send the request again, as often as it is refused for the moment only.

        Raises:
            RpcFailure: If it is refused for good.
        """
        return insist(house, self.method, **self.request(keyed=keyed))

    def retold(self, house: House, first: Json | None, reply: Json, *, keyed: bool) -> list[str]:
        """Return what is wrong with replies to one request that say it twice."""
        if not (keyed and self.takes_key):
            return []
        return _compared(first, reply) + _compared(reply, self.repeated(house, keyed=True))


class Erasure(Scenario):
    """Something is purged."""

    @abstractmethod
    def is_gone(self, house: House) -> bool:
        """Return whether callers no longer see what was to be purged."""

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        """Ask for the purge again, look for what is left, compare the replies."""
        faults = []
        # Nobody may ever ask again: what was begun comes to its end without.
        if not keyed and self.is_gone(house):
            faults += in_time(lambda: [f"after the start: {fault}" for fault in self.traces(house, None)])
        try:
            reply = self.repeated(house, keyed=keyed)
        except RpcFailure as failure:
            if (keyed and self.takes_key) or failure.code != NOT_FOUND:
                faults.append(f"repeated, it is refused: {failure}")
            self.named = None if first is None else _still_in(first)
        else:
            self.named = _still_in(reply)
            faults += self.retold(house, first, reply, keyed=keyed)
        faults += house.wait_for_jobs(self.shelves)
        if not self.is_gone(house):
            faults.append("what was purged is still there")
        unfounded = set(self.named or ()).difference(*self.secrets.values())
        return faults + self.traces(house, self.named) + [f"still_in names {name} without reason" for name in unfounded]


class Whole(Scenario):
    """Something happens whole or not at all.

    Attributes:
        before: What :meth:`state` was before the request.
        after: What it is when nothing cuts the request short.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before: object = None
        self.after: object = None

    @abstractmethod
    def state(self, house: House) -> object:
        """Return what the request changes."""

    def learn(self, house: House) -> None:
        """Remember what the request comes to."""
        self.after = self.state(house)
        assert self.after != self.before

    def aftermath(self, house: House, first: Json | None, *, keyed: bool) -> list[str]:
        """See whether it happened, ask for it again if it did not, compare the replies."""
        faults = []
        if not keyed:
            state = self.state(house)
            if state not in (self.before, self.after):
                faults.append("it happened in part")
            if first is not None and state != self.after:
                faults.append("it was acknowledged and did not happen")
            if state == self.after:
                return faults
        try:
            reply = self.repeated(house, keyed=keyed)
        except RpcFailure as failure:
            return [*faults, f"repeated, it is refused: {failure}"]
        faults += house.wait_for_jobs(self.shelves)
        if self.state(house) != self.after:
            faults.append("repeated, it comes to something else")
        return faults + self.retold(house, first, reply, keyed=keyed)


def insist(house: House, method: str, /, **params: object) -> Json:
    """Call until the daemon does not ask for another try.

    Raises:
        RpcFailure: If it refuses for good.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            result: Json = house.call(method, **params)
        except RpcFailure as failure:
            if not failure.is_retryable or time.monotonic() > deadline:
                raise
            time.sleep(0.01)  # a client's pause before it tries again, bounded by the deadline
        else:
            return result


def same(first: Json, second: Json) -> bool:
    """Return whether two replies say the same, but for which of them is told again."""
    return _plain(first) == _plain(second)


def _compared(first: Json | None, again: Json) -> list[str]:
    if first is None:
        return []
    faults = [] if again.get("replayed") else ["a request that was answered is carried out again"]
    if not same(first, again):
        faults.append(f"the reply was {_plain(first)} and, told again, {_plain(again)}")
    return faults


def _plain(reply: Json) -> Json:
    plain = {name: value for name, value in reply.items() if name != "replayed"}
    return plain | {name: sorted(value) for name, value in plain.items() if name == "still_in" and value is not None}


def _still_in(reply: Json) -> list[str]:
    return list(reply.get("still_in") or ())
