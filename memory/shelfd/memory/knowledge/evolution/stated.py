"""What a note states, as it is stored."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic_core import from_json, to_json

from shelfd.memory.knowledge.evolution.statement import Arity, Claim, Effect, Statement, Value


class Stated(NamedTuple):
    """What a note states."""

    statements: Sequence[Statement]

    def encoded(self) -> str:
        """Return it as the text it is stored as."""
        return encode(self.statements)


def encode(statements: Iterable[Statement]) -> str:
    """Return *statements* as the text they are stored as."""
    return to_json([_plain(statement) for statement in statements]).decode()


def _plain(statement: Statement) -> tuple[Any, ...]:
    (
        language, subject, verb, link, core, rest, words, amounts, value, slot, effect, *marks, denied, manner,
        left_out, claim,
    ) = statement  # fmt: skip
    more: tuple[Any, ...] = ()  # as most have none
    if claim is not None:
        more = (
            sorted(left_out),
            (*claim[:1], sorted(claim.about), *claim[2:4], sorted(claim.turning), claim.is_denied),
        )
    elif left_out:
        more = (sorted(left_out),)
    return (
        language, sorted(subject), verb, link, core, sorted(rest), words, amounts,
        _TEXTS[value], _TEXTS[slot], _TEXTS[effect],  # which are written three times as fast
        *marks, sorted(denied), manner, *more,
    )  # fmt: skip


_READ: Final = {
    **dict.fromkeys(("subject", "rest", "denied"), frozenset),
    **dict.fromkeys(("core", "words", "amounts"), tuple),
    "value": Value,
    "slot": Arity,
    "effect": Effect,
}
_TEXTS: Final[Mapping[str, str]] = {str(one): str(one) for kind in (Value, Arity, Effect) for one in kind}
_LEFT_OUT: Final = Statement._fields.index("left_out")
_CLAIM: Final = Statement._fields.index("claim")
_CONVERTED: Final = [(Statement._fields.index(name), read) for name, read in _READ.items()]


def decode(said: str) -> tuple[Statement, ...]:
    """Return the statements that :func:`encode` was given."""
    return tuple(_statement(values) for values in from_json(said))


def _statement(values: list[Any]) -> Statement:
    for at, read in _CONVERTED:
        values[at] = read(values[at])
    if len(values) > _LEFT_OUT:  # as most have none
        values[_LEFT_OUT] = frozenset(values[_LEFT_OUT])
        if len(values) > _CLAIM:
            source, about, amounts, times, turning, is_denied = values[_CLAIM]
            values[_CLAIM] = Claim(
                source, frozenset(about), tuple(amounts), tuple(times), frozenset(turning), is_denied
            )
    return Statement(*values)
