"""Use cases: synthesize, and what says how good an answer is."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import TooLarge
from shelfd.memory.knowledge.synthesis.by_model import Asked, Worded, synthesize_by_model
from shelfd.memory.knowledge.synthesis.by_rules import Synthesis, is_empty, quote_of, synthesis_of
from shelfd.memory.knowledge.synthesis.evidence import Evidence, SourceNote, gathered
from shelfd.memory.knowledge.synthesis.quality import errors_of, quality_of
from shelfd.memory.knowledge.synthesis.related import related_notes
from shelfd.memory.methods.caught_up import read_for_entities
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.likening import likened
from shelfd.memory.methods.recall import continued, relevant_to
from shelfd.memory.methods.recalling import ahead_of
from shelfd.memory.methods.registry import Answer, procedure, read
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.relevance import calibration
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.recall import RecallParams
from shelfd.protocol.methods.synthesis import SynthesisParams, SynthesizeParams

#: What is left of a caller's time for the rules, should the model not be done by then.
_LEFT_S: Final = 0.2
#: Results looked through for notes of the wanted tiers when others are among the best: some 10 ms of the loop.
_WIDE: Final = 100
#: Formats that show what notes mention.
_OF_ENTITIES: Final = frozenset({"synthesized_brief", "relationship_map"})


@read("synthesize")
async def synthesize(shelf: Shelf, params: SynthesizeParams, call: Call) -> Answer:
    """Return an answer made of the notes that a query finds relevant, by a language model if one may see them all."""
    started = shelf.clock.monotonic()
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    is_of_entities = params.format in _OF_ENTITIES
    state = await read_for_entities(shelf, params.min_seq) if is_of_entities else shelf.index_state()
    query, sources = await _found(shelf, params, call)
    evidence = await gathered(shelf, query, sources)
    worded = await _by_model(shelf, params, call, query, sources)
    synthesis = await _by_rules(shelf, params, evidence) if worded is None else worded.synthesis
    if not all(_is_there(shelf, source) for source in sources):  # while the model or other tasks were at work
        query, sources = await _found(shelf, params, call)
        evidence, worded = await gathered(shelf, query, sources), None
        synthesis = await _by_rules(shelf, params, evidence)
    if is_empty(synthesis):
        sources, synthesis = [], {**synthesis, "confidence": 0.0}
    shelf.record_use([source.note for source in sources], session_id=None)
    shelf.retrievals += 1
    return {
        "query": params.query,
        "format": params.format,
        "synthesis": synthesis,
        "metadata": {
            "query_id": sha256(params.query.encode()).hexdigest()[:12],
            "model_used": None if worded is None else worded.model,
            "tokens_used": 0 if worded is None else worded.tokens,
            "latency_ms": round((shelf.clock.monotonic() - started) * 1000, 3),
            "confidence_threshold": calibration().threshold,
            "sources_count": len(sources),
            "tier_filter": _tiers(shelf, params),
        },
        "sources": [_source_view(source, evidence) for source in sources],
        "engine": "rules" if worded is None else "llm",
        "index": state,
    }


def _tiers(shelf: Shelf, params: SynthesizeParams) -> Sequence[str]:
    return sorted({*(params.tier_filter or shelf.settings.synthesis_tiers)})


async def _found(shelf: Shelf, params: SynthesizeParams, call: Call) -> tuple[str, list[SourceNote]]:
    """What was asked, with what the session's last query adds; and the notes to make the answer of."""
    tiers = _tiers(shelf, params)
    wanted = RecallParams.model_construct(
        query=params.query, nugget=params.nugget, domain=params.domain, k=params.k, session_id=params.session_id
    )
    query, filters = continued(shelf, wanted, call)
    like = (await likened(shelf, query, filters)).like if shelf.dense.model else None
    found = relevant_to(shelf, query, filters, await ahead_of(shelf, query, filters, like))
    if any(item.note.tier not in tiers for item in found):  # they take no place from others
        await asyncio.sleep(0)
        query = query.model_copy(update={"k": _WIDE})
        found = relevant_to(shelf, query, filters, await ahead_of(shelf, query, filters, like))
    sources = {item.note.id: SourceNote(item.note, item.relevance) for item in found}
    for related in await related_notes(shelf, query.query, filters, _WIDE):
        sources.setdefault(related.note.id, related)
    return query.query, [source for source in sources.values() if source.note.tier in tiers][: params.k]


def _is_there(shelf: Shelf, source: SourceNote) -> bool:
    note = shelf.hot.get([source.note.id]).get(source.note.id)
    return note is not None and note.rev == source.note.rev


async def _by_rules(shelf: Shelf, params: SynthesizeParams, evidence: Evidence) -> Synthesis:
    return await synthesis_of(params.format, evidence, shelf.view, shelf.projection(ShelfIndex).index.analyzer.day)


async def _by_model(
    shelf: Shelf, params: SynthesizeParams, call: Call, query: str, sources: Sequence[SourceNote]
) -> Worded | None:
    """The model's answer; None if there is no model, it may not see all the notes, or it gave no answer of use."""
    if not sources or not all(shelf.model.may_see(nugget) for nugget in {source.note.nugget for source in sources}):
        return None
    deadline = None if call.ticket.deadline is None else call.ticket.deadline - _LEFT_S
    day_of = shelf.projection(ShelfIndex).index.analyzer.day
    try:
        return await synthesize_by_model(
            shelf.model, Asked(query, params.nugget, params.format, sources, day_of, deadline)
        )
    except (*NO_ANSWER, TooLarge):
        return None


def _source_view(source: SourceNote, evidence: Evidence) -> dict[str, Any]:
    return {
        "note_id": source.note.id,
        "quote": quote_of(evidence.best_of(source).text),
        "tier": source.note.tier,
        "relevance_score": round(min(1.0, source.relevance), 6),
    }


@procedure("validate_synthesis")
async def validate(_context: Context, call: Call) -> Answer:
    """Say what makes an answer unusable."""
    errors = errors_of(cast("SynthesisParams", call.params).response)
    return {"is_valid": not errors, "errors": errors}


@procedure("check_synthesis_quality")
async def check_quality(_context: Context, call: Call) -> Answer:
    """Say how good an answer is."""
    return quality_of(cast("SynthesisParams", call.params).response)._asdict()
