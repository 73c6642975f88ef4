"""Every read and write of the rows, one claim each."""

import asyncio

import pytest

from contract.samples import NEW_YEAR, change, create, edit, fail, make_link, make_note, make_nugget, write
from shelfd.memory.errors import Conflict, DuplicateKey, DuplicateNugget, NoteNotFound
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Extra, Note, Usage
from shelfd.memory.ports.log import Origin, Recorded
from shelfd.memory.ports.notes import NuggetCounts
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.view import Counts, Writer

ALL = NoteFilter(include_hidden=True)


async def _create(store: Store, *notes: Note) -> None:
    await asyncio.gather(*(store.commit(create(note.id, **note._asdict())) for note in notes))


def _ids(notes: list[Note]) -> list[str]:
    return [note.id for note in notes]


async def test_notes_are_found_by_id(store: Store) -> None:
    await _create(store, make_note("n1"), make_note("n2", archived_at=5))

    assert store.view.notes.get("n3") is None
    assert list(store.view.notes.by_ids(["n2", "n3", "n1", "n2"])) == ["n2", "n1"]
    assert store.view.notes.by_ids([]) == {}
    assert store.view.notes.existing(["n2", "n3", "n1", "n2"]) == {"n1", "n2"}
    assert len(store.view.notes.by_ids([f"n{number}" for number in range(50_000)])) == 2


async def test_facts_are_found_by_key_hidden_or_not(store: Store) -> None:
    await _create(
        store,
        make_note("f1", key="colour"),
        make_note("f2", key="colour", nugget="work", archived_at=5),
        make_note("f3", key="size"),
    )

    assert (fact := store.view.notes.fact("work", "colour")) is not None
    assert fact.id == "f2"
    assert store.view.notes.fact("home", "colour") is None
    assert _ids(store.view.notes.facts("colour")) == ["f1", "f2"]


async def test_a_key_is_unique_in_its_nugget(store: Store) -> None:
    await _create(store, make_note("f1", key="colour"), make_note("f2", key="size"))
    with pytest.raises(DuplicateKey) as caught:
        await store.commit(create("f3", key="colour"))
    assert caught.value.data == {"nugget": "memory", "id": "f1"}
    with pytest.raises(DuplicateKey):
        await store.commit(edit("f2", key="colour"))

    await store.commit(create("f3", key="colour", nugget="work"))
    await store.commit(edit("f2", key="weight"))
    await store.commit(create("f4", key="size"))
    assert store.view.log.last_seq == 5


async def test_a_duplicate_key_can_be_caught_inside_the_change(store: Store) -> None:
    await _create(store, make_note("f1", key="colour"))

    def apply(tx: Transaction) -> str:
        try:
            tx.create_note(make_note("f2", key="colour"))
        except DuplicateKey:
            return tx.create_note(make_note("f2", key="other")).id
        raise AssertionError

    assert (await store.commit(change(apply))).value == "f2"
    assert store.view.counts().notes == 2


async def test_an_id_is_unique(store: Store) -> None:
    await _create(store, make_note("n1"))
    with pytest.raises(Conflict):
        await store.commit(create("n1"))
    with pytest.raises(NoteNotFound):
        await store.commit(
            write(lambda rows: rows.notes.update(make_note("n2", row=7), make_note("n2", row=7, content="x")))
        )


