"""session.extract: what was said becomes notes and links, once, turn by turn."""

import asyncio
from typing import Any

import pytest

from fakes import ROOT, Api
from shelfd.memory.jobs.work import Work
from shelfd.memory.sessions.extraction import engines
from shelfd.memory.sessions.extraction.rules import operations
from shelfd.memory.sessions.extraction.turns import KnownEntities, Message

SAID = "My sister Ada is a nurse. The cellar is flooded. I'll call the plumber tomorrow."


async def extract(api: Api, *texts: str, turn: int = 1, author: str | None = "Ben", **named: Any) -> dict[str, Any]:
    turns = [{"text": text, **({} if author is None else {"author": author})} for text in texts]
    return await api.call("session.extract", session_id="s", turns=turns, turn=turn, **named)


def turns(*texts: str) -> list[dict[str, Any]]:
    return [{"turn": at, "text": text, "author": "Ben"} for at, text in enumerate(texts, start=1)]


async def nodes(api: Api, type_: str) -> dict[str, dict[str, Any]]:
    return {note["title"]: note for note in await noted(api, type_)}


async def noted(api: Api, type_: str | None = None) -> list[dict[str, Any]]:
    if not (await api.call("nugget.list"))["nuggets"]:
        return []
    found: list[dict[str, Any]] = (await api.call("note.list", nugget="memory", limit=1000))["notes"]
    return [note for note in found if type_ in (None, note["type"])]


async def opened(api: Api) -> Api:
    await api.call("session.open", session_id="s")
    return api


async def test_a_turn_becomes_typed_notes_and_links_of_its_session_and_turn(either: Api) -> None:
    result = await extract(await opened(either), SAID)
    assert (result["engine"], result["extracted"], result["skipped"], result["rejected"]) == ("rules", [1], [], [])
    assert result["operations"] == len(result["ops"]) == len(result["applied"])
    sheets, places = await nodes(either, "character_sheet"), await nodes(either, "location_state")
    threads, (event,) = await nodes(either, "thread"), await noted(either, "event")
    assert sheets["Ada"]["fields"]["identity"] == "sister, nurse"
    assert places["cellar"]["fields"]["state"] == "flooded"
    assert threads["call the plumber tomorrow"]["fields"]["status"] == "active"
    assert "Ada" in event["fields"]["summary"]
    assert {note["session_id"] for note in (*sheets.values(), event)} == {"s"}
    assert {note["turn"] for note in (*sheets.values(), event)} == {1}
    links = (await either.call("link.list", id=event["id"]))["links"]
    assert ("involved_in", sheets["Ada"]["id"]) in {(link["relation"], link["target"]) for link in links}


async def test_what_is_known_is_edited_in_later_turns(either: Api) -> None:
    await extract(await opened(either), SAID)
    ada = (await nodes(either, "character_sheet"))["Ada"]
    result = await extract(either, "Ada is stubborn. The cellar is dry again. I called the plumber.", turn=2)
    assert [one["op"] for one in result["applied"] if one.get("type") == "character_sheet"] == []
    sheets = await nodes(either, "character_sheet")
    assert sheets["Ada"]["id"] == ada["id"]
    assert sheets["Ada"]["fields"]["traits"] == ["stubborn"]
    assert (await nodes(either, "location_state"))["cellar"]["fields"]["state"] == "dry"
    assert (await nodes(either, "thread"))["call the plumber tomorrow"]["fields"]["status"] == "resolved"


async def test_a_turn_that_was_extracted_from_the_same_text_is_skipped(either: Api) -> None:
    await extract(await opened(either), SAID)
    before = await noted(either)
    again = await extract(either, SAID)
    assert (again["extracted"], again["skipped"], again["operations"]) == ([], [1], 0)
    assert await noted(either) == before


async def test_a_turn_with_another_text_is_refused_until_it_is_taken_back(either: Api) -> None:
    await extract(await opened(either), SAID)
    turn = [{"text": "The attic is locked.", "turn": 1}]
    refused = await either.refused("session.extract", session_id="s", turns=turn)
    assert (refused.code, refused.field, refused.data["reason"]) == (-32002, "turns", "TURN_EXTRACTED")
    assert set(await nodes(either, "location_state")) == {"cellar"}


