"""The SQLite store's twin: the same behaviour on dictionaries, for tests and as a reference."""

from shelfd.storage.inmemory.store import InMemoryStore, InMemoryStores

__all__ = ["InMemoryStore", "InMemoryStores"]
