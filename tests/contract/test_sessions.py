"""Conversations: sessions, types of notes, variants, retractions, what prompts held."""

import pytest

from contract.samples import NEW_YEAR, ORIGIN, change, create, edit, make_link, make_note, make_nugget, write
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Extra, Note
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.sessions import WHOLE_SHELF, Injection, Retraction, Session, Variant
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.view import Writer


def session(session_id: str, **fields: object) -> Session:
    blank = Session(session_id, "memory", "ada", None, NEW_YEAR, NEW_YEAR)
    return blank._replace(**fields)  # type: ignore[arg-type]


async def put(store: Store, *sessions: Session) -> None:
    for one in sessions:
        await store.commit(write(lambda rows, one=one: rows.sessions.put(one)))  # type: ignore[misc]


def ids(sessions: list[Session]) -> list[str]:
    return [one.session_id for one in sessions]


# ------------------------------------------------------------------ sessions


async def test_a_session_is_replaced_under_its_id(store: Store) -> None:
    first, again = session("s1"), session("s1", actor=None, at_seq=7, last_used_at=NEW_YEAR + 5, closed_at=NEW_YEAR)
    await put(store, first, session("s2"))
    assert store.view.sessions.get("s1") == first
    await put(store, again)

    assert (store.view.sessions.get("s1"), store.view.sessions.get("S1")) == (again, None)
    assert store.view.sessions.count() == 2


async def test_sessions_are_listed_by_id_page_by_page(store: Store) -> None:
    await put(store, *(session(name) for name in ("b", "ä", "a", "c")))
    assert ids(store.view.sessions.page(after="", limit=2)) == ["a", "b"]
    assert ids(store.view.sessions.page(after="b", limit=9)) == ["c", "ä"]
    assert store.view.sessions.page(after="", limit=0) == []


async def test_sessions_are_listed_by_nugget_and_by_use(store: Store) -> None:
    await put(
        store,
        session("a", nugget="work"),
        session("b", last_used_at=NEW_YEAR + 9),
        session("c", closed_at=NEW_YEAR, last_used_at=NEW_YEAR + 9),
    )
    assert ids(store.view.sessions.page(after="", limit=9, nugget="work")) == ["a"]
    assert ids(store.view.sessions.page(after="", limit=9, used_since=NEW_YEAR)) == ["a", "b"]
    assert ids(store.view.sessions.page(after="", limit=9, nugget="memory", used_since=NEW_YEAR + 9)) == ["b"]


async def test_a_session_is_there_when_the_shelf_is_opened_again(stores: Stores, store: Store) -> None:
    await put(store, session("a", at_seq=3))
    await store.close()
    store = await stores.open("default")
    assert store.view.sessions.get("a") == session("a", at_seq=3)
    await store.close()


async def test_a_nuggets_sessions_and_types_go_with_its_name(store: Store) -> None:
    def fill(rows: Writer) -> None:
        rows.nuggets.put(make_nugget("work", local_only=True))
        rows.note_types.put("work", "bug", {"columns": ["title"]})

    await put(store, session("a", nugget="work"), session("b"))
    await store.commit(write(fill))
    await store.commit(write(lambda rows: rows.nuggets.rename("work", "job")))

    assert store.view.nuggets.get("job") == make_nugget("job", local_only=True)
    assert ids(store.view.sessions.page(after="", limit=9, nugget="job")) == ["a"]
    assert store.view.note_types.of("job") == {"bug": {"columns": ["title"]}}
    assert store.view.note_types.of("work") == {}


