"""The client as a library: typed results, events, reconnecting, the memory manager, and what it takes to install it."""

import asyncio
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import aclosing
from importlib import metadata
from itertools import islice
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from running import Daemon, clean_environment
from shelfd.client import (
    AsyncClient,
    MemoryManager,
    NotRunning,
    NuggetShelf,
    RpcFailure,
    SteadyClient,
    connect,
    follow,
    follow_async,
    get_memory_manager,
    watch_async,
)
from shelfd.protocol.methods.notes import RememberResult
from shelfd.protocol.methods.recall import RecallResult

CHECKOUT = Path(__file__).resolve().parent.parent.parent
UV = CHECKOUT / ".tools" / "bin" / "uv"
REPORT = (
    "Volt Typhoon uses certutil to stay in networks of power companies. "
    "Sandworm attacked a substation in Kyiv in December 2016. The weather was fine."
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("d")) as running:
        yield running


@pytest.fixture
def memory(daemon: Daemon, request: pytest.FixtureRequest) -> Iterator[MemoryManager]:
    shelf = f"m{abs(hash(request.node.name))}"
    daemon.call("shelf.create", shelf=shelf)
    with MemoryManager(daemon.socket, shelf=shelf) as manager:
        yield manager


# ------------------------------------------------------------------ calls


def test_results_are_read_into_models(daemon: Daemon) -> None:
    with connect(daemon.socket) as client:
        stored = client.call("remember", {"content": "the kettle is green"}, into=RememberResult)
        assert (stored.status, stored.note.content) == ("created", "the kettle is green")
        found = client.call("recall", {"query": "kettle"}, into=RecallResult)
        assert [hit.note.id for hit in found.results] == [stored.note.id]


async def test_so_are_those_of_the_asyncio_client(daemon: Daemon) -> None:
    async with await AsyncClient.connect(daemon.socket) as client:
        found = await client.call("recall", {"query": "nothing of the kind"}, into=RecallResult)
        assert found.abstained


class Counted:
    """A model of ours: anything with ``model_validate`` is one."""

    def __init__(self, total_notes: int) -> None:
        self.total_notes = total_notes

    @classmethod
    def model_validate(cls, obj: dict[str, int], /) -> "Counted":
        return cls(obj["total_notes"])


def test_a_daemon_that_was_never_there_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(NotRunning):
        SteadyClient(str(tmp_path / "none"), patience_s=1_000).read("system.health")
    with pytest.raises(NotRunning):
        next(follow(str(tmp_path / "none")))


def test_what_is_refused_is_not_repeated(daemon: Daemon) -> None:
    with SteadyClient(daemon.socket) as client:
        with pytest.raises(RpcFailure, match="is required"):
            client.change("remember", {"key": "k"})
        assert client.read("system.health")["status"] == "ok"


# ------------------------------------------------------------------ events


