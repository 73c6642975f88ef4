"""Moving in: what another memory kept, read in its format and put on a shelf as if it had always been there.

A format turns foreign items into :mod:`records <shelfd.memory.moving.record>`; how records meet what the shelf
has already is the same for all formats.
"""

from collections.abc import Mapping
from typing import Final

from shelfd.memory.moving.format import Format, Origin
from shelfd.memory.moving.intake import Intake, Tally
from shelfd.memory.moving.nuggets import NUGGETS

#: Every format by its name on the wire.
FORMATS: Final[Mapping[str, Format]] = {"nuggets": NUGGETS}

__all__ = ["FORMATS", "Format", "Intake", "Origin", "Tally"]
