"""Whether two values of one thing answer two questions about it, so that both may be so."""

from shelfd.memory.knowledge.evolution.ending import cues
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.statement import Statement


def answer_two_questions(new: Statement, old: Statement) -> bool:
    """Return whether two values of a thing answer two questions: whose niece, and whose daughter; what, and how often.

    A level may be amber and be reviewed monthly.
    """
    if new.language in ("zh", "ja") or new.now or new.corrects:
        return False
    words = lexicon(new.language)
    if any(not words["vague"].isdisjoint(one.core) and words["others"].isdisjoint(one.words) for one in (new, old)):
        return True  # "someone in Osaka" has a name, and "a Linux distribution", too; but not "someone else"
    if (new.verb, new.link, old.link) != ("be", "", ""):
        return False
    kin = cues(new.language).people - words["titles"]  # "Brother Oswin"
    if new.core[0] in kin and old.core[0] in kin:
        return True
    if new.left_out & old.left_out and new.rest and old.rest and new.rest != old.rest:
        return True  # "wants to be addressed as Sol in emails", and as Dr Aasen in programmes
    often = words["once"] | words["rhythms"]
    return often.isdisjoint(new.core) is not often.isdisjoint(old.core)
