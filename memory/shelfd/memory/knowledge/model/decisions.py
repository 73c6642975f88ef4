"""What statements do to notes that are known, by a language model.

It is shown notes by small numbers, so that it cannot name what it was not shown.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.knowledge.model.checked import ModelAnswer, ask_checked, room
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut
from shelfd.memory.ports.language_model import ModelQuestion, Passage
from shelfd.memory.shelf.asking import ShelfModel

_REPLY_TOKENS: Final = 1_500
#: Decisions of one answer; statements that one question is about.
_MOST: Final = 100
_AT_ONCE: Final = 25
#: Characters of a known note, and of a new statement, that the model is shown.
_SHOWN: Final = 500

_INSTRUCTIONS: Final = """\
"facts" are new statements; each has "known": notes that are kept already, by their number "n". Answer with one
decision for each fact, by its number "fact":
ADD - it is new, or adds to what is known. Also if in doubt, and if it only has a subject in common with a note.
UPDATE - what note "n" says was so and no longer is: the fact takes its place.
DELETE - what note "n" says was never so: the fact corrects it.
NOOP - note "n" says all that the fact says already.
A fact about an earlier time than a note's does not replace it. "n" is one of the notes shown with that very fact, and
is left out with ADD. Give a short "reason"."""


class Operation(NamedTuple):
    """What a statement does to what is known.

    Attributes:
        name: ADD, UPDATE, DELETE or NOOP.
        note: The note that it replaces, corrects or repeats, as it was shown; None with ADD.
    """

    name: str
    note: Note | None = None


ADD: Final = Operation("ADD")
#: What an operation makes of the older note, and why, as history shows it.
VERDICTS: Final[Mapping[str, Verdict]] = {
    "UPDATE": Verdict.UPDATED, "DELETE": Verdict.CORRECTED, "NOOP": Verdict.DUPLICATE,
}  # fmt: skip
BY_MODEL: Final = "a language model decided"
_Name: TypeAlias = Annotated[
    Literal["ADD", "UPDATE", "DELETE", "NOOP"],
    BeforeValidator(lambda value: value.strip().upper() if isinstance(value, str) else value),
]


class SaidDecision(ModelAnswer):
    """What a fact does to what is known."""

    fact: int
    operation: _Name
    n: int | None = None
    reason: Annotated[str, BeforeValidator(lambda value: cut(value, 200) if isinstance(value, str) else "")] = ""


class SaidDecisions(ModelAnswer):
    """What the facts do to what is known."""

    decisions: Annotated[list[SaidDecision], Field(max_length=_MOST)]


class OpenStatement(NamedTuple):
    """A new statement and the notes that it may be about."""

    text: str
    notes: Sequence[Note]


async def decisions_by_model(
    model: ShelfModel, facts: Sequence[OpenStatement], *, nugget: str, deadline: float | None = None
) -> list[Operation | None]:
    """Return what each of *facts* does to what is known; None for one of which the model said nothing.

    Args:
        model: The shelf's.
        facts: The statements, each with at least one note; as many as one question holds are asked about at once.
        nugget: Of all of them.
        deadline: By the clock's monotonic seconds.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`.
    """
    empty: ModelQuestion[SaidDecisions] = ModelQuestion(
        "decisions", _INSTRUCTIONS, [], SaidDecisions, min(_REPLY_TOKENS, model.context_tokens // 4)
    )
    limit = room(model, empty)
    found: list[Operation | None] = []
    waiting: list[OpenStatement] = []
    used = 0
    for fact in facts:
        size = min(len(fact.text), _SHOWN) + sum(min(len(note.content), _SHOWN) + 80 for note in fact.notes) + 80
        if waiting and (used + size > limit or len(waiting) == _AT_ONCE):
            found += await _decide(model, empty, nugget, waiting, deadline)
            waiting, used = [], 0
        waiting.append(fact)
        used += size
    return found + (await _decide(model, empty, nugget, waiting, deadline) if waiting else [])


async def _decide(
    model: ShelfModel,
    empty: ModelQuestion[SaidDecisions],
    nugget: str,
    facts: Sequence[OpenStatement],
    deadline: float | None,
) -> list[Operation | None]:
    rows = [
        {"fact": number, "text": cut(fact.text, _SHOWN), "known": [*map(_note_row, range(_MOST), fact.notes)]}
        for number, fact in enumerate(facts)
    ]
    question = empty._replace(passages=[Passage("facts", nugget, rows)])
    answer = await ask_checked(model, question, lambda said: _problems(said, facts), deadline=deadline)
    decided: Mapping[int, SaidDecision] = {one.fact: one for one in reversed(answer.decisions)}
    return [_operation(decided.get(number), fact) for number, fact in enumerate(facts)]


def _note_row(number: int, note: Note) -> dict[str, Any]:
    return {"n": number, "text": cut(note.content, _SHOWN), **({"key": note.title} if note.key else {})}


def _operation(said: SaidDecision | None, fact: OpenStatement) -> Operation | None:
    if said is None:
        return None
    if said.operation == "ADD" or said.n is None:
        return ADD
    return Operation(said.operation, fact.notes[said.n])


def _problems(answer: SaidDecisions, facts: Sequence[OpenStatement]) -> list[str]:
    found = []
    for at, one in enumerate(answer.decisions):
        if not 0 <= one.fact < len(facts):
            found.append(f"decisions.{at}.fact: there is no fact {one.fact}")
        elif one.operation == "ADD":
            continue
        elif one.n is None:
            found.append(f"decisions.{at}.n: is missing with {one.operation}")
        elif not 0 <= one.n < len(facts[one.fact].notes):
            found.append(f"decisions.{at}.n: fact {one.fact} was not shown with a note {one.n}")
    return found
