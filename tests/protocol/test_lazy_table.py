"""The tables of methods: which module makes which is known before it is imported."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import shelfd.memory.methods
import shelfd.protocol.methods
from shelfd.memory.methods import USE_CASES
from shelfd.protocol import METHODS
from shelfd.protocol.lazy_table import LazyTable

REGISTERING = {"define", "_define", "_read", "change", "read", "job", "procedure"}


def makers(folder: Path) -> Iterator[str]:
    """The modules in *folder* that enter something into a table."""
    for path in folder.glob("*.py"):
        called = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if called & REGISTERING and path.stem != "registry":
            yield path.stem


@pytest.mark.parametrize(
    ("table", "package"),
    [(METHODS, shelfd.protocol.methods), (USE_CASES, shelfd.memory.methods)],
    ids=["protocol", "memory"],
)
def test_each_module_makes_what_its_table_says(table: LazyTable[object], package: object) -> None:
    assert set(table.modules()) == {f"{package.__name__}.{name}" for name in makers(Path(package.__path__[0]))}  # type: ignore[attr-defined]
    for name in table:
        assert table[name] is not None
    assert len(table) == sum(len(names) for names in table.modules().values())


def test_a_name_that_is_not_in_the_table_cannot_be_entered() -> None:
    table: LazyTable[int] = LazyTable("shelfd.protocol", {"base": "one"})
    with pytest.raises(ValueError, match="'two' is not in the table"):
        table["two"] = 2
    assert list(table) == ["one"]
    assert "two" not in table
    assert table.get("two") is None


def test_asking_for_a_name_imports_its_module_and_no_other() -> None:
    code = (
        "import sys\n"
        "from shelfd.protocol import METHODS\n"
        "assert 'note.search' in METHODS and METHODS.get('nothing') is None and len(list(METHODS)) > 100\n"
        "assert not any(name.startswith('shelfd.protocol.methods.') for name in sys.modules)\n"
        "assert METHODS['note.search'].name == 'note.search'\n"
        "print(*(name for name in sys.modules if name.startswith('shelfd.protocol.methods.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["shelfd.protocol.methods.search"]
