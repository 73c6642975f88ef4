"""Shelves: which there are, whose they are, and that they last."""

from datetime import timedelta

import pytest

from contract.samples import NEW_YEAR, create, edit, make_link, make_note, make_nugget, write
from fakes import FakeClock
from shelfd.memory.errors import DuplicateShelf, ShelfNotFound
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import NO_EXTRA, Extra, Imported, Provenance, Usage
from shelfd.memory.ports.log import Recorded
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.view import Writer

#: All that few notes have.
RARE = Extra(
    source_key="k",
    source_type="document",
    source_ref="a file",
    ttl_days=7,
    aliases=("a", "b"),
    fields={"depth": {"x": [1, 2.5, None, True, "ü"]}},
    rendered=True,
    derived_tags=("c",),
    dropped_tags=("d",),
    provenance=(Provenance("n2", ("12",), ("34",)), Provenance("n3", (), ())),
    imported=Imported("nuggets", "theirs", {"note": {"content": "ab"}, "fact": {"content": "cd"}}, "id", "alias"),
    evolution_count=2,
    last_rewritten_at=NEW_YEAR,
    promoted_at=NEW_YEAR,
)


async def test_a_new_shelf_has_its_properties_and_nothing_else(store: Store) -> None:
    assert store.view.meta.get("shelf") == "default"
    assert store.view.meta.get("owner") == "uid:1000"
    assert store.view.meta.get("created_at") == str(NEW_YEAR)
    assert store.view.meta.get("colour") is None
    assert (store.view.log.last_seq, store.view.log.first_seq) == (0, 1)
    assert store.view.counts() == (0,) * 6


async def test_shelves_are_listed_and_exist(stores: Stores) -> None:
    assert stores.names() == []
    for name in ("work", "default", "a.b-c_d"):
        await (await stores.create(name, owner="uid:1")).close()

    assert stores.names() == ["a.b-c_d", "default", "work"]
    assert stores.exists("work")
    assert not stores.exists("home")


async def test_a_name_is_taken_once(stores: Stores) -> None:
    await (await stores.create("work", owner="uid:1")).close()
    with pytest.raises(DuplicateShelf):
        await stores.create("work", owner="uid:2")

    assert stores.owner("work") == "uid:1"


async def test_an_owner_is_known_open_or_closed(stores: Stores) -> None:
    opened = await stores.create("work", owner="mqtt:anna")
    assert stores.owner("work") == "mqtt:anna"
    await opened.close()

    assert stores.owner("work") == "mqtt:anna"
    assert stores.owner("home") is None


async def test_what_does_not_exist_is_neither_opened_nor_dropped(stores: Stores) -> None:
    with pytest.raises(ShelfNotFound):
        await stores.open("work")
    with pytest.raises(ShelfNotFound):
        await stores.drop("work")


async def test_a_dropped_shelf_is_gone_and_its_name_is_free(stores: Stores) -> None:
    first = await stores.create("work", owner="uid:1")
    await first.commit(create("n1"))
    await first.close()
    await stores.drop("work")
    assert stores.names() == []
    assert stores.owner("work") is None

    second = await stores.create("work", owner="uid:2")
    assert second.view.notes.get("n1") is None
    assert second.view.log.last_seq == 0
    assert stores.owner("work") == "uid:2"
    await second.close()


async def test_shelves_do_not_see_each_other(stores: Stores) -> None:
    work, home = await stores.create("work", owner="uid:1"), await stores.create("home", owner="uid:1")
    await work.commit(create("n1"))

    assert home.view.notes.get("n1") is None
    await work.close()
    await home.close()


def _fill(rows: Writer) -> None:
    rows.nuggets.put(make_nugget("memory", ttl_days=7, turn_count=3))
    rows.links.put(make_link("n1", "n2", reason="because", valid_from=5))
    rows.nuggets.claim_turn("memory", "sess-1", 4, 3)
    rows.recorded.put("uid:1", "remember", "k1", Recorded("{}", {"ids": ["n1"], "status": "created"}, NEW_YEAR))
    rows.usage.put({1: Usage(2, 3, NEW_YEAR, "sess-1")})
    rows.usage.add_hit_sessions([(1, "sess-1")])
    rows.meta.put("colour", "blue")


