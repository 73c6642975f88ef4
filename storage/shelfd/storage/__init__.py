"""Where memories live: SQLite for real, an in-memory twin with the same behaviour for tests."""

from shelfd.storage.inmemory import InMemoryStore, InMemoryStores
from shelfd.storage.memory_files import Destination, DiskMemoryFiles, PromotionPaths
from shelfd.storage.sqlite import SqliteStore, SqliteStores, look_at_shelf

__all__ = [
    "Destination",
    "DiskMemoryFiles",
    "InMemoryStore",
    "InMemoryStores",
    "PromotionPaths",
    "SqliteStore",
    "SqliteStores",
    "look_at_shelf",
]
