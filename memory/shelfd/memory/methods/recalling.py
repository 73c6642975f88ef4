"""How recall finds: filters, ranking, the fact that is known, and the notes that results link to."""

from collections.abc import Hashable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Final

from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.methods.answering import SURE, Known, fact_by_key, fact_like
from shelfd.memory.methods.found import Found, Recalled, joined
from shelfd.memory.methods.ordering import ordered
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall import Aim, ShelfIndex
from shelfd.memory.recall.ahead import NOTHING_AHEAD, Ahead
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.halves import halves_of
from shelfd.memory.recall.intents import intent_of, is_exploratory
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED, Planned
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.recall import RecallParams

_MICROSECOND: Final = timedelta(microseconds=1)
#: A linked note competes with this share of the score of the result that links to it.
_LINK_SHARE: Final = 0.5
#: Confidence of a key that is the query but for spelling and order of words; one within a longer query has less.
_SAME_KEY: Final = 0.75
#: What feedback changes a score by at most, as a share of it; and how many results below those wanted may rise.
_MOST: Final = 0.2
_RISING: Final = 20
#: How often more is looked for because results say the same.
_ROUNDS: Final = 3


def replay(shelf: Shelf, params: RecallParams, planned: Planned = NOTHING_PLANNED) -> list[str]:
    """Return the ids that a recall would find if what is *planned* had been done; counts no hit."""
    filters = filters_of(shelf, params)
    known = fact_by_key(shelf, params.query, filters, planned)
    return [item.note.id for item in search(shelf, params, filters, known, planned).found]


def filters_of(shelf: Shelf, params: RecallParams, now: int | None = None) -> NoteFilter:
    """Return which notes *params* ask for; *now* is the time if not given."""
    now = shelf.clock.now() if now is None else now
    return NoteFilter(  # with the defaults of RECALLABLE: to replace its fields would take three times as long
        quarantined=RECALLABLE.quarantined,
        include_private=RECALLABLE.include_private,
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
        as_of=params.as_of,
    )


def known_fact(
    shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned = NOTHING_PLANNED
) -> Known | None:
    """Return the fact with this key; else, in the modes that look for it, one with a key like it."""
    known = fact_by_key(shelf, params.query, filters, planned)
    if planned is not NOTHING_PLANNED:
        return known  # likeness of keys is known of now alone
    if params.mode == "fhrr":
        known = known or fact_like(shelf, params.query, filters)
        return known and known._replace(confirmed=shelf.projection(ShelfFacts).confirms(known.note))
    if known is not None or params.mode != "auto":
        return known
    if not shelf.tracks.catch_up(ShelfFacts):
        return None  # the rest follows in the background; callers in this mode do not wait for it
    return fact_like(shelf, params.query, filters, least=SURE)


async def ahead_of(shelf: Shelf, params: RecallParams, filters: NoteFilter, like: Likeness | None = None) -> Ahead:
    """Return what can be known of a query before it is answered: of a large shelf the ranking.

    Others are served meanwhile.
    """
    if params.mode == "fhrr":
        return NOTHING_AHEAD
    wide, _ = _with_opinions(shelf, params)
    focus = shelf.projection(ShelfIndex).focus
    scan = focus.scan(wide.query, filters, wide.k, explain=wide.explain, like=like)
    return Ahead(like) if scan is None else await shelf.scanner.run(scan)


