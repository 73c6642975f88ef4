"""What pages with real output share: commands are run in one shell, and what they print is what the page shows."""

import argparse
import difflib
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

_LONGEST_S = 300
_END = b"__end__\n"
#: What may differ from run to run, and what it counts as.
_VARYING = (
    (r"\b(fact|note|conflict)-([\w-]+)-[0-9a-f]{8}\b", r"\1-\2-ID"),
    (r"\brun-[0-9a-f]{12}\b", "run-ID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r"up \d+ s", "up SPAN"),
    (r'"(version|python|sqlite)":"[^"]*"', r'"\1":"VERSION"'),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
)


class Step(NamedTuple):
    """One command, what is said before it, and whether it goes on in the background."""

    prose: str
    command: str
    in_background: bool = False


class Shell:
    """One bash in a directory, which keeps its variables and jobs from command to command.

    Use as a context manager: on exit the shell ends, and everything it has started.
    """

    def __init__(self, directory: Path, environment: Mapping[str, str], *, patience_s: float = _LONGEST_S) -> None:
        """Start it.

        Args:
            environment: What configures a daemon is left out of it.
            patience_s: How long a command may take.
        """
        kept = {name: value for name, value in environment.items() if not name.startswith(("SHELFD", "XDG_", "MAKE"))}
        self._directory = directory
        self._patience_s = patience_s
        self._started: list[tuple[str, Path]] = []
        self._bash = subprocess.Popen(
            ["bash"], cwd=directory, env={**kept, "HOME": str(directory)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
        )  # fmt: skip
        self._say("set -m")  # jobs that can be named and have a process group, as on a terminal

    def run(self, command: str) -> str:
        """Run *command* and return what it printed."""
        self._say(f"{{ {command}\n}} 2>&1 < /dev/null\necho {_END.decode().strip()}")
        stdout = self._bash.stdout
        assert stdout is not None
        printed = b""
        while not printed.endswith(_END):
            readable, _, _ = select.select([stdout], [], [], self._patience_s)
            piece = os.read(stdout.fileno(), 65536) if readable else b""
            if not piece:
                raise TimeoutError(f"does not end:\n{command}\n{printed.decode(errors='replace')}")
            printed += piece
        return printed.removesuffix(_END).decode()

    def start(self, command: str) -> Path:
        """Start *command* in the background and return the file that what it prints goes to."""
        output = self._directory / f".started-{len(self._started)}"
        # In place of the shell that would wait for it, where it is one command: its end is the job's end.
        instead = "" if re.search(r"[\n;|&=]", command.replace("2>&1", "")) else "exec "
        self._say(f"{{ {instead}{command}\n}} > {output.name} 2>&1 < /dev/null &")
        self._started.append((command, output))
        return output

    def wait_for(self, output: Path, condition: Callable[[str], bool]) -> str:
        """Wait until what was printed there fulfils *condition*, and return it."""
        deadline = time.monotonic() + self._patience_s
        text = ""
        while not (text.endswith("\n") and condition(text)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not what was waited for:\n{text}")
            time.sleep(0.1)
            text = output.read_text(encoding="utf-8") if output.exists() else ""
        return text

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stdin = self._bash.stdin
        assert stdin is not None
        try:
            # Whole process groups, to the last one of them: a daemon ends after the make that has started it.
            self._say("groups=$(jobs -p); for group in $groups; do kill -- -$group; done 2> /dev/null; wait")
            self._say("for group in $groups; do while kill -0 -- -$group; do sleep 0.1; done; done 2> /dev/null; exit")
            stdin.close()
            self._bash.wait(timeout=_LONGEST_S)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._bash.kill()
            self._bash.wait()
        finally:
            if self._bash.stdout is not None:
                self._bash.stdout.close()

    def _say(self, line: str) -> None:
        assert self._bash.stdin is not None
        self._bash.stdin.write(line.encode() + b"\n")


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
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    try:
        # A page on a long conversation takes its time.
        with Shell(directory, {**os.environ, "PATH": path}, patience_s=3600) as shell:
            return [_run(shell, step).replace(str(directory), "~/walk") for step in steps]
    finally:
        shutil.rmtree(directory)


def _run(shell: Shell, step: Step) -> str:
    if not step.in_background:
        return shell.run(step.command)
    output = shell.start(step.command)
    if step.command.startswith("shelfd run"):
        return shell.wait_for(output, lambda text: "READY" in text)
    time.sleep(4)  # until it listens; a page is not in a hurry
    return ""


def page(introduction: str, steps: Sequence[Step], outputs: Sequence[str]) -> str:
    """The page: prose, command, output."""
    parts = [introduction]
    for step, output in zip(steps, outputs, strict=True):
        shown = "\n".join(
            f"$ {line}" if number == 0 else f"> {line}" for number, line in enumerate(step.command.split("\n"))
        )
        background = " &" if step.in_background else ""
        text = re.sub(r"/\S*/\.venv/bin/", "", output.rstrip())
        text = re.sub(r"\{ (?:exec )?(.*?);? \} > \.started-\d+ 2>&1 < /dev/null", r"\1", text)
        block = f"```console\n{shown}{background}\n{text}".rstrip()
        parts.append(f"{step.prose}\n\n{block}\n```\n" if step.prose else f"{block}\n```\n")
    return "\n".join(parts)


def said_to_check(description: str | None) -> bool:
    """Read a command line that has ``--check`` or nothing; return whether it has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if the page is out of date")
    return bool(parser.parse_args().check)


def publish(path: Path, new: str, *, check: bool) -> int:
    """Write the page, or with *check* compare it; return the status to end with."""
    if not check:
        path.write_text(new, encoding="utf-8")
        print(f"wrote {path}")
        return 0
    old = path.read_text(encoding="utf-8")
    compared = [normalised(text).splitlines() for text in (old, new)]
    difference = list(difflib.unified_diff(*compared, path.name, "run", n=2, lineterm=""))
    print("\n".join(difference) if difference else f"{path.name}: is right")
    return 1 if difference else 0


def normalised(text: str) -> str:
    """Return *text* without what differs from run to run."""
    for pattern, instead in _VARYING:
        text = re.sub(pattern, instead, text)
    return text
