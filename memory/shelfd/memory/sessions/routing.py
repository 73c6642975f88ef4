"""Recall by a language model's choice: it is shown rows of what there is, may look closer, and names what to hand over.

It sees the frontier, or of a large one what ranked recall finds best and what is newest, never more than its context
holds; notes have small numbers, so that it cannot name what it was not shown. Whatever goes wrong is the caller's to
answer, who has ranked recall.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut
from shelfd.memory.ports.language_model import ModelQuestion, Passage, token_count
from shelfd.memory.sessions.reading import Reading, Visible, open_reading
from shelfd.memory.sessions.summing import edge_summary, relation_filter
from shelfd.memory.sessions.views import brief_view
from shelfd.memory.sessions.walking import Expansion, expanded
from shelfd.memory.shelf.shelf import Shelf

#: Times the model may ask for more before it has to choose.
_PASSES: Final = 3
#: Rows it is shown at most, whatever its context holds: more hides what matters, and takes its time.
_MOST_ROWS: Final = 200
#: Of them, and of the room for them, those of the first question: the rest is for what it asks to see.
_FIRST_SHARE: Final = 0.7
_MOST_ADDED: Final = 40
_DEEPEST: Final = 3
_REPLY_TOKENS: Final = 800
_SUMMARY_CHARACTERS: Final = 320
_COLUMN_CHARACTERS: Final = 160
_LINKS: Final = 8
#: Rows made before other tasks have their turn: some milliseconds.
_AT_ONCE: Final = 16

_INSTRUCTIONS: Final = """\
An assistant is about to answer "query". From "candidates", rows of its notes, choose those it needs to know for that,
the most useful first, by their numbers "n", at most "select_at_most" of them. Leave out what does not bear on the
query: an empty selection is a good answer if nothing does.
If a row stands for more than it says (it has "children"), or what is linked to it is likely to matter, and
"passes_left" is above 0, answer with action "drill" and name in "expand" where to look closer; you will be shown more
rows. Else answer with action "finalize". "selected" is your choice so far in either case."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class RouteExpansion(_Answer):
    """Look closer at a row: at what it stands for, and along these relations, or all."""

    n: int
    relations: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=16)] = []
    depth: int = 1
    children: bool = True


class RouteChoice(_Answer):
    """What to hand over, and whether to look closer first."""

    action: Literal["finalize", "drill"]
    selected: Annotated[list[int], Field(max_length=1000)] = []
    expand: Annotated[list[RouteExpansion], Field(max_length=16)] = []


class Wanted(NamedTuple):
    """What is to be recalled.

    Attributes:
        session_id: In which conversation.
        query: The query.
        ranked: Ids as ranked recall orders them, best first.
        admits: Whether a note may be in the answer.
        most: How many notes may be.
        deadline: By the clock's monotonic seconds.
    """

    session_id: str
    query: str
    ranked: Sequence[str]
    admits: Callable[[Note], bool]
    most: int
    deadline: float | None = None


#: What was done, step by step: names, numbers and ids, no memory text.
Trace = list[dict[str, Any]]


async def route(shelf: Shelf, wanted: Wanted, trace: Trace) -> list[str] | None:
    """Return the ids of the notes that the model chooses, most useful first; None if there is nothing to choose from.

    Args:
        shelf: The shelf.
        wanted: What is to be recalled.
        trace: Takes what was done, also when this ends with an error.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`, or that the session is not open.
    """
    reading = await open_reading(shelf, wanted.session_id)
    table = _Table(reading.session.nugget, _room(shelf, reading, wanted))
    await _fill(table, reading, wanted, trace)
    if not table.rows:
        trace.append({"step": "skip_recall_route_no_candidates"})
        return None
    for number in range(1, _PASSES + 1):
        choice = await _choose(shelf, table, wanted, passes_left=_PASSES + 1 - number)
        selected = table.chosen(choice, f"plan_pass_{number}", trace)
        if choice.action == "finalize":
            trace.append({"step": f"plan_early_finalize_{number}"})
            return selected[: wanted.most]
        added = await _drill(shelf, table, choice.expand, wanted)
        trace.append({"step": f"expand_from_plan_{number}", "added": added})
        if not added:
            trace.append({"step": f"drill_stagnated_{number}"})
            break
    choice = await _choose(shelf, table, wanted, passes_left=0)
    return table.chosen(choice, "finalize_pass", trace)[: wanted.most]


def _room(shelf: Shelf, reading: Reading, wanted: Wanted) -> int:
    """How many tokens rows may take."""
    context = shelf.model.context_tokens
    around = _question(_Table(reading.session.nugget, 0), wanted, passes_left=_PASSES).tokens
    return context - context // 16 - _REPLY_TOKENS - token_count(RouteChoice.model_json_schema()) - around


def _question(table: "_Table", wanted: Wanted, *, passes_left: int) -> ModelQuestion[RouteChoice]:
    limits = {"select_at_most": wanted.most, "passes_left": passes_left}
    passages = [
        Passage("limits", None, limits),
        Passage("candidates", table.nugget, table.rows),
        Passage("query", table.nugget, wanted.query),
    ]
    return ModelQuestion("recall.route", _INSTRUCTIONS, passages, RouteChoice, _REPLY_TOKENS)


async def _choose(shelf: Shelf, table: "_Table", wanted: Wanted, *, passes_left: int) -> RouteChoice:
    question = _question(table, wanted, passes_left=passes_left)
    return (await shelf.model.ask(question, deadline=wanted.deadline)).value


