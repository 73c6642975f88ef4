"""How content, tags, typed fields, turns and lifetimes are kept."""

from datetime import timedelta

import pytest

from fakes import Api
from shelfd.protocol import Limits


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a  \nb\t\n", "a\nb"),
        ("\n\n a \n\n", " a"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a   b\u00a0\u00a0c", "a b c"),
        ("```\na   b\n\n\n\nc\n```", "```\na   b\n\n\n\nc\n```"),
        ("x:\n\n    a   b", "x:\n\n    a   b"),
        ("- a\n  - b", "- a\n  - b"),
        ("plain", "plain"),
    ],
)
async def test_content_is_tidied_outside_of_code_only(api: Api, given: str, kept: str) -> None:
    assert (await api.remember(given))["content"] == kept


async def test_tags_are_lower_case_with_hyphens_and_once(api: Api) -> None:
    note = await api.remember("x", tags=["Deep Work", "deep-work", " Ärger "])

    assert note["tags"] == ["memory", "scope:user", "type:note", "deep-work", "ärger"]


async def test_system_tags_follow_their_fields(either: Api) -> None:
    note = await either.remember("x", tags=["mine"])
    edited = await either.call("note.edit", id=note["id"], metadata={"scope": "shared", "type": "Event"})

    assert edited["note"]["tags"] == ["memory", "scope:shared", "type:event", "mine"]


async def test_system_tags_given_back_as_own_tags_do_not_go_stale(api: Api) -> None:
    note = await api.remember("x", tags=["mine"])
    edited = await api.call("note.edit", id=note["id"], tags=note["tags"], metadata={"scope": "shared"})

    assert edited["note"]["tags"] == ["memory", "scope:shared", "type:note", "mine"]


@pytest.mark.parametrize(
    ("key", "tag"),
    [
        ("pref:tabs", "preferences"),
        ("learn:uv", "learnings"),
        ("src/app.py", "files"),
        ("reflect:week", "reflection"),
        ("writing style", "style"),
    ],
)
async def test_a_title_gives_its_tag(api: Api, key: str, tag: str) -> None:
    assert tag in (await api.remember("x", key=key))["tags"]


async def test_a_title_tag_takes_no_room_from_own_tags(api: Api) -> None:
    tags = [f"t{n}" for n in range(32)]
    note = await api.remember("x", key="pref:tabs", tags=tags)
    edited = await api.call("note.edit", id=note["id"], pinned=True)

    assert edited["note"]["tags"][3:] == tags


async def test_tags_of_repeated_remembers_stay_within_their_limit(api: Api) -> None:
    await api.remember("x", key="k", tags=[f"a{n}" for n in range(20)])
    error = await api.refused("remember", content="y", key="k", tags=[f"b{n}" for n in range(20)])

    assert (error.code, error.field, error.limit) == (-32602, "tags", 32)


async def test_aliases_of_repeated_remembers_stay_within_their_limit(api: Api) -> None:
    await api.remember("x", key="k", aliases=[f"a{n}" for n in range(20)])
    error = await api.refused("remember", content="y", key="k", aliases=[f"b{n}" for n in range(20)])

    assert (error.code, error.field, error.limit) == (-32602, "aliases", 32)


async def test_fields_of_repeated_remembers_stay_within_their_limit(api: Api) -> None:
    await api.remember("x", key="k", fields={"a": "x" * 40_000})
    error = await api.refused("remember", content="y", key="k", fields={"b": "x" * 40_000})

    assert (error.code, error.field, error.limit) == (-32005, "fields", 65_536)


async def test_fields_grown_by_edits_stay_within_their_limit(api: Api) -> None:
    note = await api.remember("x", fields={"a": "x" * 40_000})
    error = await api.refused("note.edit", id=note["id"], set_fields={"b": "x" * 40_000})

    assert (error.code, error.field) == (-32005, "fields")


# ------------------------------------------------------------------ typed notes


async def test_fields_without_content_are_rendered_and_found(either: Api) -> None:
    note = await either.remember_typed(
        {"name": "Ada", "likes": ["tea", "chess"], "age": 36, "gone": None, "well": True}
    )

    assert note["content"] == "name: Ada\nlikes: tea, chess\nage: 36\nwell: true"
    assert note["title"] == "Ada"
    assert await either.found("chess") == [note["content"]]


async def test_rendered_content_follows_the_fields(either: Api) -> None:
    note = await either.remember_typed({"name": "Ada", "drink": "tea"})
    edited = await either.call("note.edit", id=note["id"], set_fields={"drink": "mate"}, clear_fields=["name"])

    assert edited["note"]["content"] == "drink: mate"
    assert await either.found("mate") == ["drink: mate"]


