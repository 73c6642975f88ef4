"""Types of entities, and the one form that all spellings of a name share."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, NamedTuple

#: Types whose values are names: blanks, hyphens and case make no difference.
NAMED_TYPES: Final = frozenset(
    "intrusion_set actor threat_actor tool malware campaign person location organization event activity temporal"
    " sector asset".split()
)
#: Types whose values are identifiers, of which every sign counts but for case.
IDENTIFIER_TYPES: Final = frozenset(
    "cve attack_pattern ipv4 ipv6 domain url md5 sha1 sha256 email path version mqtt_topic".split()
)
ENTITY_TYPES: Final = NAMED_TYPES | IDENTIFIER_TYPES

#: Types that mean the same kind of thing: a name of one is looked for in all of them, and they share their aliases.
_RELATED: Final = (("actor", "threat_actor", "intrusion_set"), ("tool", "malware"))
RELATED: Final[Mapping[str, tuple[str, ...]]] = {type_: types for types in _RELATED for type_ in types}
_ITSELF_FIRST: Final = {
    type_: (type_, *(other for other in types if other != type_)) for type_, types in RELATED.items()
}

#: All that is written for a hyphen.
HYPHENS: Final = "-‐‑‒–—―−"
_JOINTS: Final = re.compile(rf"[\s_{re.escape(HYPHENS)}]+")
#: What is said with a name of a type and makes no other one of it: "Dr. Okafor", "Nordwind GmbH", "the energy sector".
_BESIDE: Final = {
    "person": re.compile(
        r"^(?:(?:mrs?|ms|mx|miss|dr|prof(?:essor)?|doctor|sir|dame|herr|frau|señora?|signora?|monsieur|madame|mme|mlle|docteur)\.?[\s-]+)+(?=\w)"
    ),
    "organization": re.compile(
        r"(?<=\w)[\s,-]+(?:gmbh|ag|kg|ohg|ug|se|inc|incorporated|corp|corporation|ltd|limited|llc|plc|co|company|sarl|"
        r"sa|sas|srl|spa|bv|nv|oy|ab|aps)\.?$"
    ),
    "sector": re.compile(r"(?<=\w)[\s-]+(?:sector|industry)$"),
    "campaign": re.compile(r"^operation[\s-]+(?=\w)|(?<=\w)[\s-]+campaign$"),
}


_CVE: Final = re.compile(rf"(?:cve)?[\s_:{re.escape(HYPHENS)}]*(\d{{4}})[\s_{re.escape(HYPHENS)}]+(\d{{4,7}})")


class EntityName(NamedTuple):
    """A type and the canonical form of a value: what an entity is known by."""

    type: str
    key: str


class EntityMention(NamedTuple):
    """An entity in a text.

    Attributes:
        type: One of :data:`ENTITY_TYPES`, or a type of the configuration.
        value: As it is shown, in small letters: ``cobalt-strike``.
        key: Its canonical form, which all spellings share.
        start: Where it begins in the text, in characters.
        end: Where it ends.
        confidence: How sure it is, 0 to 1.
    """

    type: str
    value: str
    key: str
    start: int
    end: int
    confidence: float = 0.9


def family(type_: str) -> str:
    """Return the first of the types related to *type_*: under it stand the aliases of all of them."""
    return RELATED.get(type_, (type_,))[0]


def related_types(type_: str) -> tuple[str, ...]:
    """Return the types in which a name of *type_* is looked for: itself first."""
    return _ITSELF_FIRST.get(type_) or (type_,)


def folded(value: str) -> str:
    """Return *value* without differences of case and compatibility forms, blanks as one."""
    low = value.lower() if value.isascii() else unicodedata.normalize("NFKC", value).casefold()
    return " ".join(low.split())


def key_of(type_: str, value: str) -> str:
    """Return the canonical form of a value: ``APT 28``, ``APT-28`` and ``apt28`` share one."""
    return _key(type_, folded(value))


def shown(type_: str, value: str) -> str:
    """Return a value as it is shown: in small letters, a name with hyphens for its blanks."""
    return _shown(type_, folded(value))


def mention(type_: str, value: str, start: int, end: int, confidence: float = 0.9) -> EntityMention:
    """Return the mention of a value as it was written."""
    low = folded(value)
    return EntityMention(type_, _shown(type_, low), _key(type_, low), start, end, confidence)


def _key(type_: str, low: str) -> str:
    if type_ == "cve":
        return _cve(low)
    if low.isalnum() or type_ in IDENTIFIER_TYPES:
        return low
    if (beside := _BESIDE.get(type_)) is not None:
        low = beside.sub("", low)
    return _JOINTS.sub("", low) or low


def _shown(type_: str, low: str) -> str:
    if type_ == "intrusion_set":
        return _JOINTS.sub("", low)
    if type_ == "cve":
        return _cve(low)
    return low if type_ in IDENTIFIER_TYPES else low.replace(" ", "-")


def _cve(low: str) -> str:
    """``cve-2024-3094`` of "cve 2024-3094", "cve_2024_3094" and the number alone; another value as it is."""
    numbers = _CVE.fullmatch(low)
    return f"cve-{numbers[1]}-{numbers[2]}" if numbers else low
