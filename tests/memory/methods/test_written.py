"""Notes in a reply of recall, most of which is JSON that was written before: they are what every other method shows."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api

#: What is looked for where links, use and notes are put in, and signs that stand for places.
TEXTS = [
    'crane "links":[], "hits":0,"last_hit_session":"", %b %d %% {"note":null,',
    "crane \\ \x7f \u2028 Größe 鶴 \U0001f3d7",
    'crane \\"links\\":[],"access_count":0,"last_accessed_at":"2026-01-01T00:00:00Z"',
]
OTHERS: list[dict[str, Any]] = [
    {},
    {"title": '"links":[],', "tags": ["links", "%b", '{"note":null,'], "aliases": ['"hits":0,"last_hit_session":"",']},
    {"fields": {"links": [], "hits": 0, "note": None, "access_count": 0, "%d": {"note": None, "x": 1}}},
]


async def listed(api: Api) -> dict[str, dict[str, Any]]:
    return {note["id"]: note for note in (await api.call("note.list"))["notes"]}


@pytest.mark.parametrize("others", OTHERS)
async def test_a_note_is_shown_as_it_is_by_itself(either: Api, others: dict[str, Any]) -> None:
    ids = [(await either.remember(text, **others))["id"] for text in TEXTS]
    await either.call("link.upsert", source=ids[0], target=ids[1], relation="near", reason='"hits":0 %b')
    for session in (None, "a", 'b "links":[], %d'):
        either.clock.advance(timedelta(seconds=1))
        found = (await either.call("recall", query="crane", k=10, session_id=session))["results"]
        assert {hit["note"]["id"]: hit["note"] for hit in found} == await listed(either)
        assert all([*hit][:2] == ["note", "score"] for hit in found)


async def test_a_note_is_shown_as_it_is_now(either: Api) -> None:
    note_id = (await either.remember("the crane is yellow"))["id"]
    for content in ("the crane is red", "the crane is green"):
        await either.call("recall", query="crane")
        await either.call("note.edit", id=note_id, content=content)
        (hit,) = (await either.call("recall", query="crane", session_id=None))["results"]
        assert hit["note"]["content"] == content
        assert hit["note"] == (await listed(either))[note_id]


async def test_only_longer_content_is_cut(either: Api) -> None:
    await either.remember("crane one")
    await either.remember("crane two is a long one")
    for most, expected in ((9, {"crane one", "crane..."}), (99, {"crane one", "crane two is a long one"})):
        found = (await either.call("recall", query="crane", max_content_chars=most, session_id=None))["results"]
        assert {hit["note"]["content"] for hit in found} == expected