async def test_a_daemon_that_restarts_is_waited_for_and_nothing_is_done_or_told_twice(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon, SteadyClient(daemon.socket, patience_s=60) as client:
        troubles: list[str] = []
        events = follow(daemon.socket, types=["note.created"], since_seq=0, on_trouble=troubles.append)
        also = follow_async(daemon.socket, types=["note.created"], since_seq=0)
        for title in ("one", "two"):
            client.change("remember", {"title": title, "content": "a line"})
        assert [event["data"]["title"] for event in islice(events, 2)] == ["one", "two"]
        assert (await anext(also))["data"]["title"] == "one"

        daemon.kill()
        starting = asyncio.create_task(asyncio.to_thread(daemon.start))
        params = {"title": "three", "content": "a line", "idempotency_key": "k"}
        stored = await asyncio.to_thread(client.change, "remember", params)
        await starting
        assert client.change("remember", params)["note"]["id"] == stored["note"]["id"]
        assert client.read("get_stats", into=Counted).total_notes == 3
        assert next(events)["data"]["title"] == "three"
        assert troubles == ["connection lost; waiting for the daemon"]
        assert [(await anext(also))["data"]["title"] for _ in range(2)] == ["two", "three"]
        events.close()
        await also.aclose()


async def test_a_query_that_is_watched_stands_as_long_as_the_loop(daemon: Daemon) -> None:
    async with await AsyncClient.connect(daemon.socket) as client:
        await client.call("nugget.create", {"name": "sea"})
        async with aclosing(watch_async("when does the boat leave", daemon.socket, nugget="sea")) as entering:
            first = asyncio.create_task(anext(entering))
            while not (await client.call("watch.list"))["total"]:
                assert not first.done()
            for content, nugget in (("the tea is cold", "sea"), ("the boat leaves at six", "sea")):
                noted = await client.call("remember", {"content": content, "nugget": nugget})
            assert (await first)["data"]["ids"] == [noted["note"]["id"]]
        assert (await client.call("watch.list"))["total"] == 0
    with pytest.raises(NotRunning):
        await anext(watch_async("boats", f"{daemon.socket}-not"))


async def test_one_connection_yields_its_notifications_until_it_ends(daemon: Daemon) -> None:
    async with await AsyncClient.connect(daemon.socket) as client:
        await client.call("remember", {"content": "The boat is at the slip"})
        events = client.events(types=["note.*"], since_seq=0)
        first = await anext(events)
        assert (first["method"], first["params"]["type"].split(".")[1]) == ("event", "note")
        await client.close()
        with pytest.raises(ConnectionResetError):
            async for _ in events:
                pass


# ------------------------------------------------------------------ the memory manager


def test_it_writes_and_reads_as_the_one_it_is_named_for(memory: MemoryManager) -> None:
    old, status = memory.remember("APT28 uses X-Agent against NATO.", source_type="report", domain="cti")
    assert (status, old.content.raw, old.metadata.domain) == ("created", "APT28 uses X-Agent against NATO.", "cti")
    new, _ = memory.remember("APT28 uses HeadLace now, since CVE-2023-38831.", "report", "https://e.org/1", "cti")
    assert memory.mark_note_superseded(old.id, new.id)
    assert not memory.mark_note_superseded(old.id, "note-none")

    recalled = memory.recall("What does APT28 use?", domain="cti", k=5)
    assert [note.id for note in recalled] == [new.id]
    assert recalled[0].links.supersedes == [old.id]
    assert recalled[0].semantic.context.startswith("APT28")
    assert recalled[0].content.source_ref == "https://e.org/1"
    assert not recalled[0].should_flag_for_review()
    assert {note.id for note in memory.recall("APT28", exclude_superseded=False)} == {old.id, new.id}

    for found in (
        memory.recall_entity("cve", "cve-2023-38831"),
        memory.recall_cve("CVE-2023-38831"),
        memory.recall_actor("APT28"),
    ):
        assert new.id in {note.id for note in found}
    assert memory.recall_tool("x-agent") == [] or memory.recall_tool("x-agent")[0].id
    assert memory.get_context("What does APT28 use?").startswith("## Relevant Memories")
    assert memory.get_entity_relationships("intrusion_set", "apt28")
    assert memory.traverse_graph("intrusion_set", "apt28", max_depth=1)
    assert memory.get_stats()["total_notes"] == 2
    assert Path(memory.snapshot()).read_text(encoding="utf-8").count("\n") >= 2


def test_texts_become_facts_and_answers_are_judged(memory: MemoryManager) -> None:
    stored = memory.remember_with_extraction(REPORT, domain="cti", min_importance=1)
    assert stored
    assert {status for _, status in stored} == {"added"}
    assert all(note is not None and note.content.raw in REPORT for note, _ in stored)
    assert memory.remember_report(REPORT, "https://e.org/2", "2024-12-15", min_importance=1)
    answer = memory.synthesize("Which substation did Sandworm attack?", k=3, tier_filter=["A", "B"])
    assert memory.validate_synthesis(answer) == (True, [])
    assert memory.check_synthesis_quality(answer)["grade"]


def test_there_is_one_in_a_process(monkeypatch: pytest.MonkeyPatch, daemon: Daemon) -> None:
    monkeypatch.setenv("SHELFD_SOCKET", daemon.socket)
    assert get_memory_manager() is get_memory_manager()
    assert get_memory_manager().get_stats()["last_seq"] >= 0
    get_memory_manager().close()
    get_memory_manager.cache_clear()


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("remember", "content source_type=conversation source_ref= domain=general evolve=False sync=False"),
        (
            "remember_with_extraction",
            "content source_type=conversation source_ref= domain=general context= min_importance=3 max_facts=5",
        ),
        (
            "remember_report",
            "content source_url= published_date= domain=cti min_importance=3 max_facts=10 chunk_size=3000",
        ),
        ("recall", "query domain=None k=10 include_links=True exclude_superseded=True"),
        ("recall_entity", "entity_type entity_value k=5"),
        ("recall_cve", "cve_id k=5"),
        ("recall_actor", "actor_name k=5"),
        ("recall_tool", "tool_name k=5"),
        ("get_context", "query domain=None k=10 token_budget=4000"),
        ("get_entity_relationships", "entity_type entity_value"),
        ("traverse_graph", "start_type start_value max_depth=2"),
        ("synthesize", "query format=direct_answer k=10 tier_filter=None"),
        ("validate_synthesis", "response"),
        ("check_synthesis_quality", "response"),
        ("get_stats", ""),
        ("mark_note_superseded", "note_id superseded_by_id"),
        ("snapshot", ""),
    ],
)
def test_methods_take_what_their_namesakes_take(name: str, params: str) -> None:
    _self, *taken = inspect.signature(getattr(MemoryManager, name)).parameters.values()
    said = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in taken]
    assert said == params.split()


