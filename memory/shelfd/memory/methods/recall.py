"""Use cases that find: recall and get_context."""

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pydantic_core import to_json

from shelfd.memory.call import Call
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.errors import InvalidParams, NoEmbedder
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.methods.answering import Known, answer_view, fact_by_key
from shelfd.memory.methods.context_text import chosen, context_text
from shelfd.memory.methods.found import Found, Recalled
from shelfd.memory.methods.likening import likened
from shelfd.memory.methods.recalling import add_links, ahead_of, filters_of, known_fact, rank, search
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.routing import chosen_by_route
from shelfd.memory.methods.time_travel import known_moment
from shelfd.memory.methods.written import hits_written
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import Cut, ShelfIndex
from shelfd.memory.recall.ahead import NOTHING_AHEAD, Ahead
from shelfd.memory.recall.intents import intent_of
from shelfd.memory.recall.past import past_of
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED
from shelfd.memory.sessions.injection import record_context
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.entities import EntityRecallParams
from shelfd.protocol.methods.recall import GetContextParams, RecallParams
from shelfd.protocol.moments import WireMoment

#: Results beyond those wanted among which pinned notes are looked for, which a prompt is to hold.
_BEYOND = 40
#: Notes as they were that are ranked among those of now, at least; 0.1 ms each.
_MOST_REWOUND = 32
#: Bytes of a query that is ranked in milliseconds, of however many notes: some twenty words.
_QUESTION = 120
_AT_ONCE = 0.01  #: seconds that a query took after which the next need not go to another thread


class _Answer(NamedTuple):
    """A result: what was found as JSON, and the rest."""

    hits: list[bytes]
    rest: dict[str, Any]

    def encoded(self, **further: Any) -> EncodedResult:  # noqa: ANN401 - whatever JSON holds
        rest = to_json(self.rest | further if further else self.rest, inf_nan_mode="null")
        return EncodedResult(b'{"results":[%b],%b' % (b",".join(self.hits), rest[1:]))


