"""recall and get_context say what is relevant, and only that is use."""

from typing import Any

import pytest

from fakes import ALICE, BOB, Api

HOUSE = (
    "The fridge was defrosted in February.",
    "Grandma moved into room 214 of the residence.",
    "The piano tuner wants to be paid in cash.",
    "The ladder is with the neighbours across the street.",
)


async def house(api: Api) -> dict[str, str]:
    """Remember a few things; return their ids by title or content."""
    ids = {content: (await api.remember(content))["id"] for content in HOUSE}
    for title, content, aliases in (
        ("Boiler service", "Okafor cleans the burner every October, 140 euros.", ["heating check"]),
        ("Boiler water", "The pressure should be at 1.5 bar, service the valve every October.", []),
    ):
        ids[title] = (await api.remember(content, title=title, aliases=aliases))["id"]
    return ids


async def recalled(api: Api, query: str, **named: Any) -> list[tuple[str, bool]]:
    result = await api.call("recall", query=query, **named)
    return [(hit["note"].get("title") or hit["note"]["content"], hit["relevant"]) for hit in result["results"]]


async def hits(api: Api) -> dict[str, tuple[int, int]]:
    """Hits and accesses of the notes that have any, by title or content."""
    notes = (await api.call("note.list", limit=100))["notes"]
    return {
        note.get("title") or note["content"]: (note["hits"], note["access_count"])
        for note in notes
        if note["hits"] or note["access_count"]
    }


async def test_other_names_are_cut_and_counted_and_come_back_without_focus(either: Api) -> None:
    ids = await house(either)
    result = await either.call("recall", query="boiler service", explain=True)

    assert [hit["note"]["id"] for hit in result["results"]] == [ids["Boiler service"]]
    assert (result["dropped"], result["abstained"]) == (1, False)
    assert [(cut["note_id"], cut["reason"]) for cut in result["cut"]] == [(ids["Boiler water"], "another_name")]
    assert result["results"][0]["coverage"] == 1.0
    assert result["results"][0]["relevance"] > 0.5
    everything = await either.call("recall", query="boiler service", focus="off", explain=True)
    assert [hit["note"]["title"] for hit in everything["results"]] == ["Boiler service", "Boiler water"]
    best, other = (hit["relevance"] for hit in everything["results"])
    assert best > other
    assert (everything["dropped"], everything["cut"]) == (0, [])


@pytest.mark.parametrize("query", ["?", "...", "🚲"])
async def test_a_query_without_words_finds_nothing(api: Api, query: str) -> None:
    await house(api)
    result = await api.call("recall", query=query, session_id="s")

    assert (result["results"], result["abstained"]) == ([], True)
    assert len((await api.call("recall", query=query, focus="off"))["results"]) == 0
    assert (await api.call("get_context", query=query))["notes"] == []


async def test_what_was_cut_is_named_only_when_asked_for(api: Api) -> None:
    await house(api)
    result = await api.call("recall", query="boiler service")

    assert result["dropped"] == 1
    assert "cut" not in result
    assert "relevance" not in result["results"][0]


async def test_abstained_means_that_nothing_is_relevant_though_there_are_results(either: Api) -> None:
    await house(either)
    result = await either.call("recall", query="which colour is the ladder")

    assert result["results"]
    assert not any(hit["relevant"] for hit in result["results"])
    assert result["abstained"]


async def test_only_relevant_notes_are_hit(either: Api) -> None:
    await house(either)
    found = await recalled(either, "when was the fridge of the neighbours defrosted", session_id="s")

    assert len(found) > 1
    assert await hits(either) == {HOUSE[0]: (1, 1)}


async def test_what_only_comes_along_is_not_hit(either: Api) -> None:
    ids = await house(either)
    manual = "The manual of the icebox lies in the loft."
    await either.remember(manual, links=[{"to": ids[HOUSE[1]]}])
    found = await recalled(either, "where is the manual of the icebox", session_id="s")

    assert found == [(manual, True), (HOUSE[1], False)]
    assert await hits(either) == {manual: (1, 1)}


async def test_a_question_that_nothing_answers_is_not_kept(either: Api) -> None:
    await house(either)
    await either.call("recall", query="which colour is the ladder")
    await either.call("recall", query="when was the fridge defrosted")
    await either.shelf().write_usage()

    assert [query.params for query in either.shelf().view.queries.recent(10)] == [
        '{"query": "when was the fridge defrosted"}'
    ]


async def test_context_takes_what_is_relevant_only(either: Api) -> None:
    ids = await house(either)
    found = await either.call("get_context", query="when was the fridge of the neighbours defrosted")
    nothing = await either.call("get_context", query="which colour is the ladder")

    assert found["notes"] == [ids[HOUSE[0]]]
    assert not found["truncated"]
    assert nothing["text"] == "No relevant memories found."
    assert await hits(either) == {HOUSE[0]: (1, 1)}


@pytest.mark.parametrize("method", ["recall", "get_context"])
async def test_a_query_without_content_goes_on_from_the_last_one_of_its_session(either: Api, method: str) -> None:
    ids = await house(either)

    async def asked(query: str, **named: Any) -> list[str]:
        result = await either.call(method, query=query, **named)
        return result["notes"] if method == "get_context" else [hit["note"]["id"] for hit in result["results"]]

    await asked("when was the fridge defrosted", session_id="s")
    assert ids[HOUSE[0]] in await asked("and why?", session_id="s")
    await asked("boiler service", session_id="s")
    assert await asked("and why?", session_id="s") == [ids["Boiler service"]]
    assert await asked("and why?", session_id="other") == []
    assert await asked("and why?", session_id="s", principal=BOB) == []
    assert await asked("and why?") == []


async def test_a_question_that_begins_with_and_goes_on_from_the_last_one(api: Api) -> None:
    ids = await house(api)
    await api.remember("The chimney is swept in May.")

    await api.call("recall", query="boiler service", session_id="s")
    found = await api.call("recall", query="and in which month?", session_id="s")
    assert [hit["note"]["id"] for hit in found["results"] if hit["relevant"]] == [ids["Boiler service"]]
    found = await api.call("recall", query="and the boiler water?", session_id="s")  # which has a name of its own
    assert [hit["note"]["id"] for hit in found["results"]] == [ids["Boiler water"]]


async def test_a_purge_forgets_what_was_asked_last(either: Api) -> None:
    await house(either)
    gone = (await either.remember("Noor is vegetarian."))["id"]
    await recalled(either, "is Noor vegetarian", session_id="s")
    await either.call("forget", id=gone, purge=True)

    assert either.shelf().last_queries.get((ALICE, "s")) is None


async def test_a_fact_whose_key_is_the_query_is_relevant(either: Api) -> None:
    await house(either)
    await either.remember("green", key="what else")

    assert await recalled(either, "what else") == [("what else", True)]


async def test_superseded_and_hidden_names_do_not_stand(either: Api) -> None:
    ids = await house(either)
    new = (await either.remember("From May on a new man comes, Petrak, 90 euros.", title="Boiler man"))["id"]
    await either.call("mark_note_superseded", note_id=ids["Boiler service"], superseded_by_id=new)

    assert ("Boiler service", True) not in await recalled(either, "boiler service")
    assert ("Boiler service", True) in await recalled(either, "boiler service", exclude_superseded=False)
