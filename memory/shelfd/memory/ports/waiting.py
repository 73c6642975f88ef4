"""Work that calls a function when it is done, and how a coroutine waits for that.

A task costs more than all the Python of a small change, so what only waits for a commit is begun without one.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

T = TypeVar("T")

#: Takes what came of something: its value or what went wrong.
OnDone: TypeAlias = Callable[[T | Exception], None]


async def outcome_of(begin: Callable[[OnDone[T]], None]) -> T:
    """Call *begin* with a function that takes the outcome; return that outcome, or raise it.

    What was begun goes on when the caller is cancelled.
    """
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    begin(partial(_settle, future))
    try:
        return await future
    finally:
        # An exception knows this frame and the future the exception: a ring around all that the call holds.
        del future


def _settle(future: asyncio.Future[T], outcome: T | Exception) -> None:
    if future.done():  # its caller was cancelled
        return
    if isinstance(outcome, Exception):
        future.set_exception(_raisable(outcome))
    else:
        future.set_result(outcome)


def _raisable(error: Exception) -> Exception:
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("raised StopIteration")  # which a future refuses
    wrapped.__cause__ = error
    return wrapped
