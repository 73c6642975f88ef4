"""The facts of one nugget by itself, as the original is asked."""

from collections.abc import Sequence

from shelfd.memory.facts import Broadcast, FactAnswer, Options
from shelfd.memory.facts.banks import Echo
from shelfd.memory.facts.capacity import Status, status_of


class FactMemory:
    """A :class:`Broadcast` of one nugget, whose name is empty."""

    def __init__(self, options: Options | None = None) -> None:
        self.facts = Broadcast()
        self._options = options or Options()

    def __len__(self) -> int:
        return len(self.facts)

    def put(self, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep the fact *row*, or what it says now."""
        self.facts.put("", row, key, value, aliases, self._options)

    def remove(self, row: str) -> bool:
        """Forget the fact *row*; tell whether there was one."""
        return self.facts.remove(row)

    def recall(self, query: str) -> FactAnswer | None:
        """Return the fact that answers *query*."""
        return self.facts.recall(query, "")

    def echo(self, row: str) -> Echo:
        """Return how clearly the banks give the value of *row*."""
        return self.facts.echo(row)

    def status(self) -> Status:
        """Return how full the banks are."""
        return status_of(len(self), self._options)
