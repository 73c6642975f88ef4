"""The tables of Nuggets', Luker's and ZettelForge's cases name tests that are there."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
LUKER = (HERE / "luker.md").read_text(encoding="utf-8")
ZETTELFORGE = (HERE / "zettelforge.md").read_text(encoding="utf-8")
PAGE = (HERE / "README.md").read_text(encoding="utf-8") + LUKER + ZETTELFORGE
TESTS = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
FILES = re.findall(r"`((?:tests|benchmarks)/[\w/]+(?:\.py)?)`", PAGE)


def test_the_table_is_not_empty() -> None:
    assert len(TESTS) > 150


def test_each_of_the_21_weaknesses_has_a_test() -> None:
    assert [int(number) for number in re.findall(r"^\| (\d+) ", LUKER, re.MULTILINE)] == list(range(1, 22))


def test_each_of_the_22_gaps_is_there() -> None:
    assert [int(number) for number in re.findall(r"^\| (\d+) ", ZETTELFORGE, re.MULTILINE)] == list(range(1, 23))


def test_each_test_of_zettelforge_stands_in_the_table() -> None:
    named = {name for _, name in TESTS}
    there = {name for file in HERE.glob("test_zettelforge_*.py") for name in functions_of(file) if name[:5] == "test_"}
    assert there - named == set()


def functions_of(file: Path) -> set[str]:
    """The names of what *file* defines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


@pytest.mark.parametrize(("file", "name"), sorted(set(TESTS)))
def test_a_named_test_is_there(file: str, name: str) -> None:
    assert name in functions_of(CHECKOUT / file)


@pytest.mark.parametrize("path", sorted(set(FILES)))
def test_a_named_file_is_there(path: str) -> None:
    assert (CHECKOUT / path).exists()
