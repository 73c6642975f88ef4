"""Images: what projections know of a shelf, kept beside its rows so that they need not be made of them at each start.

An image is only ever a shortcut. One that is missing, damaged, of another version or of other rows is passed over, and
the projections are made from the rows.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy.typing as npt

#: Arrays of one dimension by name.
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


class Frozen(NamedTuple):
    """The state of a projection.

    Attributes:
        facts: What is no array, as JSON.
        parts: Arrays by the name of their part; None for a part that is stored already, under this name.
    """

    facts: Mapping[str, Any]
    parts: Mapping[str, Arrays | None]


@dataclass(frozen=True, slots=True)
class Image:
    """What projections knew of a shelf after a change.

    Attributes:
        seq: The change.
        made_by: What has to be the same for whoever reads it: versions, settings, that change as the log has it.
        facts: By projection.
        parts: By projection.
    """

    seq: int
    made_by: Mapping[str, Any]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, Arrays | None]] = field(default_factory=dict)


class Images(Protocol):
    """Where a shelf's image lies. A part of the store's port; nothing here runs at the same time as another call."""

    async def save(self, image: Image) -> None:
        """Replace the image, wholly or not at all. Parts that the new one does not name are deleted.

        Raises:
            Unavailable: If it cannot be written; the one before is still there.
        """

    async def load(self) -> Image | None:
        """Return the image, whose arrays may be changed without changing it; None if there is none.

        Raises:
            StorageCorrupt: If it is damaged, or of a version that cannot be read.
            Unavailable: If it cannot be read.
        """

    async def drop(self) -> None:
        """Delete the image; it is no error if there is none.

        Raises:
            Unavailable: If that fails.
        """
