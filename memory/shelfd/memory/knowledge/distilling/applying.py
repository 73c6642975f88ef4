"""Facts become notes, each of which updates, corrects or repeats what is known."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.knowledge.distilling.engines import Distilled, Reader
from shelfd.memory.knowledge.evolution.applying import remember_evolved
from shelfd.memory.knowledge.evolution.verdicts import Judgement
from shelfd.memory.knowledge.model.checked import LLM
from shelfd.memory.knowledge.model.decisions import BY_MODEL, VERDICTS, Operation
from shelfd.memory.log.transaction import Transaction
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import KeyedInput

_STATUSES: Final[Mapping[str, str]] = {"created": "added"}


class About(NamedTuple):
    """What the notes of one text have in common, as JSON keeps it.

    Attributes:
        ref: Where the text is from; each note's ``source_ref`` begins with it.
        given: Params of ``remember`` by name, validated.
        context: What helps a model to understand the text.
        min_importance: Facts that matter less are dropped.
        max_facts: Of the others the most important are kept.
    """

    ref: str
    given: Mapping[str, Any]
    context: str
    min_importance: int
    max_facts: int

    @property
    def reader(self) -> Reader:
        """How the text is read."""
        nugget, session_id = self.given["nugget"], self.given.get("session_id")
        return Reader(nugget, session_id, self.context, self.min_importance, self.max_facts)


def store_facts(tx: Transaction, distilled: Distilled, about: About, ref: str, limits: Limits) -> list[dict[str, Any]]:
    """Store facts in their order, so that later ones may update earlier ones; return what became of each.

    One that the shelf's rules do not admit, such as one that is too short, is left out.

    Args:
        tx: Where.
        distilled: The facts, and what a model says that they do. Where it says nothing, or a note changed since it was
            shown, rules decide.
        about: What the notes have in common.
        ref: Where the text is from; empty for nowhere.
        limits: The configured limits.
    """
    found: list[dict[str, Any]] = []
    prefix = f"{ref}:extraction" if ref else "extraction"
    common: dict[str, Any] = dict(about.given)
    if distilled.engine == LLM:
        common["source"] = "inferred"  # a model's words are nobody's own
    for number, (fact, operation) in enumerate(zip(distilled.facts, distilled.operations, strict=True)):
        # What is given was validated with the request, and times are no longer texts: hence not validated again.
        given = KeyedInput.model_construct(
            **common, content=fact.text, importance=fact.importance, source_ref=f"{prefix}:{number}"
        )
        try:
            evolved = remember_evolved(tx, given, limits, decided=_decided(tx, operation))
        except GovernanceViolation:  # found before anything of it was written; the others stand
            continue
        found.append(
            {
                "id": evolved.note.id,
                "status": _STATUSES.get(evolved.status, evolved.status),
                "importance": fact.importance,
                "superseded": list(evolved.superseded),
                "conflicts": list(evolved.conflicts),
            }
        )
    return found


def _decided(tx: Transaction, operation: Operation | None) -> Mapping[str, Judgement] | None:
    """The decision, unless the note that it names is no longer what the model was shown."""
    if operation is None or operation.note is None:
        return None if operation is None else {}
    now = tx.rows.notes.get(operation.note.id)
    if now is None or now.rev != operation.note.rev:
        return None
    return {now.id: Judgement(VERDICTS[operation.name], BY_MODEL)}
