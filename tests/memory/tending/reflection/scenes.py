"""Notes for tests of reflection: plain ones with a default for everything, and ways to put them on a shelf."""

from collections.abc import Iterable
from typing import Any

from fakes import Api
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import BLANK, Note, Nugget
from shelfd.memory.ports.log import Origin

ORIGIN = Origin("uid:1000", "import")
NEW_YEAR = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z in microseconds


def a_note(content: str = "", **fields: Any) -> Note:
    plain = BLANK._replace(id="n", content=content, created_at=NEW_YEAR, updated_at=NEW_YEAR)
    return plain._replace(**fields)


async def shelve(api: Api, notes: Iterable[Note]) -> list[Note]:
    """Store notes as they are, even such as no caller can give."""

    def apply(tx: Transaction) -> list[Note]:
        stored = []
        for note in notes:
            if tx.nugget(note.nugget) is None:
                tx.create_nugget(Nugget(note.nugget, 1024, 4, 1, 0, None, tx.now))
            stored.append(tx.create_note(note._replace(row=0)))
        return stored

    shelf = await api.shelves.get("default")
    return (await shelf.commit(ORIGIN, apply)).value


async def settled(api: Api, runs: int = 200, **params: Any) -> list[dict[str, Any]]:
    """Reflect until a run changes nothing; return the results of all runs."""
    results = []
    for _ in range(runs):
        results.append(await api.call("reflect", **params))
        if not results[-1]["changes"]:
            return results
    raise AssertionError(f"still changing after {runs} runs: {results[-1]['changes']}")


def told(result: dict[str, Any], kind: str) -> list[str]:
    """The ids that a result tells of for one type of change."""
    return [change["note_id"] for change in result["changes"] if change["type"] == kind]
