"""The shelf itself: what a memory is and what can be done with it. Does no I/O; see :mod:`shelfd.memory.ports`."""

from shelfd.memory.access import ANYONE, DEFAULT_SHELF, Access, Rule
from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError
from shelfd.memory.ports import Clock, Store, Stores, Ticket
from shelfd.memory.service import Service
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf import Shelf
from shelfd.memory.shelves import Shelves
from shelfd.memory.view import View, Writer

__all__ = [
    "ANYONE",
    "DEFAULT_SHELF",
    "Access",
    "Call",
    "Clock",
    "MemorySettings",
    "Rule",
    "Service",
    "Shelf",
    "ShelfError",
    "Shelves",
    "Store",
    "Stores",
    "Ticket",
    "View",
    "Writer",
]
