"""A tree as a terminal shows it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shelfd.client.output import width
from shelfd.client.streams import is_unicode


class Branch(NamedTuple):
    """A line, and what hangs from it."""

    said: str
    branches: Sequence["Branch"] = ()


def print_tree(tree: Branch) -> None:
    """Print a tree, each line cut at the terminal's edge. Its lines hold nothing that steers a terminal."""
    marks = ("├─ ", "└─ ", "│  ") if is_unicode() else ("|- ", "`- ", "|  ")
    columns = width()
    for line in _lines(tree, marks):
        print(line if len(line) <= columns else f"{line[: columns - 1]}…")


def _lines(tree: Branch, marks: tuple[str, str, str]) -> Iterator[str]:
    yield tree.said
    inner, last, beside = marks
    for number, branch in enumerate(tree.branches, 1):
        is_last = number == len(tree.branches)
        for at, line in enumerate(_lines(branch, marks)):
            yield (last if is_last else inner) + line if at == 0 else ("   " if is_last else beside) + line
