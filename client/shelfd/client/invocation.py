"""What every command does around its call: connect, and turn trouble into a line on stderr and an exit status."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from shelfd.client.failure import NotRunning, RpcFailure, Unsendable, exit_status
from shelfd.client.output import clean
from shelfd.client.streams import complain
from shelfd.client.transport import Client, connect


class Stop(SystemExit):
    """Ends the command with a status."""


@contextmanager
def reported() -> Iterator[None]:
    """Turn what can go wrong with the daemon into a message and an exit status.

    Raises:
        Stop: With the sysexits status of the trouble.
    """
    try:
        yield
    except RpcFailure as failure:
        complain(_explain(failure))
        raise Stop(exit_status(failure)) from failure
    except NotRunning as error:
        complain(str(error))
        raise Stop(os.EX_UNAVAILABLE) from error
    except TimeoutError as error:
        complain("no answer in time; whether it was carried out is unknown")
        raise Stop(os.EX_TEMPFAIL) from error
    except Unsendable as error:
        complain(str(error))
        raise Stop(os.EX_DATAERR) from error
    except BrokenPipeError:
        raise  # of our own output: a connection that ends is a ConnectionResetError
    except ConnectionError as error:
        complain(str(error))
        raise Stop(os.EX_TEMPFAIL) from error


@contextmanager
def daemon(socket: str | None) -> Iterator[Client]:
    """Connect to the daemon for the length of a block, reporting trouble as :func:`reported` does."""
    with reported(), connect(socket) as client:
        yield client


def call(socket: str | None, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Make one call on a connection of its own; params that are None are left out."""
    with daemon(socket) as client:
        return client.call(method, given(params))


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return *params* without those that are None: the daemon's defaults hold for them."""
    return {name: value for name, value in params.items() if value is not None}


def text_or_stdin(text: str) -> str:
    """Return *text*, or what stdin holds when it is ``-``.

    Raises:
        Stop: If stdin is not UTF-8, or cannot be read.
    """
    if text != "-":
        return text
    if sys.stdin is None:
        complain("stdin is closed")
        raise Stop(os.EX_NOINPUT)
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        complain("stdin is not UTF-8 text")
        raise Stop(os.EX_DATAERR) from error
    except OSError as error:
        complain(f"cannot read stdin: {error.strerror}")
        raise Stop(os.EX_NOINPUT) from error


def _explain(failure: RpcFailure) -> str:
    where = failure.data.get("field")
    message = failure.message if not where or str(where) in failure.message else f"{where}: {failure.message}"
    return clean(f"{message} [{failure.data.get('type', failure.code)}]")  # a field's name may be the caller's text
