"""The facts of a text, by a language model, which is shown it as data."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from shelfd.memory.knowledge.distilling.facts import DistilledFact
from shelfd.memory.knowledge.distilling.splitting import cut_chunks
from shelfd.memory.knowledge.model.checked import Importance, ModelAnswer, ask_checked, room
from shelfd.memory.notes.text import cut, tidy_content
from shelfd.memory.ports.language_model import ModelQuestion, Passage
from shelfd.memory.shelf.asking import ShelfModel

_REPLY_TOKENS: Final = 2_000
#: Characters of a fact; facts of one answer.
_LONGEST: Final = 2_000
_MOST: Final = 100
#: Characters of what helps to understand a text.
_CONTEXT: Final = 2_000

_INSTRUCTIONS: Final = """\
Read "text" and answer with the facts in it that are worth remembering for a long time: who or what somebody or
something is, has, did, plans, prefers, decided; events, figures, dates, technical findings. Each fact is one short
statement that can be understood by itself: names instead of pronouns, and the date if the text or "context" gives one.
Say nothing that the text does not say. Leave out greetings, thanks, questions, small talk and the text's own
formatting. Weigh each fact by "importance", from 1, trivial, to 10, essential. Write in the language of the text.
"context" helps to understand the text; take no facts from it. If nothing is worth remembering, answer with no facts."""


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Models that answer with texts instead of objects mean facts; what is neither is left out."""
    if not isinstance(value, list):
        return value
    made = [{"fact": one} if isinstance(one, str) else one for one in value]
    return [one for one in made if isinstance(one, dict) and isinstance(one.get("fact"), str) and one["fact"].strip()]


class SaidFact(ModelAnswer):
    """A fact of the text."""

    fact: Annotated[str, Field(max_length=_LONGEST)]
    importance: Importance = 5


class SaidFacts(ModelAnswer):
    """The facts of the text."""

    facts: Annotated[list[SaidFact], BeforeValidator(_plain), Field(max_length=_MOST)]


async def facts_by_model(
    model: ShelfModel, text: str, *, nugget: str, context: str, deadline: float | None = None
) -> list[DistilledFact]:
    """Return the facts of *text*, all of which the model is shown: in several questions, if one does not hold it.

    Args:
        model: The shelf's.
        text: What to read.
        nugget: Where the facts go.
        context: What helps to understand it, such as when it was published.
        deadline: By the clock's monotonic seconds.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`.
    """
    around = [Passage("context", nugget, cut(context, _CONTEXT))] if context else []
    empty = ModelQuestion("facts", _INSTRUCTIONS, around, SaidFacts, min(_REPLY_TOKENS, model.context_tokens // 4))
    found: dict[str, DistilledFact] = {}
    for part in await cut_chunks(text, room(model, empty)):
        question = empty._replace(passages=[*around, Passage("text", nugget, part)])
        answer = await ask_checked(model, question, lambda _: (), deadline=deadline)
        for one in answer.facts:
            said = tidy_content(one.fact).strip()
            found.setdefault(said.casefold(), DistilledFact(said, one.importance))
    return list(found.values())
