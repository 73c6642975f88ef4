"""recall: what it returns, under which filters."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import ALICE, Api


async def test_what_was_just_remembered_is_found(either: Api) -> None:
    for n in range(30):
        await either.remember(f"word{n}")
        assert await either.found(f"word{n}", k=1) == [f"word{n}"]


async def test_a_read_sees_every_change_acknowledged_before_it_by_anyone(either: Api) -> None:
    async def write_and_look(n: int) -> None:
        await either.remember(f"word{n}", principal=f"uid:{n}")
        assert await either.found(f"word{n}", principal="uid:7777") == [f"word{n}"]

    await asyncio.gather(*(write_and_look(n) for n in range(50)))


async def test_a_query_that_is_a_key_is_answered(either: Api) -> None:
    note = await either.remember("green", key="Favourite Colour")
    result = await either.call("recall", query="  favourite   COLOUR ")

    assert result["answer"] == {
        "found": True, "value": "green", "key": "Favourite Colour", "confidence": 1.0, "margin": 1.0,
        "nugget": "memory", "note_id": note["id"],
    }  # fmt: skip
    assert result["results"][0]["note"]["id"] == note["id"]
    assert result["results"][0]["score"] == 1.0


async def test_a_key_of_signs_only_is_answered(api: Api) -> None:
    await api.remember("shrug", key="¯\\_(ツ)_/¯")

    assert (await api.call("recall", query="¯\\_(ツ)_/¯"))["answer"]["value"] == "shrug"


async def test_of_several_nuggets_the_fact_written_last_answers(either: Api) -> None:
    await either.remember("green", key="colour", nugget="a")
    either.clock.advance(timedelta(seconds=1))
    await either.remember("blue", key="colour", nugget="b")

    assert (await either.call("recall", query="colour"))["answer"]["value"] == "blue"
    assert (await either.call("recall", query="colour", nugget="a"))["answer"]["value"] == "green"


async def test_nothing_found_is_an_abstention(api: Api) -> None:
    await api.remember("tea at four")
    result = await api.call("recall", query="mount everest")

    assert [result["results"], result["abstained"], result["mode"]] == [[], True, "lexical"]
    assert "answer" not in result


async def test_an_empty_shelf_is_no_error(either: Api) -> None:
    assert (await either.call("recall", query="tea"))["results"] == []


@pytest.mark.parametrize("text", ["нашёл ключ", "緑茶が好き", "नमस्ते दुनिया", "café crème", "مرحبا بالعالم"])
async def test_any_script_is_found(api: Api, text: str) -> None:
    await api.remember(text)
    await api.remember("something else")

    assert (await api.found(text))[0] == text


async def test_k_cuts(api: Api) -> None:
    for n in range(5):
        await api.remember(f"tea {n}")

    assert len(await api.found("tea", k=3)) == 3


async def test_scores_fall_and_lie_between_0_and_1(api: Api) -> None:
    for n in range(5):
        await api.remember("tea " * (n + 1) + "and more words " * n)
    scores = [hit["score"] for hit in (await api.call("recall", query="tea words"))["results"]]

    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


async def test_min_score_leaves_weak_ones_out(api: Api) -> None:
    await api.remember("green tea in the morning")
    await api.remember("tea")
    results = (await api.call("recall", query="green tea morning"))["results"]
    least = results[0]["score"]

    assert len((await api.call("recall", query="green tea morning", min_score=least))["results"]) == 1
    assert len(results) == 2


async def test_content_is_cut_at_a_word_when_asked(api: Api) -> None:
    await api.remember("green tea in the morning")

    assert await api.found("tea", max_content_chars=15) == ["green tea in..."]


@pytest.mark.parametrize(
    "wanted",
    [
        {"nugget": "work"},
        {"domain": "cti"},
        {"scope": "project"},
        {"type": "event"},
        {"subject": "person:ada"},
        {"author": "Ada"},
        {"tags": ["x"]},
        {"tags": ["X", "y", "scope:project", "type:event", "work"]},
    ],
)
async def test_a_filter_lets_through_what_fits(either: Api, wanted: dict[str, Any]) -> None:
    await either.remember(
        "tea plan", nugget="work", domain="cti", scope="project", type="event", subject="person:ada", author="Ada",
        tags=["x", "y"],
    )  # fmt: skip
    await either.remember("tea time", tags=["y"], key="tea")

    result = await either.call("recall", query="tea", **wanted)
    assert [hit["note"]["content"] for hit in result["results"]] == ["tea plan"]
    assert "answer" not in result


async def test_filters_apply_before_the_cut(api: Api) -> None:
    for n in range(30):
        await api.remember(f"tea {n}")
    await api.remember("tea far away in a long text of many words", author="Ada")

    assert len(await api.found("tea", author="Ada", k=1)) == 1


@pytest.mark.parametrize("max_age", [86_400, "P1D", "PT24H", "1d", "24h", "1440 min", "86400", "86400s"])
async def test_max_age_leaves_old_notes_out(either: Api, max_age: object) -> None:
    await either.remember("old tea")
    await either.remember("tea of old", occurred_at="2026-01-03T12:00:00Z")
    either.clock.advance(timedelta(days=2))
    await either.remember("new tea")

    assert set(await either.found("tea", max_age=max_age)) == {"new tea", "tea of old"}


@pytest.mark.parametrize("max_age", [10**15, "P9999999D"])
async def test_a_very_long_max_age_is_none(api: Api, max_age: object) -> None:
    await api.remember("tea", occurred_at="0001-01-02T00:00:00Z")

    assert await api.found("tea", max_age=max_age) == ["tea"]


async def test_times_at_both_ends_of_the_calendar_can_be_kept_and_told(either: Api) -> None:
    for moment in ("0001-01-02T00:00:00Z", "9999-12-30T23:59:59.999999Z"):
        note = await either.remember("tea", occurred_at=moment, valid_from=moment, valid_to=moment)
        assert (await either.note(note["id"]))["occurred_at"] == moment
    assert len(await either.found("tea")) == 2


async def test_the_largest_turn_can_be_kept_and_recalled(either: Api) -> None:
    await either.remember("tea", session_id="s", turn=10_000)

    assert await either.found("tea") == ["tea"]
    refused = await either.refused("remember", content="coffee", session_id="s", turn=20_001)
    assert (refused.code, refused.data["reason"]) == (-32602, "TURN_OUT_OF_RANGE")


async def test_notes_of_scope_session_are_returned_to_that_session_or_by_that_filter(either: Api) -> None:
    await either.remember("secret tea", scope="session", session_id="s", key="tea")

    assert await either.found("tea") == []
    assert await either.found("tea", session_id="other") == []
    assert await either.found("tea", session_id="s") == ["secret tea"]
    assert await either.found("tea", scope="session") == ["secret tea"]


async def test_an_unknown_nugget_is_not_found(api: Api) -> None:
    assert (await api.refused("recall", query="x", nugget="nowhere")).kind == "NuggetNotFound"


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
async def test_dense_modes_need_an_embedder(api: Api, mode: str) -> None:
    error = await api.refused("recall", query="x", mode=mode)

    assert (error.code, error.kind, error.reason) == (-32007, "NoEmbedder", "NO_EMBEDDING_PROFILE")


async def test_signals_add_up_to_the_score(api: Api) -> None:
    a = await api.remember("green tea", author="Ada", session_id="s", turn=1)
    await api.remember("tea?", author="Ada", session_id="s", turn=2)
    await api.remember("colour", key="tea")
    await api.remember("linked", links=[{"to": a["id"]}])
    hits = (await api.call("recall", query="tea", explain=True, session_id="s"))["results"]

    assert len(hits) == 4
    for hit in hits:
        assert sum(hit["signals"].values()) == pytest.approx(hit["score"], abs=1e-5)
        assert [hit["text_score"], hit["vector_score"]] == [hit["score"], 0.0]


async def test_no_signals_unless_asked(api: Api) -> None:
    await api.remember("tea")

    assert "signals" not in (await api.call("recall", query="tea"))["results"][0]


# ------------------------------------------------------------------ linked notes


async def test_linked_notes_compete_and_say_which_result_led_to_them(either: Api) -> None:
    tea = await either.remember("green tea")
    other = await either.remember("in the cupboard", links=[{"to": tea["id"]}])
    hits = (await either.call("recall", query="tea"))["results"]

    assert [(hit["note"]["id"], hit.get("via")) for hit in hits] == [(tea["id"], None), (other["id"], tea["id"])]
    assert hits[1]["score"] < hits[0]["score"]


async def test_linked_notes_take_no_place_beyond_k_and_none_when_not_wanted(api: Api) -> None:
    tea = await api.remember("green tea")
    await api.remember("in the cupboard", links=[{"to": tea["id"]}])

    assert await api.found("tea", k=1) == ["green tea"]
    assert await api.found("tea", include_links=False) == ["green tea"]


async def test_linked_notes_must_pass_the_filters(api: Api) -> None:
    tea = await api.remember("green tea")
    hidden = await api.remember("cupboard", links=[{"to": tea["id"]}])
    await api.remember("shelf", author="Ada", links=[{"to": tea["id"]}])
    await api.remember("drawer", scope="session", session_id="s", links=[{"to": tea["id"]}])
    await api.call("note.hide", id=hidden["id"])

    assert await api.found("tea") == ["green tea", "shelf"]
    assert await api.found("tea", include_hidden=True, session_id="s", k=9) != ["green tea", "shelf"]


# ------------------------------------------------------------------ the index


async def test_the_reply_says_how_far_the_index_is(either: Api) -> None:
    await either.remember("tea")

    assert (await either.call("recall", query="tea"))["index"] == {"state": "ready", "share": 1.0, "seq": 2}


async def test_min_seq_waits_for_the_change(either: Api) -> None:
    reading = asyncio.ensure_future(either.call("recall", query="tea", min_seq=2))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not reading.done()

    await either.remember("tea")

    assert [hit["note"]["content"] for hit in (await reading)["results"]] == ["tea"]


async def test_min_seq_that_never_comes_ends_in_a_deadline(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.memory.shelf.pump._MIN_SEQ_WAIT_S", 0.01)
    error = await api.refused("recall", query="tea", min_seq=99)

    assert error.code == -32009


async def test_min_seq_that_cannot_come_soon_is_refused_at_once(either: Api) -> None:
    await either.remember("tea")
    for far in (100_003, 2**53):
        error = await either.refused("recall", query="tea", min_seq=far)

        assert (error.code, error.field, error.limit) == (-32602, "min_seq", 2)


async def test_a_reopened_shelf_finds_everything_again(either: Api) -> None:
    await either.call("remember_many", notes=[{"content": f"word{n}"} for n in range(300)])
    await either.reopen()
    await either.warmed()

    assert await either.found("word0") == ["word0"]
    assert await either.found("word299") == ["word299"]


async def test_while_the_index_warms_keys_and_new_notes_answer(durable: Api) -> None:
    # So few that no image is written of them.
    await durable.call("remember_many", notes=[{"content": f"word{n}", "key": f"key {n}"} for n in range(1900)])
    await durable.reopen()

    result = await durable.call("recall", query="key 3")
    assert result["index"]["state"] == "warming"
    assert 0 <= result["index"]["share"] < 1
    assert result["answer"]["value"] == "word3"
    await durable.remember("brand new")
    assert await durable.found("brand", k=1) == ["brand new"]


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("when did we meet", "temporal"),
        ("why is the sky blue", "causal"),
        ("how are ada and ben connected", "relational"),
        ("tell me about tea", "exploratory"),
        ("colour of the car", "factual"),
        ("", "factual"),
        ("What is CVE-2024-3094?", "factual"),
        ("Who is the landlord", "factual"),
        ("What tools does Fancy Bear use?", "relational"),
        ("What tools does APT28 use?", "relational"),
        ("which actors are linked to HeadLace", "relational"),
        ("What has changed since Monday?", "temporal"),
        ("what was the latest incident before Easter", "temporal"),
        ("What led to the outage, and due to which change?", "causal"),
        ("Explain what we know about Ada", "exploratory"),
        ("Describe why it broke, because of what?", "causal"),
        ("Warum ging die Heizung aus?", "causal"),
        ("Wann war der Umzug?", "temporal"),
        ("Was wissen wir über Ada?", "exploratory"),
        ("Erzähl mir von Ada", "exploratory"),
        ("¿Cuándo fue la mudanza?", "temporal"),
        ("¿Por qué se apagó la calefacción?", "causal"),
        ("Cuéntame de Ada", "exploratory"),
        ("Quand était le déménagement ?", "temporal"),
        ("Pourquoi le chauffage s'est-il arrêté ?", "causal"),
        ("Raconte-moi Ada", "exploratory"),
        ("who threw the ball at the linkage", "factual"),
        ("the whenever and the afterglow", "factual"),
    ],
)
async def test_intent(api: Api, query: str, intent: str) -> None:
    assert (await api.call("recall", query=query or "x"))["intent"] == intent


async def test_of_notes_that_fit_alike_tier_and_importance_decide_before_the_cut(api: Api) -> None:
    for tier, importance in (("C", 9), ("A", 3), ("B", 5), ("B", 8), ("B", 5)):
        await api.remember("green tea", tier=tier, importance=importance, title=f"{tier}{importance}")
    hits = (await api.call("recall", query="tea", k=4, collapse=False))["results"]

    assert [hit["note"]["title"] for hit in hits] == ["A3", "B8", "B5", "B5"]
    assert len({hit["score"] for hit in hits}) == 1
    assert hits[2]["note"]["created_at"] >= hits[3]["note"]["created_at"]


# ------------------------------------------------------------------ usage


async def hits(api: Api, note: dict[str, Any]) -> tuple[int, int]:
    seen = await api.note(note["id"])
    return seen["hits"], seen["access_count"]


async def test_hits_are_distinct_sessions(either: Api) -> None:
    note = await either.remember("tea")
    for session in "abaab":
        await either.call("recall", query="tea", session_id=session)

    assert await hits(either, note) == (2, 5)
    assert (await either.note(note["id"]))["last_hit_session"] == "b"


async def test_without_a_session_a_day_of_a_principal_is_one(either: Api) -> None:
    note = await either.remember("tea")
    await either.call("recall", query="tea")
    await either.call("recall", query="tea")
    assert (await hits(either, note))[0] == 1
    assert (await either.note(note["id"]))["last_hit_session"] == f"auto:{ALICE}:2026-01-01"

    either.clock.advance(timedelta(days=1))
    await either.call("recall", query="tea")
    await either.call("recall", query="tea", principal="uid:5")

    assert (await hits(either, note))[0] == 3


async def test_a_session_of_null_is_no_hit_but_an_access(api: Api) -> None:
    note = await api.remember("tea")
    await api.call("recall", query="tea", session_id=None)

    assert await hits(api, note) == (0, 1)


async def test_count_hits_false_counts_nothing(api: Api) -> None:
    note = await api.remember("tea")
    await api.call("recall", query="tea", session_id="s", count_hits=False)

    assert (await hits(api, note))[0] == 0


async def test_what_is_cut_off_is_not_hit(api: Api) -> None:
    await api.remember("green tea")
    note = await api.remember("tea is served in a very long sentence")
    await api.call("recall", query="green tea", session_id="s", k=1)

    assert await hits(api, note) == (0, 0)


async def test_usage_is_no_change(either: Api) -> None:
    note = await either.remember("tea")
    await either.call("recall", query="tea", session_id="s")
    await either.note(note["id"])
    await asyncio.sleep(0)  # the writing begins to wait
    either.clock.advance(timedelta(seconds=2))
    writing = either.shelf()._usage_writer._task
    assert writing is not None
    await writing

    stats = await either.call("get_stats")
    seen = await either.note(note["id"])
    assert [stats["last_seq"], seen["rev"], seen["updated_at"]] == [2, 1, note["updated_at"]]


async def test_usage_survives_a_restart(either: Api) -> None:
    note = await either.remember("tea")
    await either.call("recall", query="tea", session_id="a")
    await either.reopen()
    await either.warmed()
    await either.call("recall", query="tea", session_id="a", k=1)
    before = await hits(either, note)
    await either.call("recall", query="tea", session_id="b")

    assert before[0] == 1
    assert await hits(either, note) == (2, before[1] + 1)


async def test_a_session_beyond_those_kept_counts_once_while_it_is_the_last(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shelfd.memory.shelf.usage.SESSIONS_KEPT", 1)
    note = await either.remember("tea")
    for session in ("a", "b", "b", "b"):
        await either.call("recall", query="tea", session_id=session)
        await either.reopen()
        await either.warmed()

    assert (await hits(either, note))[0] == 2


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("The sea is blue.", "sea"),
        ("Deep sea fishing starts in May.", "deep sea fishing"),
        ("She studied physics at MIT.", "MIT"),
        ("AWS SES sends our mail.", "SES"),
        ("Uno is on the shelf.", "uno"),
        ("The choir sings Nuestro.", "nuestro"),
    ],
)
async def test_a_word_that_is_idle_in_another_language_is_found(api: Api, content: str, query: str) -> None:
    note = await api.remember(content)
    found = await api.call("recall", query=query)
    assert [(hit["note"]["id"], hit["relevant"]) for hit in found["results"]] == [(note["id"], True)]