@read("recall")
def recall(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult | Awaitable[EncodedResult]:
    """Return the notes that fit a query, best first, and the fact that answers it.

    The mode ``fhrr`` asks the memory of facts alone, and waits until it knows all of them.
    """
    if params.mode in ("dense", "hybrid") and not shelf.dense.model:
        raise NoEmbedder
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    if params.known_at is not None:
        if params.mode not in ("auto", "lexical"):
            raise InvalidParams("known_at: mode is auto or lexical; the others know what is now", field="known_at")
        return _recall_known(shelf, params, call, params.known_at)
    if params.mode == "fhrr" and not shelf.tracks.catch_up(ShelfFacts):
        return _recall_when_known(shelf, params, call)
    if params.mode == "route":
        return _recall_by_route(shelf, params, call)
    if shelf.dense.model and params.mode in ("auto", "dense", "hybrid"):
        return _recall_by_meaning(shelf, params, call)
    if params.mode != "fhrr" and shelf.projection(ShelfIndex).index.is_large:
        return _recall_from_many(shelf, params, call)
    return _recall(shelf, params, call).encoded()


def _recall_from_many(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult | Awaitable[EncodedResult]:
    if _is_for_thread(shelf, params, call):
        return _recall_beside(shelf, params, call)
    began = shelf.clock.monotonic()
    answer = _recall(shelf, params, call)
    shelf.scanner.took = shelf.clock.monotonic() - began
    return answer.encoded()


def _is_for_thread(shelf: Shelf, params: RecallParams, call: Call) -> bool:
    """Return whether another thread is to rank, so that others are served.

    Who is alone with a question would only wait longer. A text of many words takes too long for whoever comes next,
    and so does a question when the one before did, as the first ones after a start do.
    """
    if not shelf.projection(ShelfIndex).index.is_large:
        return False
    return not call.is_alone or len(params.query.encode()) > _QUESTION or shelf.scanner.took > _AT_ONCE


async def _recall_when_known(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult:
    await shelf.tracks.complete(ShelfFacts)
    return _recall(shelf, params, call).encoded()


def _recall(shelf: Shelf, params: RecallParams, call: Call) -> _Answer:
    started = shelf.clock.monotonic()
    params = _continued(shelf, params, call)
    filters = filters_of(shelf, params)
    known = known_fact(shelf, params, filters)
    return _answer(shelf, params, call, search(shelf, params, filters, known), known, started)


async def _recall_beside(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult:
    """Answer while others are served."""
    started = shelf.clock.monotonic()
    asked = _continued(shelf, params, call)
    filters = filters_of(shelf, asked)
    ahead = await ahead_of(shelf, asked, filters)
    known = known_fact(shelf, asked, filters)
    return _answer(shelf, asked, call, search(shelf, asked, filters, known, ahead=ahead), known, started).encoded()


async def _recall_by_meaning(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult:
    """Rank by meaning too; where the embedder does not answer in time, ranking by words alone answers, and says so."""
    started = shelf.clock.monotonic()
    asked = _continued(shelf, params, call)
    filters = filters_of(shelf, asked)
    like, said = await likened(shelf, asked, filters)
    ahead = await ahead_of(shelf, asked, filters, like)
    known = known_fact(shelf, asked, filters)
    answer = _answer(shelf, asked, call, search(shelf, asked, filters, known, ahead=ahead), known, started)
    mode = "lexical" if like is None else "dense" if params.mode == "dense" else "hybrid"
    return answer.encoded(mode=mode, dense=said)


async def _recall_known(shelf: Shelf, params: RecallParams, call: Call, wanted: WireMoment) -> EncodedResult:
    """Answer from what the shelf knew at another time; that counts no hit."""
    started = shelf.clock.monotonic()
    params = _continued(shelf, params, call)
    moment = known_moment(shelf.view, wanted, shelf.clock.now())
    past = await past_of(shelf, moment.seq)
    rewound = past.rewound(params.query, max(_MOST_REWOUND, 2 * params.k))
    filters = filters_of(shelf, params, moment.at)._replace(below=past.below)
    known = known_fact(shelf, params, filters, rewound)
    params = params.model_copy(update={"count_hits": False})
    recalled = search(shelf, params, filters, known, rewound)
    return _answer(shelf, params, call, recalled, known, started, past.redacted).encoded()


async def _recall_by_route(shelf: Shelf, params: RecallParams, call: Call) -> EncodedResult:
    """Let a language model choose; where it cannot, ranked recall answers."""
    started = shelf.clock.monotonic()
    asked = _continued(shelf, params, call)
    filters = filters_of(shelf, asked)
    wide = asked.model_copy(update={"k": RECALL_LIMIT, "focus": "off"})
    ranked = {item.note.id: item for item in rank(shelf, wide, filters, NOTHING_PLANNED).found}
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
        add_links(shelf, found, NOTHING_PLANNED, filters.as_of)
        answer = _answer(shelf, asked, call, Recalled(found), fact_by_key(shelf, asked.query, filters), started)
    return answer.encoded(trace=trace) if params.explain else answer.encoded()


def _answer(
    shelf: Shelf,
    params: RecallParams,
    call: Call,
    recalled: Recalled,
    known: Known | None,
    started: float,
    redacted: Collection[str] = (),
) -> _Answer:
    relevant = [item.note for item in recalled.relevant]
    if params.count_hits:
        _record(shelf, params, relevant, session_of_hits(shelf, params, call))
    shelf.retrievals += 1
    if params.known_at is None:  # which conflicts were open then is not told
        _mark_contradicted(shelf, recalled.found)
    intent = recalled.intent if params is call.params else None  # else it was asked for more than the caller said
    rest: dict[str, Any] = {
        "dropped": len(recalled.cut),
        "intent": intent or intent_of(cast("RecallParams", call.params).query),
        "abstained": not relevant,
        "mode": "lexical" if params.mode == "auto" else params.mode,
        "index": shelf.index_state(),
    }
    if params.explain:
        rest["cut"] = [_cut_view(cut) for cut in recalled.cut]
        rest["score_version"] = shelf.projection(ShelfIndex).index.score_version
    if known is not None or params.mode == "fhrr":
        rest["answer"] = answer_view(known)
    most, explain = params.max_content_chars, params.explain
    hits = hits_written(
        shelf, recalled.found, full=params.full, max_content_chars=most, explain=explain, redacted=redacted
    )
    rest["took_ms"] = round((shelf.clock.monotonic() - started) * 1000, 3)
    return _Answer(hits, rest)


def _mark_contradicted(shelf: Shelf, found: Sequence[Found]) -> None:
    if shelf.conflicts.has_none:
        return
    disputed = shelf.conflicts.of([item.note.row for item in found])
    for item in found if disputed else ():
        item.conflicts = disputed.get(item.note.row, ())


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


def session_of_hits(
    shelf: Shelf, params: RecallParams | GetContextParams | EntityRecallParams, call: Call
) -> str | None:
    """Return the session a hit counts for: the caller's, none if it said null, else one per principal and day."""
    if "session_id" in params.model_fields_set:
        return params.session_id
    today = shelf.projection(ShelfIndex).index.analyzer.day(shelf.clock.now())  # which keeps the days it was asked for
    return f"auto:{call.principal}:{today.isoformat()}"


@read("get_context")
def get_context(shelf: Shelf, params: GetContextParams, call: Call) -> dict[str, Any] | Awaitable[dict[str, Any]]:
    """Return relevant notes as text for a prompt, within a budget of tokens."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    query, filters = continued(shelf, _query_of(params), call)
    if shelf.dense.model or _is_for_thread(shelf, query, call):
        return _context_beside(shelf, params, call, query, filters)
    return _context(shelf, params, call, query, relevant_to(shelf, query, filters))


async def _context_beside(
    shelf: Shelf, params: GetContextParams, call: Call, query: RecallParams, filters: NoteFilter
) -> dict[str, Any]:
    """Answer by meaning too if it is known, while others are served."""
    like = (await likened(shelf, query, filters)).like if shelf.dense.model else None
    ahead = await ahead_of(shelf, query, filters, like)
    return _context(shelf, params, call, query, relevant_to(shelf, query, filters, ahead))


def _query_of(params: GetContextParams) -> RecallParams:
    return RecallParams.model_construct(
        query=params.query,
        nugget=params.nugget,
        domain=params.domain,
        k=min(params.k + _BEYOND, RECALL_LIMIT),
        session_id=params.session_id,
    )


def _context(
    shelf: Shelf, params: GetContextParams, call: Call, query: RecallParams, found: list[Found]
) -> dict[str, Any]:
    found = chosen(found, params.k)
    disputed = shelf.conflicts.of([item.note.row for item in found])
    handed = context_text(found, params.content_chars, params.token_budget, disputed)
    if params.record:
        _record(shelf, query.model_copy(update={"k": params.k}), handed.notes, session_of_hits(shelf, params, call))
    shelf.retrievals += 1
    ids = [note.id for note in handed.notes]
    if params.record and params.session_id is not None:
        record_context(shelf, call.origin(), ids, text=handed.text, tokens=handed.tokens, nugget=params.nugget)
    return {
        "text": handed.text,
        "notes": ids,
        "tokens": handed.tokens,
        "truncated": bool(handed.left_out),
        "left_out": [note.id for note in handed.left_out],
    }


def continued(shelf: Shelf, query: RecallParams, call: Call) -> tuple[RecallParams, NoteFilter]:
    """Return *query*, with what the session's last one asked if it asks for more of that; and of which notes."""
    query = _continued(shelf, query, call)
    return query, filters_of(shelf, query)


def relevant_to(shelf: Shelf, query: RecallParams, filters: NoteFilter, ahead: Ahead = NOTHING_AHEAD) -> list[Found]:
    """Return what says what is asked, best first."""
    return search(shelf, query, filters, fact_by_key(shelf, query.query, filters), ahead=ahead).relevant
