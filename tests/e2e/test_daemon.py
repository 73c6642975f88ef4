"""The whole product over its socket: a real daemon in its own process."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client import RpcFailure


def refused(daemon: Daemon, method: str, **params: Any) -> RpcFailure:
    with pytest.raises(RpcFailure) as failure:
        daemon.call(method, **params)
    return failure.value


def raw(daemon: Daemon, data: bytes) -> list[dict[str, Any]]:
    """Send bytes, close the sending half, read replies to the end: what socat does."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(daemon.socket)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    return [json.loads(line) for line in received.splitlines()]


def test_two_clients_share_one_memory(daemon: Daemon) -> None:
    with daemon.connect() as anna, daemon.connect() as ben:
        note = anna.call("remember", {"content": "the kettle is green"})["note"]
        found = ben.call("recall", {"query": "which colour has the kettle"})
    assert [hit["note"]["id"] for hit in found["results"]] == [note["id"]]


def test_a_recall_sees_what_was_sent_before_it_on_the_same_connection(daemon: Daemon) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": n, "method": "remember", "params": {"content": f"kettle number {n}"}}
        for n in range(40)
    ]
    lines.append({"jsonrpc": "2.0", "id": "r", "method": "recall", "params": {"query": "kettle number 39", "k": 1}})
    replies = raw(daemon, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    recall = next(reply for reply in replies if reply["id"] == "r")
    assert recall["result"]["results"][0]["note"]["content"] == "kettle number 39"


def test_garbage_gets_an_error_and_the_connection_goes_on(daemon: Daemon) -> None:
    good = b'{"jsonrpc":"2.0","id":1,"method":"remember","params":{"content":"after the garbage"}}\n'
    replies = raw(daemon, b"garbage\n\xff\xfe\n[]\n{}\n" + good + b'{"half')
    assert [reply["error"]["code"] for reply in replies if "error" in reply] == [-32700, -32700, -32600, -32600]
    assert [reply["id"] for reply in replies if "result" in reply] == [1]
    assert daemon.call("get_stats")["total_notes"] == 1


def test_a_batch_of_a_thousand_is_carried_out_and_one_more_is_refused(daemon: Daemon) -> None:
    member = {"jsonrpc": "2.0", "method": "remember"}
    batch = [{**member, "id": n, "params": {"content": f"note {n}"}} for n in range(1001)]
    (reply,) = raw(daemon, json.dumps(batch).encode() + b"\n")
    assert (reply["error"]["code"], reply["error"]["data"]["limit"]) == (-32602, 1000)
    (replies,) = raw(daemon, json.dumps(batch[:1000]).encode() + b"\n")
    assert [member["id"] for member in replies] == list(range(1000))  # type: ignore[index,comparison-overlap]
    assert daemon.call("get_stats")["total_notes"] == 1000


@pytest.mark.parametrize(
    ("method", "params", "code", "field"),
    [
        ("remember", {"content": ""}, -32602, "content"),
        ("remember", {"content": " \n"}, -32602, "content"),
        ("remember", {"content": "x" * 262_145}, -32005, "content"),
        ("remember", {"content": "x", "key": "a\u0000b"}, -32602, "key"),
        ("remember", {"content": "x", "colour": "red"}, -32602, "colour"),
        ("remember", {"content": 7}, -32602, "content"),
        ("remember", {"content": "x", "key": "user:"}, -32602, "key"),
        ("remember", {"content": "x", "key": "a", "title": "b"}, -32602, "title"),
        ("remember", {"content": "x", "occurred_at": "2026-01-01T10:00:00"}, -32602, "occurred_at"),
        ("remember", {"content": "x", "shelf": "Nowhere!"}, -32602, "shelf"),
        ("recall", {"query": "x", "k": 0}, -32602, "k"),
        ("recall", {"query": "x", "k": 201}, -32602, "k"),
        ("recall", {"query": "x", "known_at": "yesterday"}, -32602, "known_at"),
        ("recall", {"query": "x" * 8193}, -32005, "query"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input_names_code_and_field_and_changes_nothing(
    daemon: Daemon, method: str, params: dict[str, Any], code: int, field: str
) -> None:
    failure = refused(daemon, method, **params)
    assert (failure.code, failure.data["field"]) == (code, field)
    assert daemon.call("get_stats")["last_seq"] == 0


def test_what_does_not_exist_is_said_to_be_missing(daemon: Daemon) -> None:
    assert refused(daemon, "note.get", id="note-memory-00000000").data["type"] == "NoteNotFound"
    assert refused(daemon, "recall", query="x", nugget="nothing").data["type"] == "NuggetNotFound"
    assert refused(daemon, "recall", query="x", shelf="nothing").data["type"] == "ShelfNotFound"
    assert refused(daemon, "recal", query="x").code == -32601
    assert refused(daemon, "recall", query="x", mode="dense").code == -32007


def test_events_resume_where_they_were_left(daemon: Daemon) -> None:
    with daemon.connect() as client:
        client.call("remember", {"content": "one"})
        first = next(client.events(types=["note.created"], since_seq=0))["params"]
    daemon.call("remember", content="two")
    with daemon.connect() as client:
        second = next(client.events(types=["note.created"], since_seq=first["seq"]))["params"]
    assert (first["type"], second["type"]) == ("shelfd.note.created.v1", "shelfd.note.created.v1")
    assert second["prev_seq"] == first["seq"]
    assert second["seq"] > first["seq"]


def test_a_damaged_shelf_is_refused_alone_and_never_overwritten(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.call("shelf.create", shelf="work")
        daemon.call("remember", content="safe", shelf="work")
        daemon.call("remember", content="here")
        assert daemon.stop() == 0
        file = daemon.data / "shelves" / "work" / "shelf.db"
        damaged = b"no database" * 1000
        file.write_bytes(damaged)
        daemon.start()
        failure = refused(daemon, "recall", query="safe", shelf="work")
        assert (failure.code, failure.data["type"]) == (-32012, "StorageCorrupt")
        assert "backup" in failure.message
        assert refused(daemon, "shelf.create", shelf="work").code == -32002
        assert daemon.call("recall", query="here")["results"]
        states = {shelf["shelf"]: shelf["state"] for shelf in daemon.call("system.health")["shelves"]}
        assert states == {"default": "open", "work": "corrupt"}
        assert file.read_bytes() == damaged


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        ids = daemon.call("remember_many", notes=[{"content": f"number {n} of the harbour"} for n in range(300)])["ids"]
        assert daemon.stop() == 0
        daemon.start()
        found = daemon.call("recall", query="number 123 of the harbour", k=1, min_seq=300)
        assert found["results"][0]["note"]["id"] == ids[123]
        assert daemon.call("shelf.check")["ok"]
