"""What stands beside the text of a note is looked at, too: taken out of what is free text, refused as a name."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import Api, Refused, memory
from shelfd.memory.settings import GovernanceSettings, MemorySettings
from shelfd.storage import SqliteStores

KEY = "AKIA" + "QYLPMN5HHHXZ7J2Q"
LEFT = "[redacted: aws_access_key]"
#: Params of which something can be taken out; A and B are notes, E is an event.
FREE: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"content": "new", "author": KEY}, "author"),
    ("remember", {"content": "new", "subject": f"team {KEY}"}, "subject"),
    ("remember", {"content": "new", "fields": {KEY: "v"}}, "fields"),
    ("remember", {"content": "new", "fields": {"deep": {KEY: [1]}}}, "fields"),
    ("remember", {"content": "new", "links": [{"to": "A", "relation": f"has {KEY}"}]}, "links.0.relation"),
    ("remember_many", {"notes": [{"content": "new", "author": KEY}]}, "author"),
    ("note.edit", {"id": "A", "metadata": {"author": KEY}}, "author"),
    ("note.edit", {"id": "A", "metadata": {"subject": KEY}}, "subject"),
    ("link.upsert", {"source": "A", "target": "B", "relation": f"has {KEY}"}, "relation"),
    (
        "session.upsert_links",
        {"session_id": "s", "source": {"id": "E"}, "links": [{"target": {"id": "A"}, "relation": KEY}]},
        "links",
    ),
    ("session.open", {"session_id": "other", "actor": KEY}, "actor"),
    ("session.record_injection", {"session_id": "s", "turn": 1, "blocks": {KEY: "x", "b": KEY}}, "blocks"),
    ("session.record_injection", {"session_id": "s", "turn": 1, "trace": {"why": {KEY: 1}}}, "trace"),
]
#: Params by which others refer to something.
NAMES: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"content": "new", "type": KEY}, "type"),
    ("remember", {"content": "new", "domain": KEY}, "domain"),
    ("remember", {"content": "new", "nugget": KEY}, "nugget"),
    ("remember", {"content": "new", "session_id": KEY, "turn": 1}, "session_id"),
    ("remember", {"content": "new", "idempotency_key": KEY}, "idempotency_key"),
    ("note.edit", {"id": "A", "metadata": {"type": KEY}}, "type"),
    ("note.edit", {"id": "A", "metadata": {"domain": KEY}}, "domain"),
    ("nugget.create", {"name": KEY}, "name"),
    ("nugget.rename", {"name": "memory", "new_name": KEY}, "new_name"),
    ("session.open", {"session_id": KEY}, "session_id"),
    ("session.open", {"session_id": "other", "nugget": KEY}, "nugget"),
    ("session.branch", {"session_id": "s", "new_session_id": KEY, "at_turn": 1}, "new_session_id"),
    ("recall", {"query": "one", "session_id": KEY}, "session_id"),
    ("note.record_hit", {"id": "A", "session_id": KEY}, "session_id"),
    ("alias.add", {"type": "actor", "alias": KEY, "canonical": "Bob"}, "alias"),
    ("alias.add", {"type": "actor", "alias": "Bob", "canonical": KEY}, "canonical"),
    ("watch.create", {"query": f"who has {KEY}"}, "query"),
    ("watch.create", {"query": "who", "filters": {"author": KEY}}, "filters.author"),
    ("watch.create", {"query": "who", "filters": {"tags": [KEY]}}, "filters.tags"),
    ("schema.set_type", {"type": "trip", "table_columns": ["a", KEY]}, "table_columns"),
    ("schema.set_type", {"type": "trip", "table_columns": ["a"], "extract_hint": KEY}, "extract_hint"),
]


def governed(**settings: Any) -> MemorySettings:
    return MemorySettings(governance=GovernanceSettings(**settings))


@pytest.fixture(params=["redact", "refuse"])
async def told(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator["Told"]:
    async with memory(lambda clock: SqliteStores(tmp_path, clock), settings=governed(secrets=request.param)) as api:
        yield Told(api, await _ids(api), is_refusing=request.param == "refuse")
    assert KEY.encode().lower() not in _stored(tmp_path).lower()


def _stored(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def _ids(api: Api) -> dict[str, str]:
    notes = {"A": (await api.remember("one"))["id"], "B": (await api.remember("two"))["id"]}
    await api.call("session.open", session_id="s")
    event = await api.call("session.create_node", session_id="s", type="event", title="x", fields={"summary": "fine"})
    return notes | {"E": event["id"]}


class Told:
    """A shelf that is told something, in whose files nothing of a secret is left."""

    def __init__(self, api: Api, ids: dict[str, str], *, is_refusing: bool) -> None:
        self.api, self.ids, self.is_refusing = api, ids, is_refusing

    async def refused(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """The error of a call, of which neither answer nor log has the secret; None if it was answered."""
        error: dict[str, Any] | None = None
        with capture_logs() as lines:
            try:
                said = await self.api.call(method, self._named(params))
            except Refused as refused:
                said = error = refused.error
        assert KEY.lower() not in json.dumps([said, lines], default=str).lower()
        return error or next((one["error"] for one in said.get("rejected", ())), None)

    def _named(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._named(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._named(member) for member in value]
        return self.ids.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize(("method", "params", "field"), FREE)
async def test_free_text_beside_a_note_is_looked_at_as_its_content_is(
    told: Told, method: str, params: dict[str, Any], field: str
) -> None:
    error = await told.refused(method, params)

    assert (error is not None) == told.is_refusing
    if error is not None:
        assert (error["code"], error["data"]["rule"]) == (-32006, "aws_access_key")
        assert error["data"]["field"].startswith(field)


@pytest.mark.parametrize(("method", "params", "field"), NAMES)
async def test_a_name_that_others_refer_by_is_refused_and_said_which(
    told: Told, method: str, params: dict[str, Any], field: str
) -> None:
    error = await told.refused(method, params)

    assert error is not None
    assert (error["code"], error["data"]["rule"], error["data"]["field"]) == (-32006, "aws_access_key", field)
    assert error["message"].startswith(f"{field}: ")


async def test_what_is_left_of_names_of_fields_keeps_them_apart(either: Api) -> None:
    note = await either.remember("new", author=f"Ana {KEY}", fields={KEY: "one", KEY.lower(): 2, f"{KEY}2": 3, "a": 4})

    assert note["author"] == f"Ana {LEFT}"
    assert sorted(note["fields"].values(), key=str) == [2, 3, 4, "one"]
    assert {"a", LEFT} < note["fields"].keys()
    assert note["redacted"] == ["aws_access_key"]


async def test_a_conversation_that_was_there_before_its_name_was_forbidden_goes_on(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock), settings=governed(secrets="allow")) as api:
        await api.call("session.open", session_id=KEY)
        note = await api.remember("tea", session_id=KEY, turn=1, author=KEY)
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        assert (await api.call("recall", query="tea", session_id=KEY))["results"]
        edited = await api.call("note.edit", id=note["id"], content="green tea")
        assert edited["note"]["author"] == KEY  # what it says already as before is no change of this one
        assert (await api.call("session.close", session_id=KEY))["closed"]


async def test_personal_data_in_names_is_told_by_more_than_numbers() -> None:
    async with memory(settings=governed(personal_data="redact")) as api:
        note = await api.remember("tea", author="ana@example.org", session_id="chat-4111 1111 1111 1111", turn=1)
        error = await api.refused("session.open", {"session_id": "ana@example.org"})

    assert (note["author"], note["redacted"]) == ("[redacted: email]", ["email"])
    assert (error.code, error.field) == (-32006, "session_id")


@pytest.mark.parametrize(
    "name",
    [
        "sk-20261128-conversation-with-ana",
        "3f9a0c77-b1e2-4d58-a6c2-f0e19b7d4a35",
        "remember:2026-11-28T10:30:00Z/17",
        "key-figures-2026",
        "a" * 128,
        "token-budget",
        "password-manager",
    ],
)
async def test_a_name_that_only_looks_a_little_like_a_credential_is_taken(api: Api, name: str) -> None:
    note = await api.remember("tea", session_id=name, turn=1, domain=name, idempotency_key=name)
    assert (note["session_id"], note["domain"]) == (name, name)
