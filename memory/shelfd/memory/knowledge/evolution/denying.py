"""What "not X", "instead of X" says of an older statement."""

from typing import Final

from shelfd.memory.knowledge.evolution.circumstances import is_exchangeable, is_one_role
from shelfd.memory.knowledge.evolution.effects import is_done_with
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.statement import Effect, Statement
from shelfd.memory.knowledge.evolution.verdicts import Judgement, Verdict, says_alike, updated


def by_denial(new: Statement, old: Statement) -> Judgement | None:
    """What "not X", "instead of X" says of an old statement; None if it says nothing of it."""
    if not old.positive or (any(word[0] == "#" for word in new.denied) and not {*old.amounts} <= {*new.amounts}):
        return None
    if new.effect is Effect.INSTEAD:
        if (
            new.denied == old.subject
            and (says_alike(new.language, new.verb, old.verb) or (is_exchangeable(new) and is_exchangeable(old)))
            and new.link == old.link
            and is_one_role(old.core, new.core)
            and old.rest <= {*new.core, *new.rest}
        ):
            return Judgement(Verdict.UPDATED, "another took its place")
        if new.subject == old.subject and is_done_with(new, new.denied, old):
            return updated(new, "no longer used")
        fits = new.subject == old.subject and says_alike(new.language, new.verb, old.verb) and not old.several
        if fits and (new.link, new.core) == (old.link, old.core) and new.denied <= old.rest <= new.denied | new.rest:
            return updated(new, "done otherwise now")  # to Rome by plane instead of by train
        if fits and new.denied == {*old.core} and new.link == old.link and new.rest <= old.rest and _is_for(old):
            return updated(new, "replaced")
        is_how = new.core == old.core or bool(new.link)  # reminders by mail instead of by text
        beside = old.rest - new.denied if is_how else old.rest
        fits = fits and new.denied <= ({*old.core} | old.rest if is_how else {*old.core})
        fits = fits and _received(beside, new) <= {*new.core, *new.rest}
        fits = fits and (new.core == old.core or new.link != old.link or not new.denied.isdisjoint(old.core))
        # "invoices quarterly instead of monthly" says nothing of a monthly report
        if fits and (new.link or {*old.core} <= {*new.core} | new.denied or len(new.core) <= len(new.denied)):
            return updated(new, "replaced")
        return None
    if new.subject != old.subject or new.verb != old.verb or old.several:
        return None
    besides = {word for word in {*old.core, *old.rest} - new.denied if word[0] not in "#~"}
    is_whole = new.corrects and new.denied == {*old.core} and new.link == old.link and not new.rest
    if not is_whole and not besides <= {*new.core, *new.rest}:
        return None  # pnpm, not yarn: whatever yarn was said to be used for
    if new.denied <= {*old.core, *old.rest} and not new.denied <= {*new.core, *new.rest}:
        return updated(new, "said not to be so" if new.corrects else "no longer so")
    return None


def _is_for(old: Statement) -> bool:
    """Return whether beside its value a statement says only what that is for: MongoDB as the database."""
    if old.link or old.language in ("zh", "ja"):
        return False
    told = lexicon(old.language)["prepositions"].intersection(old.words)
    return bool(told) and told <= _PURPOSES


#: Prepositions before what something is used as, or for.
_PURPOSES: Final = frozenset(("as", "for", "als", "fur", "zu", "zum", "zur", "como", "para", "comme", "pour"))


def _received(words: frozenset[str], new: Statement) -> frozenset[str]:
    """Return *words* without that by which somebody gets what they want, which may be left out."""
    return words if new.language in ("zh", "ja") else words - lexicon(new.language)["wished"]
