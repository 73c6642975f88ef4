"""entity.purge: no note is left that mentions somebody or something."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from fakes import Api, memory
from shelfd.memory.errors import Conflict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.tending.purge import new_cursor, purge_some
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


#: Notes of one person, of which rules that look for what a text mentions find the first alone.
NAMING: Final[Sequence[dict[str, Any]]] = (
    {"content": "Karla Wolff lives in Ghent."},
    {"content": "Appointment on Monday.", "author": "Karla Wolff"},
    {"content": "Likes tea.", "subject": "Karla Wolff"},
    {"content": "Call back.", "tags": ["karla-wolff"]},
    {"content": "See her file.", "aliases": ["Karla Wolff"]},
    {"content": "karla wolff rang"},
    {"content": "555-1234", "key": "karla wolff phone"},
    {"content": "It is blue.", "title": "the car of karla wolff"},
    {"content": "Ｋａｒｌａ Ｗｏｌｆｆ"},
    {"content": "Wolff, Karla: paid"},
    {"content": "Paid.", "fields": {"who": "Karla Wolff"}},
    {"content": "Paid too.", "fields": {"of": [{"first": "Karla", "last": "Wolff"}]}},
    {"content": "Imported.", "source_ref": "chats/karla_wolff.txt"},
)
OTHERS: Final = ("Karla came. Then Wolff did.", "Karla Wolffmann rang.", "The gate was open.")


async def _purge_person(api: Api, name: str = "Karla Wolff", **params: Any) -> dict[str, Any]:
    return await api.call("entity.purge", entity_type="person", entity_value=name, **params)


async def test_wherever_a_name_stands_its_note_goes(either: Api) -> None:
    ids = {(await either.remember(**note))["id"] for note in NAMING}
    left = [(await either.remember(text))["id"] for text in OTHERS]
    planned = await _purge_person(either, dry_run=True)
    assert (set(planned["note_ids"]), planned["notes"]) == (ids, len(ids))
    assert (planned["staying"], planned["staying_ids"]) == (1, [left[0]])
    purged = await _purge_person(either)
    assert (purged["note_ids"], purged["purged"], purged["remaining"]) == (planned["note_ids"], len(ids), 0)
    assert purged["staying_ids"] == planned["staying_ids"]
    assert {note["id"] for note in (await either.call("note.list", include_hidden=True))["notes"]} == set(left)
    assert (await _purge_person(either))["notes"] == 0


async def test_a_name_that_was_edited_away_takes_nothing_and_one_that_came_does(either: Api) -> None:
    gone = await either.remember("Paid.", fields={"who": "Karla Wolff"})
    came = await either.remember("Paid too.", fields={"who": "Tom"})
    assert (await _purge_person(either, dry_run=True))["note_ids"] == [gone["id"]]
    await either.call("note.edit", id=gone["id"], set_fields={"who": "Tom"})
    await either.call("note.edit", id=came["id"], set_fields={"who": "Karla Wolff"})
    assert (await _purge_person(either, dry_run=True))["note_ids"] == [came["id"]]


async def test_an_alias_is_looked_for_everywhere_too(either: Api) -> None:
    await either.call("alias.add", type="person", alias="Wren Ashdown", canonical="Karla Wolff")
    ids = [
        (await either.remember("wren ashdown rang"))["id"],
        (await either.remember("X.", author="Wren Ashdown"))["id"],
    ]
    assert sorted((await _purge_person(either, dry_run=True))["note_ids"]) == sorted(ids)
    assert sorted((await _purge_person(either, "wren ashdown", dry_run=True))["note_ids"]) == sorted(ids)


async def test_of_a_word_like_others_what_only_has_the_word_stays_and_is_named(either: Api) -> None:
    await either.remember("Rose Miller met Rose at the gate; Rose said it was late.")
    author = (await either.remember("It was late.", author="Rose"))["id"]
    flower = (await either.remember("The price of a rose rose."))["id"]
    tagged = (await either.remember("Water them.", tags=["rose"]))["id"]
    planned = await _purge_person(either, "Rose", dry_run=True)
    assert author in planned["note_ids"]
    assert {flower, tagged} <= set(planned["staying_ids"])


async def test_one_job_purges_however_many_notes_there_are(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.memory.tending.purge.IDS_OF_PIECE", 24)
    monkeypatch.setattr("shelfd.memory.methods.entity_purge._NAMED", 10)
    notes = [{"content": f"Karla Wolff was seen on {number} May."} for number in range(70)]
    await api.call("remember_many", notes=notes)
    purged = await _purge_person(api)
    assert (purged["notes"], purged["purged"], purged["remaining"], len(purged["note_ids"])) == (70, 70, 0, 10)
    (job,) = (await api.call("job.list"))["jobs"]
    assert (job["progress"], job["state"]) == ({"done": 70, "total": 70}, "done")
    assert api.shelf().view.jobs.pieces(job["id"], after=-1, limit=9) == []


async def test_a_purge_whose_list_of_notes_is_gone_does_not_say_that_it_is_done(
    api: Api,
) -> None:
    def lose(tx: Transaction) -> None:
        purge_some(tx, new_cursor(total=70), {"pieces": 3, "job": "job-none"})

    with pytest.raises(Conflict, match="ask for the purge again"):
        await api.shelf().commit(Origin("test", "test"), lose)


async def test_a_type_that_does_not_exist_is_refused(api: Api) -> None:
    error = await api.refused("entity.purge", {"entity_type": "colour", "entity_value": "red"})

    assert (error.code, error.field) == (-32602, "entity_type")
