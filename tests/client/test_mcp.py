"""``shelfd mcp``: the bridge between an agent's standard input and output and the daemon."""

import importlib.metadata
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import anyio
import pytest

from mcp_client import bare, bridge, text
from running import TIMEOUT_S, Daemon, until
from shelfd.client.endpoint import restart_command
from shelfd.client.mcp import hello
from shelfd.client.mcp.lines import LINE_BYTES, LineBuffer
from shelfd.client.mcp.options import BridgeOptions, parse

Json = Any


class Agent:
    """An agent that has started ``shelfd mcp``."""

    def __init__(self, home: Path, *arguments: str) -> None:
        command = [sys.executable, "-P", "-m", "shelfd.client", "mcp", *arguments]
        environment = {"HOME": str(home), **bare()}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._unread = b""
        self.last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, **params: Json) -> int:
        self.last_id += 1
        self.raw(line(method, self.last_id, **params))
        return self.last_id

    def read(self) -> Json:
        assert self.process.stdout is not None
        while b"\n" not in self._unread:
            readable, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_S)
            data = os.read(self.process.stdout.fileno(), 1 << 20) if readable else b""
            assert data, "no answer"
            self._unread += data
        found, _, self._unread = self._unread.partition(b"\n")
        return json.loads(found)

    def call(self, method: str, **params: Json) -> Json:
        sent = self.send(method, **params)
        while "id" not in (reply := self.read()):
            assert reply["method"].startswith("notifications/")
        assert reply["id"] == sent
        return reply["result"]

    def tool(self, name: str, **arguments: Json) -> Json:
        return self.call("tools/call", name=name, arguments=arguments)

    def greet(self) -> Self:
        self.call("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.raw(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def end(self) -> int:
        """End its input; return its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(TIMEOUT_S)


def line(method: str, request_id: Json, **params: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode() + b"\n"


def pid_at(path: Path) -> int:
    """The process that listens at a socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        found: int = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    return found


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("mcp")) as running:
        yield running


@pytest.fixture
def agent(daemon: Daemon) -> Iterator[Agent]:
    with Agent(daemon.directory, "--socket", daemon.socket) as running:
        yield running


# ------------------------------------------------------------------ with a daemon


async def test_the_official_client_by_standard_input_and_output(daemon: Daemon) -> None:
    from mcp.client.client import Client

    for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28")):
        async with Client(bridge("--socket", daemon.socket, home=daemon.directory), mode=mode) as client:
            assert client.session.protocol_version == version
            assert len((await client.list_tools()).tools) == 7
            await client.call_tool("remember", {"content": "The kettle is green.", "nugget": "home"})
            assert "The kettle is green." in text(await client.call_tool("recall", {"query": "kettle"}))


async def test_a_hundred_calls_of_eight_agents_are_all_answered(daemon: Daemon) -> None:
    from mcp.client.client import Client

    daemon.call("nugget.create", name="cups")

    async def talk(name: int) -> None:
        server = bridge("--socket", daemon.socket, home=daemon.directory)
        async with Client(server, mode=("auto", "legacy")[name % 2]) as client, anyio.create_task_group() as calls:
            for number in range(13):
                arguments = {"content": f"cup {number} of {name}", "nugget": "cups", "evolve": False}
                calls.start_soon(remember, client, arguments)

    async def remember(client: Client, arguments: Json) -> None:
        assert not (await client.call_tool("remember", arguments)).is_error

    async with anyio.create_task_group() as agents:
        for name in range(8):
            agents.start_soon(talk, name)
    assert daemon.call("nugget.status", name="cups")["note_count"] == 104


def test_it_ends_with_its_input(agent: Agent) -> None:
    agent.greet()
    assert agent.end() == 0


def test_what_was_asked_is_answered_before_it_ends(agent: Agent) -> None:
    agent.raw(line("initialize", 1, protocolVersion="2025-06-18") + line("tools/list", 2) + line("ping", 3) + b'{"jso')
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    assert sorted(agent.read()["id"] for _ in range(3)) == [1, 2, 3]
    assert agent.process.wait(TIMEOUT_S) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(agent: Agent, number: int) -> None:
    agent.greet()
    agent.process.send_signal(number)
    assert agent.process.wait(TIMEOUT_S) == 0


def test_it_ends_when_nobody_reads(agent: Agent) -> None:
    agent.greet()
    assert agent.process.stdout is not None
    agent.process.stdout.close()
    assert agent.process.wait(TIMEOUT_S) == 0


def test_garbage_is_answered_and_the_rest_goes_on(agent: Agent) -> None:
    agent.greet()
    for data, code in (
        (b"garbage\n", -32700),
        (b"[]\n", -32600),
        (b"7\n", -32600),
        (b'{"jsonrpc":"2.0","id":[],"method":"tools/list"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}\n', -32600),
        (b'{"id":9,"method":"tools/list"}\n', -32600),
        (b"x" * (LINE_BYTES + 1) + b"\n", -32005),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"x":NaN}}\n', -32700),
        (b'{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/list","params":' + b'{"x":' * 40 + b"1" + b"}" * 41 + b"\n", -32005),
        (b"\xff\xfe\xfd\n", -32700),
    ):
        agent.raw(data)
        assert agent.read()["error"]["code"] == code, data[:40]
    agent.raw(b'\n{"jsonrpc":"2.0","id":"x","result":{}}\n')  # an answer to nothing
    assert agent.call("ping") == {}
    assert not agent.tool("recall", query="tea")["isError"]


