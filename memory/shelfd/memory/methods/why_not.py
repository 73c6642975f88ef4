"""why_not: which stage of recall lost a note, and by how much."""

from collections.abc import Awaitable, Iterator
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.methods.answering import fact_by_key
from shelfd.memory.methods.found import Recalled
from shelfd.memory.methods.likening import likened
from shelfd.memory.methods.recalling import filters_of, search
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.time_travel import known_moment
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.ports.view import View
from shelfd.memory.recall import Cut, ShelfIndex
from shelfd.memory.recall.ahead import Ahead
from shelfd.memory.recall.past import past_of
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED, Planned
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.storing import get_note
from shelfd.protocol import from_micros
from shelfd.protocol.methods.recall import RecallParams, RecallQuery, WhyNotParams

#: Filters of recall that a note's field of the same name must equal.
_EQUAL: Final = ("nugget", "domain", "scope", "type", "subject", "author")
#: Notes as they were that are ranked among those of now, at least.
_MOST_REWOUND: Final = 32


class _Asked(NamedTuple):
    """A recall that did not return a note, and the note."""

    shelf: Shelf
    params: RecallParams
    filters: NoteFilter
    planned: Planned
    note: Note
    like: Likeness | None = None


@read("why_not")
def why_not(shelf: Shelf, params: WhyNotParams, _call: Call) -> dict[str, Any] | Awaitable[dict[str, Any]]:
    """Return which stage of recall lost a note; it counts no hit."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    note = get_note(shelf.view, params.id)
    asked = RecallParams.model_construct(**{name: getattr(params, name) for name in RecallQuery.model_fields})
    if params.known_at is not None:
        return _why_not_then(shelf, asked, note)
    if shelf.dense.model:
        return _why_not_by_meaning(shelf, asked, note)
    return _explained(_Asked(shelf, asked, filters_of(shelf, asked), NOTHING_PLANNED, note))


async def _why_not_by_meaning(shelf: Shelf, params: RecallParams, note: Note) -> dict[str, Any]:
    filters = filters_of(shelf, params)
    like, _ = await likened(shelf, params.model_copy(update={"mode": "auto"}), filters)
    return _explained(_Asked(shelf, params, filters, NOTHING_PLANNED, note, like))


async def _why_not_then(shelf: Shelf, params: RecallParams, note: Note) -> dict[str, Any]:
    assert params.known_at is not None
    moment = known_moment(shelf.view, params.known_at, shelf.clock.now())
    past = await past_of(shelf, moment.seq)
    rewound = past.rewound(params.query, max(_MOST_REWOUND, 2 * params.k))
    filters = filters_of(shelf, params, moment.at)._replace(below=past.below)
    return _explained(_Asked(shelf, params, filters, rewound, past.notes.get(note.id, note)))


def _explained(asked: _Asked) -> dict[str, Any]:
    note = asked.note
    known = fact_by_key(asked.shelf, asked.params.query, asked.filters, asked.planned)
    unlimited = asked.params.model_copy(update={"min_score": None})
    recalled = search(asked.shelf, unlimited, asked.filters, known, asked.planned, Ahead(asked.like))
    least = asked.params.min_score or 0.0
    returned = next((item for item in recalled.found if item.note.id == note.id), None)
    result: dict[str, Any] = {"note_id": note.id, "found": False}
    if returned is not None and round(returned.score, 6) >= least:
        rank = recalled.found.index(returned) + 1
        score, relevant = round(returned.score, 6), returned.relevant
        why = f"it is result {rank} of {len(recalled.found)}"
        if not relevant:
            why += ", and is not thought to say what was asked"
        return {**result, "found": True, "stage": "returned", "why": why, "score": score, "relevant": relevant}
    if (stands := next((item for item in recalled.found if note.id in item.collapsed), None)) is not None:
        by = stands.note.id
        return {**result, "stage": "collapsed", "by": by, "why": f"it says the same as {by}, which stands for it"}
    if lost := list(_losing(asked.shelf.view, asked.filters, note)):
        why = "; ".join(map(_sentence, lost))
        return {**result, "stage": "filter", "why": why, "filters": lost}
    return {**result, **_ranked(asked, recalled)}


def _ranked(asked: _Asked, recalled: Recalled) -> dict[str, Any]:
    """What ranking and focus made of a note that all filters let through."""
    params, note = asked.params, asked.note
    focus = asked.shelf.projection(ShelfIndex).as_planned(asked.planned)
    if note.row not in asked.shelf.projection(ShelfIndex).index:
        return {"stage": "index", "why": "the index is warming and does not have it yet"}
    filters = asked.filters._replace(but=asked.planned.passed_over)
    place = focus.place(params.query, filters, params.k, note.row, asked.like)
    matched = focus.matched(params.query, note.row)
    if place is None:
        if matched:
            why = f"it has {matched} of the words, and others promised so much more that it was not scored"
            return {"stage": "candidates", "why": why, "matched_words": matched}
        return {"stage": "words", "why": "it has no word of the query, nor have its neighbours", "matched_words": 0}
    score = round(place.score, 6)
    result = {"matched_words": matched, "score": score, "rank": place.rank, "of": place.of}
    cut = next((cut for cut in recalled.cut if cut.hit.id == note.id), None)
    if cut is not None:
        return {**result, **_cut(cut)}
    if params.min_score is not None and score < params.min_score:
        return {**result, "stage": "min_score", **_short("score", params.min_score, score)}
    last = min((item.score for item in recalled.found), default=place.score)
    why = f"{params.k} others fit better: it is number {place.rank} of {place.of}"
    return {**result, "stage": "rank", **_short("score", last, score), "why": why}


def _cut(cut: Cut) -> dict[str, Any]:
    """By how much a note that focus cut fell short."""
    coverage = round(cut.coverage, 6)
    found: dict[str, Any] = {"stage": "focus", "cut": cut.reason, "coverage": coverage}
    if cut.coverage <= cut.needed_coverage:
        found |= _short("coverage", cut.needed_coverage, coverage)
    else:
        found |= _short("score", cut.needed_score, cut.hit.score)
    about = "the query names another note" if cut.reason == "another_name" else "it has a name, and little of the query"
    return {**found, "why": f"{about}: {found['why']}; with focus off it may return"}


def _short(measure: str, needed: float, has: float) -> dict[str, Any]:
    missing = max(0.0, needed - has)
    why = f"its {measure} is {has:.3f}, and {needed:.3f} was needed"
    return {"measure": measure, "needed": round(needed, 6), "missing": round(missing, 6), "why": why}


# -------------------------------------------------------------------- filters


def _losing(view: View, filters: NoteFilter, note: Note) -> Iterator[dict[str, Any]]:
    """Yield the filters that keep a note out."""
    for name in _EQUAL:
        wanted, actual = getattr(filters, name), getattr(note, name)
        if wanted is not None and wanted != actual:
            yield _filter(name, wanted=wanted, actual=actual)
    if missing := sorted(set(filters.tags) - set(note.all_tags)):
        yield _filter("tags", wanted=", ".join(missing), actual=", ".join(note.all_tags))
    if filters.below is not None and note.row >= filters.below:
        yield _filter("not_yet_known", actual=from_micros(note.created_at))
    if note.hidden and not filters.include_hidden:
        yield _filter("hidden", **_who(view, note, "archived_at"))
    if filters.quarantined is False and note.quarantined:
        yield _filter("quarantined")
    held_once = filters.as_of is not None and note.valid_to is not None
    if note.superseded_by is not None and not filters.include_superseded and not held_once:
        by = _who(view, note, "superseded_by")
        lost = _filter("superseded", actual=note.superseded_by, reason=note.extra.superseded_reason, **by)
        yield lost | _out_of_sight(view, note.superseded_by, filters.now)
    if not filters.include_expired and note.expires_at is not None and note.expires_at <= filters.now:
        yield _filter("expired", at=from_micros(note.expires_at))
    if filters.as_of is not None and not note.holds(filters.as_of):
        ends = [None if end is None else from_micros(end) for end in (note.valid_from, note.valid_to)]
        yield _filter("not_valid", wanted=from_micros(filters.as_of), actual=" to ".join(end or "…" for end in ends))
    if filters.since is not None and note.when < filters.since:
        yield _filter("max_age", wanted=from_micros(filters.since), actual=from_micros(note.when))
    if note.private and not filters.has_private and note.session_id != filters.session:
        yield _filter("private", wanted=filters.session, actual=note.session_id)


def _filter(name: str, **said: str | None) -> dict[str, Any]:
    return {"filter": name, **{key: value for key, value in said.items() if value is not None}}


def _out_of_sight(view: View, note_id: str, now: int) -> dict[str, bool]:
    """Why what replaced a note is not found itself; nothing if it is, or may be."""
    note = view.notes.get(note_id)
    if note is not None and note.hidden:
        return {"hidden": True}
    is_over = note is not None and note.expires_at is not None and note.expires_at <= now
    return {"expired": True} if is_over else {}


def _who(view: View, note: Note, field: str) -> dict[str, str]:
    """Who last set a field of a note, and when; nothing if the log no longer says so."""
    changes = [row for row in view.log.of_note(note.row) if field in (row.before or {})]
    return {"at": from_micros(changes[-1].at), "principal": changes[-1].origin.principal} if changes else {}


_SENTENCES: Final = {
    "hidden": "it is hidden",
    "quarantined": "it is in quarantine; note.release takes it out",
    "superseded": "it was superseded by {actual}",
    "expired": "it expired at {at}",
    "not_valid": "it does not hold at {wanted}",
    "not_yet_known": "it was created later, at {actual}",
    "private": "it belongs to another session alone",
    "max_age": "it is older than max_age allows",
    "tags": "it lacks a tag: {wanted}",
}


_IS_SO: Final = {"hidden": "is hidden", "expired": "has expired"}


def _sentence(lost: dict[str, Any]) -> str:
    text = _SENTENCES.get(lost["filter"], "its {filter} is {actual}, not {wanted}").format_map(
        {"actual": "none", **lost}
    )
    if "reason" in lost:
        text += f" ({lost['reason']})"
    if out_of_sight := next((why for why in ("hidden", "expired") if why in lost), None):
        text += f", which {_IS_SO[out_of_sight]}; note.restore brings this one back"
    return text
