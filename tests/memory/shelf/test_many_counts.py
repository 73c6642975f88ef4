"""Notes that are counted together count as they do one by one."""

import random
from typing import Any, cast

from shelfd.memory.notes.note import Note
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf.counts import ShelfCounts

NUGGETS = ("memory", "work", "home")


def new_counts() -> ShelfCounts:
    return ShelfCounts(cast("Any", None), MemorySettings())


def noted(row: int, draw: random.Random) -> Note:
    is_fact = draw.random() < 0.3
    return Note(
        row=row,
        nugget=draw.choice(NUGGETS),
        key="key" if is_fact else None,
        archived_at=1 if draw.random() < 0.2 else None,
        superseded_by="another" if draw.random() < 0.2 else None,
    )


def test_many_new_notes_and_changed_ones_count_as_one_by_one() -> None:
    draw = random.Random(3)
    together, alone = new_counts(), new_counts()
    last = 0
    for _ in range(40):
        new = [noted(row, draw) for row in range(last + 1, last + draw.randrange(1, 20))]
        last += len(new)
        gap = draw.random() < 0.2  # a row that was given to nothing
        last += gap
        changed = [noted(row, draw) for row in draw.sample(range(1, last + 1), k=min(3, last))]
        for some in (new, changed, [*changed, *new]):
            together.apply(some)
            for note in some:
                alone.apply([note])
        assert together.total == alone.total
        assert [together.nugget(name) for name in NUGGETS] == [alone.nugget(name) for name in NUGGETS]
        frozen = [counts.freeze(())().parts["notes"] for counts in (together, alone)]
        assert frozen[0] is not None
        assert frozen[1] is not None
        assert frozen[0]["counted"].tolist() == frozen[1]["counted"].tolist()
