"""Moving in, whatever the files hold: again it changes nothing, pieces are as good as the whole, nothing breaks."""

import asyncio
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import ROOT, Api, memory
from nuggets_files import Json, fact, fact_file, graph, graph_note, link, parts
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note

NAMES = st.sampled_from(["work", "Work", "a/b", "home"])
KEYS = st.sampled_from(["kettle", "Kettle", "user:tone", "_task", "file:x.py"])
TEXTS = st.sampled_from(["blue", "green", "ship on friday", "ship on\n\n\nmonday", " "])
IDS = st.sampled_from([f"{kind}-work-0000000{i}" for kind in ("note", "fact") for i in range(3)] + ["a\nb", ""])
TIMES = st.sampled_from(["2025-01-01T00:00:00.000Z", "2025-02-01T00:00:00+02:00", "2099-01-01T00:00:00Z", "soon"])
FACTS = st.lists(
    st.builds(lambda key, value, hits: fact(key, value, hits=hits, session="s"), KEYS, TEXTS, st.integers(-1, 4)),
    max_size=4,
)
NOTES = st.lists(
    st.builds(
        lambda id_, text, nugget, title, hidden, at, to: graph_note(
            id_, text, nugget=nugget, title=title, hidden=hidden, updatedAt=at, links=[link(one, "why") for one in to]
        ),
        IDS, TEXTS, NAMES, KEYS, st.booleans(), TIMES, st.lists(IDS, max_size=2),
    ),
    max_size=5,
)  # fmt: skip
HOMES = st.builds(
    lambda names, facts, notes, version: [
        *(fact_file(name, some) for name, some in zip(names, facts, strict=False)),
        graph(notes, version=version),
    ],
    st.lists(NAMES, unique=True, max_size=3),
    st.lists(FACTS, min_size=3, max_size=3),
    NOTES,
    st.sampled_from([None, 2, 3]),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = [
    *graph_note("note-a-1", "x"),
    "key",
    "value",
    "sourceKey",
    "archivedAt",
    "lastRewrittenAt",
    "last_hit_session",
]
HEADER = ["version", "name", "D", "banks", "ensembles", "max_facts", "config"]
DAMAGED = st.dictionaries(st.sampled_from(FIELDS), JSON | TEXTS | IDS | NAMES | TIMES, max_size=12) | JSON


async def take_in(api: Api, sent: list[Json], known: dict[str, str] | None = None) -> Json:
    return await api.call("shelf.import", parts=sent, known=known or {}, principal=ROOT)


def state(api: Api) -> tuple[str, int]:
    view = api.shelf().view
    return logical_hash(view), view.log.last_seq


def notes_of(api: Api) -> list[Note]:
    wanted = NoteFilter(include_hidden=True)
    notes = api.shelf().view.notes.page(wanted, order="row", descending=False, after=None, limit=1000)
    return [note._replace(row=0, rev=0) for note in notes]


@given(HOMES)
@settings(deadline=None)
def test_again_changes_nothing(home: list[Json]) -> None:
    async def run() -> None:
        async with memory() as api:
            first = await take_in(api, parts(*home))
            after = state(api)
            hits = api.shelf().usage.of(notes_of(api))
            again = await take_in(api, parts(*home))
            assert state(api) == after
            assert api.shelf().usage.of(notes_of(api)) == hits
            assert all(part["created"] == part["updated"] == 0 for part in again["parts"])
            assert [part["rejected"] for part in again["parts"]] == [part["rejected"] for part in first["parts"]]

    asyncio.run(run())


@given(HOMES, HOMES)
@settings(deadline=None)
def test_of_two_files_the_later_import_stands_and_again_changes_nothing(one: list[Json], two: list[Json]) -> None:
    async def run() -> None:
        async with memory() as api:
            for home in (one, two):
                await take_in(api, parts(*home))
            after = state(api)
            await take_in(api, parts(*two))
            assert state(api) == after

    asyncio.run(run())


def _without_repeats(home: list[Json]) -> list[Json]:
    """What the command sends: of items of one name the first. Files of one nugget name come from one place."""
    *files, notes = home
    by_name = {file["name"].lower().replace("/", "-"): file for file in reversed(files)}
    ids = {note["id"]: note for note in reversed(notes["notes"])}
    return [
        *(
            {**file, "facts": list({one["key"].lower(): one for one in file["facts"]}.values())}
            for file in by_name.values()
        ),
        {**notes, "notes": list(ids.values())[::-1]},
    ]


@given(HOMES, st.sets(st.integers(1, 30)))
@settings(deadline=None)
def test_pieces_come_to_the_same_as_the_whole(home: list[Json], cuts: set[int]) -> None:
    sent = parts(*_without_repeats(home))
    single = [{**part, "items": [item]} for part in sent for item in part["items"]]
    bounds = sorted({0, len(single), *(cut for cut in cuts if cut < len(single))})

    async def run() -> None:
        async with memory() as whole, memory() as pieces:
            await take_in(whole, sent)
            known: dict[str, str] = {}
            for start, end in pairwise(bounds):
                known |= (await take_in(pieces, single[start:end], known))["known"]
            assert notes_of(pieces) == notes_of(whole)
            assert state(pieces) == state(whole)

    asyncio.run(run())


@given(
    st.lists(DAMAGED, max_size=4),
    st.sampled_from(["nuggets", "notes", "facts", "links"]),
    st.dictionaries(st.sampled_from(HEADER), JSON),
    st.text(max_size=20),
)
@settings(deadline=None)
def test_whatever_a_damaged_file_holds_is_taken_or_told(items: list[Any], part: str, header: Json, name: str) -> None:
    sent: list[Json] = [{"part": part, "source": {"name": name, "header": header}, "items": items}]

    async def run() -> None:
        async with memory() as api:
            (told,) = (await take_in(api, sent))["parts"]
            if part != "links":
                taken = sum(told[one] for one in ("created", "updated", "unchanged")) + len(told["kept"])
                assert taken + len(told["rejected"]) == len(items)
            after = state(api)
            await take_in(api, sent)
            assert state(api) == after

    asyncio.run(run())
