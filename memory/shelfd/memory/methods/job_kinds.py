"""Every kind of job there is."""

from collections.abc import Mapping
from typing import Final

from shelfd.memory.jobs.work import Procedure
from shelfd.memory.methods.context import Context
from shelfd.memory.tending import hide, purge
from shelfd.memory.tending.hide import HIDE
from shelfd.memory.tending.purge import PURGE

#: Those that can be ended half-way.
CANCELLABLE: Final = frozenset(kind.name for kind in (HIDE, PURGE) if kind.is_cancellable)


def procedures(context: Context) -> Mapping[str, Procedure]:
    """Return what carries out each kind of job, by its name."""
    return {HIDE.name: hide.run, PURGE.name: lambda work: purge.run(work, context.promoter)}
