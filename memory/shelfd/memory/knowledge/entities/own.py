"""Types of entities of the configuration, and what it adds to others: names, and patterns of identifiers."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final

from shelfd.memory.knowledge.entities.gazetteer import Gazetteer
from shelfd.memory.knowledge.entities.kinds import EntityMention, mention
from shelfd.memory.knowledge.entities.patterns import PatternError, compile_pattern
from shelfd.memory.knowledge.entities.segment import Segment
from shelfd.memory.settings import EntityRule

#: What the rules are: raised when they find something else, so that every shelf is read again.
_RULES_VERSION: Final = 24


class OwnTypes:
    """What the configuration has shelves find.

    Args:
        rules: By type.

    Attributes:
        version: Changes with the rules, empty for none.

    Raises:
        PatternError: If a pattern is not one, or could take too long.
    """

    def __init__(self, rules: tuple[EntityRule, ...] = ()) -> None:
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        ways = 0
        for rule in rules:
            for number, text in enumerate(rule.patterns, 1):
                try:
                    pattern = compile_pattern(text, ways)
                except PatternError as error:
                    raise PatternError(f"pattern {number} of {rule.type}: {error}") from None
                ways += pattern.ways
                self._patterns.append((rule.type, pattern.expression))
        self._names = Gazetteer(((rule.type, name) for rule in rules for name in rule.names), is_strict=False)
        self.version = sha256(json.dumps(rules).encode()).hexdigest()[:16] if rules else ""

    def find(self, segment: Segment) -> Iterator[EntityMention]:
        """Yield what *segment* has of it; it is marked with that. Patterns come first, in their order."""
        for type_, expression in self._patterns:
            for found in expression.finditer(segment.text):
                if segment.is_free(found.start(), found.end()):
                    segment.take_span(found.start(), found.end())
                    yield mention(type_, found[0], found.start(), found.end(), 0.95)
        if self._names:
            yield from self._names.find(segment)


@lru_cache(maxsize=4)
def own_types(rules: tuple[EntityRule, ...]) -> OwnTypes:
    """Return what the configuration has shelves find, read once."""
    return OwnTypes(rules)


def rules_of(types: OwnTypes) -> str:
    """Return by which rules entities are found, with those of the configuration."""
    return f"{_RULES_VERSION}.{types.version}"
