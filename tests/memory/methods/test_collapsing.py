"""Results that say the same are one result, which names the others."""

from typing import Any

import pytest

from fakes import Api


async def recalled(api: Api, query: str, **params: Any) -> list[tuple[str, list[str]]]:
    hits = (await api.call("recall", query=query, **params))["results"]
    return [(hit["note"]["id"], hit.get("collapsed", [])) for hit in hits]


async def ids(api: Api, *texts: str, **fields: Any) -> list[str]:
    return [(await api.remember(text, **fields))["id"] for text in texts]


async def test_the_best_of_those_that_say_the_same_stands_for_them(either: Api) -> None:
    first, second, third = await ids(
        either, "The kettle is green.", "the  kettle is GREEN", "Kettle is green!", author="Ada"
    )
    (other,) = await ids(either, "The kettle was a gift.", author="Ada")
    found = await recalled(either, "green kettle")

    assert found[0] == (third, [second, first])
    assert (other, []) in found
    assert len(found) == 2


@pytest.mark.parametrize(
    ("one", "other", "fields"),
    [
        ("She writes C++.", "She writes C#.", {}),
        ("The cat is in the box.", "The cat is on the box.", {}),
        ("Ada pays Bo.", "Bo pays Ada.", {}),
        ("The limit is 1.5.", "The limit is 15.", {}),
        ("green tea 👍", "green tea 👎", {}),
        ("Tea is green.", "Tea is green?", {}),
        ("thanks for the tea", "thanks for the tea", {"session_id": "s"}),  # with a turn each, see below
        ("tea", "tea", {"author": "Ada"}),
        ("tea", "tea", {"nugget": "other"}),
        ("tea", "tea", {"occurred_at": "2026-01-01T00:00:00Z"}),
        ("tea", "tea", {"pinned": True}),
        ("tea", "tea", {"subject": "Ada"}),
    ],
)
async def test_what_differs_in_more_than_punctuation_is_not_collapsed(
    either: Api, one: str, other: str, fields: dict[str, Any]
) -> None:
    turns: list[dict[str, Any]] = [{"turn": 1}, {"turn": 2}] if "session_id" in fields else [{}, {}]
    first = await either.remember(one, **turns[0], **({"session_id": "s"} if turns[0] else {}))
    second = await either.remember(other, **turns[1], **fields)
    found = await recalled(either, "tea writes pays cat box limit")

    assert sorted(found) == sorted([(first["id"], []), (second["id"], [])])


async def test_k_counts_different_ones(either: Api) -> None:
    await ids(either, *["green tea"] * 30)
    others = await ids(either, *(f"green tea number {n} and more words" for n in range(4)))
    found = await recalled(either, "green tea", k=5)

    assert {note for note, _ in found[1:]} == {*others}
    assert len(found[0][1]) == 29


async def test_it_can_be_switched_off(either: Api) -> None:
    notes = await ids(either, "green tea", "green tea")

    for params in ({"collapse": False}, {"focus": "off"}):
        assert sorted(await recalled(either, "tea", **params)) == sorted((note, []) for note in notes)


async def test_only_the_one_that_stands_is_hit_and_put_into_a_context(either: Api) -> None:
    first, second = await ids(either, "The kettle is green.", "the kettle is green")
    ((stands, _),) = await recalled(either, "which colour is the kettle")
    context = await either.call("get_context", query="which colour is the kettle")

    assert (stands, context["notes"]) == (second, [second])
    assert [(await either.note(note))["hits"] for note in (first, second)] == [0, 1]


async def test_the_same_shelf_gives_the_same_results(either: Api) -> None:
    await ids(either, *["green tea", "Green tea!", "tea, green", "green tea"] * 3)
    assert await recalled(either, "green tea") == await recalled(either, "green tea")


async def test_why_not_names_the_one_that_stands_for_it(either: Api) -> None:
    first, second = await ids(either, "green tea", "Green tea.")
    result = await either.call("why_not", query="green tea", id=first)

    assert (result["found"], result["stage"], result["by"]) == (False, "collapsed", second)


async def test_an_edit_makes_them_different(either: Api) -> None:
    first, second = await ids(either, "green tea", "green tea")
    assert await recalled(either, "tea") == [(second, [first])]
    await either.call("note.edit", id=first, content="black tea")
    assert sorted(await recalled(either, "tea")) == sorted([(first, []), (second, [])])