# ------------------------------------------------------------------ installed


def test_it_is_the_checkouts_version() -> None:
    alone, whole = (
        tomllib.loads((CHECKOUT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in ("client", ".")
    )
    assert alone["version"] == whole["version"]
    assert alone["requires-python"] == whole["requires-python"]
    extras = whole["optional-dependencies"]
    assert {extras[name][0] for name in ("langchain", "langgraph")} <= {
        one for group in alone["optional-dependencies"].values() for one in group
    }
    assert set(alone["dependencies"]) <= set(whole["dependencies"])


def test_importing_it_loads_the_standard_library_only() -> None:
    code = "import sys, shelfd.client\nprint(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-S", "-c", "import sys; print(*sys.stdlib_module_names)"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    known = {*done.stdout.split(), "shelfd", "__main__"}
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if not name.startswith(("_", "sitecustomize", "distutils-"))} - known == set()
    assert {"asyncio", "ssl", "sqlite3"}.isdisjoint(loaded)


def _required(folder: str) -> set[str]:
    """What the distribution of *folder* needs, with all that this needs."""
    project = tomllib.loads((CHECKOUT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left, found = [Requirement(one) for one in project["dependencies"]], set[str]()
    while left:
        name = canonicalize_name(left.pop().name)
        if name not in found:
            found.add(name)
            needed = [Requirement(one) for one in metadata.requires(name) or ()]
            left += [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def _locked(names: set[str]) -> str:
    """The lines of the lock for these distributions: to find them again offline, no index has to be asked."""
    entries = re.split(r"\n(?=[a-z0-9])", (CHECKOUT / "requirements.lock").read_text(encoding="utf-8"))
    return "\n".join(entry for entry in entries if entry.partition("==")[0] in names) + "\n"


@pytest.mark.skipif(not UV.exists(), reason="uv is not in .tools; `make test` puts it there")
def test_it_is_installed_without_the_daemon(tmp_path: Path) -> None:
    """Offline: all it takes is what the checkout's own environment was made of."""
    source = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("client", "protocol"):
        shutil.copytree(CHECKOUT / folder, source / folder, ignore=ignored)
    home = clean_environment(tmp_path)
    environment = {**home, "HOME": str(Path.home()), "UV_PYTHON_DOWNLOADS": "never"}
    python = tmp_path / "venv" / "bin" / "python"
    into = ["--quiet", "--offline", "--python", str(python)]
    (tmp_path / "locked").write_text(_locked(_required("client")), encoding="utf-8")
    for arguments in (
        ["venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")],
        ["pip", "sync", *into, "--require-hashes", str(tmp_path / "locked")],
        ["pip", "install", *into, "--no-deps", str(source / "client")],
        ["pip", "check", "--quiet", "--python", str(python)],
    ):
        done = subprocess.run([str(UV), *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    installed = {path.name.partition("-")[0] for path in site.glob("*.dist-info")}
    assert {"numpy", "aiosqlite", "uvloop", "structlog", "paho_mqtt", "shelfd"}.isdisjoint(installed)
    assert {path.name for path in (site / "shelfd").iterdir()} == {"client", "protocol"}

    code = "import shelfd.client; from shelfd.protocol import METHODS; print(METHODS['recall'].result.__name__)"
    done = subprocess.run([str(python), "-c", code], env=home, capture_output=True, text=True, check=True)
    assert done.stdout == "RecallResult\n"
    command = str(python.with_name("shelfd"))
    assert subprocess.run([command, "--version"], env=home, capture_output=True, check=True).stdout.startswith(
        b"shelfd "
    )
    alone = subprocess.run([command, "run"], env=home, capture_output=True, text=True, check=False)
    assert alone.returncode != 0
    assert "the client alone" in alone.stderr


# ------------------------------------------------------------------ the shelf of nuggets


def test_a_shelf_of_nuggets_has_the_methods_of_the_one_it_is_named_for(daemon: Daemon) -> None:
    with connect(daemon.socket) as client:
        client.call("shelf.create", {"shelf": "nuggets"})
    with NuggetShelf(daemon.socket, shelf="nuggets") as shelf:
        project = shelf.create("project", max_facts=50)
        with pytest.raises(RpcFailure):
            shelf.create("project")
        with pytest.raises(RpcFailure):
            shelf.get("none")
        assert shelf.get_or_create("project").name == shelf.get("project").name == "project"
        assert shelf.has("project")
        assert not shelf.has("none")
        assert (shelf.size, [one["name"] for one in shelf.list()]) == (1, ["project"])

        project.remember("test cmd", "make test")
        shelf.remember("user", "pref:theme", "dark")
        assert project.recall("test cmd", "s-1") | {"confidence": 1, "margin": 1} == {
            "answer": "make test", "confidence": 1, "margin": 1, "found": True, "key": "test cmd",
            "nugget_name": "project",
        }  # fmt: skip
        assert shelf.recall("pref:theme")["nugget_name"] == "user"
        nothing = shelf.recall("what is the capital of Peru", "project")
        assert (nothing["answer"], nothing["found"], nothing["key"]) == (None, False, "")
        assert [(fact["key"], fact["hits"]) for fact in project.facts()] == [("test cmd", 1)]
        assert project.status()["fact_count"] == 1
        assert project.forget("TEST CMD")
        assert not shelf.forget("project", "test cmd")

        boat = project.create_note("Boat", "The boat needs paint.", ["todo"], confidence=0.5)
        lamp = shelf.create_note("project", "Lamp", "The lamp is mended by Ada.")
        assert shelf.get_note(boat["id"])
        assert shelf.get_note("note-none") is None
        assert shelf.edit_note(lamp["id"], content="The lamp is mended.")["content"] == "The lamp is mended."
        shelf.add_link(boat["id"], lamp["id"], "both at the pier")
        assert project.search_notes("paint", limit=1)[0]["note"]["id"] == boat["id"]
        assert {note["id"] for note in project.list_notes()} == {boat["id"], lamp["id"]}
        assert "needs paint" in shelf.merge_notes(boat["id"], lamp["id"])["content"]
        assert shelf.delete_note(lamp["id"])
        assert shelf.reflect_and_clean_memory("project")["inspected"] >= 0
        assert shelf.promote_facts() == 0
        assert project.clear() == 0
        shelf.remove("project")
        assert shelf.size == 1