async def test_a_listing_filters(store: Store) -> None:
    await _create(
        store,
        make_note("n1", tags=("a", "b"), subject="anna", type="project"),
        make_note("n2", tags=("b",), scope="shared", stability="temporary"),
        make_note("n3", key="k", confidence=0.49),
        make_note("n4", archived_at=5),
        make_note("n5", superseded_by="n1", nugget="work"),
        make_note("n6", extra=Extra(evolution_count=6)),
    )

    def listed(wanted: NoteFilter) -> list[str]:
        found = _ids(store.view.notes.page(wanted, order="row", descending=False, after=None, limit=100))
        assert store.view.notes.count(wanted) == len(found)
        return found

    assert listed(NoteFilter()) == ["n1", "n2", "n3", "n5", "n6"]
    assert listed(NoteFilter(include_hidden=True)) == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert listed(NoteFilter(include_superseded=False)) == ["n1", "n2", "n3", "n6"]
    assert listed(NoteFilter(nugget="memory")) == ["n1", "n2", "n3", "n6"]
    assert listed(NoteFilter(nugget="work")) == ["n5"]
    assert listed(NoteFilter(kind="fact")) == ["n3"]
    assert listed(NoteFilter(subject="anna", type="project")) == ["n1"]
    assert listed(NoteFilter(scope="shared")) == listed(NoteFilter(stability="temporary")) == ["n2"]
    assert listed(NoteFilter(tags=("b",))) == ["n1", "n2"]
    assert listed(NoteFilter(tags=("b", "a"))) == ["n1"]
    assert listed(NoteFilter(needs_review=True)) == ["n3", "n6"]
    assert listed(NoteFilter(needs_review=False)) == ["n1", "n2", "n5"]


async def test_visible_notes_are_found_by_their_names(store: Store) -> None:
    await _create(
        store,
        make_note("n1", title="Anna", type="person"),
        make_note("n2", title="", type="person", extra=Extra(aliases=("ANNA", "Änne"))),
        make_note("n3", title="Anna", type="Person", nugget="work"),
        make_note("n4", title="Anna", type="place"),
        make_note("n5", title="anna", type="person", key="anna"),
        make_note("n6", title="Anna", type="person", archived_at=5),
        make_note("n7", title="Anna", type="person", superseded_by="n1"),
    )

    def named(*names: str, nugget: str = "memory") -> list[str]:
        return _ids(store.view.notes.named(nugget, "person", names))

    assert named("anna") == named("bea", "anna", "änne") == ["n1", "n2"]
    assert named("änne") == ["n2"]
    assert (named("ann"), named(), named("anna", nugget="work")) == ([], [], ["n3"])

    await store.commit(edit("n1", title="Bea"))
    await store.commit(edit("n6", archived_at=None))
    await store.commit(edit("n2", nugget="work"))
    assert (named("bea"), named("anna"), named("anna", nugget="work")) == (["n1"], ["n6"], ["n2", "n3"])

    await store.commit(edit("n2", type="place"))
    await store.commit(write(lambda rows: rows.nuggets.put(make_nugget("work"))))
    await store.commit(write(lambda rows: rows.nuggets.rename("work", "play")))
    assert (named("anna", nugget="work"), named("anna", nugget="play")) == ([], ["n3"])
    note = store.view.notes.get("n6")
    assert note is not None
    await store.commit(write(lambda rows: rows.notes.delete(note._replace(title="not the one that is stored"))))
    assert named("anna") == []


async def test_visible_notes_of_a_type_are_counted(store: Store) -> None:
    await _create(
        store,
        *(make_note(f"n{number}", type="quest", nugget="work" if number > 3 else "memory") for number in range(1, 6)),
        make_note("n6", type="quest", archived_at=5),
        make_note("n7", type="preference"),
        make_note("n8", type="Quest"),
    )

    def count(type_: str, nugget: str | None = None, limit: int = 99) -> int:
        return store.view.notes.count_typed(type_, nugget, limit=limit)

    assert (count("quest"), count("quest", "work"), count("quest", limit=4)) == (5, 2, 4)
    assert (count("preference"), count("preference", "work"), count("nothing")) == (1, 0, 0)


