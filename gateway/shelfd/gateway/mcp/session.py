"""MCP on one connection: what comes is made requests of the memory, and their answers what MCP has for them.

A session stands between a connection and the dispatcher and has the dispatcher's face. It carries out nothing itself:
order, access, limits, cancellation and the log are those of every other request.
"""

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import structlog

from shelfd.gateway import envelope as rpc
from shelfd.gateway.dispatch import Dispatcher, Done, Message
from shelfd.gateway.envelope import Envelope, Id, Refusal
from shelfd.gateway.lane import Lane
from shelfd.gateway.mcp import era, prompts, resources, tools
from shelfd.gateway.mcp.era import invalid
from shelfd.gateway.mcp.feed import ResourceFeed
from shelfd.gateway.mcp.options import McpOptions, options_of
from shelfd.gateway.mcp.progress import Progress
from shelfd.gateway.mcp.resources import Ask
from shelfd.gateway.reply import Reply, Send, encoded
from shelfd.memory.errors import QuotaExceeded, ShelfError, error_of, traced
from shelfd.protocol import METHODS, Code, error_object

_CANCELLED: Final = "notifications/cancelled"
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
#: MCP's own code for a resource that is not there.
_NO_RESOURCE: Final = -32002

Json: TypeAlias = dict[str, Any]


class McpRequest(NamedTuple):
    """One request.

    Attributes:
        id: The caller's.
        method: MCP's name of it.
        params: Without ``_meta``.
        meta: That.
        options: What of it is meant for us.
        stateless: Whether it is of a revision that each request names.
    """

    id: Id
    method: str
    params: Json
    meta: Mapping[str, Any]
    options: McpOptions
    stateless: bool


