"""JSON Patch: what RFC 6902 says of each operation, and that a patch is done whole or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from luker_files import patch
from shelfd.client import json_patch
from shelfd.client.json_patch import Patched, PatchFailed

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "/", "~"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b/c", "~d", "0"]), inner),
    max_leaves=8,
)
POINTERS = st.lists(st.sampled_from(["a", "b~1c", "~0d", "0", "1", "-"]), max_size=3).map(
    lambda tokens: "".join(f"/{token}" for token in tokens)
)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": POINTERS, "from": POINTERS},
    optional={"value": JSON},
)


def patched(document: Any, *operations: Any) -> Any:
    one = Patched(document)
    one.apply(list(operations))
    return one.document


def failure(document: Any, *operations: Any) -> str:
    before = json.dumps(document)
    one = Patched(document)
    with pytest.raises(PatchFailed) as failed:
        one.apply(list(operations))
    assert json.dumps(one.document) == before
    return str(failed.value)


def told(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


def op(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": name, "path": path, **more}


def test_members_and_elements_are_added_replaced_and_removed() -> None:
    assert patched({"a": 1}, op("add", "/b", value=2), op("add", "/a", value=3)) == {"a": 3, "b": 2}
    assert patched([1, 2], op("add", "/1", value=9), op("add", "/-", value=8)) == [1, 9, 2, 8]
    assert patched({"a": [1]}, op("add", "/a/1", value=2)) == {"a": [1, 2]}
    assert patched({"a": [1, 2]}, op("remove", "/a/0"), op("replace", "/a/0", value=None)) == {"a": [None]}
    assert patched({"a": 1}, op("remove", "/a"), op("add", "", value=[7])) == [7]


def test_values_are_moved_copied_and_tested() -> None:
    assert patched({"a": {"x": 1}, "b": []}, op("move", "/b/0", **{"from": "/a"})) == {"b": [{"x": 1}]}
    copied = patched({"a": {"x": 1}}, op("copy", "/b", **{"from": "/a"}), op("replace", "/b/x", value=2))
    assert copied == {"a": {"x": 1}, "b": {"x": 2}}
    assert patched({"a": [1]}, op("test", "/a", value=[1.0]), op("move", "/a", **{"from": "/a"})) == {"a": [1]}
    assert patched([1, 2, 3], op("move", "/0", **{"from": "/2"})) == [3, 1, 2]


def test_pointers_may_have_signs_in_them() -> None:
    assert patched({"a/b": {"~1": 1}}, op("replace", "/a~1b/~01", value=2)) == {"a/b": {"~1": 2}}
    assert patched({"": {"": 1}}, op("remove", "//")) == {"": {}}


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (7, "is not an object"),
        (op("add", "/x"), "has no value"),
        (op("merge", "/x", value=1), "is none of add, remove, replace, move, copy, test"),
        (op("remove", "x"), "has no pointer"),
        ({"op": "remove"}, "has no pointer"),
        (op("remove", "/x"), "points to nothing"),
        (op("replace", "/x", value=1), "points to nothing"),
        (op("add", "/x/y", value=1), "points to nothing"),
        (op("add", "/a/9", value=1), "points beyond the end of a list"),
        (op("remove", "/a/-"), "has no index where one is needed"),
        (op("remove", "/a/01"), "has no index where one is needed"),
        (op("add", "/a/0/x", value=1), "points into what holds nothing"),
        (op("test", "/a", value=[True]), "expects another value"),
        (op("move", "/a/0", **{"from": "/a"}), "moves a value into itself"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is(operation: Any, why: str) -> None:
    assert failure({"a": [1]}, op("add", "/b", value=1), operation) == f"operation 1 {why}"


def test_a_patch_is_a_list() -> None:
    with pytest.raises(PatchFailed, match="is no list"):
        Patched({}).apply({"op": "add"})


def test_copies_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_patch, "COPIED_BYTES", 1000)
    doubling = [op("copy", f"/a/{number}", **{"from": "/a"}) for number in range(20)]
    assert "bytes that are copied" in failure({"a": {}}, *doubling)


@given(JSON, st.lists(OPERATIONS, max_size=5))
def test_a_patch_is_done_whole_or_not_at_all(document: Any, operations: list[Any]) -> None:
    before = told(document)
    alone = Patched(json.loads(before))
    done = 0
    for operation in json.loads(json.dumps(operations)):
        try:
            alone.apply([operation])
        except PatchFailed:
            break
        done += 1
    whole = Patched(json.loads(before))
    try:
        whole.apply(json.loads(json.dumps(operations)))
    except PatchFailed:
        assert told(whole.document) == before
        assert done < len(operations)
    else:
        assert done == len(operations)
        assert told(whole.document) == told(alone.document)


@given(JSON, JSON)
def test_what_leads_from_one_state_to_another_does(one: Any, other: Any) -> None:
    found = patched(json.loads(json.dumps(one)), *json.loads(json.dumps(patch(one, other))))
    assert found == other
