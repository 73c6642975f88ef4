"""A merge by hand, its undo and a purge, over the socket of a daemon that is killed in between."""

from running import Daemon


def remember(daemon: Daemon, content: str, **named: str) -> str:
    return str(daemon.call("remember", content=content, **named)["note"]["id"])


def last_tx(daemon: Daemon) -> int:
    with daemon.connect() as client:
        return int(client.call("shelf.log", {"limit": 1000})["log"][-1]["tx"])


def test_a_merge_survives_a_kill_and_can_be_taken_back(daemon: Daemon) -> None:
    target, source = remember(daemon, "milk\nbread"), remember(daemon, "bread\neggs")
    merged = daemon.call("note.merge", target=target, source=source)
    assert merged["note"]["content"] == "milk\nbread\neggs"
    tx = last_tx(daemon)
    daemon.kill()
    daemon.start()

    assert daemon.call("note.get", id=source)["note"]["hidden"] is True
    assert daemon.call("note.merge", target=target, source=source)["changed"] is False
    assert daemon.call("undo", tx=tx)["kept"] == []
    contents = [note["content"] for note in daemon.call("note.list")["notes"]]
    assert sorted(contents) == ["bread\neggs", "milk\nbread"]


def test_a_nugget_that_was_purged_is_in_no_file(daemon: Daemon) -> None:
    stays = remember(daemon, "stays")
    for number in range(3):
        remember(daemon, f"4711-secret {number}", nugget="gone", key=f"key {number}")
    source = remember(daemon, "4711-secret to be merged", nugget="gone")
    target = remember(daemon, "4711-secret target", nugget="gone")
    daemon.call("note.merge", target=target, source=source)
    result = daemon.call("nugget.remove", name="gone", purge=True)

    assert result == {"removed": "gone", "hidden": 0, "purged": 5, "still_in": []}
    assert [note["id"] for note in daemon.call("note.list", include_hidden=True)["notes"]] == [stays]
    assert daemon.stop() == 0
    files = [path for path in daemon.data.rglob("*") if path.is_file()]
    assert not [path for path in files if b"4711-secret" in path.read_bytes()]
    assert "4711-secret" not in daemon.log.read_text()
