"""Notes that answer a question for a kind of thing by what they say of an entity: "what tools does Fancy Bear use?".

Such notes seldom have the words of the question: "tool" stands in none of them, and the name may be another one.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.extract import extract
from shelfd.memory.knowledge.graph.walking import GraphReader
from shelfd.memory.knowledge.synthesis.evidence import SourceNote
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.relevance import calibration
from shelfd.memory.shelf.shelf import Shelf

_ACTORS: Final = frozenset({"actor", "threat_actor", "intrusion_set"})
_TOOLS: Final = frozenset({"tool", "malware"})
#: Words for a kind of thing, without the ending of the plural, and the types of entities that are of it.
_KINDS: Final[dict[str, frozenset[str]]] = {
    "tool": _TOOLS, "malware": _TOOLS, "backdoor": _TOOLS, "implant": _TOOLS, "software": _TOOLS,
    "actor": _ACTORS, "group": _ACTORS, "apt": _ACTORS, "attacker": _ACTORS,
    "cve": frozenset({"cve"}), "vulnerability": frozenset({"cve"}), "vulnerabilitie": frozenset({"cve"}),
    "technique": frozenset({"attack_pattern"}), "campaign": frozenset({"campaign"}), "sector": frozenset({"sector"}),
    "asset": frozenset({"asset"}), "organization": frozenset({"organization"}),
    "organisation": frozenset({"organization"}), "company": frozenset({"organization"}),
    "companie": frozenset({"organization"}),
}  # fmt: skip
_WHO: Final = frozenset({"who"})
#: What such a question may say beside: how the two have to do with each other, whatever the tense.
_DOINGS: Final = frozenset(
    "use uses used using employ employs employed deploy deploys deployed exploit exploits exploited target targets"
    " targeted attack attacks attacked conduct conducts conducted run runs ran know known have has had associated"
    " linked related connected threat hacking".split()
)
_WORD: Final = re.compile(r"[^\W_]+")
#: Words between "what" or "which" and the kind.
_NEAR: Final = 3
#: Edges of one entity that are looked at.
_LOOKED_AT: Final = 400


class AskedRelation(NamedTuple):
    """A question for entities of some types that have to do with a known one."""

    entities: tuple[tuple[str, str], ...]  #: type and value
    types: frozenset[str]


def asked_relation(query: str, content_words: Sequence[str]) -> AskedRelation | None:
    """Return what *query* asks for, None if it is no such question or asks for anything beside.

    Args:
        query: The question.
        content_words: Its words, folded, without those that say nothing.
    """
    mentions = [one for one in extract(query) if one.type != "temporal"]
    if not mentions:
        return None
    named = {word for one in mentions for word in _WORD.findall(query[one.start : one.end].lower())}
    words = [word for word in _WORD.findall(query.lower()) if word not in named]
    types = _asked_types(words)
    beside = {*content_words} - named - _DOINGS - _WHO
    if types is None or any(word.removesuffix("s") not in _KINDS for word in beside):
        return None
    return AskedRelation(tuple((one.type, one.value) for one in mentions), types)


def _asked_types(words: Sequence[str]) -> frozenset[str] | None:
    for at, word in enumerate(words):
        if word in ("what", "which"):
            for other in words[at + 1 : at + 1 + _NEAR]:
                if (types := _KINDS.get(other.removesuffix("s"))) is not None:
                    return types
    return _ACTORS if words[:1] == ["who"] and not _DOINGS.isdisjoint(words) else None


async def related_notes(shelf: Shelf, query: str, wanted: NoteFilter, k: int) -> list[SourceNote]:
    """Return at most *k* notes that say how an entity of *query* has to do with one of the kind it asks for.

    Waits until all notes that are committed were read for entities.
    """
    analyzer = shelf.projection(ShelfIndex).index.analyzer
    asked = asked_relation(query, [word for word in analyzer.words(query) if analyzer.is_content(word)])
    if asked is None:
        return []
    await shelf.enrichment.reach()
    reader = GraphReader(shelf.view, shelf.enrichment, wanted)
    found: dict[str, tuple[float, dict[str, None]]] = {}
    for type_, value in asked.entities:
        node = reader.node(type_, value)
        if node is None:
            continue
        async for edges in reader.edges(node):
            for one in edges:
                if one.node.type in asked.types and one.confidence >= calibration().threshold:
                    sure, about = found.get(one.note_id, (0.0, {}))
                    found[one.note_id] = max(sure, one.confidence), about | dict.fromkeys(one.ends)
            if reader.read >= _LOOKED_AT or len(found) >= k:
                break
    best = sorted(found, key=lambda note_id: -found[note_id][0])[:k]
    notes = shelf.hot.get(best)
    return [
        SourceNote(notes[note_id], found[note_id][0], " ".join(found[note_id][1]).replace("-", " "))
        for note_id in best
        if note_id in notes
    ]
