"""What was superseded and counts again: it holds until whenever it held before, whatever brought it back."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.tending import purge

LINZ, GRAZ, WELS = "Eva lives in Linz.", "Eva lives in Graz now.", "Eva moved to Wels."


async def moved(api: Api, *places: str, **named: Any) -> list[str]:
    """Store where Eva lives, each place in place of the one before; return the notes' ids."""
    ids: list[str] = []
    for said in places:
        result = await api.call("remember", content=said, evolve=True, **named)
        assert result["superseded"] == ids[-1:]
        ids.append(result["note"]["id"])
    return ids


def standing(note: dict[str, Any]) -> dict[str, Any]:
    """What a note says of whether it counts and until when it holds."""
    return {name: note[name] for name in ("superseded_by", "superseded_reason", "valid_to") if name in note}


async def versions(api: Api, note_id: str) -> list[dict[str, Any]]:
    return list((await api.call("note.history", id=note_id))["versions"])


async def test_what_a_purged_note_had_replaced_holds_as_long_as_before(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    assert standing(await either.note(old)).keys() == {"superseded_by", "superseded_reason", "valid_to"}
    await either.call("forget", id=new, purge=True)
    assert standing(await either.note(old)) == {}
    assert await either.found("where does Eva live") == [LINZ]
    assert (await versions(either, old))[-1]["change"] == {
        "superseded_by": None, "superseded_reason": None, "valid_to": None,
    }  # fmt: skip
    later = "2100-01-01T00:00:00Z"
    assert await either.found("where does Eva live", as_of=later) == [LINZ]
    again = await either.call("remember", content=WELS, evolve=True)
    assert again["superseded"] == [old]


async def test_until_when_a_caller_said_that_it_held_stays_after_a_purge(either: Api) -> None:
    until = "2100-01-01T00:00:00Z"
    (old,) = await moved(either, LINZ, valid_to=until)
    new = (await either.call("remember", content=GRAZ, evolve=True))["note"]["id"]
    await either.call("forget", id=new, purge=True)
    assert standing(await either.note(old)) == {"valid_to": until}


async def test_what_replaced_a_purged_note_replaces_what_that_had(either: Api) -> None:
    first, second, third = await moved(either, LINZ, GRAZ, WELS)
    was = standing(await either.note(first))
    await either.call("forget", id=second, purge=True)
    assert standing(await either.note(first)) == {**was, "superseded_by": third}
    assert await either.found("where does Eva live") == [WELS]
    await either.call("forget", id=third, purge=True)
    assert standing(await either.note(first)) == {}


async def test_a_nugget_is_purged_with_what_counts_again_meanwhile(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "NOTES_AT_ONCE", 1)
    first, second, _ = await moved(either, LINZ, GRAZ, WELS, nugget="eva")
    await either.call("note.edit", id=first, add_tags=["last"])
    await either.call("note.edit", id=second, add_tags=["last"])
    await either.call("nugget.remove", name="eva", purge=True)
    assert (await either.call("note.list", include_hidden=True))["total"] == 0


async def test_a_hidden_note_stays_hidden_when_it_is_superseded_no_more(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    await either.call("note.hide", id=old)
    await either.call("forget", id=new, purge=True)
    note = await either.note(old)
    assert (note["hidden"], standing(note)) == (True, {})


async def test_a_supersession_that_is_taken_back_takes_its_end_along(either: Api) -> None:
    (old,) = await moved(either, LINZ)
    seq = either.shelf().view.log.last_seq
    await either.call("remember", content=GRAZ, evolve=True)
    assert (await either.call("undo", tx=seq + 1))["kept"] == []
    assert standing(await either.note(old)) == {}


async def test_an_undo_does_not_end_what_a_purged_note_had_replaced(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    seq = either.shelf().view.log.last_seq
    await either.call("note.restore", id=old)
    await either.call("forget", id=new, purge=True)
    undone = await either.call("undo", tx=seq + 1)
    assert standing(await either.note(old)) == {}
    assert [(one["field"], one["why"]) for one in undone["kept"]] == [("superseded_by", "purged")]


async def test_a_revert_does_not_end_what_a_purged_note_had_replaced(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    rev = (await either.note(old))["rev"]
    await either.call("note.restore", id=old)
    await either.call("forget", id=new, purge=True)
    await either.call("note.revert", id=old, rev=rev)
    assert standing(await either.note(old)) == {}


async def test_a_key_that_has_a_value_again_holds(either: Api) -> None:
    fact = (await either.call("remember", content=LINZ, key="home of Eva", evolve=True))["note"]["id"]
    result = await either.call("remember", content="Eva moved to Graz.", evolve=True)
    assert result["superseded"] == [fact]
    for content in (LINZ, "Eva lives in Rome."):
        told = await either.call("remember", content=content, key="home of Eva")
        assert (told["note"]["id"], standing(told["note"])) == (fact, {})
        await either.call("undo", tx=either.shelf().view.log.last_seq)
    until = "2100-01-01T00:00:00Z"
    told = await either.call("remember", content=LINZ, key="home of Eva", valid_to=until)
    assert standing(told["note"]) == {"valid_to": until}


async def test_notes_do_not_replace_each_other_in_a_circle(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    seq = either.shelf().view.log.last_seq
    await either.call("note.restore", id=old)
    await either.call("mark_note_superseded", note_id=new, superseded_by_id=old)
    await either.call("undo", tx=seq + 1)
    assert await either.found("where does Eva live") == [LINZ]
    rev = (await versions(either, old))[1]["rev"]
    await either.call("note.revert", id=old, rev=rev)
    assert await either.found("where does Eva live") == [LINZ]


async def test_a_note_whose_successor_expired_can_be_restored(either: Api) -> None:
    old = (await moved(either, LINZ))[0]
    new = await either.call("remember", content=GRAZ, evolve=True, ttl_days=1)
    assert new["superseded"] == [old]
    either.clock.advance(timedelta(days=2))
    await asyncio.sleep(0)
    assert await either.found("where does Eva live") == []
    await either.call("note.restore", id=old)
    assert standing(await either.note(old)) == {}
    assert await either.found("where does Eva live") == [LINZ]


async def test_what_replaced_an_undone_note_replaces_what_that_had(either: Api) -> None:
    (first,) = await moved(either, LINZ)
    seq = either.shelf().view.log.last_seq
    either.clock.advance(timedelta(days=1))
    second = (await either.call("remember", content=GRAZ, evolve=True))["note"]["id"]
    either.clock.advance(timedelta(days=1))
    third = await either.call("remember", content=WELS, evolve=True)
    assert third["superseded"] == [second]
    undone = await either.call("undo", tx=seq + 1)
    assert [(one["note_id"], one["field"], one["why"]) for one in undone["kept"]] == [
        (first, "superseded_by", "edited")
    ]
    ended = await either.note(first)
    assert ended["superseded_by"] == third["note"]["id"]
    assert ended["valid_to"] == third["note"]["valid_from"]
    assert await either.found("where does Eva live") == [WELS]
    await either.call("undo", tx=either.shelf().view.log.page(since_seq=seq + 5, limit=9)[0].tx)
    assert (await either.note(first))["superseded_by"] == second
    await either.call("undo", tx=seq + 3)
    await either.call("undo", tx=seq + 1)
    assert standing(await either.note(first)) == {}


async def test_what_an_undone_note_had_replaced_holds_no_longer_than_until_it_was_replaced(either: Api) -> None:
    (first,) = await moved(either, LINZ, valid_to="2100-01-01T00:00:00Z")
    seq = either.shelf().view.log.last_seq
    either.clock.advance(timedelta(days=1))
    await either.call("remember", content=GRAZ, evolve=True)
    either.clock.advance(timedelta(days=1))
    third = await either.call("remember", content=WELS, evolve=True)
    await either.call("undo", tx=seq + 1)
    assert (await either.note(first))["valid_to"] == third["note"]["valid_from"]
    assert await either.found("where does Eva live", as_of="2050-01-01T00:00:00Z") == [WELS]


async def test_what_is_undone_together_stands_for_nothing(either: Api) -> None:
    (first,) = await moved(either, LINZ)
    seq = either.shelf().view.log.last_seq
    notes = [{"content": content, "evolve": True} for content in (GRAZ, WELS)]
    batch = await either.call("remember_many", notes=notes)
    assert [one["status"] for one in batch["evolved"]] == ["updated", "updated"]
    assert (await either.call("undo", tx=seq + 1))["kept"] == []
    assert standing(await either.note(first)) == {}
    assert await either.found("where does Eva live") == [LINZ]


async def test_a_supersession_that_a_caller_takes_back_ends_whatever_came_later(either: Api) -> None:
    old, new = [(await either.remember(content))["id"] for content in (LINZ, "Eva lives in Rome.")]
    seq = either.shelf().view.log.last_seq
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=new)
    later = await either.call("remember", content=WELS, evolve=True)
    assert later["superseded"] == [new]
    assert (await either.call("undo", tx=seq + 1))["kept"] == []
    assert standing(await either.note(old)) == {}


async def test_an_undo_brings_back_no_reason_for_what_is_superseded_no_more(either: Api) -> None:
    old, new = await moved(either, LINZ, GRAZ)
    seq = either.shelf().view.log.last_seq
    other = (await either.remember("Eva lives in Rome."))["id"]
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=other)
    await either.call("note.revert", id=old, rev=1)
    undone = await either.call("undo", tx=seq + 2)
    assert [one["field"] for one in undone["kept"]] == ["superseded_by"]
    assert standing(await either.note(old)) == {}
    assert (await either.note(new))["rev"] == 1


async def test_what_is_superseded_holds_no_longer_than_until_then_whatever_was_said(either: Api) -> None:
    said = {"valid_to": "2100-01-01T00:00:00Z"}
    (old,) = await moved(either, LINZ, **said)
    either.clock.advance(timedelta(days=10))
    seq = either.shelf().view.log.last_seq
    new = await either.call("remember", content=GRAZ, evolve=True)
    assert (await either.note(old))["valid_to"] == new["note"]["valid_from"]
    assert await either.found("where does Eva live", as_of="2026-01-05T00:00:00Z") == [LINZ]
    assert await either.found("where does Eva live", as_of="2050-01-01T00:00:00Z") == [GRAZ]
    await either.call("undo", tx=seq + 1)
    assert standing(await either.note(old)) == said

    wrong = await either.remember("The review is on Wednesday.", **said)
    right = "Correction: the review is on Thursday, not on Wednesday."
    corrected = await either.call("remember", content=right, evolve=True)
    assert corrected["superseded"] == [wrong["id"]]
    assert await either.found("when is the review", as_of="2026-02-01T00:00:00Z") == [right]
    await either.call("note.restore", id=wrong["id"])
    assert standing(await either.note(wrong["id"])) == said

    other = await either.remember("Eva lives in Rome.")
    await either.call("mark_note_superseded", note_id=old, superseded_by_id=other["id"])
    assert (await either.note(old))["valid_to"] == other["created_at"]
