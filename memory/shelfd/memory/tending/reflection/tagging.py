"""Step: give notes a few tags that follow from what they say.

They are kept apart from a caller's own tags, which reflection never removes;
one that a caller removed is not derived again.
"""

import re
from collections.abc import Iterator
from typing import Final

from shelfd.memory.notes.inference import mentions_path, title_tags
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.words import fold
from shelfd.memory.tending.reflection.action import Action, Revision
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import each
from shelfd.memory.tending.reflection.words import ABOUT, text_about

_MOST: Final = 4
_SHORTEST, _LONGEST_WORD = 4, 32  # characters
_BY_TYPE: Final = {"preference": "preferences", "reflection": "reflection"}
_BY_SCOPE: Final = {
    "self": "assistant-self",
    "user": "user-memory",
    "shared": "shared-context",
    "project": "shared-context",
}
_KATAKANA, _HAN = r"[\u30a1-\u30fa\u30fc]+", r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
#: Words, with the marks that are parts of them in Indic scripts. Where a script has no spaces, a run of one kind.
_WORD: Final = re.compile(
    rf"(?P<dense>{_KATAKANA}|{_HAN})"
    r"|(?:[\u0900-\u0963\u0966-\u096f\u0971-\u0df3]|[^\W_\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])+"
)
_SHORTEST_DENSE, _LONGEST_DENSE = 2, 8  # characters


def derived_tags(note: Note, idle: frozenset[str], characters: int) -> tuple[str, ...]:
    """Return the tags that follow from what *note* says: four at most, beside those it has.

    Args:
        idle: Words of it that make no tags.
        characters: Longest tag.
    """
    taken = {*note.system_tags, *note.tags, *note.extra.dropped_tags}
    candidates = dict.fromkeys(_candidates(note, idle))
    return tuple([tag for tag in candidates if tag not in taken and len(tag) <= characters][:_MOST])


def _candidates(note: Note, idle: frozenset[str]) -> Iterator[str]:
    yield from title_tags(note.title)
    if note.type in _BY_TYPE:
        yield _BY_TYPE[note.type]
    if mentions_path(note.content[:ABOUT]):
        yield "files"
    if note.scope in _BY_SCOPE:
        yield _BY_SCOPE[note.scope]
    for match in _WORD.finditer(text_about(note)):
        word = match.group().lower()
        dense = match.lastgroup is not None
        shortest, longest = (_SHORTEST_DENSE, _LONGEST_DENSE) if dense else (_SHORTEST, _LONGEST_WORD)
        if shortest <= len(word) <= longest and not word.isnumeric() and fold(word) not in idle:
            yield word


def improve(note: Note, _hits: int, picture: Picture) -> Action | None:
    """Bring the derived tags of *note* up to date."""
    derived = derived_tags(note, picture.idle_words(note), picture.limits.tag_characters)
    if derived == note.derived_tags:
        return None
    tagged = note._replace(extra=note.extra._replace(derived_tags=derived))
    detail = "Tags -> " + ", ".join(tagged.all_tags)
    return Action(type="tag", note=note, detail=detail, revisions=(Revision(note, tagged),))


TAGS: Final = each("tags", improve)
