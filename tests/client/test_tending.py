"""The commands on what the daemon does by itself, against canned answers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import FakeDaemon, rpc_error
from client.in_process import shelfd
from client.test_cli import ran
from shelfd.client.commands.jobs import how_far

RUN: dict[str, Any] = {
    "job": "reflection", "shelf": "default", "slot": "2026-01-31T09:00 Europe/Berlin", "reason": "cron",
    "planned_at": "2026-01-31T08:00:00Z", "started_at": "2026-01-31T08:00:00.123Z",
    "finished_at": "2026-01-31T08:00:01.5Z", "status": "done", "run_id": "run-1", "attempts": 1,
}  # fmt: skip
REFLECTED: dict[str, Any] = {
    "run_id": "run-1", "ran_at": "2026-01-31T09:00:00Z", "inspected": 10, "rewritten": 1, "merged": 0, "hidden": 0,
    "tagged": 1, "linked": 0, "remaining": 35, "changes": [
        {"type": "rewrite", "nugget": "project", "note_id": "note-1", "detail": "two lines\nto one\x1b[2J"},
        {"type": "tag", "nugget": "home", "note_id": "note-22", "detail": "kettle"},
    ],
}  # fmt: skip
JOB: dict[str, Any] = {
    "id": "job-1", "kind": "hide", "note_ids": [], "nugget": "home", "state": "running", "attempts": 0,
    "progress": {"done": 50, "total": 100}, "run_id": "run-1", "method": "nugget.clear",
    "created_at": "2026-01-31T09:00:00Z", "updated_at": "2026-01-31T09:00:01Z",
}  # fmt: skip
PROMOTED = {
    "added": 2, "updated": 1, "removed": 0, "fell_out": 3, "path": "/data/MEMORY.md",
    "sections": {"Preferences": 2, "Projects": 11},
}  # fmt: skip
PAST: dict[str, Any] = {
    "runs": [
        {**dict.fromkeys(("rewritten", "merged", "hidden", "tagged", "linked"), 0), "run_id": "run-2",
         "ran_at": "2026-02-01T09:00:00Z", "nugget": None, "principal": "uid:1000", "inspected": 0, "changes": []},
        {**{name: REFLECTED[name] for name in ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")},
         "run_id": "run-1", "ran_at": REFLECTED["ran_at"], "nugget": None, "principal": "scheduler",
         "changes": [{"type": "tag", "nugget": "home", "note_id": "note-22"}], "undone_by": "run-3"},
    ]
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "reflection.history": PAST,
    "reflection.undo": {
        "run_id": "run-3", "undone": 4, "kept": [{"note_id": "note-1", "field": "content", "why": "later_run"}],
    },
    "reflect": REFLECTED,
    "promote": PROMOTED,
    "job.list": {"jobs": [
        JOB, {**JOB, "id": "job-0", "kind": "undo", "state": "dead", "error": "KeyError", "progress": {"done": 3}},
    ]},
    "job.get": {"job": JOB},
    "job.retry": {"job": {**JOB, "state": "queued"}},
    "job.cancel": {"job": {**JOB, "state": "failed", "error": "Cancelled"}},
    "scheduler.jobs": {"jobs": [
        {"job": "reflection", "shelf": "default", "cron": "0 9 * * *", "tz": "Europe/Berlin",
         "next_at": "2026-02-01T08:00:00Z", "last": RUN},
        {"job": "promotion", "shelf": "default", "cron": "0 9 * * *", "tz": "Europe/Berlin", "next_at": None,
         "last": None},
    ]},
    "scheduler.history": {"runs": [
        RUN, {**RUN, "status": "failed", "error": "StoreBusy", "reason": "manual", "run_id": "run-0"},
        {**RUN, "status": "running", "finished_at": None, "run_id": "run-2"},
    ]},
    "get_stats": {"last_seq": 0},
}  # fmt: skip


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "s.sock", ANSWERS) as fake:
        yield fake


def test_reflect_reports_what_it_did(daemon: FakeDaemon) -> None:
    assert ran(daemon, "reflect").splitlines() == [
        "run-1: 10 inspected, 1 rewritten, 0 merged, 0 hidden, 1 tagged, 0 linked, 35 remaining",
        "rewrite  project  note-1   two lines to one\N{REPLACEMENT CHARACTER}[2J",
        "tag      home     note-22  kettle",
    ]
    assert daemon.params("reflect") == {"shelf": "default"}


def test_reflect_takes_its_options(daemon: FakeDaemon) -> None:
    daemon.answers["reflect"] = {**REFLECTED, "run_id": None, "changes": []}
    options = ("--nugget", "project", "--limit", "5", "--dry-run", "--shelf", "work")
    assert ran(daemon, "reflect", *options).startswith("dry run: 10 inspected")
    assert daemon.params("reflect") == {"nugget": "project", "limit": 5, "dry_run": True, "shelf": "work"}


def test_promote_reports_file_and_sections(daemon: FakeDaemon) -> None:
    assert ran(daemon, "promote").splitlines() == [
        "/data/MEMORY.md: 2 added, 1 updated, 0 removed, 3 fell out",
        "  Preferences  2",
        "  Projects     11",
    ]
    assert daemon.params("promote") == {"shelf": "default"}


def test_promote_without_a_file_says_why(daemon: FakeDaemon) -> None:
    daemon.answers["promote"] = {**PROMOTED, "path": None, "reason": "no such project", "sections": {}}
    assert ran(daemon, "promote", "--dry-run").startswith("nothing written (no such project): dry run, 2 added")
    assert daemon.params("promote") == {"dry_run": True, "shelf": "default"}


def test_a_project_is_named_from_here(daemon: FakeDaemon, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "shelfd.client", "promote", "--project", "../x", "--socket", str(daemon.path)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert daemon.params("promote")["project"] == str(tmp_path.parent / "x")


def test_jobs_say_how_far_they_are(daemon: FakeDaemon) -> None:
    assert ran(daemon, "jobs", "--unfinished", "--limit", "5").splitlines() == [
        "2026-01-31 10:00:00+01:00  job-1  hide  running          50/100  home",
        "2026-01-31 10:00:00+01:00  job-0  undo  dead (KeyError)  3       home",
    ]
    assert daemon.params("job.list") == {"limit": 5, "unfinished": True, "shelf": "default"}


def test_of_a_thousand_notes_a_job_names_three(daemon: FakeDaemon) -> None:
    ids = [f"note-{number}" for number in range(1000)]
    daemon.answers["job.list"] = {"jobs": [{**JOB, "nugget": None, "note_ids": ids}]}
    daemon.answers["job.get"] = {"job": {**JOB, "nugget": None, "note_ids": ids}}
    assert ran(daemon, "jobs").endswith("note-0, note-1, note-2 and 997 more\n")
    assert "note_ids    note-0, note-1, note-2 and 997 more\n" in ran(daemon, "jobs", "get", "job-1")
    assert json.loads(ran(daemon, "jobs", "--json"))["jobs"][0]["note_ids"] == ids
    daemon.answers["job.list"] = {"jobs": [{**JOB, "nugget": None, "note_ids": ids[:3]}]}
    assert ran(daemon, "jobs").endswith("  note-0, note-1, note-2\n")


@pytest.mark.parametrize("what", ["get", "retry", "cancel"])
def test_a_job_is_looked_at_begun_again_and_ended(daemon: FakeDaemon, what: str) -> None:
    lines = ran(daemon, "jobs", what, "job-1").splitlines()
    assert [line.split(None, 1) for line in lines if line.split()[0] in ("id", "progress", "created_at")] == [
        ["id", "job-1"], ["progress", "50/100"], ["created_at", "2026-01-31 10:00:00+01:00"],
    ]  # fmt: skip
    assert daemon.params(f"job.{what}") == {"id": "job-1", "shelf": "default"}
    assert json.loads(ran(daemon, "jobs", what, "job-1", "--json")) == ANSWERS[f"job.{what}"]


def test_watching_ends_when_no_work_is_left(daemon: FakeDaemon) -> None:
    daemon.answers["job.list"] = {"jobs": []}
    assert ran(daemon, "jobs", "--watch") == ""
    assert [params for name, params in daemon.asked if name == "job.list"] == [
        {"limit": 1000, "unfinished": True, "shelf": "default"}, {"limit": 20, "shelf": "default"},
    ]  # fmt: skip


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert how_far({"done": 50, "total": 100}) == "[##########----------] 50/100"
    assert how_far({"done": 101, "total": 100}) == f"[{'#' * 20}] 101/100"
    assert how_far({"done": 7, "total": None}) == "7"


def test_the_schedule_is_a_table(daemon: FakeDaemon) -> None:
    assert ran(daemon, "schedule").splitlines() == [
        "reflection  0 9 * * *  Europe/Berlin  2026-02-01 09:00:00+01:00  done 2026-01-31 09:00:01+01:00",
        "promotion   0 9 * * *  Europe/Berlin  never                      not run yet",
    ]


def test_runs_are_a_table(daemon: FakeDaemon) -> None:
    lines = ran(daemon, "runs", "--job", "reflection", "--limit", "3").splitlines()
    assert [line.split()[4:7] for line in lines] == [
        ["done", "2026-01-31", "09:00:01+01:00"],
        ["failed", "(StoreBusy)", "2026-01-31"],
        ["running", "run-2", "2026-01-31T09:00"],
    ]
    assert all(line.endswith("2026-01-31T09:00 Europe/Berlin") for line in lines)
    assert daemon.params("scheduler.history") == {"job": "reflection", "limit": 3, "shelf": "default"}


def test_reflections_say_what_was_done_and_what_was_taken_back(daemon: FakeDaemon) -> None:
    assert ran(daemon, "reflections", "--limit", "2").splitlines() == [
        "2026-02-01 10:00:00+01:00  run-2  uid:1000   nothing",
        "2026-01-31 10:00:00+01:00  run-1  scheduler  10 inspected, 1 rewritten, 1 tagged, undone by run-3",
    ]
    assert daemon.params("reflection.history") == {"limit": 2, "shelf": "default"}


def test_undo_names_its_own_run_and_what_stays(daemon: FakeDaemon) -> None:
    assert ran(daemon, "undo", "run-1").splitlines() == ["run-3: 4 undone, 1 kept", "note-1  content  later run"]
    assert daemon.params("reflection.undo") == {"run_id": "run-1", "shelf": "default"}
    assert json.loads(ran(daemon, "undo", "run-1", "--json")) == ANSWERS["reflection.undo"]


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("reflections", "reflection.history"),
        ("reflect", "reflect"),
        ("promote", "promote"),
        ("jobs", "job.list"),
        ("schedule", "scheduler.jobs"),
        ("runs", "scheduler.history"),
    ],
)
def test_json_is_the_answer_and_trouble_a_status(daemon: FakeDaemon, command: str, method: str) -> None:
    more: dict[str, Any] = {"undoable": []} if command == "runs" else {}
    assert json.loads(ran(daemon, command, "--json")) == {**ANSWERS[method], **more}
    daemon.answers[method] = rpc_error(-32003, retryable=True)
    done = shelfd(command, "--socket", str(daemon.path))
    assert (done.returncode, done.stdout) == (os.EX_TEMPFAIL, "")