async def test_what_changed_since_comes_in_order_and_by_pages(store: Store) -> None:
    for number, (at, nugget) in enumerate([(5, "memory"), (5, "memory"), (5, "work"), (7, "memory")], 1):
        await store.commit(create(f"n{number}", nugget=nugget, updated_at=at, archived_at=9 if number == 4 else None))
    found = store.view.notes.by_ids([f"n{number}" for number in range(1, 5)])
    first, second, last = found["n1"], found["n2"], found["n4"]

    def behind(nugget: str | None, after: tuple[int, int], limit: int = 10) -> list[tuple[int, int]]:
        return store.view.notes.changed_positions(nugget, after=after, limit=limit)

    assert behind("memory", (0, 0)) == [(5, first.row), (5, second.row), (7, last.row)]
    assert behind("memory", (0, 0), limit=2) == [(5, first.row), (5, second.row)]
    assert behind("memory", (5, first.row)) == [(5, second.row), (7, last.row)]
    assert behind("memory", (5, first.row), limit=1) == [(5, second.row)]
    assert behind("memory", (7, last.row)) == behind("nowhere", (0, 0)) == []
    assert behind(None, (5, second.row)) == [(5, found["n3"].row), (7, last.row)]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", ["updated_at", "row"])
async def test_paging_is_stable_under_writes(store: Store, order: str, *, descending: bool) -> None:
    times = [3, 1, 2, 2, 2, 3, 1]
    await _create(store, *(make_note(f"n{n}", created_at=at, updated_at=at) for n, at in enumerate(times)))
    whole = store.view.notes.page(ALL, order=order, descending=descending, after=None, limit=100)
    keys = [(note.row if order == "row" else getattr(note, order), note.row) for note in whole]
    assert keys == sorted(keys, reverse=descending)

    paged: list[Note] = []
    while page := store.view.notes.page(
        ALL, order=order, descending=descending, after=keys[len(paged) - 1] if paged else None, limit=3
    ):
        paged += page
        # A note before the place already reached moves nothing.
        at = 9 if descending else 0
        if order != "row":
            await store.commit(create(f"new{len(paged)}", created_at=at, updated_at=at))

    assert _ids(paged) == _ids(whole)


async def test_an_unknown_order_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="title"):
        store.view.notes.page(ALL, order="title", descending=False, after=None, limit=1)


async def test_a_scan_goes_from_the_newest_down(store: Store) -> None:
    await _create(store, *(make_note(f"n{number}") for number in range(1, 6)))

    assert _ids(store.view.notes.scan(before_row=None, limit=2)) == ["n5", "n4"]
    assert _ids(store.view.notes.scan(before_row=4, limit=9)) == ["n3", "n2", "n1"]


async def test_superseded_notes_are_known_by_their_successor(store: Store) -> None:
    await _create(store, make_note("n1", superseded_by="n3"), make_note("n2", superseded_by="n3"), make_note("n3"))

    assert store.view.notes.superseded_by("n3") == ["n1", "n2"]
    assert store.view.notes.superseded_by("n1") == []


async def test_links_keep_the_order_in_which_they_were_made(store: Store) -> None:
    links = [make_link("a", "c"), make_link("a", "b"), make_link("b", "a", "cites"), make_link("a", "b", "cites")]
    for link in links:
        await store.commit(write(lambda rows, link=link: rows.links.put(link)))  # type: ignore[misc]
    refreshed = links[0]._replace(reason="still so")
    await store.commit(write(lambda rows: rows.links.put(refreshed)))

    view = store.view
    assert view.links.leaving(["a", "z"]) == {"a": [refreshed, links[1], links[3]], "z": []}
    assert view.links.get("a", "b", "cites") == links[3]
    assert view.links.get("a", "b", "none") is None
    assert view.links.between("a", "b") == [links[1], links[3]]
    assert view.links.count_leaving("a") == 3
    numbered = view.links.page(note_id=None, relation=None, after=0, limit=9)
    assert numbered == [(1, refreshed), (2, links[1]), (3, links[2]), (4, links[3])]
    assert view.links.page(note_id="c", relation=None, after=0, limit=9) == [(1, refreshed)]
    assert view.links.page(note_id="a", relation="cites", after=3, limit=9) == [(4, links[3])]
    assert view.links.page(note_id=None, relation="cites", after=0, limit=1) == [(3, links[2])]