async def test_own_content_ends_the_rendering(api: Api) -> None:
    note = await api.remember_typed({"drink": "tea"})
    await api.call("note.edit", id=note["id"], content="likes tea")
    edited = await api.call("note.edit", id=note["id"], set_fields={"drink": "mate"})

    assert edited["note"]["content"] == "likes tea"


async def test_summary_and_content_are_one_thing(api: Api) -> None:
    note = await api.remember_typed({"summary": "a  day out", "place": "Oslo"})
    assert note["content"] == note["fields"]["summary"] == "a day out"

    by_content = (await api.call("note.edit", id=note["id"], content="a night out"))["note"]
    assert by_content["content"] == by_content["fields"]["summary"] == "a night out"

    by_field = (await api.call("note.edit", id=note["id"], set_fields={"summary": "home"}))["note"]
    assert by_field["content"] == by_field["fields"]["summary"] == "home"


async def test_a_fact_s_summary_follows_its_next_value(api: Api) -> None:
    await api.remember("one", key="k", fields={"summary": "one"})
    note = await api.remember("two", key="k")

    assert note["content"] == note["fields"]["summary"] == "two"


async def test_a_fact_of_fields_is_rendered_from_old_and_new_ones(api: Api) -> None:
    await api.remember_typed({"drink": "tea"}, key="ada")
    note = await api.remember_typed({"food": "fish"}, key="ada")

    assert note["content"] == "drink: tea\nfood: fish"


async def test_a_null_summary_is_none(api: Api) -> None:
    note = await api.remember_typed({"summary": None, "place": "Oslo"})
    edited = await api.call("note.edit", id=note["id"], set_fields={"when": "May"})

    assert edited["note"]["content"] == "place: Oslo\nwhen: May"


async def test_the_rendering_is_held_to_the_content_limit() -> None:
    from fakes import memory

    async with memory(limits=Limits(content_bytes=50)) as api:
        error = await api.refused("remember", fields={"a": "x" * 60})
        assert (error.code, error.field, error.limit) == (-32005, "fields", 50)


# ------------------------------------------------------------------ turns


async def test_turns_are_numbered_per_nugget_when_first_seen(either: Api) -> None:
    async def number(session: str, turn: int, nugget: str = "memory") -> int:
        return int((await either.remember("x", session_id=session, turn=turn, nugget=nugget))["seq_to"])

    assert [await number("a", 1), await number("a", 2), await number("b", 1), await number("a", 1)] == [1, 2, 3, 1]
    assert await number("a", 7, "other") == 1


async def test_the_last_turn_that_touched_a_fact_counts(api: Api) -> None:
    await api.remember("x", key="k", session_id="a", turn=1)
    note = await api.remember("y", key="k", session_id="a", turn=5)

    assert [note["turn"], note["seq_to"]] == [5, 2]


async def test_no_turn_without_a_session(api: Api) -> None:
    assert "seq_to" not in await api.remember("x", turn=3)


# ------------------------------------------------------------------ lifetimes


async def test_nothing_expires_that_nobody_gave_a_ttl(api: Api) -> None:
    await api.remember("tea time")
    api.clock.advance(timedelta(days=20_000))

    assert await api.found("tea") == ["tea time"]


async def test_an_expired_note_is_found_on_request_only(either: Api) -> None:
    note = await either.remember("tea time", ttl_days=2)
    assert note["expires_at"] == "2026-01-03T00:00:00Z"

    either.clock.advance(timedelta(days=2))

    assert await either.found("tea") == []
    assert await either.found("tea", include_expired=True) == ["tea time"]
    assert (await either.note(note["id"]))["hidden"] is False


async def test_a_new_value_renews_the_lifetime(api: Api) -> None:
    await api.remember("x", key="k", ttl_days=2)
    api.clock.advance(timedelta(days=1))

    assert (await api.remember("y", key="k"))["expires_at"] == "2026-01-04T00:00:00Z"


async def test_a_nugget_s_default_ttl_goes_to_its_new_notes(api: Api) -> None:
    await api.call("nugget.create", name="n", ttl_days=3)

    assert (await api.remember("x", nugget="n"))["ttl_days"] == 3
    assert (await api.remember("x", nugget="n", ttl_days=9))["ttl_days"] == 9


async def test_a_ttl_is_taken_away_by_null(api: Api) -> None:
    note = await api.remember("x", ttl_days=2)
    edited = (await api.call("note.edit", id=note["id"], metadata={"ttl_days": None}))["note"]

    assert "expires_at" not in edited
    assert "ttl_days" not in edited
