"""as_of and known_at: what held, and what the shelf knew, at another time."""

import asyncio
import sqlite3
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes import Api, Refused, memory
from shelfd.memory.recall import past
from shelfd.protocol import from_micros
from shelfd.storage import SqliteStores

MINUTE = timedelta(minutes=1)


async def seq(api: Api) -> int:
    found: int = (await api.call("get_stats"))["last_seq"]
    return found


async def contents(api: Api, query: str, **params: Any) -> list[str]:
    found = await api.call("recall", query=query, **params)
    return [hit["note"]["content"] for hit in found["results"]]


# ------------------------------------------------------------------ as_of


async def test_only_what_holds_then_is_found(either: Api) -> None:
    await either.remember("the office is in Munich", valid_from="2020-01-01T00:00:00Z", valid_to="2023-06-01T00:00:00Z")
    await either.remember("the office is in Berlin", valid_from="2023-06-01T00:00:00Z")
    await either.remember("the office has a kitchen")

    for moment, found in (
        ("2019-01-01T00:00:00Z", {"the office has a kitchen"}),
        ("2021-01-01T00:00:00Z", {"the office has a kitchen", "the office is in Munich"}),
        ("2023-06-01T00:00:00Z", {"the office has a kitchen", "the office is in Berlin"}),
    ):
        assert set(await contents(either, "office", as_of=moment)) == found


async def test_what_was_superseded_held_until_it_ended(either: Api) -> None:
    old = await either.remember("the office is in Munich", valid_to="2023-06-01T00:00:00Z")
    vague = await either.remember("the office is in a town")
    new = await either.remember("the office is in Berlin", valid_from="2023-06-01T00:00:00Z")
    for note in (old, vague):
        await either.call("mark_note_superseded", note_id=note["id"], superseded_by_id=new["id"])

    assert await contents(either, "office") == ["the office is in Berlin"]
    assert await contents(either, "office", as_of="2022-01-01T00:00:00Z") == ["the office is in Munich"]
    assert await contents(either, "office", as_of="2024-01-01T00:00:00Z") == ["the office is in Berlin"]


async def test_what_was_updated_held_until_then_and_what_was_corrected_never(either: Api) -> None:
    await either.call("remember", content="Eva lives in Linz.", evolve=True)
    then = from_micros(either.clock.now())
    either.clock.advance(timedelta(days=2))
    assert (await either.call("remember", content="Eva moved to Graz.", evolve=True))["status"] == "updated"
    assert await contents(either, "Eva", as_of=then) == ["Eva lives in Linz."]
    assert await contents(either, "Eva") == ["Eva moved to Graz."]
    await either.call("remember", content="Tom's phone is 123 456.", evolve=True)
    then = from_micros(either.clock.now())
    either.clock.advance(timedelta(days=2))
    right = "Correction: Tom's phone is 123 457."
    assert (await either.call("remember", content=right, evolve=True))["status"] == "corrected"
    assert await contents(either, "Tom", as_of=then) == [right]


async def test_links_lead_only_where_they_led_then(either: Api) -> None:
    ada, ben = await either.remember("Ada"), await either.remember("Ben")
    await either.call(
        "link.upsert", source=ada["id"], target=ben["id"], direction="outgoing", valid_to="2023-01-01T00:00:00Z"
    )

    assert await contents(either, "Ada", as_of="2022-01-01T00:00:00Z") == ["Ada", "Ben"]
    assert await contents(either, "Ada", as_of="2024-01-01T00:00:00Z") == ["Ada"]


async def test_a_note_that_does_not_hold_is_not_there(either: Api) -> None:
    note = await either.remember("tea", valid_from="2023-01-01T00:00:00Z")

    assert (await either.note(note["id"], as_of="2024-01-01T00:00:00Z"))["content"] == "tea"
    refused = await either.refused("note.get", id=note["id"], as_of="2022-01-01T00:00:00Z")
    assert (refused.code, refused.field) == (-32001, "as_of")


# --------------------------------------------------------------- known_at


