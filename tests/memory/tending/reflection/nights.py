"""Simulated nights: a shelf that is written to and asked by day and tended by night, for tests and benchmarks."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

from fakes import Api
from memory.tending.reflection.scenes import a_note, shelve
from shelfd.memory.methods.recalling import replay
from shelfd.memory.notes.note import MERGED_INTO, Note
from shelfd.memory.shelf.queries import KEPT, params_of
from shelfd.memory.tending.promotion import Target
from shelfd.memory.tending.reflection.gate import REPLAYED

DAY = timedelta(days=1)
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za".split()


def words(dice: random.Random, count: int) -> list[str]:
    """Return made-up words, none twice."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(dice.choices(_SYLLABLES, k=dice.randint(2, 4)))] = None
    return list(found)


@dataclass
class Daily:
    """What happens to a shelf day after day; the same seed tells the same story.

    Attributes:
        lost: What should never be there: (night, note id, why).
        asked: How many questions were asked.
    """

    api: Api
    seed: int = 7
    vocabulary: int = 600
    lost: list[tuple[int, str, str]] = field(default_factory=list)
    asked: int = 0
    changes: int = 0
    held_back: int = 0
    _known: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.words = words(self.dice, self.vocabulary)

    def notes(self) -> Iterator[Note]:
        """Notes of all kinds that reflection has a use for: plain, doubled, untidy, passing, pinned."""
        while True:
            text = " ".join(self.dice.choices(self.words, k=self.dice.randint(5, 14)))
            kind = self.dice.random()
            title, pinned = "", self.dice.random() < 0.05
            if kind < 0.15 and self._known:
                text = self.dice.choice(self._known[-200:]).content
            elif kind < 0.25:
                text = f"{text}\n{text}  \n\n\n\nand {self.dice.choice(self.words)}"
            elif kind < 0.35:
                title = "tmp " + self.dice.choice(self.words)
            note = a_note(text, id=f"n{len(self._known)}", title=title, pinned=pinned)
            self._known.append(note)
            yield note

    async def write(self, count: int) -> None:
        """Write some new notes."""
        await shelve(self.api, list(islice(self.notes(), count)))

    async def ask(self, count: int, session: str) -> None:
        """Ask for some of the notes, by a few of their words."""
        for _ in range(count):
            about = self.dice.choice(self._known).content.split()
            query = " ".join(self.dice.sample(about, k=min(3, len(about))))
            await self.api.call("recall", query=query, k=5, session_id=session)
            self.asked += 1

    async def night(self, number: int) -> None:
        """Reflect, and note what that lost of what recent queries had found.

        A note is lost when it is hidden and no visible one has taken it in, and when it is no longer among the results
        of a query, while the run changed one of those. (Where it changed none, the last place of two nearly alike
        may still go to the other, for how rare a word is has changed.)
        """
        shelf = self.api.shelf()
        await shelf.write_usage()
        await shelf.reach(None)
        queries = [(params_of(query), query.ids) for query in shelf.view.queries.recent(KEPT)]
        before = [[found for found in replay(shelf, params) if found in ids] for params, ids in queries]
        result = await self.api.call("reflect")
        self.changes += len(result["changes"])
        self.held_back += result["held_back"]
        await shelf.reach(None)
        touched = {note_id for row in shelf.view.log.of_run(result["run_id"]) for note_id in row.ids}
        affected = 0
        for (params, ids), found in zip(queries, before, strict=True):
            ends = {note_id: self._end_of(note_id) for note_id in found}
            self.lost += [(number, note_id, "hidden") for note_id, end in ends.items() if end is None]
            if touched.isdisjoint(ids) or affected == REPLAYED:
                continue
            affected += 1
            after = replay(shelf, params)
            self.lost += [(number, note_id, "pushed away") for note_id, end in ends.items() if end not in after]
        self.api.clock.advance(DAY)

    def _end_of(self, note_id: str) -> str | None:
        """The visible note that this one is or became part of."""
        view = self.api.shelf().view
        note = view.notes.get(note_id)
        while note is not None and note.hidden:
            into = [link.target for link in view.links.leaving([note.id])[note.id] if link.relation == MERGED_INTO]
            note = view.notes.get(into[-1]) if into else None
        return None if note is None else note.id

    def pinned_lost(self) -> list[str]:
        """Pinned notes that are hidden or gone."""
        stored = self.api.shelf().view.notes.by_ids([note.id for note in self._known if note.pinned])
        return [note.id for note in self._known if note.pinned and (note.id not in stored or stored[note.id].hidden)]


class Page:
    """A MEMORY.md that is no file, so that a thousand nights take no disk."""

    def __init__(self) -> None:
        self.data: bytes | None = None

    async def target(self, shelf: str, project: str | None) -> Target:
        del project
        return Target(f"/memory/{shelf}/MEMORY.md")

    def is_open(self, project: str) -> bool:
        return not project

    async def read(self, path: str) -> bytes | None:
        del path
        return self.data

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        del path
        if self.data != old:
            return False
        self.data = new
        return True

    @property
    def text(self) -> str:
        return (self.data or b"").decode()

    async def clean_up(self, path: str) -> None:
        """Do nothing: a page leaves nothing beside it."""


async def promoting(api: Api, page: Page, *, nights: int, per_night: int, seed: int = 7) -> list[dict[str, Any]]:
    """Promote night after night while notes come, change and go, and a person edits lines; return the results.

    Each result also has ``characters``: the length of the file after it.
    """
    dice = random.Random(seed)
    known = words(dice, 400)
    results: list[dict[str, Any]] = []
    ids: list[str] = []
    for night in range(nights):
        fresh = [
            a_note(" ".join(dice.choices(known, k=dice.randint(3, 30))), id=f"p{night}-{n}", title=f"about {night}-{n}")
            for n in range(per_night)
        ]
        stored = await shelve(api, fresh)
        ids += [note.id for note in stored]
        for session in range(3 + night % 5):
            api.shelf().record_use(stored, session_id=f"s{session}")
        changed = dice.choice(ids)
        await api.call("note.edit", id=changed, content=" ".join(dice.choices(known, k=9)))
        await api.call("note.hide", id=dice.choice(ids))
        if page.text and night % 7 == 0:
            lines = page.text.split("\n")
            bullets = [number for number, line in enumerate(lines) if line.startswith("- ")]
            if bullets:
                lines[dice.choice(bullets)] += "!" if night % 2 else ""
                page.data = "\n".join(lines).encode()
        result = await api.call("promote")
        results.append({**result, "characters": len(page.text)})
        api.clock.advance(DAY)
    return results
