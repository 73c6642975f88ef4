"""Every kind of job there is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.jobs.work import Procedure
from shelfd.memory.tending.hide import HIDE
from shelfd.memory.tending.purge import PURGE

KINDS: Final = (HIDE, PURGE)
#: Those that can be ended half-way: what they did can be taken back.
CANCELLABLE: Final = frozenset({HIDE.name})
PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType({kind.name: kind.run for kind in KINDS})
