"""What simple arguments of `shelfd import` say: the same as the command line's library reads in them."""

from pathlib import Path

import pytest

from client.fake_daemon import FakeDaemon
from client.fresh_process import run_fresh
from client.in_process import shelfd
from client.test_import import answered
from client.test_note_lines import LINES
from shelfd.client import imports
from shelfd.client.imports import ImportOptions

SIMPLE = (
    ["a.jsonl"],
    ["a.jsonl", "b c/d", "a.jsonl"],
    ["a.jsonl", "--shelf", "work", "--json", "b", "--dry-run"],
    ["--socket", "/run/s", "-n", "garden", "ä=b"],
    ["--shelf", "one", "a", "--shelf", "two", "--nugget", "n", "-n", "m", "--json", "--json"],
)
OTHERS: tuple[list[str], ...] = (
    [], ["--json"], [""], ["a", ""], ["-"], ["a", "-"], ["a", "--", "b"], ["--", "-a"], ["a", "-x"], ["a", "--shelf"],
    ["a", "--shelf", ""], ["a", "--shelf", "-n"], ["a", "--shelf=work"], ["a", "--json=1"], ["a", "--no-json"],
    ["a", "--help"], ["-h"], ["a", "--format", "csv"], ["a", "--map", "text=content"], ["a", "--chat", "b"],
    ["a", "--extract"], ["a", "-ngarden"], ["a", "--she", "work"], ["a", "--socket", "--json"], ["--dry-runs", "a"],
)  # fmt: skip


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> list[ImportOptions]:
    found: list[ImportOptions] = []
    monkeypatch.setattr(imports, "take_in", found.append)
    return found


@pytest.mark.parametrize("arguments", SIMPLE, ids=" ".join)
def test_simple_arguments_say_what_the_library_reads_in_them(
    arguments: list[str], wanted: list[ImportOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shelfd("import", *arguments).returncode == 0
    monkeypatch.setattr(imports, "parse", lambda _arguments: None)
    assert shelfd("import", *arguments).returncode == 0
    assert wanted[0] == wanted[1]


@pytest.mark.parametrize("arguments", OTHERS, ids=" ".join)
def test_others_are_left_to_the_library(arguments: list[str]) -> None:
    assert imports.parse(arguments) is None


def test_a_simple_import_does_not_load_the_library(tmp_path: Path) -> None:
    snapshot = tmp_path / "notes.jsonl"
    snapshot.write_text("\n".join(LINES[:3]) + "\n", encoding="utf-8")
    with FakeDaemon(tmp_path / "s.sock", {"shelf.import": answered}) as daemon:
        ran = run_fresh("import", str(snapshot), "--socket", str(daemon.path))
    assert ran.modules.isdisjoint({"typer", "click", "inspect", "shelfd.client.application"})
    assert ran.stdout == "notes  3 created, 0 updated, 0 unchanged\n"
