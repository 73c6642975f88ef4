"""What a sentence says that one entity does to another: a subject, one of a few verbs, and its objects.

Nothing but a subject, a verb with few plain words around it and an object counts: what is doubted, denied, asked or
said in a more roundabout way is left to the rule that both occur together.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.kinds import EntityMention

_ACTORS: Final = frozenset({"actor", "threat_actor", "intrusion_set"})
_AGENTS: Final = _ACTORS | {"malware", "tool", "campaign", "person", "organization"}
_THINGS: Final = _ACTORS | frozenset(
    "malware tool campaign cve attack_pattern asset organization event activity".split()
)
_NAMED: Final = _AGENTS | frozenset("location sector asset event activity cve attack_pattern".split())


class _Verb(NamedTuple):
    relation: str
    forms: str  #: a pattern of its active forms
    participle: str  #: a pattern of what stands before "by"
    subjects: frozenset[str]
    objects: frozenset[str]


_VERBS: Final = (
    _Verb(
        "causes",
        r"cause[sd]?|causing|led to|leads to|resulted in|results in|triggers?|triggered|brought about",
        r"caused|triggered|brought about",
        _THINGS,
        _THINGS,
    ),
    _Verb("enables", r"enable[sd]?|enabling|makes possible|made possible", r"enabled|made possible", _THINGS, _THINGS),
    _Verb(
        "exploits",
        r"exploits?|exploited|exploiting|weaponi[sz]e[sd]?|weaponi[sz]ing|abuse[sd]?|abusing",
        r"exploited|weaponi[sz]ed|abused",
        _AGENTS,
        frozenset({"cve", "asset"}),
    ),
    _Verb(
        "uses",
        r"use[sd]?|using|deploy(?:s|ed|ing)?|leverage[sd]?|leveraging|employs|employed|employing|installs?|installed"
        r"|drops|dropped|delivers|delivered|distribute[sd]?|relies on|relied on|runs|ran|switched to|moved to",
        r"used|deployed|leveraged|employed|installed|dropped|delivered|distributed",
        _AGENTS,
        frozenset("tool malware attack_pattern domain url ipv4 ipv6 email path".split()),
    ),
    _Verb(
        "targets",
        r"targets?|targeted|targeting|attack(?:s|ed|ing)?|compromise[sd]?|compromising|breache[sd]|breaching|hits?"
        r"|struck|went after",
        r"targeted|attacked|compromised|breached|hit|struck",
        _ACTORS | {"malware", "tool", "campaign"},
        frozenset("organization sector location asset person domain ipv4 ipv6 email event".split()),
    ),
    _Verb(
        "attributed_to",
        r"(?:attributed|linked|tied|traced) (?:back )?to|blamed on|(?:was|is) the work of",
        r"(?!)",
        frozenset("campaign malware tool event domain url ipv4 ipv6 md5 sha1 sha256 attack_pattern".split()),
        _ACTORS | {"organization", "person", "location"},
    ),
    _Verb("related_to", r"(?:related|connected|similar) to|overlaps with|resembles", r"(?!)", _NAMED, _NAMED),
)

#: Words around the verb that make something else of the sentence.
_OTHERWISE: Final = (
    r"(?:and|or|nor|which|that|who|whose|whom|to|when|after|before|because|if|then|as|than|may|might|could|would|should"
    r"|can|must|whether|by|for|against|with|from|about|not|never|no|without)\b"
)
_WORD: Final = rf"(?!{_OTHERWISE})[\w$'’-]+"
_BEFORE: Final = rf"(?:[ ]+{_WORD}){{0,3}}?"
_AFTER: Final = rf"(?:[ ]+{_WORD}){{0,3}}"
_JOINT: Final = re.compile(r"\s*(?:,|,?\s*(?:and|or|as well as|&))\s*(?:the |an? |also )?", re.IGNORECASE)
_LONGEST: Final = 80


@cache  # here and below: compiled when first used, which is after the daemon's start
def _active() -> Sequence[tuple[re.Pattern[str], _Verb]]:
    ends = rf"{_AFTER}[ ]*[\"“]?"
    return [(re.compile(rf"(?:['’]s)?{_BEFORE}[ ]+(?:{verb.forms}){ends}", re.IGNORECASE), verb) for verb in _VERBS]


@cache
def _passive() -> Sequence[tuple[re.Pattern[str], _Verb]]:
    ends = rf"{_AFTER}[ ]*[\"“]?"
    return [(re.compile(rf",?{_BEFORE}[ ]+(?:{verb.participle}) by{ends}", re.IGNORECASE), verb) for verb in _VERBS]


class SaidEdge(NamedTuple):
    """That one entity does something to another."""

    source: EntityMention
    relation: str
    target: EntityMention


def said_in(sentence: str, mentions: Sequence[EntityMention], offset: int) -> Iterator[SaidEdge]:
    """Yield what a sentence says of its entities.

    Args:
        sentence: Its text.
        mentions: What it mentions, by where it begins.
        offset: Where it begins in the text by whose places *mentions* go.
    """
    for at in range(1, len(mentions)):
        one, other = mentions[at - 1], mentions[at]
        gap = sentence[one.end - offset : other.start - offset]
        if not 3 <= len(gap) <= _LONGEST:
            continue
        for patterns, is_passive in ((_passive(), True), (_active(), False)):
            verb = _verb(gap, patterns, one, other, is_passive=is_passive)
            if verb is None:
                continue
            left = list(_joined(sentence, mentions, at - 1, -1, offset))
            right = list(_joined(sentence, mentions, at, 1, offset))
            sources, targets = (right, left) if is_passive else (left, right)
            for source in sources:
                for target in targets:
                    if source.type in verb.subjects and target.type in verb.objects:
                        yield SaidEdge(source, verb.relation, target)
            break


def _verb(
    gap: str,
    patterns: Sequence[tuple[re.Pattern[str], _Verb]],
    one: EntityMention,
    other: EntityMention,
    *,
    is_passive: bool,
) -> _Verb | None:
    subject, object_ = (other, one) if is_passive else (one, other)
    for pattern, verb in patterns:
        if subject.type in verb.subjects and object_.type in verb.objects and pattern.fullmatch(gap):
            return verb
    return None


def _joined(
    sentence: str, mentions: Sequence[EntityMention], at: int, step: int, offset: int
) -> Iterator[EntityMention]:
    """The mention at a place, and those that "and" and commas join to it on its far side."""
    yield mentions[at]
    while 0 <= (beyond := at + step) < len(mentions):
        first, second = sorted((at, beyond))
        gap = sentence[mentions[first].end - offset : mentions[second].start - offset]
        if _JOINT.fullmatch(gap) is None:
            return
        yield mentions[beyond]
        at = beyond
