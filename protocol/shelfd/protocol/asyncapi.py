"""The API over MQTT as an AsyncAPI 3.0 document, made from the models and seen from the daemon."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from shelfd.protocol.asyncapi_examples import EVENT, GAP, HEALTH, REPLIES, REQUESTS, STATUS
from shelfd.protocol.errors import ErrorObject
from shelfd.protocol.limits import SHELF_NAME
from shelfd.protocol.methods.events import EVENT_TYPES, CloudEvent
from shelfd.protocol.mqtt import (
    GapEvent,
    HealthMessage,
    MqttHeaders,
    MqttReply,
    MqttRequestBody,
    StatusMessage,
    WatchEvent,
)
from shelfd.protocol.registry import METHODS, Method

JSON: Final = "application/json"
CLOUD_EVENT: Final = "application/cloudevents+json"
#: Methods that need a connection of the caller's own.
SOCKET_ONLY: Final = frozenset({"events.subscribe", "events.unsubscribe"})

Document = dict[str, Any]

_BASE: Final = "shelfd/v1/{instance}"
_BINDING: Final = "0.2.0"
_QOS_1: Final[Document] = {"mqtt": {"qos": 1, "retain": False, "bindingVersion": _BINDING}}
_RETAINED: Final[Document] = {"mqtt": {"qos": 1, "retain": True, "bindingVersion": _BINDING}}
_HEALTH: Final[Document] = {
    "mqtt": {"qos": 0, "retain": True, "messageExpiryInterval": 180, "bindingVersion": _BINDING}
}
_PARAMETERS: Final[dict[str, Document]] = {
    "instance": {"description": "The daemon's name.", "default": "local"},
    "user": {"description": "The caller. The broker lets a user write and read below their own name only."},
    "shelf": {"description": f"Matches `{SHELF_NAME}`.", "default": "default"},
    "nugget": {"description": "The topic a note belongs to; `_` for what belongs to none.", "default": "_"},
    "type": {"description": "What happened.", "enum": [*EVENT_TYPES, "events.gap"]},
    "watch": {"description": "The standing query's id."},
}


def asyncapi(version: str) -> Document:
    """Return the AsyncAPI document of this wire version, called *version*."""
    models: list[type[BaseModel]] = [
        MqttHeaders, MqttRequestBody, MqttReply, ErrorObject, StatusMessage, HealthMessage,
        CloudEvent, GapEvent, WatchEvent,
    ]  # fmt: skip
    methods = [method for name, method in sorted(METHODS.items()) if name not in SOCKET_ONLY]
    schemas, references = _schemas(models, methods)
    return {
        "asyncapi": "3.0.0",
        "info": _info(version),
        "defaultContentType": JSON,
        "servers": _servers(),
        "channels": {
            **{f"request.{method.name}": _request_channel(method, references) for method in methods},
            "reply": _reply_channel(methods, references),
            **_told_channels(),
        },
        "operations": {
            **{method.name: _request_operation(method) for method in methods},
            **_told_operations(),
        },
        "components": {
            "schemas": schemas,
            "correlationIds": {"request": {"location": "$message.payload#/id", "description": "The request's id."}},
            "securitySchemes": {"user": {"type": "userPassword", "description": "A user of the broker."}},
        },
    }


def _info(version: str) -> Document:
    return {
        "title": "shelfd",
        "version": version,
        "description": (
            "The memory of an AI agent, over MQTT 5 or 3.1.1. Made from the models in protocol/.\n\n"
            "A request is acknowledged to the broker once its change is committed. A missing reply means: send the "
            "request once more with the same idempotency_key. Retained, expired and unanswerable requests are ignored. "
            "Events are delivered at least once and in the order of each shelf's sequence numbers."
        ),
        "license": {"name": "Apache-2.0"},
    }


def _servers() -> Document:
    security = [{"$ref": "#/components/securitySchemes/user"}]
    return {
        "broker": {
            "host": "localhost:1883", "protocol": "mqtt", "protocolVersion": "5", "security": security,
            "description": "The broker that `mqtt.url` names; 3.1.1 will do.",
        },
        "embedded": {
            "host": "127.0.0.1:1883", "protocol": "mqtt", "protocolVersion": "3.1.1", "security": security,
            "description": "The daemon's own broker, with --embedded-broker.",
        },
    }  # fmt: skip


def _schemas(models: Iterable[type[BaseModel]], methods: Iterable[Method]) -> tuple[Document, dict[Any, Document]]:
    wanted: list[Any] = [(model, "validation") for model in models]
    for method in methods:
        wanted += [(method.params, "validation"), (method.result, "serialization")]
    references, definitions = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
    return dict(sorted(definitions["$defs"].items())), dict(references)


# ---------------------------------------------------------------------- requests and replies


def _request_channel(method: Method, references: Mapping[Any, Document]) -> Document:
    payload = {
        "allOf": [
            _ref("MqttRequestBody"),
            {"type": "object", "properties": {
                "method": {"const": method.name}, "params": references[method.params, "validation"],
            }},
        ]
    }  # fmt: skip
    message = _message(method.name, method.summary, payload, _examples(REQUESTS, method.name))
    message |= {"headers": _ref("MqttHeaders"), "correlationId": {"$ref": "#/components/correlationIds/request"}}
    return _channel(f"{_BASE}/req/{{user}}/{method.name}", method.summary, {"request": message})


def _reply_channel(methods: Iterable[Method], references: Mapping[Any, Document]) -> Document:
    messages = {method.name: _reply(method, references) for method in methods}
    return {
        "address": None,
        "description": "The topic that a request names as its Response Topic or as reply_to.",
        "messages": messages,
    }


def _reply(method: Method, references: Mapping[Any, Document]) -> Document:
    answered = {"required": ["result"], "properties": {"result": references[method.result, "serialization"]}}
    refused = {"required": ["error"], "properties": {"error": _ref("ErrorObject")}}
    payload = {"allOf": [_ref("MqttReply"), {"type": "object", "oneOf": [answered, refused]}]}
    message = _message(f"{method.name}.reply", f"Answers {method.name}.", payload, _examples(REPLIES, method.name))
    return message | {"correlationId": {"$ref": "#/components/correlationIds/request"}}


def _request_operation(method: Method) -> Document:
    channel = f"#/channels/request.{method.name}"
    return {
        "action": "receive",
        "channel": {"$ref": channel},
        "summary": method.summary,
        "messages": [{"$ref": f"{channel}/messages/request"}],
        "bindings": _QOS_1,
        "reply": {
            "address": {
                "location": "$message.header#/responseTopic",
                "description": "Or the payload's reply_to. Without either a change is made and not answered.",
            },
            "channel": {"$ref": "#/channels/reply"},
            "messages": [{"$ref": f"#/channels/reply/messages/{method.name}"}],
        },
        "x-needs": method.need,
        "x-change": method.is_change,
    }


# ---------------------------------------------------------------------- what the daemon publishes


def _told_channels() -> dict[str, Document]:
    events = {kind: _event(kind) for kind in EVENT_TYPES}
    gap = _message("events.gap", "Says which events are missing.", _ref("GapEvent"), [GAP], CLOUD_EVENT)
    matched = _message("watch.matched", "A note entered a query's results.", _ref("WatchEvent"), [], CLOUD_EVENT)
    status = _message("status", "How the daemon is.", _ref("StatusMessage"), STATUS)
    health = _message("health", "How well the daemon is.", _ref("HealthMessage"), [HEALTH])
    return {
        "events": _channel(
            f"{_BASE}/ev/{{shelf}}/{{nugget}}/{{type}}", "Changes of a shelf, in order.", {**events, "events.gap": gap}
        ),
        "watch": _channel(
            f"{_BASE}/watch/{{shelf}}/{{watch}}",
            "New matches of standing queries. Reserved: nothing is published here in this version.",
            {"watch.matched": matched},
        ),
        "status": _channel(f"{_BASE}/status", "The daemon's presence, retained.", {"status": status}),
        "health": _channel(f"{_BASE}/health", "The daemon's health, retained.", {"health": health}),
    }


def _event(kind: str) -> Document:
    payload = {
        "allOf": [
            _ref("CloudEvent"),
            {"type": "object", "properties": {"type": {"const": f"shelfd.{kind}.v1"}}},
        ]
    }
    return _message(kind, f"`{kind}`", payload, [EVENT] if EVENT["type"] == f"shelfd.{kind}.v1" else [], CLOUD_EVENT)


def _told_operations() -> dict[str, Document]:
    published = {"events": _QOS_1, "watch": _QOS_1, "status": _RETAINED, "health": _HEALTH}
    summaries = {
        "events": "Publish what was changed.",
        "watch": "Publish what a standing query found.",
        "status": "Publish whether the daemon is there.",
        "health": "Publish the daemon's health, every 60 seconds.",
    }
    return {
        f"tell.{name}": {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": summaries[name],
            "bindings": bindings,
        }
        for name, bindings in published.items()
    }


# ---------------------------------------------------------------------- parts


def _channel(address: str, description: str, messages: Document) -> Document:
    names = [name for name in _PARAMETERS if f"{{{name}}}" in address]
    return {
        "address": address,
        "description": description,
        "messages": messages,
        "parameters": {name: _PARAMETERS[name] for name in names},
    }


def _message(
    name: str, summary: str, payload: Document, examples: Iterable[Document], content_type: str = JSON
) -> Document:
    message: Document = {"name": name, "summary": summary, "contentType": content_type, "payload": payload}
    shown = [{"payload": example} for example in examples]
    return message | ({"examples": shown} if shown else {})


def _examples(table: Mapping[str, Document], name: str) -> list[Document]:
    return [table[name]] if name in table else []


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}
