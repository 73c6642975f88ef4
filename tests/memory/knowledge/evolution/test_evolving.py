"""remember with evolve over each kind of stores: what becomes of the new note, and of older ones."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from shelfd.protocol import from_micros

DEPLOYED = "APT28 deployed X-Agent via spearphishing targeting NATO members"
SWITCHED = "APT28 stopped using X-Agent, switched to HeadLace backdoor"


async def evolve(api: Api, content: str, **named: Any) -> dict[str, Any]:
    result: dict[str, Any] = await api.call("remember", content=content, evolve=True, **named)
    return result


async def derived(api: Api) -> None:
    """Have the worker come to all notes."""
    await api.call("recall_entity", entity_type="tool", entity_value="mimikatz")


async def live(api: Api) -> list[str]:
    found = await api.call("note.list", include_superseded=False, order="created_at")
    return [note["content"] for note in found["notes"]]


@pytest.mark.parametrize("is_evolved", [True, False])
async def test_what_no_longer_holds_is_superseded(either: Api, is_evolved: bool) -> None:
    old = await either.call("remember", content=DEPLOYED, evolve=is_evolved)
    new = await evolve(either, SWITCHED)
    assert (old["status"], new["status"]) == ("created", "updated")
    assert new["superseded"] == [old["note"]["id"]]
    seen = await either.note(old["note"]["id"])
    assert (seen["superseded_by"], seen["hidden"]) == (new["note"]["id"], False)
    assert seen["superseded_reason"] == "no longer holds"
    assert (await either.note(new["note"]["id"], full=True))["supersedes"] == [old["note"]["id"]]
    assert await live(either) == [SWITCHED]
    found = await either.call("recall", query="X-Agent APT28")
    assert [one["note"]["content"] for one in found["results"]] == [SWITCHED]


async def test_what_was_never_so_is_corrected(either: Api) -> None:
    old = await evolve(either, "The review is on Wednesday.")
    new = await evolve(either, "Correction: the review is on Thursday, not on Wednesday.")
    assert (new["status"], new["superseded"]) == ("corrected", [old["note"]["id"]])


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("Sofia's teacher is Ms Lopez.", "Sofia's teacher is Mr Brown now, no longer Ms Lopez.", "updated"),
        ("Sofia's teacher is Ms Lopez.", "Sofia's teacher is Mr Brown, not Ms Lopez any more.", "updated"),
        ("Sofia's teacher is Ms Lopez.", "Sofia's teacher is now Mr Brown, not Ms Lopez.", "updated"),
        ("Sofia's teacher is Ms Lopez.", "Sofia's teacher is Mr Brown, not Ms Lopez.", "corrected"),
        ("Sofia's teacher is Ms Lopez.", "Correction: Sofia's teacher is Mr Brown now, not Ms Lopez.", "corrected"),
        ("The rent is 900 euros.", "The rent is 950 euros, no longer 900.", "updated"),
        ("Eva wohnt in Linz.", "Eva wohnt in Graz, nicht mehr in Linz.", "updated"),
        ("Eva wohnt in Linz.", "Eva wohnt in Graz, nicht in Linz.", "corrected"),
    ],
)
async def test_what_is_no_longer_so_was_so_once(either: Api, old: str, new: str, status: str) -> None:
    older = (await evolve(either, old))["note"]
    newer = await evolve(either, new)
    assert (newer["status"], newer["superseded"]) == (status, [older["id"]])
    assert ("valid_to" in await either.note(older["id"])) == (status == "updated")


async def test_what_is_said_already_is_not_written_again(either: Api) -> None:
    old = await evolve(either, "Eva lives in Linz.")
    before = either.shelf().view.log.last_seq
    again = await evolve(either, "eva now lives in Linz")
    assert (again["status"], again["note"]["id"]) == ("noop", old["note"]["id"])
    assert either.shelf().view.log.last_seq == before
    assert (await either.call("get_stats"))["notes_created"] == 1


@pytest.mark.parametrize(
    "beside", [{"tags": ["home"]}, {"title": "Where Eva lives"}, {"aliases": ["eva"]}, {"fields": {"colour": "red"}}]
)
async def test_what_says_more_beside_is_kept(either: Api, beside: dict[str, Any]) -> None:
    await evolve(either, "Eva lives in Linz.")
    assert (await evolve(either, "Eva lives in Linz.", **beside))["status"] == "created"
    assert (await evolve(either, "Eva lives in Linz.", tags=["scope:user"]))["status"] == "noop"


async def test_what_adds_to_older_notes_leaves_them(either: Api) -> None:
    await evolve(either, "Eva likes figs.")
    new = await evolve(either, "Eva likes dates.")
    assert (new["status"], new["superseded"], new["conflicts"]) == ("created", [], [])
    assert len(await live(either)) == 2


async def test_an_earlier_time_supersedes_nothing(either: Api) -> None:
    await evolve(either, "Eva lives in Linz.", occurred_at="2024-05-01T00:00:00Z")
    assert (await evolve(either, "Eva lives in Graz.", occurred_at="2024-04-01T00:00:00Z"))["superseded"] == []
    new = await evolve(either, "Eva lives in Wels.", occurred_at="2024-06-01T00:00:00Z")
    assert new["status"] == "updated"
    assert len(new["superseded"]) == 2


async def test_what_is_over_or_still_to_come_supersedes_nothing(either: Api) -> None:
    await evolve(either, "Eva lives in Linz.")
    now = either.clock.now()
    day = timedelta(days=1)
    either.clock.advance(day)
    for validity in ({"valid_to": now}, {"valid_from": now + 9 * day // timedelta(microseconds=1)}):
        named = {name: from_micros(value) for name, value in validity.items()}
        assert (await evolve(either, "Eva lives in Graz.", **named))["superseded"] == []


async def test_other_nuggets_scopes_and_sessions_are_none_of_its_business(either: Api) -> None:
    await evolve(either, "Eva lives in Linz.", nugget="work")
    await evolve(either, "Eva lives in Linz.", scope="session", session_id="one")
    await evolve(either, "Eva lives in Linz.", scope="project")
    assert (await evolve(either, "Eva lives in Graz.", scope="user"))["superseded"] == []
    other = await evolve(either, "Eva lives in Graz.", scope="session", session_id="two")
    assert other["superseded"] == []
    own = await evolve(either, "Eva lives in Wels.", scope="session", session_id="one")
    assert len(own["superseded"]) == 1


async def test_one_speaker_does_not_speak_for_another(either: Api) -> None:
    await evolve(either, "I live in Linz.", author="eva")
    assert (await evolve(either, "I live in Graz.", author="tom"))["superseded"] == []
    assert len((await evolve(either, "I live in Wels.", author="eva"))["superseded"]) == 1


async def test_what_is_hidden_superseded_or_expired_stays_as_it_is(either: Api) -> None:
    hidden = await evolve(either, "Eva lives in Linz.")
    await either.call("note.hide", id=hidden["note"]["id"])
    await evolve(either, "Eva lives in Graz.", ttl_days=1)
    either.clock.advance(timedelta(days=2))
    new = await evolve(either, "Eva lives in Wels.")
    assert (new["status"], new["superseded"]) == ("created", [])


async def test_a_key_keeps_its_meaning_and_reaches_notes_without_one(either: Api) -> None:
    loose = await evolve(either, "Eva lives in Linz.")
    fact = await evolve(either, "Eva lives in Graz.", key="eva's home")
    assert (fact["status"], fact["superseded"]) == ("updated", [loose["note"]["id"]])
    again = await evolve(either, "Eva lives in Graz.", key="eva's home")
    assert (again["status"], again["superseded"]) == ("noop", [])
    changed = await evolve(either, "Eva lives in Wels.", key="Eva's home")
    assert (changed["status"], changed["note"]["id"]) == ("updated", fact["note"]["id"])
    earlier = await evolve(either, "Eva lives in Rome.", key="eva's home", occurred_at="1999-01-01T00:00:00Z")
    assert (earlier["status"], earlier["note"]["content"]) == ("created", "Eva lives in Rome.")
    assert (earlier["note"]["kind"], earlier["note"]["superseded_by"]) == ("note", again["note"]["id"])
    later = await evolve(either, "Eva lives in Bonn.")
    assert later["superseded"] == [fact["note"]["id"]]
    assert (await evolve(either, "Eva lives in Bern.", key="eva's home"))["superseded"] == [later["note"]["id"]]
    assert await live(either) == ["Eva lives in Bern."]


async def test_an_edited_note_is_taken_for_what_it_says_now(either: Api) -> None:
    note = await evolve(either, "Eva lives in Linz.")
    await either.call("note.edit", id=note["note"]["id"], content="Eva lives in Graz. Tom lives there, too.")
    assert (await evolve(either, "Eva lives in Wels."))["superseded"] == []


async def test_a_moved_note_is_found_where_it_is(either: Api) -> None:
    note = await evolve(either, "Eva lives in Linz.")
    await either.call("nugget.create", name="work")
    await either.call("note.move", id=note["note"]["id"], nugget="work")
    await either.shelf().enrichment.reach()
    assert (await evolve(either, "Eva lives in Graz."))["superseded"] == []
    await either.call("nugget.rename", name="work", new_name="office")
    new = await evolve(either, "Eva lives in Wels.", nugget="office")
    assert new["superseded"] == [note["note"]["id"]]


async def test_a_supersession_is_in_the_history_and_can_be_taken_back(either: Api) -> None:
    old = await evolve(either, "Eva lives in Linz.")
    new = await evolve(either, "Eva lives in Graz.")
    versions = (await either.call("note.history", id=old["note"]["id"]))["versions"]
    assert versions[-1]["kind"] == "note.superseded"
    by = {"superseded_by": new["note"]["id"], "superseded_reason": "another value"}
    assert versions[-1]["change"] == {**by, "valid_to": new["note"]["created_at"]}
    await either.call("undo", tx=versions[-1]["seq"] - 1)
    seen = await either.note(old["note"]["id"])
    assert "superseded_by" not in seen
    assert (await either.note(new["note"]["id"]))["hidden"]
    assert await live(either) == ["Eva lives in Linz."]
    assert (await evolve(either, "Eva lives in Wels."))["superseded"] == [old["note"]["id"]]


async def test_a_repeated_request_is_answered_as_the_first(either: Api) -> None:
    await evolve(either, "Eva lives in Linz.")
    first = await evolve(either, "Eva lives in Graz.", idempotency_key="k")
    again = await evolve(either, "Eva lives in Graz.", idempotency_key="k")
    assert again["replayed"]
    assert {**again, "replayed": None} == {**first, "replayed": None}
    assert (await either.call("get_stats"))["notes_created"] == 2


@pytest.mark.parametrize("is_stored", [True, False])
async def test_a_purged_note_leaves_none_of_its_words(either: Api, is_stored: bool) -> None:
    old = await evolve(either, "Quentin lives in Oberwald.")
    new = await evolve(either, "Quentin lives in Unterwald.")
    if is_stored:
        await derived(either)
    await either.call("forget", id=new["note"]["id"], purge=True)
    assert "superseded_by" not in await either.note(old["note"]["id"])
    await derived(either)
    view = either.shelf().view
    assert [view.statements.rev(row) for row in (1, 2)] == [3, None]


async def test_another_name_of_the_same_makes_no_difference(either: Api) -> None:
    first = await either.call("remember", content="Fancy Bear uses X-Agent.")
    assert (await evolve(either, "APT28 no longer uses X-Agent."))["superseded"] == [first["note"]["id"]]
    second = await evolve(either, "APT-28 uses HeadLace.")
    await either.call("alias.add", type="actor", alias="Grey Otter", canonical="Fancy Bear")
    await either.call("alias.add", type="tool", alias="Oceanmap", canonical="HeadLace")
    assert (await evolve(either, "Grey Otter stopped using Zebrocy."))["superseded"] == []
    new = await evolve(either, "Grey Otter stopped using Oceanmap.")
    assert new["superseded"] == [second["note"]["id"]]


async def test_notes_that_come_together_are_of_what_their_names_stand_for(either: Api) -> None:
    await either.call("alias.add", type="person", alias="Bobby", canonical="Robert")
    old = await evolve(either, "Robert lives in Linz.")
    texts = ("Bobby lives in Wels.", "Robert lives in Graz.", "Bobby lives in Bern.")
    results = await asyncio.gather(*(evolve(either, text) for text in texts))
    ids = [old["note"]["id"], *(result["note"]["id"] for result in results)]
    assert [result["superseded"] for result in results] == [[one] for one in ids[:-1]]


async def test_a_name_that_was_taken_back_is_another_s_again(either: Api) -> None:
    await either.call("alias.add", type="person", alias="Bobby", canonical="Robert")
    old = await evolve(either, "Robert lives in Linz.")
    await either.call("alias.remove", type="person", alias="Bobby")
    assert (await evolve(either, "Bobby lives in Graz."))["superseded"] == []
    await either.call("alias.add", type="person", alias="Bobby", canonical="Robert")
    await either.shelf().enrichment.reach()
    assert old["note"]["id"] in (await evolve(either, "Bobby lives in Wels."))["superseded"]


@pytest.mark.parametrize(
    ("before", "after", "is_replaced"),
    [
        ("Our review is on 4 May at 8:30.", "Our review was moved to 11 May at 9:00.", True),
        ("Our review is on 4 May.", "Our review was postponed to 11 May at 9:00.", True),
        ("Die Besprechung ist am 4. Mai.", "Die Besprechung wurde auf den 11. Mai um 9:00 Uhr verschoben.", True),
        ("Our review is on Monday.", "Our review on Tuesday was moved to Thursday at 9:00.", False),
        ("Our review is on Monday at 8:00.", "Our review at 9:00 was moved to Thursday.", False),
    ],
)
async def test_what_is_moved_to_another_day_may_begin_at_another_hour(
    either: Api, before: str, after: str, is_replaced: bool
) -> None:
    old = await evolve(either, before)
    assert (await evolve(either, after))["superseded"] == [old["note"]["id"]][: int(is_replaced)]
