"""The table of commands: each is loaded only when it is asked for, and is what the table says of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import FakeDaemon, note
from client.fresh_process import run_fresh
from client.in_process import shelfd
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
        ran = run_fresh("remember", "x", "--socket", str(daemon.path))
    assert ran.modules & HEAVY == set()
    commands = {name.rpartition(".")[2] for name in ran.modules if name.startswith("shelfd.client.commands.")}
    assert commands == {"remembering", "options"}


# ------------------------------------------------------------------ one thing by each option


def every() -> Iterator[tuple[str, Any]]:
    """Every command, loaded, and what is typed for it."""
    for entry in COMMANDS:
        command = LazyCommand(entry).load()
        yield entry.name, command
        for name, inner in getattr(command, "commands", {}).items():
            yield f"{entry.name} {name}", inner


def flags_of(command: Any) -> dict[str, Any]:
    return {flag: param for param in command.params if param.param_type_name == "option" for flag in param.opts}


#: Commands that ask no daemon.
ALONE = ("run", "setup", "help", "completion", "config", "mcp")


TWINS = {"-k": "--limit", "-n": "--nugget", "-t": "--tag", "-y": "--yes", "-F": "--file", "-a": "--all",
         "-c": "--count", "-d": "--depth", "-f": "--format"}  # fmt: skip


def odd(name: str, command: Any) -> Iterator[str]:
    """What is not as everywhere in one command."""
    flags = flags_of(command)
    for flag, param in flags.items():
        if len(flag) == 2 and TWINS.get(flag) not in param.opts:
            yield f"{flag} of {name} means something else elsewhere"
    for short in ("-k", "-n"):
        if TWINS[short] in flags and short not in flags[TWINS[short]].opts:
            yield f"{TWINS[short]} of {name} has no {short}"
    if name not in ("session", "config") and name.partition(" ")[0] not in ALONE:
        yield from (f"{name} has no {flag}" for flag in ("--socket", "--json") if flag not in flags)
    if not command.help or not all(param.help or param.metavar for param in command.params):
        yield f"{name} does not explain itself"


def test_each_option_means_one_thing_whatever_the_command() -> None:
    assert [complaint for name, command in every() for complaint in odd(name, command)] == []


def test_the_list_of_commands_is_in_the_help() -> None:
    shown = shelfd("help").stdout
    assert all(f"\n  {entry.name} " in shown for entry in COMMANDS)
    assert shelfd("help", "session", "rewind").stdout == shelfd("session", "rewind", "-h").stdout
    assert "Usage: shelfd remember [OPTIONS] [TEXT]..." in shelfd("help", "remember").stdout
    assert shelfd("help", "remember", "more").returncode == os.EX_USAGE


@pytest.mark.parametrize(
    ("tried", "meant"),
    [
        ("add", "remember"), ("search", None), ("list", "notes"), ("get", "note"), ("delete", "forget"),
        ("rm", "forget"), ("find", "recall"), ("ls", "notes"), ("topics", "nuggets"), ("start", "run"),
        ("version", "--version"), ("remeber", "remember"), ("recal", "recall"), ("STATUS", "status"),
        ("stop", "systemctl stop shelfd"), ("what is tea", "recall TEXT"), ("xyzzy", "-h shows"),
        ("\x1b[2Jx", "-h shows"),
    ],
)  # fmt: skip
def test_a_word_that_is_no_command_is_answered_with_the_one_that_is_meant(tried: str, meant: str | None) -> None:
    done = shelfd(tried)
    assert done.returncode == os.EX_USAGE
    assert "\x1b" not in done.stderr
    if meant is not None:
        assert f"{meant}" in done.stderr.splitlines()[-1]
        assert "there is no command" in done.stderr or "is no command" in done.stderr


def test_commands_inside_others_are_suggested_too() -> None:
    assert "did you mean shelfd session rewind?" in shelfd("session", "rewnd").stderr
