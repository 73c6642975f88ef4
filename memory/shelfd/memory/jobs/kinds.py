"""Every kind of job there is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.jobs.hide import HIDE
from shelfd.memory.jobs.purge import PURGE
from shelfd.memory.jobs.work import Procedure

KINDS: Final = (HIDE, PURGE)
#: Those that can be ended half-way: what they did can be taken back.
CANCELLABLE: Final = frozenset({HIDE.name})
PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType({kind.name: kind.run for kind in KINDS})
