"""The table of commands: each is loaded only when it is asked for, and is what the table says of it."""

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
