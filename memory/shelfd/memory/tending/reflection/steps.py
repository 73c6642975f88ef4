"""The steps of a reflection, in their order. To add one, write its module and enter it here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.tending.reflection.action import ActionType
from shelfd.memory.tending.reflection.archiving import ARCHIVE
from shelfd.memory.tending.reflection.linking import LINK
from shelfd.memory.tending.reflection.merging import MERGE
from shelfd.memory.tending.reflection.normalising import NORMALISE
from shelfd.memory.tending.reflection.selecting import selecting
from shelfd.memory.tending.reflection.step import Step
from shelfd.memory.tending.reflection.tagging import TAGS

_TENDING: Final = (ARCHIVE, NORMALISE, TAGS, MERGE, LINK)

#: By the type of what each does.
BY_TYPE: Final[Mapping[ActionType, Step]] = MappingProxyType(
    {"hide": ARCHIVE, "rewrite": NORMALISE, "tag": TAGS, "merge": MERGE, "link": LINK}
)

STEPS: Final[tuple[Step, ...]] = (
    selecting([step.improve for step in _TENDING if step.improve is not None]),
    *_TENDING,
)