async def test_the_last_turn_of_a_conversation_is_known(store: Store) -> None:
    def claim(rows: Writer) -> None:
        for number, (nugget, session_id, turn) in enumerate(
            [("a", "s", 3), ("a", "s", 2), ("b", "s", 9), ("a", "t", 5)]
        ):
            rows.nuggets.claim_turn(nugget, session_id, turn, number)

    await store.commit(write(claim))
    nuggets = store.view.nuggets
    assert (nuggets.last_turn("a", "s"), nuggets.last_turn("a", "u")) == (3, None)
    assert nuggets.last_turns("a", "s", limit=9) == [(3, 0), (2, 1)]
    assert (nuggets.last_turns("a", "s", limit=1), nuggets.last_turns("a", "u", limit=9)) == ([(3, 0)], [])
    beside = [nuggets.has_turns_beside(*seen) for seen in (("a", "s"), ("a", "u"), ("b", "s"), ("b", "a"), ("c", "s"))]
    assert beside == [True, True, False, True, False]


# --------------------------------------------------------------------- types


async def test_types_are_kept_by_nugget_and_replaced(store: Store) -> None:
    def fill(rows: Writer) -> None:
        rows.note_types.put(WHOLE_SHELF, "bug", {"columns": ["title", "ä"]})
        rows.note_types.put("work", "task", {"editable": False})
        rows.note_types.put("work", "bug", {})
        rows.note_types.put("work", "task", {"editable": True, "compression": {"fan_in": 3}})

    await store.commit(write(fill))
    assert store.view.note_types.of(WHOLE_SHELF) == {"bug": {"columns": ["title", "ä"]}}
    assert list(store.view.note_types.of("work").items()) == [
        ("bug", {}),
        ("task", {"editable": True, "compression": {"fan_in": 3}}),
    ]
    assert (await store.commit(write(lambda rows: rows.note_types.delete("work", "bug")))).value
    assert not (await store.commit(write(lambda rows: rows.note_types.delete("work", "bug")))).value
    assert list(store.view.note_types.of("work")) == ["task"]


# ------------------------------------------------------- variants, retractions


async def test_one_variant_of_a_turn_is_live(store: Store) -> None:
    variants = [Variant("s", 2, 0, is_live=False, run_id="run-1"), Variant("s", 2, 1, is_live=True)]

    def fill(rows: Writer) -> None:
        for one in (*variants, Variant("s", 4, 0, is_live=True), Variant("t", 2, 3, is_live=True)):
            rows.rewinds.put_variant(one)

    rewinds = store.view.rewinds
    assert rewinds.live_variant("s", 2) is None
    await store.commit(write(fill))
    assert [rewinds.live_variant("s", turn) for turn in (1, 2, 4)] == [None, 1, 0]
    assert rewinds.variants("s", from_turn=1, until_turn=3) == variants
    assert [one.turn for one in rewinds.variants("s", from_turn=2)] == [2, 2, 4]
    await store.commit(write(lambda rows: rows.rewinds.put_variant(variants[1]._replace(is_live=False))))
    assert rewinds.live_variant("s", 2) is None
    assert [one.is_live for one in rewinds.variants("s", from_turn=1)] == [False, False, True]


async def test_a_change_is_stamped_with_the_live_variant_of_its_turn(store: Store) -> None:
    await store.commit(create("n1"))
    await store.commit(write(lambda rows: rows.rewinds.put_variant(Variant("sess-1", 3, 2, is_live=True))))
    await store.commit(create("n2"))
    await store.commit(change(lambda tx: tx.variant, origin=Origin("p", "m")))

    assert [row.origin.variant for row in store.view.log.page(since_seq=0, limit=9)] == [None, 2]
    assert (await store.commit(change(lambda tx: tx.variant))).value == 2
    assert (await store.commit(change(lambda tx: tx.variant, origin=ORIGIN._replace(turn=4)))).value is None


