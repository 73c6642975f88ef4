"""recall.feedback: what callers say of results moves later rankings of similar queries, within bounds."""

from typing import Any

from fakes import Api

QUERY = "where is the boat moored"


async def scores(api: Api, query: str = QUERY, **named: Any) -> dict[str, float]:
    results = (await api.call("recall", query=query, **named))["results"]
    return {hit["note"]["id"]: hit["score"] for hit in results}


async def two(api: Api) -> tuple[str, str]:
    first = await api.remember("The boat is moored at the north quay")
    second = await api.remember("The boat was moored at the south quay for a year")
    return first["id"], second["id"]


async def test_what_was_of_use_rises_and_can_be_taken_back(either: Api) -> None:
    first, second = await two(either)
    before = await scores(either)
    low = min(before, key=lambda one: before[one])
    said = await either.call("recall.feedback", query=QUERY, note_id=low, useful=True)
    assert said == {"note_id": low, "useful": True, "revoked": False}
    after = await scores(either)
    assert before[low] < after[low] <= min(1.0, before[low] * 1.2 + 1e-6)
    assert {first, second} == set(after)
    similar = await scores(either, "the boat is moored where")
    assert similar[low] > before[low]
    taken_back = await either.call("recall.feedback", query=QUERY, note_id=low, useful=None)
    assert taken_back["revoked"] is True
    assert await scores(either) == before
    again = await either.call("recall.feedback", query=QUERY, note_id=low, useful=None)
    assert again["revoked"] is False


async def test_what_was_not_falls(either: Api) -> None:
    await two(either)
    before = await scores(either)
    high = max(before, key=lambda one: before[one])
    for _ in range(5):
        await either.call("recall.feedback", query=QUERY, note_id=high, useful=False)
    after = await scores(either)
    assert before[high] * 0.8 - 1e-6 <= after[high] < before[high]


async def test_explain_shows_it_and_parts_add_up(either: Api) -> None:
    first, _ = await two(either)
    await either.call("recall.feedback", query=QUERY, note_id=first, useful=False)
    results = (await either.call("recall", query=QUERY, explain=True))["results"]
    [hit] = [hit for hit in results if hit["note"]["id"] == first]
    assert hit["signals"]["feedback"] < 0
    assert abs(sum(hit["signals"].values()) - hit["score"]) < 1e-4


async def test_other_queries_stay_as_they_are(either: Api) -> None:
    first, _ = await two(either)
    other = await scores(either, "how long is the south quay")
    await either.call("recall.feedback", query=QUERY, note_id=first, useful=True)
    assert await scores(either, "how long is the south quay") == other


async def test_it_is_there_after_a_restart_and_gone_with_its_note(either: Api) -> None:
    first, _ = await two(either)
    await either.call("recall.feedback", query=QUERY, note_id=first, useful=False)
    said = await scores(either)
    await either.reopen()
    await either.warmed()
    while not either.shelf().feedback:
        await either.call("note.list")
    assert await scores(either) == said
    await either.call("forget", id=first, purge=True)
    assert either.shelf().view.feedback.count() == 0
    assert not either.shelf().feedback


async def test_bad_ones_are_refused(either: Api) -> None:
    first, _ = await two(either)
    assert (await either.refused("recall.feedback", query="???", note_id=first, useful=True)).code == -32602
    assert (await either.refused("recall.feedback", query="boat", note_id="note-x", useful=True)).code == -32001
    assert (await either.refused("recall.feedback", query="boat", note_id=first)).code == -32602
