"""The table of commands: each is loaded only when it is asked for, and is what the table says of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from client.fake_daemon import FakeDaemon, note
from shelfd.client.application import COMMANDS, CommandEntry, LazyCommand

REMEMBERED = {"note": note(), "status": "created", "superseded": [], "conflicts": [], "pending": []}
#: What would cost a command more than it may take.
HEAVY = {
    "asyncio", "numpy", "paho", "pydantic", "pydantic_core", "rich", "sqlite3", "ssl", "structlog", "shelfd.daemon",
    "shelfd.protocol",
}  # fmt: skip


def completed(words: str) -> list[str]:
    """What a shell is offered for the last of *words*."""
    environment = {**os.environ, "_SHELFD_COMPLETE": "complete_bash", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split()) - 1)}  # fmt: skip
    code = "from shelfd.client.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout.split()


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_a_command_is_what_the_table_says_of_it(entry: CommandEntry) -> None:
    assert LazyCommand(entry).load().get_short_help_str(limit=1000) == entry.summary


def test_a_command_loads_itself_and_nothing_heavy(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path / "s.sock", {"remember": REMEMBERED}) as daemon:
        code = (
            "import sys\n"
            f"sys.argv = ['shelfd', 'remember', 'x', '--socket', {str(daemon.path)!r}]\n"
            "from shelfd.client.cli import main\n"
            "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
            "print(*sys.modules, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stderr.split())
    assert loaded & HEAVY == set()
    commands = {name.rpartition(".")[2] for name in loaded if name.startswith("shelfd.client.commands.")}
    assert commands == {"remembering", "options"}


def test_a_shell_completes_commands_and_their_options() -> None:
    assert completed("shelfd rem") == ["remember"]
    assert completed("shelfd session rew") == ["rewind"]
    assert "--session" in completed("shelfd remember --se")
