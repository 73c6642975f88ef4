"""A table whose entries are made by modules that are imported when one of their entries is first asked for.

To import what all methods need takes half of the daemon's start, and no request needs more than a little of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from threading import RLock
from typing import Final, TypeVar

T = TypeVar("T")

#: Held by whoever imports after the start: of two threads, one that imports a package and one that imports a module of
#: it, each may wait for the other.
importing: Final = RLock()


class LazyTable(Mapping[str, T]):
    """Entries by name. Which module makes which is known from the start; iteration is over all names.

    Args:
        package: Where the modules are.
        modules: The names that each makes, with blanks between them, by module.
    """

    def __init__(self, package: str, modules: Mapping[str, str]) -> None:
        self._names_of = {f"{package}.{module}": names.split() for module, names in modules.items()}
        self._module_of = {name: module for module, names in self._names_of.items() for name in names}
        self._entries: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            module = self._module_of[name]
        with importing:
            import_module(module)
        return self._entries[name]

    def __setitem__(self, name: str, entry: T) -> None:
        """Enter what a module makes.

        Raises:
            ValueError: If the table does not have its name.
        """
        if name not in self._module_of:
            raise ValueError(f"{name!r} is not in the table of what the modules make")
        self._entries[name] = entry

    def __contains__(self, name: object) -> bool:
        return name in self._module_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._module_of)

    def __len__(self) -> int:
        return len(self._module_of)

    def modules(self) -> Mapping[str, Sequence[str]]:
        """Return the names that each module makes, by module."""
        return self._names_of

    def has_loaded(self, name: str) -> bool:
        """Whether the entry called *name* is made already."""
        return name in self._entries