async def test_changes_of_one_transaction_may_be_of_several_turns(store: Store) -> None:
    await store.commit(write(lambda rows: rows.rewinds.put_variant(Variant("s", 2, 1, is_live=True))))

    def work(tx: Transaction) -> None:
        for number, turn in enumerate([(None, None), ("s", 2), ("s", 3), ("t", None), (None, 4)]):
            tx.write_in(*turn)
            tx.create_note(make_note(f"n{number}"))

    await store.commit(change(work))
    rows = store.view.log.page(since_seq=0, limit=9)
    own = (ORIGIN.session_id, ORIGIN.turn, None)
    stamps = [(row.origin.session_id, row.origin.turn, row.origin.variant) for row in rows]
    assert stamps == [own, ("s", 2, 1), ("s", 3, None), ("t", None, None), own]
    assert {row.origin[:3] for row in rows} == {ORIGIN[:3]}
    assert [row.ids for row in store.view.log.of_turns("s", from_turn=2)] == [("n1",), ("n2",)]


async def test_retractions_are_found_by_run_by_variant_and_by_when_they_were_done(store: Store) -> None:
    first = Retraction("s", 3, None, None, 11, 17, 19, "run-1")
    second = Retraction("s", 2, 2, 0, 12, 20, 25, "run-2")
    third = Retraction("s", 2, 2, 0, 12, 20, 30, "run-3", revives=2)

    def fill(rows: Writer) -> list[int]:
        return [rows.rewinds.add_retraction(one) for one in (first, second, third, second._replace(session_id="t"))]

    rewinds = store.view.rewinds
    assert (await store.commit(write(fill))).value == [1, 2, 3, 4]
    assert (rewinds.get(1), rewinds.get(5)) == (first, None)
    assert [one.stands for one in (first, second, third)] == [True, True, False]
    assert [number for number, _ in rewinds.by_run("run-2")] == [2, 4]
    assert [number for number, _ in rewinds.since(20)] == [2, 3, 4]
    assert rewinds.of_variant("s", 2, 0) == [(2, second)]
    assert rewinds.of_variant("s", 3, 0) == []

    undone = second._replace(undone_by="run-3", done_seq=40)
    await store.commit(write(lambda rows: rows.rewinds.put_retraction(2, undone)))
    assert rewinds.get(2) == undone
    assert rewinds.of_variant("s", 2, 0) == []
    assert [number for number, _ in rewinds.since(31)] == [2]
    assert (await store.commit(write(lambda rows: rows.rewinds.add_retraction(first)))).value == 5


async def test_changes_come_by_turn(store: Store) -> None:
    turns = [("s", 2), ("s", 3), ("s", 2), ("t", 2), ("s", None), ("s", 5), ("s", 1)]
    for number, (session_id, turn) in enumerate(turns):
        origin = Origin("p", "m", session_id=session_id, turn=turn)
        await store.commit(create(f"n{number}")._replace(origin=origin))

    log = store.view.log
    assert [row.seq for row in log.of_turns("s", from_turn=2)] == [1, 3, 2, 6]
    assert [row.seq for row in log.of_turns("s", from_turn=1, until_turn=3)] == [7, 1, 3, 2]
    assert [row.seq for row in log.of_turns("s", from_turn=1, after=(2, 1), limit=2)] == [3, 2]
    assert log.of_turns("u", from_turn=1) == []
    assert [log.first_of_turns("s", from_turn=turn) for turn in (1, 2, 3, 6)] == [1, 1, 2, None]
    assert log.first_of_turns("s", from_turn=1, until_turn=2, above=3) == 7
    assert [log.last_of_turns("s", until_turn=turn) for turn in (0, 1, 2, 5)] == [None, 7, 7, 7]
    assert log.last_of_turns("t", until_turn=2) == 4


async def test_copies_of_a_note_are_known(store: Store) -> None:
    for copy in ("c2", "c1", "c1"):
        await store.commit(write(lambda rows, copy=copy: rows.rewinds.add_copy("n1", copy)))  # type: ignore[misc]
    assert store.view.rewinds.copies("n1") == ["c1", "c2"]
    assert store.view.rewinds.copies("c1") == []


