"""What a client told the daemon once and for all, to be told again to one that was restarted."""

from typing import Any

from shelfd.client.mcp import messages
from shelfd.client.mcp.options import BridgeOptions

#: Ids of what the bridge asks itself; answers to it are nobody's.
OWN = "shelfd-bridge"


class ClientState:
    """What is to be told again.

    Attributes:
        subscribed: URIs of the resources that are subscribed to.
    """

    def __init__(self, options: BridgeOptions) -> None:
        self.subscribed: set[str] = set()
        self._options = options
        self._is_initialized = False
        self._level: Any = None

    def note(self, method: str, message: dict[str, Any]) -> None:
        """Take note of what a request or a notification means for later ones."""
        given = message.get("params")
        params = given if isinstance(given, dict) else {}
        uri = params.get("uri")
        if method == "notifications/initialized":
            self._is_initialized = True
        elif method == "logging/setLevel":
            self._level = params.get("level")
        elif method == "resources/subscribe" and isinstance(uri, str):
            self.subscribed.add(uri)
        elif method == "resources/unsubscribe" and isinstance(uri, str):
            self.subscribed.discard(uri)

    def again(self) -> list[bytes]:
        """Return the lines with which a connection begins."""
        told: list[dict[str, Any]] = [{"id": OWN, "method": "ping"}]  # says that MCP is spoken here
        if self._is_initialized:
            told.append({"method": "notifications/initialized"})
        if self._level is not None:
            told.append({"id": OWN, "method": "logging/setLevel", "params": {"level": self._level}})
        uris = sorted(self.subscribed)
        told += [{"id": OWN, "method": "resources/subscribe", "params": {"uri": uri}} for uri in uris]
        lines = (messages.with_options({"jsonrpc": "2.0", **one}, self._options, None) for one in told)
        return [messages.encoded(line) for line in lines]
