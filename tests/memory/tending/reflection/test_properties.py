"""What holds for any shelf: it settles, and nothing that matters is lost."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from memory.tending.reflection.scenes import a_note, settled, shelve
from shelfd.memory.notes.note import Note

WORDS = [
    "tea",
    "harbour",
    "crane",
    "Anna",
    "not",
    "5",
    "and",
    "the",
    "чай",
    "港の",
    "क्रेन",
    "ok",
    "the old harbour crane.",
]
LINES = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
CONTENTS = st.one_of(
    st.lists(LINES, max_size=4).map("\n".join),
    st.sampled_from(["", "ok", "the old harbour crane is green", "the old harbour crane is green\nand wide"]),
)
NOTES = st.builds(
    a_note,
    CONTENTS,
    title=st.sampled_from(["", "", "tmp", "harbour", "Anna", "pref:tea"]),
    nugget=st.sampled_from(["memory", "memory", "work"]),
    scope=st.sampled_from(["user", "user", "self", "shared", "session"]),
    session_id=st.sampled_from([None, "s1", "s2"]),
    tags=st.sampled_from([(), ("mine",), ("harbour", "mine"), tuple(f"t{n}" for n in range(32))]),
    pinned=st.sampled_from([False, False, True]),
    expires_at=st.sampled_from([None, None, 5, 9_000_000_000_000_000]),
    archived_at=st.sampled_from([None, None, None, 5]),
)


def with_kinds(notes: list[Note], facts: int) -> list[Note]:
    """Notes with ids, the first few of them facts."""
    named = [note._replace(id=f"n{n:02}") for n, note in enumerate(notes)]
    return [
        note._replace(kind="fact", type="fact", key=f"key {n}", title=f"key {n}") if n < facts else note
        for n, note in enumerate(named)
    ]


async def all_notes(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.call("note.list", include_hidden=True, limit=1000))["notes"]
    return found


async def check(notes: list[Note], limit: int) -> None:
    async with memory() as api:
        before = {note.id: note for note in await shelve(api, notes)}
        await settled(api, limit=limit)
        assert (await api.call("reflect", limit=limit))["changes"] == []
        assert (await api.call("reflect"))["changes"] == []
        after = {note["id"]: note for note in await all_notes(api)}
        assert after.keys() == before.keys()
        for note_id, note in after.items():
            old = before[note_id]
            assert set(old.all_tags) <= set(note["tags"])
            assert len(note["tags"]) <= len(old.all_tags) + 4 or note["rev"] > old.rev
            if note["hidden"] and not old.hidden:
                assert not old.pinned
            if old.kind == "fact" and old.content.strip() and old.expires_at != 5:
                assert note["hidden"] is old.hidden
        merged = {
            name for name, note in after.items() if any(link["relation"] == "merged_into" for link in note["links"])
        }
        kept = [note["content"].split("\n") for name, note in after.items() if name not in merged]
        lines = {line.strip() for content in kept for line in content}
        for name in merged:
            assert {line.strip() for line in before[name].content.split("\n")} - {""} <= lines


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(NOTES, max_size=14), st.integers(0, 4), st.sampled_from([1, 2, 10]))
def test_it_settles_and_loses_nothing(notes: list[Note], facts: int, limit: int) -> None:
    asyncio.run(check(with_kinds(notes, facts), limit))
