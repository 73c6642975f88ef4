"""idempotency_key: a repeated request gets the first one's outcome."""

import asyncio
from datetime import timedelta

from fakes import BOB, Api


async def test_a_replay_changes_nothing_and_says_so(either: Api) -> None:
    first = await either.call("remember", content="tea", idempotency_key="k1")
    again = await either.call("remember", content="tea", idempotency_key="k1")

    assert again == {**first, "replayed": True}
    assert (await either.call("get_stats"))["total_notes"] == 1


async def test_a_replay_shows_the_note_as_it_is_now(api: Api) -> None:
    first = await api.call("remember", content="tea", key="drink", idempotency_key="k1")
    await api.remember("mate", key="drink")
    again = await api.call("remember", content="tea", key="drink", idempotency_key="k1")

    assert [again["status"], again["note"]["content"]] == [first["status"], "mate"]


async def test_two_at_once_are_one(either: Api) -> None:
    results = await asyncio.gather(*(either.call("remember", content="tea", idempotency_key="k") for _ in range(10)))

    assert len({result["note"]["id"] for result in results}) == 1
    assert sum("replayed" in result for result in results) == 9


async def test_other_params_under_the_key_are_a_mismatch(either: Api) -> None:
    await either.call("remember", content="tea", idempotency_key="k1")
    error = await either.refused("remember", content="mate", idempotency_key="k1")

    assert (error.code, error.kind, error.field) == (-32002, "IdempotencyMismatch", "idempotency_key")


async def test_spelling_defaults_and_timeout_are_no_other_params(api: Api) -> None:
    await api.call("remember", {"content": "tea", "sessionId": "s", "idempotencyKey": "k"})
    again = await api.call("remember", content="tea", session_id="s", tags=[], idempotency_key="k", timeout_ms=50)

    assert again["replayed"] is True


async def test_keys_belong_to_principal_method_and_shelf(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    results = [
        await either.call("remember", content="tea", idempotency_key="k"),
        await either.call("remember", content="mate", idempotency_key="k", principal=BOB),
        await either.call("note.create", content="water", idempotency_key="k"),
        await either.call("remember", content="milk", idempotency_key="k", shelf="mine"),
    ]

    assert not any("replayed" in result for result in results)


async def test_what_failed_is_not_stored(either: Api) -> None:
    await either.refused("remember", content="x", links=[{"to": "nothing"}], idempotency_key="k")
    result = await either.call("remember", content="y", idempotency_key="k")

    assert "replayed" not in result


async def test_a_refused_atomic_batch_is_not_stored(either: Api) -> None:
    await either.call("remember_many", notes=[{"content": ""}], atomic=True, idempotency_key="k")
    result = await either.call("remember_many", notes=[{"content": "x"}], atomic=True, idempotency_key="k")

    assert result["rejected"] == []


async def test_a_batch_is_replayed_with_its_ids_and_rejections(either: Api) -> None:
    notes = [{"content": "x"}, {"content": ""}]
    first = await either.call("remember_many", notes=notes, idempotency_key="k")

    assert await either.call("remember_many", notes=notes, idempotency_key="k") == {**first, "replayed": True}


async def test_an_outcome_is_remembered_for_seven_days(either: Api) -> None:
    first = await either.call("remember", content="tea", idempotency_key="k")
    either.clock.advance(timedelta(days=6, hours=23))
    assert (await either.call("remember", content="tea", idempotency_key="k"))["replayed"] is True

    either.clock.advance(timedelta(hours=1))
    later = await either.call("remember", content="tea", idempotency_key="k")

    assert later["note"]["id"] != first["note"]["id"]


async def test_an_outcome_survives_a_restart(either: Api) -> None:
    await either.call("remember", content="tea", idempotency_key="k")
    await either.reopen()

    assert (await either.call("remember", content="tea", idempotency_key="k"))["replayed"] is True


async def test_a_replay_of_a_nugget_that_is_gone_still_answers(api: Api) -> None:
    await api.call("nugget.create", name="n", idempotency_key="k")
    await api.call("nugget.remove", name="n")
    again = await api.call("nugget.create", name="n", idempotency_key="k")

    assert [again["name"], again["replayed"]] == ["n", True]


async def test_every_kind_of_change_can_be_replayed(api: Api) -> None:
    a, b = (await api.remember("a"))["id"], (await api.remember("b"))["id"]
    changes = [
        ("link.upsert", {"source": a, "target": b}),
        ("note.edit", {"id": a, "content": "c"}),
        ("note.hide", {"id": a}),
        ("note.restore", {"id": a}),
        ("note.revert", {"id": a, "rev": 1}),
        ("forget", {"id": b}),
        ("link.delete", {"source": a, "target": b}),
        ("nugget.clear", {"name": "memory"}),
        ("nugget.rename", {"name": "memory", "new_name": "m"}),
    ]
    for method, params in changes:
        first = await api.call(method, params, idempotency_key="k")
        before = (await api.call("get_stats"))["last_seq"]
        again = await api.call(method, params, idempotency_key="k")
        assert again["replayed"] is True, method
        assert again.keys() - {"replayed"} == first.keys(), method
        assert (await api.call("get_stats"))["last_seq"] == before, method


def _kept(api: Api, count: int) -> int:
    view = api.shelf().view
    return sum(view.recorded.get(api.principal, "remember", f"k{number}") is not None for number in range(count))


async def test_a_shelf_that_is_only_written_to_forgets_outcomes_whose_time_is_over(either: Api) -> None:
    for number in range(60):
        await either.call("remember", content="tea", idempotency_key=f"k{number}")
    either.clock.advance(timedelta(days=8))
    first = await either.call("remember", content="tea", idempotency_key="again0")
    kept = _kept(either, 60)
    assert 50 <= kept < 60  # a few at a time

    for number in range(1, 30):
        await either.call("remember", content="tea", idempotency_key=f"again{number}")
    assert _kept(either, 60) == 0
    assert (await either.call("remember", content="tea", idempotency_key="again0"))["note"] == first["note"]


async def test_an_outcome_that_a_clock_ahead_had_recorded_is_remembered_for_seven_days_and_no_longer(
    either: Api,
) -> None:
    either.clock.advance(timedelta(days=20_000))
    for number in range(10):
        await either.call("remember", content="tea", idempotency_key=f"k{number}")
    either.clock.set_back(timedelta(days=20_000))
    for number in range(10):  # which also brings those times back to the clock's
        await either.call("remember", content="mate", idempotency_key=f"other{number}")
    either.clock.advance(timedelta(days=6))
    for number in range(10):
        again = await either.call("remember", content="tea", idempotency_key=f"k{number}")
        assert again["replayed"] is True
    either.clock.advance(timedelta(days=2))
    for number in range(10):
        assert "replayed" not in await either.call("remember", content="tea", idempotency_key=f"k{number}")