async def test_changes_come_by_variant(store: Store) -> None:
    for number, variant in enumerate((None, 1, 0)):
        if variant is not None:
            for one in (0, 1):
                live = Variant("sess-1", 3, one, is_live=one == variant)
                await store.commit(write(lambda rows, live=live: rows.rewinds.put_variant(live)))  # type: ignore[misc]
        await store.commit(create(f"n{number}"))

    log = store.view.log
    assert [row.seq for row in log.of_turns("sess-1", from_turn=3, variant=0)] == [1, 3]
    assert [row.seq for row in log.of_turns("sess-1", from_turn=3, variant=1)] == [2]
    assert [log.first_of_turns("sess-1", from_turn=1, variant=one) for one in (0, 1, 2)] == [1, 2, None]


# ------------------------------------------------------------------- injections


def injection(session_id: str, turn: int, *recalled: str, **fields: object) -> Injection:
    return Injection(session_id, turn, NEW_YEAR, 5, ("p",), recalled, ("f", 'f"2'))._replace(**fields)  # type: ignore[arg-type]


async def add(store: Store, *injections: Injection) -> list[int]:
    return (await store.commit(write(lambda rows: [rows.injections.add(one) for one in injections]))).value


async def test_the_last_record_of_a_turn_or_before_is_found(store: Store) -> None:
    full = injection("s", 2, "n1", blocks={"core": "ä\ntext"}, tokens=12, trace={"steps": [{"ids": ["n1"]}]})
    again = injection("s", 1, "n3")
    assert await add(store, injection("s", 1), full, injection("s", 4, "n2"), again, injection("t", 9)) == [
        1,
        2,
        3,
        4,
        5,
    ]

    view = store.view.injections
    assert (view.last("s"), view.last("s", turn=9)) == (again, injection("s", 4, "n2"))
    assert (view.last("s", turn=3), view.last("s", turn=2)) == (full, full)
    assert (view.last("s", turn=1), view.last("s", turn=0), view.last("u")) == (again, None, None)
    assert (view.count("s"), view.count("u")) == (4, 0)
    early = injection("s", 3, "n4", seq=2)
    await add(store, early)
    assert [view.last("s", at_seq=seq) for seq in (2, 3, 5)] == [None, early, early]
    assert (view.last("s", turn=2, at_seq=6), view.last("s", turn=2, at_seq=5)) == (full, None)


async def test_records_are_paged_and_replaced(store: Store) -> None:
    full = injection("s", 1, "n1", "n2", blocks={"core": "n1 says"}, trace={"a": 1}, tokens=3)
    await add(store, full, injection("t", 1))
    assert store.view.injections.page(after=0, limit=1) == [(1, full)]
    assert [number for number, _ in store.view.injections.page(after=1, limit=9)] == [2]
    less = full.without({"n1", "f"})
    await store.commit(write(lambda rows: rows.injections.replace(1, less)))
    await store.commit(write(lambda rows: rows.injections.replace(7, less)))

    assert store.view.injections.page(after=0, limit=1) == [(1, less)]
    assert (less.pinned, less.recalled, less.frontier) == (("p",), ("n2",), ('f"2',))
    assert (less.blocks, less.trace, less.tokens) == (None, None, 3)
    unreported = full._replace(pinned=None, frontier=None)
    await store.commit(write(lambda rows: rows.injections.replace(2, unreported)))
    assert store.view.injections.page(after=1, limit=1) == [(2, unreported)]
    assert unreported.without({"n1"})[4:7] == (None, ("n2",), None)
    assert unreported.ids == {"n1", "n2"}
    assert full.ids == {"p", "n1", "n2", "f", 'f"2'}


async def test_records_that_name_a_note_are_found(store: Store) -> None:
    unreported = injection("s", 1)._replace(pinned=None, frontier=None)
    await add(store, injection("s", 1, "n1", "n2"), injection("t", 1, "n2"), unreported, injection("s", 1, "n1"))
    naming = store.view.injections.naming
    assert naming({"n1"}, after=0, limit=9) == ([1, 4], None)
    assert naming({"n1", "x"}, after=0, limit=2) == ([1], 2)
    assert naming({"n1"}, after=2, limit=2) == ([4], 4)
    assert naming({'f"2'}, after=0, limit=9) == ([1, 2, 4], None)
    assert naming({"n1"}, after=4, limit=2) == naming(set(), after=0, limit=9) == ([], None)


