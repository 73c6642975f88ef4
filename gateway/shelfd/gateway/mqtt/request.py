"""From a message to a request: what it asks, where its reply goes, and why some are not even looked at."""

from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from shelfd.gateway import envelope as rpc
from shelfd.gateway.envelope import Envelope, Refusal
from shelfd.gateway.mqtt.link import Arrived
from shelfd.gateway.mqtt.status import Ignored
from shelfd.gateway.mqtt.topics import RequestTopic, Topics
from shelfd.memory.call import Repeat
from shelfd.memory.ports.store import Clock
from shelfd.protocol import METHODS, Code, Limits, error_object
from shelfd.protocol.base import Instant, Token

#: Largest request by MQTT, bytes.
REQUEST_BYTES: Final = 2 * 1024 * 1024
#: From how many characters on an id says which request it is for as long as an idempotency key does.
_TELLING: Final = 16
_KEY_LIFETIME: Final = timedelta(days=7)
_ID_LIFETIME: Final = timedelta(minutes=10)
_USER_BYTES: Final = 128
_CORRELATION_CHARACTERS: Final = 1024
_instant: TypeAdapter[int] = TypeAdapter(Instant)
_token: TypeAdapter[str] = TypeAdapter(Token)


class ReplyTo(NamedTuple):
    """Where a reply goes and what goes back with it."""

    topic: str
    correlation: bytes | None  #: the property of MQTT 5
    mirrored: str | None  #: the body's member, for clients without properties

    @property
    def members(self) -> dict[str, str]:
        """What goes back in the reply's body, beside the reply."""
        return {} if self.mirrored is None else {"correlation": self.mirrored}


class MqttRequest(NamedTuple):
    """One request.

    Attributes:
        user: The caller, by the topic.
        message: What, or how it is refused.
        reply_to: Where the reply goes; None for nowhere.
        exp: When it is pointless, in microseconds since 1970; None for never.
        expires_at: The same as the broker says it, by the clock's monotonic seconds.
    """

    user: str
    message: Envelope | Refusal
    reply_to: ReplyTo | None = None
    exp: int | None = None
    expires_at: float | None = None

    def is_over(self, clock: Clock) -> bool:
        """Whether its time has passed."""
        return (self.exp is not None and clock.now() >= self.exp) or (
            self.expires_at is not None and clock.monotonic() >= self.expires_at
        )


def read(message: Arrived, topics: Topics, limits: Limits) -> MqttRequest | Ignored:
    """Return what *message* asks. Never raises: what is wrong with it becomes a refusal or a reason to ignore it."""
    if message.is_retained:
        return Ignored.RETAINED
    topic = topics.request_of(message.topic)
    if topic is None or len(topic.user.encode()) > _USER_BYTES:
        return Ignored.BAD_TOPIC
    reply_to = None
    if message.response_topic is not None:
        if not topics.may_reply(message.response_topic, topic.user):
            return Ignored.FOREIGN_REPLY
        reply_to = ReplyTo(message.response_topic, message.correlation, None)
    try:
        body = _body(message.payload, limits)
        reply_to = _reply_to(body, message, reply_to)
    except Refusal as refusal:
        return MqttRequest(topic.user, refusal.kept(), reply_to, None, message.expires_at)
    if reply_to is not None and not topics.may_reply(reply_to.topic, topic.user):
        return Ignored.FOREIGN_REPLY
    try:
        exp = _exp(body)
        envelope = _envelope(body, topic, message.correlation, is_notification=reply_to is None)
    except Refusal as refusal:
        return MqttRequest(topic.user, refusal.kept(), reply_to, None, message.expires_at)
    method = METHODS.get(topic.method)
    if reply_to is None and (method is None or not method.is_change):
        return Ignored.UNANSWERABLE
    return MqttRequest(topic.user, envelope, reply_to, exp, message.expires_at)