def rank(
    shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned, ahead: Ahead = NOTHING_AHEAD
) -> Recalled:
    """Return the best notes for a query by their words and names, and by what it is like if that is known."""
    is_all = params.focus == "off" or params.mode == "dense"
    aim: Aim = "all" if is_all else "topic" if is_exploratory(params.query) else "answer"
    focus = shelf.projection(ShelfIndex).as_planned(planned)
    wanted = filters._replace(but=planned.passed_over) if planned.passed_over else filters
    focused = focus.recall(params.query, wanted, params.k, aim, explain=params.explain, ahead=ahead)
    rows = {note_id: row for row, note_id, _, _ in [judged[0] for judged in focused.found]}
    notes = planned.over(shelf.hot.at(rows))
    get = notes.get
    found = [
        Found(note, score, relevant, None, signals, coverage, relevance, (), stands)
        for (_, note_id, score, signals), coverage, relevance, relevant, stands in focused.found
        # Rows may be a moment ahead of the index: what was hidden or replaced just now is not shown.
        if (note := get(note_id)) is not None and (note.rev == 1 or filters.admits(note))
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


def search(
    shelf: Shelf,
    params: RecallParams,
    filters: NoteFilter,
    known: Known | None,
    planned: Planned = NOTHING_PLANNED,
    ahead: Ahead = NOTHING_AHEAD,
) -> Recalled:
    """Return what a query finds: the best notes, those they link to, and the fact that is known."""
    recalled = Recalled([]) if params.mode == "fhrr" else _ranked(shelf, params, filters, planned, ahead)
    found = recalled.found
    if known is not None:
        found = _with_known(found, known, judged=params.mode != "fhrr")
    if add_links(shelf, found, planned, filters.as_of) and params.include_links:
        found = _with_linked(shelf, found, filters, params.k, planned)
    if found is not recalled.found and _collapses(params):
        found = _collapsed(shelf, found)
    first = 0 if known is None else 1  # what is known stays first
    intent = intent_of(params.query)
    found[first:] = ordered(found[first:], intent, explain=params.explain)
    found = found[: params.k]
    if params.min_score is not None:
        # Rounded as it is returned: a caller may pass a score it has seen.
        found = [item for item in found if round(item.score, 6) >= params.min_score]
    if not recalled.cut:
        return Recalled(found, (), intent)
    here = {item.note.id for item in found}
    return Recalled(found, [cut for cut in recalled.cut if cut.hit.id not in here], intent)


def _ranked(shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned, ahead: Ahead) -> Recalled:
    """Return the *k* best notes; if results collapse, the *k* best that say different things."""
    wanted, rounds = params.k, _ROUNDS
    recalled = _best(shelf, params, filters, planned, ahead)
    if not _collapses(params):
        return recalled
    distinct = _collapsed(shelf, recalled.found)
    while rounds and len(distinct) < wanted and params.k <= len(recalled.found) < RECALL_LIMIT:
        # Places have become free: look further, as if each thing was said as often as those found.
        often = -(-len(recalled.found) // len(distinct))
        params = params.model_copy(update={"k": min(wanted * (often + 1), RECALL_LIMIT)})
        recalled = _best(shelf, params, filters, planned, ahead)
        distinct = _collapsed(shelf, recalled.found)
        rounds -= 1
    return Recalled(distinct[:wanted], recalled.cut)


def _best(shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned, ahead: Ahead) -> Recalled:
    """Return the *k* best notes for a query, for its other names, and as callers' opinions change them."""
    asked_for = params.k
    params, opinions = _with_opinions(shelf, params)
    recalled = rank(shelf, params, filters, planned, ahead)
    if params.focus == "auto":
        for said, name in shelf.enrichment.other_names(params.query):  # the same question with another of its names
            asked = params.model_copy(update={"query": params.query.replace(said, name)})
            recalled = joined(recalled, rank(shelf, asked, filters, planned, ahead), params.k)
        if not any(item.relevant for item in recalled.found):
            recalled = _by_halves(shelf, params, filters, planned, recalled)
    if not opinions:
        return recalled
    return Recalled(_as_said(recalled.found, opinions)[:asked_for], recalled.cut)


def _by_halves(
    shelf: Shelf, params: RecallParams, filters: NoteFilter, planned: Planned, recalled: Recalled
) -> Recalled:
    """Return what answers both halves of a query about two things, if there is such; else what was *recalled*.

    Of a shelf that takes long to rank nobody is held up for that.
    """
    index = shelf.projection(ShelfIndex).index
    halves = None if index.is_large or params.mode == "dense" else halves_of(params.query, index.analyzer)
    if halves is None:
        return recalled
    first, second = (rank(shelf, params.model_copy(update={"query": half}), filters, planned) for half in halves)
    if not first.relevant or not second.relevant:
        return recalled
    every = joined(joined(first, second, RECALL_LIMIT), recalled, RECALL_LIMIT)
    best = sorted(every.found, key=lambda item: not item.relevant)[: params.k]
    return Recalled(sorted(best, key=lambda item: -item.score), every.cut)


def _with_opinions(shelf: Shelf, params: RecallParams) -> tuple[RecallParams, Mapping[int, float]]:
    """Return what callers think of notes as answers to a query, and if they do, *params* that ask for more of them."""
    opinions = shelf.feedback.of(_terms(params.query)) if shelf.feedback else {}
    return params.model_copy(update={"k": min(params.k + _RISING, RECALL_LIMIT)}) if opinions else params, opinions


def _collapses(params: RecallParams) -> bool:
    return params.collapse and params.focus == "auto"


def _collapsed(shelf: Shelf, found: list[Found]) -> list[Found]:
    """Return *found* with the first of those that say the same standing for the others."""
    repetitions = shelf.projection(ShelfIndex).repetitions
    if not repetitions.are_there([item.note for item in found]):
        return found
    signs = [repetitions.sign(item.note) for item in found]
    first: dict[Hashable, Found] = {}
    for item, said in zip(found, signs, strict=True):
        stands = first.setdefault(said, item)
        if stands is not item:
            stands.collapsed = [*stands.collapsed, item.note.id, *item.collapsed]
    return list(first.values())


def _terms(query: str) -> Sequence[str]:
    return _feedback_analyzer().parse_query(query).terms


@cache
def _feedback_analyzer() -> Analyzer:
    return Analyzer()


def _as_said(found: Sequence[Found], said: Mapping[int, float]) -> list[Found]:
    """Return *found* with scores as callers' opinions of earlier results change them, best first."""
    for item in found:
        opinion = said.get(item.note.row)
        if opinion is not None:
            score = min(1.0, item.score * (1 + _MOST * opinion))
            if item.signals:
                item.signals["feedback"] = score - item.score
            item.score = score
    return sorted(found, key=lambda item: -item.score)


def add_links(shelf: Shelf, found: Sequence[Found], planned: Planned, as_of: int | None = None) -> bool:
    """Give each of the notes *found* the links that leave it, all or those that hold at a time; are there any?"""
    links = planned.linked(shelf.hot.links([item.note.id for item in found]))
    if not any(links.values()):  # nearly always
        return False
    for item in found:
        leaving = links.get(item.note.id, ())
        item.links = leaving if as_of is None else [link for link in leaving if link.holds(as_of)]
    return True


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
    add_links(shelf, linked, planned, filters.as_of)
    return sorted([*found, *linked], key=lambda item: -item.score)