class _Table:
    """The rows that the model is shown, each with the id of its note, as many as there is room for."""

    def __init__(self, nugget: str, room: int) -> None:
        self.nugget = nugget
        self.rows: list[dict[str, Any]] = []
        self._room = room
        self._used = 0
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []

    def __contains__(self, note_id: str) -> bool:
        return note_id in self._numbers

    def add(self, note_id: str, row: Mapping[str, Any], *, share: float = 1.0) -> bool:
        """Add a row unless more than this share of the room would be taken; return whether there was room."""
        numbered = {"n": len(self._ids), **row}
        cost = token_count(numbered) + 1
        if self._used + cost > self._room * share or len(self._ids) >= _MOST_ROWS * share:
            return False
        self._used += cost
        self._numbers[note_id] = len(self._ids)
        self._ids.append(note_id)
        self.rows.append(numbered)
        return True

    def id(self, number: int) -> str | None:
        """Return the id of a row's note."""
        return self._ids[number] if 0 <= number < len(self._ids) else None

    def chosen(self, choice: RouteChoice, step: str, trace: Trace) -> list[str]:
        """Return the ids of the rows that were chosen, each once; what is no row is left out, and said."""
        numbers = dict.fromkeys(choice.selected)
        ids = [note_id for number in numbers if (note_id := self.id(number)) is not None]
        seen = {"step": step, "action": choice.action, "candidates": len(self.rows), "selected": ids}
        trace.append(seen | ({"unknown": len(numbers) - len(ids)} if len(ids) < len(numbers) else {}))
        return ids


# ------------------------------------------------------------------------ rows


async def _fill(table: _Table, reading: Reading, wanted: Wanted, trace: Trace) -> None:
    """Put the candidates into the table: the best of the frontier, then the newest."""
    pinned = frozenset() if reading.injection is None else frozenset(reading.injection.pinned or ())
    visible = Visible(reading, None)
    best = (node for note_id in wanted.ranked if (node := reading.active(note_id)) is not None and node in visible)
    newest = (node for _, node in _first(visible.in_order(after=None), _MOST_ROWS + len(pinned)))
    nodes = [node for node in dict.fromkeys(chain(best, newest)) if reading.graph.id(node) not in pinned]
    await _add_rows(table, reading, nodes[: 2 * _MOST_ROWS], wanted, share=_FIRST_SHARE)
    found = {"step": "collect_root_candidates", "candidates": len(table.rows), "of": reading.graph.frontier_size()}
    trace.append(found | ({"always_inject": len(pinned)} if pinned else {}))


def _first(items: Iterable[tuple[int, int]], count: int) -> Iterator[tuple[int, int]]:
    for _, item in zip(range(count), items, strict=False):
        yield item


async def _add_rows(
    table: _Table, reading: Reading, nodes: Sequence[int], wanted: Wanted, *, share: float = 1.0
) -> int:
    """Add rows of notes; return how many there was room for."""
    before = len(table.rows)
    visible = Visible(reading, None)
    notes = reading.notes_at(nodes)
    # What the notes say is read at once: the graph may change while links are looked at.
    shown = [
        (node, note, brief_view(reading, node, note, None))
        for node, note in notes
        if note.id not in table and wanted.admits(note)
    ]
    for count, (node, note, brief) in enumerate(shown):
        if count % _AT_ONCE == _AT_ONCE - 1:
            await asyncio.sleep(0)
        if reading.active(note.id) != node:
            continue  # it was purged meanwhile
        links = await edge_summary(reading, node, visible, types=None, limit=_LINKS)
        if not table.add(note.id, _row(brief, links), share=share):
            break
    return len(table.rows) - before


def _row(brief: Mapping[str, Any], links: Mapping[str, Any]) -> dict[str, Any]:
    """A brief in few words."""
    columns = {
        name: cut(text, _COLUMN_CHARACTERS)
        for name, text in {**brief["key_values"], **brief["row_values"]}.items()
        if name not in ("title", "summary")
    }
    optional = {
        "summary": "" if brief["summary"] == brief["title"] else cut(brief["summary"], _SUMMARY_CHARACTERS),
        "columns": columns,
        "children": brief["child_count"],
        "linked_to": [cut(other["title"], 64) for other in links["sample_neighbors"] if other["title"] != other["id"]],
        "relations": list(dict.fromkeys(row["relation"] for row in links["relations"]))[:_LINKS],
    }
    # The id stands in for a title that is missing; to the model it says nothing.
    title = {} if brief["title"] == brief["id"] else {"title": cut(brief["title"], _COLUMN_CHARACTERS)}
    row = {"type": brief["type"], **title}
    turn = {} if brief["to_seq"] < 0 else {"turn": brief["to_seq"]}
    return {**row, **turn, **{name: value for name, value in optional.items() if value}}


# --------------------------------------------------------------------- drilling


async def _drill(shelf: Shelf, table: _Table, plan: Sequence[RouteExpansion], wanted: Wanted) -> int:
    """Add what the model wants to see; return how many rows that are. The shelf may have changed since it was asked."""
    reading = await open_reading(shelf, wanted.session_id)
    added = 0
    for one in plan:
        note_id = table.id(one.n)
        node = None if note_id is None else reading.active(note_id)
        if node is None:
            continue
        relations = relation_filter(reading, one.relations or None, internal=False)
        how = Expansion(
            hops=min(max(one.depth, 1), _DEEPEST),
            relations=relations,
            include_children=one.children,
            visible=Visible(reading, None),
            is_bounded=False,
        )
        reached = await expanded(reading, [node], how, start=1, limit=_MOST_ADDED)
        added += await _add_rows(table, reading, [other.node for other in reached], wanted)
    return added