def _body(payload: bytes, limits: Limits) -> dict[str, Any]:
    if len(payload) > REQUEST_BYTES:
        text = f"request: is larger than {REQUEST_BYTES} bytes"
        raise Refusal(
            error_object(
                Code.TOO_LARGE, text, kind="TooLarge", field="request", limit=REQUEST_BYTES, reason="REQUEST_TOO_LARGE"
            )
        )
    body = rpc.parse(payload, limits)
    if not isinstance(body, dict):
        raise _invalid("a request by MQTT is one JSON object", "NOT_AN_OBJECT")
    return body


def _reply_to(body: dict[str, Any], message: Arrived, known: ReplyTo | None) -> ReplyTo | None:
    """Return where the reply goes by the body too."""
    topic, correlation = body.get("reply_to"), body.get("correlation")
    if topic is not None and not isinstance(topic, str):
        raise _invalid("reply_to must be a topic", "BAD_REPLY_TO", body)
    if correlation is not None and not (isinstance(correlation, str) and len(correlation) <= _CORRELATION_CHARACTERS):
        text = f"correlation must be a string of at most {_CORRELATION_CHARACTERS} characters"
        raise _invalid(text, "BAD_CORRELATION", body)
    if known is not None and topic not in (None, known.topic):
        raise _invalid("reply_to is not the message's Response Topic; give one of them", "TWO_REPLY_TOPICS", body)
    topic = topic if known is None else known.topic
    return None if topic is None else ReplyTo(topic, message.correlation, correlation)


def _exp(body: dict[str, Any]) -> int | None:
    if body.get("exp") is None:
        return None
    try:
        return _instant.validate_python(body["exp"])
    except ValidationError:
        raise _invalid("exp must be a time like 2026-01-31T09:00:00Z", "BAD_EXP", body) from None


def _envelope(
    body: dict[str, Any], topic: RequestTopic, correlation: bytes | None, *, is_notification: bool
) -> Envelope:
    if body.get("method", topic.method) != topic.method:
        raise _invalid("method is not the one that the topic names; leave it out", "WRONG_METHOD", body)
    try:
        envelope = rpc.open_envelope({"jsonrpc": "2.0", **body, "method": topic.method})
    except Refusal as refusal:
        refusal.error["data"].setdefault("reason", "BAD_REQUEST")
        raise
    # By MQTT a request without an id gets a reply too: correlation says to what.
    return recognised(envelope._replace(is_notification=is_notification), correlation)


def recognised(envelope: Envelope, correlation: bytes | None) -> Envelope:
    """Return the request with what makes a repetition of it known: its key, its id, else its correlation data."""
    method, params = METHODS.get(envelope.method), envelope.params
    if method is None or not method.is_change:
        return envelope
    if params.get("idempotency_key") is not None or params.get("idempotencyKey") is not None:
        return envelope
    said: object = envelope.id
    if isinstance(said, str) and len(said) >= _TELLING:
        if "idempotency_key" in method.params.model_fields and _is_key(said):
            kept = {name: value for name, value in params.items() if name != "idempotencyKey"}
            return envelope._replace(params={**kept, "idempotency_key": said})
        return envelope._replace(repeat=Repeat(f"id {_digest(said.encode())}", _KEY_LIFETIME))
    if said is None or said == "":
        if not correlation:
            return envelope
        said = {"correlation": correlation.hex()}
    # The payload is part of the key: another one under the same short id is another request.
    payload = {name: value for name, value in params.items() if name not in ("timeout_ms", "timeoutMs")}
    return envelope._replace(repeat=Repeat(f"short {_digest(to_json([said, payload]))}", _ID_LIFETIME))


def _is_key(text: str) -> bool:
    try:
        _token.validate_python(text)
    except ValidationError:
        return False
    return True


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _invalid(message: str, reason: str, body: dict[str, Any] | None = None) -> Refusal:
    request_id = None if body is None else body.get("id")
    error = error_object(Code.INVALID_REQUEST, message, kind="InvalidRequest", reason=reason)
    return Refusal(error, request_id if rpc.is_id(request_id) else None)
