"""The texts of a note, each with its place, and what is left of a note when something is taken out of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from shelfd.memory.notes.note import Note

#: A tag or an alias of which so much is part of something that was taken out goes with it.
_PART: Final = 6
#: Fields whose text is kept in small letters.
_FOLDED: Final = ("tags", "relation")


class TextPart(NamedTuple):
    """A text, and the field that it stands in."""

    field: str
    text: str

    @property
    def is_folded(self) -> bool:
        """Whether its text is in small letters."""
        return self.field.endswith(_FOLDED)


def parts_of(note: Note) -> list[TextPart]:
    """Return the texts of what a note says, and where each stands."""
    extra = note.extra
    parts = [TextPart("title", note.title), TextPart("content", note.content)]
    parts += [TextPart("tags", tag) for tag in note.tags]
    parts += [TextPart("aliases", alias) for alias in extra.aliases]
    for name, value in extra.fields.items():
        # With its name: what is no secret by itself may be one that is assigned.
        parts += [TextPart(f"fields.{name}", f"{name}: {text}") for text in texts_of(value)] or [
            TextPart("fields", name)
        ]
    if extra.source_ref is not None:
        parts.append(TextPart("source_ref", extra.source_ref))
    return [part for part in parts if part.text]


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts in a value, and the names of its members, each text with the names that lead to it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            for text in texts_of(item):
                yield f"{name}: {text}"
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def without(note: Note, taken: Mapping[str, str]) -> Note:
    """Return the note without the texts that are taken out, with the names of their rules in their places."""
    extra = note.extra
    lowered = [text.lower() for text in taken]

    def is_part(name: str) -> bool:
        name = name.lower()
        return any(text in name or (len(name) >= _PART and name in text) for text in lowered)

    rules = dict.fromkeys((*extra.redacted, *taken.values()))
    return note._replace(
        title=text_without(note.title, taken),
        content=text_without(note.content, taken),
        tags=tuple(tag for tag in note.tags if not is_part(tag)),
        extra=extra._replace(
            aliases=tuple(alias for alias in extra.aliases if not is_part(alias)),
            fields=values_without(extra.fields, taken) if extra.fields else extra.fields,
            source_ref=None if extra.source_ref is None else text_without(extra.source_ref, taken),
            redacted=tuple(rules),
        ),
    )


def values_without(value: Any, taken: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return a value without the texts that are taken out of it and of the names of its members."""
    if isinstance(value, str):
        return text_without(value, taken)
    if isinstance(value, Mapping):
        cleaned: dict[str, Any] = {}
        for name, item in value.items():
            free = said = text_without(name, taken)
            while free != name and (free in cleaned or free in value):  # of two names the same may be left
                free = f"{said} {len(cleaned) + 1}"
            cleaned[free] = values_without(item, taken)
        return cleaned
    return [values_without(item, taken) for item in value] if isinstance(value, list | tuple) else value


def text_without(text: str, taken: Mapping[str, str]) -> str:
    """Return *text* without those that are taken out, with the names of their rules in their places."""
    for found in sorted(taken, key=len, reverse=True):  # one may be part of another
        if found in text:
            text = text.replace(found, f"[redacted: {taken[found]}]")
    return text
