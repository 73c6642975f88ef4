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
