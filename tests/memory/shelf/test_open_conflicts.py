"""Whether notes are in open conflicts: known without a look at the rows while there is none."""

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.conflicts import OpenConflicts


class Rows:
    """The open conflicts of a store, and how often it was asked for those of notes."""

    def __init__(self) -> None:
        self.open: dict[int, Sequence[str]] = {}
        self.asked = 0

    def disputed(self, rows: Collection[int]) -> Mapping[int, Sequence[str]]:
        self.asked += 1
        return {row: self.open[row] for row in rows if row in self.open}

    def page(self, **_: Any) -> list[str]:
        return [one for some in self.open.values() for one in some]


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def conflicts(rows: Rows) -> OpenConflicts:
    return OpenConflicts(cast("View", SimpleNamespace(conflicts=rows)))


def change(*kinds: str) -> Applied[None]:
    return Applied(None, tuple(cast("Any", SimpleNamespace(kind=kind)) for kind in kinds), {}, 1)


def test_where_none_is_open_the_rows_are_read_once(rows: Rows, conflicts: OpenConflicts) -> None:
    assert conflicts.of([1, 2]) == conflicts.of([3]) == {}
    conflicts.apply([change("note.created", "conflict.resolved")])
    conflicts.purge([])
    assert conflicts.of([1]) == {}
    assert rows.asked == 1


@pytest.mark.parametrize("kinds", [("note.created", "conflict.found"), ()])
def test_what_is_found_later_is_known_and_so_is_what_another_process_wrote(
    rows: Rows, conflicts: OpenConflicts, kinds: tuple[str, ...]
) -> None:
    assert conflicts.of([1]) == {}
    rows.open = {1: ["c"]}
    conflicts.apply([change("note.created"), change(*kinds)])
    assert conflicts.of([1, 2]) == {1: ["c"]}


def test_what_may_be_out_of_date_is_read_again(rows: Rows, conflicts: OpenConflicts) -> None:
    assert conflicts.of([1]) == {}
    rows.open = {1: ["c"]}
    conflicts.clear()
    assert conflicts.of([1]) == {1: ["c"]}


def test_a_note_without_one_does_not_mean_that_there_is_none(rows: Rows, conflicts: OpenConflicts) -> None:
    rows.open = {1: ["c"]}
    assert conflicts.of([2]) == {}
    assert conflicts.of([1]) == {1: ["c"]}
    assert rows.asked == 2
