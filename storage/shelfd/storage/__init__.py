"""Where memories live: SQLite for real, an in-memory twin with the same behaviour for tests."""

from shelfd.storage.inmemory import InMemoryStore, InMemoryStores
from shelfd.storage.sqlite import SqliteStore, SqliteStores

__all__ = ["InMemoryStore", "InMemoryStores", "SqliteStore", "SqliteStores"]
