"""The default store: one SQLite file a shelf."""

from shelfd.storage.sqlite.migrations import look_at_shelf
from shelfd.storage.sqlite.store import SqliteStore
from shelfd.storage.sqlite.stores import SqliteStores

__all__ = ["SqliteStore", "SqliteStores", "look_at_shelf"]
