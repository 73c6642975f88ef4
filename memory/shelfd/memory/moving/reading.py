"""Reading a foreign item field by field, with an account of what is lost, and what a format has to provide for that."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.record import Loss, NoteRecord, NuggetRecord, OutgoingLinks
from shelfd.protocol import Limits, from_validation
from shelfd.protocol.base import Count, Instant, Tag

_NAME_CHARACTERS: Final = 64  #: of a field's name, where it is reported
_INSTANT: Final = TypeAdapter[int](Instant)
_COUNT: Final = TypeAdapter[int](Count)
_TAG: Final = TypeAdapter[str](Tag)
_FLAG: Final = TypeAdapter[bool](Annotated[bool, Field(strict=True)])
_NUMBER: Final = TypeAdapter[float](Annotated[float, Field(allow_inf_nan=False)])


class Item:
    """One object of a foreign file.

    Attributes:
        losses: What could not be taken so far.

    Raises:
        InvalidParams: If it is no object.
    """

    def __init__(self, value: object, limits: Limits) -> None:
        if not isinstance(value, Mapping):
            raise InvalidParams("is not an object")
        self.losses: list[Loss] = []
        self.limits = limits
        self._fields: dict[str, Any] = {str(name): member for name, member in value.items()}
        self._known: set[str] = set()

    def take(self, *names: str) -> Any:  # noqa: ANN401
        """Return the member under the first of *names* that has one; None if none has. All of them count as read."""
        self._known.update(names)
        return next((member for name in names if (member := self._fields.get(name)) is not None), None)

    def checked(self, adapter: TypeAdapter[Any], *names: str) -> Any:  # noqa: ANN401
        """Return the member as *adapter* has it; None, and on record, if it does not fit. None too if there is none."""
        value = self.take(*names)
        if value is None:
            return None
        try:
            return adapter.validate_python(value, context=self.limits)
        except ValidationError as error:
            self.record_loss(names[0], complaint(error))
            return None

    def instant(self, *names: str) -> int | None:
        """Return a time as microseconds since 1970 UTC."""
        found: int | None = self.checked(_INSTANT, *names)
        return found

    def count(self, *names: str) -> int:
        """Return a whole number, 0 if there is none."""
        return self.checked(_COUNT, *names) or 0

    def flag(self, *names: str) -> bool:
        """Return a truth value, false if there is none."""
        return self.checked(_FLAG, *names) or False

    def number(self, *names: str) -> float | None:
        """Return a number."""
        found: float | None = self.checked(_NUMBER, *names)
        return found

    def choice(self, allowed: Iterable[str], *names: str) -> str | None:
        """Return the member if it is one of *allowed*."""
        value = self.take(*names)
        if value is None or (isinstance(value, str) and value in allowed):
            return value
        self.record_loss(names[0], f"is none of {', '.join(allowed)}; inferred instead")
        return None

    def tags(self, *names: str) -> list[str]:
        """Return the tags that can be kept, in their usual form."""
        given = self.take(*names)
        if given is None:
            return []
        if not isinstance(given, list):
            self.record_loss(names[0], "is not a list")
            return []
        found: list[str] = []
        for tag in given:
            try:
                found.append(_TAG.validate_python(tag, strict=True, context=self.limits))
            except ValidationError as error:
                self.record_loss(names[0], f"a tag {complaint(error)}")
        return found

    def record_loss(self, name: str, why: str) -> None:
        """Record that something is not kept."""
        self.losses.append(Loss(name[:_NAME_CHARACTERS], why))

    def all_losses(self) -> tuple[Loss, ...]:
        """Return everything that is not kept, fields included that nobody asked for."""
        unknown = sorted(self._fields.keys() - self._known)
        return (*self.losses, *(Loss(name[:_NAME_CHARACTERS], "is not known here") for name in unknown))


def complaint(error: ValidationError) -> str:
    """Return what is wrong with a single value."""
    message: str = from_validation(error)["message"]
    return message[:1].lower() + message[1:]


class ItemOrigin(NamedTuple):
    """Where an item comes from, and what reading it needs beside."""

    name: str  #: of the file, without folders
    header: Mapping[str, Any]  #: what the file says beside its list of items
    limits: Limits
    now: int  #: stands for times that are missing, microseconds since 1970 UTC


ReadNote: TypeAlias = Callable[[object, ItemOrigin], NoteRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Functions that read one foreign item each.

    All raise :class:`~shelfd.memory.errors.ShelfError` or pydantic's ``ValidationError`` for an item that cannot be
    taken; what else of it is lost they say in the record.

    Attributes:
        name: Its name on the wire.
        read_nugget: Reads what a file says of its nugget.
        read_note: Reads a note of a graph.
        read_fact: Reads a key and its value.
        read_links: Reads the links that leave a note.
        count_links: Returns about how many these are, whatever the item is.
    """

    name: str
    read_nugget: Callable[[object, ItemOrigin], NuggetRecord]
    read_note: ReadNote
    read_fact: ReadNote
    read_links: Callable[[object, ItemOrigin], OutgoingLinks]
    count_links: Callable[[object], int]
