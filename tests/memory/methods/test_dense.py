"""Recall by meaning beside words: vectors follow the notes, and words alone answer where there are none in time."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from embedders import WordEmbedder
from fakes import Api, memory
from shelfd.memory import MemorySettings
from shelfd.memory.errors import StoreBusy
from shelfd.memory.recall import embedding
from shelfd.storage import SqliteStores

NOTES = ["Her home is in Lisbon.", "The doctor comes on Monday.", "A cat sleeps on the sofa.", "The car was sold."]


@pytest.fixture(params=["inmemory", "sqlite"])
async def dense(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """The memory with an embedder, over each kind of stores."""
    options: dict[str, Any] = {"embedder": WordEmbedder()}
    if request.param == "inmemory":
        async with memory(**options) as running:
            yield running
    else:
        async with memory(lambda clock: SqliteStores(tmp_path, clock), **options) as running:
            yield running


async def embedded(api: Api) -> None:
    """Let the background catch up."""
    shelf = api.shelf()
    for _ in range(20_000):
        api.clock.advance(timedelta(milliseconds=100))
        await asyncio.sleep(0)
        view = shelf.view
        position = view.vectors.position() or {}
        done = (position.get("seq"), position.get("model"), position.get("below")) == (
            view.log.last_seq, shelf.dense.model, 0,
        )  # fmt: skip
        if done and not any(task.get_name().endswith(".dense") for task in asyncio.all_tasks()):
            return
    raise AssertionError("notes do not get vectors")


async def remembered(api: Api, *texts: str, **named: Any) -> list[str]:
    ids = [str((await api.remember(text, **named))["id"]) for text in texts or NOTES]
    await embedded(api)
    return ids


async def test_recall_finds_what_is_said_in_other_words(dense: Api) -> None:
    ids = await remembered(dense)
    words = await dense.call("recall", query="Where is the residence?", mode="lexical")
    assert words["results"] == []
    reply = await dense.call("recall", query="Where is the residence?", explain=True)
    assert reply["results"][0]["note"]["id"] == ids[0]
    assert (reply["mode"], reply["dense"]) == ("hybrid", {"model": "words/1", "share": 1.0})


async def test_what_meaning_and_words_add_is_the_score(dense: Api) -> None:
    await remembered(dense)
    reply = await dense.call("recall", query="Which doctor visits the cat on Monday?", explain=True)
    assert reply["results"]
    for hit in reply["results"]:
        assert sum(hit["signals"].values()) == pytest.approx(hit["score"], abs=1e-4)
        assert hit["vector_score"] + hit["text_score"] == pytest.approx(hit["score"], abs=1e-5)
        assert hit["vector_score"] == pytest.approx(max(hit["signals"]["dense"], 0.0), abs=1e-4)
    best = reply["results"][0]
    assert best["note"]["content"] == NOTES[1]
    assert best["vector_score"] > 0
    assert [hit["score"] for hit in reply["results"]] == sorted((h["score"] for h in reply["results"]), reverse=True)


async def test_by_meaning_alone_words_do_not_count(dense: Api) -> None:
    ids = await remembered(dense)
    reply = await dense.call("recall", query="physician feline", mode="dense", explain=True)
    assert {hit["note"]["id"] for hit in reply["results"][:2]} == {ids[1], ids[2]}
    assert reply["mode"] == "dense"
    assert all(hit["text_score"] == 0 and set(hit["signals"]) >= {"dense"} for hit in reply["results"])


async def test_context_is_found_by_meaning_too(dense: Api) -> None:
    ids = await remembered(dense)
    await dense.call("recall", query="residence Lisbon")
    context = await dense.call("get_context", query="Her home in Lisbon")
    assert ids[0] in context["notes"]


async def test_why_not_ranks_as_recall_does(dense: Api) -> None:
    ids = await remembered(dense)
    reply = await dense.call("why_not", query="Where is the residence?", id=ids[0])
    assert (reply["stage"], reply["found"]) == ("returned", True)


async def test_filters_hold_for_meaning(dense: Api) -> None:
    await remembered(dense, "Her home is in Lisbon.", nugget="one")
    other = await remembered(dense, "His home is in Oslo.", nugget="two")
    reply = await dense.call("recall", query="residence", nugget="two")
    assert [hit["note"]["id"] for hit in reply["results"]] == other
    await dense.call("note.hide", id=other[0])
    assert (await dense.call("recall", query="residence", nugget="two"))["results"] == []


async def test_a_purged_note_has_no_vectors_when_purge_answers(dense: Api) -> None:
    ids = await remembered(dense)
    await dense.call("forget", id=ids[0], purge=True)
    view = dense.shelf().view
    assert view.vectors.count("words/1") == len(NOTES) - 1
    reply = await dense.call("recall", query="residence", mode="dense")
    assert ids[0] not in [hit["note"]["id"] for hit in reply["results"]]
    await dense.reopen()
    await dense.call("recall", query="sold")
    await embedded(dense)
    assert dense.shelf().view.vectors.count("words/1") == len(NOTES) - 1


async def test_an_edited_text_gets_new_vectors_and_other_changes_none(dense: Api) -> None:
    ids = await remembered(dense)
    embedder = dense.embedder
    assert isinstance(embedder, WordEmbedder)
    before = list(embedder.embedded)
    await dense.call("note.edit", id=ids[0], pinned=True)
    await embedded(dense)
    assert embedder.embedded == before
    await dense.call("note.edit", id=ids[0], content="The feline is old.")
    stale = await dense.call("recall", query="residence", mode="dense")  # at once: the old text is nobody's
    assert ids[0] not in [hit["note"]["id"] for hit in stale["results"]]
    await embedded(dense)
    assert embedder.embedded[len(before) :] == ["The feline is old."]
    reply = await dense.call("recall", query="cat", mode="dense")
    assert {hit["note"]["id"] for hit in reply["results"][:2]} == {ids[0], ids[2]}


async def test_another_model_mixes_nothing_and_says_its_share(dense: Api) -> None:
    ids = await remembered(dense)
    dense.embedder = WordEmbedder("words/2")
    await dense.reopen()
    reply = await dense.call("recall", query="residence")
    assert (reply["results"], reply["dense"]) == ([], {"model": "words/2", "share": 0.0})
    await embedded(dense)
    reply = await dense.call("recall", query="residence")
    assert reply["results"][0]["note"]["id"] == ids[0]
    assert reply["dense"] == {"model": "words/2", "share": 1.0}
    view = dense.shelf().view.vectors
    assert (view.count("words/1"), view.count("words/2")) == (0, len(NOTES))


async def test_after_a_restart_nothing_is_embedded_again(dense: Api) -> None:
    ids = await remembered(dense)
    dense.embedder = WordEmbedder()
    await dense.reopen()
    await dense.call("recall", query="sold")
    await embedded(dense)
    assert dense.embedder.embedded == []
    assert (await dense.call("recall", query="residence"))["results"][0]["note"]["id"] == ids[0]


async def test_what_could_not_be_read_at_a_restart_is_read_again(dense: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await remembered(dense)
    vectors = type(dense.shelf().view.vectors)
    page, pages = vectors.page, 0

    def failing(*arguments: Any, **named: Any) -> Any:
        nonlocal pages
        pages += 1
        if pages == 2:
            raise StoreBusy("the disk is away for a moment")
        return page(*arguments, **named)

    monkeypatch.setattr(embedding, "_PAGE", 2)
    monkeypatch.setattr(vectors, "page", failing)
    await dense.reopen()
    await dense.call("recall", query="sold")
    await embedded(dense)
    reply = await dense.call("recall", query="feline")
    assert (reply["dense"]["share"], reply["results"][0]["note"]["id"]) == (1.0, ids[2])


async def test_where_not_all_are_held_the_first_by_words_are_compared(
    dense: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "HELD", 2)
    dense.embedder = WordEmbedder()
    await dense.reopen()
    await dense.remember("The doctor has a home in Lisbon and a car.")
    ids = await remembered(dense)
    shelf = dense.shelf()
    assert not shelf.dense.is_held
    reply = await dense.call("recall", query="the doctor who comes", explain=True)
    assert reply["results"][0]["note"]["id"] == ids[1]
    assert reply["results"][0]["vector_score"] > 0
    assert reply["dense"]["share"] == 1.0
    assert (await dense.call("recall", query="residence"))["results"] == []  # no word of it is in any note


@pytest.mark.parametrize("mode", ["auto", "hybrid"])
async def test_words_alone_answer_where_the_embedder_fails_or_takes_too_long(mode: str) -> None:
    embedder = WordEmbedder()
    settings = MemorySettings(embedding_deadline=timedelta(milliseconds=1))
    async with memory(embedder=embedder, settings=settings) as api:
        await api.remember("Her home is in Lisbon.")
        for broken, reason in (("fails", "EMBEDDER_FAILED"), ("hangs", "EMBEDDER_TIMEOUT")):
            embedder.fails = embedder.hangs = False
            setattr(embedder, broken, True)
            reply = await api.call("recall", query="Lisbon", mode=mode)
            assert len(reply["results"]) == 1
            assert (reply["mode"], reply["dense"]["skipped"]) == ("lexical", reason)
            refused = await api.refused("recall", query="Lisbon", mode="dense")
            assert (refused.code, refused.reason, refused.data["retryable"]) == (-32003, reason, True)


async def test_an_embedder_that_failed_is_asked_again() -> None:
    embedder = WordEmbedder()
    embedder.fails = True
    async with memory(embedder=embedder) as api:
        await api.remember("Her home is in Lisbon.")
        for _ in range(50):
            api.clock.advance(timedelta(milliseconds=100))
            await asyncio.sleep(0)
        assert api.shelf().view.vectors.count("words/1") == 0
        embedder.fails = False
        await embedded(api)
        assert api.shelf().view.vectors.count("words/1") == 1


async def test_text_of_a_local_only_nugget_goes_to_no_embedder_elsewhere() -> None:
    embedder = WordEmbedder(is_local=False)
    async with memory(embedder=embedder) as api:
        await api.call("nugget.create", name="secret", local_only=True)
        await api.remember("Her home is in Lisbon.", nugget="secret")
        await api.remember("The car was sold.", nugget="open")
        await embedded(api)
        assert embedder.embedded == ["The car was sold."]
        reply = await api.call("recall", query="home", nugget="secret")
        assert (embedder.queries, len(reply["results"]), reply["dense"]["skipped"]) == ([], 1, "LOCAL_ONLY")


@pytest.mark.parametrize("method", ["forget", "note.edit"])
async def test_what_is_purged_or_edited_while_it_is_embedded_gets_no_vectors_of_that(method: str) -> None:
    embedder = WordEmbedder()
    async with memory(embedder=embedder) as api:
        await api.remember("The car was sold.")
        note = str((await api.remember("Her home is in Lisbon."))["id"])
        params: dict[str, dict[str, Any]] = {
            "forget": {"id": note, "purge": True},
            "note.edit": {"id": note, "content": "The cat is old."},
        }
        seen: list[dict[int, int]] = []

        async def happens() -> None:
            await api.call(method, params[method])
            embedder.at_work = None

        embedder.at_work = happens
        api.shelf().store.follow(lambda _: seen.append(api.shelf().view.vectors.texts([2], "words/1")))
        await embedded(api)
        assert embedder.embedded[:2] == ["The car was sold.", "Her home is in Lisbon."]
        kept = {tuple(texts.items()) for texts in seen if texts}
        assert len(kept) == (0 if method == "forget" else 1)  # never those of the text before
        found = await api.call("recall", query="residence", mode="dense")
        assert note not in [hit["note"]["id"] for hit in found["results"][:1]] or method == "note.edit"


async def test_nodes_of_a_session_are_found_by_meaning(dense: Api) -> None:
    await dense.call("session.open", session_id="s1", nugget="memory")
    ids = await remembered(dense, *NOTES, session_id="s1")
    reply = await dense.call("session.vector_search", session_id="s1", query="the physician", k=2)
    assert (len(reply["results"]), reply["results"][0]["id"]) == (2, ids[1])
    assert {view["score_mode"] for view in reply["results"]} == {"vector"}
    await dense.call("note.hide", id=ids[1])
    reply = await dense.call("session.vector_search", session_id="s1", query="the physician")
    assert ids[1] not in [view["id"] for view in reply["results"]]


async def test_an_answer_is_made_of_what_is_found_by_meaning_too(dense: Api) -> None:
    await remembered(dense, "The doctor has a cat.", "The car was sold.")
    reply = await dense.call("synthesize", query="Which doctor has a cat?")
    assert [source["quote"] for source in reply["sources"]] == ["The doctor has a cat."]
    assert isinstance(dense.embedder, WordEmbedder)
    assert "Which doctor has a cat?" in dense.embedder.queries
