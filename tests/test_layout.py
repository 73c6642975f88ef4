"""The layout holds: one namespace package in eight folders, and nothing that hides a part of it.

Looks at the file system before it imports anything of ours, because a stray ``__init__.py`` would make the imports of
every other test fail for reasons hard to guess.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
COMPONENTS = ("protocol", "memory", "storage", "gateway", "scheduler", "models", "daemon", "client")


@pytest.mark.parametrize("component", COMPONENTS)
def test_no_portion_of_the_namespace_hides_the_others(component: str) -> None:
    portion = CHECKOUT / component / "shelfd"
    assert not (portion / "__init__.py").exists(), f"remove {component}/shelfd/__init__.py"
    assert [path.name for path in portion.iterdir() if not path.name.startswith("__")] == [component]


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_has_a_face_types_and_a_page(component: str) -> None:
    package = CHECKOUT / component / "shelfd" / component
    assert "__all__" in (package / "__init__.py").read_text(encoding="utf-8")
    assert (package / "py.typed").exists()
    assert (CHECKOUT / component / "README.md").stat().st_size > 200


def test_what_the_owner_asked_for_is_at_the_top() -> None:
    for name in ("pyproject.toml", "daemon", "gateway", "scheduler", "storage", "tests", "systemd", "config"):
        assert (CHECKOUT / name).exists(), name


def test_all_components_import_together() -> None:
    names = ", ".join(f"shelfd.{component}" for component in COMPONENTS)
    subprocess.run([sys.executable, "-c", f"import {names}"], check=True, cwd="/")


@pytest.mark.parametrize("path", sorted(CHECKOUT.glob("*/shelfd/**/*.py")), ids=str)
def test_modules_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function's body has, its docstring left out."""
    first = function.body[0]
    begin = first.end_lineno if ast.get_docstring(function) is not None else first.lineno - 1
    assert begin is not None
    assert function.end_lineno is not None
    return function.end_lineno - begin


@pytest.mark.parametrize("path", sorted(CHECKOUT.glob("*/shelfd/**/*.py")), ids=str)
def test_functions_stay_small(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert {each.name: lines for each in functions if (lines := lines_of(each)) > 55} == {}


def test_the_name_of_a_class_stands_for_one_thing() -> None:
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for path in CHECKOUT.glob("*/shelfd/**/*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(path.relative_to(CHECKOUT)))
    shared = {name: sorted(paths) for name, paths in modules.items() if len(paths) > 1}
    assert not shared
