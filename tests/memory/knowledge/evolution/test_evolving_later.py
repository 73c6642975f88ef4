"""What notes state is stored after their replies: no decision depends on when, nor on whether a daemon died before."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes import Api, Refused, memory
from shelfd.memory.ports.store import Stores
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

#: A request, by what it is called with; or what happens to the daemon.
Op: TypeAlias = tuple[str, Any]

_TEXTS = (
    "Eva lives in Linz.", "Eva lives in Graz.", "Eva moved to Wels.", "Eva no longer lives in Graz.",
    "The gate code is 4711.", "The gate code is 4712.", "Correction: the gate code is 4713, not 4712.",
    "Eva likes figs.", "Eva does not like figs.", "Paul's blood type is A positive.",
    "Paul's blood type is AB negative.", "Fancy Bear uses X-Agent.", "APT28 no longer uses X-Agent.",
    "The review is on Wednesday.", "The review was moved to Friday.", "Eva vive en Lyon. La réunion est lundi.",
)  # fmt: skip


_KINDS = ("many", "crowd", "refused", "rolled back", "purge", "hide", "undo", "job", "die", *("evolve",) * 8)
_PLAIN = ("plain",) * 3
#: By which a note gets another text, if only by undoing it.
_EDITS = ("edit", "keyed")


def drawn(draw: random.Random, kinds: Sequence[str]) -> list[Op]:
    """Return what happens, in order."""
    ops: list[Op] = []
    for _ in range(draw.randrange(12, 30)):
        kind = draw.choice(kinds)
        texts = draw.sample(_TEXTS, 3)
        ops.append((kind, draw.randrange(9) if kind in ("purge", "hide", "undo", "edit") else texts))
    return ops


class Told:
    """What a memory answers, with numbers for the ids of notes."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.ids: list[str] = []

    def number(self, note_id: str) -> int:
        if note_id not in self.ids:
            self.ids.append(note_id)
        return self.ids.index(note_id)

    async def remember(self, content: str, **named: Any) -> Any:
        said = await self.api.call("remember", content=content, **named)
        self.number(said["note"]["id"])
        superseded = [self.number(one) for one in said["superseded"]]
        return said["status"], self.number(said["note"]["id"]), superseded, len(said["conflicts"])

    async def many(self, texts: Sequence[str], *, bad: bool = False) -> Any:
        notes: list[dict[str, Any]] = [{"content": text, "evolve": True} for text in texts]
        notes += [{"content": "Eva lives in Rome.", "evolve": True, "links": [{"to": "nothing"}]}] * bad
        said = await self.api.call("remember_many", notes=notes, atomic=bad)
        told = [(one["status"], len(one["superseded"]), len(one["conflicts"])) for one in said.get("evolved", [])]
        return [one and self.number(one) for one in said["ids"]], told

    async def do(self, kind: str, what: Any) -> Any:
        if kind in ("purge", "hide", "undo", "edit"):
            if not self.ids:
                return None
            note_id = self.ids[what % len(self.ids)]
            if kind == "undo":
                return await self.api.call("undo", tx=self.api.shelf().view.log.last_seq) and None
            if kind == "edit":
                return await self.api.call("note.edit", id=note_id, content=_TEXTS[what]) and None
            return await self.api.call("forget", id=note_id, purge=kind == "purge") and None
        if kind == "many":
            return await self.many(what)
        if kind == "crowd":  # more than a decision reads of what the worker has not come to
            return await self.many([f"Host {len(self.ids)}-{number} runs Debian." for number in range(40)])
        if kind == "rolled back":
            return await self.many(what, bad=True)
        if kind == "keyed":
            return await self.remember(what[0], key="home", evolve=True)
        if kind == "refused":
            return await self.remember(what[0], evolve=True, links=[{"to": "nothing"}])
        return await self.remember(what[0], evolve=kind == "evolve")

    async def after(self, ops: Sequence[Op], *, spared: frozenset[str] = frozenset()) -> list[Any]:
        """Return what each of some requests is answered, and at last what stands; *spared* does not happen."""
        told: list[Any] = []
        for kind, what in ops:
            if kind in spared:
                continue
            if kind == "job":
                await self.api.call("recall_entity", entity_type="tool", entity_value="mimikatz")
            elif kind == "die":
                await self.api.reopen()  # what is only in memory is lost by that, too
            else:
                try:
                    told.append((kind, await self.do(kind, what)))
                except Refused as error:
                    told.append((kind, error.kind))
        found = await self.api.call("note.list", include_superseded=False, include_hidden=True, limit=200)
        return [*told, sorted((note["content"], self.number(note["id"])) for note in found["notes"])]


async def told_by(stores: Callable[[Any], Stores], ops: Sequence[Op], spared: frozenset[str] = frozenset()) -> Any:
    async with memory(stores) as api:
        return await Told(api).after(ops, spared=spared)


@pytest.mark.parametrize("seed", range(14))
async def test_decisions_are_those_of_a_memory_that_stores_at_once(seed: int, tmp_path: Path) -> None:
    # A note that was edited is read again by the job, or after a crash: both at a time would be compared with neither.
    spared = _EDITS if seed % 2 else ("die",)
    ops = [one for one in drawn(random.Random(seed), (*_KINDS, *_PLAIN, *_EDITS)) if one[0] not in spared]
    expected = await told_by(InMemoryStores, ops, frozenset(("die",)))  # it keeps nothing back
    assert await told_by(lambda clock: SqliteStores(tmp_path, clock), ops) == expected


@pytest.mark.parametrize("seed", range(6))
async def test_decisions_are_the_same_however_late_the_job_runs(seed: int, tmp_path: Path) -> None:
    ops = drawn(random.Random(seed), _KINDS)
    by = [
        await told_by(lambda clock: SqliteStores(tmp_path / "as drawn", clock), ops),
        await told_by(lambda clock: SqliteStores(tmp_path / "never", clock), ops, frozenset(("job", "die"))),
        await told_by(
            lambda clock: SqliteStores(tmp_path / "always", clock), [op for one in ops for op in (one, ("job", None))]
        ),
        await told_by(
            lambda clock: SqliteStores(tmp_path / "dying", clock), [op for one in ops for op in (one, ("die", None))]
        ),
    ]
    assert by == [by[0]] * 4
