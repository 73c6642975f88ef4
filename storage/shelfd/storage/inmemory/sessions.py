"""The twin's conversations."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping
from typing import Any

from shelfd.memory.ports.sessions import (
    Injection,
    InjectionsWriter,
    NoteTypesWriter,
    Retraction,
    RewindsWriter,
    Session,
    SessionsWriter,
    Variant,
)
from shelfd.storage.encoding import decode, encode
from shelfd.storage.inmemory.tables import InMemoryRows

_PAST_AT_ONCE = 4


class InMemorySessions(InMemoryRows, SessionsWriter):
    """Sessions."""

    def get(self, session_id: str) -> Session | None:
        return self._tables.sessions.get(session_id)

    def page(
        self, *, after: str, limit: int, nugget: str | None = None, used_since: int | None = None
    ) -> list[Session]:
        found = [
            session
            for session_id, session in sorted(self._tables.sessions.items())
            if session_id > after
            and nugget in (None, session.nugget)
            and (used_since is None or (session.closed_at is None and session.last_used_at >= used_since))
        ]
        return found[: max(limit, 0)]

    def count(self) -> int:
        return len(self._tables.sessions)

    def put(self, session: Session) -> None:
        self._tables.put(self._tables.sessions, session.session_id, session)


class InMemoryNoteTypes(InMemoryRows, NoteTypesWriter):
    """Types of notes that were set."""

    def of(self, nugget: str) -> dict[str, Mapping[str, Any]]:
        types = sorted(self._tables.note_types.items(), key=lambda item: item[0])
        return {name: spec for (of, name), spec in types if of == nugget}

    def put(self, nugget: str, name: str, spec: Mapping[str, Any]) -> None:
        self._tables.put(self._tables.note_types, (nugget, name), decode(encode(spec)))

    def delete(self, nugget: str, name: str) -> bool:
        return self._tables.remove(self._tables.note_types, (nugget, name))


class InMemoryRewinds(InMemoryRows, RewindsWriter):
    """What was taken back of conversations."""

    def live_variant(self, session_id: str, turn: int) -> int | None:
        of_turn = self.variants(session_id, from_turn=turn, until_turn=turn)
        return next((variant.variant for variant in of_turn if variant.is_live), None)

    def variants(self, session_id: str, *, from_turn: int, until_turn: int | None = None) -> list[Variant]:
        return [
            variant
            for (session, turn, _), variant in sorted(self._tables.variants.items())
            if session == session_id and from_turn <= turn and (until_turn is None or turn <= until_turn)
        ]

    def get(self, number: int) -> Retraction | None:
        return self._tables.retractions.get(number)

    def by_run(self, run_id: str) -> list[tuple[int, Retraction]]:
        return [(number, one) for number, one in self._tables.retractions.items() if one.run_id == run_id]

    def since(self, seq: int) -> list[tuple[int, Retraction]]:
        return [(number, one) for number, one in self._tables.retractions.items() if one.done_seq >= seq]

    def of_variant(self, session_id: str, turn: int, variant: int) -> list[tuple[int, Retraction]]:
        wanted = (session_id, turn, turn, variant)
        return [(number, one) for number, one in self._tables.retractions.items() if one[:4] == wanted and one.stands]

    def put_variant(self, variant: Variant) -> None:
        self._tables.put(self._tables.variants, variant[:3], variant)

    def add_retraction(self, retraction: Retraction) -> int:
        self._tables.retraction_number += 1
        self._tables.put(self._tables.retractions, self._tables.retraction_number, retraction)
        return self._tables.retraction_number

    def copies(self, note_id: str) -> list[str]:
        return sorted(copy for original, copy in self._tables.copies if original == note_id)

    def add_copy(self, note_id: str, copy_id: str) -> None:
        self._tables.put(self._tables.copies, (note_id, copy_id), True)

    def put_retraction(self, number: int, retraction: Retraction) -> None:
        if number in self._tables.retractions:
            self._tables.put(self._tables.retractions, number, retraction)


class InMemoryInjections(InMemoryRows, InjectionsWriter):
    """What was handed to prompts."""

    def last(self, session_id: str, *, turn: int | None = None, at_seq: int | None = None) -> Injection | None:
        found = [item for item in self._of(session_id) if at_seq is None or item[1].seq < at_seq]
        if turn is not None:
            found = sorted((item for item in found if item[1].turn <= turn), key=lambda item: (item[1].turn, item[0]))
        return found[-1][1] if found else None

    def page(self, *, after: int, limit: int) -> list[tuple[int, Injection]]:
        return [item for item in self._tables.injections.items() if item[0] > after][: max(limit, 0)]

    def naming(self, ids: Collection[str], *, after: int, limit: int) -> tuple[list[int], int | None]:
        page = self.page(after=after, limit=limit)
        naming = [number for number, one in page if not one.ids.isdisjoint(ids)]
        return naming, page[-1][0] if len(page) == limit else None

    def count(self, session_id: str) -> int:
        return len(self._of(session_id))

    def add(self, injection: Injection) -> int:
        self._tables.injection_number += 1
        self._tables.put(self._tables.injections, self._tables.injection_number, _stored(injection))
        return self._tables.injection_number

    def replace(self, number: int, injection: Injection) -> None:
        if number in self._tables.injections:
            self._tables.put(self._tables.injections, number, _stored(injection))

    def delete_beyond(self, session_id: str, *, kept: int, kept_in_all: int) -> None:
        for number, _ in self._of(session_id)[::-1][kept:]:
            self._tables.remove(self._tables.injections, number)
        last = max(self._tables.injections, default=0)
        past = [number for number in self._tables.injections if number <= last - kept_in_all]
        for number in past[:_PAST_AT_ONCE]:
            self._tables.remove(self._tables.injections, number)

    def delete_of(self, session_id: str, *, limit: int) -> int:
        numbers = [number for number, _ in self._of(session_id)][:limit]
        for number in numbers:
            self._tables.remove(self._tables.injections, number)
        return len(numbers)

    def _of(self, session_id: str) -> list[tuple[int, Injection]]:
        return [item for item in self._tables.injections.items() if item[1].session_id == session_id]


def _stored(injection: Injection) -> Injection:
    return injection._replace(
        blocks=None if injection.blocks is None else decode(encode(injection.blocks)),
        trace=None if injection.trace is None else decode(encode(injection.trace)),
    )
