"""remember: what is stored, and what comes back."""

import asyncio

import pytest

from fakes import ALICE, Api


async def test_without_a_key_the_same_text_twice_is_two_notes(api: Api) -> None:
    first = await api.call("remember", content="tea at four")
    second = await api.call("remember", content="tea at four")

    assert [first["status"], second["status"]] == ["created", "created"]
    assert first["note"]["id"] != second["note"]["id"]


async def test_a_new_key_creates_a_fact(api: Api) -> None:
    result = await api.call("remember", content="green", key="Favourite  Colour")

    assert result["status"] == "created"
    assert result["note"]["kind"] == "fact"
    assert result["note"]["title"] == "Favourite Colour"
    assert result["note"]["source_key"] == "Favourite Colour"


async def test_the_same_value_under_a_key_is_a_noop_without_a_trace(either: Api) -> None:
    first = await either.call("remember", content="green", key="colour")
    again = await either.call("remember", content="green", key="colour")

    assert again["status"] == "noop"
    assert again["note"] == first["note"]
    assert (await either.call("get_stats"))["last_seq"] == 2  # the nugget and the note


async def test_the_same_value_in_another_turn_is_a_noop(api: Api) -> None:
    first = await api.remember("green", key="colour", session_id="s", turn=1)
    again = await api.call("remember", content="green", key="colour", session_id="s", turn=2)

    assert again["status"] == "noop"
    assert again["note"]["turn"] == first["turn"] == 1


async def test_another_value_updates_the_same_note(either: Api) -> None:
    first = await either.remember("green", key="colour")
    result = await either.call("remember", content="blue", key="colour")

    assert result["status"] == "updated"
    assert result["note"]["id"] == first["id"]
    assert result["note"]["content"] == "blue"
    assert result["note"]["rev"] == 2


async def test_an_update_keeps_the_old_value_in_the_history(api: Api) -> None:
    note = await api.remember("green", key="colour")
    await api.remember("blue", key="colour")

    versions = (await api.call("note.history", id=note["id"]))["versions"]
    assert [version["change"]["content"] for version in versions] == ["green", "blue"]


async def test_an_update_keeps_the_hits(api: Api) -> None:
    await api.remember("green", key="colour")
    await api.call("recall", query="colour", session_id="s1")
    await api.call("recall", query="colour", session_id="s2")

    assert (await api.remember("blue", key="colour"))["hits"] == 2


@pytest.mark.parametrize("spelling", ["COLOUR", "  colour ", "ｃｏｌｏｕｒ", "Colour"])
async def test_keys_are_equal_whatever_their_case_width_and_blanks(either: Api, spelling: str) -> None:
    first = await either.remember("green", key="colour")

    assert (await either.remember("blue", key=spelling))["id"] == first["id"]


@pytest.mark.parametrize(("first", "second"), [(" dark", "dark"), ("dark", "   dark \n"), ("    dark", " dark")])
async def test_outer_blanks_make_no_value_different(either: Api, first: str, second: str) -> None:
    note = await either.remember(first, key="theme")
    seq = (await either.call("get_stats"))["last_seq"]
    again = await either.call("remember", content=second, key="theme")

    assert (again["status"], again["note"]["rev"], again["note"]["content"]) == ("noop", 1, note["content"])
    assert (await either.call("get_stats"))["last_seq"] == seq
    assert (await either.call("remember", content="da rk", key="theme"))["status"] == "updated"


async def test_a_summary_follows_a_value_that_only_blanks_tell_apart(api: Api) -> None:
    await api.remember("dark", key="theme")
    result = await api.call("remember", fields={"summary": " dark", "since": "March"}, key="theme")

    assert (result["status"], result["note"]["content"]) == ("updated", "dark")
    assert result["note"]["fields"] == {"summary": "dark", "since": "March"}


async def test_keys_of_sharp_s_and_double_s_are_one(api: Api) -> None:
    first = await api.remember("Berlin", key="Straße")

    assert (await api.remember("Bonn", key="STRASSE"))["id"] == first["id"]


async def test_the_same_key_in_two_nuggets_is_two_facts(either: Api) -> None:
    first = await either.remember("green", key="colour", nugget="one")

    assert (await either.remember("green", key="colour", nugget="two"))["id"] != first["id"]


async def test_a_hidden_fact_comes_back_by_remember(either: Api) -> None:
    note = await either.remember("green", key="colour")
    await either.call("forget", key="colour")

    result = await either.call("remember", content="green", key="colour")

    assert result["status"] == "updated"
    assert result["note"]["id"] == note["id"]
    assert result["note"]["hidden"] is False


async def test_a_hidden_fact_comes_back_by_restore_and_answers_by_its_key(either: Api) -> None:
    note = await either.remember("green", key="colour")
    await either.call("forget", key="colour")
    assert "answer" not in await either.call("recall", query="colour")

    await either.call("note.restore", id=note["id"])

    assert (await either.call("recall", query="Colour"))["answer"]["value"] == "green"


