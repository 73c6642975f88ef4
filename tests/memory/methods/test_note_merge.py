"""note.merge: one note of two because somebody says so."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.note import Provenance
from shelfd.memory.tending.reflection.merging import fingerprint


async def _pair(api: Api, target: str = "tea in the morning", source: str = "coffee at noon") -> tuple[str, str]:
    return (await api.remember(target))["id"], (await api.remember(source))["id"]


async def _last_tx(api: Api) -> int:
    return int((await api.call("shelf.log", since_seq=0, limit=1000))["log"][-1]["tx"])


async def _merge(api: Api, target: str, source: str) -> dict[str, Any]:
    note: dict[str, Any] = (await api.call("note.merge", target=target, source=source))["note"]
    return note


# ------------------------------------------------------------------ what it does


async def test_the_target_takes_over_what_it_lacks_and_the_source_is_hidden(either: Api) -> None:
    friend = await either.remember("somebody")
    target = await either.remember("tea in the morning\nno sugar", title="Drinks", tags=["home"], aliases=["beverages"])
    source = await either.remember(
        "no  sugar\ncoffee at noon", title="Coffee", tags=["home", "work"], links=[{"to": friend["id"]}]
    )
    result = await either.call("note.merge", target=target["id"], source=source["id"])
    note, gone = result["note"], await either.note(source["id"])

    assert result["changed"] is True
    assert (note["id"], note["title"]) == (target["id"], "Drinks")
    assert note["content"] == "tea in the morning\nno sugar\ncoffee at noon"
    assert note["tags"] == ["memory", "scope:user", "type:note", "home", "work"]
    assert note["aliases"] == ["beverages", "Coffee"]
    assert [link["to"] for link in note["links"]] == [friend["id"]]
    assert {link["to"] for link in (await either.note(friend["id"]))["links"]} == {target["id"], source["id"]}
    assert (gone["hidden"], gone["content"]) == (True, "no sugar\ncoffee at noon")
    assert (target["id"], "merged_into") in {(link["to"], link["relation"]) for link in gone["links"]}
    stored = either.shelf().view.notes.get(target["id"])
    assert stored is not None
    names = (fingerprint("Coffee"), fingerprint("work"))
    assert stored.extra.provenance == (Provenance(source["id"], (fingerprint("coffee at noon"),), names),)


async def test_the_target_is_found_by_what_it_took_over_and_the_source_no_more(either: Api) -> None:
    target, source = await _pair(either)
    await _merge(either, target, source)

    assert await either.found("coffee") == ["tea in the morning\ncoffee at noon"]


async def test_the_event_is_note_merged_and_the_source_s_note_hidden(either: Api) -> None:
    target, source = await _pair(either)
    seq = (await either.call("get_stats"))["last_seq"]
    await _merge(either, target, source)
    events = (await either.call("events.since", seq=seq))["events"]

    assert [(event["type"], event["subject"]) for event in events] == [
        ("shelfd.note.merged.v1", target),
        ("shelfd.note.hidden.v1", source),
        ("shelfd.link.added.v1", source),
    ]
    assert {event["tx"] for event in events} == {seq + 1}


async def test_the_same_again_changes_nothing(either: Api) -> None:
    target, source = await _pair(either)
    first = await either.call("note.merge", target=target, source=source)
    again = await either.call("note.merge", target=target, source=source)

    assert again == {"note": first["note"], "changed": False}


async def test_under_its_key_it_is_told_again(api: Api) -> None:
    target, source = await _pair(api)
    first = await api.call("note.merge", target=target, source=source, idempotency_key="k")
    again = await api.call("note.merge", target=target, source=source, idempotency_key="k")

    assert again == {**first, "replayed": True}


async def test_the_target_counts_the_sessions_of_both(either: Api) -> None:
    target, source = await _pair(either)
    for note_id, session in ((target, "a"), (source, "a"), (source, "b")):
        await either.call("note.record_hit", id=note_id, session_id=session)
    merged = await _merge(either, target, source)

    assert (merged["hits"], (await either.note(source))["hits"]) == (2, 2)
    await either.shelf().write_usage()
    assert (await either.note(target))["hits"] == 2
    await either.call("note.restore", id=source)  # stands for itself again
    assert (await either.note(target))["hits"] == 1


async def _two_made_one(api: Api) -> tuple[str, str, str]:
    """Three notes, each with a hit of its own, the first merged into the second."""
    one, two = await _pair(api)
    three = (await api.remember("water at night"))["id"]
    for number, note_id in enumerate((one, two, three)):
        await api.call("note.record_hit", id=note_id, session_id=f"s{number}")
    await _merge(api, two, one)
    return one, two, three


async def test_sessions_are_counted_over_merges_of_merges(either: Api) -> None:
    _, two, three = await _two_made_one(either)
    last = await _merge(either, three, two)

    assert (last["hits"], last["last_hit_session"]) == (3, "s2")


async def test_a_fact_takes_over_a_note(either: Api) -> None:
    fact = await either.remember("pnpm deploy", key="deploy command")
    note = await either.remember("pnpm deploy", title="how to ship")
    merged = await _merge(either, fact["id"], note["id"])

    assert (merged["kind"], merged["content"], merged["aliases"]) == ("fact", "pnpm deploy", ["how to ship"])
    assert (await either.call("recall", query="deploy command"))["answer"]["value"] == "pnpm deploy"


async def test_a_note_without_a_title_gets_the_other_s(either: Api) -> None:
    target = await either.remember("tea")
    source = await either.remember("coffee", title="Drinks")
    merged = await _merge(either, target["id"], source["id"])

    assert (merged["title"], "aliases" in merged) == ("Drinks", False)


async def test_code_is_put_behind_and_not_torn_apart(api: Api) -> None:
    target, source = await _pair(api, "```\nx = 1\n```", "```\ny = 2\n```")

    assert (await _merge(api, target, source))["content"] == "```\nx = 1\n```\n\n```\ny = 2\n```"


async def test_lists_become_one(api: Api) -> None:
    target, source = await _pair(api, "- milk\n- bread", "- bread\n- eggs")

    assert (await _merge(api, target, source))["content"] == "- milk\n- bread\n- eggs"


async def test_what_a_pinned_or_lasting_note_says_stays_so(either: Api) -> None:
    target = await either.remember("tea", ttl_days=3)
    source = await either.remember("coffee", pinned=True)
    merged = await _merge(either, target["id"], source["id"])

    assert (merged["pinned"], "expires_at" in merged, "ttl_days" in merged) == (True, False, False)


async def test_of_two_that_expire_the_later_end_counts(api: Api) -> None:
    target, source = await api.remember("tea", ttl_days=3), await api.remember("coffee", ttl_days=9)

    assert (await _merge(api, target["id"], source["id"]))["expires_at"] == source["expires_at"]


async def test_a_rendered_text_becomes_one_of_its_own(api: Api) -> None:
    target = await api.remember_typed({"name": "Ada", "city": "Rome"})
    source = await api.remember("likes tea")
    merged = await _merge(api, target["id"], source["id"])
    await api.call("note.edit", id=target["id"], set_fields={"city": "Oslo"})

    assert merged["content"] == "name: Ada\ncity: Rome\nlikes tea"
    assert (await api.note(target["id"]))["content"] == "name: Ada\ncity: Rome\nlikes tea"


async def test_links_between_the_two_and_those_the_target_has_stay_as_they_are(either: Api) -> None:
    target, source = await _pair(either)
    friend = (await either.remember("friend"))["id"]
    await either.call("link.upsert", source=target, target=source, reason="both drinks")
    await either.call("link.upsert", source=target, target=friend, reason="mine")
    await either.call("link.upsert", source=source, target=friend, reason="the other's")
    merged = await _merge(either, target, source)

    assert [(link["to"], link["reason"]) for link in merged["links"]] == [(source, "both drinks"), (friend, "mine")]


async def test_a_tag_that_was_taken_away_does_not_come_back(api: Api) -> None:
    target = await api.remember("tea", tags=["old"])
    await api.call("note.edit", id=target["id"], remove_tags=["old"])
    source = await api.remember("coffee", tags=["old", "new"])

    assert (await _merge(api, target["id"], source["id"]))["tags"][3:] == ["new"]


# ------------------------------------------------------------------ undo


async def test_undo_takes_it_back_whole(either: Api) -> None:
    friend = await either.remember("friend")
    target = await either.remember("tea", tags=["a"], ttl_days=3)
    source = await either.remember("coffee", title="Coffee", tags=["b"], links=[{"to": friend["id"]}], pinned=True)
    await either.call("note.record_hit", id=source["id"], session_id="s")
    before = logical_hash(either.shelf().view)
    await _merge(either, target["id"], source["id"])
    result = await either.call("undo", tx=await _last_tx(either))

    assert result["kept"] == []
    assert logical_hash(either.shelf().view) == before
    assert [(await either.note(note["id"]))["hits"] for note in (target, source)] == [0, 1]


async def test_undo_takes_only_lines_out_that_nobody_edited(either: Api) -> None:
    target, source = await _pair(either, "tea", "coffee\nmilk")
    await _merge(either, target, source)
    tx = await _last_tx(either)
    await either.call("note.edit", id=target, content="green tea\ncoffee\nmilk, warm\nhoney")
    result = await either.call("undo", tx=tx)

    assert (await either.note(target))["content"] == "green tea\nmilk, warm\nhoney"
    assert {(kept["note_id"], kept["field"], kept["why"]) for kept in result["kept"]} == {(target, "content", "edited")}
    assert (await either.note(source))["hidden"] is False


async def test_an_earlier_rev_leaves_the_hits(api: Api) -> None:
    target, source = await _pair(api)
    await api.call("note.record_hit", id=source, session_id="s")
    await _merge(api, target, source)
    reverted = (await api.call("note.revert", id=target, rev=1))["note"]

    assert (reverted["content"], reverted["hits"]) == ("tea in the morning", 1)


# ------------------------------------------------------------------ what it refuses


async def test_a_note_is_not_merged_into_itself(api: Api) -> None:
    error = await api.refused("note.merge", target="n", source="n")

    assert (error.code, error.field) == (-32602, "source")


@pytest.mark.parametrize("missing", ["target", "source"])
async def test_both_must_exist(api: Api, missing: str) -> None:
    note = await api.remember("tea")
    names = {"target": note["id"], "source": note["id"], missing: "note-memory-00000000"}

    assert (await api.refused("note.merge", names)).kind == "NoteNotFound"


async def _hide(api: Api, note_id: str) -> None:
    await api.call("note.hide", id=note_id)


async def _supersede(api: Api, note_id: str) -> None:
    newer = await api.remember("newer")
    await api.call("mark_note_superseded", note_id=note_id, superseded_by_id=newer["id"])


@pytest.mark.parametrize("param", ["target", "source"])
@pytest.mark.parametrize(("how", "reason"), [(_hide, "HIDDEN"), (_supersede, "SUPERSEDED")])
async def test_what_is_out_of_sight_is_not_merged(
    api: Api, how: Callable[[Api, str], Awaitable[None]], reason: str, param: str
) -> None:
    target, source = await _pair(api)
    names = {"target": target, "source": source}
    await how(api, names[param])
    error = await api.refused("note.merge", names)

    assert (error.code, error.kind, error.field, error.reason) == (-32002, "NotMergeable", param, reason)


@pytest.mark.parametrize("param", ["target", "source"])
async def test_what_has_expired_is_not_merged(api: Api, param: str) -> None:
    target, source = await _pair(api)
    names = {"target": target, "source": source}
    await api.call("note.edit", id=names[param], metadata={"ttl_days": 1})
    api.clock.advance(timedelta(days=2))

    assert (await api.refused("note.merge", names)).reason == "EXPIRED"


async def test_notes_of_different_nuggets_stay_two(api: Api) -> None:
    target, source = await api.remember("tea"), await api.remember("coffee", nugget="other")
    error = await api.refused("note.merge", target=target["id"], source=source["id"])

    assert (error.code, error.field, error.reason) == (-32002, "source", "OTHER_NUGGET")
    await api.call("note.move", id=source["id"], nugget="memory")
    assert (await _merge(api, target["id"], source["id"]))["content"] == "tea\ncoffee"


@pytest.mark.parametrize("target", [{"key": "drink"}, {}])
async def test_a_fact_is_never_lost_in_another_note(api: Api, target: dict[str, Any]) -> None:
    into = await api.remember("tea", **target)
    fact = await api.remember("tea", key="hot drink")
    error = await api.refused("note.merge", target=into["id"], source=fact["id"])

    assert (error.code, error.field, error.reason) == (-32002, "source", "OTHER_KEY")
    assert (await api.call("recall", query="hot drink"))["answer"]["found"] is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scope": "session", "session_id": "a"}, {"scope": "session", "session_id": "b"}),
        ({"scope": "session", "session_id": "a"}, {"session_id": "a"}),
        ({}, {"scope": "session", "session_id": "a"}),
    ],
)
async def test_what_belongs_to_a_session_alone_stays_there(
    api: Api, one: dict[str, Any], other: dict[str, Any]
) -> None:
    target, source = await api.remember("tea", **one), await api.remember("coffee", **other)
    error = await api.refused("note.merge", target=target["id"], source=source["id"])

    assert (error.code, error.reason) == (-32002, "OTHER_SESSION")


async def test_within_one_session_it_is_fine(api: Api) -> None:
    own = {"scope": "session", "session_id": "a"}
    target, source = await api.remember("tea", **own), await api.remember("coffee", **own)

    assert (await _merge(api, target["id"], source["id"]))["content"] == "tea\ncoffee"


LIMITS: list[tuple[str, int, dict[str, Any], dict[str, Any], int]] = [
    ("content", 9, {"content": "tea"}, {"content": "coffee"}, -32005),
    ("tags", 2, {"tags": ["a"]}, {"tags": ["b", "c"]}, -32602),
    ("aliases", 2, {"aliases": ["a"]}, {"aliases": ["b", "c"]}, -32602),
]


@pytest.mark.parametrize(("field", "limit", "one", "other", "code"), LIMITS, ids=[case[0] for case in LIMITS])
async def test_more_than_a_note_may_have_is_refused_whole(
    api: Api, field: str, limit: int, one: dict[str, Any], other: dict[str, Any], code: int
) -> None:
    name = "content_bytes" if field == "content" else f"{field}_count"
    target, source = await api.remember(**{"content": "x", **one}), await api.remember(**{"content": "x", **other})
    api.limits = api.limits.model_copy(update={name: limit})
    error = await api.refused("note.merge", target=target["id"], source=source["id"])

    assert (error.code, error.field, error.limit) == (code, field, limit)
    assert (await api.note(target["id"]), await api.note(source["id"])) == (target, source)


@pytest.mark.parametrize("full", ["target", "friend"])
async def test_too_many_links_are_refused_whole(either: Api, full: str) -> None:
    target, source = await _pair(either)
    friends = [(await either.remember(f"friend {number}"))["id"] for number in range(3)]
    crowded = target if full == "target" else friends[0]
    for other in friends[1:]:
        await either.call("link.upsert", source=crowded, target=other, direction="outgoing")
    await either.call(
        "link.upsert", source=friends[0], target=source, direction="bidirectional" if full == "target" else "outgoing"
    )
    either.limits = either.limits.model_copy(update={"links_count": 2 if full == "target" else 3})
    error = await either.refused("note.merge", target=target, source=source)

    assert (error.code, error.field, error.limit) == (-32602, "links", either.limits.links_count)
    assert (await either.note(source))["hidden"] is False


async def test_a_hidden_note_has_the_hits_of_its_own(either: Api) -> None:
    one, two, three = await _two_made_one(either)
    await _merge(either, three, two)

    assert [(await either.note(note_id))["hits"] for note_id in (one, two, three)] == [1, 1, 3]
    await either.call("note.restore", id=two)
    assert [(await either.note(note_id))["hits"] for note_id in (one, two, three)] == [1, 2, 1]
