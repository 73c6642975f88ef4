"""The topics of the wire contract: one place that builds and takes apart all of them."""

from typing import Final, NamedTuple

ROOT: Final = "shelfd/v1"
#: Levels mosquitto takes, and bytes that MQTT has room for.
_LEVELS: Final = 200
_TOPIC_BYTES: Final = 65_535
#: What a name in a topic must not hold.
_FORBIDDEN: Final = frozenset("/+#$\x00")


class RequestTopic(NamedTuple):
    """The user and the method that a topic names."""

    user: str
    method: str


class Topics:
    """The topics of one instance.

    Args:
        instance: The daemon's name.
    """

    def __init__(self, instance: str) -> None:
        self._base = f"{ROOT}/{instance}"
        self.status = f"{self._base}/status"
        self.health = f"{self._base}/health"
        #: Filter for every request.
        self.requests = f"{self._base}/req/#"

    def shared_requests(self, group: str) -> str:
        """Return the filter for a share of every request, of the daemons that know the secret *group*."""
        return f"$share/{group}/{self.requests}"

    def request(self, user: str, method: str) -> str:
        """Return where *user* asks for *method*."""
        return f"{self._base}/req/{user}/{method}"

    def request_of(self, topic: str) -> RequestTopic | None:
        """Return what a request's topic says; None if it is none."""
        prefix = f"{self._base}/req/"
        if not topic.startswith(prefix):
            return None
        user, separator, method = topic[len(prefix) :].partition("/")
        if not separator or not user or not method or "/" in method:
            return None
        return RequestTopic(user, method)

    def reply_prefix(self, user: str) -> str:
        """Return what every topic for replies to *user* begins with."""
        return f"{self._base}/rep/{user}/"

    def may_reply(self, topic: str, user: str) -> bool:
        """Return whether *topic* is one that replies to *user* may go to: below their own, without wildcards."""
        # A broker hangs up on a topic it finds malformed, and would again each time the request comes back.
        if not topic.isprintable() or topic.count("/") >= _LEVELS or len(topic.encode()) > _TOPIC_BYTES:
            return False
        prefix = self.reply_prefix(user)
        rest = topic[len(prefix) :]
        return topic.startswith(prefix) and bool(rest) and not _FORBIDDEN & set(rest.replace("/", ""))

    def event(self, shelf: str, nugget: str | None, kind: str) -> str:
        """Return where an event goes; *kind* as in the change log, such as ``note.created``."""
        return f"{self._base}/ev/{shelf}/{nugget or '_'}/{kind}"

    def events(self, shelf: str = "+") -> str:
        """Return the filter for the events of a shelf, or of all."""
        return f"{self._base}/ev/{shelf}/#"

    def match(self, shelf: str, watch: str) -> str:
        """Return where the matches of a standing query go."""
        return f"{self._base}/watch/{shelf}/{watch}"

    def watch(self, shelf: str) -> str:
        """Return the filter for the standing queries of a shelf."""
        return f"{self._base}/watch/{shelf}/#"
