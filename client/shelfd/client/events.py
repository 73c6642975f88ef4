"""Following a shelf's events for as long as it takes: across lost connections, none twice, none left out unsaid."""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, Final

from shelfd.client.failure import RpcFailure
from shelfd.client.transport import connect

FIRST_RETRY_S: Final = 0.2
LONGEST_RETRY_S: Final = 10.0


def follow(
    path: str | None = None,
    *,
    types: Sequence[str] = (),
    nugget: str | None = None,
    shelf: str = "default",
    since_seq: int | None = None,
    on_trouble: Callable[[str], None] = lambda _: None,
) -> Generator[dict[str, Any], None, None]:
    """Subscribe to a shelf's events and yield them, CloudEvents, for ever.

    A lost connection is made again, and the events resume where it broke. To stop, leave the loop.

    Args:
        path: Socket path; None looks in the usual places.
        types: Like ``note.created`` or ``note.*``; none for all.
        nugget: Only events of this one.
        since_seq: Begin after this change; None begins now.
        on_trouble: Called with a sentence when the connection is lost, and when events are missing because the
            daemon no longer has them.

    Raises:
        NotRunning: If no daemon is there at the first try.
        RpcFailure: If the subscription is refused.
    """
    wanted = subscription(types, nugget, shelf)
    position, is_known, delay_s = since_seq, False, FIRST_RETRY_S
    while True:
        try:
            with connect(path) as client:
                first = client.call(
                    "events.subscribe", wanted if position is None else wanted | {"since_seq": position}
                )
                position = first["seq"] if position is None else position
                is_known, delay_s = True, FIRST_RETRY_S
                client.wait_for_ever()  # nothing may happen for hours
                for message in client.notifications():
                    if message["method"] == "event":
                        position = max(position, message["params"].get("seq", position))
                        yield message["params"]
                    elif is_over(message, on_trouble):
                        break
        except (ConnectionError, RpcFailure) as error:
            # Whoever was never there is not waited for.
            if not is_known or (isinstance(error, RpcFailure) and not error.is_retryable):
                raise
            if delay_s == FIRST_RETRY_S:
                on_trouble("connection lost; waiting for the daemon")
            time.sleep(jittered(delay_s))
            delay_s = min(LONGEST_RETRY_S, delay_s * 2)


def watch(
    query: str,
    path: str | None = None,
    *,
    nugget: str | None = None,
    shelf: str = "default",
    on_trouble: Callable[[str], None] = lambda _: None,
) -> Generator[dict[str, Any], None, None]:
    """Yield an event for each note that enters the results of *query*, across lost connections as :func:`follow` does.

    The standing query is taken away when the loop is left. A process that is killed leaves it behind; ``watch.list``
    has it then.

    Raises:
        NotRunning: If no daemon is there at the first try.
        RpcFailure: If the query is refused.
    """
    wanted = {"query": query, "shelf": shelf, **({} if nugget is None else {"nugget": nugget})}
    with connect(path) as client:
        made = client.call("watch.create", wanted)["watch"]
    following = follow(path, types=["watch.matched"], shelf=shelf, since_seq=made["since_seq"], on_trouble=on_trouble)
    try:
        with closing(following):
            for event in following:
                if event["data"]["watch"] == made["id"]:
                    yield event
    finally:
        with suppress(OSError, RpcFailure), connect(path) as client:
            client.call("watch.delete", {"id": made["id"], "shelf": shelf})


def subscription(types: Sequence[str], nugget: str | None, shelf: str) -> dict[str, Any]:
    """Return the params of a subscription."""
    wanted = {"types": list(types) or None, "nugget": nugget, "shelf": shelf}
    return {name: value for name, value in wanted.items() if value is not None}


def is_over(message: Mapping[str, Any], on_trouble: Callable[[str], None]) -> bool:
    """Report what is no event; return whether the subscription is over and has to be made again."""
    params = message.get("params", {})
    if message["method"] == "events.gap":
        on_trouble(f"events {params.get('from_seq')} to {params.get('to_seq')} are missing: {params.get('reason')}")
    return bool(message["method"] == "events.lagged")


def jittered(delay_s: float) -> float:
    """Return about *delay_s*, so that many clients do not come back in one moment."""
    return delay_s * (0.5 + os.urandom(1)[0] / 512)  # not by ``random``, which takes 9 ms to import
