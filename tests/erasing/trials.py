"""One kill after another: where they can be, which ones are tried, and what came of each."""

import random
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple, Self

from erasing.furniture import in_time
from erasing.house import Gone, House, Json
from erasing.process import Stage
from erasing.scenario import Scenario
from erasing.scenarios import SCENARIOS
from erasing.tracing import BARRIERS
from shelfd.client import RpcFailure

_BY_NAME: Final = {scenario.name: scenario for scenario in SCENARIOS}
#: Steps of a daemon that starts after a kill, and repeats the request, among which a second kill is chosen.
_SECOND: Final = 120


class Trial(NamedTuple):
    """One kill, or two.

    Attributes:
        scenario: Its name.
        at: The step of the request before which the daemon is killed, from 1; one more than it has is after the reply.
        keyed: Whether the request has an idempotency key and is repeated at once; else the daemon is left to itself
            first.
        again: The step before which the daemon that is started next is killed, too; 0 for none.
    """

    scenario: str
    at: int
    keyed: bool
    again: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what :meth:`__str__` writes."""
        scenario, at, way, *again = text.split(":")
        return cls(scenario, int(at), way == "keyed", *(int(number) for number in again))

    def __str__(self) -> str:
        again = f":{self.again}" if self.again else ""
        return f"{self.scenario}:{self.at}:{'keyed' if self.keyed else 'plain'}{again}"


class Outcome(NamedTuple):
    """What came of a trial."""

    trial: Trial
    step: str  #: before which the daemon was killed
    faults: list[str]


class Bench:
    """Carries out trials, one at a time, each in a house as it was before the request."""

    def __init__(self, stage: Stage, root: Path) -> None:
        self.house = House(stage, root)
        self._ready: dict[str, tuple[Scenario, list[str]]] = {}

    def steps(self, name: str) -> list[str]:
        """The steps of a scenario's request when nothing cuts it short."""
        return self._prepared(name)[1]

    def kill(self, trial: Trial) -> tuple[Json | None, str]:
        """Leave the house as the first kill of a trial leaves it.

        Returns:
            The reply, if it came before, and the step that the daemon was killed before.
        """
        scenario, _ = self._prepared(trial.scenario)
        self.house.environment = scenario.environment
        self.house.restore(trial.scenario)
        self.house.start()
        scenario.approach(self.house)
        first, steps = self._request(scenario, trial.at, keyed=trial.keyed)
        return first, steps[-1] if len(steps) == trial.at else "nothing more"

    def run(self, trial: Trial) -> Outcome:
        """Kill, start again, and look."""
        first, step = self.kill(trial)
        scenario, _ = self._prepared(trial.scenario)
        scenario.named = None
        if trial.again:
            self._kill_again(scenario, trial)
        faults: list[str] = []
        self.house.start()
        try:
            if not trial.keyed:
                faults += self.house.wait_for_jobs(scenario.shelves)
                faults += in_time(lambda: [f"left behind by the start: {name}" for name in self.house.leftovers()])
            faults += scenario.aftermath(self.house, first, keyed=trial.keyed)
            faults += scenario.sound(self.house)
            self.house.stop()
            left = [fault for fault in scenario.traces(self.house, scenario.named) if fault not in faults]
            faults += [f"after a clean stop: {fault}" for fault in left]
        except (Gone, RpcFailure, TimeoutError, AssertionError) as error:
            faults.append(f"{type(error).__name__}: {error}")
            self.house.kill()
        return Outcome(trial, step, list(dict.fromkeys(faults)))

    def _prepared(self, name: str) -> tuple[Scenario, list[str]]:
        if name not in self._ready:
            scenario = _BY_NAME[name]()
            self.house.environment = scenario.environment
            self.house.clear()
            self.house.start()
            scenario.furnish(self.house)
            self.house.stop()
            scenario.spoil(self.house)
            self.house.environment = scenario.environment
            self.house.save(name)
            self.house.start()
            scenario.approach(self.house)
            _, steps = self._request(scenario, None, keyed=True)
            self.house.start()
            self.house.wait_for_jobs(scenario.shelves)
            scenario.learn(self.house)
            self.house.kill()
            self._ready[name] = scenario, steps
        return self._ready[name]

    def _request(self, scenario: Scenario, at: int | None, *, keyed: bool) -> tuple[Json | None, list[str]]:
        """Send the request to a daemon that does not survive it; return the reply, if one came, and the steps."""
        self.house.trace(at)
        first: Json | None = None
        try:
            first = self.house.call(scenario.method, **scenario.request(keyed=keyed))
            scenario.linger(self.house)
        except Gone:
            pass
        finally:
            steps = self.house.kill()
        return first, steps

    def _kill_again(self, scenario: Scenario, trial: Trial) -> None:
        """Kill the daemon while it takes up what the first kill left, with the request repeated or not."""
        try:
            self.house.start_traced(trial.again)
            if trial.keyed:
                scenario.repeated(self.house, keyed=True)
            self.house.wait_for_jobs(scenario.shelves)
        except (Gone, RpcFailure):
            pass  # what is refused now is refused again by the daemon that stays
        self.house.kill()


def kill_points(steps: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the points before and after each step that orders others, and those between."""
    at = {number for number, step in enumerate(steps, 1) if step.split()[0] in BARRIERS}
    first = sorted(at | {number + 1 for number in at} | {len(steps) + 1})
    return first, [number for number in range(1, len(steps) + 1) if number not in first]


def killed_once(steps: Sequence[str], name: str, seed: int) -> Iterator[Trial]:
    """Yield every trial with one kill, first each of the first points once; *seed* decides the order."""
    chance = random.Random(f"{seed} {name}")
    first, others = kill_points(steps)
    ways = {at: chance.random() < 0.5 for at in first}
    once = [Trial(name, at, keyed) for at, keyed in ways.items()]
    more = [Trial(name, at, not keyed) for at, keyed in ways.items()]
    between = [Trial(name, at, keyed) for at in others for keyed in (True, False)]
    for trials in (once, more, between):
        chance.shuffle(trials)
    yield from once
    for pair in zip_longest(more, between):
        yield from (trial for trial in pair if trial is not None)


def killed_twice(steps: Sequence[str], name: str, seed: int) -> Iterator[Trial]:
    """Yield trials with two kills, without end; *seed* decides which."""
    chance = random.Random(f"{seed} {name} twice")
    first, _ = kill_points(steps)
    while True:
        yield Trial(name, chance.choice(first), chance.random() < 0.5, chance.randint(1, _SECOND))
