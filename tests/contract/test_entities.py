"""What every store keeps of entities: mentions, counts and aliases, and what goes with a note."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.samples import NEW_YEAR, change, create, make_note, write
from fakes import FakeClock
from shelfd.memory.ports.entities import EntitiesWriter, EntityCount, MentionedEntity, NoteEntities, StoredAlias
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.view import Writer
from shelfd.storage.inmemory import InMemoryStores


def tool(key: str, weight: int = 1) -> MentionedEntity:
    return MentionedEntity("tool", key, key, weight)


def alias(name: str, canonical: str, note: int = 0) -> StoredAlias:
    return StoredAlias("actor", name, name, canonical, canonical, "actor", note, NEW_YEAR)


async def put(store: Store, row: int, *mentioned: MentionedEntity, learned: tuple[StoredAlias, ...] = ()) -> None:
    await store.commit(write(lambda rows: rows.entities.put([NoteEntities(row, mentioned, learned)])))


async def test_what_a_note_mentions_is_replaced(store: Store) -> None:
    await put(store, 1, tool("nmap", 3), MentionedEntity("person", "anna", "anna", 1))
    assert store.view.entities.of_note(1) == [MentionedEntity("person", "anna", "anna", 1), tool("nmap", 3)]
    await put(store, 1, tool("nmap"), tool("sliver", 2))
    assert store.view.entities.of_note(1) == [tool("nmap"), tool("sliver", 2)]
    assert store.view.entities.get("person", "anna") is None
    assert store.view.entities.counts() == [EntityCount("tool", 2, 2)]


async def test_notes_of_an_entity_come_newest_first_in_pages(store: Store) -> None:
    for row in range(1, 8):
        await put(store, row, tool("nmap", 1 + row % 2))
    entity = store.view.entities.get("tool", "nmap")
    assert entity is not None
    assert (entity.type, entity.key, entity.value) == ("tool", "nmap", "nmap")
    notes = store.view.entities.notes
    assert notes(entity.number, weight=2, before=None, limit=9) == [7, 5, 3, 1]
    assert notes(entity.number, weight=2, before=5, limit=1) == [3]
    assert notes(entity.number, weight=1, before=None, limit=9) == [6, 4, 2]
    assert notes(entity.number, weight=3, before=None, limit=9) == []
    assert notes(entity.number + 1, weight=1, before=None, limit=9) == []
    assert notes(entity.number, weight=1, before=None, limit=0) == []


async def test_an_entity_keeps_its_first_spelling_and_its_number(store: Store) -> None:
    await put(store, 1, MentionedEntity("tool", "cobaltstrike", "cobalt-strike", 1))
    first = store.view.entities.get("tool", "cobaltstrike")
    await put(store, 2, MentionedEntity("tool", "cobaltstrike", "cobaltstrike", 1))
    await put(store, 1, MentionedEntity("tool", "cobaltstrike", "cobaltstrike", 1))
    assert store.view.entities.get("tool", "cobaltstrike") == first


async def test_entities_are_found_by_their_names_together(store: Store) -> None:
    await put(store, 1, MentionedEntity("tool", "nmap", "nmap", 1), MentionedEntity("actor", "nmap", "n-map", 1))
    called = store.view.entities.called
    odd = ("tool", 'a "b" \\ 日本')
    await put(store, 2, MentionedEntity(*odd, "odd", 1))
    names = [("actor", "nmap"), ("tool", "gone"), odd, ("actor", odd[1])]
    found = called(names)
    assert sorted((one.type, one.key, one.value) for one in found) == [("actor", "nmap", "n-map"), (*odd, "odd")]
    assert sorted(found) == sorted(one for name in names if (one := store.view.entities.get(*name)) is not None)
    assert called([]) == []


async def test_what_is_read_at_once_is_of_one_state(store: Store) -> None:
    await put(store, 1, MentionedEntity("tool", "nmap", "nmap", 1))
    with store.view.one_state():
        assert len(store.view.entities.called([("tool", "nmap"), ("tool", "sliver")])) == 1
    await put(store, 2, MentionedEntity("tool", "sliver", "sliver", 1))
    with pytest.raises(ZeroDivisionError), store.view.one_state():
        assert 1 / 0
    with store.view.one_state():  # the one before has ended all the same
        assert len(store.view.entities.called([("tool", "nmap"), ("tool", "sliver")])) == 2


async def test_the_number_of_an_entity_that_is_gone_is_given_to_no_other(store: Store) -> None:
    numbers = list[int]()
    for key in ("nmap", "sliver", "havoc"):
        await put(store, 1, tool(key), tool("rubeus"))
        found = [entity for name in (key, "rubeus") if (entity := store.view.entities.get("tool", name)) is not None]
        assert sorted(store.view.entities.numbered([one.number for one in found] + numbers)) == sorted(found)
        numbers.append(found[0].number)
        await put(store, 1)
        assert store.view.entities.numbered(numbers) == []
    assert len(set(numbers)) == 3

    for row, key in enumerate(("dridex", "emotet"), 1):  # the last one goes first
        await put(store, row, tool(key))
        numbers.append(entity.number if (entity := store.view.entities.get("tool", key)) is not None else 0)
    await put(store, 2)
    await put(store, 1)
    await put(store, 1, tool("qakbot"), tool("rubeus"))
    added = [store.view.entities.get("tool", key) for key in ("qakbot", "rubeus")]
    assert not {one.number for one in added if one is not None} & set(numbers)


async def test_what_a_model_found_stays_as_long_as_the_text_does(store: Store) -> None:
    anna, ben = (MentionedEntity("person", name, name, 1) for name in ("anna", "ben"))

    async def read(text: int, *found: MentionedEntity) -> None:
        await store.commit(write(lambda rows: rows.entities.put_read(1, found, text=text)))

    async def again(text: int, *found: MentionedEntity) -> list[MentionedEntity]:
        await store.commit(write(lambda rows: rows.entities.put([NoteEntities(1, found, (), text)])))
        return store.view.entities.of_note(1)

    assert await again(7, tool("nmap", 3)) == [tool("nmap", 3)]
    await read(7, anna, tool("nmap"))
    assert store.view.entities.of_note(1) == [anna, tool("nmap", 3)]
    assert await again(7, tool("nmap", 2)) == [anna, tool("nmap", 2)]
    assert await again(7) == [anna, tool("nmap")]
    assert store.view.entities.counts() == [EntityCount("person", 1, 1), EntityCount("tool", 1, 1)]
    await read(7, ben)
    assert await again(7) == [ben]
    assert await again(8) == []
    assert await again(7) == []
    assert store.view.entities.counts() == []


async def test_what_is_derived_of_a_note_goes_with_it(store: Store) -> None:
    await store.commit(create("n1"))
    await store.commit(create("n2"))
    await put(store, 1, tool("nmap"), tool("sliver"), learned=(alias("a", "b"),))
    await put(store, 2, tool("nmap"))
    await store.commit(write(lambda rows: rows.entities.put_read(1, [tool("mimikatz")], text=3)))

    await store.commit(change(lambda tx: tx.rows.notes.delete(make_note("n1", row=1))))

    assert store.view.entities.of_note(1) == []
    assert store.view.entities.get("tool", "sliver") is None
    assert store.view.entities.counts() == [EntityCount("tool", 1, 1)]
    assert store.view.entities.aliases(limit=9) == []


async def test_aliases_of_callers_come_first(store: Store) -> None:
    await put(store, 5, learned=(alias("b", "x"),))
    await put(store, 4, learned=(alias("b", "y"),))

    def add(rows: Writer) -> None:
        rows.entities.put_alias(alias("c", "z"))
        rows.entities.put_alias(alias("b", "z"))
        rows.entities.put_alias(alias("b", "w"))

    await store.commit(write(add))
    found = store.view.entities.aliases(limit=9)
    assert [(one.alias, one.canonical, one.note) for one in found] == [
        ("b", "w", 0),
        ("c", "z", 0),
        ("b", "y", 4),
        ("b", "x", 5),
    ]
    assert store.view.entities.aliases(limit=1) == found[:1]
    gone = await store.commit(write(lambda rows: rows.entities.delete_aliases("actor", "b")))
    assert (gone.value, len(store.view.entities.aliases(limit=9))) == (3, 1)
    again = await store.commit(write(lambda rows: rows.entities.delete_aliases("actor", "b")))
    assert again.value == 0


async def test_aliases_are_found_by_name(store: Store) -> None:
    await put(store, 5, learned=(alias("b", "x"), alias("c", "y")))
    await store.commit(write(lambda rows: rows.entities.put_alias(alias("b", "z"))))
    named = store.view.entities.named
    assert [(one.alias, one.canonical) for one in named(["a", "b"])] == [("b", "z"), ("b", "x")]
    assert (named(["a"]), named([])) == ([], [])


async def test_the_aliases_that_a_note_says_are_found_by_it(store: Store) -> None:
    await put(store, 1, learned=(alias("b", "a"), alias("a", "c")))
    await put(store, 2, learned=(alias("d", "a"),))
    await store.commit(write(lambda rows: rows.entities.put_alias(alias("x", "y"))))
    assert [one.alias for one in store.view.entities.said_by(1)] == ["a", "b"]
    assert store.view.entities.said_by(0) == store.view.entities.said_by(3) == []


async def test_whoever_writes_finds_the_aliases_of_its_own_change_and_none_that_was_taken_back(store: Store) -> None:
    def found(rows: Writer) -> list[str]:
        return [one.canonical for one in rows.entities.named(["b", "c"])]

    def add(rows: Writer, canonical: str) -> list[str]:
        rows.entities.put_alias(alias("b", canonical))
        return found(rows)

    def fail(rows: Writer) -> None:
        assert add(rows, "y") == ["y"]
        raise ValueError("taken back")

    assert (await store.commit(write(found))).value == []
    with pytest.raises(ValueError, match="taken back"):
        await store.commit(write(fail))
    assert (await store.commit(write(found))).value == []
    assert (await store.commit(write(lambda rows: add(rows, "x")))).value == ["x"]
    await store.commit(write(lambda rows: rows.entities.delete_aliases("actor", "b")))
    assert (await store.commit(write(found))).value == []
    await put(store, 5, learned=(alias("c", "z"),))
    assert (await store.commit(write(found))).value == ["z"]


async def test_whoever_writes_finds_each_of_very_many_aliases(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.storage.sqlite.entities._NAMES_KEPT", 3)
    names: list[str] = []

    def add(rows: Writer) -> None:
        rows.entities.put_alias(alias(names[-1], "z"))

    def known(rows: Writer) -> list[str]:
        return [one.alias for one in rows.entities.named([*names, "q"])]

    for name in "abcde":
        names.append(name)
        await store.commit(write(add))
        assert (await store.commit(write(known))).value == names


async def test_a_note_s_aliases_are_replaced_with_its_mentions(store: Store) -> None:
    await put(store, 5, learned=(alias("b", "x"), alias("c", "x")))
    await put(store, 5, tool("nmap"), learned=(alias("d", "x"),))
    assert [one.alias for one in store.view.entities.aliases(limit=9)] == ["d"]
    await put(store, 5)
    assert store.view.entities.aliases(limit=9) == []
    assert store.view.entities.counts() == []


async def test_the_position_is_kept_outside_the_log(store: Store) -> None:
    assert store.view.entities.position() is None
    await store.commit(write(lambda rows: rows.entities.put_position({"seq": 7, "phrases": ["a"]})))
    await store.commit(write(lambda rows: rows.entities.put_position({"seq": 8, "phrases": []})))
    assert store.view.entities.position() == {"seq": 8, "phrases": []}
    assert store.view.log.last_seq == 0


async def test_a_change_that_fails_leaves_nothing(store: Store) -> None:
    await put(store, 1, tool("nmap"))

    def fail(rows: Writer) -> None:
        rows.entities.put([NoteEntities(1, [tool("sliver")], [alias("a", "b")])])
        rows.entities.put([NoteEntities(2, [tool("nmap")])])
        raise ValueError

    outcome = None
    try:
        await store.commit(write(fail))
    except ValueError as error:
        outcome = error
    assert outcome is not None
    assert store.view.entities.of_note(1) == [tool("nmap")]
    assert store.view.entities.counts() == [EntityCount("tool", 1, 1)]
    assert store.view.entities.aliases(limit=9) == []


_MENTIONED = st.lists(
    st.builds(tool, st.sampled_from("abcde"), st.integers(1, 3)), max_size=4, unique_by=lambda one: one.key
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), _MENTIONED), max_size=12))
async def test_counts_are_those_of_the_mentions(changes: list[tuple[int, list[MentionedEntity]]]) -> None:
    store = await InMemoryStores(FakeClock()).create("default", owner="uid:1000")
    latest: dict[int, list[MentionedEntity]] = {}
    for row, mentioned in changes:
        await put(store, row, *mentioned)
        latest[row] = mentioned
    entities: EntitiesWriter = store.view.entities  # type: ignore[assignment]
    keys = {one.key for mentioned in latest.values() for one in mentioned}
    mentions = sum(map(len, latest.values()))
    assert entities.counts() == ([EntityCount("tool", len(keys), mentions)] if keys else [])
    await store.close()


async def test_entities_are_found_by_their_beginning(store: Store) -> None:
    await put(store, 1, *(tool(key) for key in ("nmap", "nm", "na", "n\U0010fffe", "nmäx", "%", "o")))
    await put(store, 2, MentionedEntity("person", "nmap", "nmap", 1))

    def beginning(key: str, limit: int = 9) -> list[str]:
        return [one.key for one in store.view.entities.beginning("tool", key, limit=limit)]

    assert beginning("nm") == ["nm", "nmap", "nmäx"]
    assert beginning("nm", 2) == ["nm", "nmap"]
    assert beginning("n") == ["na", "nm", "nmap", "nmäx", "n\U0010fffe"]
    assert beginning("%") == ["%"]
    assert len(beginning("")) == 7
    assert beginning("x") == beginning("nm", 0) == []
