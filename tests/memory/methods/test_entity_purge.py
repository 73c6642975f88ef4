"""entity.purge: no note is left that mentions somebody or something."""

from pathlib import Path
from typing import Any

from fakes import Api, memory
from shelfd.storage import SqliteStores

TOLD = (
    "APT28 deployed X-Agent in May.",
    "The mail of Fancy Bear came from a new host.",
    "Ana calls the Fancy Bear crew the gardeners.",
)


async def _purge(api: Api, value: str = "APT28", **params: Any) -> dict[str, Any]:
    return await api.call("entity.purge", entity_type="actor", entity_value=value, **params)


async def test_a_dry_run_says_what_a_purge_would_take_and_takes_nothing(either: Api) -> None:
    ids = [(await either.remember(text))["id"] for text in TOLD]
    await either.remember("The mail server was patched.")
    await either.call("note.hide", id=ids[1])
    before = (await either.call("get_stats"))["last_seq"]
    planned = await _purge(either, dry_run=True)

    assert (planned["notes"], sorted(planned["note_ids"]), planned["remaining"]) == (3, sorted(ids), 3)
    assert (planned["purged"], planned["run_id"], planned["dry_run"]) == (0, None, True)
    assert (await either.call("get_stats"))["last_seq"] == before


async def test_a_purge_takes_every_note_under_any_of_the_names(either: Api) -> None:
    ids = [(await either.remember(text))["id"] for text in TOLD]
    other = (await either.remember("The mail server was patched."))["id"]
    await either.call("note.hide", id=ids[1])
    purged = await _purge(either, "fancy bear")

    assert (purged["purged"], purged["remaining"], purged["dry_run"]) == (3, 0, False)
    assert [note["id"] for note in (await either.call("note.list", include_hidden=True))["notes"]] == [other]
    assert (await either.call("recall_actor", actor_name="APT28"))["notes"] == []
    assert (await _purge(either))["notes"] == 0


async def test_a_name_that_a_caller_gave_goes_too_and_nothing_of_it_stays_in_the_file(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        await api.call("alias.add", type="person", alias="Wren Ashdown", canonical="Mirabel Quince")
        await api.remember("Wren Ashdown came at nine.")
        await api.remember("Yesterday Mirabel Quince left early.")
        await api.remember("The gate was open.")
        purged = await api.call("entity.purge", entity_type="person", entity_value="Mirabel Quince")
        assert (purged["purged"], purged["aliases"]) == (2, 1)
        names = [one["alias"] for one in (await api.call("alias.list", type="person"))["aliases"]]
        assert "Wren Ashdown" not in names
    stored = _stored(tmp_path)
    assert b"The gate was open" in stored
    assert not [word for word in (b"quince", b"ashdown") if word in stored.lower()]


def _stored(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def test_many_notes_go_in_many_steps(api: Api) -> None:
    for number in range(70):
        await api.remember(f"APT28 was seen on host {number}.")

    assert (await _purge(api))["purged"] == 70
    assert (await api.call("get_stats"))["total_notes"] == 0


async def test_a_type_that_does_not_exist_is_refused(api: Api) -> None:
    error = await api.refused("entity.purge", {"entity_type": "colour", "entity_value": "red"})

    assert (error.code, error.field) == (-32602, "entity_type")
