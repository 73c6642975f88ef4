"""forget, note.hide and note.restore: the one soft-deleted state."""

from fakes import Api


async def test_forget_by_id_hides_the_note(either: Api) -> None:
    note = await either.remember("tea")

    assert await either.call("forget", id=note["id"]) == {"forgotten": [note["id"]], "still_in": []}
    stored = await either.note(note["id"])
    assert stored["hidden"] is True
    assert stored["archived_at"] == "2026-01-01T00:00:00Z"
    assert await either.found("tea") == []


async def test_forget_by_nugget_and_key_ignores_case(either: Api) -> None:
    note = await either.remember("green", key="Colour", nugget="n")

    assert (await either.call("forget", nugget="N", key="cOLOUR"))["forgotten"] == [note["id"]]


async def test_forget_by_key_means_the_default_nugget(api: Api) -> None:
    note = await api.remember("green", key="colour")

    assert (await api.call("forget", key="colour"))["forgotten"] == [note["id"]]


async def test_forget_of_an_unknown_key_or_nugget_forgets_nothing(api: Api) -> None:
    assert (await api.call("forget", key="colour"))["forgotten"] == []
    assert (await api.call("forget", nugget="nowhere", key="colour"))["forgotten"] == []


async def test_forget_of_a_key_that_is_elsewhere_says_where(either: Api) -> None:
    for nugget in ("home", "garden", "shed"):
        await either.remember("green", key="Colour", nugget=nugget)
    await either.call("forget", nugget="shed", key="colour")

    assert (await either.call("forget", key="COLOUR"))["elsewhere"] == ["home", "garden"]
    assert (await either.call("forget", key="colour", purge=True))["elsewhere"] == ["home", "garden"]
    assert "elsewhere" not in await either.call("forget", nugget="shed", key="colour")
    assert "elsewhere" not in await either.call("forget", key="weight")


async def test_forget_takes_exact_keys_only(api: Api) -> None:
    await api.remember("green", key="favourite colour")

    assert (await api.call("forget", key="colour"))["forgotten"] == []


async def test_forget_twice_forgets_once(api: Api) -> None:
    await api.remember("green", key="colour")

    assert len((await api.call("forget", key="colour"))["forgotten"]) == 1
    assert (await api.call("forget", key="colour"))["forgotten"] == []


async def test_forget_of_an_unknown_id_is_an_error(api: Api) -> None:
    error = await api.refused("forget", id="note-memory-00000000")

    assert (error.code, error.kind) == (-32001, "NoteNotFound")


async def test_hide_and_restore_are_idempotent(either: Api) -> None:
    note = await either.remember("tea")
    results = [
        (await either.call(method, id=note["id"]))
        for method in ("note.restore", "note.hide", "note.hide", "note.restore", "note.restore")
    ]

    assert [result["changed"] for result in results] == [False, True, False, True, False]
    assert [result["note"]["rev"] for result in results] == [1, 2, 2, 3, 3]
    assert (await either.call("get_stats"))["last_seq"] == 4


async def test_restore_brings_a_note_back_into_recall(either: Api) -> None:
    note = await either.remember("tea")
    await either.call("note.hide", id=note["id"])
    await either.call("note.restore", id=note["id"])

    assert await either.found("tea") == ["tea"]
    assert "archived_at" not in await either.note(note["id"])


async def test_restore_brings_back_the_nugget_too(either: Api) -> None:
    note = await either.remember("tea", nugget="n")
    await either.call("nugget.remove", name="n")
    assert (await either.refused("nugget.status", name="n")).code == -32001

    await either.call("note.restore", id=note["id"])

    assert (await either.call("nugget.status", name="n"))["note_count"] == 1


async def test_hidden_notes_are_listed_on_request(either: Api) -> None:
    note = await either.remember("tea")
    await either.call("note.hide", id=note["id"])

    assert (await either.call("note.list"))["total"] == 0
    assert (await either.call("note.list", include_hidden=True))["total"] == 1
    assert await either.found("tea", include_hidden=True) == ["tea"]


async def moved(api: Api) -> tuple[str, str]:
    """Store a note and another that supersedes it; return their ids."""
    old = await api.remember("Eva lives in Linz.")
    new = await api.call("remember", content="Eva lives in Graz now.", evolve=True)
    assert new["superseded"] == [old["id"]]
    return old["id"], new["note"]["id"]


async def test_what_a_hidden_note_had_replaced_stays_so_until_it_is_restored(either: Api) -> None:
    old, new = await moved(either)
    replaced = await either.note(old)
    assert await either.call("forget", id=new) == {"forgotten": [new], "still_in": [], "still_superseded": [old]}
    assert await either.found("where does Eva live") == []

    seq = either.shelf().view.log.last_seq
    restored = await either.call("note.restore", id=old)
    assert restored["changed"]
    assert {"superseded_by", "valid_to"} <= replaced.keys()
    assert not {"superseded_by", "superseded_reason", "valid_to"} & restored["note"].keys()
    assert await either.found("where does Eva live") == ["Eva lives in Linz."]
    assert (await either.call("note.history", id=old))["versions"][-1]["kind"] == "note.restored"

    assert (await either.call("undo", tx=seq + 1))["kept"] == []
    again = await either.note(old)
    assert (again["superseded_by"], again["valid_to"]) == (new, replaced["valid_to"])
    await either.call("forget", id=old)
    await either.call("note.restore", id=new)
    assert (await either.call("forget", id=new)) == {"forgotten": [new], "still_in": []}


async def test_a_note_that_is_restored_counts_beside_what_replaced_it(either: Api) -> None:
    old, _ = await moved(either)
    await either.call("note.restore", id=old)
    assert sorted(await either.found("where does Eva live")) == ["Eva lives in Graz now.", "Eva lives in Linz."]
    assert not (await either.call("note.restore", id=old))["changed"]


async def test_a_hidden_note_that_was_superseded_comes_back_in_two_steps(either: Api) -> None:
    old, new = await moved(either)
    await either.call("note.hide", id=old)
    first = await either.call("note.restore", id=old)
    assert (first["changed"], first["note"]["superseded_by"]) == (True, new)
    second = await either.call("note.restore", id=old)
    assert (second["changed"], "superseded_by" in second["note"]) == (True, False)


async def test_what_a_caller_says_of_until_when_a_note_held_stays_when_it_is_restored(either: Api) -> None:
    old, new = await moved(either)
    third = await either.remember("Eva lives in Wels.")
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=third["id"])
    await either.call("note.edit", id=old, metadata={"valid_to": "2025-12-31T00:00:00Z"})
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=new)
    restored = await either.call("note.restore", id=old)
    assert restored["note"]["valid_to"] == "2025-12-31T00:00:00Z"
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=third["id"])
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=new)
    assert (await either.call("note.restore", id=old))["note"]["valid_to"] == "2025-12-31T00:00:00Z"
