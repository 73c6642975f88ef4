"""Holds README.md to what it says: every command in it is run, and what follows it is what came of it.

The page is its own source. A block marked ``sh`` is run in one bash, one after another, in a copy of this checkout; a
``python`` block is run by Python. A ``text`` block behind either is its output. A comment before a block says more:

    <!-- goes on -->         it is run in the background, as in a second terminal
    <!-- needs: socat -->    it is left out where this command is not installed
    <!-- not run -->         it would change the machine

Run: ``python docs/readme.py`` to write the outputs anew, with ``--check`` to compare them, but for what differs each
time: ids, times, versions.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from transcript import Shell, publish

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "README.md"
SHOWN_AS = "/home/ada/shelfd"

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>.*?) -->\n)?```(?P<kind>sh|python)\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?",
    re.DOTALL,
)


class Block(NamedTuple):
    """Commands on the page and what it shows as their output, None if nothing."""

    mark: str
    kind: str
    code: str
    output: str | None

    @property
    def is_run(self) -> bool:
        """Whether it is run on this machine."""
        needed = self.mark.removeprefix("needs: ") if self.mark.startswith("needs: ") else None
        return self.mark != "not run" and (needed is None or shutil.which(needed) is not None)


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of *page* that hold commands."""
    for found in _BLOCK.finditer(page):
        yield Block(found["mark"] or "", found["kind"], found["code"], found["output"])


def run(wanted: Sequence[Block]) -> list[str | None]:
    """Run the blocks in order; return what each printed, None for those that are not run."""
    directory = Path(tempfile.mkdtemp(prefix="readme-"))
    try:
        tree = _copy(directory / "shelfd")
        environment = {**os.environ, "TZ": "Etc/UTC", "LC_ALL": "C.UTF-8"}
        with Shell(tree, environment) as shell:
            started: dict[int, Path] = {}
            outputs = [_run(shell, block, number, started) for number, block in enumerate(wanted)]
            for number, file in started.items():
                if outputs[number] is None:  # it was still to come
                    outputs[number] = shell.wait_for(file, bool)
        return [None if output is None else _shown(output, tree) for output in outputs]
    finally:
        shutil.rmtree(directory)


def _copy(tree: Path) -> Path:
    """Make a tree that looks like a checkout, with what this one has installed, and without what it remembers."""
    tree.mkdir()
    for entry in CHECKOUT.iterdir():
        if entry.name not in (".run", ".git"):
            (tree / entry.name).symlink_to(entry)
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from nuggets_files import write_home  # files of another memory, for the example that imports them

    write_home(tree / ".nuggets")  # the shell's home is the tree
    return tree


def _run(shell: Shell, block: Block, number: int, started: dict[int, Path]) -> str | None:
    if not block.is_run:
        return None
    if block.mark != "goes on":
        return shell.run(block.code if block.kind == "sh" else f"python - << 'END'\n{block.code}END")
    file = started[number] = shell.start(block.code)
    if "make run" in block.code:
        printed = shell.wait_for(file, lambda text: "READY" in text)
        # What make and the log say around it is not what the page is about.
        lines = printed[printed.index("READY") :].splitlines()
        return "\n".join(line for line in lines if not line.startswith("{"))
    time.sleep(6)  # until it listens, on a busy machine, too
    return None


def _shown(output: str, tree: Path) -> str:
    text = output.replace(str(tree), SHOWN_AS).replace(str(CHECKOUT), SHOWN_AS)
    return re.sub(r"\buid:\d+", "uid:1000", text)


def written(page: str, outputs: Sequence[str | None]) -> str:
    """Return *page* with these outputs."""
    remaining = iter(outputs)

    def block(found: re.Match[str]) -> str:
        output = next(remaining)
        if output is None or found["output"] is None:
            return found[0]
        start, end = (found.start("output") - found.start(), found.end("output") - found.start())
        return f"{found[0][:start]}{output.rstrip()}\n{found[0][end:]}"

    return _BLOCK.sub(block, page)


def main() -> int:
    """Run everything and write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if the page is out of date")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = list(blocks(page))
    left_out = [block.mark for block in wanted if block.mark.startswith("needs: ") and not block.is_run]
    if left_out and (not arguments.check or os.environ.get("CI")):
        print(f"not installed here: {', '.join(sorted(set(left_out)))}", file=sys.stderr)
        return 1
    new = written(page, run(wanted))
    ran = sum(block.is_run for block in wanted)
    print(f"{ran} of {len(wanted)} blocks were run")
    return publish(PAGE, new, check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