def test_what_cannot_be_sent_is_refused_at_once(agent: Agent) -> None:
    agent.greet()
    half = (
        b'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"recall","arguments":{"query":"\\ud800"}}}\n'
    )
    agent.raw(half)
    answer = agent.read()
    assert (answer["id"], answer["result"]["isError"]) == ("s", True)
    assert "not UTF-8" in answer["result"]["content"][0]["text"]
    arguments = {"content": "x" * (LINE_BYTES - 125)}
    agent.send("tools/call", name="remember", arguments=arguments)
    assert "is larger than" in agent.read()["result"]["content"][0]["text"]


def test_options_reach_the_daemon(daemon: Daemon) -> None:
    daemon.call("shelf.create", shelf="work")
    with Agent(daemon.directory, f"--socket={daemon.socket}", "--shelf", "work", "--tools", "graph") as agent:
        agent.greet()
        names = [tool["name"] for tool in agent.call("tools/list")["tools"]]
        assert {"remember", "session_create_node"} <= set(names)
        agent.tool("session_open", session_id="s-1", nugget="trip")
        made = agent.tool("session_create_node", session_id="s-1", type="event", title="The train leaves")
        assert not made["isError"], made
        assert daemon.call("note.list", shelf="work", nugget="trip")["total"] == 1


def test_wrong_options_are_explained(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "shelfd.client", "mcp"]
    for arguments in (["--tools", "other"], ["--timeout", "soon"], ["--sockets", "x"]):
        ended = subprocess.run(
            [*command, *arguments], env={"HOME": str(tmp_path), **bare()}, capture_output=True, check=False, text=True,
            timeout=TIMEOUT_S,
        )  # fmt: skip
        assert ended.returncode == os.EX_USAGE
        assert "--" in ended.stderr


def test_options_are_read_without_a_library() -> None:
    assert parse([]) == BridgeOptions()
    given = ["--socket=/s", "--tools", "memory, graph", "--timeout", "1.5", "--no-start", "--graph", "people"]
    assert parse(given) == BridgeOptions("/s", None, ("memory", "graph"), "people", 1.5, starts=False)
    for wrong in (["--help"], ["--shelf"], ["--timeout=0"], ["--timeout=nan"], ["--tools=x"], ["x"], ["--no-start=1"]):
        assert parse(wrong) is None


def test_it_loads_nothing_heavy() -> None:
    code = (
        "import sys; from shelfd.client import cli; from shelfd.client.mcp import bridge;"
        "print(sorted({'typer', 'click', 'pydantic', 'asyncio', 'mcp', 'subprocess', 'pathlib', 'logging', 'inspect',"
        " 'importlib.metadata'} & sys.modules.keys()))"
    )
    assert subprocess.check_output([sys.executable, "-P", "-c", code], text=True).strip() == "[]"


def test_the_version_is_the_installed_one() -> None:
    assert hello._version() == importlib.metadata.version("shelfd")


def test_lines_are_cut_in_bounded_memory() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b"a\r\n\n  \nb") == [b"a"]
    assert buffer.feed(b"c\n") == [b"bc"]
    assert buffer.feed(b"x" * LINE_BYTES) == []
    assert buffer.feed(b"xy" * 3) == []
    assert buffer.feed(b"\nd\n") == [None, b"d"]


# ------------------------------------------------------------------ without one


def test_a_daemon_is_started_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "s"
    data = f"--socket={path}"
    with Agent(tmp_path, data) as one, Agent(tmp_path, data) as other:
        try:
            for agent in (one, other):
                assert agent.greet().call("ping") == {}
            for agent in (one, other):
                assert not agent.tool("remember", content="tea", evolve=False)["isError"]
            assert one.tool("recall", query="tea")["structuredContent"]["results"]
            assert one.end() == other.end() == 0
        finally:
            pid = pid_at(path)
    try:
        assert (tmp_path / ".local/share/shelfd/shelves/default").is_dir()
        assert (tmp_path / ".local/state/shelfd/daemon.log").stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(pid, signal.SIGTERM)
        until(lambda: not path.exists(), "the daemon's end")


