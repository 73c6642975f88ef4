"""What is said of a shelf that is open, and of one that could not be opened."""

from typing import Any

from shelfd.memory.errors import SchemaTooNew, ShelfError, StorageCorrupt
from shelfd.memory.shelf.shelf import Shelf


def state_after(error: ShelfError) -> str:
    """Return the state of a shelf that could not be opened."""
    if isinstance(error, StorageCorrupt):
        return "corrupt"
    return "newer" if isinstance(error, SchemaTooNew) else "failed"


def status_of(name: str, shelf: Shelf | None, state: str) -> dict[str, Any]:
    """Return name, state, index and last sequence number of a shelf; None is one that is not open."""
    entry = {
        "shelf": name,
        "state": state,
        "index": shelf.index_state()["state"] if shelf else "none",
        "seq": shelf.seq if shelf else 0,
    }
    if shelf and (complaint := shelf.index_complaint()):
        entry["index_complaint"] = complaint
    return entry
