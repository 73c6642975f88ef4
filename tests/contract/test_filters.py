"""A filter means one thing: what each store lists and the recall index admits is what the record itself admits."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.samples import change, make_note
from fakes import FakeClock
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import EXACT, RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Extra, Note
from shelfd.memory.ports.store import Store
from shelfd.memory.recall import Analyzer, RecallIndex
from shelfd.memory.recall.shelf_index import document_of
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

CHOICES: dict[str, list[Any]] = {
    "nugget": ["memory", "work"],
    "domain": ["general", "cti"],
    "scope": ["user", "session"],
    "type": ["note", "Task List", "ÄRGER"],
    "subject": ["user", "anna"],
    "author": [None, "Ana"],
    "stability": ["durable", "temporary"],
}
TAGS = ["a", 'say "b"', "derived", "memory", "scope:session", "type:task-list", "type:ärger", "type:note", "elsewhere"]


def _note(number: int, random: Random) -> Note:
    extra = random.choice([Extra(), Extra(derived_tags=("derived",)), Extra(aliases=("a",), evolution_count=6)])
    extra = extra._replace(trust=random.choice([None, None, "quarantined", "released"]))
    return make_note(
        f"n{number}",
        content="the kettle",
        **{name: random.choice(values) for name, values in CHOICES.items()},
        key=random.choice([None, f"k{number}"]),
        tags=random.choice([(), ("a",), ("a", 'say "b"'), ("derived",)]),
        confidence=random.choice([0.49, 0.5, 1.0]),
        session_id=random.choice([None, "s1", "s2"]),
        archived_at=random.choice([None, None, 5]),
        superseded_by=random.choice([None, None, "n1"]),
        expires_at=random.choice([None, 5, 6]),
        occurred_at=random.choice([None, 5, 6]),
        valid_from=random.choice([None, None, 4, 5]),
        valid_to=random.choice([None, None, 5, 6]),
        created_at=random.choice([4, 5, 6]),
        extra=extra,
    )


NOTES = [_note(number, Random(number))._replace(row=number) for number in range(1, 601)]

FILTERS = st.fixed_dictionaries(
    {
        **{name: st.sampled_from([None, None, *values]) for name, values in CHOICES.items() if name != "stability"},
        "tags": st.lists(st.sampled_from(TAGS), max_size=2).map(tuple),
        "session": st.sampled_from([None, "s1"]),
        "since": st.sampled_from([None, None, 5]),
        "now": st.sampled_from([5, 6]),
        "as_of": st.sampled_from([None, 4, 5, 6]),
        "below": st.sampled_from([None, None, 300]),
        "but": st.sampled_from([frozenset(), frozenset(range(1, 400, 3))]),
        "quarantined": st.sampled_from([None, True, False]),
        **{f"include_{what}": st.booleans() for what in ("hidden", "superseded", "expired", "private")},
    }
).map(lambda fields: NoteFilter(**fields))
#: Those that the index has no columns for.
MORE = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["fact", "note"]),
        "stability": st.sampled_from(CHOICES["stability"]),
        "needs_review": st.booleans(),
    },
)


def _admitted(wanted: NoteFilter) -> set[str]:
    return {note.id for note in NOTES if wanted.admits(note)}


@pytest.fixture(scope="module", params=["sqlite", "inmemory"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    root: Path = tmp_path_factory.mktemp("filters")
    stores = SqliteStores(root, FakeClock()) if request.param == "sqlite" else InMemoryStores(FakeClock())

    def fill(tx: Transaction) -> None:
        for note in NOTES:
            tx.create_note(note)

    with asyncio.Runner() as loop:
        store: Store = loop.run(stores.create("default", owner="uid:1"))
        loop.run(store.commit(change(fill)))
        yield store
        loop.run(store.close())


@given(wanted=FILTERS, more=MORE)
def test_a_store_lists_what_the_filter_admits(filled: Store, wanted: NoteFilter, more: dict[str, Any]) -> None:
    chosen = wanted._replace(**more)
    page = filled.view.notes.page(chosen, order="row", descending=False, after=None, limit=len(NOTES))

    assert {note.id for note in page} == _admitted(chosen)
    assert filled.view.notes.count(chosen) == len(page)
    listed = {note.row: note.id for note in page}
    rows = range(len(NOTES) + 1, 0, -1)  # one of them of no note
    assert filled.view.notes.ids(rows, chosen) == {row: listed.get(row) for row in rows}


@pytest.fixture(scope="module")
def index() -> RecallIndex:
    index = RecallIndex(Analyzer())
    index.extend(map(document_of, NOTES))
    return index


@given(wanted=FILTERS)
def test_the_index_admits_what_the_filter_admits(index: RecallIndex, wanted: NoteFilter) -> None:
    ranking = index.search("kettle", wanted, len(NOTES))

    assert {hit.id for hit in ranking.hits} == _admitted(wanted)


@pytest.mark.parametrize("wanted", [{"kind": "fact"}, {"stability": "durable"}, {"needs_review": True}])
def test_what_the_index_cannot_decide_it_does_not_answer(index: RecallIndex, wanted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot filter"):
        index.search("kettle", NoteFilter(**wanted), 5)


def test_the_samples_tell_every_filter() -> None:
    assert {*CHOICES, "kind"} == set(EXACT)
    assert 0 < len(_admitted(RECALLABLE)) < len(_admitted(NoteFilter())) < len(NOTES)
