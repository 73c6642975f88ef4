"""The twin's standing queries."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection

from shelfd.memory.ports.watches import Watch, WatchesWriter
from shelfd.storage.encoding import decode, encode
from shelfd.storage.inmemory.tables import InMemoryRows


class InMemoryWatches(InMemoryRows, WatchesWriter):
    """Standing queries."""

    def get(self, watch_id: str) -> Watch | None:
        return next((watch for watch in self._tables.watches.values() if watch.id == watch_id), None)

    def page(self, *, principal: str | None = None, after: int = 0, limit: int) -> tuple[list[Watch], int | None]:
        found = [
            (number, watch)
            for number, watch in sorted(self._tables.watches.items())
            if number > after and principal in (None, watch.principal)
        ]
        return [watch for _, watch in found[:limit]], found[limit - 1][0] if len(found) > limit else None

    def count(self, principal: str | None = None) -> int:
        return sum(principal in (None, watch.principal) for watch in self._tables.watches.values())

    def add(self, watch: Watch) -> None:
        self._tables.watch_number += 1
        stored = watch._replace(filters=decode(encode(watch.filters)))
        self._tables.put(self._tables.watches, self._tables.watch_number, stored)

    def delete(self, ids: Collection[str]) -> int:
        numbers = [number for number, watch in self._tables.watches.items() if watch.id in ids]
        return sum(self._tables.remove(self._tables.watches, number) for number in numbers)

    def rename_nugget(self, old: str, new: str) -> None:
        for number, watch in list(self._tables.watches.items()):
            if watch.nugget == old:
                self._tables.put(self._tables.watches, number, watch._replace(nugget=new))
