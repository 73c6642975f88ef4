"""Whether "un", which counts as well, is an article."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon, units


def is_article(
    found: Sequence[str], following: Sequence[str], proper: AbstractSet[str], lexicon: AlphabeticLexicon
) -> bool:
    """Return whether "un" only says that a noun or a name follows: "est un arc", "est un Sony", "a un casque Sony".

    Args:
        found: The words before it.
        following: Those behind it.
        proper: What is a name.
        lexicon: Of its language.
    """
    if not found or not following:
        return False
    lists = lexicon.lists
    before = next((word for word in reversed(found) if word not in lists["unsaid"]), "")
    if before in lists["be"] and following[0] in proper:
        return True
    if before in lists["be"] or before in lists["single_links"] or tuple(found[-2:]) in _INSTEAD:
        return _is_noun(following[0], lexicon)
    is_thing = following[0] in lists["concrete_nouns"] and following[0] not in proper
    return is_thing and len(following) > 1 and following[1] in proper and lexicon.language in NOUN_FIRST


#: Behind what a noun stands, and no number of it: "au lieu d'un basset".
_INSTEAD: Final = (("lieu", "de"), ("place", "de"), ("lugar", "de"), ("vez", "de"), ("prix", "de"))


def _is_noun(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word behind "un" names something, and measures nothing: "est un arc", and no "est un an"."""
    is_word = lexicon.language in NOUN_FIRST and word.isalpha()
    return is_word and word not in units() and word not in lexicon.multipliers and word not in lexicon.marked
