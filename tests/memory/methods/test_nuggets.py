"""nugget.*: named topics inside a shelf."""

import asyncio
from typing import Any

import pytest

from fakes import Api


async def test_a_new_nugget_is_empty_and_has_its_defaults(either: Api) -> None:
    created = await either.call("nugget.create", name="Work", ttl_days=30)

    assert created == {
        "name": "work", "fact_count": 0, "note_count": 0, "hidden_count": 0, "dimension": 1024, "banks": 4,
        "ensembles": 1, "max_facts": 0, "capacity": 204, "capacity_used_pct": 0.0, "capacity_warning": "",
        "ttl_days": 30, "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert await either.call("nugget.status", name="WORK") == created


async def test_a_name_is_taken_once(either: Api) -> None:
    await either.call("nugget.create", name="work")
    error = await either.refused("nugget.create", name="WORK")

    assert (error.code, error.kind) == (-32002, "DuplicateNugget")


async def test_list_is_by_name_and_in_pages(either: Api) -> None:
    for name in ("b", "ä", "a", "c"):
        await either.call("nugget.create", name=name)

    names: list[str] = []
    page: dict[str, Any] = {"next_cursor": None}
    while "next_cursor" in page:
        page = await either.call("nugget.list", limit=2, cursor=page["next_cursor"])
        names += [nugget["name"] for nugget in page["nuggets"]]
    assert names == ["a", "b", "c", "ä"]


async def test_status_counts_facts_notes_and_hidden_ones(either: Api) -> None:
    await either.remember("x", key="a")
    await either.remember("x", key="b")
    await either.remember("x")
    await either.call("forget", key="b")

    status = await either.call("nugget.status", name="memory")
    assert [status["fact_count"], status["note_count"], status["hidden_count"]] == [1, 3, 1]


async def test_facts_are_visible_ones_in_the_order_they_were_first_given(either: Api) -> None:
    for key in ("b", "a", "c"):
        await either.remember(f"value of {key}", key=key)
    await either.remember("new value of b", key="b")
    await either.remember("a note")
    await either.call("forget", key="a")
    await either.call("recall", query="b", session_id="s", k=1, include_links=False)

    first = await either.call("nugget.facts", name="memory", limit=1)
    rest = await either.call("nugget.facts", name="memory", cursor=first["next_cursor"])

    facts = [(fact["key"], fact["value"], fact["hits"]) for fact in first["facts"] + rest["facts"]]
    assert facts == [("b", "new value of b", 1), ("c", "value of c", 0)]


async def test_clear_hides_every_note_and_keeps_the_nugget(either: Api) -> None:
    await either.remember("tea", key="a")
    await either.remember("tea time")
    await either.remember("tea room", nugget="other")

    assert (await either.call("nugget.clear", name="memory"))["hidden"] == 2
    assert (await either.call("nugget.clear", name="memory"))["hidden"] == 0
    assert await either.found("tea") == ["tea room"]
    assert (await either.call("nugget.status", name="memory"))["hidden_count"] == 2


async def test_rename_takes_the_notes_along_and_leaves_their_ids(either: Api) -> None:
    note = await either.remember("tea", key="drink", nugget="old")
    renamed = await either.call("nugget.rename", name="old", new_name="New")

    assert [renamed["name"], renamed["fact_count"]] == ["new", 1]
    moved = await either.note(note["id"])
    assert [moved["nugget"], moved["tags"][0], moved["rev"]] == ["new", "new", 1]
    assert await either.found("tea", nugget="new") == ["tea"]
    assert (await either.refused("recall", query="tea", nugget="old")).kind == "NuggetNotFound"
    assert (await either.remember("mate", key="drink", nugget="new"))["id"] == note["id"]


async def test_rename_goes_on_counting_turns(either: Api) -> None:
    await either.remember("x", nugget="old", session_id="s", turn=1)
    await either.call("nugget.rename", name="old", new_name="new")

    assert (await either.remember("x", nugget="new", session_id="s", turn=2))["seq_to"] == 2
    assert (await either.remember("x", nugget="new", session_id="s", turn=1))["seq_to"] == 1


async def test_rename_to_a_taken_name_is_refused(api: Api) -> None:
    await api.call("nugget.create", name="a")
    await api.call("nugget.create", name="b")

    assert (await api.refused("nugget.rename", name="a", new_name="b")).kind == "DuplicateNugget"


async def test_rename_to_the_same_name_leaves_no_trace(api: Api) -> None:
    await api.call("nugget.create", name="a")
    await api.call("nugget.rename", name="a", new_name="A")

    assert (await api.call("get_stats"))["last_seq"] == 1


async def test_remove_hides_the_notes_and_drops_the_name(either: Api) -> None:
    note = await either.remember("tea", nugget="n")

    removed = await either.call("nugget.remove", name="n")
    assert (removed["removed"], removed["hidden"]) == ("n", 1)
    assert (await either.note(note["id"]))["hidden"] is True
    assert (await either.call("nugget.list"))["nuggets"] == []


@pytest.mark.parametrize("method", ["nugget.status", "nugget.facts", "nugget.clear", "nugget.remove"])
async def test_an_unknown_nugget_is_not_found(api: Api, method: str) -> None:
    error = await api.refused(method, name="nowhere")

    assert (error.code, error.kind) == (-32001, "NuggetNotFound")


async def test_rename_of_an_unknown_nugget_is_not_found(api: Api) -> None:
    assert (await api.refused("nugget.rename", name="a", new_name="b")).kind == "NuggetNotFound"


async def test_a_committed_change_answers_although_the_next_undoes_it_at_once(either: Api) -> None:
    created, renamed, removed = await asyncio.gather(
        either.call("nugget.create", name="a"),
        either.call("nugget.rename", name="a", new_name="b"),
        either.call("nugget.remove", name="b"),
    )

    assert [created["name"], renamed["name"], removed["removed"]] == ["a", "b", "b"]


@pytest.mark.parametrize("name", ["a/b", "a+b", "a#b", "", " ", ".a", "-a", "a b", "a\n", "x" * 65, "ﷺ"])
async def test_names_that_topics_cannot_carry_are_refused(api: Api, name: str) -> None:
    error = await api.refused("nugget.create", name=name)

    assert (error.code, error.field) == (-32602, "name")


@pytest.mark.parametrize("name", ["İstanbul", "Straße", "हिन्दी", "記憶", "ﬁne", "a.b-c_d", "_x"])
async def test_a_name_as_it_is_told_is_understood_again(api: Api, name: str) -> None:
    told = (await api.call("nugget.create", name=name))["name"]

    assert (await api.call("nugget.status", name=told))["name"] == told
