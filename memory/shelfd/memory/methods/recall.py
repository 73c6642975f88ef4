"""Use cases that find: recall and get_context."""

import re
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import NoEmbedder
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.methods.answering import SURE, Known, answer_view, fact_by_key, fact_like
from shelfd.memory.methods.found import Found, Recalled, joined
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.methods.routing import chosen_by_route
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut, first_sentence
from shelfd.memory.recall import Aim, Cut, ShelfIndex
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED, Planned
from shelfd.memory.sessions.injection import record_context
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.entities import EntityRecallParams
from shelfd.protocol.methods.recall import GetContextParams, RecallParams

_MICROSECOND = timedelta(microseconds=1)
#: A linked note competes with this share of the score of the result that links to it.
_LINK_SHARE = 0.5
#: Confidence of a key that is the query but for spelling and order of words; one within a longer query has less.
_SAME_KEY = 0.75
_CHARACTERS_PER_TOKEN = 4

#: Words by which a query shows what kind of question it is; of several kinds the first counts.
_INTENTS = {
    "temporal": r"\b(?:when|how long|what (?:year|month|date|day|time)|since|before|after|last|ago)\b",
    "causal": r"\b(?:why|because|cause[sd]?|reason|led to|result(?:ed|s)? in)\b",
    "relational": (r"\b(?:relate[sd]?|relationship|connect(?:ed|ion|s)?|between|friends? of|works? (?:with|for))\b"),
    "exploratory": r"\b(?:tell me|overview|everything|anything|summar(?:y|ize|ise)|what do (?:we|you|i) know)\b",
}
# In small letters, which most queries are put into first: to ignore case takes four times as long.
_KINDS = {name: (re.compile(pattern), re.compile(pattern, re.IGNORECASE)) for name, pattern in _INTENTS.items()}
_ANY_KIND = re.compile("|".join(_INTENTS.values()))


def is_exploratory(query: str) -> bool:
    """Return whether *query* asks for whatever is known of something."""
    return _is_of_kind("exploratory", query)


def intent_of(query: str) -> str:
    """Return what kind of question *query* is; ``factual`` when nothing says otherwise."""
    if query.isascii() and _ANY_KIND.search(query.lower()) is None:
        return "factual"
    return next((name for name in _KINDS if _is_of_kind(name, query)), "factual")


def _is_of_kind(name: str, query: str) -> bool:
    lower, any_case = _KINDS[name]
    return (lower.search(query.lower()) if query.isascii() else any_case.search(query)) is not None


@read("recall")
def recall(shelf: Shelf, params: RecallParams, call: Call) -> dict[str, Any] | Awaitable[dict[str, Any]]:
    """Return the notes that fit a query, best first, and the fact that answers it.

    The mode ``fhrr`` asks the memory of facts alone, and waits until it knows all of them.
    """
    if params.mode in ("dense", "hybrid"):
        raise NoEmbedder
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    if params.mode == "fhrr" and not shelf.tracks.catch_up(ShelfFacts):
        return _recall_when_known(shelf, params, call)
    if params.mode == "route":
        return _recall_by_route(shelf, params, call)
    return _recall(shelf, params, call)


async def _recall_when_known(shelf: Shelf, params: RecallParams, call: Call) -> dict[str, Any]:
    await shelf.tracks.complete(ShelfFacts)
    return _recall(shelf, params, call)


def _recall(shelf: Shelf, params: RecallParams, call: Call) -> dict[str, Any]:
    started = shelf.clock.monotonic()
    params = _continued(shelf, params, call)
    filters = _filters(shelf, params)
    known = _known(shelf, params, filters)
    return _answer(shelf, params, call, _search(shelf, params, filters, known), known, started)