async def test_a_removed_link_leaves_its_row_unused(store: Store) -> None:
    await store.commit(write(lambda rows: rows.links.put(make_link("a", "b"))))
    await store.commit(write(lambda rows: rows.links.delete(make_link("a", "b", reason="whatever"))))
    await store.commit(write(lambda rows: rows.links.delete(make_link("a", "b"))))
    await store.commit(write(lambda rows: rows.links.put(make_link("a", "c"))))

    assert store.view.links.page(note_id=None, relation=None, after=0, limit=9) == [(2, make_link("a", "c"))]


async def test_nuggets(store: Store) -> None:
    for name in ("work", "memory", "ärger"):
        await store.commit(change(lambda tx, name=name: tx.create_nugget(make_nugget(name))))  # type: ignore[misc]
    await store.commit(write(lambda rows: rows.nuggets.put(make_nugget("work", max_facts=9))))

    assert [nugget.name for nugget in store.view.nuggets.page(after="", limit=9)] == ["memory", "work", "ärger"]
    assert store.view.nuggets.page(after="memory", limit=1) == [make_nugget("work", max_facts=9)]
    await store.commit(write(lambda rows: rows.nuggets.delete("work")))
    assert store.view.nuggets.get("work") is None


async def test_counts(store: Store) -> None:
    await _create(
        store,
        make_note("n1", key="a"),
        make_note("n2", key="b", archived_at=5),
        make_note("n3", superseded_by="n1"),
        make_note("n4", key="a", nugget="work"),
    )
    await store.commit(write(lambda rows: rows.links.put(make_link("n1", "n2"))))
    await store.commit(write(lambda rows: rows.nuggets.put(make_nugget("memory"))))

    assert store.view.counts() == Counts(notes=4, facts=2, hidden=1, superseded=1, nuggets=1, links=1)
    assert (store.view.nuggets.count(), store.view.links.count()) == (1, 1)
    assert store.view.nuggets.counts("memory") == NuggetCounts(facts=1, notes=3, hidden=1)
    assert store.view.nuggets.counts("home") == NuggetCounts(0, 0, 0)


async def test_a_nugget_is_renamed_with_its_notes_and_turns_but_not_its_log(store: Store) -> None:
    await _create(store, make_note("n1", key="a"), make_note("n2", nugget="work"))

    def prepare(rows: Writer) -> None:
        rows.nuggets.put(make_nugget("memory"))
        rows.nuggets.put(make_nugget("work"))
        rows.nuggets.claim_turn("memory", "sess-1", 1, 1)

    await store.commit(write(prepare))
    await store.commit(write(lambda rows: rows.nuggets.rename("memory", "home")))

    view = store.view
    assert view.nuggets.get("memory") is None
    assert view.nuggets.get("home") == make_nugget("home")
    assert (fact := view.notes.fact("home", "a")) is not None
    assert (fact.nugget, fact.rev, fact.updated_at) == ("home", 1, NEW_YEAR)
    assert view.nuggets.turn_number("home", "sess-1", 1) == 1
    assert view.nuggets.turn_number("memory", "sess-1", 1) is None
    assert view.log.page(since_seq=0, limit=1)[0].nugget == "memory"
    with pytest.raises(DuplicateNugget):
        await store.commit(write(lambda rows: rows.nuggets.rename("home", "work")))
    await store.commit(write(lambda rows: rows.nuggets.rename("home", "home")))
    assert view.counts().nuggets == 2


async def test_a_rename_that_brings_two_equal_keys_together_is_refused(store: Store) -> None:
    await _create(store, make_note("n1", key="a"), make_note("n2", key="a", nugget="work"))
    with pytest.raises(DuplicateKey):
        await store.commit(write(lambda rows: rows.nuggets.rename("memory", "work")))

    assert store.view.nuggets.counts("memory").notes == 1


