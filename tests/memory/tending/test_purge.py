"""Purge: what is forgotten for good is nowhere any more."""

from pathlib import Path
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import MERGED_INTO, Extra, Link, Provenance
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf.storing import get_note
from shelfd.memory.tending.reflection.merging import fingerprint


async def test_a_purged_note_is_nowhere(durable: Api, tmp_path: Path) -> None:
    api = durable
    note = await api.remember("the combination is 4711-secret", key="combination", aliases=["4711-secret lock"])
    other = await api.remember("stays")
    await api.call("note.edit", id=note["id"], content="it was 4711-secret, now changed", add_tags=["4711-secret"])
    await api.call("link.upsert", source=note["id"], target=other["id"], reason="4711-secret")
    await api.call("recall", query="combination 4711", session_id="s")
    result = await api.call("forget", id=note["id"], purge=True)

    assert result == {"forgotten": [note["id"]], "still_in": []}
    assert (await api.refused("note.get", id=note["id"])).kind == "NoteNotFound"
    assert (await api.refused("note.history", id=note["id"])).kind == "NoteNotFound"
    assert await api.found("combination 4711-secret") == []
    assert (await api.note(other["id"]))["links"] == []
    events = (await api.call("events.since", seq=0))["events"]
    assert events[-1]["type"] == "shelfd.note.purged.v1"
    assert "4711-secret" not in str(events)
    await api.shelves.close()
    assert "4711-secret" not in _text(tmp_path)


def _text(directory: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in directory.rglob("*") if path.is_file())


async def test_the_log_keeps_its_numbers(either: Api) -> None:
    api = either
    note = await api.remember("secret")
    await api.remember("stays")
    await api.call("note.delete", id=note["id"], hard=True)
    log = (await api.call("shelf.log"))["log"]
    assert [row["seq"] for row in log] == list(range(1, len(log) + 1))
    assert log[-1]["kind"] == "note.purged"


@pytest.mark.parametrize("hidden", [False, True])
async def test_a_hidden_note_can_be_purged_too(api: Api, hidden: bool) -> None:
    note = await api.remember("secret")
    if hidden:
        await api.call("note.hide", id=note["id"])
    assert (await api.call("forget", id=note["id"], purge=True))["forgotten"] == [note["id"]]


async def test_a_purged_key_is_free_again(api: Api) -> None:
    first = await api.remember("green", key="kettle")
    await api.call("forget", key="kettle", purge=True)
    second = await api.call("remember", content="red", key="kettle")
    assert second["status"] == "created"
    assert second["note"]["id"] != first["id"]


async def test_what_it_had_replaced_comes_back(api: Api) -> None:
    old, new = await api.remember("the office is in Berlin"), await api.remember("the office is in Rome")
    await api.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    await api.call("forget", id=new["id"], purge=True)
    assert await api.found("office") == ["the office is in Berlin"]


async def _merge(api: Api, target: dict[str, Any], source: dict[str, Any], line: str) -> None:
    """What a reflection leaves behind that has merged *source* into *target*."""

    def apply(tx: Transaction) -> None:
        to, of = get_note(tx.rows, target["id"]), get_note(tx.rows, source["id"])
        extra = Extra(provenance=(Provenance(of.id, (fingerprint(line),)),))
        tx.change_note(to, to._replace(content=f"{to.content}\n{line}", extra=extra), kind="note.merged")
        tx.hide(of)
        tx.put_link(Link(of.id, to.id, MERGED_INTO, "", tx.now), "memory")

    await api.shelf().commit(Origin("scheduler", "reflect", run_id="run-1"), apply)