async def _recall_by_route(shelf: Shelf, params: RecallParams, call: Call) -> dict[str, Any]:
    """Let a language model choose; where it cannot, ranked recall answers."""
    started = shelf.clock.monotonic()
    asked = _continued(shelf, params, call)
    filters = _filters(shelf, asked)
    wide = asked.model_copy(update={"k": RECALL_LIMIT, "focus": "off"})
    ranked = {item.note.id: item for item in _ranked(shelf, wide, filters, NOTHING_PLANNED).found}
    chosen, trace = await chosen_by_route(shelf, asked, call, list(ranked), filters)
    if chosen is None:
        answer = _recall(shelf, params.model_copy(update={"mode": "auto"}), call)
    else:
        notes = shelf.hot.get(chosen)  # as they are now
        found = [
            replace(ranked[note.id], note=note, relevant=True) if note.id in ranked else Found(note, 0.0, relevant=True)
            for note_id in chosen
            if (note := notes.get(note_id)) is not None and filters.admits(note)
        ]
        _add_links(shelf, found, NOTHING_PLANNED)
        answer = _answer(shelf, asked, call, Recalled(found), fact_by_key(shelf, asked.query, filters), started)
    return answer | ({"trace": trace} if params.explain else {})


def _answer(
    shelf: Shelf, params: RecallParams, call: Call, recalled: Recalled, known: Known | None, started: float
) -> dict[str, Any]:
    relevant = [item.note for item in recalled.relevant]
    if params.count_hits:
        _record(shelf, params, relevant, session_of_hits(shelf, params, call))
    shelf.retrievals += 1
    result: dict[str, Any] = {
        "results": _hits(shelf, params, recalled.found),
        "dropped": len(recalled.cut),
        "intent": intent_of(cast("RecallParams", call.params).query),
        "abstained": not relevant,
        "mode": "lexical" if params.mode == "auto" else params.mode,
        "index": shelf.index_state(),
    }
    if params.explain:
        result["cut"] = [_cut_view(cut) for cut in recalled.cut]
    if known is not None or params.mode == "fhrr":
        result["answer"] = answer_view(known)
    result["took_ms"] = round((shelf.clock.monotonic() - started) * 1000, 3)
    return result


def _cut_view(cut: Cut) -> dict[str, Any]:
    score, coverage = round(cut.hit.score, 6), round(cut.coverage, 6)
    return {"note_id": cut.hit.id, "score": score, "coverage": coverage, "reason": cut.reason}


def _continued(shelf: Shelf, params: RecallParams, call: Call) -> RecallParams:
    """Return *params*; if they ask for more of what their session asked last ("and why?"), with that query."""
    if params.focus == "off" or params.mode == "fhrr" or params.session_id is None:
        return params
    speaker = (call.principal, params.session_id)
    focus = shelf.projection(ShelfIndex).focus
    last = shelf.last_queries.get(speaker)
    query = focus.going_on(params.query, last)
    if query != params.query:
        return params.model_copy(update={"query": query})
    if last is not None or not focus.says_nothing(params.query):
        shelf.last_queries.set(speaker, params.query)
    return params


def _record(shelf: Shelf, params: RecallParams, notes: Sequence[Note], session_id: str | None) -> None:
    """Count the use of notes, and store the query if it was a real one: one that counts no hit is not."""
    if session_id is not None and params.mode != "fhrr":  # which asks for a fact, whatever is beside it
        shelf.queries.add(params, [note.id for note in notes], shelf.clock.now())
    shelf.record_use(notes, session_id=session_id)


def replay(shelf: Shelf, params: RecallParams, planned: Planned = NOTHING_PLANNED) -> list[str]:
    """Return the ids that a recall would find if what is *planned* had been done; counts no hit."""
    filters = _filters(shelf, params)
    known = fact_by_key(shelf, params.query, filters, planned)
    return [item.note.id for item in _search(shelf, params, filters, known, planned).found]


def _filters(shelf: Shelf, params: RecallParams) -> NoteFilter:
    now = shelf.clock.now()
    return RECALLABLE._replace(
        nugget=params.nugget,
        domain=params.domain,
        scope=params.scope,
        type=params.type,
        subject=params.subject,
        author=params.author,
        tags=tuple(params.tags),
        session=params.session_id,
        include_hidden=params.include_hidden,
        include_superseded=not params.exclude_superseded,
        include_expired=params.include_expired,
        now=now,
        since=None if params.max_age is None else now - params.max_age // _MICROSECOND,
    )


def session_of_hits(
    shelf: Shelf, params: RecallParams | GetContextParams | EntityRecallParams, call: Call
) -> str | None:
    """Return the session a hit counts for: the caller's, none if it said null, else one per principal and day."""
    if "session_id" in params.model_fields_set:
        return params.session_id
    today = datetime.fromtimestamp(shelf.clock.now() / 1e6, tz=UTC).astimezone(shelf.settings.timezone).date()
    return f"auto:{call.principal}:{today.isoformat()}"


