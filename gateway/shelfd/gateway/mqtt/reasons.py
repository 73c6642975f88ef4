"""MQTT 5's reason codes as errors. For 3.1.1 the library gives the code that says the same."""

from typing import Final

from shelfd.gateway.mqtt.link import Trouble
from shelfd.memory.errors import BrokerUnreachable

_REFUSED_FROM: Final = 0x80  #: codes from here on are failures
_NOT_AUTHORIZED: Final = 0x87
_TROUBLES: Final = {
    0x84: Trouble.VERSION_REFUSED,
    0x86: Trouble.BAD_CREDENTIALS,
    _NOT_AUTHORIZED: Trouble.BAD_CREDENTIALS,  # what most brokers say of a wrong password
    0x8A: Trouble.NOT_AUTHORIZED,  # banned
    0x8E: Trouble.TAKEN_OVER,
    0x95: Trouble.TOO_LARGE,
}


def check(code: int) -> None:
    """Let pass what a broker took.

    Raises:
        BrokerUnreachable: If *code* is the refusal of one message or subscription.
    """
    if code >= _REFUSED_FROM:
        trouble = Trouble.NOT_AUTHORIZED if code == _NOT_AUTHORIZED else Trouble.REFUSED
        raise BrokerUnreachable(f"the broker refused it with code {code}; look at its ACL", reason=trouble)


def not_let_in(code: int, name: str) -> BrokerUnreachable:
    """Return the error for a connection that the broker refused with *code*, called *name*."""
    return BrokerUnreachable(f"the broker refused the connection: {name}", reason=_trouble(code, Trouble.UNREACHABLE))


def lost(code: int | None) -> BrokerUnreachable:
    """Return the error for a connection that ended, with *code* if the broker gave one."""
    trouble = _trouble(code, Trouble.LOST)
    why = "another client connected under the same name" if trouble is Trouble.TAKEN_OVER else "it ended"
    return BrokerUnreachable(f"the connection to the broker is lost: {why}", reason=trouble)


def _trouble(code: int | None, default: Trouble) -> Trouble:
    return default if code is None else _TROUBLES.get(code, default)
