"""What Nuggets' page on the note says of its fields, enums, listings and search, statement by statement."""

import re
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api

SCOPES = ["self", "user", "shared", "project", "session"]
TYPES = ["fact", "note", "preference", "reflection", "self_model", "project", "relationship", "style"]
SOURCES = ["explicit_user", "agent_reflection", "tool_observation", "inferred", "system"]
#: Fields of the page's note by our names: those that are always there, and those that come when they have a value.
ALWAYS = set(
    """id nugget title content tags links hidden kind hits last_hit_session created_at updated_at last_accessed_at
    subject scope type source confidence stability""".split()
)
SOMETIMES = {"source_key", "last_rewritten_at", "archived_at"}


# ------------------------------------------------------------------ the note


async def test_every_field_is_there(api: Api) -> None:
    """By names in snake case; ``nuggetName`` is ``nugget``, and ``vector`` comes when it is asked for."""
    note = await api.remember("blue", key="favorite color")
    full = await api.note(note["id"], full=True, include_vector=True)

    assert ALWAYS | {"source_key", "vector"} <= full.keys()
    assert not {"archived_at", "last_rewritten_at"} & full.keys()


@pytest.mark.parametrize(("named", "kind"), [({"key": "color"}, "fact"), ({}, "note")])
async def test_ids_have_the_page_s_form(api: Api, named: dict[str, Any], kind: str) -> None:
    note = await api.remember("blue", nugget="taste", **named)

    assert re.fullmatch(f"{kind}-taste-[0-9a-f]{{8}}", note["id"])
    assert note["kind"] == kind


async def test_a_nugget_is_no_field_that_can_be_edited(api: Api) -> None:
    """It is "immutable after creation" but for note.move, which keeps the id."""
    note = await api.remember("blue")
    assert (await api.refused("note.edit", id=note["id"], nugget="other")).code == -32602
    await api.call("nugget.create", name="other")
    moved = (await api.call("note.move", id=note["id"], nugget="other"))["note"]

    assert (moved["id"], moved["nugget"]) == (note["id"], "other")


async def test_a_fact_s_title_is_its_key_and_a_note_has_no_source_key(api: Api) -> None:
    fact = await api.remember("blue", key="Favorite Color")
    note = await api.remember("blue", title="Favorite Color")

    assert (fact["title"], fact["source_key"]) == ("Favorite Color", "Favorite Color")
    assert "source_key" not in note


async def test_whitespace_is_normalised_on_write(api: Api) -> None:
    """Fixed: the original trimmed every line, and with it the indentation of code."""
    note = await api.remember("one\t two  \r\n\r\n\r\n\r\nthree\n\n    x  =  1\n\n")

    assert note["content"] == "one two\n\nthree\n\n    x  =  1"


async def test_tags_are_lower_case_with_hyphens_and_always_have_the_system_s(api: Api) -> None:
    """Fixed: an edit in the original could lose the nugget's tag."""
    note = await api.remember("x", nugget="work", tags=["Home Office", "HOME office"])
    assert note["tags"] == ["work", "scope:user", "type:note", "home-office"]
    edited = (await api.call("note.edit", id=note["id"], tags=[], metadata={"type": "style"}))["note"]

    assert edited["tags"] == ["work", "scope:user", "type:style"]


async def test_hidden_notes_are_out_of_search_and_lists(api: Api) -> None:
    note = await api.remember("milk bread")
    hidden = (await api.call("note.hide", id=note["id"]))["note"]

    assert (hidden["hidden"], hidden["archived_at"]) == (True, "2026-01-01T00:00:00Z")
    assert (await api.call("note.list"))["notes"] == []
    assert (await api.call("note.search", query="milk"))["results"] == []
    assert "archived_at" not in (await api.call("note.restore", id=note["id"]))["note"]


async def test_times_of_writing_reading_and_rewriting(api: Api) -> None:
    """Fixed: the original's last access was never set by reading or recalling."""
    note = await api.remember("a line\na line")
    assert note["created_at"] == note["updated_at"] == note["last_accessed_at"] == "2026-01-01T00:00:00Z"
    api.clock.advance(timedelta(hours=1))
    await api.call("note.get", id=note["id"])
    read = await api.note(note["id"])
    assert (read["updated_at"], read["last_accessed_at"]) == ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
    api.clock.advance(timedelta(hours=1))
    await api.call("recall", query="line")
    await api.call("reflect")
    rewritten = await api.note(note["id"])

    assert rewritten["last_accessed_at"] == "2026-01-01T02:00:00Z"
    assert rewritten["last_rewritten_at"] == rewritten["updated_at"] == "2026-01-01T02:00:00Z"


