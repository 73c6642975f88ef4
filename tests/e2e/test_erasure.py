"""What is purged is gone, whenever the daemon is killed and whatever else is asked meanwhile.

A few of the kills that ``tests/erasure.py`` does by the hundred; ``--only`` repeats one that fails here.
"""

import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from erasing.derived import UNHURRIED
from erasing.house import House
from erasing.process import Stage
from erasing.races import RACES, Race, raced
from erasing.scenario import Scenario
from erasing.scenarios import SCENARIOS
from erasing.tracing import Tracer, end
from erasing.trials import Bench, Trial, killed_once, killed_twice

#: Trials of each scenario with one kill, and with two: 60 kills in all.
ONCE, TWICE = 1, 1
PAIRS = 8
SEED = 7
#: A process in which threads begin and end all the time.
RESTLESS = """
import threading
def begin_and_end():
    while True:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
for _ in range(4):
    threading.Thread(target=begin_and_end, daemon=True).start()
print(flush=True)
input()
"""
CHOSEN = [scenario for scenario in SCENARIOS if scenario not in UNHURRIED]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as process:
        yield process


@pytest.mark.component("ptrace")
@pytest.mark.parametrize("scenario", CHOSEN, ids=lambda scenario: scenario.name)
def test_a_kill_leaves_nothing_behind(stage: Stage, tmp_path: Path, scenario: type[Scenario]) -> None:
    bench = Bench(stage, tmp_path)
    steps, name = bench.steps(scenario.name), scenario.name
    trials = [*islice(killed_once(steps, name, SEED), ONCE), *islice(killed_twice(steps, name, SEED), TWICE)]
    outcomes = [bench.run(trial) for trial in trials]
    assert {f"{one.trial}, before {one.step}": one.faults for one in outcomes if one.faults} == {}


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.name)
def test_a_race_leaves_nothing_behind(stage: Stage, tmp_path: Path, race: type[Race]) -> None:
    assert raced(House(stage, tmp_path), race(), PAIRS) == {}


@pytest.mark.component("ptrace")
def test_a_daemon_is_killed_right_before_a_step(stage: Stage, tmp_path: Path) -> None:
    bench = Bench(stage, tmp_path)
    steps = bench.steps("promote-purge")
    rename = next(number for number, step in enumerate(steps, 1) if step.endswith("/MEMORY.md"))
    found = []
    for at in (rename, rename + 1):
        _, step = bench.kill(Trial("promote-purge", at, keyed=True))
        assert step.split()[0] == steps[at - 1].split()[0]
        found.append(b"the lamp" in bench.house.memory_file().read_bytes())
    assert found == [False, True]


@pytest.mark.component("ptrace")
def test_threads_that_begin_and_end_do_not_keep_a_process_from_being_held() -> None:
    for _ in range(40):
        command = [sys.executable, "-S", "-c", RESTLESS]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            tracer = Tracer(child.pid, Path("/"), None)
            tracer.attach()
            end(child, tracer)


def test_every_secret_would_be_found(stage: Stage, tmp_path: Path) -> None:
    house = House(stage, tmp_path)
    for scenario in (kind() for kind in SCENARIOS):
        house.clear()
        house.environment = scenario.environment
        house.start()
        scenario.furnish(house)
        house.stop()
        assert {word for word, _ in house.find(scenario.secrets)} == scenario.secrets.keys(), scenario.name
