"""All scenarios, in the order in which a report has them."""

from typing import Final

from erasing.conversations import TALKS
from erasing.copies import COPIES
from erasing.derived import DERIVED
from erasing.jobs import JOBS
from erasing.promotions import (
    PromoteLastThenRestore,
    PromoteProjectThenPurge,
    PromoteThenChange,
    PromoteThenHide,
    PromoteThenPurge,
)
from erasing.purges import (
    DeleteHard,
    DropShelf,
    ForgetBranched,
    ForgetEdited,
    ForgetFact,
    ForgetMerged,
    ForgetProject,
    ForgetUnmerged,
    ForgetUnreadable,
    PromoteEditedMeanwhile,
    PromoteMeanwhile,
    RemoveNugget,
)
from erasing.scenario import Scenario
from erasing.wholes import ClearNugget, CreateShelf, Import, UndoMany, UndoReflection

SCENARIOS: Final[tuple[type[Scenario], ...]] = (
    ForgetFact, ForgetProject, DeleteHard, ForgetMerged, ForgetUnmerged, ForgetBranched, ForgetEdited, ForgetUnreadable,
    PromoteMeanwhile, PromoteEditedMeanwhile, RemoveNugget, DropShelf, PromoteThenPurge, PromoteProjectThenPurge,
    PromoteThenChange, PromoteThenHide, PromoteLastThenRestore, ClearNugget, UndoMany,
    UndoReflection, Import, CreateShelf, *JOBS, *TALKS, *COPIES, *DERIVED,
)  # fmt: skip
