"""Shelves in memory."""

from shelfd.memory.errors import DuplicateShelf, ShelfNotFound
from shelfd.memory.ports.store import Clock, Stores
from shelfd.storage.inmemory.store import InMemoryStore
from shelfd.storage.inmemory.tables import Tables


class InMemoryStores(Stores):
    """The twin of a data directory. A shelf that was closed can be opened again and has all it had."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._shelves: dict[str, Tables] = {}

    def names(self) -> list[str]:
        """Return the shelves that exist, sorted."""
        return sorted(self._shelves)

    def exists(self, shelf: str) -> bool:
        """Return whether there is such a shelf."""
        return shelf in self._shelves

    async def open(self, shelf: str) -> InMemoryStore:
        """Open an existing shelf. See the port."""
        if shelf not in self._shelves:
            raise ShelfNotFound(shelf)
        return InMemoryStore(self._clock, shelf, tables=self._shelves[shelf])

    async def create(self, shelf: str, *, owner: str) -> InMemoryStore:
        """Make a shelf and open it. See the port."""
        if shelf in self._shelves:
            raise DuplicateShelf(shelf)
        tables = Tables()
        tables.meta.update(shelf=shelf, owner=owner, created_at=str(self._clock.now()))
        self._shelves[shelf] = tables
        return await self.open(shelf)

    async def drop(self, shelf: str) -> None:
        """Forget a shelf. See the port."""
        if self._shelves.pop(shelf, None) is None:
            raise ShelfNotFound(shelf)

    def owner(self, shelf: str) -> str | None:
        """Return the principal a shelf belongs to."""
        return self._shelves[shelf].meta.get("owner") if shelf in self._shelves else None

    def has_work_left(self, shelf: str) -> bool:
        """Return whether the shelf was closed with work under way. See the port."""
        tables = self._shelves[shelf]
        return any(job.is_unfinished for _, job in tables.jobs.values()) or any(tables.promoting.values())

    async def clean_up(self) -> int:
        """Return 0: nothing is ever left over in memory."""
        return 0
