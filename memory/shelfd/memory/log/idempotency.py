"""Requests that come twice: the same one is carried out once, and its outcome returned again."""

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, TypeAlias

from shelfd.memory.call import Call, Repeat
from shelfd.memory.errors import IdempotencyMismatch
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.intake import ANY_TEXT, Intake
from shelfd.memory.ports.log import Origin, Recorded
from shelfd.memory.ports.view import View, Writer

#: Expired outcomes that each new one deletes: more than one, so that they become fewer.
_FORGOTTEN: Final = 4
_MICROSECOND: Final = timedelta(microseconds=1)

Outcome: TypeAlias = dict[str, Any]
Apply: TypeAlias = Callable[[Transaction, Any, Call], Outcome]
Once: TypeAlias = tuple[Outcome, bool]  #: the outcome of a request, and whether it is a stored one
_Transacted: TypeAlias = tuple[Once, Transaction]


class RolledBack(Exception):
    """Raised by a change to end with an outcome, of which nothing stays."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def repeat_of(call: Call, retention: timedelta) -> Repeat | None:
    """Return how a repetition of *call* is known; None if it is not.

    Args:
        retention: How long an idempotency key is remembered.
    """
    key: str | None = getattr(call.params, "idempotency_key", None)
    return call.repeat if key is None else Repeat(key, retention)


def outcome_before(view: View, call: Call, repeat: Repeat, *, payload: str, now: int) -> dict[str, Any] | None:
    """Return the outcome of the same request when it was carried out; None if it was not.

    Raises:
        IdempotencyMismatch: If it was another request that used the key.
    """
    recorded = view.recorded.get(call.principal, call.method.name, repeat.key)
    if recorded is None or recorded.at <= now - repeat.lifetime // _MICROSECOND:
        return None
    if recorded.payload != payload:
        raise IdempotencyMismatch
    return dict(recorded.outcome)


def once(
    call: Call, origin: Origin, apply: Apply, retention: timedelta, intake: Intake = ANY_TEXT
) -> Callable[[Writer, int], _Transacted]:
    """Return a function that carries out *call* in a transaction, or finds its stored outcome.

    Its value is the outcome of *apply*, and whether that is a stored one.

    Args:
        call: The request.
        origin: What its log rows name.
        apply: What it does.
        retention: How long an idempotency key is remembered.
        intake: What is done with text that comes in.
    """
    repeat = repeat_of(call, retention)

    def transact(writer: Writer, now: int) -> _Transacted:
        transaction = Transaction(writer, now, origin, intake)
        if repeat is None:
            return (apply(transaction, call.params, call), False), transaction
        payload = payload_of(call)  # here, because remember_many's takes long
        before = outcome_before(writer, call, repeat, payload=payload, now=now)
        if before is not None:
            return (before, True), transaction
        outcome = apply(transaction, call.params, call)
        writer.recorded.put(call.principal, call.method.name, repeat.key, Recorded(payload, outcome, now))
        writer.recorded.delete_before(now - retention // _MICROSECOND, now=now, limit=_FORGOTTEN)
        return (outcome, False), transaction

    return transact


def check_key(view: View, call: Call, retention: timedelta, *, now: int) -> None:
    """Raise if another request of the caller's was carried out under the key of *call*, which changes nothing itself.

    Raises:
        IdempotencyMismatch: If one was.
    """
    if (repeat := repeat_of(call, retention)) is not None:
        outcome_before(view, call, repeat, payload=payload_of(call), now=now)


def payload_of(call: Call) -> str:
    """Return the fingerprint of the canonical params, by which a repeated request is recognised."""
    canonical = call.params.model_dump_json(exclude={"idempotency_key", "timeout_ms"})
    return sha256(canonical.encode()).hexdigest()
