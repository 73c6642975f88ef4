"""A turn that is taken back while it is extracted."""

from typing import Any

import pytest

from fakes import Api
from shelfd.memory.methods import extraction
from shelfd.memory.sessions.extraction.engines import Attempt, by_rules
from shelfd.memory.sessions.extraction.turns import TurnBatch
from shelfd.memory.sessions.reading import Reading

SAID = [{"text": "Ada walked to the mill with Kai.", "turn": 2}]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session.retract_turns", {"from_turn": 2}),
        ("session.retract_turns", {"from_turn": 1}),
        ("session.select_variant", {"turn": 2, "variant": 1}),
    ],
)
@pytest.mark.parametrize("again", [False, True])
async def test_what_is_made_of_it_is_not_written(
    either: Api, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, Any], *, again: bool
) -> None:
    async def late(batch: TurnBatch, reading: Reading, attempt: Attempt) -> None:
        await either.call(method, {"session_id": "s", **params})
        await by_rules(batch, reading, attempt)

    await either.call("session.open", session_id="s")
    if again:  # that it was taken back before makes no difference
        await either.call("session.extract", session_id="s", turns=SAID)
        await either.call("session.retract_turns", session_id="s", from_turn=2)
        await either.remember("something else", nugget="elsewhere")
    monkeypatch.setattr(extraction, "make_operations", late)
    refused = await either.refused("session.extract", session_id="s", turns=SAID)
    assert (refused.code, refused.field, refused.data["reason"]) == (-32002, "turns", "TURN_RETRACTED")
    assert (await either.call("session.list_nodes", session_id="s"))["nodes"] == []
    monkeypatch.undo()
    assert (await either.call("session.extract", session_id="s", turns=SAID))["extracted"] == [2]


async def test_turns_after_it_make_no_difference(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(batch: TurnBatch, reading: Reading, attempt: Attempt) -> None:
        await either.call("session.retract_turns", session_id="s", from_turn=3)
        await by_rules(batch, reading, attempt)

    await either.call("session.open", session_id="s")
    monkeypatch.setattr(extraction, "make_operations", late)
    assert (await either.call("session.extract", session_id="s", turns=SAID))["extracted"] == [2]
