"""What has ended because something is in another state now, or somebody."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import lexicon, spaceless
from shelfd.memory.knowledge.evolution.statement import DEAD, NOBODY, Arity, Statement, Value
from shelfd.memory.knowledge.evolution.values import times
from shelfd.memory.knowledge.evolution.verdicts import ADDS, Judgement, Verdict, updated


def other_state(new: Statement, old: Statement) -> Judgement:
    """Return what becomes of a state of what is said to be in another one."""
    states = spaceless(new.language).states if new.language in ("zh", "ja") else lexicon(new.language).states
    if state_of(new) not in states.get(state_of(old), ()):
        return ADDS
    if new.rest - times(new) and old.rest and not (new.rest <= old.rest or old.rest <= new.rest or new.rest & _ALL):
        return ADDS  # on in one place, off in another
    if new.language in ("zh", "ja") and new.core[0][:1] == old.core[0][:1]:
        return ADDS
    if new.language not in ("zh", "ja") and not new.now and new.core[0] in lexicon(new.language)["fixed_states"]:
        return Judgement(Verdict.CORRECTED if new.corrects else Verdict.CONFLICT, "two values of what never changes")
    return updated(new, "another state")


#: What is so of all is so of each.
_ALL: Final = frozenset(("all", "every", "alle", "allen", "todos", "todas", "tous", "toutes"))


def state_of(statement: Statement) -> str:
    """Return the word that tells a state: of a light green, green."""
    core = statement.core
    return (statement.language not in ("zh", "ja") and lexicon(statement.language).colour_of(core)) or core[0]


def is_colour(statement: Statement) -> bool:
    """Return whether a state is a colour, or a shade of one."""
    if statement.language not in _RED:
        return False
    words, red = lexicon(statement.language), _RED[statement.language]
    state = state_of(statement)
    return state == red or state in words.states[red]


_RED: Final = {"en": "red", "de": "rot", "es": "rojo", "fr": "rouge"}


def left_state(new: Statement, old: Statement) -> bool:
    """Return whether who was married to somebody no longer is, or who was single is: connected to something, too."""
    if new.verb != "be" or old.verb != "be" or new.language in ("zh", "ja") or not (new.positive and old.positive):
        return False
    if new.event or old.event or times(old) or bool(new.link) == bool(old.link) or not new.core or not old.core:
        return False
    if Value.STATE not in (new.value, old.value):
        return False
    if new.rest and (old.link or "on" in new.link) and not new.rest <= {*old.core, *old.rest}:
        return False  # on on the office tablets, off on those of the ward
    states = lexicon(new.language).states
    after, before = (each.link.split()[0] if each.link else each.core[0] for each in (new, old))
    return before != after and after in states.get(before, ())


def tells_whether_it_works(statement: Statement) -> bool:
    """Return whether a state is that of a thing which may break: which thing it is can be told beside it."""
    broken = _BROKEN.get(statement.language, "")
    if not broken or statement.value is not Value.STATE or statement.link:
        return False
    return statement.core[0] == broken or broken in lexicon(statement.language).states.get(statement.core[0], ())


_BROKEN: Final = {"en": "broken", "de": "kaputt", "es": "roto", "fr": "casse"}


def ended_by_state(new: Statement, old: Statement) -> str | None:
    """Return how what *old* says has ended with the state that *new* tells of, None if it has not."""
    if new.value is not Value.STATE or new.verb != "be" or not new.positive or new.event:
        return None
    if not old.positive or old.event or old.several:
        return None
    if new.core in DEAD:
        return "no longer lives" if old.verb in lexicon(new.language)["living"] else None
    if new.language in ("zh", "ja") or new.adds:
        return None
    if (old.verb in ceasing(new) and old.slot is not Arity.FIXED) or _is_switched_off(new, old):
        return "no longer done"
    if _is_ruled_out(new, old):
        return "ended with another state"
    return "no longer there" if _was_there(new, old) else None


def ceasing(new: Statement) -> frozenset[str]:
    """Return the verbs of what is no longer done where who did it is no more, as a choir that was dissolved."""
    lists = lexicon(new.language).lists
    is_no_more = not lists.get("ceased", NOBODY).isdisjoint((*new.core, *new.words))
    return lists.get("ceasing", NOBODY) if is_no_more else NOBODY


def _is_switched_off(new: Statement, old: Statement) -> bool:
    """Return whether what comes at some rhythm is switched off: a job that runs every hour."""
    lists = lexicon(new.language).lists
    if new.core[0] not in lists.get("off", NOBODY) or old.verb not in lists["running"] | lists["beginning"]:
        return False
    return old.value is Value.TIME or not lists["rhythms"].isdisjoint(old.words)


def _is_ruled_out(new: Statement, old: Statement) -> bool:
    """Return whether nobody in this state does that: who is retired no longer works for somebody."""
    done = lexicon(new.language).ruled_out.get(new.core, ())
    if not done or not old.verb:
        return False
    said = ("*", old.link.split()[0] if old.link else "", old.core[-1] if old.core else "")
    return any(f"{old.verb} {word}" in done for word in said if word)


def _was_there(new: Statement, old: Statement) -> bool:
    """Return whether a thing that is missing now was said to be at a place."""
    words = lexicon(new.language)
    if not words["missing"].issuperset(new.core) or old.verb not in words["placing"]:
        return False
    is_place = old.value is Value.NAME and old.slot is Arity.ONE
    return is_place and not words["spots"].isdisjoint(old.link.split())


def ended_verbs(statement: Statement) -> frozenset[str]:
    """Return the verbs of what may have ended with a state."""
    words = lexicon(statement.language)
    if statement.core in DEAD:
        return words["living"]
    if words["missing"].issuperset(statement.core):
        return words["placing"]
    if verbs := ceasing(statement):
        return verbs
    if statement.core[0] in words.lists.get("off", NOBODY):
        return words["running"] | words["beginning"]
    return frozenset(done.split(" ", 1)[0] for done in words.ruled_out.get(statement.core, ()))
