"""note.search: the published formula over notes that have something of the query."""

import random
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from memory.recall.plain_search import PlainSearch
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.note_score import note_vector


async def search(api: Api, query: str, **named: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = (await api.call("note.search", query=query, **named))["results"]
    return results


async def contents(api: Api, query: str, **named: Any) -> list[str]:
    return [match["note"]["content"] for match in await search(api, query, **named)]


@pytest.fixture
async def notes(either: Api) -> Api:
    """Notes of two nuggets, over each kind of stores."""
    await either.remember("We ship to Vercel with one command", title="deploy", nugget="work", tags=["ops"])
    await either.remember("Milk, bread and coffee", title="shopping", nugget="home")
    await either.remember("The deploy of Friday failed on Vercel", title="incident", nugget="work")
    await either.remember("ramen", key="favorite food", nugget="home")
    return either


async def test_the_formula_is_the_published_one(either: Api) -> None:
    await either.remember("blue", key="favorite color", scope="user", stability="durable", confidence=0.8)
    await either.remember("color of the sky", scope="shared", stability="temporary", confidence=0.5)
    first, second = await search(either, "favorite color")

    for match, durable, personal, confidence in ((first, 0.05, 0.03, 0.8), (second, 0.0, 0.0, 0.5)):
        expected = (
            0.42 * match["vector_score"]
            + 0.48 * min(match["text_score"], 1.5) / 1.5
            + durable + personal + 0.05 * confidence
        )  # fmt: skip
        assert match["raw_score"] == pytest.approx(expected, abs=2e-6)
    assert [first["text_score"], second["text_score"]] == [1.75, 0.5]
    assert first["vector_score"] > second["vector_score"] > 0.5
    assert first["score"] + second["score"] == pytest.approx(1, abs=2e-6)


async def test_all_notes_are_scored_as_one_by_one(api: Api) -> None:
    drawn = random.Random(3)
    vocabulary = [f"{head}{tail}" for head in ("amber", "cedar", "ember") for tail in ("", "s", "wood", "ing", "42")]
    for scope in ("user", "shared") * 30:
        text = ", ".join(drawn.choices(vocabulary, k=drawn.randrange(1, 9)))
        await api.remember(text, title=drawn.choice(vocabulary), scope=scope, confidence=round(drawn.random(), 2))
    notes = api.shelf().view.notes.scan(before_row=None, limit=100)
    await api.shelf().reach(None)
    plain = PlainSearch(notes, api.shelf().projection(ShelfIndex).index)
    for query in ("ambers", "mber", "amber, cedar", "cedar embers wood", "emberwod", "user", "ing, amber4", "zebra"):
        wanted = plain.scores(query)
        found = await search(api, query, limit=100)
        assert {match["note"]["id"] for match in found} == wanted.keys()
        assert [match["raw_score"] for match in found] == sorted((match["raw_score"] for match in found), reverse=True)
        for match in found:
            scores = tuple(match[name] for name in ("raw_score", "vector_score", "text_score", "score"))
            assert scores == pytest.approx(wanted[match["note"]["id"]], abs=1e-5)


@pytest.mark.parametrize(
    ("query", "titles"),
    [("offe", {"shopping"}), ("e deploy of fri", {"incident"}), ("erce", {"deploy", "incident"})],
)
async def test_a_query_that_is_part_of_longer_words_is_found(notes: Api, query: str, titles: set[str]) -> None:
    found = await search(notes, query)

    assert {match["note"]["title"] for match in found if match["text_score"] >= 0.75} == titles
    assert found[0]["note"]["title"] in titles


async def test_of_many_notes_all_are_candidates(api: Api) -> None:
    many = [{"content": f"entry {n} of the ledger"} for n in range(600)]
    await api.call("remember_many", notes=many)
    found = await search(api, "ledger", limit=200)
    assert len(found) == 200
    assert sum(match["score"] for match in found) == pytest.approx(1 / 3, abs=1e-3)
    assert (await search(api, "7 of the ledger"))[0]["text_score"] == 1.75


async def test_what_means_the_query_comes_first_across_nuggets(notes: Api) -> None:
    first, second = await search(notes, "deploy vercel command")

    assert [first["note"]["title"], second["note"]["title"]] == ["deploy", "incident"]
    assert (await contents(notes, "what food"))[0] == "ramen"
    assert await contents(notes, "deploy", nugget="home") == []


async def test_vectors_tell_notes_of_one_shape_apart(notes: Api) -> None:
    found = {match["note"]["title"]: match["vector_score"] for match in await search(notes, "vercel coffee")}

    assert found["shopping"] != found["deploy"]
    assert min(found.values()) > 0.5
    assert "favorite food" not in found


async def test_a_misspelt_word_is_found_by_the_vectors_alone(notes: Api) -> None:
    match = (await search(notes, "shoping"))[0]

    assert match["note"]["title"] == "shopping"
    assert match["text_score"] == 0.0
    assert match["vector_score"] > 0.5


async def test_nothing_is_returned_that_has_nothing_of_the_query(notes: Api) -> None:
    assert await search(notes, "mount everest") == []


async def test_limit_cuts_and_shares_are_of_all(notes: Api) -> None:
    whole = await search(notes, "deploy vercel coffee")
    first = await search(notes, "deploy vercel coffee", limit=1)

    assert len(whole) == 3
    assert first == whole[:1]
    assert sum(match["score"] for match in whole) == pytest.approx(1, abs=3e-6)


async def test_hidden_notes_are_found_when_they_are_asked_for(notes: Api) -> None:
    note_id = (await search(notes, "coffee"))[0]["note"]["id"]
    await notes.call("note.hide", id=note_id)

    assert await search(notes, "coffee") == []
    assert [match["note"]["id"] for match in await search(notes, "coffee", include_hidden=True)] == [note_id]
    assert [match["note"]["hidden"] for match in await search(notes, "cofee", include_hidden=True)] == [True]


async def test_replaced_expired_and_purged_notes_are_left_out(notes: Api) -> None:
    old = await notes.remember("tea at four")
    new = await notes.remember("tea at five")
    await notes.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    await notes.remember("tea today", ttl_days=1)
    gone = await notes.remember("tea of yore")
    assert sorted(await contents(notes, "tea")) == ["tea at five", "tea of yore", "tea today"]
    await notes.call("forget", id=gone["id"], purge=True)
    notes.clock.advance(timedelta(days=2))

    assert await contents(notes, "tea") == ["tea at five"]
    assert sorted(await contents(notes, "tea", exclude_superseded=False)) == ["tea at five", "tea at four"]


@pytest.mark.parametrize(
    "filters", [{"scope": "user"}, {"subject": "user:alice"}, {"type": "preference"}, {"nugget": "b"}]
)
async def test_filters(either: Api, filters: dict[str, Any]) -> None:
    await either.remember("likes tea at four", scope="shared", subject="shared:project", type="note", nugget="a")
    await either.remember("likes tea at noon", scope="user", subject="user:alice", type="preference", nugget="b")

    assert await contents(either, "tea", **filters) == ["likes tea at noon"]
    assert len(await contents(either, "tea")) == 2


async def test_an_unknown_nugget_is_refused(api: Api) -> None:
    assert (await api.refused("note.search", query="x", nugget="none")).kind == "NuggetNotFound"


async def test_searching_is_no_use(notes: Api) -> None:
    before = (await search(notes, "coffee"))[0]["note"]
    after = await notes.note(before["id"])

    for name in ("hits", "access_count", "last_hit_session"):
        assert after[name] == before[name] == (0 if name != "last_hit_session" else "")


async def test_edits_are_followed(notes: Api) -> None:
    note_id = (await search(notes, "coffee"))[0]["note"]["id"]
    await notes.call("note.edit", id=note_id, content="Oranges and lemons", add_tags=["fruit"])

    assert await search(notes, "cofee") == []
    for query in ("lemons", "lemmons", "fruit"):
        assert [match["note"]["id"] for match in await search(notes, query)] == [note_id]


async def test_a_note_shows_its_vector_when_asked(either: Api) -> None:
    note = await either.remember("We ship to Vercel", title="deploy", tags=["ops"])
    vector = note_vector("deploy", "We ship to Vercel", ["ops"])
    expected = {"seed": vector.seed, "basis": list(vector.basis)}

    assert "vector" not in await either.note(note["id"])
    assert (await either.note(note["id"], include_vector=True))["vector"] == expected
    assert (await either.note(note["id"], full=True))["vector"] == expected
    assert "title:deploy" in vector.basis


@pytest.mark.parametrize("query", ["🙂", "🎉🙂", "茶", "igdir"])
async def test_emoji_and_single_characters_are_searched_for(api: Api, query: str) -> None:
    await api.remember("party 🎉🙂 with 茶道 in Iğdır")
    await api.remember("nothing of the kind")

    results = (await api.call("note.search", query=query))["results"]
    assert [hit["note"]["content"][:5] for hit in results] == ["party"]