async def test_the_oldest_records_go(store: Store) -> None:
    await add(store, *(injection("s", 9 - turn) for turn in range(5)), *(injection("t", turn) for turn in range(3)))
    await store.commit(write(lambda rows: rows.injections.delete_beyond("s", kept=2, kept_in_all=99)))
    assert [number for number, _ in store.view.injections.page(after=0, limit=99)] == [4, 5, 6, 7, 8]
    await store.commit(write(lambda rows: rows.injections.delete_beyond("t", kept=9, kept_in_all=2)))
    assert [number for number, _ in store.view.injections.page(after=0, limit=99)] == [7, 8]
    assert await add(store, injection("s", 1), injection("s", 2), injection("s", 3)) == [9, 10, 11]
    assert (await store.commit(write(lambda rows: rows.injections.delete_of("s", limit=2)))).value == 2
    assert [number for number, _ in store.view.injections.page(after=0, limit=99)] == [7, 8, 11]


async def test_a_failed_change_leaves_nothing(store: Store) -> None:
    await add(store, injection("s", 1))

    def fail(rows: Writer) -> None:
        rows.sessions.put(session("a"))
        rows.note_types.put("work", "bug", {})
        rows.rewinds.put_variant(Variant("s", 1, 0, is_live=True))
        rows.rewinds.add_retraction(Retraction("s", 1, None, None, 1, 1, 1, "run-1"))
        rows.injections.delete_of("s", limit=9)
        rows.injections.add(injection("s", 2))
        raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        await store.commit(write(fail))
    view = store.view
    assert (view.sessions.count(), view.note_types.of("work"), view.rewinds.variants("s", from_turn=1)) == (0, {}, [])
    assert (view.rewinds.since(0), view.injections.page(after=0, limit=9)) == ([], [(1, injection("s", 1))])
    assert await add(store, injection("s", 3)) == [2]


# ------------------------------------------------------------ notes and links


async def test_rare_fields_of_sessions_survive(store: Store) -> None:
    extra = Extra(
        level="episodic", is_rollup=True, rollup_depth=2, source_span=(3, 9), variant=1, copied_from="note-a-12345678"
    )
    await store.commit(create("n1", extra=extra))
    await store.commit(edit("n1", extra=extra._replace(source_span=None)))
    assert [row.before for row in store.view.log.of_note(1)] == [None, {"extra": extra}]
    note = store.view.notes.get("n1")
    assert note is not None
    assert note.extra == extra._replace(source_span=None)


async def test_a_link_keeps_the_turn_it_was_first_made_in(store: Store) -> None:
    link = make_link("n1", "n2", seq_to=4)

    def link_twice(tx: Transaction) -> list[str]:
        return [tx.put_link(link, "memory"), tx.put_link(link._replace(seq_to=9, reason="again"), "memory")]

    await store.commit(create("n1"))
    await store.commit(create("n2"))
    assert (await store.commit(change(link_twice))).value == ["added", "updated"]
    assert store.view.links.get(*link[:3]) == link._replace(reason="again")
    assert store.view.links.between("n1", "n2")[0].seq_to == 4


async def test_children_are_found_by_their_parents(store: Store) -> None:
    parents = {"a": None, "b": "a", "c": "d", "d": "a", "e": "b", "f": "a"}

    def fill(tx: Transaction) -> list[Note]:
        return [
            tx.create_note(make_note(name, parent_id=parent, archived_at=5 if name == "f" else None))
            for name, parent in parents.items()
        ]

    await store.commit(change(fill))
    children = store.view.notes.children
    assert [note.id for note in children(["a"])] == ["b", "d", "f"]
    assert [note.id for note in children(["a", "b", "x"], after=2, limit=2)] == ["d", "e"]
    assert children([]) == children(["c"]) == []
