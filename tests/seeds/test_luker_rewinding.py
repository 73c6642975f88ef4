"""Luker's floor log: what happens to memory when messages are deleted, swiped or branched.

There, memory is replayed from patches of the whole graph, tagged by message and swipe. Here it follows from the change
log by turn and variant; where a weakness is fixed by that, the test's docstring names it.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes import Api
from memory_file import MemoryFile


class Floors:
    """A conversation whose turns write nodes."""

    def __init__(self, api: Api, session_id: str = "chat") -> None:
        self.api = api
        self.session_id = session_id

    async def call(self, method: str, **named: Any) -> dict[str, Any]:
        return await self.api.call(f"session.{method}", session_id=self.session_id, **named)

    async def create(self, turn: int, title: str, type_: str = "thread", **fields: Any) -> str:
        fields = {"status": "active", "note": title, **fields} if type_ == "thread" else fields
        node = await self.call("create_node", type=type_, title=title, fields=fields, turn=turn)
        return str(node["id"])

    async def titles(self) -> list[str]:
        return sorted(node["title"] for node in (await self.call("list_nodes"))["nodes"])

    async def node(self, node_id: str) -> dict[str, Any]:
        return dict((await self.call("get_node", id=node_id))["node"])


@pytest.fixture
async def floors(api: Api) -> Floors:
    await api.call("session.open", session_id="chat", nugget="story")
    return Floors(api)


async def test_deleting_messages_down_to_a_turn_takes_back_what_the_others_wrote(floors: Floors) -> None:
    for turn in (1, 2, 3):
        await floors.create(turn, f"thread {turn}")
    await floors.call("retract_turns", from_turn=2)
    assert await floors.titles() == ["thread 1"]


async def test_deleting_all_messages_leaves_nothing(floors: Floors) -> None:
    for turn in (1, 2):
        await floors.create(turn, f"thread {turn}")
    await floors.call("retract_turns", from_turn=1)
    assert await floors.titles() == []


async def test_swiping_away_and_back_restores_each_variants_state(floors: Floors) -> None:
    eileen = await floors.create(1, "Eileen", "character_sheet", goal="rest")
    await floors.call("edit_node", id=eileen, set_fields={"goal": "leave", "traits": "tired"}, turn=2)
    await floors.create(2, "zero")
    seen = [(await floors.node(eileen), await floors.titles())]
    await floors.call("select_variant", turn=2, variant=1)
    assert (await floors.node(eileen))["fields"]["goal"] == "rest"
    await floors.call("edit_node", id=eileen, set_fields={"goal": "stay"}, turn=2)
    await floors.create(2, "one")
    seen.append((await floors.node(eileen), await floors.titles()))
    for variant in (0, 1, 0, 1):
        await floors.call("select_variant", turn=2, variant=variant)
        assert (await floors.node(eileen), await floors.titles()) == seen[variant]


async def test_a_column_that_another_turn_wrote_stays(floors: Floors) -> None:
    eileen = await floors.create(1, "Eileen", "character_sheet", goal="rest")
    await floors.call("edit_node", id=eileen, set_fields={"traits": "tired"}, turn=2)
    other = Floors(floors.api, "other")
    await floors.api.call("session.open", session_id="other", nugget="story")
    await other.call("edit_node", id=eileen, set_fields={"identity": "smith"}, turn=1)
    await floors.call("retract_turns", from_turn=2)
    fields = (await floors.node(eileen))["fields"]
    assert (fields.get("goal"), fields.get("identity"), fields.get("traits")) == ("rest", "smith", None)


async def test_a_branch_has_what_was_up_to_its_turn_and_leaves_the_source_alone(floors: Floors) -> None:
    await floors.create(1, "one")
    await floors.create(2, "two")
    branched = await floors.call("branch", at_turn=1, new_session_id="fork")
    fork = Floors(floors.api, "fork")
    assert branched["nugget"] == "story-fork"
    assert (await fork.titles(), await floors.titles()) == (["one"], ["one", "two"])


async def test_a_turn_written_late_goes_with_its_turn(floors: Floors) -> None:
    """There, commits must come in the order of their messages, and one of an earlier message is refused."""
    await floors.create(2, "two")
    await floors.create(1, "one, late")
    await floors.call("retract_turns", from_turn=2)
    assert await floors.titles() == ["one, late"]


async def test_a_swipe_in_the_middle_breaks_nothing(floors: Floors) -> None:
    """Weakness 13: there, patches on top of another state fail, and everything above the broken one is dropped."""
    eileen = await floors.create(1, "Eileen", "character_sheet", goal="rest")
    await floors.call("edit_node", id=eileen, set_fields={"goal": "leave"}, turn=2)
    await floors.call("edit_node", id=eileen, set_fields={"traits": "tired"}, turn=3)
    await floors.create(4, "four")
    await floors.call("select_variant", turn=2, variant=1)
    fields = (await floors.node(eileen))["fields"]
    assert (fields["goal"], fields["traits"]) == ("rest", "tired")
    assert await floors.titles() == ["Eileen", "four"]


async def test_a_write_without_a_turn_is_kept_and_survives_rewinding(floors: Floors) -> None:
    """Weakness 5: there, it is dropped without a word, or the history is reset to it."""
    await floors.create(1, "one")
    await floors.call("create_node", type="thread", title="free", fields={"status": "active", "note": "n"})
    await floors.call("retract_turns", from_turn=1)
    assert await floors.titles() == ["free"]


async def test_spans_and_replacements_survive_a_rewind(floors: Floors) -> None:
    """Weakness 4: there, the span of turns, what replaced a node and a link's number go at the first commit."""
    one = await floors.create(1, "one")
    two = await floors.create(1, "two")
    event = await floors.create(1, "They met", "event", summary="They met")
    await floors.call("upsert_links", source={"id": one}, links=[{"target": {"id": two}, "relation": "about"}], turn=1)
    view = floors.api.shelf().view
    was = (view.notes.by_ids([one, two, event]), view.links.leaving([one, two]))
    run = (await floors.call("retract_turns", from_turn=1))["run_id"]
    assert view.links.leaving([one, two]) == {} or not any(view.links.leaving([one, two]).values())
    await floors.api.call("reflection.undo", run_id=run)
    now = view.notes.by_ids([one, two, event])
    for note_id, note in was[0].items():
        same = now[note_id]._replace(rev=note.rev, updated_at=note.updated_at)
        assert same == note
    assert view.links.leaving([one, two]) == was[1]


