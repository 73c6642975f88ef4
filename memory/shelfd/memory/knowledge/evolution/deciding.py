"""What a new note does to older ones, decided from what both say."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shelfd.memory.knowledge.evolution.bygone import is_bygone
from shelfd.memory.knowledge.evolution.comparing import compare, is_another_of_the_kind
from shelfd.memory.knowledge.evolution.reading import SENTENCES, read
from shelfd.memory.knowledge.evolution.renaming import RENAMED
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.knowledge.evolution.verdicts import NOTHING, Judgement, Verdict
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal, withdrawals
from shelfd.memory.knowledge.evolution.withdrawn import is_succeeded, withdrawn


class Told(NamedTuple):
    """What a decision needs to know of a note."""

    id: str
    text: str
    when: int  #: microseconds since 1970 UTC of what it tells
    key: str | None = None  #: folded
    said: Sequence[Statement] | None = None  #: what it states, if that was read already

    withdraws: Sequence[Withdrawal] | None = None  #: what it names as ended, if that was read already

    @property
    def statements(self) -> Sequence[Statement]:
        """What it states."""
        return read(self.text) if self.said is None else self.said


def decide(new: Told, older: Iterable[Told]) -> dict[str, Judgement]:
    """Return what becomes of each of the *older* notes, by id.

    Sharing a subject or an entity is never enough: one of the new note's statements has to end, exclude or deny what
    the older one says. A note of several statements is superseded only if each of them is. What is told of an earlier
    time supersedes nothing.
    """
    said = new.statements
    withdraws = withdrawals(new.text, said) if new.withdraws is None else new.withdraws
    read_once = new._replace(said=said, withdraws=withdraws)
    told = [*older]
    judged = {old.id: _judge(read_once, old) for old in told}
    renamed = [old for old in told if judged[old.id].reason == RENAMED]
    if len({statement.subject for old in renamed for statement in old.statements}) > 1:
        judged |= {old.id: NOTHING for old in renamed}  # which of them it is, nobody can know
    if len(said) == 1 and said[0].corrects and all(each.verdict is Verdict.STAYS for each in judged.values()):
        wrong = [old for old in told if old.when <= new.when and _may_be_corrected(said[0], old)]
        if len(wrong) == 1:
            judged[wrong[0].id] = Judgement(Verdict.CORRECTED, "the only one that may be meant")
    return judged


def _may_be_corrected(new: Statement, old: Told) -> bool:
    """Return whether what is said to be a correction may be one of an older note, of whose kind there may be several.

    "Ida is Tom's aunt; the note that says cousin was wrong".
    """
    earlier = old.statements
    return len(earlier) == 1 and is_another_of_the_kind(new, earlier[0])


def _judge(new: Told, old: Told) -> Judgement:
    if new.key is not None and new.key == old.key:
        return _by_key(new, old)
    if new.key is not None and old.key is not None:
        return Judgement(Verdict.STAYS, "another key")
    statements, earlier = new.statements, old.statements
    if not statements or not earlier or len(statements) > SENTENCES or len(earlier) > SENTENCES:
        return NOTHING
    if len(statements) == len(earlier) == 1:
        judged = compare(statements[0], earlier[0])
    else:
        judged = _together([_strongest(statements, each) for each in earlier], len(statements))
    if judged.verdict not in _SUPERSEDED and new.withdraws:
        judged = _withdrawn(new.withdraws, earlier) or judged
        if judged.verdict is Verdict.STAYS and all(is_succeeded(new.withdraws, statements, each) for each in earlier):
            is_correction = any(statement.corrects for statement in statements)
            judged = Judgement(Verdict.CORRECTED if is_correction else Verdict.UPDATED, "another does it now")
    if judged.verdict is Verdict.CONFLICT and any(statement.corrects for statement in statements):
        judged = Judgement(Verdict.CORRECTED, "corrected")  # one of its clauses says that something was wrong
    if judged.verdict in _SUPERSEDED and (new.when < old.when or is_bygone(statements, earlier, old.when)):
        return Judgement(Verdict.STAYS, "speaks of an earlier time")
    return judged


def _withdrawn(found: Sequence[Withdrawal], old: Sequence[Statement]) -> Judgement | None:
    """Return what becomes of a note each of whose statements is named as ended."""
    ended = [withdrawn(found, each) for each in old]
    if not all(ended):
        return None
    is_correction = any(each.is_correction for each in ended if each is not None)
    return Judgement(Verdict.CORRECTED if is_correction else Verdict.UPDATED, "named as no longer so")


_SUPERSEDED = frozenset((Verdict.UPDATED, Verdict.CORRECTED))
_STRENGTH = {
    Verdict.CORRECTED: 4,
    Verdict.UPDATED: 3,
    Verdict.DUPLICATE: 2,
    Verdict.CONFLICT: 1,
    Verdict.STAYS: 0,
}


def _by_key(new: Told, old: Told) -> Judgement:
    """A key has one value: the one told of the latest time."""
    if new.text == old.text:
        return Judgement(Verdict.DUPLICATE, "same key and value")
    if new.when < old.when:
        return Judgement(Verdict.STAYS, "speaks of an earlier time")
    corrects = any(statement.corrects for statement in new.statements)
    return Judgement(Verdict.CORRECTED if corrects else Verdict.UPDATED, "another value of the key")


def _strongest(statements: Iterable[Statement], old: Statement) -> Judgement:
    """Return what the new note's statements together do to one old statement."""
    return max((compare(new, old) for new in statements), key=lambda each: _STRENGTH[each.verdict])


def _together(found: list[Judgement], statements: int) -> Judgement:
    """Return what becomes of a note from what becomes of its statements."""
    verdicts = {each.verdict for each in found}
    if Verdict.CONFLICT in verdicts:
        return next(each for each in found if each.verdict is Verdict.CONFLICT)
    if Verdict.STAYS in verdicts:
        return next(each for each in found if each.verdict is Verdict.STAYS)
    if superseding := [each for each in found if each.verdict in _SUPERSEDED]:
        return max(superseding, key=lambda each: _STRENGTH[each.verdict])
    if len(found) == statements:
        return found[0]
    return Judgement(Verdict.STAYS, "the new note says more")