async def test_hits_and_the_last_session(api: Api) -> None:
    note = await api.remember("blue", key="color")
    assert (note["hits"], note["last_hit_session"]) == (0, "")
    for session in ("s1", "s2", "s1"):
        await api.call("recall", query="color", session_id=session)

    now = await api.note(note["id"])
    assert (now["hits"], now["last_hit_session"]) == (2, "s1")


# ------------------------------------------------------------------ metadata


@pytest.mark.parametrize(
    ("name", "values"),
    [("scope", SCOPES), ("type", TYPES), ("source", SOURCES), ("stability", ["temporary", "durable"])],
)
async def test_enums(api: Api, name: str, values: list[str]) -> None:
    for value in values:
        assert (await api.remember("x", **{name: value}))[name] == value
    if name != "type":  # a type may also be one of the caller's schema
        assert (await api.refused("remember", {"content": "x", name: "other"})).field == name


@pytest.mark.parametrize(("given", "kept"), [(-1, 0.0), (0.25, 0.25), (7, 1.0)])
async def test_confidence_is_clamped(api: Api, given: float, kept: float) -> None:
    note = await api.remember("x", confidence=given)
    edited = await api.call("note.edit", id=note["id"], metadata={"confidence": given})

    assert (note["confidence"], edited["note"]["confidence"]) == (kept, kept)


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        ("user", "user:primary"),
        ("self", "assistant:self"),
        ("shared", "shared:project"),
        ("project", "shared:project"),
        ("session", "session:current"),
    ],
)
async def test_a_prefix_sets_the_scope_and_the_scope_the_subject(api: Api, scope: str, subject: str) -> None:
    note = await api.remember("x", key=f"{scope}:anything")

    assert (note["scope"], note["subject"]) == (scope, subject)


async def test_without_a_prefix_the_scope_follows_from_key_and_content(api: Api) -> None:
    """Fixed: by whole words. In the original "profile" was about a file, and "empathy" about a path."""
    for key, content, scope in [
        ("server port", "8080", "shared"),
        ("assistant name", "Nia", "self"),
        ("favorite color", "blue", "user"),
        ("profile", "shows empathy", "user"),
    ]:
        assert (await api.remember(content, key=key))["scope"] == scope


@pytest.mark.parametrize(
    ("key", "stability"),
    [
        ("session:mood", "temporary"),
        ("_task", "temporary"),
        ("tmp list", "temporary"),
        ("scratch", "temporary"),
        ("color", "durable"),
        ("attempt", "durable"),
    ],
)
async def test_stability(api: Api, key: str, stability: str) -> None:
    """Keys *prefixed* with these, as the page says; the original looked for them anywhere, so "attempt" had tmp..."""
    assert (await api.remember("x", key=key))["stability"] == stability


async def test_the_page_s_example_of_metadata(api: Api) -> None:
    """``nugget.remember("project:deploy-cmd", "pnpm deploy", {source, stability, confidence})``."""
    note = await api.remember(
        "pnpm deploy", key="project:deploy-cmd", source="explicit_user", stability="durable", confidence=1.0
    )
    told = {name: note[name] for name in ("scope", "subject", "type", "source", "stability", "confidence")}

    assert told == {
        "scope": "project",
        "subject": "shared:project",
        "type": "project",
        "source": "explicit_user",
        "stability": "durable",
        "confidence": 1.0,
    }


async def test_what_is_left_out_is_inferred_and_what_is_there_stays(api: Api) -> None:
    note = await api.remember("x", key="self:voice", subject="assistant:other")
    edited = (await api.call("note.edit", id=note["id"], title="user:voice", metadata={"confidence": 0.5}))["note"]

    assert (note["scope"], note["type"], note["subject"]) == ("self", "self_model", "assistant:other")
    assert (edited["scope"], edited["type"], edited["subject"]) == ("self", "self_model", "assistant:other")


# ------------------------------------------------------------------ links and vectors


async def test_a_link_stands_on_both_notes(api: Api) -> None:
    one, other = await api.remember("a"), await api.remember("b")
    await api.call("link.upsert", source=one["id"], target=other["id"], reason="both letters")

    for source, target in ((one, other), (other, one)):
        (link,) = (await api.note(source["id"]))["links"]
        assert link == {
            "to": target["id"],
            "relation": "related",
            "reason": "both letters",
            "created_at": "2026-01-01T00:00:00Z",
        }


