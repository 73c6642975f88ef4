"""What several changes of one note, or of one link, give together: only what each of them changed counts."""

from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.notes.note import Extra, Note

#: Sequences that changes add to and take from, element by element.
_LISTS: Final = frozenset({"tags", "aliases", "derived_tags", "dropped_tags", "provenance"})


def merged(now: Note, was: Note, wrote: Note, names: Mapping[str, Any], *, if_same: bool = False) -> Note:
    """Return *now* after a change that made *wrote* of *was*.

    Args:
        now: What the note is without the changes that do not count.
        was: What the change found.
        wrote: What it left.
        names: The fields it changed.
        if_same: A field changes only if it is what the change found.
    """
    values: dict[str, Any] = {}
    for name in names:
        if name == "extra":
            values[name] = _merged_extra(now.extra, was.extra, wrote.extra, if_same=if_same)
        elif not if_same or getattr(now, name) == getattr(was, name) or name in _LISTS:
            values[name] = _value(name, getattr(now, name), getattr(was, name), getattr(wrote, name))
    return now._replace(**values)


def _merged_extra(now: Extra, was: Extra, wrote: Extra, *, if_same: bool) -> Extra:
    values = {
        name: _value(name, mine, old, new)
        for name, mine, old, new in zip(Extra._fields, now, was, wrote, strict=True)
        if old != new and (not if_same or mine == old or name in _LISTS)
    }
    return now._replace(**values)


def _value(name: str, now: Any, was: Any, wrote: Any) -> Any:  # noqa: ANN401
    if now == was:
        return wrote
    if name in _LISTS:
        kept = [one for one in now if one in wrote or one not in was]
        return (*kept, *(one for one in wrote if one not in was and one not in kept))
    if isinstance(wrote, Mapping) and isinstance(now, Mapping) and isinstance(was, Mapping):
        changed = {key: value for key, value in wrote.items() if was.get(key, _MISSING) != value}
        return {key: value for key, value in {**now, **changed}.items() if key not in was or key in wrote}
    return wrote


_MISSING: Final = object()


def changed_names(old: Note, new: Note) -> set[str]:
    """Return the fields in which two states of a note differ, rarely used ones by their own names."""
    names = {name for name, one, other in zip(Note._fields, old, new, strict=True) if one != other}
    if "extra" in names:
        names.discard("extra")
        names |= {name for name, one, other in zip(Extra._fields, old.extra, new.extra, strict=True) if one != other}
    return names