async def test_a_fact_keeps_what_an_update_does_not_say(api: Api) -> None:
    await api.remember(
        "green", key="colour", tags=["x"], importance=9, aliases=["hue"], source_ref="doc", pinned=True, author="Ada"
    )

    note = await api.remember("blue", key="colour", tags=["y"], aliases=["HUE", "tint"])

    assert [note["importance"], note["source_ref"], note["pinned"], note["author"]] == [9, "doc", True, "Ada"]
    assert note["tags"][3:] == ["x", "y"]
    assert note["aliases"] == ["hue", "tint"]


async def test_an_update_without_confidence_keeps_the_confidence(api: Api) -> None:
    await api.remember("green", key="colour", confidence=0.3)

    assert (await api.remember("blue", key="colour"))["confidence"] == 0.3


async def test_an_update_with_a_source_takes_that_source_s_confidence(api: Api) -> None:
    await api.remember("green", key="colour", confidence=0.3)

    assert (await api.remember("blue", key="colour", source="inferred"))["confidence"] == 0.6


@pytest.mark.parametrize(("given", "kept"), [(-1, 0.0), (0.25, 0.25), (7, 1.0)])
async def test_confidence_is_clamped(api: Api, given: float, kept: float) -> None:
    assert (await api.remember("x", confidence=given))["confidence"] == kept


async def test_low_confidence_needs_review(api: Api) -> None:
    assert (await api.remember("x", confidence=0.49))["needs_review"] is True
    assert "needs_review" not in await api.remember("x", confidence=0.5)


async def test_a_note_takes_all_it_is_given(either: Api) -> None:
    given = {
        "title": "Trip", "author": "Ada", "domain": "project", "tier": "A", "importance": 8, "subject": "person:ada",
        "scope": "project", "type": "event", "source": "tool_observation", "stability": "temporary", "session_id": "s",
        "turn": 3, "source_ref": "doc:1", "occurred_at": "2025-06-01T12:00:00Z", "valid_from": "2025-06-01T12:00:00Z",
        "valid_to": "2025-06-02T12:00:00Z", "pinned": True, "aliases": ["journey"], "fields": {"place": "Oslo"},
    }  # fmt: skip
    note = await either.remember("we went", **given)

    assert {name: note[name] for name in given} == given
    assert await either.note(note["id"]) == note


async def test_a_time_with_an_offset_is_told_in_utc(api: Api) -> None:
    note = await api.remember("x", occurred_at="2025-06-01T12:00:00+02:00")

    assert note["occurred_at"] == "2025-06-01T10:00:00Z"


async def test_a_missing_nugget_is_made(either: Api) -> None:
    await either.remember("x", nugget="Projekt-Ä")

    assert [n["name"] for n in (await either.call("nugget.list"))["nuggets"]] == ["projekt-ä"]


async def test_camel_case_is_understood(api: Api) -> None:
    note = await api.call(
        "remember", {"content": "x", "sessionId": "s", "turn": 1, "occurredAt": "2025-01-01T00:00:00Z"}
    )
    assert note["note"]["session_id"] == "s"


async def test_concurrent_updates_of_one_fact_lose_none(either: Api) -> None:
    results = await asyncio.gather(*(either.call("remember", content=f"v{n}", key="counter") for n in range(40)))

    assert sorted(result["note"]["rev"] for result in results) == list(range(1, 41))
    assert [result["note"]["content"] for result in sorted(results, key=lambda r: r["note"]["rev"])] == [
        f"v{n}" for n in range(40)
    ]


async def test_the_log_says_who_did_it_and_in_which_turn(either: Api) -> None:
    await either.call("remember", content="x", session_id="s", turn=4)

    row = (await either.call("shelf.log"))["log"][-1]
    assert row["principal"] == ALICE
    assert row["method"] == "remember"
    assert row["request_id"] == "test-1"
    assert [row["session_id"], row["turn"]] == ["s", 4]
    assert [row["tx"], row["tx_size"], row["seq"]] == [1, 2, 2]


async def test_note_create_is_remember_without_a_key(api: Api) -> None:
    note = (await api.call("note.create", content="x", title="T"))["note"]

    assert [note["kind"], note["title"]] == ["note", "T"]
    assert (await api.refused("note.create", content="x", key="k")).field == "key"


async def test_a_turn_far_beyond_the_last_one_is_refused(either: Api) -> None:
    for turn in (9_000, 18_000):
        await either.call("remember", content="x", session_id="s", turn=turn)
    refused = await either.refused("remember", content="y", session_id="s", turn=28_001)
    assert (refused.field, refused.data["reason"], refused.data["limit"]) == ("turn", "TURN_OUT_OF_RANGE", 28_000)
    assert (await either.refused("remember", content="y", nugget="other", session_id="t", turn=10_001)).field == "turn"
    many = [{"content": "a"}, {"content": "b", "nugget": "other", "session_id": "t", "turn": 2**53}]
    result = await either.call("remember_many", notes=many)
    assert [one["index"] for one in result["rejected"]] == [1]
    assert [nugget["name"] for nugget in (await either.call("nugget.list"))["nuggets"]] == ["memory"]
