"""What every command does around its call: connect, and turn trouble into a line on stderr and an exit status."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from shelfd.client.failure import NotRunning, RpcFailure, Unsendable, exit_status
from shelfd.client.hints import as_commands
from shelfd.client.output import clean
from shelfd.client.streams import complain
from shelfd.client.transport import Client, connect

#: By the type of an error: the method that lists what there is, where that is in its result, and what it is called.
_THERE: Final = {
    "NuggetNotFound": ("nugget.list", "nuggets", "name", "nugget"),
    "ShelfNotFound": ("shelf.list", "shelves", "shelf", "shelf"),
}
_NAMED: Final = 12  #: as many of them as are named


class Stop(SystemExit):
    """Ends the command with a status."""


def fail(message: str, status: int, type_: str = "Usage") -> NoReturn:
    """Say why the command cannot go on, and end it.

    Raises:
        Stop: With *status*.
    """
    complain(message, type_)
    raise Stop(status)


@contextmanager
def reported() -> Iterator[None]:
    """Turn what can go wrong with the daemon into a message and an exit status.

    Raises:
        Stop: With the sysexits status of the trouble.
    """
    try:
        yield
    except RpcFailure as failure:
        explain(failure)
        raise Stop(exit_status(failure)) from failure
    except NotRunning as error:
        complain(str(error), "NotRunning")
        raise Stop(os.EX_UNAVAILABLE) from error
    except TimeoutError as error:
        complain("no answer in time; whether it was carried out is unknown", "NoAnswer")
        raise Stop(os.EX_TEMPFAIL) from error
    except Unsendable as error:
        complain(str(error), "Unsendable")
        raise Stop(os.EX_DATAERR) from error
    except BrokenPipeError:
        raise  # of our own output: a connection that ends is a ConnectionResetError
    except ConnectionError as error:
        complain(str(error), "ConnectionLost")
        raise Stop(os.EX_TEMPFAIL) from error


@contextmanager
def daemon(socket: str | None, *, timeout_s: float | None = 60.0) -> Iterator[Client]:
    """Connect to the daemon for the length of a block, reporting trouble as :func:`reported` does.

    Args:
        timeout_s: Longest wait for an answer; None for what may take long.
    """
    with reported(), connect(socket, timeout_s=timeout_s) as client:
        try:
            yield client
        except RpcFailure as failure:
            _add_what_there_is(failure, client)
            raise


def call(socket: str | None, method: str, params: Mapping[str, Any], *, timeout_s: float | None = 60.0) -> Any:  # noqa: ANN401
    """Make one call on a connection of its own; params that are None are left out."""
    with daemon(socket, timeout_s=timeout_s) as client:
        return client.call(method, given(params))


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return *params* without those that are None: the daemon's defaults hold for them."""
    return {name: value for name, value in params.items() if value is not None}


def explain(failure: RpcFailure) -> None:
    """Say what the daemon refused, and why."""
    where, about = failure.data.get("field"), failure.data.get("id")
    message = as_commands(failure.message)
    if where and str(where) not in message:
        message = f"{where}: {message}"
    if about and str(about) not in message:
        message = f"{message} ({about})"
    type_ = str(failure.data.get("type", failure.code))
    # A field's name, or an id, may be the caller's text.
    complain(f"{clean(message)} [{type_}]", type_, code=failure.code, data=failure.data)


def _add_what_there_is(failure: RpcFailure, client: Client) -> None:
    """Have *failure* name the nuggets, or shelves, that there are, what is like the one that is not first."""
    there = _THERE.get(str(failure.data.get("type")))
    if there is None:
        return
    method, field, name, called = there
    params = {"shelf": failure.shelf or "default"} if method == "nugget.list" else {}
    try:
        found = [str(one[name]) for one in client.call(method, params)[field]]
    except (OSError, RpcFailure, KeyError, TypeError):
        return  # what is known already is worth saying
    from difflib import SequenceMatcher  # 3 ms, for those who have mistyped

    asked = str(failure.data.get(called, ""))
    found.sort(key=lambda one: (-SequenceMatcher(None, asked, one).ratio(), one))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    names = ", ".join(found[:_NAMED]) or "none"
    what = "nuggets" if called == "nugget" else "shelves"
    failure.message = f"there is no {called} {asked!r}; {what} here: {names}{more}"
    failure.data = {**failure.data, "known": found}