def _known(shelf: Shelf, params: RecallParams, filters: NoteFilter) -> Known | None:
    """The fact with this key; else, in the modes that look for it, one with a key like it."""
    known = fact_by_key(shelf, params.query, filters)
    if params.mode == "fhrr":
        known = known or fact_like(shelf, params.query, filters)
        return known and known._replace(confirmed=shelf.projection(ShelfFacts).confirms(known.note))
    if known is not None or params.mode != "auto":
        return known
    if not shelf.tracks.catch_up(ShelfFacts):
        return None  # the rest follows in the background; callers in this mode do not wait for it
    return fact_like(shelf, params.query, filters, least=SURE)


def _ranked(shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned) -> Recalled:
    aim: Aim = "all" if params.focus == "off" else "topic" if is_exploratory(params.query) else "answer"
    focus = shelf.projection(ShelfIndex).as_planned(planned)
    focused = focus.recall(params.query, filters, params.k, aim, explain=params.explain)
    notes = planned.over(shelf.hot.get([judged.hit.id for judged in focused.found]))
    found = [
        Found(note, one.hit.score, one.relevant, None, one.hit.signals, one.coverage, one.relevance)
        for one in focused.found
        # Rows may be a moment ahead of the index: what was hidden or replaced just now is not shown.
        if (note := notes.get(one.hit.id)) is not None and (note.rev == 1 or filters.admits(note))
    ]
    return Recalled(found, focused.cut)


def _with_known(found: list[Found], known: Known, *, judged: bool) -> list[Found]:
    """Let a fact that is known compete: one whose key is the query comes first.

    Args:
        found: What else there is.
        known: The fact.
        judged: Whether focus has judged it; then only a key that is the query but for its spelling says more.
    """
    sure = known.confidence
    candidate = Found(known.note, sure, sure >= (_SAME_KEY if judged else SURE), None, {"key": sure}, sure, sure)
    ranked = next((item for item in found if item.note.id == known.note.id), candidate)
    best = max(candidate, ranked, key=lambda item: item.score)
    best.relevant = candidate.relevant or ranked.relevant
    return sorted([best, *(item for item in found if item is not ranked)], key=lambda item: -item.score)


def _search(
    shelf: Shelf, params: RecallParams, filters: NoteFilter, known: Known | None, planned: Planned = NOTHING_PLANNED
) -> Recalled:
    recalled = Recalled([]) if params.mode == "fhrr" else _ranked(shelf, params, filters, planned)
    if params.focus == "auto" and params.mode != "fhrr":
        for said, name in shelf.enrichment.other_names(params.query):  # the same question with another of its names
            asked = params.model_copy(update={"query": params.query.replace(said, name)})
            recalled = joined(recalled, _ranked(shelf, asked, filters, planned), params.k)
    found = recalled.found
    if known is not None:
        found = _with_known(found, known, judged=params.mode != "fhrr")
    _add_links(shelf, found, planned)
    if params.include_links and any(item.links for item in found):
        found = _with_linked(shelf, found, filters, params.k, planned)
    found = found[: params.k]
    if params.min_score is not None:
        # Rounded as it is returned: a caller may pass a score it has seen.
        found = [item for item in found if round(item.score, 6) >= params.min_score]
    here = {item.note.id for item in found}
    return Recalled(found, [cut for cut in recalled.cut if cut.hit.id not in here])


def _add_links(shelf: Shelf, found: Sequence[Found], planned: Planned) -> None:
    links = shelf.hot.links([item.note.id for item in found])
    for item in found:
        item.links = [*links.get(item.note.id, ()), *planned.links.get(item.note.id, ())]


