"""What changed, as MCP has it: "this resource is another one now, read it again if you care".

Nothing is queued. A feed is a position in the shelf's log and a set of URIs; what happened within a moment is told
together, and a client that lags so far behind that looking would take long is told that all of it changed.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

from shelfd.gateway.envelope import Id, notification
from shelfd.gateway.mcp import resources
from shelfd.gateway.mcp.era import SUBSCRIPTION
from shelfd.gateway.ports import EventLogPort
from shelfd.memory.errors import QuotaExceeded, ShelfError
from shelfd.memory.ports.log import ENDED
from shelfd.memory.ports.watching import WATCH_MATCHED
from shelfd.protocol.methods.events import SubscribeParams

#: Seconds within which changes are told together.
MOMENT_S: Final = 0.05
#: Changes looked at before others have their turn.
_SLICE: Final = 64
#: Changes that are looked at one by one.
_BEHIND: Final = 1024
#: URIs that one connection may subscribe to.
URIS_COUNT: Final = 1000

#: Changes after which the list of resources is another one.
_LISTED: Final = frozenset(
    (
        *("note.created", "note.hidden", "note.restored", "note.superseded", "note.merged", "note.purged"),
        *("nugget.created", "nugget.renamed", "nugget.removed"),
    )
)

#: Who is told: a ``subscriptions/listen`` by its id, or None for the connection as such.
Holder: TypeAlias = Id


class ResourceFeed:
    """One connection's subscriptions to resources. Stands where a connection keeps its subscriptions to events.

    Args:
        send: Takes one message for the client.
        is_backed_up: Says whether the client has fallen behind with reading.
        on_lag: Called when changes were passed over and everything was called changed.
    """

    def __init__(
        self, send: Callable[[bytes], None], is_backed_up: Callable[[], bool], on_lag: Callable[[], None]
    ) -> None:
        self._send = send
        self._is_backed_up = is_backed_up
        self._on_lag = on_lag
        self._wanted: dict[str, set[Holder]] = {}
        self._of_list: set[Holder] = set()
        self._graphs: set[str] = set()
        self._followers: dict[str, FollowedShelf] = {}

    # ------------------------------------------------------------------ who wants what

    def want(self, uris: Collection[str], holder: Holder, graph: str) -> None:
        """Tell *holder* when one of these changes.

        Args:
            uris: In their canonical spelling.
            holder: Who is told.
            graph: The nugget that the knowledge graph is in.

        Raises:
            QuotaExceeded: If there are too many.
        """
        if len(self._wanted.keys() | set(uris)) > URIS_COUNT:
            message = f"a connection subscribes to at most {URIS_COUNT} resources"
            raise QuotaExceeded(message, field="uri", limit=URIS_COUNT)
        for uri in uris:
            self._wanted.setdefault(uri, set()).add(holder)
        if resources.GRAPH in uris:
            self._graphs.add(graph)

    def want_list(self, holder: Holder) -> None:
        """Tell *holder* when the list of resources changes."""
        self._of_list.add(holder)

    def drop(self, holder: Holder, uri: str | None = None) -> None:
        """Tell *holder* no more: of one resource, or of anything."""
        for one in [uri] if uri is not None else list(self._wanted):
            holders = self._wanted.get(one, set())
            holders.discard(holder)
            if not holders:
                self._wanted.pop(one, None)
        if uri is None:
            self._of_list.discard(holder)

    # ------------------------------------------------------------------ as a connection's subscriptions

    def open(self, log: EventLogPort, params: SubscribeParams) -> "FollowedShelf":
        """Follow a shelf, once. See :class:`~shelfd.gateway.subscriptions.Subscriptions`."""
        shelf = params.shelf
        if shelf not in self._followers:
            self._followers[shelf] = FollowedShelf(shelf, log, self)
        return self._followers[shelf]

    def close(self, name: str) -> bool:
        """Follow a shelf no more."""
        follower = self._followers.pop(name, None)
        if follower is not None:
            follower.stop()
        return follower is not None

    def close_all(self) -> None:
        """Follow nothing more."""
        for name in list(self._followers):
            self.close(name)

    def resume(self) -> None:
        """Go on: the client has caught up."""
        for follower in self._followers.values():
            follower.schedule()

    # ------------------------------------------------------------------ what happened

    @property
    def is_backed_up(self) -> bool:
        """Whether the client has to read first."""
        return self._is_backed_up()

    def is_of_interest(self, kind: str, _nugget: str | None) -> bool:
        """Return whether a change can be one that somebody is told of."""
        if kind == WATCH_MATCHED:
            return False  # the note itself is told of
        return bool(self._wanted) or (bool(self._of_list) and kind in _LISTED)

    def touched_by(self, event: Mapping[str, Any]) -> set[str]:
        """Return the URIs that a change touches."""
        data = event["data"]
        uris = {resources.note_uri(note_id) for note_id in data.get("ids", ())}
        if nugget := data.get("nugget"):
            uris.add(resources.nugget_uri(nugget))
            if nugget in self._graphs:
                uris.add(resources.GRAPH)
        return uris

    def tell(self, uris: Collection[str], *, is_listed: bool) -> None:
        """Tell those who want it that these resources, and perhaps the list of them, changed."""
        for uri in sorted(self._wanted.keys() & set(uris)):
            for holder in self._wanted[uri]:
                self._notify("notifications/resources/updated", holder, {"uri": uri})
        if is_listed:
            for holder in self._of_list:
                self._notify("notifications/resources/list_changed", holder, {})

    def tell_all(self) -> None:
        """Tell everybody that everything may have changed."""
        self.tell(list(self._wanted), is_listed=True)
        self._on_lag()

    def _notify(self, method: str, holder: Holder, params: dict[str, Any]) -> None:
        of = {} if holder is None else {"_meta": {SUBSCRIPTION: holder}}
        self._send(notification(method, {**of, **params}))


class FollowedShelf:
    """One shelf that a feed follows, from now on.

    Attributes:
        name: The shelf's.
        seq: The last change looked at.
    """

    def __init__(self, name: str, log: EventLogPort, feed: ResourceFeed) -> None:
        self.name = name
        self.seq = log.seq
        self._log = log
        self._feed = feed
        self._unfollow: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._touched: set[str] = set()
        self._is_listed = False

    def start(self) -> None:
        """Begin; a second call changes nothing."""
        if self._unfollow is None:
            self._unfollow = self._log.follow(self._applied)
            self.schedule()

    def stop(self) -> None:
        """Tell nothing more."""
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def schedule(self) -> None:
        """Look in a moment, unless that is to happen anyway."""
        if self._timer is None and self._unfollow is not None:
            self._timer = asyncio.get_running_loop().call_later(MOMENT_S, self._look)

    def _applied(self, seq: int) -> None:
        # Called on the way of a commit: no more is done here than noting that there is something to look at.
        if seq == ENDED:  # the shelf was replaced or dropped
            self.stop()
            self._feed.tell_all()
        else:
            self.schedule()

    def _look(self) -> None:
        self._timer = None
        if self._feed.is_backed_up:
            return  # the connection resumes us
        end = self._log.seq
        if end - self.seq > _BEHIND:
            self._pass_over(end)
            return
        try:
            events, looked_at = self._log.events(self.seq, _SLICE, self._feed.is_of_interest)
        except ShelfError:
            self._pass_over(end)
            return
        for event in events:
            self._touched |= self._feed.touched_by(event)
            kind = event["type"].removeprefix("shelfd.").removesuffix(".v1")
            self._is_listed = self._is_listed or kind in _LISTED
        if looked_at > self.seq:
            self.seq = looked_at
            if looked_at < end:
                self._timer = asyncio.get_running_loop().call_later(0, self._look)
                return
        touched, self._touched = self._touched, set()
        is_listed, self._is_listed = self._is_listed, False
        self._feed.tell(touched, is_listed=is_listed)

    def _pass_over(self, end: int) -> None:
        self.seq = end
        self._touched, self._is_listed = set(), False
        self._feed.tell_all()