async def test_what_is_hidden_or_said_differently_now_is_found_as_it_was(either: Api) -> None:
    kept = await either.remember("green tea", key="drink")
    hidden = await either.remember("tea in the garden")
    then = await seq(either)
    moment = either.clock.now()
    either.clock.advance(MINUTE)
    await either.remember("black coffee", key="drink")
    await either.call("note.hide", id=hidden["id"])
    await either.remember("tea for three")

    assert await contents(either, "tea") == ["tea for three"]
    known = await either.call("recall", query="tea", known_at=then)
    assert {hit["note"]["content"] for hit in known["results"]} == {"green tea", "tea in the garden"}
    assert [hit["note"]["hidden"] for hit in known["results"]] == [False, False]
    at = (await either.call("note.get", id=kept["id"], known_at=then))["note"]["updated_at"]
    assert at == kept["updated_at"]
    by_time = await either.call("recall", query="tea", known_at=from_micros(moment))
    assert [hit["note"] for hit in by_time["results"]] == [hit["note"] for hit in known["results"]]


async def test_a_fact_answers_with_its_value_then(either: Api) -> None:
    await either.remember("green", key="colour")
    then = await seq(either)
    fact = await either.remember("blue", key="colour")
    await either.call("note.edit", id=fact["id"], title="shade")
    await either.remember("red", key="colour")

    answer = (await either.call("recall", query="colour", known_at=then))["answer"]
    assert (answer["value"], answer["note_id"]) == ("green", fact["id"])
    assert (await either.note(fact["id"], known_at=then))["content"] == "green"
    assert (await either.note(fact["id"], known_at=then))["title"] == "colour"


async def test_links_are_as_they_were(either: Api) -> None:
    ada, ben, cleo = [await either.remember(name) for name in ("Ada", "Ben", "Cleo")]
    await either.call("link.upsert", source=ada["id"], target=ben["id"], direction="outgoing")
    then = await seq(either)
    await either.call("link.delete", source=ada["id"], target=ben["id"])
    await either.call("link.upsert", source=ada["id"], target=cleo["id"], direction="outgoing")

    assert await contents(either, "Ada") == ["Ada", "Cleo"]
    assert await contents(either, "Ada", known_at=then) == ["Ada", "Ben"]
    assert [link["to"] for link in (await either.note(ada["id"], known_at=then))["links"]] == [ben["id"]]


async def test_both_times_combine(either: Api) -> None:
    note = await either.remember("the office is in Munich", valid_from="2020-01-01T00:00:00Z")
    then = await seq(either)
    await either.call("note.edit", id=note["id"], metadata={"valid_to": "2023-06-01T00:00:00Z"})

    assert await contents(either, "office", as_of="2024-01-01T00:00:00Z") == []
    assert await contents(either, "office", as_of="2024-01-01T00:00:00Z", known_at=then) == ["the office is in Munich"]


async def test_what_expires_had_not_then(either: Api) -> None:
    await either.remember("tea offer", ttl_days=1)
    then = either.clock.now()
    either.clock.advance(timedelta(days=2))
    await either.remember("another note")

    assert await contents(either, "tea") == []
    assert await contents(either, "tea", known_at=from_micros(then)) == ["tea offer"]


async def test_a_look_back_leaves_no_trace(either: Api) -> None:
    note = await either.remember("tea")
    then = await seq(either)
    await either.call("recall", query="tea", known_at=then)

    assert (await either.note(note["id"]))["hits"] == 0


async def test_before_the_first_change_nothing_was_known(either: Api) -> None:
    before = either.clock.now()
    either.clock.advance(MINUTE)
    note = await either.remember("tea")

    for moment in (0, from_micros(before)):
        assert await contents(either, "tea", known_at=moment) == []
        assert (await either.refused("note.get", id=note["id"], known_at=moment)).code == -32001


async def test_a_time_to_come_is_now(either: Api) -> None:
    await either.remember("tea")

    assert await contents(either, "tea", known_at="2999-01-01T00:00:00Z") == ["tea"]


