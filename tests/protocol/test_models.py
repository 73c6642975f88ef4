"""The models of the wire: spellings, limits, errors and the API document."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from shelfd.protocol import (
    METHODS,
    NOT_AVAILABLE,
    Code,
    Limits,
    Params,
    Wire,
    document,
    error_object,
    from_micros,
    from_validation,
    to_micros,
)
from shelfd.protocol.base import Instant, NuggetName, Tag, Word

#: A valid value for every param that a method requires.
REQUIRED: dict[str, Any] = {
    "to": "work",
    "keep": "a",
    "child_ids": ["a", "b"], "summary": "x",
    "parts": [{"part": "facts", "items": []}],
    "content": "x", "query": "x", "id": "a", "name": "n", "new_name": "m", "notes": [{}], "source": "a", "target": "b",
    "seq": 1, "rev": 1, "shelf": "s", "confirm": "s", "subscription": "s", "key": "k",
    "tx": 1, "run_id": "run-0123456789ab",
    "nugget": "n", "session_id": "s", "note_id": "a", "useful": True, "superseded_by_id": "b",
    "from_turn": 1, "variant": 0, "at_turn": 1, "new_session_id": "t",
    "job": "reflection", "type": "event", "links": [{"target_ref": "a"}], "ops": [], "relation": "about", "turn": 1,
    "entity_type": "actor", "entity_value": "a", "cve_id": "c", "actor_name": "a", "tool_name": "t",
    "start_type": "actor", "start_value": "a",
    "entities": [], "relations": [], "observations": [], "names": [],
    "alias": "a", "canonical": "b", "response": {},
    "ids": ["a"], "seed_ids": ["a"], "turns": [{"turn": 1, "text": "x"}],
}  # fmt: skip
#: A valid value for every param of several words.
VALUES: dict[str, Any] = {
    "as_shelf": "copy", "to_seq": 7, "keep_replaced": False,
    "child_ids": ["a", "b"],
    "session_id": "s", "source_ref": "r", "source_type": "report", "occurred_at": "2025-01-01T00:00:00Z",
    "valid_from": "2025-01-01T00:00:00Z", "valid_to": "2025-01-02T00:00:00Z", "ttl_days": 3, "timeout_ms": 5,
    "idempotency_key": "k", "min_seq": 4, "add_tags": ["x"], "remove_tags": ["y"], "set_fields": {"a_b": 1},
    "clear_fields": ["a_b"], "if_rev": 2, "include_hidden": True, "include_superseded": False, "include_expired": True,
    "include_links": False, "include_vector": False, "exclude_superseded": False, "needs_review": True,
    "count_hits": False, "as_of": "2025-01-01T00:00:00Z", "known_at": 3, "max_age": 5, "min_score": 0.5,
    "max_content_chars": 10,
    "token_budget": 5, "content_chars": 5, "since_seq": 1, "new_name": "m", "max_facts": 7,
    "from_turn": 1, "at_turn": 1, "new_session_id": "t",
    "entity_type": "actor", "entity_value": "a", "cve_id": "c", "actor_name": "a", "tool_name": "t",
    "start_type": "actor", "start_value": "a",
    "dry_run": True, "run_id": "run-0123456789ab",
    "note_id": "a", "useful": True, "superseded_by_id": "b", "local_only": True,
    "on_match": "new", "max_seq": 3, "from_seq": 2, "table_name": "t", "table_columns": ["a"],
    "column_hints": {"a": "b"}, "embedding_columns": ["a"], "required_columns": ["a"], "primary_key_columns": ["a"],
    "additional_columns": True,
    "force_update": True, "always_inject": True, "latest_only": True, "records_span": True, "extract_every": 2,
    "extract_hint": "h", "extraction_instructions": "i", "recall_quota": 3,
    "at_seq": 1, "include_closed": True, "recent_raw_turns": 2, "max_seq_distance": 3, "exclude_recent_messages": 1,
    "tier_filter": ["A"],
    "seed_ids": ["a"], "active_only": False, "visible_node_ids": ["a"], "edge_types": ["related"], "max_depth": 2,
    "exclude_internal": True, "seq_window": {"from": 1}, "seq_range": {"to": 2}, "project_to": "raw",
    "min_importance": 3, "source_url": "u", "published_date": "2026-01-31", "chunk_size": 500,
    "include_children": False, "include_edge_summary": False, "edge_summary_limit": 3,
}  # fmt: skip


def given_params(model: type[Params]) -> dict[str, Any]:
    """Every param of several words and those without which the rest is refused."""
    needed = {name for name, info in model.model_fields.items() if info.is_required()} | {"content", "key"}
    if "id" in model.model_fields and "key" in model.model_fields:
        needed.discard("key")
        needed.add("id")
    required = {**REQUIRED, "source": {"id": "a"}, "target": {"id": "b"}} if "turn" in model.model_fields else REQUIRED
    return {
        **{name: required[name] for name in model.model_fields if name in needed},
        **{name: VALUES[name] for name in model.model_fields if "_" in name},
    }


@settings(derandomize=True, max_examples=200)
@given(st.data())
def test_any_mix_of_spellings_means_the_same(data: st.DataObject) -> None:
    method = METHODS[data.draw(st.sampled_from(sorted(METHODS)))]
    params = given_params(method.params)
    camel = data.draw(st.sets(st.sampled_from(sorted(params)))) if params else set()
    mixed = {to_camel(name) if name in camel else name: value for name, value in params.items()}

    assert method.params.model_validate(mixed) == method.params.model_validate(params)


@pytest.mark.parametrize("name", sorted(name for name in METHODS if "nugget" in METHODS[name].params.model_fields))
def test_a_nugget_may_be_called_nugget_name(name: str) -> None:
    model = METHODS[name].params
    params = given_params(model)
    if name == "forget":  # by key: an id needs no nugget
        params = {"key": "k"}
    params.pop("nugget", None)
    plain = model.model_validate({**params, "nugget": "Kitchen"})

    assert plain.model_dump()["nugget"] == "kitchen"
    assert model.model_validate({**params, "nuggetName": "Kitchen"}) == plain
    assert model.model_validate({**params, "nugget_name": "Kitchen"}) == plain
    for two in ("nugget nuggetName", "nugget nugget_name", "nugget_name nuggetName"):
        with pytest.raises(ValidationError) as refused:
            model.model_validate({**params, **dict.fromkeys(two.split(), "kitchen")})
        error = from_validation(refused.value)
        assert (error["code"], error["data"]["field"]) == (Code.INVALID_PARAMS, "nugget")
        assert "two spellings" in error["message"]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_camel_case_of_every_param_is_understood(name: str) -> None:
    model = METHODS[name].params
    params = given_params(model)

    understood = model.model_validate({to_camel(param): value for param, value in params.items()})

    assert understood == model.model_validate(params)
    assert understood.model_fields_set == set(params)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_both_spellings_at_once_are_refused(name: str) -> None:
    model = METHODS[name].params
    params = given_params(model)
    for param in params:
        if to_camel(param) == param:
            continue
        with pytest.raises(ValidationError) as refused:
            model.model_validate({**params, to_camel(param): params[param]})
        error = from_validation(refused.value)
        assert [error["code"], error["data"]["field"]] == [-32602, param]


@pytest.mark.parametrize("spelling", ["session-id", "SessionId", "SESSION_ID", "session__id", "session_Id"])
def test_other_spellings_are_unknown(spelling: str) -> None:
    with pytest.raises(ValidationError) as refused:
        METHODS["remember"].params.model_validate({"content": "x", spelling: "s"})

    assert from_validation(refused.value)["message"] == f"{spelling}: unknown param"


def test_no_two_params_of_a_method_share_a_spelling() -> None:
    for method in METHODS.values():
        names = set(method.params.model_fields) | {to_camel(name) for name in method.params.model_fields}
        assert len(names) == sum(1 + (to_camel(name) != name) for name in method.params.model_fields)


def test_the_names_inside_fields_are_the_caller_s_own() -> None:
    params = METHODS["remember"].params.model_validate({"fields": {"camelCase": 1, "snake_case": {"deepName": 2}}})

    assert params.model_dump()["fields"] == {"camelCase": 1, "snake_case": {"deepName": 2}}


# ------------------------------------------------------------------ the document


def test_the_document_is_json_and_has_every_method() -> None:
    read = json.loads(json.dumps(document("1.2.3"), allow_nan=False))

    assert [method["name"] for method in read["methods"]] == list(METHODS)
    assert read["openrpc"].startswith("1.3")
    assert read["info"]["version"] == "1.2.3"


def test_every_reference_of_the_document_leads_somewhere() -> None:
    read = document("1")
    schemas = read["components"]["schemas"]
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                found.append(value["$ref"])
            for member in value.values():
                walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    walk(read)
    assert found
    assert all(ref.removeprefix("#/components/schemas/") in schemas for ref in found)


def test_the_document_says_which_params_are_required() -> None:
    methods = {method["name"]: method for method in document("1")["methods"]}
    required = {param["name"] for param in methods["recall"]["params"] if param["required"]}

    assert required == {"query"}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_changes_take_an_idempotency_key_and_reads_take_min_seq(name: str) -> None:
    method = METHODS[name]
    fields = method.params.model_fields

    assert "timeout_ms" in fields
    if name.split(".", maxsplit=1)[0] not in ("system", "rpc", "events") and name not in (
        "shelf.create", "shelf.drop", "shelf.list", "shelf.check", "shelf.backups", "shelf.restore", "shelf.move",
        "validate_synthesis", "check_synthesis_quality",
    ):  # fmt: skip
        assert ("idempotency_key" in fields) == method.is_change
        assert ("min_seq" in fields) == (not method.is_change)
        assert "shelf" in fields


# ------------------------------------------------------------------ errors and limits


class Sample(Wire):
    """A model with one of each."""

    word: Word = "w"
    tag: Tag = "t"
    at: Instant = 0
    nugget: NuggetName = "n"


def refusal(model: type[BaseModel], **params: Any) -> dict[str, Any]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(params)
    return from_validation(refused.value)


def test_an_error_leaves_out_what_it_does_not_know() -> None:
    error = error_object(Code.NOT_FOUND, "gone", kind="NotFound", field=None, id="x")

    assert error == {"code": -32001, "message": "gone", "data": {"type": "NotFound", "retryable": False, "id": "x"}}


def test_the_most_specific_of_several_complaints_is_reported() -> None:
    error = refusal(METHODS["forget"].params, key=" ", prove=True)

    assert error["data"]["reason"] == NOT_AVAILABLE


def test_a_prefix_goes_before_the_path() -> None:
    with pytest.raises(ValidationError) as refused:
        Sample.model_validate({"word": " "})

    assert from_validation(refused.value, prefix=("notes", 3))["data"]["field"] == "notes.3.word"


def test_a_long_unknown_name_is_cut() -> None:
    assert len(refusal(Sample, **{"x" * 5000: 1})["data"]["field"]) == 128


@pytest.mark.parametrize("name", sorted(Limits.model_fields))
def test_limits_may_be_lowered_and_only_two_be_raised(name: str) -> None:
    raised = {"principal_connections_count": 256, "buffer_bytes": 2**30}
    largest = raised.get(name, getattr(Limits(), name))

    for right in (1, largest):
        assert getattr(Limits(**{name: right}), name) == right
    for wrong in (0, largest + 1):
        with pytest.raises(ValidationError):
            Limits(**{name: wrong})


@pytest.mark.parametrize(
    ("model", "params", "limit"),
    [
        ("remember", {"content": "é" * 6}, 10),
        ("recall", {"query": "x" * 11}, 10),
        ("remember", {"content": "x", "key": "x" * 11}, 10),
        ("remember", {"content": "x", "fields": {"a": "x" * 11}}, 10),
    ],
)
def test_lowered_limits_hold(model: str, params: dict[str, Any], limit: int) -> None:
    limits = Limits(content_bytes=10, query_bytes=10, title_bytes=10, fields_bytes=10)
    with pytest.raises(ValidationError) as refused:
        METHODS[model].params.model_validate(params, context=limits)
    error = from_validation(refused.value)

    assert [error["code"], error["data"]["limit"]] == [-32005, limit]


# ------------------------------------------------------------------ types


@settings(derandomize=True)
@given(st.integers(-62_135_510_400_000_000, 253_402_214_399_999_999))
def test_a_time_as_it_is_sent_is_understood_again(micros: int) -> None:
    assert Sample.model_validate({"at": from_micros(micros)}).at == micros


@settings(derandomize=True)
@given(st.datetimes(timezones=st.timezones()))
def test_a_time_means_the_same_in_every_zone(moment: Any) -> None:
    micros = to_micros(moment)
    try:
        assert Sample.model_validate({"at": moment.isoformat()}).at == micros
    except ValidationError as error:
        assert error.errors()[0]["type"] in ("instant_range", "instant")  # noqa: PT017


@settings(derandomize=True)
@given(st.text(max_size=80))
def test_a_nugget_name_that_is_taken_is_taken_again(name: str) -> None:
    try:
        told = Sample.model_validate({"nugget": name}).nugget
    except ValidationError:
        return
    assert Sample.model_validate({"nugget": told}).nugget == told
    assert not set(told) & set("/+#\n\0 ")
    assert len(told) <= 64


@settings(derandomize=True)
@given(st.text(max_size=80))
def test_a_tag_that_is_taken_is_taken_again(tag: str) -> None:
    try:
        told = Sample.model_validate({"tag": tag}).tag
    except ValidationError:
        return
    assert Sample.model_validate({"tag": told}).tag == told


@settings(derandomize=True)
@given(st.text(max_size=140))
def test_a_word_that_is_taken_is_taken_again(word: str) -> None:
    try:
        told = Sample.model_validate({"word": word}).word
    except ValidationError:
        return
    assert Sample.model_validate({"word": told}).word == told


def test_runs_of_blanks_in_a_word_are_one() -> None:
    assert Sample.model_validate({"word": " Ada   Lovelace "}).word == "Ada Lovelace"
