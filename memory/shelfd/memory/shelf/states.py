"""What is said of a shelf that could not be opened."""

from shelfd.memory.errors import SchemaTooNew, ShelfError, StorageCorrupt


def state_after(error: ShelfError) -> str:
    """Return the state of a shelf that could not be opened."""
    if isinstance(error, StorageCorrupt):
        return "corrupt"
    return "newer" if isinstance(error, SchemaTooNew) else "failed"
