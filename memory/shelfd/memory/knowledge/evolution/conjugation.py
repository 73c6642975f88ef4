"""The forms of regular Spanish and French verbs, from their infinitives. Words are folded, as texts are to be read."""

from collections.abc import Iterator
from typing import Final, NamedTuple


class VerbForms(NamedTuple):
    """What a verb is written like."""

    infinitive: str
    present: tuple[str, ...]
    told: tuple[str, ...]  #: in past tenses, and the past participle


def conjugate(infinitives: str, language: str) -> Iterator[VerbForms]:
    """Yield the forms of each of the *infinitives*, which blanks part.

    Raises:
        KeyError: Of a language that has no rules here, or of what does not end as its infinitives do.
    """
    for infinitive in infinitives.split():
        present, told = _ENDINGS[language, infinitive[-2:]]
        stem = infinitive[:-2]
        yield VerbForms(infinitive, tuple(stem + end for end in present), tuple(stem + end for end in told))


#: What a stem ends in, in the present and of what is told, by language and the ending of the infinitive.
_ENDINGS: Final = {
    ("es", "ar"): (("a", "o", "an", "amos"), ("aba", "aban", "aron", "ado", "ada")),
    ("es", "er"): (("e", "o", "en", "emos"), ("ia", "ian", "io", "ieron", "ido", "ida")),
    ("es", "ir"): (("e", "o", "en", "imos"), ("ia", "ian", "io", "ieron", "ido", "ida")),
    ("fr", "er"): (("e", "ent", "es", "ons"), ("ait", "aient")),
    ("fr", "ir"): (("it", "issent", "is", "issons"), ("issait", "issaient")),
}
