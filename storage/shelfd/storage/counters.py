"""The numbers a shelf hands out inside transactions."""

from collections.abc import Sequence
from typing import NamedTuple

from shelfd.memory.ports.log import Entry, LogRow, Origin


class Counters(NamedTuple):
    """The last numbers a shelf has given away. A value, so that a rollback is one assignment.

    Attributes:
        seq: Last sequence number of the change log.
        row: Row number of the last note ever made.
    """

    seq: int = 0
    row: int = 0


def number_entries(entries: Sequence[Entry], origin: Origin, *, last_seq: int, at: int) -> list[LogRow]:
    """Return the log rows of one transaction, with consecutive sequence numbers behind *last_seq*."""
    tx, size = last_seq + 1, len(entries)
    return [
        LogRow(seq, tx, size, at, origin, entry.kind, entry.nugget, entry.ids, entry.row, entry.before)
        for seq, entry in enumerate(entries, tx)
    ]
