"""What a kind of question goes by: times it speaks of, and the order of notes that fit about equally well."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api

DAY = timedelta(days=1)


async def labels(api: Api, query: str, **params: Any) -> list[str]:
    found = await api.call("recall", query=query, **params)
    return [hit["note"]["source_ref"] for hit in found["results"]]


async def test_a_time_as_seen_from_today_is_looked_for(either: Api) -> None:
    """The clock stands at the 1st of January 2026, a Thursday."""
    for day in ("2025-05-14", "2025-11-20", "2025-12-24", "2025-12-31", "2026-01-01"):
        await either.remember("walked the dog", occurred_at=f"{day}T12:00:00Z", source_ref=day)

    for query, day in (
        ("did we walk the dog yesterday", "2025-12-31"),
        ("wer ging gestern mit dog walk", "2025-12-31"),
        ("dog walked today", "2026-01-01"),
        ("dog walks last week", "2025-12-24"),
        ("dog letzte Woche", "2025-12-24"),
        ("walks with the dog in May", "2025-05-14"),
        ("walks with the dog in November 2025", "2025-11-20"),
        ("dog walked 6 weeks ago", "2025-11-20"),
        ("dog walks before June 2025", "2025-05-14"),
    ):
        assert (await labels(either, query, k=1)) == [day], query
    assert set(await labels(either, "dog walks since yesterday", k=2)) == {"2025-12-31", "2026-01-01"}


@pytest.mark.parametrize("query", ["when was the tea, the latest", "tea, recent"])
async def test_of_notes_that_fit_alike_a_temporal_question_finds_the_latest_first(api: Api, query: str) -> None:
    for day in (3, 1, 2):
        await api.remember("tea", occurred_at=f"2025-05-0{day}T12:00:00Z", source_ref=f"{day}")

    assert await labels(api, query) == ["3", "2", "1"]
    assert await labels(api, "tea") == ["2", "1", "3"]  # as they were written, the newest first


async def test_a_relational_question_prefers_what_is_linked(api: Api) -> None:
    ids = [
        (await api.remember(f"the pump and the {word}", source_ref=word))["id"] for word in ("valve", "motor", "gauge")
    ]
    await api.call("link.upsert", source=ids[0], target=ids[1])

    assert await labels(api, "which connection has the pump") == ["motor", "valve", "gauge"]


async def test_tier_importance_and_confidence_decide_between_near_ties_and_stay_out_of_the_score(api: Api) -> None:
    for tier, importance, confidence in (("C", 5, 1.0), ("B", 5, 0.4), ("B", 9, 1.0), ("A", 5, 1.0)):
        label = f"{tier}{importance}{confidence}"
        await api.remember("green tea", tier=tier, importance=importance, confidence=confidence, source_ref=label)
    found = (await api.call("recall", query="tea", explain=True))["results"]

    assert [hit["note"]["source_ref"] for hit in found] == ["A51.0", "B91.0", "B50.4", "C51.0"]
    assert len({hit["score"] for hit in found}) == 1
    for hit in found:
        assert sum(hit["signals"].values()) == pytest.approx(hit["score"], abs=1e-5)
        assert set(hit["order"]) == {"text", "entities", "graph", "time", "tier", "importance", "confidence"}
    assert found[0]["order"]["tier"] == 1
    assert found[1]["order"]["importance"] == pytest.approx(8 / 9, abs=1e-6)


async def test_what_fits_clearly_better_stays_first(api: Api) -> None:
    await api.remember("green tea in the garden", tier="C", importance=1, source_ref="fits")
    for _ in range(3):
        await api.remember("tea in a cup", tier="A", importance=10, source_ref="important")

    assert (await labels(api, "green tea garden"))[0] == "fits"


async def test_a_score_does_not_change_with_time(either: Api) -> None:
    await either.remember("green tea", tier="A")
    before = (await either.call("recall", query="latest tea"))["results"][0]["score"]
    either.clock.advance(400 * DAY)

    assert (await either.call("recall", query="latest tea"))["results"][0]["score"] == before


@pytest.mark.parametrize(
    "query",
    [
        "what happened yesterday", "What did I do yesterday?", "notes from yesterday", "yesterday", "last night",
        "Was ist gestern passiert?", "¿Qué pasó ayer?", "Qu'est-ce qui s'est passé hier ?", "昨天发生了什么？",
        "昨日は何がありましたか",
    ],
)  # fmt: skip
async def test_yesterday_is_the_day_and_no_word(api: Api, query: str) -> None:
    """The clock stands at the 1st of January 2026. What was written long ago told of another yesterday."""
    for label, day, text in (
        ("old", "2025-10-20", "What happened yesterday was embarrassing: the projector failed."),
        ("old", "2025-09-11", "Gestern war der Strom weg."),
        ("old", "2025-09-12", "Hier, le chat a cassé le vase. Ayer perdimos el tren."),
        ("old", "2025-09-13", "昨天我的自行车被偷了。昨日、財布をなくしました。"),
        ("day", "2025-12-31", "The dishwasher leaked and Nora called the plumber."),
        ("day", "2025-12-31", "Compré un paraguas rojo en el mercado."),
        ("told", "2026-01-01", "Yesterday we lit the stove for the first time."),
    ):
        await api.remember(text, occurred_at=f"{day}T12:00:00Z", source_ref=label)

    assert set(await labels(api, query, k=3)) == {"day", "told"}


async def test_what_happened_in_a_time_is_all_that_is_of_it_and_relevant(api: Api) -> None:
    for label, day, text in (
        ("week", "2025-12-23", "Signed the contract for the studio."),
        ("week", "2025-12-27", "The chimney sweep came."),
        ("week before", "2025-12-17", "Last week the heating failed; a week later it happened again."),
        ("year before", "2024-12-24", "What happened last week is told in the report."),
    ):
        await api.remember(text, occurred_at=f"{day}T12:00:00Z", source_ref=label)

    found = await api.call("recall", query="what happened last week?", k=2)

    assert [hit["note"]["source_ref"] for hit in found["results"]] == ["week", "week"]
    assert all(hit["relevant"] for hit in found["results"])
    assert "chimney sweep" in (await api.call("get_context", query="what happened last week?"))["text"]


async def test_yesterday_may_be_a_name(api: Api) -> None:
    await api.remember("The choir sings Yesterday by heart.", source_ref="song", occurred_at="2025-03-01T12:00:00Z")
    await api.remember("The choir had tea.", source_ref="tea", occurred_at="2025-12-31T12:00:00Z")

    assert (await labels(api, "who sings Yesterday?"))[0] == "song"
    assert (await labels(api, 'does the choir know "yesterday"'))[0] == "song"
