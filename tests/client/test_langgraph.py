"""The store for LangGraph, held against that library's own store in memory."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from running import Daemon
from shelfd.client import RpcFailure
from shelfd.client.langgraph import ShelfdStore

NAMESPACES = st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("A",), ("b", "a")])
KEYS = st.sampled_from(["k", "K", " k", "ein Schlüssel", "鍵"])
VALUES = st.dictionaries(
    st.sampled_from(["size", "name", "of"]),
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "green", "Grün"])
    | st.lists(st.integers(0, 2), max_size=2) | st.fixed_dictionaries({"x": st.integers(0, 2)}),
    max_size=3,
)  # fmt: skip
FILTERS = st.none() | st.dictionaries(
    st.sampled_from(["size", "name", "of"]),
    st.integers(-5, 5) | st.sampled_from(["green", None]) | st.fixed_dictionaries({"$ne": st.integers(-5, 5)}),
    max_size=2,
)
NUMBERS = iter(range(1_000_000))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("d")) as running:
        yield running


@pytest.fixture
def store(daemon: Daemon) -> Iterator[ShelfdStore]:
    made = ShelfdStore(daemon.socket, nugget=f"graph-{next(NUMBERS)}")
    yield made
    made.close()


def said(items: Any) -> list[tuple[Any, ...]]:
    return sorted(((one.namespace, one.key, one.value) for one in items), key=repr)


@given(
    changes=st.lists(st.tuples(NAMESPACES, KEYS, st.none() | VALUES), max_size=8),
    wanted=FILTERS,
    prefix=st.sampled_from([(), ("a",), ("a", "b"), ("x",)]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_holds_what_a_store_in_memory_holds(
    daemon: Daemon, changes: list[Any], wanted: dict[str, Any] | None, prefix: tuple[str, ...]
) -> None:
    ours, model = ShelfdStore(daemon.socket, nugget=f"graph-{next(NUMBERS)}"), InMemoryStore()
    try:
        for store in (ours, model):
            store.batch([PutOp(*change) for change in changes[:4]])
            for change in changes[4:]:
                store.batch([PutOp(*change)])
        gets = [GetOp(namespace, key) for namespace, key, _ in changes]
        for mine, theirs in zip(ours.batch(gets), model.batch(gets), strict=True):
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert said([mine]) == said([theirs])
        search = [SearchOp(prefix, filter=wanted, limit=100)]
        assert said(ours.batch(search)[0]) == said(model.batch(search)[0])
        held = {item.namespace for item in model.search((), limit=100)}  # which lists those that are empty again
        assert ours.list_namespaces() == sorted(held)
    finally:
        ours.close()


def test_a_search_ranks_by_what_is_asked_and_pages(store: ShelfdStore) -> None:
    for number, text in enumerate(("the boat leaves at six", "the tea is cold", "a boat was late", "the boat is blue")):
        store.put(("lines", "story"), f"line {number}", {"text": text, "number": number})
    store.put(("lines", "other"), "line 9", {"text": "another boat", "number": 9})
    found = store.search(("lines", "story"), query="when does the boat leave?", limit=3)
    assert found[0].key == "line 0"
    assert found[0].score is not None
    assert {item.namespace for item in found} == {("lines", "story")}
    (one,) = store.search(("lines",), query="boat", filter={"number": {"$gte": 9}})
    assert one.key == "line 9"
    listed = [item.key for item in store.search(("lines",), limit=2, offset=1)]
    assert listed == ["line 3", "line 2"]  # the last changed first
    assert store.search(("lines",), filter={"text": {"$gt": 1}}) == []
    with pytest.raises(ValueError, match=r"not an operator of a filter: \$like"):
        store.search(("lines",), filter={"text": {"$like": 1}})


def test_only_what_is_to_be_found_is(store: ShelfdStore) -> None:
    store.put(("n",), "all", {"title": "kettle", "body": "stove"})
    store.put(("n",), "part", {"title": "teapot", "body": "stove"}, index=["title"])
    store.put(("n",), "none", {"title": "samovar", "body": "stove"}, index=False)
    assert [item.key for item in store.search(("n",), query="stove")] == ["all"]
    assert [item.key for item in store.search(("n",), query="teapot")] == ["part"]
    assert store.search(("n",), query="samovar") == []
    assert len(store.search(("n",))) == 3


def test_namespaces_are_listed_by_their_ends(store: ShelfdStore) -> None:
    spaces = [("users", "ada", "v1"), ("users", "bob", "v2"), ("docs", "ada", "v1")]
    store.batch([PutOp(space, "k", {"x": 1}) for space in spaces])
    assert store.list_namespaces(prefix=("users",)) == [("users", "ada", "v1"), ("users", "bob", "v2")]
    assert store.list_namespaces(suffix=("*", "v1")) == [("docs", "ada", "v1"), ("users", "ada", "v1")]
    assert store.list_namespaces(max_depth=1) == [("docs",), ("users",)]
    conditions = (MatchCondition("prefix", ("users",)), MatchCondition("suffix", ("v2",)))
    assert store.batch([ListNamespacesOp(conditions, limit=1)]) == [[("users", "bob", "v2")]]


async def test_it_can_be_awaited(store: ShelfdStore) -> None:
    await store.aput(("a",), "k", {"x": 1})
    item = await store.aget(("a",), "k")
    assert item is not None
    assert (item.value, item.created_at <= item.updated_at) == ({"x": 1}, True)
    await store.adelete(("a",), "k")
    assert await store.aget(("a",), "k") is None
    assert await store.asearch(("a",)) == []


def test_what_is_deleted_for_good_has_no_history(daemon: Daemon) -> None:
    store = ShelfdStore(daemon.socket, nugget="gone", purges=True)
    store.put(("a",), "k", {"x": "a secret plan"})
    store.delete(("a",), "k")
    assert daemon.call("note.list", nugget="gone", include_hidden=True)["notes"] == []
    store.close()


def test_what_does_not_fit_is_refused_and_changes_nothing(store: ShelfdStore) -> None:
    store.put(("a",), "k", {"x": 1})
    with pytest.raises(RpcFailure, match="fields: is larger than"):
        store.put(("a",), "k", {"x": "y" * 70_000})
    with pytest.raises(ValueError, match="at most 31 levels"):
        store.put(tuple("abcdefghijklmnopqrstuvwxyzabcdef"), "k", {"x": 1})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"x": 1}
