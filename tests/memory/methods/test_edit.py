"""note.edit: parts of a note."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api


async def edited(api: Api, note: dict[str, Any], **changes: Any) -> dict[str, Any]:
    result: dict[str, Any] = (await api.call("note.edit", id=note["id"], **changes))["note"]
    return result


async def test_new_content_is_found_and_the_old_is_not(either: Api) -> None:
    note = await either.remember("likes tea")
    await edited(either, note, content="likes mate")

    assert await either.found("mate") == ["likes mate"]
    assert await either.found("tea") == []


async def test_if_rev_refuses_what_was_written_against_an_older_state(either: Api) -> None:
    note = await either.remember("one")
    await edited(either, note, content="two", if_rev=1)
    error = await either.refused("note.edit", id=note["id"], content="three", if_rev=1)

    assert (error.code, error.kind, error.data["actual"]) == (-32002, "RevisionConflict", 2)
    assert (await either.note(note["id"]))["content"] == "two"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"content": "one "},
        {"title": "T"},
        {"tags": ["x"]},
        {"add_tags": ["x"]},
        {"remove_tags": ["y"]},
        {"set_fields": {"a": 1}},
        {"clear_fields": ["b"]},
        {"aliases": ["t", "T"]},
        {"hidden": False},
        {"pinned": False},
        {"metadata": {"type": "note", "ttl_days": None, "author": None}},
    ],
)
async def test_an_edit_that_changes_nothing_leaves_no_trace(api: Api, change: dict[str, Any]) -> None:
    note = await api.remember("one", title="T", tags=["x"], fields={"a": 1}, aliases=["t"])
    before = (await api.call("get_stats"))["last_seq"]

    result = await api.call("note.edit", id=note["id"], **change)

    assert result["changed"] is False
    assert result["note"]["rev"] == 1
    assert (await api.call("get_stats"))["last_seq"] == before


async def test_tags_replace_add_and_remove_own_tags(api: Api) -> None:
    note = await api.remember("one", tags=["a", "b"])

    assert (await edited(api, note, add_tags=["c"], remove_tags=["a"]))["tags"][3:] == ["b", "c"]
    assert (await edited(api, note, tags=["z"]))["tags"][3:] == ["z"]
    assert (await edited(api, note, tags=[]))["tags"][3:] == []


async def test_a_fact_s_new_title_is_its_new_key(either: Api) -> None:
    note = await either.remember("green", key="colour")
    renamed = await edited(either, note, title="Hue")

    assert [renamed["title"], renamed["source_key"]] == ["Hue", "colour"]
    assert (await either.call("recall", query="hue"))["answer"]["note_id"] == note["id"]
    assert "answer" not in await either.call("recall", query="colour")
    assert (await either.remember("blue", key="HUE"))["id"] == note["id"]
    assert (await either.remember("red", key="colour"))["id"] != note["id"]


async def test_a_key_that_is_taken_is_refused(either: Api) -> None:
    other = await either.remember("blue", key="Hue")
    note = await either.remember("green", key="colour")
    error = await either.refused("note.edit", id=note["id"], title="HUE")

    assert (error.code, error.kind, error.data["id"]) == (-32002, "DuplicateKey", other["id"])
    assert (await either.note(note["id"]))["title"] == "colour"


async def test_a_key_may_change_its_spelling(api: Api) -> None:
    note = await api.remember("green", key="colour")

    assert (await edited(api, note, title="COLOUR"))["title"] == "COLOUR"


@pytest.mark.parametrize("title", ["", "user:"])
async def test_a_fact_keeps_a_usable_key(api: Api, title: str) -> None:
    note = await api.remember("green", key="colour")
    error = await api.refused("note.edit", id=note["id"], title=title)

    assert (error.code, error.field) == (-32602, "title")


async def test_fields_are_set_and_cleared_one_by_one(api: Api) -> None:
    note = await api.remember("one", fields={"a": 1, "b": {"c": [2]}})

    assert (await edited(api, note, set_fields={"a": 3}, clear_fields=["b", "unknown"]))["fields"] == {"a": 3}
    assert "fields" not in await edited(api, note, clear_fields=["a"])


async def test_metadata_is_set_and_the_rest_stays(either: Api) -> None:
    note = await either.remember("one", author="Ada", importance=7)
    result = await edited(
        either, note, metadata={"type": "event", "occurredAt": "2025-05-05T00:00:00Z", "tier": "A", "author": None}
    )

    assert [result["type"], result["occurred_at"], result["tier"], result["importance"]] == [
        "event", "2025-05-05T00:00:00Z", "A", 7,
    ]  # fmt: skip
    assert "author" not in result


async def test_a_new_source_brings_its_confidence_unless_one_is_given(api: Api) -> None:
    note = await api.remember("one")

    assert (await edited(api, note, metadata={"source": "inferred"}))["confidence"] == 0.6
    assert (await edited(api, note, metadata={"source": "system", "confidence": 0.2}))["confidence"] == 0.2


async def test_validity_must_not_end_before_it_begins(api: Api) -> None:
    note = await api.remember("one", valid_from="2025-01-02T00:00:00Z")
    error = await api.refused("note.edit", id=note["id"], metadata={"valid_to": "2025-01-01T00:00:00Z"})

    assert (error.code, error.field) == (-32602, "valid_to")


async def test_hidden_hides_and_brings_back(either: Api) -> None:
    note = await either.remember("one")

    assert (await edited(either, note, hidden=True))["hidden"] is True
    assert await either.found("one") == []
    assert (await edited(either, note, hidden=False))["hidden"] is False
    kinds = [row["kind"] for row in (await either.call("shelf.log"))["log"]]
    assert kinds[-2:] == ["note.hidden", "note.restored"]


async def test_an_edit_moves_updated_at_and_not_created_at(api: Api) -> None:
    note = await api.remember("one")
    api.clock.advance(timedelta(hours=1))
    result = await edited(api, note, content="two")

    assert [result["created_at"], result["updated_at"]] == ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"]


async def test_times_follow_a_clock_that_was_ahead_and_is_set_back(either: Api) -> None:
    before = await either.remember("tea", ttl_days=7)
    either.clock.advance(timedelta(days=20_000))
    ahead = await either.remember("mate")
    assert await either.found("tea") == []  # as the clock says
    either.clock.set_back(timedelta(days=20_000))
    after = await either.remember("milk", ttl_days=1)

    assert [note["created_at"][:10] for note in (before, ahead, after)] == ["2026-01-01", "2080-10-04", "2026-01-01"]
    assert (await edited(either, ahead, content="mate again"))["updated_at"][:10] == "2026-01-01"
    assert after["expires_at"] == "2026-01-02T00:00:00Z"
    assert sorted(await either.found("tea mate milk")) == ["mate again", "milk", "tea"]
    either.clock.advance(timedelta(days=2))
    assert sorted(await either.found("tea mate milk")) == ["mate again", "tea"]
    log = (await either.call("shelf.log"))["log"]
    assert [row["seq"] for row in log] == list(range(1, len(log) + 1))
    assert log[-1]["at"] < log[2]["at"]


async def test_an_unknown_note_is_not_found(api: Api) -> None:
    assert (await api.refused("note.edit", id="nothing", content="x")).code == -32001


async def test_an_alias_is_found(either: Api) -> None:
    note = await either.remember("lives in Oslo", title="Ada")
    await edited(either, note, aliases=["Countess"])

    assert await either.found("countess") == ["lives in Oslo"]


async def test_note_get_sets_the_last_access_and_nothing_else(either: Api) -> None:
    note = await either.remember("one")
    either.clock.advance(timedelta(hours=1))
    seen = await either.note(note["id"])

    assert seen["last_accessed_at"] == "2026-01-01T01:00:00Z"
    assert seen == {**note, "last_accessed_at": seen["last_accessed_at"]}


async def test_full_adds_what_is_left_out(api: Api) -> None:
    note = await api.remember("First sentence. Second one.")
    full = await api.note(note["id"], full=True)

    assert [full["context"], full["source_type"], full["level"]] == ["First sentence.", "conversation", "semantic"]
