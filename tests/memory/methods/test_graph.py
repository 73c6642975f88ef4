"""The graph of notes: delete, move, hits, supersession."""

import pytest

from fakes import Api


async def test_a_deleted_note_is_hidden_and_keeps_its_links(either: Api) -> None:
    api = either
    one, two = await api.remember("one"), await api.remember("two")
    await api.call("link.upsert", source=one["id"], target=two["id"])
    result = await api.call("note.delete", id=one["id"])
    assert (result["changed"], result["note"]["hidden"]) == (True, True)
    assert (await api.call("note.delete", id=one["id"]))["changed"] is False
    restored = await api.call("note.restore", id=one["id"])
    assert [link["to"] for link in restored["note"]["links"]] == [two["id"]]


async def test_a_moved_note_keeps_its_id_and_follows_its_nugget(either: Api) -> None:
    api = either
    note = await api.remember("green", key="kettle", tags=["home"])
    await api.call("nugget.create", name="home")
    moved = (await api.call("note.move", id=note["id"], nugget="home"))["note"]
    assert (moved["id"], moved["nugget"]) == (note["id"], "home")
    assert "memory" not in moved["tags"]
    assert moved["tags"].count("home") == 1
    facts = await api.call("nugget.facts", name="home")
    assert [fact["key"] for fact in facts["facts"]] == ["kettle"]
    assert (await api.call("nugget.facts", name="memory"))["facts"] == []
    assert await api.found("kettle", nugget="home") == ["green"]
    assert (await api.call("note.move", id=note["id"], nugget="home"))["changed"] is False


async def test_a_note_does_not_move_where_there_is_no_nugget(either: Api) -> None:
    note = await either.remember("green", key="kettle")
    refused = await either.refused("note.move", id=note["id"], nugget="hmoe")

    assert (refused.code, refused.kind) == (-32001, "NuggetNotFound")
    assert [nugget["name"] for nugget in (await either.call("nugget.list"))["nuggets"]] == ["memory"]
    assert (await either.call("note.move", id=note["id"], nugget="memory"))["changed"] is False


async def test_a_fact_does_not_move_onto_another(api: Api) -> None:
    note = await api.remember("green", key="kettle")
    await api.remember("red", key="Kettle", nugget="home")
    refused = await api.refused("note.move", id=note["id"], nugget="home")
    assert refused.kind == "DuplicateKey"
    assert (await api.note(note["id"]))["nugget"] == "memory"


async def test_a_hit_counts_once_a_session(api: Api) -> None:
    note = await api.remember("one")
    hits = [(await api.call("note.record_hit", id=note["id"], session_id=s))["hits"] for s in ("a", "a", "b", "a")]
    assert hits == [1, 1, 2, 2]
    assert (await api.refused("note.record_hit", id="note-x", session_id="a")).kind == "NoteNotFound"


@pytest.mark.parametrize("method", ["mark_note_superseded", "note.supersede"])
async def test_a_replaced_note_leaves_recall_until_asked_for(api: Api, method: str) -> None:
    old, new = await api.remember("the office is in Berlin"), await api.remember("the office is in Rome")
    assert await api.call(method, note_id=old["id"], superseded_by_id=new["id"]) == {"ok": True}
    assert await api.found("office") == ["the office is in Rome"]
    assert len(await api.found("office", exclude_superseded=False)) == 2
    assert (await api.note(new["id"], full=True))["supersedes"] == [old["id"]]
    log = (await api.call("shelf.log"))["log"]
    assert log[-1]["kind"] == "note.superseded"


async def test_a_note_replaces_neither_itself_nor_what_replaced_it(api: Api) -> None:
    one, two = await api.remember("one"), await api.remember("two")
    itself = await api.call("mark_note_superseded", note_id=one["id"], superseded_by_id=one["id"])
    assert itself == {"ok": False, "reason": "superseded_by_id: is the same note"}
    assert (await api.call("mark_note_superseded", note_id=one["id"], superseded_by_id=two["id"]))["ok"]
    assert not (await api.call("mark_note_superseded", note_id=two["id"], superseded_by_id=one["id"]))["ok"]
    missing = await api.call("mark_note_superseded", note_id="note-x", superseded_by_id=one["id"])
    assert missing == {"ok": False, "reason": "note_id: there is no such note"}
