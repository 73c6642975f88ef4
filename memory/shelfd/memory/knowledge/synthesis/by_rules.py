"""Answers without a model: sentences of notes, chosen and put in order; nothing is worded anew."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Final, TypeAlias

from shelfd.memory.knowledge.synthesis.dates import days_said
from shelfd.memory.knowledge.synthesis.evidence import Evidence, NoteSentence, SourceNote
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut
from shelfd.memory.ports.entities import MentionedEntity, StoredEntity
from shelfd.memory.ports.view import View
from shelfd.protocol.methods.synthesis import NO_ANSWER_TEXT, SynthesisFormat

#: What a format's answer says, as it goes over the wire.
Synthesis: TypeAlias = dict[str, Any]

#: Sentences of an answer, and of a summary, at most; and how near to the best one another has to be.
_SENTENCES: Final = 3
_NEAR: Final = 0.9
#: A dated sentence belongs in a timeline from this share of its note's best one on.
_TOLD: Final = 0.5
#: Sentences whose times are read before other tasks have their turn.
_AT_ONCE: Final = 32
_MOST_THEMES: Final = 8
_MOST_EVENTS: Final = 100
_MOST_ENTITIES: Final = 100
_MOST_RELATIONSHIPS: Final = 200
_QUOTE: Final = 200
_THEME: Final = 60
#: Types of entities that are no themes.
_NO_THEMES: Final = frozenset({"temporal"})


async def synthesis_of(
    wanted: SynthesisFormat, evidence: Evidence, view: View, day_of: Callable[[int], date]
) -> Synthesis:
    """Return the answer in a format, having let other tasks run in between.

    Args:
        wanted: The format.
        evidence: What notes say.
        view: Of the shelf, for what the notes mention.
        day_of: Gives the day of microseconds since 1970 UTC.
    """
    if wanted == "direct_answer":
        return direct_answer(evidence)
    if wanted == "synthesized_brief":
        return brief(evidence, view)
    if wanted == "timeline_analysis":
        return await timeline(evidence, day_of)
    return relationship_map(evidence, view)


def quote_of(text: str) -> str:
    """Return what is quoted of a sentence, at most 200 characters."""
    return cut(text, _QUOTE)


def direct_answer(evidence: Evidence) -> Synthesis:
    """Return the sentence that says most of what is asked, and those that say as much."""
    chosen = _chosen(evidence.best)
    answer = _text_of(chosen) or NO_ANSWER_TEXT
    return {"answer": answer, "confidence": evidence.confidence, "sources": [one.source.note.id for one in chosen]}


def _text_of(chosen: Sequence[NoteSentence]) -> str:
    """Return the sentences as one text: each but the last is ended where its note left the full stop out."""
    said = [one.said for one in chosen]
    return " ".join([*(text + "." if text[-1:].isalnum() else text for text in said[:-1]), *said[-1:]])


def _chosen(best: Sequence[NoteSentence], near: float = _NEAR) -> list[NoteSentence]:
    found: list[NoteSentence] = []
    for one in best[:_SENTENCES]:
        if one.score >= near * best[0].score and all(one.text.casefold() != other.text.casefold() for other in found):
            found.append(one)
    return found


def brief(evidence: Evidence, view: View) -> Synthesis:
    """Return the best sentences of the best notes, and what the notes have in common, each with who says so."""
    chosen = _chosen(evidence.best, near=0.0)
    return {
        "summary": _text_of(chosen) or NO_ANSWER_TEXT,
        "sources": [one.source.note.id for one in chosen],
        "themes": [_theme(name, sources, evidence) for name, sources in _themes(evidence, view)],
        "confidence": evidence.confidence,
    }


def _theme(name: str, sources: Sequence[SourceNote], evidence: Evidence) -> dict[str, Any]:
    quotes = [(source.note.id, evidence.best_of(source).text) for source in sources]
    return {"name": name, "evidence": [{"note_id": id_, "quote": quote_of(text)} for id_, text in quotes]}


def _themes(evidence: Evidence, view: View) -> list[tuple[str, list[SourceNote]]]:
    """What several notes speak of, the most common first, then the notes that share nothing; each note once."""
    groups: defaultdict[str, list[SourceNote]] = defaultdict(list)
    for source in evidence.sources:
        for name in _topics(source.note, view):
            groups[name].append(source)
    left = {source.note.id: source for source in evidence.sources}
    found: list[tuple[str, list[SourceNote]]] = []
    while left and len(found) < _MOST_THEMES:
        shared = {name: [one for one in group if one.note.id in left] for name, group in groups.items()}
        # Of equal ones the first: topics of the best note come first, and the most telling of those.
        name = max(shared, key=lambda name: len(shared[name]), default="")
        if not name or len(shared[name]) <= 1:
            break
        found.append((name, shared[name]))
        left = {id_: source for id_, source in left.items() if source not in shared[name]}
    alone = list(left.values())[: _MOST_THEMES - len(found)]
    return found + [(_name_of(source, evidence), [source]) for source in alone]


def _topics(note: Note, view: View) -> list[str]:
    """What a note is about: what it mentions, most of all first, then its tags."""
    mentioned = [one for one in view.entities.of_note(note.row) if one.type not in _NO_THEMES]
    mentioned.sort(key=lambda one: -one.weight)
    return list(dict.fromkeys([*(one.value for one in mentioned), *note.tags, *note.derived_tags]))


def _name_of(source: SourceNote, evidence: Evidence) -> str:
    return cut(source.note.title or evidence.best_of(source).text, _THEME)


async def timeline(evidence: Evidence, day_of: Callable[[int], date]) -> Synthesis:
    """Return what happened when: by the times that sentences say, else by when the note occurred or was written."""
    events: list[tuple[str, NoteSentence, str]] = []
    for source in evidence.sources:
        best, day = evidence.best_of(source), day_of(source.note.when)
        dated: list[tuple[str, NoteSentence, str]] = []
        for at, one in enumerate(evidence.sentences[source.note.id], 1):
            if one.score >= _TOLD * best.score:
                dated += [(said, one, "text") for said in dict.fromkeys(days_said(one.text, day))]
            if at % _AT_ONCE == 0:
                await asyncio.sleep(0)
        basis = "created_at" if source.note.occurred_at is None else "occurred_at"
        events += dated or [(day.isoformat(), best, basis)]
    events = sorted(events[:_MOST_EVENTS], key=lambda event: event[0])
    shown = [
        {"date": said, "event": quote_of(one.said), "basis": basis, "note_id": one.source.note.id}
        for said, one, basis in events
    ]
    return {"timeline": shown, "confidence": evidence.confidence}


def relationship_map(evidence: Evidence, view: View) -> Synthesis:
    """Return what the notes mention, and what they say of two of those."""
    entities: dict[tuple[str, str], dict[str, Any]] = {}
    related: list[dict[str, Any]] = []
    for source in evidence.sources:
        id_, row = source.note.id, source.note.row
        edges = view.edges.of_note(row)
        mentioned: list[MentionedEntity | StoredEntity] = [*view.entities.of_note(row)]
        for edge in edges:
            mentioned += (edge.source, edge.target)
        for one in mentioned:
            shown = entities.setdefault((one.type, one.key), {"name": one.value, "type": one.type, "note_ids": []})
            if id_ not in shown["note_ids"][-1:]:
                shown["note_ids"].append(id_)
        related += [
            {"from": edge.source.value, "to": edge.target.value, "type": edge.relation, "note_id": id_}
            for edge in edges
        ]  # fmt: skip
    return {
        "entities": list(entities.values())[:_MOST_ENTITIES],
        "relationships": related[:_MOST_RELATIONSHIPS],
        "confidence": evidence.confidence,
    }


def is_empty(synthesis: Mapping[str, Any]) -> bool:
    """Return whether an answer says nothing."""
    if "answer" in synthesis or "summary" in synthesis:
        return not synthesis.get("sources")
    return not any(synthesis.get(name) for name in ("timeline", "entities", "relationships"))
