"""Which names are people's, by what stands beside them."""

from typing import Final

from shelfd.memory.knowledge.entities.firms import CUSTOMERS
from shelfd.memory.knowledge.entities.segment import Segment, word_lists

_ADDRESSES: Final = frozenset(
    "with and called call told tell asked ask met meet meeting visit visited invited invite thanked thank "
    "emailed email "
    "texted text married helped help hired saw by from for to phoned phone remind reminded gave lent sent taught "
    "dear hi hello hey congratulated joined named called interviewed".split()
)
#: What is told, given or asked is told, given or asked a person.
_TOLD: Final = frozenset(
    "told tell asked remind reminded thank thanked married invited texted phoned emailed congratulated kissed hugged "
    "consoled".split()
)
_GIVEN: Final = frozenset(
    "gave give gives offered offers sent lent lends showed shows bought handed promised awarded owes owed".split()
)
_THINGS: Final = frozenset("a an the his her my our some two three ten one".split())
#: What is done with people.
_SHARED: Final = frozenset(
    "coffee lunch dinner breakfast tea drinks brunch walk walks chat argued spoke talked danced shares shared flirted "
    "dances argues".split()
)
#: What people have.
_OWNED: Final = frozenset(
    "place house flat apartment wife husband mother father mum dad brother sister son daughter parents kids children "
    "birthday boyfriend girlfriend room desk car bike dog cat handwriting diary shoes coat hair voice boss phone "
    "laptop address allergy passport salary teacher doctor dentist manager glasses jacket".split()
)
#: How words end for what somebody does, which begin notes without an article: "Physiotherapist said".
_OCCUPATIONS: Final = (
    "apist",
    "ologist",
    "cist",
    "tist",
    "path",
    "cian",
    "keeper",
    "worker",
    "holder",
    "driver",
    "maker",
)
_IS: Final = frozenset("is are was were and or of for to with".split())
_ARTICLES: Final = frozenset({"the", "a", "an"})


def is_beside_what_people_do(segment: Segment, first: int, end: int, people: set[str], *, doubtful: bool) -> bool:
    """Return whether what stands beside a name is only said of people.

    Args:
        segment: The text.
        first: The name's first word.
        end: The word after its last.
        people: The people found before it, in small letters.
        doubtful: Whether it is a first name that is a common word, too.
    """
    low = segment.low
    previous = low[first - 1] if first else ""
    if previous in CUSTOMERS:
        return False
    if (previous in word_lists()["kin"] or previous == "law") and _is_kin(segment, first):
        return True
    if previous == "and" and _is_coordinated(segment, first, end, people):
        return True
    if _acts(segment, first, end) or _is_addressed(segment, first, end, doubtful=doubtful):
        return True
    if segment.is_foreign or end - first > 2 or segment.words[first].isupper() or len(low[first]) < 3:
        return False
    return _owns(segment, end) or (not doubtful and (_is_given(segment, first, end) or _has(segment, first, end)))


def _is_kin(segment: Segment, first: int) -> bool:
    """Whether a kinship stands before: "my sister Ana", "brother-in-law Ana"."""
    if segment.low[first - 1] != "law":
        return segment.between(first - 1) in {" ", ", "}
    return segment.low[max(0, first - 2)] == "in" and segment.between(first - 1) == " "


def _is_given(segment: Segment, first: int, end: int) -> bool:
    """Whether a name is told or given something, or shares a meal."""
    low = segment.low
    if first == 0 or segment.between(first - 1) != " ":
        return False
    previous = low[first - 1]
    if previous in _TOLD:
        return True
    if previous in _GIVEN:
        return end < len(low) and low[end] in _THINGS and segment.between(end - 1) == " "
    return previous == "with" and first > 1 and low[first - 2] in _SHARED


def _owns(segment: Segment, end: int) -> bool:
    """Whether a name has what only people have: "Zeb's flat"."""
    low = segment.low
    return end + 1 < len(low) and low[end] == "s" and segment.between(end - 1) in {"'", "’"} and low[end + 1] in _OWNED


def _has(segment: Segment, first: int, end: int) -> bool:
    """Whether a name did something to what it has: "Zeb broke his wrist"."""
    low = segment.low
    if end + 1 >= len(low) or low[first] in word_lists()["starters"]:
        return False
    return (
        segment.between(end - 1) == segment.between(end) == " "
        and low[end + 1] in {"his", "her"}
        and low[end] not in _IS
        and segment.words[end].islower()
        and (first == 0 or low[first - 1] not in _ARTICLES)
        and low[end - 1] not in word_lists()["heads"]
    )


def _is_coordinated(segment: Segment, first: int, end: int, people: set[str]) -> bool:
    """Whether a name stands beside a person's: "Fiona and Callum"."""
    low = segment.low
    if first < 2 or end - first > 2 or segment.words[first].isupper():
        return False
    return low[first - 2] in people and segment.between(first - 1) == segment.between(first - 2) == " "


def _acts(segment: Segment, first: int, end: int) -> bool:
    """Whether a verb that is only said of people follows."""
    lists = word_lists()
    if end >= len(segment.words) or end - first > 2 or segment.between(end - 1) != " ":
        return False
    verb = segment.low[end]
    if (
        verb == "and"
        and segment.begins_sentence(first)
        and end + 2 < len(segment.words)
        and segment.words[end + 1][0].isupper()
    ):
        verb = segment.low[end + 2]  # "Aurelio and Petronella danced"
    if segment.is_foreign:
        return False
    if segment.begins_sentence(first) and segment.low[first] in lists["starters"]:
        return False
    if verb not in lists["human_verbs"] or verb in lists["soft_verbs"]:
        return False
    if end - first == 1 and segment.begins_sentence(first) and segment.low[first].endswith(_OCCUPATIONS):
        return False
    previous = segment.low[first - 1] if first else ""
    return (
        previous not in _ARTICLES and not segment.words[first].isupper() and segment.low[end - 1] not in lists["heads"]
    )


def _is_addressed(segment: Segment, first: int, end: int, *, doubtful: bool) -> bool:
    """Whether what stands before is only said of people: "my sister", "told", "lunch with"."""
    if not doubtful or first == 0 or segment.begins_sentence(first):
        return doubtful and _said_of_people(segment, end)
    return segment.low[first - 1] in _ADDRESSES


def _said_of_people(segment: Segment, end: int) -> bool:
    if end >= len(segment.words):
        return False
    gap = segment.between(end - 1)
    return (
        gap == " " and segment.low[end] in word_lists()["human_verbs"] and segment.low[end] not in {"has", "is", "was"}
    )
