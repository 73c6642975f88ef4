"""Undo by the command: what it takes back without being told, what it says of that, and what it lists."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.in_process import shelfd
from client.test_commands import Told
from running import Daemon

REPORT = {"content": "APT28 exploited CVE-2023-23397 in Norway. Sandworm deployed Industroyer.", "nugget": "rep"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("undoing")) as running:
        yield running


@pytest.fixture
def told(daemon: Daemon) -> Told:
    return Told(daemon)


def report(told: Told) -> str:
    """Have a report read; return the run."""
    return str(told.daemon.call("remember_report", shelf=told.shelf, **REPORT)["run_id"])


def superseded(told: Told) -> tuple[str, str, str]:
    """Have a note replace another one; return both, and the number to take that back."""
    old = told.id("Anna works at Acme.")
    lines = told.out("remember", "Anna works at Initech.", "--evolve").splitlines()
    new = lines[0].split()[0]
    assert lines[1] == f"superseded: {old}"
    number = lines[2].removeprefix("undo: shelfd undo ").removesuffix(f" --shelf {told.shelf}")
    return old, new, number


def visible(told: Told) -> set[str]:
    return {note["content"] for note in told.json("notes")["notes"]}


def test_a_supersession_that_is_newer_than_a_report_is_taken_back_first(told: Told) -> None:
    run_id = report(told)
    old, new, number = superseded(told)
    lines = told.out("undo", "--dry-run").splitlines()
    assert lines[0].startswith(f"would undo {number}: remember in memory: 1 note added, 1 superseded, 2")
    assert lines[1:] == [f"{new}  is hidden     Anna works at Initech.", f"{old}  counts again  Anna works at Acme."]
    taken = told.out("undo").splitlines()
    assert taken[0].split()[1:] == ["4", "undone,", "0", "kept"]
    assert taken[1].startswith("taken back: remember in memory: 1 note added, 1 superseded, 2")
    assert taken[1].endswith(f" ({number})")
    assert "superseded_by" not in told.json("note", old)["note"]
    assert len(visible(told)) == 3
    lines = told.out("undo", "--dry-run").splitlines()
    assert lines[0].startswith(f"would undo {run_id}: report into rep: 2 notes added, 2")
    assert [line.split()[1:3] for line in lines[1:]] == [["is", "hidden"]] * 2
    told.out("undo")
    assert visible(told) == {"Anna works at Acme."}
    assert told("undo").returncode == os.EX_NOINPUT


def test_what_a_number_has_taken_back_is_not_taken_back_by_asking_for_the_last(told: Told) -> None:
    run_id = report(told)
    old, _new, number = superseded(told)
    undone = told.out("undo", number).partition(":")[0]
    assert told.json("undo", "--dry-run")["run_id"] == run_id
    told.out("undo", undone)  # the supersession stands again
    assert told.json("undo", "--dry-run") == {
        **told.json("undo", number, "--dry-run"), "run_id": None, "tx": int(number), "undone": False,
    }  # fmt: skip
    told.out("restore", old)  # counts again by other means: nothing stands that could be taken back
    assert told.json("undo", "--dry-run")["run_id"] == run_id


def test_a_run_of_one_transaction_may_be_taken_back_by_its_number(told: Told) -> None:
    report(told)
    told.out("undo", "1")
    assert told("undo").returncode == os.EX_NOINPUT


def test_the_last_run_is_undone_and_not_an_undo(told: Told) -> None:
    assert told("undo").returncode == os.EX_NOINPUT
    notes = [told.id(f"number {number}", "--nugget", nugget) for number, nugget in enumerate(("a", "b"))]
    mine = ("--socket", told.daemon.socket, "--shelf", told.shelf)
    runs = [shelfd("nuggets", "clear", name, *mine).stdout.partition(":")[0] for name in ("a", "b")]
    told.out("reflect")  # finds nothing to change
    assert told.json("undo", "--dry-run")["run_id"] == runs[1]
    undone = told.out("undo").partition(":")[0]
    assert told.json("undo", "--dry-run")["run_id"] == runs[0]
    told.out("undo", undone)  # takes the undo back: the second clear holds again
    assert told.json("undo", "--dry-run")["run_id"] == runs[1]
    told.out("undo")
    told.out("undo")
    assert told("undo").returncode == os.EX_NOINPUT
    assert {note["id"] for note in told.json("notes")["notes"]} == set(notes)
    told.json("edit", notes[0], "changed")
    last = told.json("log", "-k", "1")["log"][0]["tx"]
    assert "says" not in told.out("undo", str(last), "--dry-run")
    assert f"{notes[0]}  is what it was before  changed\n" in told.out("undo", str(last), "--dry-run")
    assert "1 undone" in told.out("undo", str(last))
    assert told.json("note", notes[0])["note"]["content"] == "number 0"


def test_a_purge_is_not_what_the_last_run_is(told: Told) -> None:
    run_id = report(told)
    told.out("purge", told.id("a slip of the tongue"), "-y")
    assert told.json("undo", "--dry-run")["run_id"] == run_id


def test_a_number_within_a_transaction_leads_to_its_first(told: Told) -> None:
    *_, number = superseded(told)
    within = str(int(number) + 1)
    for more in ((), ("--dry-run",)):
        done = told("undo", within, *more)
        assert done.returncode == os.EX_NOINPUT
        assert f"change {within} is a part of transaction {number}: shelfd undo {number} --shelf" in done.stderr
    assert told("undo", "99999").returncode == told("undo", "99999", "--dry-run").returncode == os.EX_NOINPUT
    assert told("undo", "run-none", "--dry-run").returncode == os.EX_NOINPUT


def test_a_person_is_told_what_it_will_be_and_asked(told: Told) -> None:
    run_id = report(told)
    told.id("and something else")
    refused = told("undo", is_terminal=True, stdin=b"no\n")
    assert refused.returncode == os.EX_NOPERM
    assert "what was changed later stays; the last of it (remember): shelfd undo 4 --shelf" in refused.stderr
    assert "Take back report into rep: 2 notes added, 2" in refused.stderr
    assert len(visible(told)) == 3
    done = told("undo", is_terminal=True, stdin=b"yes\n")
    assert done.returncode == 0
    undone = done.stdout.partition(":")[0]
    assert visible(told) == {"and something else"}
    told.out("undo", undone)
    done = told("undo", "-y", is_terminal=True, stdin=b"")
    assert (done.returncode, "taking back report into rep" in done.stderr) == (0, True)
    assert run_id in done.stdout


def test_a_program_is_told_what_it_was(told: Told) -> None:
    run_id = report(told)
    result = told.json("undo")
    assert result["undone"] == 2
    about = result["taken_back"]
    assert (about["run_id"], about["tx"], about["method"], about["changes"]) == (run_id, None, "remember_report", 3)
    assert "taken_back" not in told.json("undo", result["run_id"])


def test_runs_lists_all_that_can_be_taken_back(told: Told) -> None:
    assert told.out("runs") == ""
    assert told("runs", is_terminal=True).stderr == "no runs yet\n"
    run_id = report(told)
    *_, number = superseded(told)
    undone = told.out("undo").partition(":")[0]
    rows = [line.split("  ") for line in told.out("runs").splitlines()]
    assert [[cell.strip() for cell in row if cell][1:] for row in rows] == [
        ["undo", f"uid:{os.getuid()}", "in memory: 1 note hidden, 1 changed", undone],
        ["remember", f"uid:{os.getuid()}", "in memory: 1 note added, 1 superseded, taken back", number],
        ["report", f"uid:{os.getuid()}", "into rep: 2 notes added", run_id],
    ]
    assert told.out("runs", "-k", "1").splitlines()[0].endswith(undone)
    found = told.json("runs")
    assert found["runs"] == []
    assert [(one["run_id"], one["tx"], one["undone"]) for one in found["undoable"]] == [
        (undone, None, False), (None, int(number), True), (run_id, None, False),
    ]  # fmt: skip
    assert told.out("runs", "--job", "reflection") == ""
    told.out("undo", undone)
    assert [one["undone"] for one in told.json("runs")["undoable"]] == [False, True, False, False]


def test_more_than_one_page_of_the_log_is_read(told: Told) -> None:
    run_id = report(told)
    many: list[Any] = [{"content": f"number {number}"} for number in range(2500)]
    told.daemon.call("remember_many", shelf=told.shelf, notes=many)
    assert told.json("undo", "--dry-run")["run_id"] == run_id
    assert told.json("undo", "4", "--dry-run")["changes"] == 2501  # with the nugget
    lines = told.out("undo", "4", "--dry-run").splitlines()
    assert (len(lines), lines[-1]) == (22, "and 2480 more notes")
    assert told.out("undo").splitlines()[0].endswith(": 2 undone, 0 kept")


def test_a_conflict_that_is_decided_says_how_to_decide_anew(told: Told, tmp_path: Path) -> None:
    told.id("Paul's blood type is A positive.")
    told.out("remember", "Paul's blood type is AB negative.", "--evolve")
    (conflict,) = told.json("conflicts")["conflicts"]
    mine = ("--socket", told.daemon.socket, "--shelf", told.shelf)
    resolve = ("conflicts", "resolve", conflict["id"], "--keep")
    assert shelfd(*resolve, "b", *mine).returncode == 0
    done = shelfd(*resolve, "a", *mine)
    assert done.returncode != 0
    number = json.loads(shelfd("undo", "--dry-run", "--json", *mine).stdout)["tx"]
    command = f"shelfd undo {number} --shelf {told.shelf}"
    assert f"it is resolved already: b; to decide anew, take that back first: {command}" in done.stderr
    told.out("undo", str(number))
    assert shelfd(*resolve, "a", *mine).returncode == 0
