"""What makes facts of a text and decides what they do: a language model if there is one that may see it, else rules."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from shelfd.memory.knowledge.distilling.by_model import facts_by_model
from shelfd.memory.knowledge.distilling.facts import DistilledFact, facts_by_rules, most_important
from shelfd.memory.knowledge.model.alike import OLDER, notes_like
from shelfd.memory.knowledge.model.checked import LLM, RULES
from shelfd.memory.knowledge.model.decisions import OpenStatement, Operation, decisions_by_model
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.shelf.shelf import Shelf

#: For one text, with all that is asked again.
PATIENCE_S: Final = 180.0
#: How long rules read without giving way to other tasks.
_TURN_S: Final = 0.004


class Reader(NamedTuple):
    """What is to be read, and how.

    Attributes:
        nugget: Where its facts go.
        session_id: The conversation they belong to.
        context: What helps to understand it.
        min_importance: Facts that matter less are dropped.
        max_facts: Of the others the most important are kept.
    """

    nugget: str
    session_id: str | None
    context: str
    min_importance: int
    max_facts: int


class Distilled(NamedTuple):
    """Facts in the order of the text, and what each does to what is known, None where rules decide."""

    engine: str
    facts: Sequence[DistilledFact] = ()
    operations: Sequence[Operation | None] = ()


async def distil(shelf: Shelf, text: str, reader: Reader) -> Distilled:
    """Return the facts of *text*. A model that does not answer is made up for by rules."""
    if not shelf.model.may_see(reader.nugget):
        return await _by_rules(shelf, text, reader)
    deadline = shelf.clock.monotonic() + PATIENCE_S
    try:
        found = await facts_by_model(shelf.model, text, nugget=reader.nugget, context=reader.context, deadline=deadline)
    except NO_ANSWER:  # the log has said why
        return await _by_rules(shelf, text, reader)
    facts = most_important(found, at_least=reader.min_importance, most=reader.max_facts)
    return Distilled(LLM, facts, await _decisions(shelf, facts, reader, deadline))


async def _by_rules(shelf: Shelf, text: str, reader: Reader) -> Distilled:
    found: list[DistilledFact] = []
    until = shelf.clock.monotonic() + _TURN_S
    for fact in facts_by_rules(text):
        if fact is not None:
            found.append(fact)
        if shelf.clock.monotonic() >= until:
            await asyncio.sleep(0)
            until = shelf.clock.monotonic() + _TURN_S
    facts = most_important(found, at_least=reader.min_importance, most=reader.max_facts)
    return Distilled(RULES, facts, [None] * len(facts))


async def _decisions(
    shelf: Shelf, facts: Sequence[DistilledFact], reader: Reader, deadline: float
) -> list[Operation | None]:
    """What a model says that facts do to notes like them; rules decide of those that have none, or if it fails."""
    await shelf.reach(None)
    found: list[Operation | None] = [None] * len(facts)
    known: dict[int, OpenStatement] = {}
    for number, fact in enumerate(facts):
        if notes := notes_like(shelf, fact.text, nugget=reader.nugget, session_id=reader.session_id, k=OLDER):
            known[number] = OpenStatement(fact.text, notes)
        await asyncio.sleep(0)
    try:
        decided = await decisions_by_model(shelf.model, [*known.values()], nugget=reader.nugget, deadline=deadline)
    except NO_ANSWER:
        return found
    for number, operation in zip(known, decided, strict=True):
        found[number] = operation
    return found
