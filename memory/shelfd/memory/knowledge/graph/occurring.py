"""What two entities in one sentence usually have to do with each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from shelfd.memory.knowledge.entities.kinds import EntityMention

_ACTOR: Final = {
    "tool": "USES_TOOL",
    "malware": "USES_TOOL",
    "cve": "EXPLOITS_CVE",
    "asset": "TARGETS_ASSET",
    "sector": "TARGETS_SECTOR",
    "campaign": "CONDUCTS_CAMPAIGN",
    "attack_pattern": "USES_TECHNIQUE",
}
_TOOL: Final = {"asset": "TARGETS_ASSET", "cve": "EXPLOITS_CVE"}

#: What an entity of one type has to do with one of another that occurs with it.
RELATION_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "actor": _ACTOR,
    "threat_actor": _ACTOR,
    "intrusion_set": _ACTOR,
    "tool": _TOOL,
    "malware": {**_TOOL, "attack_pattern": "IMPLEMENTS"},
    "person": {
        "organization": "AFFILIATED_WITH",
        "event": "ATTENDED",
        "location": "LOCATED_AT",
        "activity": "PARTICIPATES_IN",
    },
    "event": {"location": "HELD_AT", "organization": "ORGANIZED_BY", "temporal": "OCCURRED_ON"},
    "organization": {"location": "BASED_IN"},
}


def occurring(mentions: Sequence[EntityMention]) -> Iterator[tuple[EntityMention, EntityMention, str]]:
    """Yield which of *mentions* have to do with which others, and what."""
    for source in mentions:
        relations = RELATION_OF.get(source.type)
        if relations is not None:
            for target in mentions:
                if (relation := relations.get(target.type)) is not None:
                    yield source, target, relation
