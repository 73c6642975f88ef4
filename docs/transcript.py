"""What pages with real output share: commands are run in one shell, and what they print is what the page shows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LONGEST_START_S = 30


class Step(NamedTuple):
    """One command, what is said before it, and whether it goes on in the background."""

    prose: str
    command: str
    in_background: bool = False


def run(steps: Sequence[Step], files: Mapping[str, str | Path]) -> list[str]:
    """Run every command in one shell and a directory of its own; return what each printed.

    Args:
        files: By name what lies in the directory at first: a text, or a file to copy.
    """
    directory = Path(tempfile.mkdtemp(prefix="walk-"))
    for name, content in files.items():
        if isinstance(content, Path):
            shutil.copy(content, directory / name)
        else:
            (directory / name).write_text(content, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHELFD")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(directory)}
    shell = subprocess.Popen(
        ["bash"], cwd=directory, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert shell.stdin is not None
    shell.stdin.write("set -m\n")  # jobs that can be named, as on a terminal
    try:
        return [_run(shell, step, directory) for step in steps]
    finally:
        _end(shell)
        shutil.rmtree(directory)


def _end(shell: "subprocess.Popen[str]") -> None:
    """End the shell and what it has started."""
    assert shell.stdin is not None
    try:
        shell.stdin.write("kill $(jobs -p) 2> /dev/null; wait; exit\n")
        shell.stdin.close()
        shell.wait(timeout=_LONGEST_START_S)
    except (BrokenPipeError, subprocess.TimeoutExpired):
        shell.kill()
        shell.wait()


def _run(shell: "subprocess.Popen[str]", step: Step, directory: Path) -> str:
    assert shell.stdin is not None
    assert shell.stdout is not None
    if step.in_background:
        return _start(shell, step, directory).replace(str(directory), "~/walk")
    shell.stdin.write(f"{{ {step.command}\n}} 2>&1\necho __end__\n")
    shell.stdin.flush()
    lines = []
    while (line := shell.stdout.readline()) and line != "__end__\n":
        lines.append(line)
    return "".join(lines).replace(str(directory), "~/walk")


def _start(shell: "subprocess.Popen[str]", step: Step, directory: Path) -> str:
    """Start a command that goes on; return what a daemon says when it is ready."""
    assert shell.stdin is not None
    is_daemon = step.command.startswith("shelfd run")
    target = "ready" if is_daemon else "/dev/null"
    command = step.command if "> events" in step.command else f"{step.command} > {target}"
    shell.stdin.write(f"{command} &\n")
    shell.stdin.flush()
    if not is_daemon:
        time.sleep(4)  # until it listens; a page is not in a hurry
        return ""
    ready = directory / "ready"
    deadline = time.monotonic() + _LONGEST_START_S
    while time.monotonic() < deadline:
        if ready.exists() and ready.read_text(encoding="utf-8").count("\n") >= 4:  # READY and what to paste
            break
        time.sleep(0.1)
    return ready.read_text(encoding="utf-8")


def page(introduction: str, steps: Sequence[Step], outputs: Sequence[str]) -> str:
    """The page: prose, command, output."""
    parts = [introduction]
    for step, output in zip(steps, outputs, strict=True):
        shown = "\n".join(
            f"$ {line}" if number == 0 else f"> {line}" for number, line in enumerate(step.command.split("\n"))
        )
        background = " &" if step.in_background else ""
        text = re.sub(r"/\S*/\.venv/bin/", "", output.rstrip())
        block = f"```console\n{shown}{background}\n{text}".rstrip()
        parts.append(f"{step.prose}\n\n{block}\n```\n" if step.prose else f"{block}\n```\n")
    return "\n".join(parts)
