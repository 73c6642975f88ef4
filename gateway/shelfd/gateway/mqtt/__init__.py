"""MQTT: requests in, replies and events out, on the dispatch that every transport shares.

The adapter that owns the client library is imported only to connect, because it takes long to load.
"""

from shelfd.gateway.mqtt.acl import acl_text, mqtt_users
from shelfd.gateway.mqtt.embedded import EmbeddedBroker
from shelfd.gateway.mqtt.link import Address, tls_context
from shelfd.gateway.mqtt.publisher import EventPublisher
from shelfd.gateway.mqtt.requests import Requests
from shelfd.gateway.mqtt.session import BrokerSession
from shelfd.gateway.mqtt.status import Announcer
from shelfd.gateway.mqtt.topics import Topics

__all__ = [
    "Address",
    "Announcer",
    "BrokerSession",
    "EmbeddedBroker",
    "EventPublisher",
    "Requests",
    "Topics",
    "acl_text",
    "mqtt_users",
    "tls_context",
]
