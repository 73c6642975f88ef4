"""What evolves, is undone, taken back and purged: at every time at most one of its values held."""

import asyncio
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, memory

PLACES = ("Linz", "Graz", "Wels", "Rome", "Oslo")
STEPS = st.lists(
    st.one_of(
        *[st.tuples(st.just("tell"), st.integers(0, 4), st.sampled_from([None, "s", "t"]))] * 3,
        st.tuples(st.sampled_from(["undo", "purge"]), st.integers(0, 7), st.none()),
        st.tuples(st.just("retract"), st.integers(1, 3), st.sampled_from(["s", "t"])),
    ),
    min_size=3,
    max_size=14,
)


class Story:
    """Where somebody lives, told and taken back."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.told: list[tuple[str, int]] = []  # note, and its transaction
        self.turn = 0

    async def step(self, what: str, number: int, session_id: str | None) -> None:
        self.api.clock.advance(timedelta(days=1))
        if what == "tell":
            await self._tell(f"Eva lives in {PLACES[number]} now.", session_id)
        elif what == "retract":
            last = max(self.turn - number, 1)
            await self.api.call("session.retract_turns", session_id=session_id, from_turn=last)
        elif self.told and what == "undo":
            _, tx = self.told[number % len(self.told)]
            await self.api.call("undo", tx=tx)
        elif self.told and what == "purge":
            note_id, _ = self.told.pop(number % len(self.told))
            await self.api.call("note.delete", id=note_id, hard=True)

    async def _tell(self, content: str, session_id: str | None) -> None:
        of_turn: dict[str, Any] = {}
        if session_id is not None:
            self.turn += 1
            of_turn = {"session_id": session_id, "turn": self.turn}
        tx = self.api.shelf().view.log.last_seq + 1
        told = await self.api.call("remember", content=content, evolve=True, **of_turn)
        if told["status"] != "noop":
            self.told.append((told["note"]["id"], tx))

    async def check(self, days: int) -> None:
        now = {note["id"] for note in await self._lives()}
        assert len(now) <= 1
        everything = {note.id: note for note in self.api.shelf().view.notes.scan(before_row=None, limit=1000)}
        for note in everything.values():
            seen, at = set(), note
            while at.superseded_by is not None:
                assert at.id not in seen
                seen.add(at.id)
                at = everything[at.superseded_by]
        for day in range(days + 1):
            then = f"2026-01-{1 + day:02}T12:00:00Z"
            assert len(await self._lives(as_of=then)) <= 1, then

    async def _lives(self, **params: Any) -> list[dict[str, Any]]:
        found = await self.api.call("recall", query="Eva", k=50, focus="off", count_hits=False, **params)
        return [hit["note"] for hit in found["results"]]


@given(steps=STEPS)
@settings(deadline=None, max_examples=40)
def test_at_every_time_at_most_one_value_held(steps: list[tuple[str, int, str | None]]) -> None:
    async def run() -> None:
        async with memory() as api:
            for session_id in ("s", "t"):
                await api.call("session.open", session_id=session_id)
            story = Story(api)
            for days, step in enumerate(steps, 1):
                await story.step(*step)
                await story.check(days)

    asyncio.run(run())
