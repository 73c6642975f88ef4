"""Whether a new note changes what notes like it should say, by a language model."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.knowledge.model.checked import ModelAnswer, ask_checked
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import EVOLVED_BY, Link, Note
from shelfd.memory.notes.text import cut, tidy_content
from shelfd.memory.ports.language_model import ModelQuestion, Passage
from shelfd.memory.shelf.asking import ShelfModel
from shelfd.protocol import Limits

#: Notes like a new one that are looked at.
NEIGHBOURS: Final = 5
#: Most confidence of a note that was reworded.
MOST_CONFIDENCE: Final = 0.95
#: Notes by which one was reworded that it remembers, the last ones.
_REMEMBERED: Final = 16
_REPLY_TOKENS: Final = 2_000
_SHOWN: Final = 1_000
_LONGEST: Final = 4_000

_INSTRUCTIONS: Final = """\
"new" is a note that was just stored; "neighbours" are older ones, by their number "n". Answer with one decision for
each: "keep" it as it is, or "evolve" it, if what the new note says makes an older one clearer, more complete or more
precise; then give its whole new text as "updated_content". Nothing of the older note may be lost that is still true,
and nothing may be added that neither note says. An older note that the new one only makes untrue is kept: another
decides on that. If in doubt, keep. Write in the language of the note. Give a short "reason"."""

_Action: TypeAlias = Annotated[
    Literal["keep", "evolve"],
    BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value),
]


class SaidNeighbour(ModelAnswer):
    """What becomes of one neighbour."""

    n: int
    action: _Action
    updated_content: Annotated[str, Field(max_length=_LONGEST)] | None = None
    reason: Any = None


class SaidNeighbours(ModelAnswer):
    """What becomes of the neighbours."""

    decisions: Annotated[list[SaidNeighbour], Field(max_length=4 * NEIGHBOURS)]


class Rewording(NamedTuple):
    """A note as it was, and what it is to say."""

    note: Note
    content: str


def may_evolve(note: Note) -> bool:
    """Return whether a note may be reworded: one that is no fact, typed note, rollup, or shown whole to no model."""
    extra = note.extra
    plain = note.key is None and not extra.is_rollup and not extra.rendered and not extra.fields and not note.pinned
    return plain and note.live and len(note.content) <= _SHOWN


async def rewordings(
    model: ShelfModel, new: Note, neighbours: Sequence[Note], *, deadline: float | None = None
) -> list[Rewording]:
    """Return which of *neighbours*, that are of one nugget with *new*, are to say something else.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`.
    """
    rows = [{"n": number, "text": note.content} for number, note in enumerate(neighbours)]
    passages = [Passage("new", new.nugget, cut(new.content, _SHOWN)), Passage("neighbours", new.nugget, rows)]
    tokens = min(_REPLY_TOKENS, model.context_tokens // 4)
    question = ModelQuestion("neighbours", _INSTRUCTIONS, passages, SaidNeighbours, tokens)
    answer = await ask_checked(model, question, lambda said: _problems(said, neighbours), deadline=deadline)
    found: dict[int, Rewording] = {}
    for one in answer.decisions:
        content = tidy_content(one.updated_content or "").strip()
        if one.action == "evolve" and content != neighbours[one.n].content:
            found[one.n] = Rewording(neighbours[one.n], content)
    return list(found.values())


def _problems(answer: SaidNeighbours, neighbours: Sequence[Note]) -> list[str]:
    found = []
    for at, one in enumerate(answer.decisions):
        if not 0 <= one.n < len(neighbours):
            found.append(f"decisions.{at}.n: there is no neighbour {one.n}")
        elif one.action == "evolve" and not (one.updated_content or "").strip():
            found.append(f"decisions.{at}.updated_content: is missing with evolve")
    return found


def reword(tx: Transaction, rewording: Rewording, new: Note, limits: Limits) -> bool:
    """Have a note say what a model gave it to say, unless one of the two changed meanwhile; return whether it does.

    A link leads from it to the new note, by which a purge of that knows where words of it may be.

    Args:
        tx: Where.
        rewording: The note as the model saw it, and its text.
        new: The note by which it is reworded, as the model saw it.
        limits: The configured limits.
    """
    found = tx.rows.notes.by_ids([rewording.note.id, new.id])
    now = found.get(rewording.note.id)
    if now is None or now.rev != rewording.note.rev or not may_evolve(now):
        return False
    if new.id not in found or found[new.id].rev != new.rev or tx.rows.links.count_leaving(now.id) >= limits.links_count:
        return False
    by = tuple(dict.fromkeys((*now.extra.evolved_by, new.id)))[-_REMEMBERED:]
    extra = now.extra._replace(
        evolution_count=now.extra.evolution_count + 1, evolved_by=by, last_rewritten_at=tx.now
    ).following(rewording.content)
    confidence = min(now.confidence, MOST_CONFIDENCE)
    try:
        tx.change_note(now, now._replace(content=rewording.content, confidence=confidence, extra=extra))
    except GovernanceViolation:  # what the shelf's rules do not admit
        return False
    tx.put_link(Link(now.id, new.id, EVOLVED_BY, "", tx.now), now.nugget)
    return True
