"""How others reach the shelf: JSON-RPC over a Unix socket, on a dispatch that every transport shares."""

from shelfd.gateway.binding import Listener
from shelfd.gateway.counters import Counters
from shelfd.gateway.dispatch import Dispatcher, Message
from shelfd.gateway.lane import Lane
from shelfd.gateway.ports import EventLogPort, Scheduling, ServicePort, SystemPort, Wanted
from shelfd.gateway.reply import Reply, Send
from shelfd.gateway.unix import UnixServer

__all__ = [
    "Counters",
    "Dispatcher",
    "EventLogPort",
    "Lane",
    "Listener",
    "Message",
    "Reply",
    "Scheduling",
    "Send",
    "ServicePort",
    "SystemPort",
    "UnixServer",
    "Wanted",
]