async def test_a_dry_run_shows_the_operations_and_does_none(either: Api) -> None:
    result = await extract(await opened(either), SAID, dry_run=True)
    assert result["dry_run"] is True
    assert {op["op"] for op in result["ops"]} == {"create", "link_upsert"}
    assert await noted(either) == []
    assert (await extract(either, SAID))["extracted"] == [1]


async def test_a_turn_that_says_nothing_is_done_all_the_same(either: Api) -> None:
    await opened(either)
    assert (await extract(either, "Thanks!"))["extracted"] == [1]
    assert (await extract(either, "Thanks!"))["skipped"] == [1]
    assert await noted(either) == []


async def test_a_repeated_request_gets_the_first_outcome(either: Api) -> None:
    first = await extract(await opened(either), SAID, idempotency_key="k")
    again = await extract(either, SAID, idempotency_key="k")
    assert again["replayed"] is True
    assert again["ids"] == first["ids"]
    assert "ops" not in again


async def test_several_turns_are_a_job_and_each_knows_those_before(either: Api) -> None:
    await opened(either)
    said = turns(SAID, "Thanks!", "Ada is stubborn.", "I called the plumber.")
    result = await either.call("session.extract", session_id="s", turns=said)
    assert (result["extracted"], result["skipped"]) == ([1, 2, 3, 4], [])
    job = await either.call("job.get", id=result["job"])
    assert (job["job"]["kind"], job["job"]["state"]) == ("extraction", "done")
    assert set(await nodes(either, "character_sheet")) == {"Ada", "Ben"}
    assert (await nodes(either, "character_sheet"))["Ada"]["fields"]["traits"] == ["stubborn"]
    assert (await nodes(either, "thread"))["call the plumber tomorrow"]["fields"]["status"] == "resolved"
    assert sorted(note["turn"] for note in await noted(either, "event")) == [1, 3, 4]


async def test_a_job_skips_what_was_extracted_and_leaves_another_text_alone(either: Api) -> None:
    await extract(await opened(either), SAID)
    said = turns(SAID, "The attic is locked.")
    assert (await either.call("session.extract", session_id="s", turns=said))["skipped"] == [1]
    said = turns("Something else was said.", "The attic is locked.", "The garage is open.")
    result = await either.call("session.extract", session_id="s", turns=said)
    assert (result["extracted"], result["skipped"], result["refused"]) == ([3], [2], [1])


async def test_without_sync_a_job_is_answered_by_its_row(either: Api) -> None:
    await opened(either)
    said = turns(SAID, "The attic is locked.")
    begun = await either.call("session.extract", session_id="s", turns=said, sync=False)
    assert begun["extracted"] == []
    result = await either.call("job.get", id=begun["job"])
    assert result["job"]["kind"] == "extraction"


async def test_types_take_part_by_their_cadence(either: Api) -> None:
    await opened(either)
    await either.call("schema.set_type", type="thread", extract_every=2)
    await extract(either, "I'll call the plumber.", turn=1)
    assert await nodes(either, "thread") == {}
    await extract(either, "I'll renew the contract.", turn=2)
    assert set(await nodes(either, "thread")) == {"renew the contract"}


async def test_columns_that_a_type_does_not_have_are_left_out(either: Api) -> None:
    await opened(either)
    columns = ["title", "aliases"]
    closed: dict[str, Any] = {"table_columns": columns, "embedding_columns": columns, "additional_columns": False}
    await either.call("schema.set_type", type="character_sheet", **closed)
    result = await extract(either, "My sister Ada is a nurse.")
    assert result["rejected"] == []
    assert "identity" not in (await nodes(either, "character_sheet"))["Ada"].get("fields", {})


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"turns": []}, "turns"),
        ({"turns": [{"text": "Hello there."}]}, "turns"),
        ({"turns": [{"text": " ", "turn": 1}]}, "turns.0.text"),
        ({"turns": [{"text": "a", "turn": 0}]}, "turns.0.turn"),
        ({"turns": [{"text": "a", "turn": 90_000}]}, "turn"),
        ({"turns": [{"text": "a", "turn": 1}] * 1001}, "turns"),
        ({"turns": [{"text": "a", "turn": 1}, {"text": "b", "turn": 2}], "dry_run": True}, "dry_run"),
    ],
)
async def test_bad_input_names_its_field(either: Api, params: dict[str, Any], field: str) -> None:
    refused = await (await opened(either)).refused("session.extract", session_id="s", **params)
    assert (refused.code, refused.field) == (-32602, field)