class McpSession:
    """Speaks MCP on a connection's lane.

    Args:
        dispatcher: Carries out requests.
        lane: The connection's.
        send: Takes one message for the client.
        is_backed_up: Says whether the client has fallen behind with reading.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        lane: Lane,
        send: Callable[[bytes], None],
        is_backed_up: Callable[[], bool],
    ) -> None:
        self._dispatcher = dispatcher
        self._lane = lane
        self._send = send
        self._log = structlog.get_logger().bind(component="gateway.mcp")
        self._level = _LEVELS.index("warning")
        self._listening: set[Id] = set()
        self._progress: set[Progress] = set()
        if lane.subscriptions is not None:
            lane.subscriptions.close_all()
        self._feed = lane.subscriptions = ResourceFeed(send, is_backed_up, self._said_all_changed)
        self._routes: Mapping[str, Callable[[McpRequest], Ask | Json]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "ping": lambda _: {},
            "logging/setLevel": self._set_level,
            "tools/list": self._list_tools,
            "resources/list": lambda asked: resources.listing(asked.params.get("cursor"), asked.options),
            "resources/templates/list": lambda _: {"resourceTemplates": resources.TEMPLATES},
            "resources/read": lambda asked: resources.reading(asked.params.get("uri"), asked.options),
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "prompts/list": lambda _: {"prompts": prompts.PROMPTS},
            "prompts/get": self._get_prompt,
            "completion/complete": lambda asked: prompts.completion(asked.params, asked.options),
        }

    # ------------------------------------------------------------------ the dispatcher's face

    def read(self, data: bytes) -> Message:
        """Parse one message. Never raises."""
        message = self._dispatcher.read(data)
        return self._spelled(message) if isinstance(message, Envelope) else message

    def read_in_turns(self, data: bytes) -> Generator[None, None, Message]:
        """Parse one large message. Never raises."""
        message = yield from self._dispatcher.read_in_turns(data)
        return self._spelled(message) if isinstance(message, Envelope) else message

    def _spelled(self, message: Envelope) -> Envelope:
        """Spell a cancellation as ours, which even a full connection takes."""
        if message.method != _CANCELLED:
            return message
        target = message.params.get("requestId")
        if target in self._listening if isinstance(target, str | int) else False:
            self._stop_listening(target)
        return Envelope(None, is_notification=True, method=rpc.CANCEL, params={"id": target})

    def start(self, message: Envelope | Refusal, lane: Lane, send: Send, done: Done) -> None:
        """Begin to carry out a message, as the dispatcher does."""
        if isinstance(message, Refusal) or message.method == rpc.CANCEL:
            self._dispatcher.start(message, lane, send, done)
            return
        if message.is_notification:
            self._take_note(message)
            done()
            return
        try:
            asked = _asked(message)
            self._begin(asked, send, done)
        except Refusal as refusal:
            send(Reply(message.id, error=refusal.error))
            done()
        except ShelfError as error:
            send(Reply(message.id, error=error_of(error)))
            done()
        except Exception as fault:  # noqa: BLE001 - a boundary: whatever it was, the connection goes on
            self._log.error("mcp.failed", method=message.method[:64], **traced(fault))
            send(Reply(message.id, error=rpc.internal_error()))
            done()

    def start_batch(self, members: list[Any], lane: Lane, put: Callable[[int, Reply], Reply], done: Done) -> None:
        """Begin to carry out a batch, which one revision of MCP has: its members, all at once."""
        left = len(members)

        def ended() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                done()

        for index, member in enumerate(members):
            opened = self._dispatcher.open(None if isinstance(member, list) else member)
            assert not isinstance(opened, list)
            message = self._spelled(opened) if isinstance(opened, Envelope) else opened
            self.start(message, lane, partial(put, index), ended)

    def close(self, lane: Lane) -> None:
        """The caller is gone: reads end, changes go on."""
        for progress in self._progress:
            progress.end()
        self._dispatcher.close(lane)

    def abandon_all(self, lane: Lane) -> None:
        """Answer ShuttingDown to everything that has not happened yet."""
        self._dispatcher.abandon_all(lane)

    # ------------------------------------------------------------------ requests

    def _begin(self, asked: McpRequest, send: Send, done: Done) -> None:
        if asked.method == "tools/call":
            self._call_tool(asked, send, done)
            return
        if asked.method == "subscriptions/listen" and asked.stateless:
            self._listen(asked)
            done()  # it is open until it is cancelled, and holds no place meanwhile
            return
        route = self._routes.get(asked.method)
        if route is None:
            raise Refusal(error_object(Code.METHOD_NOT_FOUND, "Method not found", kind="MethodNotFound"))
        answer = route(asked)
        if isinstance(answer, dict):
            send(Reply(asked.id, era.shaped(asked.method, answer, stateless=asked.stateless)))
            done()
        else:
            self._ask(asked, answer.method, answer.params, partial(self._shown, asked, answer, send), done)

    def _ask(
        self,
        asked: McpRequest,
        method: str,
        params: Json,
        send: Send,
        done: Done,
        on_begun: Callable[[], None] | None = None,
    ) -> None:
        message = Envelope(asked.id, is_notification=False, method=method, params=params)
        self._dispatcher.start(message, self._lane, send, done, on_begun)

    def _shown(self, asked: McpRequest, ask: Ask, send: Send, reply: Reply) -> Reply:
        if reply.error is None:
            shown = ask.render(reply.data)
            return send(reply._replace(result=era.shaped(asked.method, shown, stateless=asked.stateless)))
        if reply.error["code"] == Code.CANCELLED:
            return reply  # who cancels a request gets no answer
        if reply.error["code"] == Code.NOT_FOUND and asked.method == "resources/read":
            error = {**reply.error, "code": _NO_RESOURCE, "message": f"Resource not found: {reply.error['message']}"}
            return send(reply.failed(error))
        return send(reply)

    def _call_tool(self, asked: McpRequest, send: Send, done: Done) -> None:
        arguments = asked.params.get("arguments", {})
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise invalid("arguments: is not an object", "arguments")
        answer = partial(self._told, asked, send)
        try:
            ask = tools.find(asked.params.get("name"), arguments, tools.chosen(asked.options.tools), asked.options)
        except era.Unsuitable as refusal:
            answer(None, Reply(asked.id, error=refusal.error))
            done()
            return
        params = ask.params
        if asked.options.key is not None and METHODS[ask.method].is_change:
            params = {**params, "idempotency_key": asked.options.key}
        told = partial(answer, ask)
        token = asked.meta.get("progressToken")
        if not METHODS[ask.method].is_change or isinstance(token, bool) or not isinstance(token, str | int):
            self._ask(asked, ask.method, params, told, done)
            return
        progress = Progress(
            self._dispatcher, self._lane, self._send, token, method=ask.method, shelf=asked.options.shelf
        )
        self._progress.add(progress)
        self._ask(asked, ask.method, params, told, partial(self._ended, progress, done), progress.begin)

    def _ended(self, progress: Progress, done: Done) -> None:
        progress.end()
        self._progress.discard(progress)
        done()

    def _told(self, asked: McpRequest, send: Send, ask: tools.ToolAsk | None, reply: Reply) -> Reply:
        """Answer a call of a tool: what went wrong is told to the model that called it."""
        if reply.error is not None and reply.error["code"] == Code.CANCELLED:
            return reply
        if reply.error is not None or ask is None:
            result = tools.failed(reply.error or {}, None if ask is None else ask.explain(reply.error or {}))
        else:
            result = tools.told(ask.tell(reply.data))
        sent = send(reply._replace(result=era.shaped(asked.method, result, stateless=asked.stateless), error=None))
        # What is counted and logged is how the request ended, whatever MCP calls it.
        return reply if sent.error is None else sent

    def _initialize(self, asked: McpRequest) -> Ask:
        version = era.agreed(asked.params.get("protocolVersion"))

        def greeted(result: Json) -> Json:
            return {
                "protocolVersion": version,
                "capabilities": era.CAPABILITIES,
                "serverInfo": _server(result),
                "instructions": era.INSTRUCTIONS,
            }

        return Ask("system.version", {}, greeted)

    def _discover(self, _asked: McpRequest) -> Ask:
        def discovered(result: Json) -> Json:
            return {
                "_meta": {era.SERVER: _server(result)},
                "supportedVersions": [*era.HANDSHAKE, *era.STATELESS],
                "capabilities": era.CAPABILITIES,
                "instructions": era.INSTRUCTIONS,
            }

        return Ask("system.version", {}, discovered)

    def _list_tools(self, asked: McpRequest) -> Json:
        return {"tools": [tool for name in tools.chosen(asked.options.tools) for tool in tools.listed(name)]}

    def _get_prompt(self, asked: McpRequest) -> Ask:
        arguments = asked.params.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise invalid("arguments: is not an object", "arguments")
        return prompts.prompt(asked.params.get("name"), arguments, asked.options)

    # ------------------------------------------------------------------ what changes

    def _take_note(self, message: Envelope) -> None:
        """Take a notification; what cannot be understood has no answer."""
        if message.method == "notifications/initialized":
            try:
                options = _asked(message).options
            except Refusal:
                return
            self._feed.want_list(None)
            self._follow(options.shelf)

    def _follow(self, shelf: str) -> None:
        """Follow the log of a shelf. Nobody waits for that; a shelf that may not be read is not followed."""
        follow = Envelope(None, is_notification=True, method="events.subscribe", params={"shelf": shelf})
        self._dispatcher.start(follow, self._lane, lambda reply: reply, lambda: None)

    def _subscribe(self, asked: McpRequest) -> Ask:
        uri = resources.canonical(resources.place_of(asked.params.get("uri")))
        self._feed.want([uri], None, asked.options.graph)
        # Answered once the log is followed: whatever is committed after the answer is told.
        return Ask("events.subscribe", {"shelf": asked.options.shelf}, lambda _: {})

    def _unsubscribe(self, asked: McpRequest) -> Json:
        self._feed.drop(None, resources.canonical(resources.place_of(asked.params.get("uri"))))
        return {}

    def _listen(self, asked: McpRequest) -> None:
        wanted = asked.params.get("notifications")
        if not isinstance(wanted, dict):
            raise invalid("notifications: is not an object", "notifications")
        uris = wanted.get("resourceSubscriptions") or []
        if not isinstance(uris, list):
            raise invalid("notifications.resourceSubscriptions: is not a list", "notifications.resourceSubscriptions")
        if len(self._listening) >= (limit := self._dispatcher.limits.subscriptions_count):
            raise QuotaExceeded(f"a connection listens at most {limit} times", field="notifications", limit=limit)
        self._feed.want([resources.canonical(resources.place_of(uri)) for uri in uris], asked.id, asked.options.graph)
        honoured: Json = {"resourceSubscriptions": uris} if uris else {}
        if wanted.get("resourcesListChanged") is True:
            self._feed.want_list(asked.id)
            honoured["resourcesListChanged"] = True
        self._listening.add(asked.id)

        def acknowledge(reply: Reply) -> Reply:
            if reply.error is not None:
                self._stop_listening(asked.id)
                self._send(encoded(Reply(asked.id, error=reply.error)))
                return reply
            params = {"_meta": {era.SUBSCRIPTION: asked.id}, "notifications": honoured}
            self._send(rpc.notification("notifications/subscriptions/acknowledged", params))
            return reply

        self._ask(asked, "events.subscribe", {"shelf": asked.options.shelf}, acknowledge, lambda: None)

    def _stop_listening(self, listening: Id) -> None:
        self._listening.discard(listening)
        self._feed.drop(listening)

    # ------------------------------------------------------------------ log messages

    def _set_level(self, asked: McpRequest) -> Json:
        level = asked.params.get("level")
        if level not in _LEVELS:
            raise invalid(f"level: is none of {', '.join(_LEVELS)}", "level")
        self._level = _LEVELS.index(level)
        return {}

    def _said_all_changed(self) -> None:
        if self._level <= _LEVELS.index("notice"):
            text = "too much changed to tell it one by one; everything subscribed to was called changed"
            self._send(rpc.notification("notifications/message", {"level": "notice", "logger": "shelfd", "data": text}))


def _asked(message: Envelope) -> McpRequest:
    """Take a request apart.

    Raises:
        Refusal: If its ``_meta`` makes no sense.
    """
    params = dict(message.params)
    meta = params.pop("_meta", None)
    if meta is None:
        meta = {}
    if not isinstance(meta, dict):
        raise invalid("_meta: is not an object", "_meta")
    # An initialize is of the older kind, whatever is stamped on it.
    stateless = message.method != "initialize" and era.is_stateless(meta)
    return McpRequest(message.id, message.method, params, meta, options_of(meta), stateless)


def _server(version: Mapping[str, Any]) -> Json:
    return {"name": "shelfd", "title": "shelfd memory", "version": version["version"]}
