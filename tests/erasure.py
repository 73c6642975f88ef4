"""Kills a daemon at every step of what purges, drops, promotes, undoes and imports, and looks for what stayed behind.

Prints a table, and below it each fault with the trial that shows it, which ``--only TRIAL`` repeats. Ends with status
1 if there are any. A trial is called ``scenario:step:keyed`` or ``scenario:step:plain``: the step of the request that
the daemon is killed before, and whether the request is repeated under its key or the daemon is left to itself; a
second number is the step at which the next daemon is killed as well.
"""

import argparse
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeVar

from erasing.process import Stage
from erasing.races import RACES, Race, raced
from erasing.scenarios import SCENARIOS
from erasing.trials import Bench, Trial, kill_points, killed_once, killed_twice

T = TypeVar("T")
R = TypeVar("R")

_NAMES: Final = [scenario.name for scenario in SCENARIOS]
_RACE_NAMES: Final = [race.name for race in RACES]
#: What differs from run to run: secrets, names of temporary files, ids.
_CHANCE: Final = re.compile(r"[0-9a-f]{12}ü|(?<=MEMORY\.md\.)\w+(?=\.tmp)|(?<=-)[0-9a-f]{8}\b|/\S+(?=/home/)")


class Row(NamedTuple):
    """A line of the table, and what it found: faults by what shows them."""

    name: str
    steps: str
    barriers: str
    tries: int
    faults: dict[str, list[str]]


class Workers:
    """Threads with a daemon each. Use as a context manager."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._own = threading.local()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._pool = self._stack.enter_context(ThreadPoolExecutor(self._count, initializer=self._begin))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._stack.close()

    def run(self, work: Callable[[Bench, T], R], given: Iterable[T]) -> list[R]:
        """Do some work with each of the things given; return what comes of it in their order."""
        return list(self._pool.map(lambda one: work(self._own.bench, one), given))

    def _begin(self) -> None:
        root = self._stack.enter_context(tempfile.TemporaryDirectory())
        self._own.bench = Bench(self._stack.enter_context(Stage()), Path(root))


def shared_out(steps: Mapping[str, Sequence[str]], kills: int, seed: int) -> dict[str, list[Trial]]:
    """Choose trials of each scenario with *kills* kills in all.

    Each sync and rename of every scenario is a kill point before anything is one a second time, in another way.
    """
    first = {name: len(kill_points(found)[0]) for name, found in steps.items()}
    chosen = {}
    for number, (name, found) in enumerate(steps.items()):
        if kills < sum(first.values()):
            count = kills * (number + 1) // len(steps) - kills * number // len(steps)
        else:
            left = kills - sum(first.values())
            count = first[name] + left * (number + 1) // len(steps) - left * number // len(steps)
        twice = max(0, count - first[name]) // 4  # a trial with two kills in place of each other two
        chosen[name] = [
            *islice(killed_once(found, name, seed), count - 2 * twice),
            *islice(killed_twice(found, name, seed), twice),
        ]
    return chosen


def killed(bench: Bench, trials: Sequence[Trial]) -> Row:
    """Carry out trials of one scenario."""
    faults = {}
    for trial in trials:
        outcome = bench.run(trial)
        if outcome.faults:
            faults[f"{trial}, before {outcome.step}"] = outcome.faults
        _tick(bool(outcome.faults))
    steps = bench.steps(trials[0].scenario)
    kills = sum(1 + bool(trial.again) for trial in trials)
    return Row(trials[0].scenario, str(len(steps)), str(len(kill_points(steps)[0])), kills, faults)


def run_race(bench: Bench, race: type[Race], pairs: int) -> Row:
    """Try one race."""
    found = raced(bench.house, race(), pairs)
    _tick(bool(found))
    return Row(race.name, "", "", pairs, {f"{race.name}, pair {number}": faults for number, faults in found.items()})


def repeat(trial: Trial) -> int:
    """Carry out one trial and print what came of it."""
    with tempfile.TemporaryDirectory() as root, Stage() as stage:
        outcome = Bench(stage, Path(root)).run(trial)
    print(f"{trial}, before {outcome.step}", *outcome.faults, sep="\n  ")
    return 1 if outcome.faults else 0


def report(rows: Sequence[Row]) -> None:
    """Print the table, the faults, and how often each was met."""
    print("\n\n" + _line("scenario", "steps", "sync or rename", "kills or pairs", "faults"))
    for row in rows:
        print(_line(row.name, row.steps, row.barriers, row.tries, len(row.faults)))
    tries, faulty = sum(row.tries for row in rows), sum(len(row.faults) for row in rows)
    print(_line("in all", "", "", tries, faulty))
    for row in rows:
        for shown_by, faults in row.faults.items():
            print(f"\n{shown_by}", *faults, sep="\n  ")
    kinds = Counter(_CHANCE.sub("…", fault) for row in rows for faults in row.faults.values() for fault in set(faults))
    print(*(f"\n{count:5}  {kind}" for kind, count in kinds.most_common()), sep="")


def _line(name: object, *cells: object) -> str:
    return f"{name!s:27}" + "".join(f"{cell!s:>16}" for cell in cells)


def _tick(faulty: bool) -> None:
    print("F" if faulty else ".", end="", flush=True, file=sys.stderr)


def main(description: str | None = __doc__, only: Sequence[str] = (), *, kills: int = 1200, races: int = 250) -> int:
    """Do as the command line says; return the exit status.

    Args:
        description: What the command does.
        only: Names of the scenarios to take when the command line names none; all of them without.
        kills: How many kills if it does not say.
        races: How many pairs of requests for each race.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=kills, help=f"kills in all ({kills})")
    parser.add_argument("--races", type=int, default=races, help=f"pairs of requests for each race ({races})")
    parser.add_argument("--seed", type=int, default=1, help="order in which kill points are taken (1)")
    parser.add_argument("--scenario", action="append", choices=[*_NAMES, *_RACE_NAMES], help="only this; repeatable")
    parser.add_argument("--only", type=Trial.parse, metavar="TRIAL", help="one trial that showed a fault")
    parser.add_argument("--workers", type=int, default=2, help="daemons at a time (2)")
    arguments = parser.parse_args()
    if arguments.only:
        return repeat(arguments.only)
    wanted = arguments.scenario or only or [*_NAMES, *_RACE_NAMES]
    names = [name for name in _NAMES if name in wanted]
    chosen_races = [race for race in RACES if race.name in wanted and arguments.races]
    began = time.monotonic()
    with Workers(arguments.workers) as workers:
        steps = dict(zip(names, workers.run(Bench.steps, names), strict=True))
        trials = [chosen for chosen in shared_out(steps, arguments.kills, arguments.seed).values() if chosen]
        rows = workers.run(killed, trials)
        rows += workers.run(lambda bench, race: run_race(bench, race, arguments.races), chosen_races)
    report(rows)
    print(f"\n{time.monotonic() - began:.0f} s")
    return 1 if any(row.faults for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