async def test_a_session_must_be_open_and_not_frozen(either: Api) -> None:
    said = [{"text": "The attic is locked.", "turn": 1}]
    assert (await either.refused("session.extract", session_id="s", turns=said)).code == -32001
    await either.call("remember", content="anything")
    await either.call("session.open", session_id="f", at_seq=1)
    assert (await either.refused("session.extract", session_id="f", turns=said)).kind == "SessionFrozen"


async def test_what_was_extracted_is_an_event(either: Api) -> None:
    await extract(await opened(either), SAID)
    events = (await either.call("events.since", seq=0))["events"]
    (found,) = [one["data"] for one in events if one["type"] == "shelfd.session.extracted.v1"]
    assert (found["turn"], found["engine"]) == (1, "rules")
    assert "Ada" not in str(found)


async def test_extraction_survives_a_restart(durable: Api) -> None:
    await extract(await opened(durable), SAID)
    await durable.reopen()
    assert (await extract(durable, SAID))["skipped"] == [1]
    assert set(await nodes(durable, "character_sheet")) == {"Ada", "Ben"}


async def test_nothing_else_is_extracted_from_a_conversation_while_a_job_is_at_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(api)
    begun, go_on = asyncio.Event(), asyncio.Event()
    step = Work.step

    async def slow(work: Work, *arguments: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await step(work, *arguments)

    monkeypatch.setattr(Work, "step", slow)
    said = turns("The cellar is flooded.", "The attic is locked.")
    calling = asyncio.ensure_future(api.call("session.extract", session_id="s", turns=said))
    await begun.wait()
    third = [{"turn": 3, "text": "The garage is open."}]
    refused = await api.refused("session.extract", session_id="s", turns=third)
    assert (refused.code, refused.data["reason"]) == (-32002, "EXTRACTION_UNDER_WAY")
    go_on.set()
    assert (await calling)["extracted"] == [1, 2]
    assert (await api.call("session.extract", session_id="s", turns=third))["extracted"] == [3]


async def test_turns_sent_one_after_another_know_each_other(either: Api) -> None:
    await opened(either)
    said = ["My sister Ada is a nurse.", "Ada is stubborn.", "Ada owns a red van."]
    await asyncio.gather(*(extract(either, text, turn=turn) for turn, text in enumerate(said, 1)))
    ada = (await nodes(either, "character_sheet"))["Ada"]["fields"]
    assert (ada["identity"], ada["traits"], ada["inventory"]) == ("sister, nurse", ["stubborn"], ["a red van"])


async def test_a_turn_that_its_schema_refuses_changes_nothing(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await opened(either)
    bad = {"op": "create", "type": "no such type", "fields": {}}
    monkeypatch.setattr(
        engines, "operations", lambda *_: [*operations((Message(SAID),), KnownEntities(["event"])), bad]
    )
    result = await extract(either, SAID)
    assert (result["extracted"], result["operations"], [one["index"] for one in result["rejected"]]) == ([], 0, [1])
    assert result["rejected"][0]["error"]["data"]["field"] == "ops.1.type"
    assert await noted(either) == []
    several = await either.call("session.extract", session_id="s", turns=turns(SAID, SAID))
    assert (several["extracted"], several["refused"]) == ([], [1, 2])


async def test_no_purge_begins_while_turns_are_extracted_and_it_takes_those_that_were_given_up(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(api)
    note = await api.remember("4711-secret")
    begun, go_on = asyncio.Event(), asyncio.Event()
    step = Work.step

    async def slow(work: Work, *arguments: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await step(work, *arguments)

    monkeypatch.setattr(Work, "step", slow)
    said = turns("The 4711-secret cellar is flooded.", "The attic is locked.")
    calling = asyncio.ensure_future(api.call("session.extract", session_id="s", turns=said))
    await begun.wait()
    refused = await api.refused("forget", id=note["id"], purge=True)
    job = refused.data["job"]
    await api.call("job.cancel", id=job, principal=ROOT)
    go_on.set()
    await asyncio.gather(calling, return_exceptions=True)
    await api.call("forget", id=note["id"], purge=True)
    assert api.shelf().view.jobs.pieces(job, after=-1, limit=9) == []


async def test_a_turn_that_was_taken_back_is_extracted_anew(either: Api) -> None:
    await extract(await opened(either), SAID)
    await extract(either, "The attic is locked.", turn=2)
    await either.call("session.retract_turns", session_id="s", from_turn=2)
    assert (await extract(either, SAID))["skipped"] == [1]
    assert (await extract(either, "The garage is open.", turn=2))["extracted"] == [2]
    assert {title for title, note in (await nodes(either, "location_state")).items() if not note["hidden"]} == {
        "cellar",
        "garage",
    }


async def test_each_variant_of_a_turn_is_extracted_by_itself(either: Api) -> None:
    await extract(await opened(either), "The attic is locked.")
    await either.call("session.select_variant", session_id="s", turn=1, variant=1)
    assert (await extract(either, "The garage is open."))["extracted"] == [1]
    await either.call("session.select_variant", session_id="s", turn=1, variant=0)
    assert (await extract(either, "The attic is locked."))["skipped"] == [1]
    await either.call("session.select_variant", session_id="s", turn=1, variant=1)
    assert (await extract(either, "The garage is open."))["skipped"] == [1]


async def test_retracting_turns_ends_the_extraction_that_is_at_them(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await opened(api)
    begun, go_on = asyncio.Event(), asyncio.Event()
    step = Work.step

    async def slow(work: Work, *arguments: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await step(work, *arguments)

    monkeypatch.setattr(Work, "step", slow)
    calling = asyncio.ensure_future(
        api.call("session.extract", session_id="s", turns=turns("The cellar is flooded.", "The attic is locked."))
    )
    await begun.wait()
    (job,) = (await api.call("job.list"))["jobs"]
    assert (await api.call("session.retract_turns", session_id="s", from_turn=1))["cancelled"] == [job["id"]]
    go_on.set()
    await asyncio.gather(calling, return_exceptions=True)
    assert await noted(api) == []
    assert (await extract(api, "The cellar is flooded."))["extracted"] == [1]


async def test_an_edited_turn_is_extracted_again_if_that_is_wanted(either: Api) -> None:
    await extract(await opened(either), "My sister Ada is a nurse. The attic is locked.")
    await extract(either, "The cellar is flooded.", turn=2)
    result = await extract(either, "My sister Ada is a vet. The garage is open.", again=True)
    assert (result["extracted"], result["taken_back"].startswith("run-")) == ([1], True)
    places = {title for title, note in (await nodes(either, "location_state")).items() if not note["hidden"]}
    assert places == {"cellar", "garage"}
    sheets = [note for note in await noted(either, "character_sheet") if not note["hidden"] and note["title"] == "Ada"]
    assert [note["fields"]["identity"] for note in sheets] == ["sister, vet"]
    assert (await extract(either, "My sister Ada is a vet. The garage is open.", again=True))["skipped"] == [1]


async def test_a_turn_with_variants_is_not_taken_back_for_another_text(either: Api) -> None:
    await extract(await opened(either), "The attic is locked.")
    await either.call("session.select_variant", session_id="s", turn=1, variant=1)
    await extract(either, "The garage is open.")
    said = [{"turn": 1, "text": "The cellar is flooded."}]
    refused = await either.refused("session.extract", session_id="s", turns=said, again=True)
    assert (refused.code, refused.data["reason"]) == (-32002, "TURN_HAS_VARIANTS")
