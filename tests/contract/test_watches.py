"""What every store keeps of standing queries."""

from contract.samples import NEW_YEAR, write
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.watches import Watch


def watch(name: str, principal: str = "uid:1", nugget: str | None = None) -> Watch:
    return Watch(name, principal, f"what of {name}?", nugget, {"tags": ["a", "ü"]}, 0.25, NEW_YEAR, 7)


async def add(store: Store, *watches: Watch) -> None:
    for one in watches:
        await store.commit(write(lambda rows, watch=one: rows.watches.add(watch)))  # type: ignore[misc]


async def test_what_is_added_is_found(store: Store) -> None:
    plain = watch("plain")._replace(filters={}, min_score=None)
    await add(store, watch("a"), watch("b", nugget="work"), plain)
    watches = store.view.watches
    assert [watches.get(name) for name in ("a", "b", "plain", "c")] == [
        watch("a"),
        watch("b", nugget="work"),
        plain,
        None,
    ]


async def test_pages_are_in_order_and_of_one_principal_if_asked(store: Store) -> None:
    await add(store, *(watch(str(at), f"uid:{at % 2}") for at in range(7)))
    watches = store.view.watches
    first, after = watches.page(limit=3)
    assert [one.id for one in first] == ["0", "1", "2"]
    assert after is not None
    rest, end = watches.page(after=after, limit=4)
    assert ([one.id for one in rest], end) == (["3", "4", "5", "6"], None)
    theirs, end = watches.page(principal="uid:1", limit=3)
    assert ([one.id for one in theirs], end) == (["1", "3", "5"], None)
    assert watches.page(principal="uid:9", limit=3) == ([], None)
    assert (watches.count(), watches.count("uid:0"), watches.count("uid:9")) == (7, 4, 0)


async def test_deleting_says_how_many_there_were(store: Store) -> None:
    await add(store, watch("a"), watch("b"), watch("c"))
    deleted: list[int] = []
    await store.commit(write(lambda rows: deleted.append(rows.watches.delete(["a", "c", "x"]))))
    assert deleted == [2]
    assert [one.id for one in store.view.watches.page(limit=9)[0]] == ["b"]
    await add(store, watch("a"))
    assert [one.id for one in store.view.watches.page(limit=9)[0]] == ["b", "a"]


async def test_they_follow_their_nugget(store: Store) -> None:
    await add(store, watch("a", nugget="work"), watch("b", nugget="home"), watch("c"))
    await store.commit(write(lambda rows: rows.watches.rename_nugget("work", "job")))
    assert [one.nugget for one in store.view.watches.page(limit=9)[0]] == ["job", "home", None]
