"""Which notes of a type may be rolled up: a type's ``compression.rule``.

Conditions that all have to hold, one a line or joined by ``&&``: ``exists(column)`` or ``has(column)``,
``empty(column)``, ``column = value``, ``column != value``, ``column in [a|b]``, ``column not in [a|b]``. Beside a
note's columns there are ``title``, ``depth``, ``rollup`` (true or false) and ``seq``. Case makes no difference.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from shelfd.memory.errors import InvalidParams
from shelfd.memory.notes.note import Note, fold_key

Condition: TypeAlias = Callable[[Note], bool]

_JOINT: Final = re.compile(r"\n|&&")
_CALL: Final = re.compile(r"(exists|has|empty)\s*\(\s*([^()]+?)\s*\)", re.IGNORECASE)
_AMONG: Final = re.compile(r"(\S+)\s+(not\s+)?in\s*\[([^\[\]]*)\]", re.IGNORECASE)
_EQUALS: Final = re.compile(r"([^\s!=]+)\s*(!?=)\s*(\S.*)")


def rule_of(text: str) -> Condition:
    """Return the condition that a rule is; an empty one holds for every note.

    Raises:
        InvalidParams: If it is no rule; the message says which part.
    """
    return _read(text)


@lru_cache(maxsize=64)
def _read(text: str) -> Condition:
    conditions = [_condition(part.strip()) for part in _JOINT.split(text) if part.strip()]
    return lambda note: all(condition(note) for condition in conditions)


def _condition(text: str) -> Condition:
    if match := _CALL.fullmatch(text):
        wanted = match[1].lower() != "empty"
        return lambda note, column=match[2]: bool(_values(note, column)) is wanted  # type: ignore[misc]
    if match := _AMONG.fullmatch(text):
        among = frozenset(fold_key(value) for value in match[3].split("|"))
        return _among(match[1], among, is_wanted=match[2] is None)
    if match := _EQUALS.fullmatch(text):
        return _among(match[1], frozenset({fold_key(match[3])}), is_wanted=match[2] == "=")
    raise InvalidParams(
        f"compression.rule: {text[:64]!r} is no condition; they are exists(column), empty(column), column = value,"
        " column != value, column in [a|b] and column not in [a|b]",
        field="compression.rule",
    )


def _among(column: str, values: frozenset[str], *, is_wanted: bool) -> Condition:
    return lambda note: values.isdisjoint(_values(note, column)) is not is_wanted


def _values(note: Note, column: str) -> list[str]:
    """What a note says in a column, folded; of a list each member."""
    name = fold_key(column)
    own: Mapping[str, Any] = {
        "title": note.title,
        "depth": note.extra.rollup_depth,
        "rollup": note.extra.is_rollup,
        "seq": note.seq_to,
    }
    value = own[name] if name in own else next((v for k, v in note.extra.fields.items() if fold_key(k) == name), None)
    members = value if isinstance(value, list) else [value]
    return [fold_key(str(member)) for member in members if member is not None and str(member).strip()]
