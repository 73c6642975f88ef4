"""The options of a nugget: the shape of its memory, and how many facts it keeps."""

from typing import Any

import pytest

from fakes import Api


async def keys(api: Api, nugget: str = "few") -> list[str]:
    """The keys of the visible facts."""
    return [fact["key"] for fact in (await api.call("nugget.facts", name=nugget))["facts"]]


async def remember_all(api: Api, *names: str, **named: Any) -> None:
    for name in names:
        await api.remember(f"value of {name}", key=name, nugget="few", **named)


async def test_options_are_kept_and_told(either: Api) -> None:
    await either.call("nugget.create", name="wide", dimension=2048, banks=2, ensembles=2, max_facts=7)
    status = await either.call("nugget.status", name="wide")

    assert [status[name] for name in ("dimension", "banks", "ensembles", "max_facts", "capacity")] == [
        2048, 2, 2, 7, 408,
    ]  # fmt: skip
    await either.remember("blue", key="favorite color", nugget="wide")
    answer = (await either.call("recall", query="favorit color", mode="fhrr"))["answer"]
    assert [answer["value"], answer["nugget"]] == ["blue", "wide"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"dimension": 0}, "dimension"),
        ({"dimension": 65_536}, "dimension"),
        ({"banks": 0}, "banks"),
        ({"ensembles": 0}, "ensembles"),
        ({"max_facts": -1}, "max_facts"),
        ({"dimension": 65_535, "banks": 17}, "dimension"),
        ({"dimension": 1.5}, "dimension"),
    ],
)
async def test_impossible_options_are_refused(api: Api, options: dict[str, Any], field: str) -> None:
    error = await api.refused("nugget.create", {"name": "n", **options})

    assert (error.code, error.field) == (-32602, field)


async def test_status_warns_as_the_capacity_is_used_up(either: Api) -> None:
    await either.call("nugget.create", name="few", dimension=200, banks=1)  # holds ten facts
    said: list[tuple[int, float, str]] = []
    for n in range(11):
        await remember_all(either, f"key {n}")
        status = await either.call("nugget.status", name="few")
        said.append((status["fact_count"], status["capacity_used_pct"], status["capacity_warning"][:8]))

    assert status["capacity"] == 10
    assert said[7:] == [(8, 80.0, ""), (9, 90.0, "approach"), (10, 100.0, "critical"), (11, 110.0, "critical")]
    assert (await either.call("nugget.list"))["nuggets"][0]["capacity_warning"] == status["capacity_warning"]


async def test_the_oldest_fact_makes_room_and_is_told_of(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=3)
    await remember_all(either, "a", "b", "c")
    oldest = (await either.call("nugget.facts", name="few"))["facts"][0]["note_id"]
    await remember_all(either, "d")

    assert await keys(either) == ["b", "c", "d"]
    rows = (await either.call("shelf.log", limit=1000))["log"]
    hidden = [row for row in rows if row["kind"] == "note.hidden"]
    assert [row["ids"] for row in hidden] == [[oldest]]
    created = next(row for row in rows if row["kind"] == "note.created" and row["tx"] == hidden[0]["tx"])
    assert created["tx_size"] == 2
    assert (await either.note(oldest))["hidden"]


async def test_a_new_value_evicts_nothing_and_does_not_make_a_fact_younger(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=3)
    await remember_all(either, "a", "b", "c")
    await either.remember("another value", key="a", nugget="few")
    assert await keys(either) == ["a", "b", "c"]
    await remember_all(either, "d")

    assert await keys(either) == ["b", "c", "d"]


async def test_pinned_facts_and_the_new_one_stay(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=2)
    await remember_all(either, "a", "b", pinned=True)
    await remember_all(either, "c")
    assert await keys(either) == ["a", "b", "c"]
    await remember_all(either, "d")

    assert await keys(either) == ["a", "b", "d"]


async def test_notes_are_no_facts_and_other_nuggets_have_no_limit(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=1)
    for n in range(3):
        await either.remember(f"note {n}", nugget="few")
        await either.remember(f"value {n}", key=f"key {n}")
    await remember_all(either, "a")

    assert (await either.call("nugget.status", name="few"))["hidden_count"] == 0
    assert len(await keys(either, "memory")) == 3


async def test_a_fact_that_comes_back_makes_room_and_is_not_the_one_to_go(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=2)
    await remember_all(either, "a", "b", "c")
    await remember_all(either, "a")

    assert await keys(either) == ["a", "c"]


async def test_many_at_once_keep_the_last(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=3)
    notes = [{"content": f"value {n}", "key": f"key {n}", "nugget": "few"} for n in range(200)]
    result = await either.call("remember_many", notes=notes)

    assert await keys(either) == ["key 197", "key 198", "key 199"]
    assert len(result["ids"]) == 200


async def test_the_evicted_is_not_found_by_keys_like_its_own(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=1)
    await either.remember("blue", key="favorite color", nugget="few")
    await either.call("recall", query="favorit color", mode="fhrr")
    await either.remember("make ship", key="deploy command", nugget="few")

    assert not (await either.call("recall", query="favorit color", mode="fhrr"))["answer"]["found"]
    await either.call("note.restore", id=(await either.call("note.list", include_hidden=True))["notes"][0]["id"])
