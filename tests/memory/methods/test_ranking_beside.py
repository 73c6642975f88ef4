"""A large shelf is ranked beside the event loop: the same answers, and others are served meanwhile."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from embedders import WordEmbedder
from fakes import Api, memory
from shelfd.memory.recall.search import Search
from shelfd.memory.shelf.scanner import Scanner

TEXTS = [f"The crane at berth {n} was painted by {('Ada', 'Bo', 'Cy')[n % 3]}" for n in range(12)]
SOLD = "The crane at berth 3 was sold"
ASKED: list[dict[str, Any]] = [
    {"query": "Who painted the crane at berth 7?"},
    {"query": "crane", "k": 5, "explain": True},
    {"query": "crane", "k": 3, "nugget": "harbour"},
    {"query": "berth 7", "focus": "off"},
    {"query": "colour of the shed"},
    {"query": "nothing of that"},
]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shelf counts as large."""
    monkeypatch.setattr("shelfd.memory.recall.search._WIDE", 1)
    monkeypatch.setattr(Search, "is_long", lambda search, query, filters: search.is_wide)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], Any]]:
    """What was done in the other thread."""
    found = list[Callable[[], Any]]()
    run = Scanner.run

    async def counted(scanner: Scanner, scan: Callable[[], Any]) -> Any:
        found.append(scan)
        return await run(scanner, scan)

    monkeypatch.setattr(Scanner, "run", counted)
    return found


async def filled(api: Api) -> None:
    for text in TEXTS:
        await api.remember(text, nugget="harbour")
    await api.remember("red", key="colour of the shed", nugget="harbour")


def without_use(result: dict[str, Any]) -> dict[str, Any]:
    """What was found, without when and how often."""
    for hit in result.get("results", ()):
        hit["note"] = hit["note"]["id"]
    return {name: value for name, value in result.items() if name not in ("took_ms", "metadata")}


async def answers(api: Api) -> list[dict[str, Any]]:
    found = [await api.call("recall", count_hits=False, **asked) for asked in ASKED]
    found.append(await api.call("get_context", query="crane at berth 3", record=False, token_budget=200))
    found.append(await api.call("synthesize", query="Who painted the crane at berth 7?"))
    return [without_use(one) for one in found]


async def test_answers_are_those_of_a_small_shelf(
    either: Api, runs: list[Callable[[], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(either)
    expected = await answers(either)
    monkeypatch.setattr("shelfd.memory.recall.search._WIDE", 1)
    monkeypatch.setattr(Search, "is_long", lambda search, query, filters: search.is_wide)

    assert await answers(either) == expected
    assert len(runs) == len(expected)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("method", ["recall", "get_context"])
async def test_a_caller_who_is_alone_waits_for_no_thread(api: Api, runs: list[Callable[[], Any]], method: str) -> None:
    await filled(api)
    found: list[dict[str, Any]] = []
    for is_alone in (False, True):
        call = api.request(method, query="Who painted the crane at berth 7?")
        call.is_alone = is_alone
        found.append(without_use(await api.handle(call)))

    assert found[0] == found[1]
    assert len(runs) == 1


@pytest.mark.usefixtures("large")
async def test_a_long_text_is_ranked_in_the_thread_by_whomever(api: Api, runs: list[Callable[[], Any]]) -> None:
    await filled(api)
    for _ in range(2):
        call = api.request("recall", query="Who painted the crane at berth 7? " * 8)
        call.is_alone = True
        await api.handle(call)

    assert len(runs) == 2


@pytest.mark.usefixtures("large")
async def test_while_queries_take_long_they_are_ranked_in_the_thread(api: Api, runs: list[Callable[[], Any]]) -> None:
    await filled(api)

    async def ask() -> None:
        call = api.request("recall", query="Who painted the crane at berth 7?")
        call.is_alone = True
        await api.handle(call)

    await ask()
    assert len(runs) == 1  # the first one
    await ask()
    assert len(runs) == 1
    api.shelf().scanner.took = 0.1
    await ask()
    assert len(runs) == 2


@pytest.mark.usefixtures("large")
async def test_by_meaning_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with memory(embedder=WordEmbedder()) as api:
        await filled(api)
        beside = await answers(api)
        monkeypatch.setattr("shelfd.memory.recall.search._WIDE", 1_000)

        assert await answers(api) == beside


@pytest.mark.usefixtures("large")
async def test_others_are_served_while_a_shelf_is_ranked(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(api)
    begun, may_go_on = Event(), Event()
    run = Search.run

    def held(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        assert may_go_on.wait(30)
        return run(*args, **kwargs)

    monkeypatch.setattr(Search, "run", held)
    recalling = [asyncio.ensure_future(api.call("recall", query=f"crane at berth {n}", k=1)) for n in (3, 9)]
    assert await asyncio.to_thread(begun.wait, 30)
    assert (await api.call("note.list", nugget="harbour"))["notes"]
    may_go_on.set()

    found = [result["results"][0]["note"]["content"] for result in await asyncio.gather(*recalling)]
    assert found == [TEXTS[3], TEXTS[9]]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("method", "params"), [("forget", {}), ("forget", {"purge": True}), ("note.edit", {"content": SOLD})]
)
async def test_what_changes_after_ranking_is_not_shown_as_it_was(
    either: Api, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, Any]
) -> None:
    await filled(either)
    (best,) = (await either.call("recall", query="crane at berth 3", k=1))["results"]
    run = Scanner.run

    async def changed(scanner: Scanner, scan: Callable[[], Any]) -> Any:
        ranked = await run(scanner, scan)
        monkeypatch.setattr(Scanner, "run", run)
        await either.call(method, id=best["note"]["id"], **params)
        return ranked

    monkeypatch.setattr(Scanner, "run", changed)
    found = (await either.call("recall", query="crane at berth 3", k=20))["results"]
    texts = [hit["note"]["content"] for hit in found]
    assert TEXTS[3] not in texts
    assert (SOLD in texts) == (method == "note.edit")
    assert TEXTS[4] in texts


@pytest.mark.usefixtures("large")
async def test_a_caller_who_leaves_leaves_nothing_behind(api: Api) -> None:
    await filled(api)
    for _ in range(20):
        recalling = asyncio.ensure_future(api.call("recall", query="crane at berth 3"))
        await asyncio.sleep(0)
        recalling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await recalling

    assert (await api.found("crane at berth 3", k=1)) == [TEXTS[3]]