async def test_the_log_is_read_by_place_and_by_note(store: Store) -> None:
    await _create(store, make_note("n1"), make_note("n2"))
    await store.commit(edit("n1", content="other", pinned=True, confidence=0.3))
    await store.commit(change(lambda tx: tx.put_link(make_link("n1", "n2"), "memory"), origin=Origin("root", "x")))

    log = store.view.log.page(since_seq=0, limit=10)
    assert [(row.seq, row.kind) for row in log] == [
        (1, "note.created"),
        (2, "note.created"),
        (3, "note.updated"),
        (4, "link.added"),
    ]
    assert log[2].before == {"content": "What n1 says", "confidence": 1.0, "pinned": False}
    assert log[3].origin == Origin("root", "x")
    assert log[3].before == {"link": list(make_link("n1", "n2"))}
    assert store.view.log.page(since_seq=1, limit=2) == log[1:3]
    assert store.view.log.page(since_seq=4, limit=2) == []
    assert store.view.log.of_note(1) == [log[0], log[2]]
    assert store.view.log.of_note(1, since_seq=1) == [log[2]]
    assert store.view.log.of_note(1, limit=1) == [log[0]]
    assert store.view.log.first_seq == 1


async def test_usage_is_replaced_and_outside_the_log(store: Store) -> None:
    await _create(store, make_note("n1"), make_note("n2"))
    await store.commit(write(lambda rows: rows.usage.put({1: Usage(1, 1, 5, "s")})))
    await store.commit(write(lambda rows: rows.usage.put({1: Usage(2, 7, 9, "t")})))

    assert store.view.usage.by_rows([2, 1]) == {1: Usage(2, 7, 9, "t")}
    assert store.view.usage.by_rows([]) == {}
    assert store.view.log.last_seq == 2


async def test_a_hit_session_is_kept_once_for_each_note(store: Store) -> None:
    await _create(store, make_note("n1"), make_note("n2"))
    await store.commit(write(lambda rows: rows.usage.add_hit_sessions([(1, "a"), (1, "b")])))
    await store.commit(write(lambda rows: rows.usage.add_hit_sessions([(1, "a"), (2, "b")])))

    assert [store.view.usage.was_hit([1, 2], session) for session in "abc"] == [{1}, {1, 2}, set()]


async def test_outcomes_are_kept_by_principal_method_and_key(store: Store) -> None:
    def record(rows: Writer) -> None:
        rows.recorded.put("uid:1", "remember", "k", Recorded("p1", {"ids": ("n1",)}, 10))
        rows.recorded.put("uid:1", "forget", "k", Recorded("p2", {}, 20))
        rows.recorded.put("uid:2", "remember", "k", Recorded("p3", {}, 30))

    await store.commit(write(record))
    await store.commit(write(lambda rows: rows.recorded.put("uid:2", "remember", "k", Recorded("p4", {"ä": 1.5}, 40))))

    view = store.view
    assert view.recorded.get("uid:1", "remember", "k") == Recorded("p1", {"ids": ["n1"]}, 10)
    assert view.recorded.get("uid:2", "remember", "k") == Recorded("p4", {"ä": 1.5}, 40)
    assert view.recorded.get("uid:2", "forget", "k") is None
    assert (await store.commit(write(lambda rows: rows.recorded.delete_before(20, now=99, limit=9)))).value == 1
    assert view.recorded.get("uid:1", "remember", "k") is None
    assert view.recorded.get("uid:1", "forget", "k") is not None


async def test_outcomes_are_forgotten_a_few_at_a_time_the_oldest_first(store: Store) -> None:
    def record(rows: Writer) -> None:
        for number in (3, 1, 4, 0, 2):
            rows.recorded.put("uid:1", "remember", f"k{number}", Recorded("p", {}, number))

    def kept() -> list[int]:
        return [number for number in range(5) if store.view.recorded.get("uid:1", "remember", f"k{number}")]

    await store.commit(write(record))
    assert (await store.commit(write(lambda rows: rows.recorded.delete_before(4, now=9, limit=3)))).value == 3
    assert kept() == [3, 4]
    assert (await store.commit(write(lambda rows: rows.recorded.delete_before(4, now=9, limit=3)))).value == 1
    assert kept() == [4]


