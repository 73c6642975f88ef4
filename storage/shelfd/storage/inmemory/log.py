"""The twin's change log and stored outcomes."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Sequence

from shelfd.memory.ports.log import (
    REDACTED,
    LogRow,
    LogWriter,
    Recorded,
    RecordedKey,
    RecordedWriter,
    Touched,
)
from shelfd.memory.ports.projection import OF_LINKS
from shelfd.storage.encoding import decode, decode_before, encode, encode_before, strings_in
from shelfd.storage.inmemory.tables import InMemoryRows, Tables


def redact(tables: Tables, seqs: Sequence[int]) -> None:
    """Take away what the log rows with these numbers keep of what they replaced."""
    for seq in seqs:
        tables.put(tables.log, seq, tables.log[seq]._replace(before=dict(REDACTED)))


class InMemoryLog(InMemoryRows, LogWriter):
    """The change log."""

    @property
    def last_seq(self) -> int:
        return self._tables.last_seq

    @property
    def first_seq(self) -> int:
        return next(iter(self._tables.log), self._tables.last_seq + 1)

    def page(self, *, since_seq: int, limit: int) -> list[LogRow]:
        seqs = range(max(since_seq, 0) + 1, self.last_seq + 1)
        return [self._tables.log[seq] for seq in seqs[: max(limit, 0)]]

    def of_note(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        found = [entry for entry in self._tables.log.values() if entry.row == row and entry.seq > since_seq]
        return found if limit is None else found[: max(limit, 0)]

    def touched(self, *, after: int, until: int) -> Touched:
        found = [entry for seq, entry in self._tables.log.items() if after < seq <= until]
        created = [entry.row for entry in found if entry.kind == "note.created" and entry.row is not None]
        others = [entry for entry in found if entry.kind != "note.created"]
        return Touched(
            min(created, default=None),
            {entry.row for entry in others if entry.row is not None},
        )

    def of_link(self, source: str, target: str) -> list[LogRow]:
        kinds = ("link.added", "link.removed")
        found = [entry for entry in self._tables.log.values() if entry.kind in kinds]
        return [entry for entry in found if tuple(entry.ids) == (source, target)]

    def of_links_from(self, source: str, *, since_seq: int) -> list[LogRow]:
        found = [entry for entry in self._tables.log.values() if entry.kind in OF_LINKS and entry.seq > since_seq]
        return [entry for entry in found if entry.ids[0] == source]

    def of_run(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        log = self._tables.log.values()
        found = [entry for entry in log if entry.origin.run_id == run_id and entry.seq > since_seq]
        return found if limit is None else found[: max(limit, 0)]

    def of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        after: tuple[int, int] = (0, 0),
        limit: int | None = None,
    ) -> list[LogRow]:
        placed = [
            (entry.origin.turn, entry.seq)
            for entry in self._tables.log.values()
            if entry.origin.session_id == session_id
            and entry.origin.turn is not None
            and variant in (None, entry.origin.variant or 0)
        ]
        wanted = [(turn, seq) for turn, seq in sorted(placed) if from_turn <= turn and (turn, seq) > after]
        found = [self._tables.log[seq] for turn, seq in wanted if until_turn is None or turn <= until_turn]
        return found if limit is None else found[: max(limit, 0)]

    def first_of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        above: int = 0,
    ) -> int | None:
        found = self.of_turns(session_id, from_turn=from_turn, until_turn=until_turn, variant=variant)
        return min((row.seq for row in found if row.seq > above), default=None)

    def last_of_turns(self, session_id: str, *, until_turn: int) -> int | None:
        return max((row.seq for row in self.of_turns(session_id, from_turn=0, until_turn=until_turn)), default=None)

    def of_run_back(self, run_id: str, *, before: int | None, limit: int) -> list[LogRow]:
        found = [entry for entry in self.of_run(run_id) if before is None or entry.seq < before]
        return found[::-1][: max(limit, 0)]

    def completed(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        found = [
            entry
            for entry in reversed(self._tables.log.values())
            if entry.kind == kind and (before is None or entry.seq < before)
        ]
        return found[: max(limit, 0)]

    def append(self, rows: Sequence[LogRow]) -> None:
        """Write log rows and move the counters on."""
        for row in rows:
            before = None if row.before is None else decode_before(encode_before(row.before))
            self._tables.put(self._tables.log, row.seq, row._replace(before=before))
            self._tables.last_seq = row.seq

    def redact(self, seqs: Sequence[int]) -> None:
        redact(self._tables, seqs)


class InMemoryRecorded(InMemoryRows, RecordedWriter):
    """Stored outcomes."""

    def get(self, principal: str, method: str, key: str) -> Recorded | None:
        return self._tables.recorded.get((principal, method, key))

    def naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        keys = sorted(key for key in self._tables.recorded if after is None or key > after)[: max(limit, 0)]
        recorded = self._tables.recorded
        naming = [key for key in keys if not strings_in(encode(recorded[key].outcome)).isdisjoint(ids)]
        return naming, keys[-1] if len(keys) == limit else None

    def put(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        stored = outcome._replace(outcome=decode(encode(outcome.outcome)))
        self._tables.put(self._tables.recorded, (principal, method, key), stored)

    def delete_before(self, before: int, *, now: int, limit: int) -> int:
        recorded = self._tables.recorded

        def by_age(key: tuple[str, str, str]) -> tuple[int, list[bytes]]:
            return recorded[key].at, [part.encode() for part in key]

        for key in sorted((key for key in recorded if recorded[key].at > now), key=by_age)[:limit]:
            self._tables.put(recorded, key, recorded[key]._replace(at=now))
        old = sorted((key for key in recorded if recorded[key].at < before), key=by_age)[:limit]
        for key in old:
            self._tables.remove(recorded, key)
        return len(old)

    def delete(self, keys: Sequence[RecordedKey]) -> None:
        for key in keys:
            self._tables.remove(self._tables.recorded, key)
