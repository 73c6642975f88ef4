"""Notes and links as a session is shown them. Each view has all fields of its shape, whatever the note has."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from shelfd.memory.notes.note import Note
from shelfd.memory.sessions.columns import fields_shown, summary_of
from shelfd.memory.sessions.graph import IN
from shelfd.memory.sessions.reading import Reading
from shelfd.memory.sessions.schema import NoteType

T = TypeVar("T")
V = TypeVar("V")
Exposure: TypeAlias = Literal["high_only", "full"]

#: Ids of children that a view lists; of more the method for descendants has pages.
CHILDREN: Final = 1_000
#: Notes read and shown before other tasks have their turn: some milliseconds.
_AT_ONCE: Final = 128
_NO_CHILDREN: Final[Sequence[str]] = ()
#: Columns of an exposed note that is shown in short.
_SHORT: Final = ("summary",)


def node_view(reading: Reading, node: int, note: Note) -> dict[str, Any]:
    """Return a note as a node of the graph."""
    graph = reading.graph
    parent, children = graph.parent(node), graph.children(node)
    view = dict(reading.shelf.hot.shown(note, reading.schema.get(note.type), _own_view))
    view["fields"] = dict(view["fields"])  # what is kept belongs to no caller
    if (span := view["source_span"]) is not None:
        view["source_span"] = list(span)
    if parent is not None and reading.is_open(parent):
        view["parent_id"] = graph.id(parent)
    # What is without children shares a list that nobody may change.
    view["children_ids"] = graph.ids(reading.open_of(children[:CHILDREN])) if children else _NO_CHILDREN
    return view


def _own_view(note: Note, kind: NoteType | None) -> dict[str, Any]:
    """What a node's view has of the note alone, with room for what the graph says."""
    extra = note.extra
    return {
        "id": note.id,
        "type": note.type,
        "level": extra.level,
        "title": note.title or note.id,
        "fields": dict(fields_shown(note, kind)),
        "seq_to": -1 if note.seq_to is None else note.seq_to,
        "parent_id": "",
        "children_ids": _NO_CHILDREN,
        "archived": note.hidden,
        "semantic_rollup": extra.is_rollup,
        "semantic_depth": extra.rollup_depth,
        "source_span": None if extra.source_span is None else list(extra.source_span),
    }


async def node_views(reading: Reading, nodes: Iterable[int]) -> list[dict[str, Any]]:
    """Return these notes as nodes of the graph, in order."""
    return await views_of(reading, nodes, lambda node: node, lambda node, note: node_view(reading, node, note))


async def views_of(
    reading: Reading, items: Iterable[T], node_of: Callable[[T], int], view: Callable[[T, Note], V]
) -> list[V]:
    """Return a *view* of each item and the note that it is about, some at a time; one whose note is gone has none."""
    every, found = list(items), list[V]()
    for at in range(0, len(every), _AT_ONCE):
        some = every[at : at + _AT_ONCE]
        notes = dict(reading.notes_at(dict.fromkeys(map(node_of, some))))
        for item in some:
            if (note := notes.get(node_of(item))) is not None:
                found.append(view(item, note))
        if at + _AT_ONCE < len(every):
            await asyncio.sleep(0)
    return found


def direction_view(reading: Reading, relation: int, direction: int) -> str:
    """Return the direction of a link as it is shown."""
    if reading.graph.is_symmetric(relation):
        return "symmetric"
    return "in" if direction == IN else "out"


def exposure_of(reading: Reading, node: int) -> Exposure:
    """Return how much of a note's row is shown among candidates: notes of hierarchical types stand there in short."""
    kind = reading.schema.get(reading.graph.type(node))
    is_short = kind is not None and kind.is_hierarchical and reading.graph.is_semantic(node)
    return "high_only" if is_short else "full"


def brief_view(reading: Reading, node: int, note: Note, edge_summary: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a note as a row of what is chosen from for a prompt."""
    kind = reading.schema.get(note.type)
    exposure = exposure_of(reading, node)
    key_values, row_values = _values(note, kind, exposure)
    graph = reading.graph
    below = np.array(graph.children(node), np.int32)
    children = int(np.count_nonzero(graph.are_active(below) & reading.open_among(below)))
    return {
        "id": note.id,
        "level": note.extra.level,
        "type": note.type,
        "table_name": note.type if kind is None else kind.table_name or kind.name,
        "title": note.title or note.id,
        "summary": summary_of(note),
        "key_values": key_values,
        "row_values": row_values,
        "to_seq": -1 if note.seq_to is None else note.seq_to,
        "child_count": children,
        "exposure": exposure,
        "edge_summary": edge_summary,
        "always_inject": _is_pinned(reading, node, note),
        "source_span": None if note.extra.source_span is None else list(note.extra.source_span),
    }


def _is_pinned(reading: Reading, node: int, note: Note) -> bool:
    """Whether the prompt held a note last as one that is always there; where that was not recorded, whether it is."""
    if reading.injection is not None and reading.injection.pinned is not None:
        return note.id in reading.injection.pinned
    kind = reading.schema.get(note.type)
    return kind is not None and kind.is_in_every_prompt and reading.graph.is_in_frontier(node)


def _values(note: Note, kind: NoteType | None, exposure: Exposure) -> tuple[dict[str, str], dict[str, str]]:
    """The columns by which a note is known, and the others that are shown of it; blank ones left out."""
    shown = {name: text for name, value in fields_shown(note, kind).items() if (text := text_of(value))}
    keys = () if kind is None else kind.primary_key_columns
    key_values = {name: shown[name] for name in keys if name in shown}
    others = {name: text for name, text in shown.items() if name not in key_values}
    if exposure == "high_only":
        others = {name: others[name] for name in _SHORT if name in others}
    return key_values, others


def text_of(value: object) -> str:
    """Return a field's value as one text: the members of a list with commas between them."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(text_of, value)))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {text}" for name, member in value.items() if (text := text_of(member)))
    return "" if value is None else str(value)
