"""Moving in from Luker and SillyTavern, whatever the files hold: again it changes nothing, pieces are as the whole."""

import asyncio
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import ROOT, Api, memory
from luker_files import Json, chat_parts, edge, floor_log, log_parts, message, node, state, write_chat, write_log
from memory.moving.test_import_properties import JSON, notes_of
from memory.moving.test_import_properties import state as state_of

NAMES = st.sampled_from([f"n_{n}" for n in range(6)])
PLACES = st.none() | st.just("") | NAMES
NODES = st.lists(
    st.builds(
        lambda name, type_, seq, parent, heir, archived, rollup, fields: node(
            name, type_, seq, parentId=parent, supersededBy=heir, archived=archived, semanticRollup=rollup,
            fields=fields, floorRange={"start": 1, "end": seq},
        ),
        NAMES, st.sampled_from(["event", "thread", "Quest"]), st.integers(0, 5), PLACES, PLACES, st.booleans(),
        st.booleans(), st.dictionaries(st.sampled_from(["summary", "title", "aliases", "mood"]), st.text(max_size=4)),
    ),
    max_size=6,
)  # fmt: skip
EDGES = st.lists(
    st.builds(
        lambda one, other, type_, seq: edge(one, other, type_, seqTo=seq),
        NAMES, NAMES, st.sampled_from(["related", "Allied_With", "contains", ""]), st.integers(0, 5),
    ),
    max_size=6,
)  # fmt: skip
STATES = st.lists(st.builds(state, NODES, EDGES), min_size=1, max_size=3)
MESSAGES = st.lists(
    st.builds(
        lambda text, user, at, hidden, more, shown: message(
            text, user=user, at=at, is_system=hidden, swipes=[text, *more], swipe_id=shown
        ),
        st.sampled_from(["one", "two", " "]), st.booleans(),
        st.sampled_from([None, "2025-05-01T10:00:00Z", "May 2, 2025 1:00pm", "soon"]), st.booleans(),
        st.lists(st.sampled_from(["three", "four", ""]), max_size=2), st.integers(0, 3),
    ),
    max_size=8,
)  # fmt: skip
FIELDS = [
    *node("n_1"),
    "supersededBy",
    "floorRange",
    "links",
    "to",
    "turns",
    "message",
    "turn",
    "variant",
    "variants",
    "nth",
    "mes",
    "send_date",
]
DAMAGED = st.dictionaries(st.sampled_from(FIELDS), JSON | NAMES, max_size=12) | JSON


def sent_of(states: list[Json]) -> list[Json]:
    with tempfile.TemporaryDirectory() as folder:
        return log_parts(write_log(Path(folder, "log.json"), floor_log(*states)))


def said_of(messages: list[Json]) -> list[Json]:
    with tempfile.TemporaryDirectory() as folder:
        return chat_parts(write_chat(Path(folder, "chat.jsonl"), messages))


async def take_in(api: Api, format_: str, sent: list[Json]) -> Json:
    if not sent:
        return {"parts": []}
    return await api.call("shelf.import", format=format_, parts=sent, principal=ROOT)


async def check_again(format_: str, sent: list[Json], cuts: set[int]) -> None:
    """Import it twice, and elsewhere item by item in requests that are cut anywhere."""
    single = [{**part, "items": [item]} for part in sent for item in part["items"]]
    bounds = sorted({0, len(single), *(cut for cut in cuts if cut < len(single))})
    async with memory() as whole, memory() as pieces:
        first = await take_in(whole, format_, sent)
        after = state_of(whole) if sent else None
        again = await take_in(whole, format_, sent)
        assert not sent or state_of(whole) == after
        assert all(part["created"] == part["updated"] == 0 for part in again["parts"])
        assert [part["rejected"] for part in again["parts"]] == [part["rejected"] for part in first["parts"]]
        assert [part["not_kept"] for part in again["parts"]] == [part["not_kept"] for part in first["parts"]]
        for start, end in pairwise(bounds):
            await take_in(pieces, format_, single[start:end])
        if sent:
            assert notes_of(pieces) == notes_of(whole)
            assert state_of(pieces) == state_of(whole)


@given(STATES, st.sets(st.integers(1, 30)))
@settings(deadline=None)
def test_a_graph_comes_once_whole_or_in_pieces(states: list[Json], cuts: set[int]) -> None:
    asyncio.run(check_again("luker", sent_of(states), cuts))


@given(MESSAGES, st.sets(st.integers(1, 30)))
@settings(deadline=None)
def test_a_chat_comes_once_whole_or_in_pieces(messages: list[Json], cuts: set[int]) -> None:
    asyncio.run(check_again("sillytavern", said_of(messages), cuts))


@given(STATES, STATES)
@settings(deadline=None)
def test_of_two_logs_of_a_chat_the_later_stands(one: list[Json], two: list[Json]) -> None:
    async def run() -> None:
        async with memory() as api:
            for states in (one, two):
                await take_in(api, "luker", sent_of(states))
            after = state_of(api)
            await take_in(api, "luker", sent_of(two))
            assert state_of(api) == after

    asyncio.run(run())


@given(
    st.lists(DAMAGED, max_size=4),
    st.sampled_from([("luker", part) for part in ("sessions", "types", "notes", "links")]
                    + [("sillytavern", part) for part in ("sessions", "notes")]),
    st.dictionaries(st.sampled_from(["session_id", "nugget"]), JSON | NAMES),
)  # fmt: skip
@settings(deadline=None)
def test_whatever_an_item_holds_is_taken_or_told(items: list[Any], what: tuple[str, str], header: Json) -> None:
    format_, part = what
    sent: list[Json] = [{"part": part, "source": {"header": header}, "items": json.loads(json.dumps(items))}]

    async def run() -> None:
        async with memory() as api:
            (told,) = (await take_in(api, format_, sent))["parts"]
            if part != "links":
                taken = sum(told[one] for one in ("created", "updated", "unchanged")) + len(told["kept"])
                assert taken + len(told["rejected"]) == len(items)
            after = state_of(api)
            await take_in(api, format_, sent)
            assert state_of(api) == after

    asyncio.run(run())


SWIPED = st.lists(
    st.tuples(st.lists(st.sampled_from(["three", "four", "five"]), min_size=1, max_size=3), st.integers(0, 2)),
    min_size=2, max_size=2,
)  # fmt: skip


@given(st.lists(SWIPED, min_size=1, max_size=4))
@settings(deadline=None, max_examples=30)
def test_whatever_a_chat_showed_before_its_alternatives_shown_now_are_live(versions: list[Any]) -> None:
    def said(turn: int, texts: list[str], shown: int) -> Json:
        shown %= len(texts)
        at = f"2025-05-0{turn}T10:00:00Z"
        return message(texts[shown], at=at, swipes=texts, swipe_id=shown, swipe_info=[{"send_date": at}])

    async def run() -> None:
        async with memory() as api:
            for version in versions:
                chat = [message("asked", user=True, at="2025-05-01T09:00:00Z")]
                chat += [said(turn, *one) for turn, one in enumerate(version, 1)]
                await take_in(api, "sillytavern", said_of(chat))
                found = (await api.call("note.list", nugget="evening"))["notes"]
                assert sorted(note["content"] for note in found) == sorted(one["mes"] for one in chat)
                after = state_of(api)
                await take_in(api, "sillytavern", said_of(chat))
                assert state_of(api) == after

    asyncio.run(run())