def _with_linked(shelf: Shelf, found: list[Found], filters: NoteFilter, k: int, planned: Planned) -> list[Found]:
    """Let the notes that results link to compete for a place."""
    here = {item.note.id for item in found}
    offers: dict[str, tuple[float, str]] = {}
    for item in found:
        for link in item.links:
            if link.target not in here and item.score * _LINK_SHARE > offers.get(link.target, (0.0, ""))[0]:
                offers[link.target] = (item.score * _LINK_SHARE, item.note.id)
    best = sorted(offers, key=lambda target: (-offers[target][0], target))[: 4 * k]
    notes = planned.over(shelf.hot.get(best))
    linked = [
        # It came along: what it says itself has not been compared with the query.
        Found(notes[target], offers[target][0], False, offers[target][1], {"link": offers[target][0]})
        for target in best
        if target in notes and filters.admits(notes[target])
    ]
    _add_links(shelf, linked, planned)
    return sorted([*found, *linked], key=lambda item: -item.score)


def _hits(shelf: Shelf, params: RecallParams, found: Sequence[Found]) -> list[dict[str, Any]]:
    usage = shelf.usage.of([item.note for item in found])
    links = {item.note.id: item.links for item in found}
    renderer = NoteRenderer(shelf.view, usage, links, full=params.full, hot=shelf.hot)
    hits = []
    for item in found:
        score = round(item.score, 6)
        hit: dict[str, Any] = {
            "note": renderer(item.note, params.max_content_chars),
            "score": score,
            "relevant": item.relevant,
            "vector_score": 0.0,
            "text_score": score,
        }
        if item.via is not None:
            hit["via"] = item.via
        if params.explain:
            hit["signals"] = {name: round(value, 6) + 0.0 for name, value in item.signals.items()}
            hit |= {"coverage": round(item.coverage, 6), "relevance": round(item.relevance, 6)}
        hits.append(hit)
    return hits


@read("get_context")
def get_context(shelf: Shelf, params: GetContextParams, call: Call) -> dict[str, Any]:
    """Return relevant notes as text for a prompt, within a budget of tokens."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    query = RecallParams.model_construct(
        query=params.query,
        nugget=params.nugget,
        domain=params.domain,
        k=params.k,
        session_id=params.session_id,
    )
    query, found = relevant_to(shelf, query, call)
    budget = params.token_budget * _CHARACTERS_PER_TOKEN
    entries, used = _entries(found, params.content_chars, budget)
    if params.record:
        _record(shelf, query, used, session_of_hits(shelf, params, call))
    shelf.retrievals += 1
    text = "\n\n".join([_heading(len(entries)), *entries]) if entries else _nothing(budget)
    ids, tokens = [note.id for note in used], -(-len(text) // _CHARACTERS_PER_TOKEN)
    if params.record and params.session_id is not None:
        record_context(shelf, call.origin(), ids, text=text, tokens=tokens, nugget=params.nugget)
    return {"text": text, "notes": ids, "tokens": tokens, "truncated": len(entries) < len(found)}


def relevant_to(shelf: Shelf, query: RecallParams, call: Call) -> tuple[RecallParams, list[Found]]:
    """Return what says what is asked, best first; and what that is, if the session's last query has to be added."""
    query = _continued(shelf, query, call)
    filters = _filters(shelf, query)
    return query, _search(shelf, query, filters, fact_by_key(shelf, query.query, filters)).relevant


def _heading(count: int) -> str:
    return f"## Relevant Memories ({count} notes)"


def _nothing(budget: int) -> str:
    return "No relevant memories found."[:budget]


def _entries(found: Sequence[Found], content_chars: int, budget: int) -> tuple[list[str], list[Note]]:
    """Whole entries, best first, as many as fit; a later, shorter one may fit where a longer one did not."""
    left = budget - len(_heading(len(found)))
    entries: list[str] = []
    used: list[Note] = []
    for item in found:
        note = item.note
        content = note.content if content_chars == 0 else cut(note.content, content_chars)
        day = from_micros(note.when)[:10]
        lines = [f"### [{len(entries) + 1}] {note.id} (confidence: {note.confidence:.2f}, {day})"]
        about = note.title if note.kind == "fact" else first_sentence(note.content)
        lines += [f"Context: {about}", f"Content: {content}"]
        if related := [link.target for link in item.links]:
            lines.append(f"Related: {', '.join(dict.fromkeys(related))}")
        entry = "\n".join(lines)
        if len(entry) + 2 <= left:
            left -= len(entry) + 2
            entries.append(entry)
            used.append(note)
    return entries, used
