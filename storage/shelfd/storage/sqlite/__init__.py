"""The default store: one SQLite file a shelf."""

from shelfd.storage.sqlite.store import SqliteStore
from shelfd.storage.sqlite.stores import SqliteStores

__all__ = ["SqliteStore", "SqliteStores"]