@pytest.mark.parametrize("value", ["yesterday", -1, 1.5, True, {}, 2**60])
async def test_what_is_no_moment_is_refused(api: Api, value: object) -> None:
    for method, params in (("recall", {"query": "x"}), ("note.get", {"id": "x"})):
        refused = await api.refused(method, {**params, "known_at": value})
        assert (refused.code, refused.field) == (-32602, "known_at")


async def test_a_change_to_come_and_other_modes_are_refused(either: Api) -> None:
    await either.remember("tea")
    for params in ({"known_at": await seq(either) + 1}, {"known_at": 1, "mode": "fhrr"}):
        refused = await either.refused("recall", {"query": "tea", **params})
        assert (refused.code, refused.field) == (-32602, "known_at")


async def test_what_was_purged_is_in_no_past(either: Api) -> None:
    kept, gone = await either.remember("tea and milk"), await either.remember("tea and rum")
    await either.call("note.edit", id=gone["id"], content="tea and sugar")
    then = await seq(either)
    await either.call("note.hide", id=gone["id"])
    assert len(await contents(either, "tea", known_at=then)) == 2
    await either.call("note.delete", id=gone["id"], hard=True)

    assert await contents(either, "tea", known_at=then) == ["tea and milk"]
    assert (await either.refused("note.get", id=gone["id"], known_at=then)).code == -32001
    assert (await either.note(kept["id"], known_at=then))["content"] == "tea and milk"


