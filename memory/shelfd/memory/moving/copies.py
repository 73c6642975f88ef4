"""The lines of another copy of a shelf, to be brought together with what is here."""

from typing import Final

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving import lines
from shelfd.memory.moving.lineage import says_of
from shelfd.memory.moving.reading import Format, ItemOrigin
from shelfd.memory.moving.record import Gone, MergedLinks, MergedNote, MergedNugget

_ENTRIES: Final = TypeAdapter[tuple[tuple[str, int], ...]](tuple[tuple[str, int], ...])
_KINDS: Final = ("gone note ", "gone link ")


def read_nugget(item: object, origin: ItemOrigin) -> MergedNugget:
    """Read a nugget's options, and the types of notes that were set in it."""
    return MergedNugget(*lines.read_nugget(item, origin))


def read_note(item: object, origin: ItemOrigin) -> MergedNote:
    """Read a note, and which states it has had.

    Raises:
        InvalidParams: If the line does not say that: a snapshot's do not.
    """
    note, usage = lines.read_note(item, origin)
    state = lines.read_state(lines.rest_of(item))
    if not state.now:
        raise InvalidParams(
            "shelfd.state: is not there; `shelfd export` writes what can be merged", field="shelfd.state"
        )
    return MergedNote(note, usage, state._replace(says=says_of(note)))


def read_links(item: object, origin: ItemOrigin) -> MergedLinks:
    """Read the links that leave a note."""
    return MergedLinks(*lines.read_links(item, origin))


def read_gone(item: object, _origin: ItemOrigin) -> Gone:
    """Read what was purged or removed."""
    try:
        entries = _ENTRIES.validate_python(lines.rest_of(item).get("gone"))
    except ValidationError:
        entries = (("", 0),)
    if not all(name.startswith(_KINDS) for name, _ in entries):
        raise InvalidParams("shelfd.gone: is not what a shelf has", field="shelfd.gone")
    return Gone(entries)


#: The complete format.
COPIES: Final = Format(
    name="merge",
    readers={"gone": read_gone, "nuggets": read_nugget, "notes": read_note, "links": read_links},
    weigh=lines.weigh,
)
