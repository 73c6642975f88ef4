"""What the recall index costs by itself: processor time of a note that is written, bytes of one that is held.

In one process, without daemon, store or socket: notes as remember_many has them (``bulk.py``), every fifth with a
title. They are put one by one, 16 and 128 together, as the pump of a shelf does when it is idle, busy and loaded, and
newest first, as when the index is built anew from the rows; then the last of these is stored as an image. *CPU* is the
least of the turns, *longest* the longest call of the best turn, which is how long nothing else runs.

Run: ``python benchmarks/index.py [--notes N] [--turns N]``
"""

import argparse
import gc
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from bulk import notes, sentences
from served import table
from shelfd.memory.notes.note import Note
from shelfd.memory.recall.shelf_index import ShelfIndex
from shelfd.memory.settings import MemorySettings

LONE, SOME, MANY = 1, 16, 128  #: notes put together
TITLED = 5  #: every so many notes one has a title


class Cost(NamedTuple):
    """Seconds of processor time a note, and of the longest call."""

    cpu_s: float
    longest_s: float


def written(count: int) -> list[Note]:
    """Notes as a store has them."""
    return [
        Note(
            row=row,
            id=f"019{row:09x}-{row * 7919 % 65536:04x}-abcdef012345",
            title=f"What {note['content'].split()[0]} wrote on {row}" if row % TITLED == 0 else "",
            content=note["content"],
            author=note["author"],
            session_id=note["session_id"],
            tags=tuple(note.get("tags", ())),
            created_at=1_700_000_000_000_000 + row * 60_000_000,
        )
        for row, note in enumerate(notes(sentences(count)), 1)
    ]


def new_index() -> ShelfIndex:
    """An empty one; it reads nothing by itself."""
    return ShelfIndex(cast("Any", None), MemorySettings())


def built(all_notes: Sequence[Note], together: int) -> tuple[ShelfIndex, Cost]:
    """Put notes into an empty index, so many together."""
    index, longest = new_index(), 0.0
    gc.collect()
    gc.freeze()  # what is there already is not to be looked at meanwhile, as in the daemon
    began = time.process_time()
    for begin in range(0, len(all_notes), together):
        called = time.perf_counter()
        index.apply(all_notes[begin : begin + together])
        longest = max(longest, time.perf_counter() - called)
    return index, Cost((time.process_time() - began) / len(all_notes), longest)


def frozen(index: ShelfIndex) -> Cost:
    """Store an index as an image: what of it is done while nothing else runs."""
    index.prepare()
    began = time.perf_counter()
    index.freeze(())
    taken = time.perf_counter() - began
    return Cost(taken, taken)


def resident_bytes() -> int:
    """Memory of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=20_000, help="how many (20000)")
    parser.add_argument("--turns", type=int, default=3, help="how often everything is measured (3)")
    arguments = parser.parse_args()
    all_notes = written(arguments.notes)
    built(all_notes[: 4 * MANY], MANY)
    ways = {
        "one by one": (all_notes, LONE),
        f"{SOME} together": (all_notes, SOME),
        f"{MANY} together": (all_notes, MANY),
        f"anew, {MANY} together, newest first": (all_notes[::-1], MANY),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(arguments.turns):
        for name, (some, together) in ways.items():
            costs[name].append(built(some, together)[1])
    best = {name: min(some) for name, some in costs.items()}
    before = resident_bytes()
    index, _ = built(all_notes, MANY)
    held = resident_bytes() - before
    best["an image of it, copied"] = frozen(index)
    rows = [["notes", "CPU, us a note", "longest, ms"]]
    for name, cost in best.items():
        by_note = f"{cost.cpu_s * 1e6:.1f}" if name in ways else "-"
        rows.append([name, by_note, f"{cost.longest_s * 1e3:.1f}"])
    print(table(rows))
    count = len(all_notes)
    grown = index.index.nbytes
    index.index.compact()
    print(
        f"\n{count:,} notes; bytes a note: resident {held / count:.0f}; arrays {grown / count:.0f}, "
        f"{index.index.nbytes / count:.0f} once all segments are merged"
    )


if __name__ == "__main__":
    main()