async def test_the_journal_grows_by_what_changed(floors: Floors) -> None:
    """Weaknesses 16 and 17: there, each write compares and stores the whole graph, and a load replays it all."""
    for number in range(50):
        await floors.create(1, f"thread {number}")
    view = floors.api.shelf().view
    before = view.log.last_seq
    await floors.create(2, "one more")
    assert view.log.last_seq - before == 1
    await floors.call("retract_turns", from_turn=2)
    assert view.log.last_seq - before == 3  # hidden, and what was done


async def test_overlapping_rewinds_leave_one_state(floors: Floors) -> None:
    for turn in (1, 2, 3):
        await floors.create(turn, f"thread {turn}")
    done = await asyncio.gather(
        *(floors.call("retract_turns", from_turn=turn) for turn in (3, 2)), return_exceptions=True
    )
    assert not any(isinstance(one, BaseException) for one in done)
    assert await floors.titles() == ["thread 1"]


async def test_memory_follows_into_the_file_at_the_next_promotion(api: Api, file: MemoryFile, tmp_path: Path) -> None:
    await api.call("session.open", session_id="chat")
    for turn, colour in enumerate(("blue", "green"), 1):
        note = await api.remember(f"the chair is {colour}", session_id="chat", turn=turn, pinned=True)
        for number in range(3):
            await api.call("note.record_hit", id=note["id"], session_id=f"s{number}")
    await api.call("promote")
    path = Path(str(file.path)) if hasattr(file, "path") else tmp_path / "shelves" / "default" / "MEMORY.md"
    assert "green" in path.read_text()
    await api.call("session.retract_turns", session_id="chat", from_turn=2)
    await api.call("promote")
    text = path.read_text()
    assert "blue" in text
    assert "green" not in text
