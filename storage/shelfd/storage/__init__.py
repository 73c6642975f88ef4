"""Where memories live: SQLite for real; ``shelfd.storage.inmemory`` is a twin with the same behaviour for tests."""

from shelfd.storage.memory_files import Destination, DiskMemoryFiles, PromotionPaths
from shelfd.storage.sqlite import SqliteStore, SqliteStores, look_at_shelf

__all__ = [
    "Destination",
    "DiskMemoryFiles",
    "PromotionPaths",
    "SqliteStore",
    "SqliteStores",
    "look_at_shelf",
]
