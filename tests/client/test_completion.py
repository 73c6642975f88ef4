"""What a shell offers behind Tab, and the documents that are made from the commands."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.in_process import shelfd
from running import Daemon, clean_environment
from shelfd.client import offers
from shelfd.client.completion import complete, main
from shelfd.client.event_types import EVENT_TYPES
from shelfd.protocol.methods import events

CLIENT = Path(offers.__file__).parent
FOUND_IN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("completion")) as running:
        running.call("remember", content="Berlin", key="home city", nugget="profile")
        running.call("remember", content="a:b", key="user:name", nugget="profile")
        running.call("remember", content="it's $5\x1b[2J", key="price $tea's", nugget="profile")
        running.call("remember", content="tea at four", nugget="habits")
        running.call("session.open", session_id="talk")
        running.call("shelf.create", shelf="work")
        yield running


def offered(line: str) -> list[str]:
    """What is offered at the end of *line*, words of a shell."""
    answer = complete(line.split(" "))
    return [":files"] if answer.are_files else [offer.value for offer in answer.offers]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rem", ["remember"]),
        ("session rew", ["rewind"]),
        ("nuggets re", ["rename", "remove"]),
        ("conflicts ", ["resolve"]),
        ("conflicts --res", ["--resolved"]),
        ("config ", ["check", "acl", "show"]),
        ("remember x --so", ["--source", "--source-type", "--source-ref", "--socket"]),
        ("remember --source a", ["agent_reflection"]),
        ("remember --source=a", ["--source=agent_reflection"]),
        ("edit x --pin", ["--pin"]),
        ("edit x --un", ["--untag", "--unpin"]),
        ("remember --file ", [":files"]),
        ("remember --file=", [":files"]),
        ("import ./x", [":files"]),
        ("remember some wo", []),
        ("remember -- --so", []),
        ("watch --types note.c", ["note.created"]),
        ("call session.ret", ["session.retract_turns"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("import --format mem", ["mem0"]),
        ("export --format g", ["graphml"]),
        ("synthesize what --format t", ["timeline"]),
        ("help session rew", ["rewind"]),
        ("help rem", ["remember"]),
        ("backup ./x", [":files"]),
        ("nowhere x", []),
        ("--he", ["--help"]),
        ("recall x --nugget ", []),
    ],
)
def test_what_is_offered_without_a_daemon(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELFD_SOCKET", "/nonexistent/s")
    assert offered(line) == expected


def test_what_is_on_the_shelf_is_offered(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELFD_SOCKET", daemon.socket)
    assert offered("recall tea --nugget p") == ["profile"]
    assert offered("recall tea --shelf ") == ["default", "work"]
    assert offered("recall tea --shelf work --nugget ") == []
    assert offered("facts ") == ["habits", "profile"]
    assert offered("forget -n profile --key h") == ["home city"]
    assert offered("forget --nugget=profile --key u") == ["user:name"]
    assert offered("session show ") == ["talk"]
    for line in (
        "note fact-profile-",
        "edit fact-profile-",
        "link note-habits-1 fact-profile-",
        "why-not when is fact-p",
    ):
        assert len(offered(line)) == 3, line
    assert [len(offered(line)) for line in ("note note-habits", "forget x fact", "note nothing")] == [1, 3, 0]


def test_a_shell_gets_it_as_it_needs_it(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> list[str]:
        assert main(arguments) == 0
        return capsys.readouterr().out.splitlines()

    line = f"shelfd forget --socket {daemon.socket} -n profile --key "
    assert told("bash", line) == ["home\\ city", "user:name", "price\\ \\$tea\\'s"]
    assert told("bash", line + '"ho') == ["home city"]
    assert told("bash", line + "home\\ ") == ["home\\ city"]
    assert told("bash", line + "user:n") == ["name"]
    assert told("bash", "shelfd remember --source=ag") == ["agent_reflection"]
    assert told("bash", "shelfd import x") == [":files"]
    words = line.split()[1:]
    assert told("fish", *words, "price") == ["price $tea's\tit's $5\N{REPLACEMENT CHARACTER}[2J"]
    assert told("zsh", "rem")[0].startswith("remember\tStore TEXT")
    for odd in (("bash", ""), ("bash", "shelfd 'a"), ("zsh", "\udcff"), ("bash", "shelfd forget --key \udcff")):
        told(*odd)
    assert main(("tcsh", "x")) == main(()) == os.EX_USAGE


def test_bash_completes(daemon: Daemon, tmp_path: Path) -> None:
    script = shelfd("completion", "bash").stdout
    call = 'COMP_POINT=${#COMP_LINE}; COMP_WORDS=(shelfd); _shelfd; printf "[%s]" "${COMPREPLY[@]}"'
    steps = "".join(
        f"COMP_LINE={line!r}; {call}\n"
        for line in ("shelfd rem", "shelfd forget -n profile --key ho", "shelfd import x")
    )
    environment = clean_environment(tmp_path, {"SHELFD_SOCKET": daemon.socket})
    environment["PATH"] = f"{FOUND_IN}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script + steps],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("[remember][home\\ city][]", "")
    assert shelfd("completion", "tcsh").returncode == os.EX_USAGE


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(daemon: Daemon, tmp_path: Path) -> None:
    environment = clean_environment(tmp_path, {"SHELFD_SOCKET": daemon.socket})
    environment["PATH"] = f"{FOUND_IN}:{environment['PATH']}"
    code = f"source {CLIENT}/completions/shelfd.fish; complete -C 'shelfd forget -n profile --key h'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "home city\tBerlin\n"


def test_the_manual_page_renders_without_a_warning() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    page = CLIENT / "man" / "shelfd.1"
    done = subprocess.run(
        ["groff", "-k", "-man", "-ww", "-Tutf8", str(page)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.count("SHELFD(1)") > 1


def test_the_types_of_events_are_those_of_the_protocol() -> None:
    assert events.EVENT_TYPES == EVENT_TYPES
