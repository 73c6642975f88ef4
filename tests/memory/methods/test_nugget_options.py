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


async def test_status_warns_before_facts_make_room(either: Api) -> None:
    await either.call("nugget.create", name="few", max_facts=6)
    said: list[str] = []
    for n in range(7):
        await remember_all(either, f"key {n}")
        said.append((await either.call("nugget.status", name="few"))["capacity_warning"])

    assert [text.partition(" ")[0] for text in said] == ["", "", "", "", "approaching", "critical:", "critical:"]
    assert "hides the oldest" in said[-1]
    assert "answer" not in await either.call("recall", query="key 0", nugget="few")
    assert (await either.call("nugget.list"))["nuggets"][0]["capacity_warning"] == said[-1]


async def test_a_capacity_that_is_passed_is_no_alarm_while_every_fact_is_confirmed(either: Api) -> None:
    await either.call("nugget.create", name="few", dimension=200, banks=1)  # holds ten facts
    await remember_all(either, *(f"key {n}" for n in range(12)))
    status = await either.call("nugget.status", name="few")

    assert (status["capacity"], status["capacity_used_pct"], status["capacity_warning"]) == (10, 120.0, "")
    for n in range(12):
        assert (await either.call("recall", query=f"key {n}", nugget="few", mode="fhrr"))["answer"]["confirmed"]


async def test_beyond_that_status_says_what_fades_and_every_key_answers(api: Api) -> None:
    await api.call("nugget.create", name="few", dimension=200, banks=1)
    keys = [f"key {n}" for n in range(49)]
    await remember_all(api, *keys)
    status = await api.call("nugget.status", name="few")

    assert status["capacity_used_pct"] == 490.0
    assert status["capacity_warning"].startswith("mode fhrr confirms about 44% of the facts")
    answers = [(await api.call("recall", query=key, nugget="few", mode="fhrr"))["answer"] for key in keys]
    assert all(answer["confidence"] == 1.0 for answer in answers)
    assert 0.3 < sum(answer["confirmed"] for answer in answers) / 49 < 0.6


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
