"""How many shelves there may be, and how many one principal may have."""

import asyncio
from typing import Protocol

from shelfd.memory.errors import QuotaExceeded
from shelfd.memory.settings import MemorySettings


class Owned(Protocol):
    """Shelves that belong to principals."""

    settings: MemorySettings

    def names(self) -> list[str]:
        """Return those that exist."""
        ...

    def owner(self, name: str) -> str | None:
        """Return whose one is."""
        ...


async def check_quota(shelves: Owned, owner: str | None) -> None:
    """Raise if there may be no further shelf, or *owner* may have none; None may have any number.

    Raises:
        QuotaExceeded: If so.
    """
    names, limit = shelves.names(), shelves.settings.shelves_count
    if len(names) >= limit:
        raise QuotaExceeded(f"there are {limit} shelves already", field="shelf", limit=limit)
    if owner is None:
        return
    count, limit = 0, shelves.settings.shelves_per_principal_count
    for name in names:
        await asyncio.sleep(0)  # an owner that is not known yet is read from the shelf's file, once
        count += shelves.owner(name) == owner
    if count >= limit:
        message = f"{owner} has {limit} shelves already; drop one, or have an administrator create it"
        raise QuotaExceeded(message, field="shelf", limit=limit)
