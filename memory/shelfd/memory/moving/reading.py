"""Reading a foreign item field by field, with an account of what is lost, and what a format has to provide for that."""

import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.record import Loss, Record
from shelfd.protocol import Limits, from_validation
from shelfd.protocol.base import Count, Instant, NuggetName, Tag, Title

_NAME_CHARACTERS: Final = 64  #: of a field's name, where it is reported
_INSTANT: Final = TypeAdapter[int](Instant)
_COUNT: Final = TypeAdapter[int](Count)
_TAG: Final = TypeAdapter[str](Tag)
_TITLE: Final = TypeAdapter[str](Title)
_NUGGET: Final = TypeAdapter[str](NuggetName)
_NUGGET_CHARACTERS: Final = 64
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
        self._fields: Mapping[str, Any] = value
        self._known: set[str] = set()

    def take(self, *names: str) -> Any:  # noqa: ANN401
        """Return the member under the first of *names* that has one; None if none has. All of them count as read."""
        self._known.update(names)
        for name in names:
            if (member := self._fields.get(name)) is not None:
                return member
        return None

    def take_all(self, names: Container[str]) -> dict[str, Any]:
        """Return all members with these names that say something; they count as read."""
        self._known.update(name for name in self._fields if name in names)
        return {name: value for name, value in self._fields.items() if name in names and value is not None}

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

    def title(self, title: object) -> str:
        """Return a title of a free note: nothing depends on it, so one that is too long is cut."""
        if not isinstance(title, str):
            if title is not None:
                self.record_loss("title", "is not text")
            return ""
        try:
            return _TITLE.validate_python(title, context=self.limits)
        except ValidationError as error:
            self.record_loss("title", f"{complaint(error)}; it is shortened to one that fits")
            return one_line(title).encode()[: self.limits.title_bytes].decode(errors="ignore").strip()

    def nugget(self, theirs: str) -> str:
        """Return the name of a nugget as it can be here: as it is, or with what a name cannot have replaced.

        Raises:
            ValidationError: If nothing is left of it.
        """
        name = _nugget_here(theirs)
        if name != theirs:
            self.record_loss("nugget", f"{theirs[:_NUGGET_CHARACTERS]!r} is called {name!r} here")
        return name

    def record_loss(self, name: str, why: str) -> None:
        """Record that something is not kept."""
        self.losses.append(Loss(name[:_NAME_CHARACTERS], why))

    def all_losses(self) -> tuple[Loss, ...]:
        """Return everything that is not kept, fields included that nobody asked for."""
        if self._fields.keys() <= self._known:
            return tuple(self.losses)
        unknown = sorted(self._fields.keys() - self._known)
        return (*self.losses, *(Loss(name[:_NAME_CHARACTERS], "is not known here") for name in unknown))


@lru_cache(maxsize=256)  # the items of a file name few, and no limit concerns them
def _nugget_here(theirs: str) -> str:
    try:
        return _NUGGET.validate_python(theirs)
    except ValidationError:
        return _NUGGET.validate_python(plain_name(theirs))


def one_line(text: object) -> str:
    """Return text without control characters, runs of blanks as one; empty if it is no text."""
    if not isinstance(text, str):
        return ""
    return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text).split())


def plain_name(theirs: str) -> str:
    """Return *theirs* with what the name of a nugget cannot have replaced; empty if that is all of it."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", theirs).casefold())
    allowed = "".join(c if c in "_.-" or unicodedata.category(c)[0] in "LMN" else "-" for c in folded)
    return allowed.lstrip("-.")[:_NUGGET_CHARACTERS].rstrip("-.")


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


def past(item: Item, name: str, moment: int | None, origin: ItemOrigin) -> int | None:
    """Return a time; one that lies ahead becomes now."""
    if moment is not None and moment > origin.now:
        item.record_loss(name, "lies ahead and is set to now")
        return origin.now
    return moment


IdOf: TypeAlias = Callable[[object, ItemOrigin], str | None]
Reader: TypeAlias = Callable[[object, ItemOrigin], Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Functions that read one foreign item each.

    All raise :class:`~shelfd.memory.errors.ShelfError` or pydantic's ``ValidationError`` for an item that cannot be
    taken; what else of it is lost they say in the record.

    Attributes:
        name: Its name on the wire.
        readers: What reads an item, by the kinds of items that the format has.
        weigh: Returns about how many links, or turns, an item of a kind makes, whatever it is.
        id_of: Returns the id that the note of an item gets if its own cannot be kept and it is new.
        times: How many times as many of its items as of most formats can be taken in, in the same time.
    """

    name: str
    readers: Mapping[str, Reader]
    weigh: Callable[[str, object], int]
    id_of: IdOf | None = None
    times: int = 1
