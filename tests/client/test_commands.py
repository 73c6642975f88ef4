"""The commands and a real daemon, one for all tests here: what a person does with notes, facts and runs."""

import json
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from client.in_process import Ended, shelfd
from running import Daemon

EXIT_USAGE, EXIT_DATA, EXIT_NO_INPUT = os.EX_USAGE, os.EX_DATAERR, os.EX_NOINPUT
_numbers = count()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("commands")) as running:
        yield running


class Told:
    """A shelf of its own, and the command that works on it."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.shelf = f"s{next(_numbers)}"
        daemon.call("shelf.create", shelf=self.shelf)

    def __call__(self, *arguments: str, **how: Any) -> Ended:
        """Run a command; options come first, so that ``--`` may follow."""
        command, *rest = arguments
        return shelfd(command, "--socket", self.daemon.socket, "--shelf", self.shelf, *rest, **how)

    def out(self, *arguments: str, **how: Any) -> str:
        done = self(*arguments, **how)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.out(*arguments, "--json"))

    def id(self, *arguments: str) -> str:
        """Remember something and return its id."""
        return str(self.json("remember", *arguments)["note"]["id"])


@pytest.fixture
def told(daemon: Daemon) -> Told:
    return Told(daemon)


# ------------------------------------------------------------------ texts


def test_several_words_are_one_text(told: Told) -> None:
    note = told.json("remember", "the", "bakery", "opens", "--tag", "habits", "at", "seven")["note"]
    assert (note["content"], note["tags"]) == (
        "the bakery opens at seven",
        ["memory", "scope:user", "type:note", "habits"],
    )
    assert "the bakery opens" in told.out("recall", "when", "does", "the", "bakery", "open")
    assert "the bakery opens" in told.out("search", "bakery", "opens")
    assert "the bakery opens" in told.out("context", "bakery", "open")


def test_a_text_comes_from_stdin_or_a_file(told: Told, tmp_path: Path) -> None:
    (tmp_path / "minutes.md").write_text("zwei\nZeilen – ü\n")
    assert told.json("remember", "--file", str(tmp_path / "minutes.md"))["note"]["content"] == "zwei\nZeilen – ü"
    assert "created" in told.out("remember", "-", stdin="from a pipe")
    assert "from a pipe" in told.out("recall", "-", stdin="a pipe")
    assert "created" in told.out("remember", "--field", "name=Ada", "--field", "age=36")


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "said"),
    [
        (("remember",), b"", EXIT_USAGE, "'TEXT': is missing: words, - for stdin, or --file"),
        (("remember", "x", "--file", "y"), b"", EXIT_USAGE, "either a text or --file"),
        (("remember", "--file", "/nonexistent/y"), b"", EXIT_NO_INPUT, "/nonexistent/y: No such file"),
        (("remember", "--file", "/tmp"), b"", EXIT_NO_INPUT, "/tmp: Is a directory"),
        (("remember", "-"), b"\x00\xff\xfe", EXIT_DATA, "stdin is not UTF-8 text"),
        (("remember", "-"), b"x" * (8 * 1024 * 1024 + 1), EXIT_DATA, "stdin is longer than 8,388,608 bytes"),
        (("remember", "-"), b"x" * (256 * 1024 + 1), EXIT_DATA, "content"),
        (("remember", "-5", "degrees"), b"", EXIT_USAGE, "goes behind --"),
        (("remember", "x", "--field", "name"), b"", EXIT_USAGE, "is not NAME=VALUE"),
        (("remember", "x", "--occurred-at", "soon"), b"", EXIT_USAGE, "is no time like 2026-01-31"),
        (("remember", "x", "--confidence", "much"), b"", EXIT_USAGE, "is not a number"),
        (("remember", "x", "--importance", "11"), b"", EXIT_USAGE, "is more than 10"),
        (("recall", "x", "-k", "0"), b"", EXIT_USAGE, "is less than 1"),
        (("edit", "note-memory-1"), b"", EXIT_USAGE, "say what to change"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_makes_no_sense_is_refused(
    told: Told, arguments: tuple[str, ...], stdin: bytes, status: int, said: str
) -> None:
    done = told(*arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert told.json("notes")["total"] == 0


def test_all_that_is_known_of_a_note_can_be_said(told: Told) -> None:
    first = told.id("first")
    options = {
        "--title": "tea", "--type": "preference", "--subject": "Ada", "--scope": "project", "--source": "inferred",
        "--confidence": "0.7", "--stability": "durable", "--domain": "personal", "--source-type": "report",
        "--source-ref": "https://example.org/x", "--author": "Eve", "--importance": "8", "--tier": "A",
        "--ttl-days": "9", "--occurred-at": "2026-07-01 12:00", "--valid-from": "2026-07-01",
        "--valid-to": "2027-01-01T00:00:00Z", "--nugget": "home", "--alias": "chai", "--session": "talk", "--turn": "2",
        "--link": f"{first} comes from",
    }  # fmt: skip
    flat = [part for pair in options.items() for part in pair]
    note_id = told.id("tea", "at", "four", *flat, "--field", "cups=2", "--field", "kind=green", "--pin")
    note = told.json("note", note_id, "--full")["note"]
    expected = {
        "title": "tea", "type": "preference", "subject": "Ada", "scope": "project", "source": "inferred",
        "confidence": 0.7, "stability": "durable", "domain": "personal", "source_type": "report",
        "source_ref": "https://example.org/x", "author": "Eve", "importance": 8, "tier": "A", "ttl_days": 9,
        "occurred_at": "2026-07-01T10:00:00Z", "valid_from": "2026-06-30T22:00:00Z",
        "valid_to": "2027-01-01T00:00:00Z", "nugget": "home", "aliases": ["chai"], "session_id": "talk", "turn": 2,
        "pinned": True,
    }  # fmt: skip
    assert {name: note.get(name) for name in expected} == expected
    assert {name: note["fields"][name] for name in ("cups", "kind")} == {"cups": 2, "kind": "green"}
    assert [(link["to"], link["relation"]) for link in note["links"]] == [(first, "comes from")]


# ------------------------------------------------------------------ changing


def test_a_note_is_edited_hidden_restored_and_has_a_history(told: Told) -> None:
    note = told.id("the bakery opens at seven")
    assert told.out("edit", note, "opens", "at", "eight", "--tag", "bread", "--importance", "8") == f"{note}  changed\n"
    assert told.out("edit", note, "opens", "at", "eight") == f"{note}  as it was\n"
    changed = told.json("note", note)["note"]
    assert (changed["content"], changed["importance"]) == ("opens at eight", 8)
    assert "bread" in changed["tags"]
    assert "bread" not in told.json("edit", note, "--untag", "bread", "--pin")["note"]["tags"]
    assert told("edit", note, "y", "--if-rev", "1").returncode == os.EX_CANTCREAT
    assert told.out("forget", note) == f"{note}\n"
    assert told("forget", note).stderr == "shelfd: nothing to forget: hidden already\n"
    assert told.out("restore", note) == f"{note}  restored\n"
    assert told.out("restore", note) == f"{note}  was not hidden\n"
    kinds = [line.split()[5] for line in told.out("history", note).splitlines()]
    assert kinds == ["note.created", "note.updated", "note.updated", "note.hidden", "note.restored"]
    assert told.json("history", note) == told.json("note", note, "--history")


def test_what_is_contradicted_is_recalled_as_that(told: Told) -> None:
    one = told.id("Paul's blood type is A positive.")
    assert "contradicted" not in told.out("recall", "Paul's blood type")
    other = told.id("Paul's blood type is AB negative.", "--evolve")
    lines = [line for line in told.out("recall", "Paul's blood type").splitlines() if "note-" in line]
    assert sorted(line.split()[1] for line in lines if line.endswith("  contradicted by another note")) == sorted(
        (one, other)
    )


def test_a_note_comes_back_whose_successor_was_hidden(told: Told) -> None:
    old = told.id("Eva lives in Linz.")
    new = told.id("Eva lives in Graz now.", "--evolve")
    assert told.json("forget", new)["still_superseded"] == [old]
    why = told.out("why-not", "where does Eva live", old).splitlines()[0]
    assert why.endswith("which is hidden; `shelfd restore` brings this one back")
    told.out("forget", old)
    assert (
        told.out("restore", old)
        == f"{old}  restored; it is superseded by {new}, and restored once more it counts again\n"
    )
    assert told.out("restore", old) == f"{old}  restored\n"
    assert told.json("recall", "where does Eva live")["results"][0]["note"]["id"] == old


def test_an_editor_changes_a_text(told: Told, tmp_path: Path) -> None:
    note = told.id("opens at seven")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\n[ "$(stat -c %a "$1")" = 600 ] && sed -i s/seven/nine/ "$1"\n')
    editor.chmod(0o755)
    environment = {"VISUAL": str(editor), "XDG_RUNTIME_DIR": str(tmp_path)}
    assert told("edit", note, is_terminal=True, env=environment).stdout.split() == [note, "changed"]
    assert told.json("note", note)["note"]["content"] == "opens at nine"
    assert [path.name for path in tmp_path.iterdir()] == ["editor"]
    assert "nothing was changed" in told("edit", note, is_terminal=True, env={"VISUAL": "false"}).stderr
    missing = told("edit", note, is_terminal=True, env={"VISUAL": "/nonexistent/vi"})
    assert (missing.returncode, "$EDITOR names another" in missing.stderr) == (os.EX_UNAVAILABLE, True)


def test_a_purge_is_asked_about(told: Told) -> None:
    note = told.id("42", "--key", "answer", "--nugget", "life")
    assert "42" in told.out("purge", "--key", "answer", "-n", "life", "--dry-run")
    unasked = told("purge", note)
    assert (unasked.returncode, "--yes says that it is meant" in unasked.stderr) == (EXIT_USAGE, True)
    refused = told("purge", note, is_terminal=True, stdin="no\n")
    assert (refused.returncode, refused.stderr.endswith("shelfd: nothing was done\n")) == (os.EX_NOPERM, True)
    assert told.json("notes")["total"] == 1
    assert told("purge", note, is_terminal=True, stdin="yes\n").stdout.split() == [note, "purged"]
    assert told("note", note).returncode == EXIT_NO_INPUT
    other = told.id("43", "--key", "answer", "--nugget", "life")
    assert told.json("purge", "--key", "answer", "-n", "life", "--yes")["forgotten"] == [other]


def test_forgetting_by_key_says_where_else_the_key_is(told: Told) -> None:
    for nugget in ("life", "work"):
        told.id("42", "--key", "answer", "--nugget", nugget)
    done = told("forget", "--key", "Answer")
    where = "nothing to forget in nugget memory; the key is in life, work: --nugget names one"
    assert (done.returncode, done.stderr) == (0, f"shelfd: {where}\n")
    assert told("forget", "note-1", "--key", "x").returncode == EXIT_USAGE
    assert told("forget", "note-1", "--nugget", "life").returncode == EXIT_USAGE


def test_notes_are_linked(told: Told) -> None:
    tea, kettle = told.id("tea"), told.id("kettle")
    assert told.out("link", tea, kettle, "made", "with", "--reason", "hot") == "2 added, 0 updated\n"
    lines = told.out("link", tea).splitlines()
    assert sorted(line.split("  ")[:3] for line in lines) == sorted(
        [[tea, "made with", kettle], [kettle, "made with", tea]]
    )
    assert told.out("link", tea, kettle, "--remove") == "2 removed\n"
    assert told.out("link", kettle, tea, "--one-way") == "1 added, 0 updated\n"
    assert told("link", tea, tea).returncode == EXIT_DATA


# ------------------------------------------------------------------ what there is


def test_facts_of_one_nugget_and_of_all(told: Told) -> None:
    told.id("42", "--key", "answer", "--nugget", "life")
    told.id("Berlin", "--key", "city", "--nugget", "home")
    assert [line.split()[0:2] for line in told.out("facts").splitlines()] == [["home", "city"], ["life", "answer"]]
    assert [line.split()[0] for line in told.out("facts", "life").splitlines()] == ["answer"]
    assert {fact["nugget"] for fact in told.json("facts", "-k", "9")["facts"]} == {"home", "life"}
    assert len(told.json("facts", "-k", "1")["facts"]) == 1


def test_nuggets_and_shelves(told: Told) -> None:
    told.id("42", "--key", "answer", "--nugget", "life")
    assert told.out("nuggets").split() == ["life", "1", "1", "0"]
    socket = ("--socket", told.daemon.socket)
    mine = [*socket, "--shelf", told.shelf]
    assert shelfd("nuggets", "create", "diary", "--ttl-days", "9", "--local-only", *mine).stdout == "diary  created\n"
    assert "expires after 9 days, stays here" in told.out("nuggets")
    assert shelfd("nuggets", "edit", "diary", "--not-only-local", "--max-facts", "5", *mine).returncode == 0
    assert "expires after 9 days, at most 5 facts" in told.out("nuggets")
    assert shelfd("nuggets", "rename", "life", "living", *mine).stdout == "living  renamed\n"
    assert shelfd("nuggets", "clear", "living", *mine).stdout.endswith(": 1 note hidden\n")
    told.out("undo")
    assert told.json("facts", "living")["facts"][0]["value"] == "42"
    assert shelfd("nuggets", "remove", "living", "--purge", *mine).returncode == EXIT_USAGE
    assert shelfd("nuggets", "remove", "living", "--purge", "-y", *mine).stdout == "living: 1 note purged\n"
    name = f"{told.shelf}-more"
    assert shelfd("shelves", "create", name, *socket).stdout == f"{name}  created\n"
    assert name in shelfd("shelves", *socket).stdout


def test_what_is_not_there_names_what_is(told: Told) -> None:
    for nugget in ("project", "profile", "zoo"):
        told.id("x", "--nugget", nugget)
    done = told("recall", "x", "--nugget", "projct")
    assert done.returncode == EXIT_NO_INPUT
    assert done.stderr == "shelfd: there is no nugget 'projct'; nuggets here: project, profile, zoo [NuggetNotFound]\n"
    done = shelfd("recall", "x", "--shelf", "nowhere", "--socket", told.daemon.socket, "--json")
    error = json.loads(done.stderr)["error"]
    assert (error["code"], error["data"]["type"], told.shelf in error["data"]["known"]) == (
        -32001,
        "ShelfNotFound",
        True,
    )
    assert "note-memory-0" in told("note", "note-memory-0").stderr


def test_reflect_goes_on_until_nothing_is_left(told: Told) -> None:
    for number in range(25):
        told.daemon.call("remember", content=f"The  kettle number {number} is green", shelf=told.shelf)
    shown = told("reflect", "--limit", "3", is_terminal=True)
    assert "notes are left to look at: shelfd reflect --all goes on" in shown.stderr
    everything = told.json("reflect", "--all")
    assert everything["remaining"] == 0
    assert len(everything["runs"]) > 1
    again = told.out("reflect", "--all")
    assert again.startswith("1 run: ")
    assert "0 remaining" in again
    assert told("reflect", "--all", "--dry-run").returncode == EXIT_USAGE


# ------------------------------------------------------------------ trouble

STEERING = "\x1b]0;owned\x07\x9b2J\u202e\x00x"


def test_nothing_that_is_remembered_steers_a_terminal(told: Told) -> None:
    note = told.id(f"tea {STEERING}", "--title", "kettle \u202ex", "--source-ref", STEERING, "--author", "Eve\u202e")
    other = told.id(f"42 {STEERING}", "--key", "answer \u202ex")
    told.out("link", note, other, "near\u202e", "--reason", STEERING)
    told.out("edit", note, f"green {STEERING}")
    commands = (
        ("notes",), ("note", note), ("note", note, "--json"), ("recall", "green tea"), ("recall", "answer", "--json"),
        ("search", "green"), ("facts",), ("facts", "memory"), ("history", note), ("link", note), ("context", "green"),
        ("log",), ("synthesize", "tea"), ("timeline", "tea"), ("why-not", "tea", note), ("purge", note, "--dry-run"),
        ("recall", STEERING, "--nugget", "memory"), ("facts", f"no{STEERING}"), ("recall", "x", "--mode", STEERING),
        ("reflect", "--dry-run"), ("watch", "--types", STEERING), ("watch", "--since", "0", "--count", "4"),
    )  # fmt: skip
    for command in commands:
        done = told(*command, is_terminal=True)
        for text in (done.stdout, done.stderr):
            bad = {c for c in text if not c.isprintable()} - {"\n", "\t"}
            assert not bad, (command, bad)


def test_errors_are_json_where_json_was_asked_for(told: Told, tmp_path: Path) -> None:
    def error(*arguments: str) -> Any:
        done = shelfd(*arguments, "--json")
        assert done.stdout == ""
        return json.loads(done.stderr)["error"]

    assert error("recall", "x", "--socket", str(tmp_path / "none"))["data"] == {"type": "NotRunning"}
    assert error("recall")["data"] == {"type": "Usage"}
    assert error("recal", "x")["message"] == "there is no command 'recal'; did you mean shelfd recall or shelfd call?"
    assert error("recall", "x", "-k", "many")["data"] == {"type": "Usage"}
    missing = error("note", "note-memory-0", "--socket", told.daemon.socket)
    assert (missing["code"], missing["data"]["type"], missing["data"]["id"]) == (
        -32001,
        "NoteNotFound",
        "note-memory-0",
    )


def test_watch_knows_which_types_there_are(told: Told) -> None:
    done = told("watch", "--types", "note.creatd")
    assert (done.returncode, "for example: note.created" in done.stderr) == (EXIT_USAGE, True)
    assert "note.*, link.*" in told("watch", "--types", "xyzzy").stderr
    told.id("x")
    assert "note.created" in told.out("watch", "--types", "note.*,link.*", "--since", "0", "--count", "1")
