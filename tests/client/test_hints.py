"""Messages of the daemon, which name methods, tell people which commands to type."""

from pathlib import Path

import pytest

from client.in_process import shelfd
from running import Daemon
from shelfd.client import hints
from shelfd.client.hints import as_commands

METHODS = Path(hints.__file__).parent / "completions" / "methods.txt"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("there is no conflict with this id; conflict.list has them", "…; `shelfd conflicts` has them"),
        ("note n is hidden; note.restore brings it back", "…; `shelfd restore` brings it back"),
        ("it is in quarantine; note.release takes it out", "…; `shelfd call note.release` takes it out"),
        ("the file shelf.db has an error", "the file shelf.db has an error"),
        ("there is no file job.list", "there is no file job.list"),
        ("nothing to do", "nothing to do"),
    ],
)
def test_what_to_do_is_said_as_a_command(message: str, expected: str) -> None:
    assert as_commands(message) == expected.replace("…", message.split(";", maxsplit=1)[0])


def test_every_method_that_is_said_as_a_command_is_one() -> None:
    methods = {line.split("\t")[0] for line in METHODS.read_text(encoding="utf-8").splitlines()}
    assert methods.issuperset((*hints._COMMANDS, *hints._CALLED))


def test_what_was_refused_tells_the_command(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        found = {"SHELFD_SOCKET": str(daemon.socket)}
        told = shelfd("conflicts", "resolve", "conflict-memory-1a2b3c4d", "--keep", "a", env=found)
        assert "`shelfd conflicts` has them" in told.stderr


@pytest.mark.parametrize("command", sorted(set(hints._COMMANDS.values())))
def test_every_command_is_one(command: str) -> None:
    assert shelfd(*command.split(" --", maxsplit=1)[0].split(), "-h").returncode == 0
