"""What is told again: which of it is kept, and how long the note lives that says it already."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api

STATE = "The greenhouse window opens at 24 degrees."
EVENTS = (
    "Nela had a fever.",
    "Luca paid the rent.",
    "The backup failed.",
    "Went swimming with Nela.",
    "Nela tuvo fiebre.",
)


async def evolve(api: Api, content: str, **named: Any) -> dict[str, Any]:
    result: dict[str, Any] = await api.call("remember", content=content, evolve=True, **named)
    return result


async def contents(api: Api, **params: Any) -> list[str]:
    found = await api.call("recall", query="greenhouse window fever rent backup swimming fiebre", **params)
    return [one["note"]["content"] for one in found["results"]]


@pytest.mark.parametrize("event", EVENTS)
async def test_what_happens_again_is_kept_again(either: Api, event: str) -> None:
    first = await evolve(either, event)
    assert (await evolve(either, event))["note"]["id"] == first["note"]["id"]  # told twice
    either.clock.advance(timedelta(days=30))
    again = await evolve(either, event)
    assert (again["status"], again["superseded"]) == ("created", [])


@pytest.mark.parametrize("event", EVENTS)
async def test_what_happened_at_two_times_is_two_notes(either: Api, event: str) -> None:
    await evolve(either, event, occurred_at="2026-03-01T08:00:00Z")
    assert (await evolve(either, event, occurred_at="2026-03-01T09:00:00Z"))["status"] == "created"
    assert (await evolve(either, event, occurred_at="2026-03-01T09:00:00Z"))["status"] == "noop"


@pytest.mark.parametrize(
    "text",
    [STATE, "Eva lives in Linz.", "Eva moved to Linz.", "The backup failed on 3 May 2025.", "Eva was born in Linz."],
)
async def test_what_lasts_or_says_its_day_is_told_twice_and_kept_once(either: Api, text: str) -> None:
    await evolve(either, text)
    either.clock.advance(timedelta(days=30))
    assert (await evolve(either, text))["status"] == "noop"


@pytest.mark.parametrize(
    "said", [{"pinned": True}, {"tier": "A"}, {"domain": "cti"}, {"type": "preference"}, {"author": "mia"}]
)
async def test_what_is_said_of_the_note_is_not_lost(either: Api, said: dict[str, Any]) -> None:
    await evolve(either, STATE)
    assert (await evolve(either, STATE, **said))["status"] == "created"
    assert (await evolve(either, STATE, **said))["status"] == "noop"


async def test_what_is_told_again_lives_as_long_as_if_it_were_new(either: Api) -> None:
    first = await evolve(either, STATE, ttl_days=1)
    longer = await evolve(either, STATE, ttl_days=3)
    assert (longer["status"], longer["note"]["id"], longer["superseded"]) == ("updated", first["note"]["id"], [])
    assert longer["note"]["ttl_days"] == 3
    assert (await evolve(either, STATE, ttl_days=2))["status"] == "noop"  # it lives longer than that
    either.clock.advance(timedelta(days=2))
    assert await contents(either) == [STATE]
    for_good = await evolve(either, STATE)
    assert (for_good["status"], for_good["note"].get("expires_at")) == ("updated", None)
    either.clock.advance(timedelta(days=1000))
    assert await contents(either) == [STATE]
    assert (await evolve(either, STATE, ttl_days=1))["status"] == "noop"


async def test_a_fact_that_has_expired_comes_back_when_it_is_told_again(either: Api) -> None:
    await either.call("remember", content=STATE, key="greenhouse", ttl_days=1)
    assert (await either.call("remember", content=STATE, key="greenhouse"))["status"] == "noop"
    either.clock.advance(timedelta(days=2))
    assert await contents(either) == []
    assert (await either.call("remember", content=STATE, key="greenhouse"))["status"] == "updated"
    assert await contents(either) == [STATE]
