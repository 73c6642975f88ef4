"""The shelf itself: what a memory is and what can be done with it. Does no I/O; see :mod:`shelfd.memory.ports`."""

from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError
from shelfd.memory.knowledge.entities.own import OwnTypes
from shelfd.memory.knowledge.entities.patterns import compile_pattern
from shelfd.memory.methods.projections import PROJECTIONS
from shelfd.memory.methods.service import Service
from shelfd.memory.ports.store import Clock, Store, Stores, Ticket
from shelfd.memory.ports.view import View, Writer
from shelfd.memory.settings import EntityRule, GovernanceSettings, MemorySettings
from shelfd.memory.shelf.access import ANYONE, DEFAULT_SHELF, Access, Rule
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.shelves import Shelves

__all__ = [
    "ANYONE",
    "DEFAULT_SHELF",
    "PROJECTIONS",
    "Access",
    "Call",
    "Clock",
    "EntityRule",
    "GovernanceSettings",
    "MemorySettings",
    "OwnTypes",
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
    "compile_pattern",
]
