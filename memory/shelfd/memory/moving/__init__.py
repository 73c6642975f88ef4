"""Moving in: what another memory kept, read in its format and put on a shelf as if it had always been there.

A format reads foreign items as :mod:`records <shelfd.memory.moving.record>`; how records are reconciled with what the
shelf has already is the same for all formats. To add a format, write its module and enter it here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shelfd.memory.moving.conversations import CONVERSATIONS
from shelfd.memory.moving.copies import COPIES
from shelfd.memory.moving.importer import Importer
from shelfd.memory.moving.lines import LINES
from shelfd.memory.moving.luker import LUKER
from shelfd.memory.moving.nuggets import NUGGETS
from shelfd.memory.moving.plain import PLAIN
from shelfd.memory.moving.reading import Format, ItemOrigin
from shelfd.memory.moving.sillytavern import SILLYTAVERN
from shelfd.memory.moving.tally import Tally
from shelfd.memory.moving.zettelforge import ZETTELFORGE

_FORMATS: Final = (NUGGETS, LUKER, SILLYTAVERN, ZETTELFORGE, LINES, COPIES, *PLAIN, *CONVERSATIONS)
#: Every format by its name on the wire.
FORMATS: Final[Mapping[str, Format]] = MappingProxyType({format_.name: format_ for format_ in _FORMATS})

__all__ = ["FORMATS", "Format", "Importer", "ItemOrigin", "Tally"]
