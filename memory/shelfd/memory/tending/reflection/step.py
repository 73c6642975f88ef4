"""What a reflection is made of: steps, each with one idea."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from shelfd.memory.notes.note import Note
from shelfd.memory.tending.reflection.action import Action
from shelfd.memory.tending.reflection.picture import Picture

T = TypeVar("T")
#: A piece of planning: yields an action, or None, after each bit of work (under 2 ms) so that other tasks run.
#: What it yields is part of the picture when it continues. Returns a T to a plan that delegates to it.
Planning: TypeAlias = Generator[Action | None, None, T]
#: A note and the other one of a pair, if there is one; what a step does with them that it once planned. Pure.
Replan: TypeAlias = Callable[[Picture, Note, Note | None], Action | None]
#: A note and how many sessions it was returned in; what is to be done with it, if anything. Pure.
Improve: TypeAlias = Callable[[Note, int, Picture], Action | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a reflection.

    Attributes:
        name: One word for it.
        plan: What it does with the picture.
        replan: What it does with a note, or pair, that it chose before: a run that was cut short remembers that alone.
        improve: For a step that looks at one note at a time: what it does with that. Selection asks it, too.
    """

    name: str
    plan: Callable[[Picture], Planning[None]]
    replan: Replan
    improve: Improve | None = None


def each(name: str, improve: Improve) -> Step:
    """Return the step that improves each inspected note by itself."""

    def plan(picture: Picture) -> Planning[None]:
        for note_id in picture.inspected:
            note = picture.live(note_id)
            yield None if note is None else improve(note, picture.hits(note), picture)

    def replan(picture: Picture, note: Note, _other: Note | None) -> Action | None:
        return improve(note, picture.hits(note), picture)

    return Step(name, plan, replan, improve)