async def test_the_vector_s_seed_and_basis(api: Api) -> None:
    """At most 20 tokens, and a number for them. Fixed: the number is a hash and no length; tokens are words that mean
    something, where the original spent seven on kind, scope and the like.
    """
    long = " ".join(f"word{number}" for number in range(100))
    one = await api.remember(long, title="deploy", tags=["ship"])
    other = await api.remember(long.replace("word1", "term1"), title="deploy", tags=["ship"])
    vectors = [(await api.note(note["id"], include_vector=True))["vector"] for note in (one, other)]

    assert "title:deploy" in vectors[0]["basis"]
    assert [len(vector["basis"]) for vector in vectors] == [20, 20]
    assert vectors[0]["seed"] != vectors[1]["seed"]


# ------------------------------------------------------------------ filters and search


async def test_the_page_s_example_of_a_listing(api: Api) -> None:
    """``listNotes({includeHidden: true, scope: "project", type: "note"})``."""
    wanted = await api.remember("a", scope="project", type="note")
    hidden = await api.remember("b", scope="project", type="note")
    await api.remember("c", scope="project", type="project")
    await api.remember("d", scope="user", type="note")
    await api.call("note.hide", id=hidden["id"])
    listed = (await api.call("note.list", includeHidden=True, scope="project", type="note"))["notes"]
    assert [note["id"] for note in listed] == [wanted["id"], hidden["id"]]

    listed = (await api.call("note.list", scope="project", type="note"))["notes"]
    assert [note["id"] for note in listed] == [wanted["id"]]


async def test_a_listing_is_in_the_order_of_the_last_write(api: Api) -> None:
    """Fixed: reading a shelf back made all facts look new."""
    ids = []
    for content in "abc":
        ids.append((await api.remember(content, key=content))["id"])
        api.clock.advance(timedelta(seconds=1))
    await api.call("note.edit", id=ids[0], content="new")
    await api.reopen()

    assert [note["id"] for note in (await api.call("note.list"))["notes"]] == [ids[1], ids[2], ids[0]]


async def test_subjects_are_matched_exactly(api: Api) -> None:
    note = await api.remember("a", subject="user:ada")
    await api.remember("b", subject="user:adam")

    assert [hit["id"] for hit in (await api.call("note.list", subject="user:ada"))["notes"]] == [note["id"]]


async def test_scores_of_a_search(api: Api) -> None:
    """42 % vector, 48 % text, and what the page leaves out: up to 0.13 for durable, personal and trusted notes.

    ``score`` is a share of 1 after softmax, as the page says, and shrinks with the number of matches; ``raw_score``
    beside it does not.
    """
    for content in ("milk and bread", "milk and eggs", "bread of the day"):
        await api.remember(content, confidence=0.5)
    results = (await api.call("note.search", query="milk bread"))["results"]

    assert [hit["score"] for hit in results] == sorted((hit["score"] for hit in results), reverse=True)
    assert sum(hit["score"] for hit in results) == pytest.approx(1, abs=1e-5)
    for hit in results:
        assert 0 <= hit["vector_score"] <= 1
        assert 0 <= hit["text_score"] <= 1.75
        boost = 0.05 + 0.03 + 0.05 * 0.5
        expected = 0.42 * hit["vector_score"] + 0.48 * min(hit["text_score"], 1.5) / 1.5 + boost
        assert hit["raw_score"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("query", ["deploy", "monday", "calendar"])
async def test_title_content_and_tags_are_searched(api: Api, query: str) -> None:
    note = await api.remember("ships on monday", title="Deploy", tags=["calendar"], type="style")
    (hit,) = (await api.call("note.search", query=query))["results"]

    assert (hit["note"]["id"], hit["text_score"]) == (note["id"], 1.75)


@pytest.mark.parametrize("word", ["user:primary", "user", "style"])
async def test_subject_scope_and_type_count_as_words_of_a_note(api: Api, word: str) -> None:
    await api.remember("ships on monday", type="style")

    (hit,) = (await api.call("note.search", query=f"monday {word}"))["results"]
    assert hit["text_score"] == 1.0
    (hit,) = (await api.call("note.search", query=word))["results"]
    assert hit["text_score"] == 1.75
