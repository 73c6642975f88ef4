"""Every kind of job there is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.jobs.work import JobKind, Procedure
from shelfd.memory.methods.promotion import PROMOTION
from shelfd.memory.methods.reflection import REFLECTION
from shelfd.memory.moving.job import IMPORT
from shelfd.memory.tending.hide import HIDE
from shelfd.memory.tending.purge import PURGE
from shelfd.memory.tending.undo import UNDO

KINDS: Final = (HIDE, IMPORT, PROMOTION, PURGE, REFLECTION, UNDO)
BY_NAME: Final[Mapping[str, JobKind]] = MappingProxyType({kind.name: kind for kind in KINDS})
PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType({kind.name: kind.run for kind in KINDS})