async def test_lines_that_came_only_from_it_leave_the_note_it_was_merged_into(either: Api) -> None:
    api = either
    target = await api.remember("the harbour opens at six")
    source = await api.remember("the harbour opens at six\nits code is 4711-secret")
    await _merge(api, target, source, "its code is 4711-secret")
    await api.call("note.edit", id=target["id"], add_tags=["port"])
    await api.call(
        "note.edit", id=target["id"], content="the harbour opens at six\nits code is 4711-secret\nand closes"
    )
    await api.call("note.edit", id=target["id"], title="Harbour")
    result = await api.call("forget", id=source["id"], purge=True)
    assert result["still_in"] == []
    assert (await api.note(target["id"]))["content"] == "the harbour opens at six\nand closes"
    history = await api.call("note.history", id=target["id"])
    assert "4711-secret" not in str([version["change"] for version in history["versions"]])
    assert "4711-secret" not in str(api.shelf().view.log.page(since_seq=0, limit=99))


async def test_a_received_line_that_was_edited_is_named(api: Api) -> None:
    target, source = await api.remember("one"), await api.remember("two")
    await _merge(api, target, source, "two")
    await api.call("note.edit", id=target["id"], content="one\ntwo, edited")
    assert (await api.call("forget", id=source["id"], purge=True))["still_in"] == [target["id"]]


async def test_an_undo_says_what_a_purge_took_away(api: Api) -> None:
    target, source = await api.remember("one"), await api.remember("two")
    await _merge(api, target, source, "two")
    await api.call("forget", id=source["id"], purge=True)
    result = await api.call("reflection.undo", run_id="run-1")
    assert {(item["note_id"], item["why"]) for item in result["kept"]} >= {(source["id"], "purged")}


async def test_a_purge_is_told_again_under_its_key(api: Api) -> None:
    note = await api.remember("secret")
    first = await api.call("forget", id=note["id"], purge=True, idempotency_key="k")
    again = await api.call("forget", id=note["id"], purge=True, idempotency_key="k")
    assert again == {**first, "replayed": True}


async def _merged(api: Api) -> tuple[str, str]:
    target = await api.remember("the harbour opens at six")
    source = await api.remember("its code is 4711-secret", title="4711-secret", tags=["4711-secret"])
    await api.call("note.merge", target=target["id"], source=source["id"])
    return target["id"], source["id"]


async def test_names_and_tags_that_came_only_from_it_go_too(either: Api) -> None:
    target, source = await _merged(either)
    result = await either.call("forget", id=source, purge=True)
    note = await either.note(target)

    assert result["still_in"] == []
    assert (note["content"], note["title"], note["tags"][3:]) == ("the harbour opens at six", "", [])
    assert "4711-secret" not in str(either.shelf().view.log.page(since_seq=0, limit=99))


@pytest.mark.parametrize("back", ["undo", "revert"])
async def test_a_merge_that_was_taken_back_leaves_nothing_in_the_log(either: Api, back: str) -> None:
    target, source = await _merged(either)
    if back == "undo":
        tx = (await either.call("shelf.log", limit=1000))["log"][-1]["tx"]
        await either.call("undo", tx=tx)
    else:
        await either.call("note.revert", id=target, rev=1)
    assert "4711-secret" in str(either.shelf().view.log.page(since_seq=0, limit=99))
    result = await either.call("forget", id=source, purge=True)

    assert (await either.note(target))["content"] == "the harbour opens at six"
    assert "4711-secret" not in str(either.shelf().view.log.page(since_seq=0, limit=99))
    assert result["forgotten"] == [source]


async def test_what_went_on_to_a_third_note_goes_there_too(either: Api) -> None:
    target, source = await _merged(either)
    third = (await either.remember("the harbour is old"))["id"]
    await either.call("note.merge", target=third, source=target)
    assert (await either.call("forget", id=source, purge=True))["still_in"] == []

    assert (await either.note(third))["content"] == "the harbour is old\nthe harbour opens at six"
    assert "4711-secret" not in str(either.shelf().view.log.page(since_seq=0, limit=99))


async def test_a_line_the_target_has_itself_stays(api: Api) -> None:
    target = await api.remember("the harbour opens at six")
    source = await api.remember("the harbour opens at six\nits code is 4711-secret")
    await api.call("note.merge", target=target["id"], source=source["id"])
    await api.call("forget", id=source["id"], purge=True)

    assert (await api.note(target["id"]))["content"] == "the harbour opens at six"
