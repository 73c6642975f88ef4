"""What a note says beside its text: by whom and of whom it is, what its fields say, where it comes from."""

from collections.abc import Iterator, Mapping

from shelfd.memory.notes.digest import is_digest
from shelfd.memory.notes.note import BLANK, NO_EXTRA, Note


def particulars(note: Note) -> Iterator[str]:
    """Yield what recall does not look for in a note, each by itself."""
    if note.author is not None:
        yield note.author
    if note.subject != BLANK.subject:
        yield note.subject
    extra = note.extra
    if extra is NO_EXTRA:
        return
    if extra.source_ref is not None:
        yield extra.source_ref
    yield from extra.derived_tags
    yield from _strings(extra.fields)
    if extra.is_rollup and is_digest(note):  # recall finds the notes that it cites
        yield note.content


def rows_in(value: object) -> Iterator[list[str]]:
    """Yield the texts that stand beside each other in *value*, as JSON has it: those of an object, of a list."""
    if isinstance(value, Mapping | list | tuple):
        inside = list(value.values()) if isinstance(value, Mapping) else list(value)
        yield [one for one in inside if isinstance(one, str)]
        for one in inside:
            yield from rows_in(one)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inside in value.items():
            yield str(name)
            yield from _strings(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _strings(inside)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