def test_the_daemon_that_served_there_last_is_the_one_that_is_started(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.call("remember", content="tea")
        daemon.stop()
    path = Path(daemon.socket)
    with Agent(tmp_path, "--socket", daemon.socket) as agent:
        try:
            found = agent.greet().tool("recall", query="tea")["structuredContent"]["results"]
            assert [hit["note"]["content"] for hit in found] == ["tea"]
            assert agent.end() == 0
        finally:
            pid = pid_at(path)
            assert str(Path(f"/proc/{pid}/cwd").readlink()) == "/"
            os.kill(pid, signal.SIGTERM)
            until(lambda: not path.exists(), "the daemon's end")


def test_a_command_that_others_may_have_written_is_not_run(tmp_path: Path) -> None:
    record = tmp_path / "s.served"
    record.write_text(json.dumps({"data": str(tmp_path), "command": "shelfd run"}))
    for mode, command in ((0o600, "shelfd run"), (0o620, None), (0o602, None)):
        record.chmod(mode)
        assert restart_command(str(tmp_path / "s")) == command
    record.write_text(json.dumps({"data": str(tmp_path / "gone"), "command": "shelfd run"}))
    assert restart_command(str(tmp_path / "s")) is None


def test_a_daemon_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / ".config/shelfd").mkdir(parents=True)
    (tmp_path / ".config/shelfd/shelfd.toml").write_text("[unknown]\n")
    with Agent(tmp_path, f"--socket={tmp_path / 's'}", "--timeout", "8") as agent:
        agent.greet()
        answer = agent.tool("recall", query="tea")
        assert answer["isError"]
        assert "shelfd.toml" in answer["content"][0]["text"]
        sent = agent.send("tools/list")
        refused = agent.read()
        assert (refused["id"], refused["error"]["code"]) == (sent, -32003)
        assert agent.end() == 0


def test_none_is_started_where_that_is_not_wanted(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with Agent(tmp_path, f"--socket={path}", "--no-start") as agent:
        agent.greet()
        answer = agent.tool("remember", content="tea")
        assert answer["isError"]
        assert f"shelfd run --socket {path}" in answer["content"][0]["text"]
        assert not path.exists()
        assert agent.end() == 0


def test_a_full_daemon_is_asked_again_until_it_has_room(tmp_path: Path) -> None:
    path = tmp_path / "s"
    full = {"field": "connections", "type": "QuotaExceeded", "retryable": False}
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32010, "message": "close one", "data": full}}
    with socket.socket(socket.AF_UNIX) as listening, Agent(tmp_path, f"--socket={path}", "--timeout", "20") as agent:
        agent.send("tools/list")
        listening.bind(str(path))
        listening.listen()
        for number in range(3):
            connection, _ = listening.accept()
            with connection:
                line_ = connection.makefile("rb").readline()
                assert json.loads(line_)["method"] == "ping"
                if number < 2:
                    connection.sendall(json.dumps(refusal).encode() + b"\n")
                else:
                    connection.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n')
                    assert agent.read() == {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
    assert not path.with_name("none").exists()


def test_a_daemon_that_is_too_old_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        with Agent(tmp_path, f"--socket={path}") as agent:
            connection, _ = listening.accept()
            with connection:
                sent = agent.send("initialize", protocolVersion="2025-06-18")
                lines = connection.makefile("rb")
                ping = json.loads(lines.readline())
                assert json.loads(lines.readline())["method"] == "initialize"
                error = {"code": -32601, "message": "unknown method", "data": {}}
                connection.sendall(json.dumps({"jsonrpc": "2.0", "id": ping["id"], "error": error}).encode() + b"\n")
                answer = agent.read()
                assert (answer["id"], answer["error"]["code"]) == (sent, -32601)
                assert "older than this command" in answer["error"]["message"]
                later = agent.tool("recall", query="tea")
                assert "older than this command" in later["content"][0]["text"]


def test_a_restart_loses_nothing_and_repeats_nothing(daemon: Daemon) -> None:
    with Agent(daemon.directory, "--socket", daemon.socket, "--no-start", "--timeout", "30") as agent:
        agent.greet()
        agent.call("logging/setLevel", level="info")
        agent.call("resources/subscribe", uri="memory://nuggets/again")
        waiting: set[int] = set()
        for round_ in range(2):
            for number in range(40):
                arguments = {"content": f"cup {number} of round {round_}", "nugget": "again", "evolve": False}
                waiting.add(agent.send("tools/call", name="remember", arguments=arguments))
            if round_ % 2:
                daemon.stop()
            else:
                daemon.kill()
            daemon.start()
        told = []
        while waiting:
            message = agent.read()
            if "id" in message:
                assert not message["result"]["isError"], message
                waiting.remove(message["id"])
            else:
                told.append(message["method"])
        assert "notifications/resources/updated" in told
        assert daemon.call("nugget.status", name="again")["note_count"] == 80
        assert agent.end() == 0


def test_a_daemon_that_hangs_does_not_hang_the_client(daemon: Daemon) -> None:
    with Agent(daemon.directory, "--socket", daemon.socket, "--timeout", "0.3") as agent:
        agent.greet()
        agent.tool("remember", content="tea")
        daemon.signal(signal.SIGSTOP)
        try:
            answer = agent.tool("recall", query="tea")
            assert answer["isError"]
            assert "did not answer within 0.3 s" in answer["content"][0]["text"]
            agent.send("tools/list")
            assert agent.read()["error"]["code"] == -32009
            assert agent.call("ping") == {}
        finally:
            daemon.signal(signal.SIGCONT)
        until(lambda: not agent.tool("recall", query="tea")["isError"], "the daemon's answer")
        assert agent.end() == 0