async def test_everything_is_there_after_a_reopen(stores: Stores, clock: FakeClock) -> None:
    opened = await stores.create("work", owner="uid:1")
    full = make_note(
        "n1",
        key="grün \N{SNOWMAN}",
        tags=("eins", 'z"wei\\', "\N{SNOWMAN}"),
        content='line\n"quoted"\ttab \x00 \N{GRINNING FACE}',
        confidence=0.1 + 0.2,
        author="anna",
        session_id="sess-1",
        turn=4,
        seq_to=3,
        occurred_at=-1,
        valid_from=0,
        valid_to=2**53,
        expires_at=NEW_YEAR,
        archived_at=NEW_YEAR,
        superseded_by="n2",
        parent_id="n2",
        pinned=True,
        extra=RARE,
    )
    stored = (await opened.commit(create("n1", **full._asdict()))).value
    await opened.commit(create("n2"))
    await opened.commit(edit("n2", content="other", tags=("a",), extra=Extra(aliases=("x",))))
    await opened.commit(write(_fill))
    log = opened.view.log.page(since_seq=0, limit=10)
    await opened.close()

    clock.set_back(timedelta(seconds=1))
    again = await stores.open("work")
    view = again.view
    assert view.notes.get("n1") == stored == full._replace(row=1)
    assert type(stored.pinned) is type(view.notes.by_ids(["n1"])["n1"].pinned) is bool
    assert view.log.page(since_seq=0, limit=10) == log
    assert log[2].before == {"content": "What n2 says", "tags": (), "extra": NO_EXTRA}
    assert view.nuggets.get("memory") == make_nugget("memory", ttl_days=7, turn_count=3)
    assert view.links.between("n1", "n2") == [make_link("n1", "n2", reason="because", valid_from=5)]
    assert view.nuggets.turn_number("memory", "sess-1", 4) == 3
    assert view.recorded.get("uid:1", "remember", "k1") == Recorded(
        "{}", {"ids": ["n1"], "status": "created"}, NEW_YEAR
    )
    assert view.usage.by_rows([1, 2]) == {1: Usage(2, 3, NEW_YEAR, "sess-1")}
    assert view.usage.was_hit([1, 2], "sess-1") == {1}
    assert view.meta.get("colour") == "blue"
    assert view.notes.count(NoteFilter(include_hidden=True)) == 2

    applied = await again.commit(create("n3"))
    assert (applied.value.row, applied.last_seq, applied.rows[0].at) == (3, 4, NEW_YEAR - 1_000_000)
    await again.close()


async def test_the_twin_and_the_file_refuse_a_second_use_of_a_row_number(store: Store) -> None:
    taken = await store.commit(write(lambda rows: [rows.notes.next_row(), rows.notes.next_row()]))
    following = await store.commit(create("n1"))

    assert taken.value == [1, 2]
    assert following.value.row == 3


async def test_what_is_frozen_shows_one_moment(store: Store) -> None:
    await store.commit(create("a"))
    async with store.frozen() as view:
        await store.commit(create("b"))
        assert [note.id for note in view.notes.scan(before_row=None, limit=9)] == ["a"]
        assert view.log.last_seq < store.view.log.last_seq
    async with store.frozen() as view:
        assert view.counts().notes == 2


async def test_properties_are_listed_by_how_they_begin(store: Store) -> None:
    def put(writer: Writer) -> None:
        for name in ("gone note b", "gone note a", "gone link x", "gonf", "gon", "gone \U0001f600"):
            writer.meta.put(name, name.upper())

    await store.commit(write(put))
    found = store.view.meta.page("gone ", after="", limit=9)
    assert [name for name, _ in found] == ["gone link x", "gone note a", "gone note b", "gone \U0001f600"]
    assert found[1] == ("gone note a", "GONE NOTE A")
    assert store.view.meta.page("gone note", after="gone note a", limit=1) == [("gone note b", "GONE NOTE B")]