async def test_an_outcome_of_the_future_counts_as_stored_now(store: Store) -> None:
    def record(rows: Writer) -> None:
        for number in (10, 70, 90, 80):
            rows.recorded.put("uid:1", "remember", f"k{number}", Recorded("p", {}, number))

    def times() -> list[int]:
        found = [store.view.recorded.get("uid:1", "remember", f"k{number}") for number in (10, 70, 80, 90)]
        return [recorded.at for recorded in found if recorded is not None]

    await store.commit(write(record))
    assert (await store.commit(write(lambda rows: rows.recorded.delete_before(10, now=20, limit=2)))).value == 0
    assert times() == [10, 20, 20, 90]
    await store.commit(write(lambda rows: rows.recorded.delete_before(10, now=30, limit=2)))
    assert times() == [10, 20, 20, 30]
    assert (await store.commit(write(lambda rows: rows.recorded.delete_before(31, now=40, limit=9)))).value == 4


async def test_everything_a_failed_change_wrote_is_taken_back(store: Store) -> None:
    def prepare(rows: Writer) -> None:
        rows.nuggets.put(make_nugget("memory"))
        rows.links.put(make_link("n1", "n1"))
        rows.nuggets.claim_turn("memory", "s", 1, 1)
        rows.usage.put({1: Usage(1)})
        rows.usage.add_hit_sessions([(1, "s")])
        rows.recorded.put("p", "m", "k", Recorded("a", {}, 1))

    def spoil(tx: Transaction) -> None:
        rows = tx.rows
        old = rows.notes.get("n1")
        assert old is not None
        tx.hide(tx.change_note(old, old._replace(key="other", content="spoilt")))
        tx.delete_link(make_link("n1", "n1"), "memory")
        tx.put_link(make_link("n1", "n2"), "memory")
        rows.nuggets.rename("memory", "spoilt")
        rows.nuggets.claim_turn("spoilt", "s", 1, 9)
        rows.usage.put({1: Usage(9)})
        rows.usage.add_hit_sessions([(1, "t")])
        rows.recorded.delete_before(99, now=99, limit=9)
        rows.recorded.put("p", "m", "k", Recorded("b", {}, 1))
        rows.meta.put("owner", "thief")
        raise ValueError("a mistake")

    await _create(store, make_note("n1", key="k", tags=("a",)))
    await store.commit(write(prepare))
    before = store.view.notes.get("n1")
    with pytest.raises(ValueError, match="a mistake"):
        await store.commit(change(spoil))

    view = store.view
    assert view.notes.get("n1") == view.notes.fact("memory", "k") == before
    assert view.notes.fact("memory", "other") is None
    assert view.links.page(note_id=None, relation=None, after=0, limit=9) == [(1, make_link("n1", "n1"))]
    assert view.nuggets.page(after="", limit=9) == [make_nugget("memory")]
    assert view.nuggets.turn_number("memory", "s", 1) == 1
    assert view.usage.by_rows([1]) == {1: Usage(1)}
    assert not view.usage.was_hit([1], "t")
    assert view.recorded.get("p", "m", "k") == Recorded("a", {}, 1)
    assert view.meta.get("owner") == "uid:1000"
    assert view.log.last_seq == 1
    with pytest.raises(ValueError, match="again"):
        await store.commit(fail(ValueError("again")))
    assert (await store.commit(change(lambda tx: tx.put_link(make_link("n1", "n2"), "memory")))).value == "added"
    assert view.links.page(note_id=None, relation=None, after=1, limit=9) == [(2, make_link("n1", "n2"))]


async def test_notes_are_found_by_their_rows(store: Store) -> None:
    for note_id in ("n1", "n2", "n3"):
        await store.commit(create(note_id))
    rows = {note_id: note.row for note_id, note in store.view.notes.by_ids(["n1", "n2", "n3"]).items()}

    found = store.view.notes.by_rows([rows["n3"], 99, rows["n1"]])
    assert {row: note.id for row, note in found.items()} == {rows["n1"]: "n1", rows["n3"]: "n3"}
    assert store.view.notes.by_rows([]) == {}
