"""A rule that finds what must not be kept."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol


class Finder(Protocol):
    """Finds one kind of text, in time proportional to what is searched."""

    @property
    def name(self) -> str:
        """By which callers and counters know it."""
        ...

    def may_find(self, text: str) -> bool:
        """Return whether there may be something to be found in *text* or a part of it: of most it is known soon."""
        ...

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        ...


def anything(_found: str) -> bool:
    """Return True: all that a pattern finds is meant."""
    return True


class TextRule(NamedTuple):
    """A finder by a pattern.

    Attributes:
        name: By which callers and counters know it.
        hints: A text without any of these has nothing to be found; empty if nothing is known of it.
        pattern: Where it may be.
        is_meant: Whether what the pattern found is one.
        group: Which group of the pattern is it; 0 for all that fits.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_meant: Callable[[str], bool] = anything
    group: int = 0

    def may_find(self, text: str) -> bool:
        """Return whether there may be something to be found in *text* or a part of it."""
        for hint in self.hints:  # any() of a generator takes ten times as long
            if hint in text:
                return True
        return not self.hints

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found in *text*."""
        if not self.may_find(text):
            return
        for match in self.pattern.finditer(text):
            found = match[self.group]
            if found and self.is_meant(found):
                yield found