async def test_too_many_changes_since_are_refused(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [await either.remember(f"tea {n}") for n in range(4)]
    then = await seq(either)
    monkeypatch.setattr(past, "MOST_NOTES", 3)
    for note in notes[:3]:
        await either.call("note.hide", id=note["id"])
    assert len(await contents(either, "tea", known_at=then)) == 4
    await either.call("note.hide", id=notes[3]["id"])

    refused = await either.refused("recall", query="tea", known_at=then)
    assert (refused.code, refused.reason, refused.field) == (-32002, "TOO_LONG_AGO", "known_at")


async def test_too_much_text_that_changed_since_is_refused_and_let_go(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [await either.remember("tea " * (20 + n)) for n in range(3)]
    then = await seq(either)
    for note in notes:
        await either.call("note.hide", id=note["id"])
    monkeypatch.setattr(past, "MOST_CHARACTERS", 100)

    refused = await either.refused("recall", query="tea", known_at=then)
    assert (refused.code, refused.reason, refused.limit) == (-32002, "TOO_LONG_AGO", 100)
    monkeypatch.setattr(past, "MOST_CHARACTERS", 1000)
    assert len(await contents(either, "tea", known_at=then)) == 3


WORDS = ("amber", "birch", "cedar", "dune")
#: What replaces, corrects, ends, repeats or denies each other.
TOLD = (
    "Eva lives in Amber.", "Eva lives in Birch now.", "Eva moved to Cedar.", "Eva no longer lives in Cedar.",
    "Correction: Eva lives in Dune, not in Birch.", "The amber gate is open.", "The amber gate is not open.",
)  # fmt: skip
CHANGES = "remember key edit hide restore supersede move tag retype evolve evolve evolve undo wait resolve".split()


async def _states(api: Api) -> dict[str, list[tuple[str, str, str, int]]]:
    """What each word finds now."""
    return {word: await _state(api, word) for word in WORDS}


async def _state(api: Api, word: str, **params: Any) -> list[tuple[str, str, str, int]]:
    query = {"query": word, "k": 200, "focus": "off", "count_hits": False, "include_links": False, **params}
    notes = [hit["note"] for hit in (await api.call("recall", query))["results"]]
    return sorted((note["id"], note["content"], note["nugget"], note["rev"]) for note in notes)


async def _random_decision(api: Api, random: Random, ids: list[str], what: str) -> None:
    match what:
        case "evolve":
            named: dict[str, Any] = random.choice([{}, {"ttl_days": 1}, {"valid_to": "2026-01-04T00:00:00Z"}])
            told = await api.call("remember", content=random.choice(TOLD), evolve=True, **named)
            ids.append(told["note"]["id"])
        case "undo":
            rows = api.shelf().view.log.page(since_seq=0, limit=1000)
            with suppress(Refused):  # what the daemon did by itself is nobody's
                await api.call("undo", tx=random.choice(rows).tx)
        case "wait":  # what expires meanwhile is told with a change of its own
            api.clock.advance(timedelta(hours=random.choice([5, 30])))
            ids.append((await api.remember(random.choice(WORDS)))["id"])
        case "resolve":
            for one in (await api.call("conflict.list"))["conflicts"][:1]:
                await api.call("conflict.resolve", id=one["id"], keep=random.choice(["a", "b", "both"]))


async def _random_change(api: Api, random: Random, ids: list[str]) -> None:
    text = " ".join(random.choices(WORDS, k=2))
    match random.choice(CHANGES):
        case "evolve" | "undo" | "wait" | "resolve" as what:
            await _random_decision(api, random, ids, what)
        case "key":
            ids.append((await api.remember(text, key=random.choice(["one", "two"])))["id"])
        case "edit" if ids:
            await api.call("note.edit", id=random.choice(ids), content=text)
        case "hide" if ids:
            await api.call("note.hide", id=random.choice(ids))
        case "restore" if ids:
            await api.call("note.restore", id=random.choice(ids))
        case "supersede" if len(ids) > 1:
            old, new = random.sample(ids, 2)
            await api.call("mark_note_superseded", note_id=old, superseded_by_id=new)
        case "tag" if ids:
            await api.call("note.edit", id=random.choice(ids), add_tags=[random.choice(WORDS)])
        case "retype" if ids:
            await api.call("note.edit", id=random.choice(ids), metadata={"author": random.choice(["Ada", "Ben"])})
        case "move" if ids:
            with suppress(Refused):  # another fact there may have its key
                await api.call("note.move", id=random.choice(ids), nugget=random.choice(["memory", "work"]))
        case _:
            ids.append((await api.remember(text))["id"])


@pytest.mark.parametrize("number", range(12))
async def test_what_is_known_at_a_change_is_what_recall_found_after_it(number: int) -> None:
    random = Random(number)
    async with memory() as api:
        for nugget in ("memory", "work"):
            await api.call("nugget.create", name=nugget)
        ids: list[str] = []
        seen: list[tuple[int, dict[str, list[tuple[str, str, str, int]]]]] = []
        for _ in range(30):
            await _random_change(api, random, ids)
            seen.append((await seq(api), await _states(api)))
        for then, states in random.sample(seen, len(seen)):
            for word, state in states.items():
                assert await _state(api, word, known_at=then) == state, (then, word)
            by_nugget = [one for one in states["amber"] if one[2] == "memory"]
            assert await _state(api, "amber", known_at=then, nugget="memory") == by_nugget


async def test_changes_meanwhile_do_not_disturb_a_look_back(either: Api) -> None:
    notes = [await either.remember(f"tea {n}") for n in range(20)]
    then = await seq(either)

    async def hide() -> None:
        for note in notes:
            await either.call("note.hide", id=note["id"])

    async def look() -> None:
        for _ in range(20):
            assert len(await contents(either, "tea", known_at=then, k=50)) == 20

    await asyncio.gather(hide(), look())


async def test_before_the_log_begins_nothing_can_be_said(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        before = api.clock.now()
        notes = []
        for n in range(4):
            api.clock.advance(MINUTE)
            notes.append(await api.remember(f"tea {n}"))
        last = await seq(api)
        await api.shelves.close()
        with closing(sqlite3.connect(tmp_path / "default" / "shelf.db")) as connection:
            connection.execute("DELETE FROM change WHERE seq < ?", (last,))
            connection.commit()
        await api.reopen()

        assert len(await contents(api, "tea", known_at=last - 1)) == 3
        for moment in (0, last - 2, from_micros(before)):
            for method, params in (("recall", {"query": "tea"}), ("note.get", {"id": notes[0]["id"]})):
                refused = await api.refused(method, {**params, "known_at": moment})
                assert (refused.code, refused.field) == (-32013, "known_at")
