"""The methods the gateway answers itself: they need the connection or the daemon, not a shelf's use cases."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from shelfd.gateway.lane import Request
from shelfd.gateway.ports import Scheduling, ServicePort, SystemPort
from shelfd.gateway.subscriptions import Subscriptions
from shelfd.memory.encoded import decoded
from shelfd.memory.errors import NotAvailable
from shelfd.memory.ports.store import outcome_of
from shelfd.memory.ports.watching import WATCH_MATCHED
from shelfd.protocol import document
from shelfd.protocol.base import ShelfParams
from shelfd.protocol.methods.events import SubscribeParams, UnsubscribeParams

if TYPE_CHECKING:  # the daemon imports methods after its start
    from shelfd.protocol.methods.system import LogLevelParams

Handler: TypeAlias = Callable[[Request], Awaitable[dict[str, Any]]]


class OwnMethods:
    """Answers ``events.subscribe``, ``events.unsubscribe``, ``scheduler.*``, ``system.*`` and ``rpc.discover``.

    Of ``watch.create`` it adds that matches reach the connection.

    Args:
        scheduling: Answers ``scheduler.*``; None when nothing runs by itself.
    """

    def __init__(self, service: ServicePort, system: SystemPort, scheduling: Scheduling | None = None) -> None:
        self._service = service
        self._system = system
        self._scheduling = scheduling
        self._document: dict[str, Any] | None = None
        self.handlers: Mapping[str, Handler] = {
            "events.subscribe": self._subscribe,
            "events.unsubscribe": self._unsubscribe,
            "rpc.discover": self._discover,
            "scheduler.history": self._history,
            "scheduler.jobs": self._jobs,
            "scheduler.run": self._run,
            "system.config": self._config,
            "system.doctor": self._doctor,
            "system.health": self._health,
            "system.log_level": self._log_level,
            "system.metrics": self._metrics,
            "system.version": self._version,
            "watch.create": self._watch,
        }
        #: Methods that return nothing a change could alter, and so do not wait for changes.
        self.unordered = frozenset(
            name
            for name in self.handlers
            if name.partition(".")[0] not in ("scheduler", "watch") and name != "events.subscribe"
        )

    async def _subscribe(self, request: Request) -> dict[str, Any]:
        subscriptions = request.lane.subscriptions
        if subscriptions is None:
            raise NotAvailable("events.subscribe on this transport", field="method")
        params = cast("SubscribeParams", request.call.params)
        self._service.access.check(request.call.principal, params.shelf, "read")
        log = await self._service.shelf(request.call)
        subscription = subscriptions.open(log, params)
        request.follow_up = subscription.start
        return {"subscription": subscription.name, "seq": subscription.seq}

    async def _unsubscribe(self, request: Request) -> dict[str, Any]:
        params = cast("UnsubscribeParams", request.call.params)
        subscriptions = request.lane.subscriptions
        return {"removed": subscriptions is not None and subscriptions.close(params.subscription)}

    async def _watch(self, request: Request) -> dict[str, Any]:
        """Make a standing query, and have its matches sent to the connection that asks for it."""
        subscriptions, params = request.lane.subscriptions, cast("ShelfParams", request.call.params)
        subscription = None
        if isinstance(subscriptions, Subscriptions):
            log = await self._service.shelf(request.call)
            subscription = subscriptions.of_watches(log)
            if subscription is None:
                wanted = SubscribeParams(shelf=params.shelf, types=[WATCH_MATCHED])
                subscription = subscriptions.open(log, wanted)
                request.follow_up = subscription.start
        try:
            answer = decoded(await outcome_of(partial(self._service.submit, request.call)))
        except BaseException:
            if subscriptions is not None and subscription is not None and request.follow_up is not None:
                request.follow_up = None
                subscriptions.close(subscription.name)
            raise
        return answer if subscription is None else {**answer, "subscription": subscription.name}

    async def _jobs(self, request: Request) -> dict[str, Any]:
        return await self._scheduled(request).jobs(request.call)

    async def _run(self, request: Request) -> dict[str, Any]:
        return await self._scheduled(request).run(request.call)

    async def _history(self, request: Request) -> dict[str, Any]:
        return await self._scheduled(request).history(request.call)

    def _scheduled(self, request: Request) -> Scheduling:
        call = request.call
        self._service.access.check(call.principal, call.shelf, call.method.need)
        if self._scheduling is None:
            raise NotAvailable(call.method.name, field="method")
        return self._scheduling

    async def _discover(self, _: Request) -> dict[str, Any]:
        if self._document is None:
            self._document = document(self._system.version()["version"])
        return self._document

    async def _doctor(self, request: Request) -> dict[str, Any]:
        self._service.access.check(request.call.principal, None, "admin")
        return await self._system.doctor()

    async def _config(self, request: Request) -> dict[str, Any]:
        self._service.access.check(request.call.principal, None, "admin")
        return self._system.config()

    async def _log_level(self, request: Request) -> dict[str, Any]:
        self._service.access.check(request.call.principal, None, "admin")
        return self._system.log_level(cast("LogLevelParams", request.call.params).level)

    async def _health(self, request: Request) -> dict[str, Any]:
        return self._system.health(request.call.principal)

    async def _metrics(self, _: Request) -> dict[str, Any]:
        return self._system.metrics()

    async def _version(self, _: Request) -> dict[str, Any]:
        return self._system.version()
