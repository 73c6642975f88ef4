"""What ``make`` may delete."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
REMEMBERED = Path(".run") / "shelves" / "default" / "shelf.db"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    for path in (REMEMBERED, Path(".venv") / "pyvenv.cfg", Path("dist") / "wheel"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    return tmp_path


def make(tree: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments], cwd=tree, stdin=stdin, env=environment, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip


def on_a_terminal(tree: Path, answer: str) -> subprocess.CompletedProcess[str]:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode() + b"\n")
        return make(tree, "distclean", stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)


def test_clean_keeps_what_was_remembered(tree: Path) -> None:
    assert make(tree, "clean").returncode == 0
    assert (tree / REMEMBERED).exists()
    assert not (tree / ".venv").exists()


def test_distclean_deletes_nothing_when_there_is_nobody_to_ask(tree: Path) -> None:
    done = make(tree, "distclean")
    assert done.returncode != 0
    assert "make distclean CONFIRM=yes" in done.stderr
    assert (tree / REMEMBERED).exists()
    assert (tree / ".venv").exists()


def test_distclean_asks_and_takes_no_for_an_answer(tree: Path) -> None:
    assert on_a_terminal(tree, "y").returncode != 0
    assert (tree / REMEMBERED).exists()


def test_distclean_deletes_everything_when_told_so(tree: Path) -> None:
    done = on_a_terminal(tree, "yes")
    assert done.returncode == 0, done.stderr
    assert "everything remembered" in done.stdout
    assert sorted(path.name for path in tree.iterdir()) == ["Makefile"]


def test_distclean_may_be_confirmed_beforehand(tree: Path) -> None:
    assert make(tree, "distclean", "CONFIRM=yes").returncode == 0
    assert sorted(path.name for path in tree.iterdir()) == ["Makefile"]


def test_make_without_a_word_says_what_there_is() -> None:
    done = make(CHECKOUT)
    assert done.returncode == 0, done.stderr
    said = {line.split()[0] for line in done.stdout.splitlines()}
    (phony,) = [line for line in (CHECKOUT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:")]
    assert said == set(phony.split()[1:])
