"""What is refused, by which code, naming which field and limit."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, Refused, memory
from shelfd.protocol import METHODS

LATER, EARLIER = "2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z"
ENDED = {"valid_from": LATER, "valid_to": EARLIER}
BELL = "a\x07b"
LONG = "x" * 513
X: dict[str, Any] = {"content": "x"}
ID: dict[str, Any] = {"id": "note-memory-00000000"}
Q: dict[str, Any] = {"query": "x"}
TWO: dict[str, Any] = {"source": "a", "target": "b"}

#: Method, params, code, field, limit.
REFUSED: list[tuple[str, dict[str, Any], int, str | None, int | None]] = [
    ("remember", {}, -32602, "content", None),
    ("remember", {"content": ""}, -32602, "content", None),
    ("remember", {"content": " \n\t"}, -32602, "content", None),
    ("remember", {"content": 7}, -32602, "content", None),
    ("remember", {"content": None}, -32602, "content", None),
    ("remember", {"content": "x" * 262_145}, -32005, "content", 262_144),
    ("remember", {"content": "é" * 131_073}, -32005, "content", 262_144),
    ("remember", {**X, "key": " "}, -32602, "key", None),
    ("remember", {**X, "key": BELL}, -32602, "key", None),
    ("remember", {**X, "key": "a\nb"}, -32602, "key", None),
    ("remember", {**X, "key": "a\u2028b"}, -32602, "key", None),
    ("remember", {**X, "key": LONG}, -32005, "key", 512),
    ("remember", {**X, "key": "user:"}, -32602, "key", None),
    ("remember", {**X, "key": "Project:"}, -32602, "key", None),
    ("remember", {**X, "key": "a", "title": "b"}, -32602, "title", None),
    ("remember", {**X, "title": BELL}, -32602, "title", None),
    ("remember", {**X, "title": LONG}, -32005, "title", 512),
    ("remember", {**X, "tags": [BELL]}, -32602, "tags.0", None),
    ("remember", {**X, "tags": ["x", " "]}, -32602, "tags.1", None),
    ("remember", {**X, "tags": ["x" * 65]}, -32602, "tags.0", 64),
    ("remember", {**X, "tags": ["x"] * 33}, -32602, "tags", 32),
    ("remember", {**X, "tags": "x"}, -32602, "tags", None),
    ("remember", {**X, "aliases": [LONG]}, -32005, "aliases.0", 512),
    ("remember", {**X, "aliases": ["x"] * 33}, -32602, "aliases", 32),
    ("remember", {**X, "links": [{"to": "x"}] * 1001}, -32602, "links", 1000),
    ("remember", {**X, "links": [{"relation": "x"}]}, -32602, "links.0.to", None),
    ("remember", {**X, "links": [{"to": "x", "why": "y"}]}, -32602, "links.0.why", None),
    ("remember", {**X, "links": [{"to": "x", **ENDED}]}, -32602, "links.0.valid_to", None),
    ("remember", {**X, "fields": {"a": "x" * 65_536}}, -32005, "fields", 65_536),
    ("remember", {**X, "fields": {"a": [{"b": 2**53 + 1}]}}, -32602, "fields", 2**53),
    ("remember", {**X, "fields": {"a": -(2**53) - 1}}, -32602, "fields", 2**53),
    ("remember", {**X, "fields": {"a": float("inf")}}, -32602, "fields", None),
    ("remember", {**X, "fields": {"summary": "y"}}, -32602, "fields.summary", None),
    ("remember", {"fields": {"summary": 1}}, -32602, "fields.summary", None),
    ("remember", {"fields": {"a": None}}, -32602, "content", None),
    ("remember", {**X, "nugget": BELL}, -32602, "nugget", 64),
    ("remember", {**X, "nugget": "x" * 65}, -32602, "nugget", 64),
    ("remember", {**X, "confidence": float("nan")}, -32602, "confidence", None),
    ("remember", {**X, "confidence": "high"}, -32602, "confidence", None),
    ("remember", {**X, "scope": "everyone"}, -32602, "scope", None),
    ("remember", {**X, "source": "me"}, -32602, "source", None),
    ("remember", {**X, "source_type": "x"}, -32602, "source_type", None),
    ("remember", {**X, "tier": "D"}, -32602, "tier", None),
    ("remember", {**X, "importance": 0}, -32602, "importance", 1),
    ("remember", {**X, "importance": 11}, -32602, "importance", 10),
    ("remember", {**X, "importance": 5.5}, -32602, "importance", None),
    ("remember", {**X, "importance": True}, -32602, "importance", None),
    ("remember", {**X, "turn": 0}, -32602, "turn", 1),
    ("remember", {**X, "turn": 2**53 + 1}, -32602, "turn", 2**53),
    ("remember", {**X, "ttl_days": 0}, -32602, "ttl_days", 1),
    ("remember", {**X, "pinned": 1}, -32602, "pinned", None),
    ("remember", {**X, "session_id": ""}, -32602, "session_id", 1),
    ("remember", {**X, "session_id": "x" * 129}, -32602, "session_id", 128),
    ("remember", {**X, "session_id": BELL}, -32602, "session_id", None),
    ("remember", {**X, "idempotency_key": "x" * 129}, -32602, "idempotency_key", 128),
    ("remember", {**X, "author": BELL}, -32602, "author", None),
    ("remember", {**X, "author": "x" * 129}, -32602, "author", 128),
    ("remember", {**X, "domain": " "}, -32602, "domain", None),
    ("remember", {**X, "source_ref": "x" * 2049}, -32602, "source_ref", 2048),
    ("remember", {**X, "occurred_at": "2025-01-01T00:00:00"}, -32602, "occurred_at", None),
    ("remember", {**X, "occurred_at": "yesterday"}, -32602, "occurred_at", None),
    ("remember", {**X, "occurred_at": 1_700_000_000}, -32602, "occurred_at", None),
    ("remember", {**X, "occurred_at": "0001-01-01T00:00:00+14:00"}, -32602, "occurred_at", None),
    ("remember", {**X, "occurred_at": "9999-12-31T23:59:59-14:00"}, -32602, "occurred_at", None),
    ("remember", {**X, **ENDED}, -32602, "valid_to", None),
    ("remember", {**X, "colour": "x"}, -32602, "colour", None),
    ("remember", {**X, "session-id": "x"}, -32602, "session-id", None),
    ("remember", {**X, "Content": "x"}, -32602, "Content", None),
    ("remember", {**X, "session_id": "a", "sessionId": "a"}, -32602, "session_id", None),
    ("remember", {**X, "shelf": "Default"}, -32602, "shelf", None),
    ("remember", {**X, "shelf": "../x"}, -32602, "shelf", None),
    ("remember", {**X, "timeout_ms": 0}, -32602, "timeout_ms", 1),
    ("remember", {**X, "min_seq": 1}, -32602, "min_seq", None),
    ("remember_many", {}, -32602, "notes", None),
    ("remember_many", {"notes": {"content": "x"}}, -32602, "notes", None),
    ("note.create", {**X, "key": "k"}, -32602, "key", None),
    ("forget", {}, -32602, "id", None),
    ("forget", {**ID, "key": "k"}, -32602, "id", None),
    ("forget", {**ID, "nugget": "n"}, -32602, "id", None),
    ("forget", {"nugget": "n"}, -32602, "id", None),
    ("note.get", {}, -32602, "id", None),
    ("note.get", {"id": ""}, -32602, "id", 1),
    ("note.get", {"id": "x" * 257}, -32602, "id", 256),
    ("note.get", {"id": BELL}, -32602, "id", None),
    ("note.get", ID, -32001, None, None),
    ("note.edit", {**ID, "content": " "}, -32602, "content", None),
    ("note.edit", {**ID, "content": "x" * 262_145}, -32005, "content", 262_144),
    ("note.edit", {**ID, "tags": ["x"], "add_tags": ["y"]}, -32602, "tags", None),
    ("note.edit", {**ID, "set_fields": {"summary": 1}}, -32602, "set_fields.summary", None),
    ("note.edit", {**ID, "content": "x", "set_fields": {"summary": "y"}}, -32602, "set_fields.summary", None),
    ("note.edit", {**ID, "metadata": {"colour": 1}}, -32602, "metadata.colour", None),
    ("note.edit", {**ID, "metadata": {"validFrom": "x"}}, -32602, "metadata.valid_from", None),
    ("note.edit", {**ID, "if_rev": -1}, -32602, "if_rev", 0),
    ("note.edit", {**ID, "kind": "fact"}, -32602, "kind", None),
    ("note.edit", ID, -32001, None, None),
    ("note.hide", ID, -32001, None, None),
    ("note.restore", ID, -32001, None, None),
    ("note.history", ID, -32001, None, None),
    ("note.revert", {**ID, "rev": 0}, -32602, "rev", 1),
    ("note.revert", {**ID, "rev": 1}, -32001, None, None),
    ("note.list", {"limit": 0}, -32602, "limit", 1),
    ("note.list", {"limit": 1001}, -32602, "limit", 1000),
    ("note.list", {"cursor": "nonsense"}, -32602, "cursor", None),
    ("note.list", {"cursor": "x" * 1025}, -32602, "cursor", 1024),
    ("note.list", {"order": "title"}, -32602, "order", None),
    ("note.list", {"kind": "thing"}, -32602, "kind", None),
    ("nugget.list", {"cursor": "WzFd"}, -32602, "cursor", None),
    ("nugget.create", {}, -32602, "name", None),
    ("nugget.create", {"name": "n", "ttl_days": 36_501}, -32602, "ttl_days", 36_500),
    ("nugget.rename", {"name": "n", "new_name": "a/b"}, -32602, "new_name", 64),
    ("link.upsert", {**TWO, "direction": "up"}, -32602, "direction", None),
    ("link.upsert", {**TWO, "reason": LONG}, -32602, "reason", 512),
    ("link.upsert", {**TWO, "relation": " "}, -32602, "relation", None),
    ("link.list", {"cursor": "!"}, -32602, "cursor", None),
    ("recall", {}, -32602, "query", None),
    ("recall", {"query": " "}, -32602, "query", None),
    ("recall", {"query": "x" * 8193}, -32005, "query", 8192),
    ("recall", {**Q, "k": 0}, -32602, "k", 1),
    ("recall", {**Q, "k": 201}, -32602, "k", 200),
    ("recall", {**Q, "k": "3"}, -32602, "k", None),
    ("recall", {**Q, "mode": "best"}, -32602, "mode", None),
    ("recall", {**Q, "min_score": 1.1}, -32602, "min_score", 1),
    ("recall", {**Q, "max_age": "a week"}, -32602, "max_age", None),
    ("recall", {**Q, "max_age": "3 fortnights"}, -32602, "max_age", None),
    ("recall", {**Q, "max_age": "-12h"}, -32602, "max_age", None),
    ("recall", {**Q, "max_age": -1}, -32602, "max_age", None),
    ("recall", {**Q, "max_age": True}, -32602, "max_age", None),
    ("recall", {**Q, "min_seq": -1}, -32602, "min_seq", 0),
    ("recall", {**Q, "max_content_chars": 0}, -32602, "max_content_chars", 1),
    ("get_context", {"query": "x" * 8193}, -32005, "query", 8192),
    ("get_context", {**Q, "token_budget": 0}, -32602, "token_budget", 1),
    ("get_context", {**Q, "content_chars": -1}, -32602, "content_chars", 0),
    ("events.since", {}, -32602, "seq", None),
    ("events.since", {"seq": -1}, -32602, "seq", 0),
    ("events.since", {"seq": 0, "limit": 1001}, -32602, "limit", 1000),
    ("shelf.log", {"cursor": "WyJhIl0"}, -32602, "cursor", None),
    ("shelf.create", {"shelf": "A"}, -32602, "shelf", None),
    ("shelf.create", {"shelf": "x\n"}, -32602, "shelf", None),
    ("shelf.create", {"shelf": "x" * 65}, -32602, "shelf", None),
    ("shelf.drop", {"shelf": "x"}, -32602, "confirm", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "params", "code", "field", "limit"),
    REFUSED,
    ids=[f"{n}-{case[0]}-{case[3]}" for n, case in enumerate(REFUSED)],
)
async def test_refused(
    api: Api, method: str, params: dict[str, Any], code: int, field: str | None, limit: int | None
) -> None:
    error = await api.refused(method, params)

    assert (error.code, error.field, error.limit) == (code, field, limit)
    assert (await api.call("get_stats"))["last_seq"] == 0


#: Everything the contract names and this version lacks.
NOT_AVAILABLE: list[tuple[str, dict[str, Any], str]] = [
    ("forget", {"key": "k", "prove": True}, "prove"),
]


@pytest.mark.parametrize(("method", "params", "field"), NOT_AVAILABLE)
async def test_what_is_not_built_yet_is_refused_and_not_ignored(
    api: Api, method: str, params: dict[str, Any], field: str
) -> None:
    error = await api.refused(method, params)

    assert (error.code, error.field, error.reason) == (-32602, field, "NOT_AVAILABLE")


async def test_what_is_not_built_yet_may_be_declined(api: Api) -> None:
    await api.call("remember", content="x", evolve=False, sync=True)
    await api.call("forget", key="k", purge=False, prove=False)
    await api.call("recall", query="x", as_of=None, known_at=None)
    await api.call("nugget.create", name="n", dimension=1024, banks=4, ensembles=1, max_facts=0)


@pytest.mark.parametrize("name", sorted(METHODS))
async def test_every_method_refuses_an_unknown_param(api: Api, name: str) -> None:
    with pytest.raises(Refused) as refused:
        api.request(name, {"colour": "red"})

    assert refused.value.code == -32602


# ------------------------------------------------------------------ privacy

MARK = "Rosebud"
BROKEN: dict[str, Any] = {
    "importance": 99, "confidence": "x", "scope": MARK, "tier": MARK, "nugget": f"{MARK}/", "turn": MARK,
    "tags": [MARK * 20],
    "aliases": [MARK * 200], "occurred_at": MARK, "valid_from": MARK, "fields": {MARK: 2**60}, "links": [{"to": MARK}],
    "source_type": MARK, "pinned": MARK, "session_id": MARK * 40, "key": f"{MARK}\x07", "title": f"{MARK}\x07{MARK}",
    "evolve": MARK, "shelf": f"{MARK}!", "ttl_days": MARK, "subject": MARK * 40, "source_ref": MARK * 999,
}  # fmt: skip


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    st.sampled_from(["remember", "note.create", "note.edit", "remember_many"]),
    st.sets(st.sampled_from(sorted(BROKEN)), min_size=1, max_size=4),
    st.sampled_from([MARK, f"{MARK}\n" * 3, MARK * 60_000]),
)
def test_no_error_holds_what_the_caller_sent(method: str, broken: set[str], content: str) -> None:
    async def run() -> None:
        async with memory() as api:
            params = {"content": content, **{name: BROKEN[name] for name in broken}}
            if method == "remember_many":
                result = await api.call(method, notes=[{k: v for k, v in params.items() if k != "shelf"}])
                told = [rejected["error"] for rejected in result["rejected"]]
            else:
                if method == "note.edit":
                    params["id"] = "note-memory-00000000"
                told = [(await api.refused(method, params)).error]
            for error in told:
                assert MARK.casefold() not in error["message"].casefold()
                data = {name: value for name, value in error["data"].items() if name != "id"}  # ids are no text
                assert MARK.casefold() not in str(data).casefold()

    asyncio.run(run())


async def test_errors_on_stored_notes_hold_none_of_their_text(api: Api) -> None:
    note = await api.remember(MARK, key=f"{MARK} key", tags=[MARK])
    other = await api.remember(MARK, key="other")
    errors = [
        await api.refused("note.edit", id=note["id"], content="x", if_rev=9),
        await api.refused("note.edit", id=other["id"], title=f"{MARK} key"),
        await api.refused("note.revert", id=note["id"], rev=5),
        await api.refused("note.edit", id=note["id"], add_tags=[f"{MARK}{n}" for n in range(32)]),
        await api.refused("remember", content="x", key=f"{MARK} key", links=[{"to": note["id"]}]),
    ]

    assert not any(MARK.casefold() in str(error.error).casefold() for error in errors)
