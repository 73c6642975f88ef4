"""Every kind of job there is."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.jobs.work import JobKind, Procedure
from shelfd.memory.knowledge.distilling import job as distillation
from shelfd.memory.knowledge.distilling.job import DISTILLATION
from shelfd.memory.knowledge.model import doubts, enriching
from shelfd.memory.knowledge.model.doubts import EVOLUTION
from shelfd.memory.knowledge.model.enriching import ENRICHMENT
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.promotion import PROMOTION
from shelfd.memory.methods.recalling import replay
from shelfd.memory.methods.reflection import REFLECTION
from shelfd.memory.moving import backup
from shelfd.memory.moving import job as moving
from shelfd.memory.moving.backup import BACKUP
from shelfd.memory.moving.job import IMPORT
from shelfd.memory.sessions import branching, compaction, retyping, rewinding
from shelfd.memory.sessions.branching import BRANCH
from shelfd.memory.sessions.compaction import COMPACTION
from shelfd.memory.sessions.extraction import job as extraction
from shelfd.memory.sessions.extraction.job import EXTRACTION
from shelfd.memory.sessions.retyping import RETYPING
from shelfd.memory.sessions.rewinding import REWIND
from shelfd.memory.tending import hide, purge, undo
from shelfd.memory.tending.hide import HIDE
from shelfd.memory.tending.purge import PURGE
from shelfd.memory.tending.reflection import run as reflection
from shelfd.memory.tending.undo import UNDO

KINDS: Final = (
    BACKUP, BRANCH, COMPACTION, DISTILLATION, ENRICHMENT, EVOLUTION, EXTRACTION, HIDE, IMPORT, PROMOTION, PURGE,
    REFLECTION, RETYPING, REWIND, UNDO,
)  # fmt: skip
BY_NAME: Final[Mapping[str, JobKind]] = MappingProxyType({kind.name: kind for kind in KINDS})


def procedures(context: Context) -> Mapping[str, Procedure]:
    """Return what carries out each kind of job, by its name."""
    return {
        BACKUP.name: backup.run,
        BRANCH.name: branching.run,
        COMPACTION.name: compaction.run,
        DISTILLATION.name: distillation.run,
        ENRICHMENT.name: enriching.run,
        EVOLUTION.name: doubts.run,
        EXTRACTION.name: extraction.run,
        HIDE.name: hide.run,
        IMPORT.name: moving.run,
        PROMOTION.name: lambda work: context.promoter.promote(work),  # noqa: PLW0108 - of the time when it runs
        PURGE.name: lambda work: purge.run(work, context.promoter.withdraw),
        REFLECTION.name: lambda work: reflection.run(work, replay),
        REWIND.name: rewinding.run,
        RETYPING.name: retyping.run,
        UNDO.name: undo.run,
    }
