"""The Python clients against canned answers."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import shelfd.client
from client.fake_daemon import FakeDaemon, event, rpc_error
from shelfd.client import AsyncClient, Client, NotRunning, RpcFailure, connect
from shelfd.client.endpoint import candidates
from shelfd.client.failure import ProtocolError
from shelfd.client.transport import as_json


def test_every_public_name_is_there() -> None:
    for name in shelfd.client.__all__:
        assert getattr(shelfd.client, name) is not None
    with pytest.raises(AttributeError):
        shelfd.client.nothing  # noqa: B018


def test_calls_results_and_failures(tmp_path: Path) -> None:
    answers = {"a": {"x": 1}, "b": rpc_error(-32001, "gone", id="n1")}
    with FakeDaemon(tmp_path / "s", answers) as daemon, connect(str(daemon.path)) as client:
        assert client.call("a", {"text": "ü"}) == {"x": 1}
        with pytest.raises(RpcFailure, match="gone") as caught:
            client.call("b")
        assert (caught.value.code, caught.value.data["id"], caught.value.is_retryable) == (-32001, "n1", False)
        assert client.call("a") == {"x": 1}
    assert daemon.asked[0] == ("a", {"text": "ü"})


def test_params_may_be_written_already(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path / "s", {"a": 1}) as daemon, connect(str(daemon.path)) as client:
        written = {"parts": as_json([{"raw": 'a "}}" ü'}]), "more": as_json(None)}
        client.call("a", {"known": {"parts": None}}, written=written)
        client.call("a", {}, written={"parts": as_json([])})
    parts = [{"raw": 'a "}}" ü'}]
    assert daemon.asked == [("a", {"known": {"parts": None}, "parts": parts, "more": None}), ("a", {"parts": []})]


def test_requests_may_be_under_way_together(tmp_path: Path) -> None:
    answers = {"a": lambda params: {"was": params["n"]}, "b": rpc_error(-32001, "gone")}
    with FakeDaemon(tmp_path / "s", answers) as daemon, connect(str(daemon.path)) as client:
        first, refused, last = (
            client.begin("a", {"n": 1}),
            client.begin("b", {"shelf": "x"}),
            client.begin("a", {"n": 3}),
        )
        assert client.end(last) == {"was": 3}
        with pytest.raises(RpcFailure, match="gone") as caught:
            client.end(refused)
        assert caught.value.shelf == "x"
        assert client.call("a", {"n": 4}) == {"was": 4}
        assert client.end(first) == {"was": 1}


@pytest.mark.parametrize("refused", [(1,), (2,), (3,), (1, 3), (1, 2, 3)])
def test_a_refusal_without_an_id_is_of_what_has_no_other_answer(refused: tuple[int, ...]) -> None:
    ours, theirs = socket.socketpair()
    with Client(ours) as client, theirs:
        begun = [client.begin("a", {"n": number}) for number in (1, 2, 3)]
        # What is refused unread is answered at once, before what came before it.
        answers: list[dict[str, Any]] = [{"id": None, "error": {"code": -32005, "message": "large"}} for _ in refused]
        answers += [{"id": id_, "result": id_} for id_ in begun if id_ not in refused]
        theirs.sendall(b"".join(as_json(answer) + b"\n" for answer in answers))
        for id_ in begun:
            if id_ in refused:
                with pytest.raises(RpcFailure, match="large"):
                    client.end(id_)
            else:
                assert client.end(id_) == id_


def test_events_come_until_the_connection_ends(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path / "s", {"events.subscribe": {"subscription": "s", "seq": 0}}) as daemon:
        daemon.notifications = [[event(1), event(2)]]
        with connect(str(daemon.path)) as client:
            events = client.events(types=["note.*"], since_seq=0)
            assert [next(events)["params"]["seq"] for _ in range(2)] == [1, 2]
            with pytest.raises(ConnectionError):
                next(events)


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(NotRunning) as caught:
        connect(str(tmp_path / "none"))
    assert caught.value.tried == ((str(tmp_path / "none"), "No such file or directory"),)
    with pytest.raises(NotRunning, match="too long"):
        connect("/tmp/" + "x" * 200)


def test_a_dead_socket_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = tmp_path / "shelfd.sock"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(dead))
    (tmp_path / "shelfd").mkdir()
    monkeypatch.setattr("shelfd.client.endpoint.SYSTEM_SOCKET", str(tmp_path / "none"))
    monkeypatch.delenv("SHELFD_SOCKET", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with FakeDaemon(tmp_path / "shelfd" / "shelfd.sock", {"a": 1}) as daemon, connect() as client:
        assert client.call("a") == 1
    assert daemon.asked == [("a", {})]


def test_the_places_are_the_contract_s() -> None:
    assert candidates("/flag", {"SHELFD_SOCKET": "/env"}) == ["/flag"]
    assert candidates(None, {"SHELFD_SOCKET": "/env"}) == ["/env"]
    found = candidates(None, {"XDG_RUNTIME_DIR": "/r", "XDG_DATA_HOME": "/d"})
    assert found == ["/r/shelfd.sock", "/run/shelfd.sock", "/d/shelfd/shelfd.sock"]


def test_another_users_socket_is_recognised(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(999)
                connection.sendall(b"220 mail.example.org ESMTP\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with connect(str(tmp_path / "s")) as client, pytest.raises(ProtocolError):
            client.call("a")
        thread.join(30)


async def test_replies_find_their_requests_in_any_order(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [await reader.readline() for _ in range(3)]
        writer.write(b'{"jsonrpc":"2.0","method":"event","params":{"seq":1}}\n')
        for number in (3, 1, 2):
            assert f'"id":{number}'.encode() in lines[number - 1]
            writer.write(f'{{"jsonrpc":"2.0","id":{number},"result":{number}}}\n'.encode())
        await reader.readline()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(serve, str(tmp_path / "s"))
    async with server, await AsyncClient.connect(str(tmp_path / "s")) as client:
        assert await asyncio.gather(*(client.call("m", {"n": n}) for n in range(3))) == [1, 2, 3]
        assert await client.notifications.get() == {"jsonrpc": "2.0", "method": "event", "params": {"seq": 1}}
        with pytest.raises(ConnectionError):
            await client.call("the server closes instead of answering")
        assert await client.notifications.get() is None
        with pytest.raises(ConnectionError):
            await client.call("at once")


async def test_the_async_client_fails_and_times_out_as_told(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"busy","data":{"retryable":true}}}\n')
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(serve, str(tmp_path / "s"))
    async with server:
        client = await AsyncClient.connect(str(tmp_path / "s"))
        with pytest.raises(RpcFailure) as caught:
            await client.call("a")
        assert caught.value.is_retryable
        with pytest.raises(TimeoutError):
            await client.call("never answered", timeout_s=0.01)
        await client.notify("$/cancel", {"id": 2})
        waiting = client.submit("never answered either")
        await client.close()
        with pytest.raises(ConnectionError):
            await waiting
        await client.close()


async def test_the_async_client_says_what_it_tried(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="none"):
        await AsyncClient.connect(str(tmp_path / "none"))
