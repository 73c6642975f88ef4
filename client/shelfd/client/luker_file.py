"""The files of Luker that hold a chat's memory graph: the floor log, and what it keeps beside."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from shelfd.client import foreign
from shelfd.client.floor_log import LeftOut, LogGraph, graph_of, replay, turn_ranges
from shelfd.client.foreign import ForeignBatch, Unusable

LOG: Final = "__floor_log"
META: Final = "__meta"
#: What stands beside the log and has no counterpart here.
_NOT_KEPT: Final = {
    "lastRecallTrace": "how the last recall went is not kept",
    "lastRecallProjection": "what the last prompt held is not kept",
    "vectorIndexState": "vectors are made anew of the words here",
}


def is_log(document: object) -> bool:
    """Return whether a file's content is a floor log, or an object of documents with one among them."""
    return _log_of(document) is not None


def _log_of(document: object) -> Mapping[str, Any] | None:
    if not isinstance(document, dict):
        return None
    found = [document, *(value for name, value in document.items() if str(name).endswith(LOG))]
    return next((one for one in found if isinstance(one, dict) and isinstance(one.get("commits"), list)), None)


def is_meta(document: object) -> bool:
    """Return whether a file's content is what stands beside a floor log."""
    return isinstance(document, dict) and bool({"sourceMessageCount", *_NOT_KEPT} & document.keys())


def stem_of(path: str) -> str:
    """Return the name of a chat, or of a log, by that of its file."""
    name = os.path.basename(path).encode(errors="replace").decode()  # noqa: PTH119
    for suffix in (".json", ".jsonl", LOG):
        name = name.removesuffix(suffix)
    return name or "chat"


def _beside(path: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What stands beside a log: in the same file, or in the one of the same name."""
    found = {name: value for name, value in document.items() if name not in ("commits", "version")}
    metas = [value for name, value in document.items() if str(name).endswith(META) and isinstance(value, dict)]
    sibling = Path(path.removesuffix(".json").removesuffix(LOG) + META + ".json")
    if not metas and path.endswith(LOG + ".json") and sibling.is_file():
        meta = foreign.load(str(sibling))
        metas = [meta] if isinstance(meta, dict) else []
    for meta in metas:
        found |= meta
    return found


class FloorLog:
    """A floor log, replayed.

    Args:
        path: Of its file.
        header: What goes with each of its items.
        shown: Of each message of its chat the alternative that is shown; None if the chat is not known.

    Attributes:
        findings: What is not taken.
        replayed: How many commits count.

    Raises:
        Unusable: If there is no floor log in it.
    """

    def __init__(self, path: str, header: Mapping[str, Any], shown: list[int] | None) -> None:
        document = foreign.load(path)
        log = _log_of(document)
        if log is None:
            raise Unusable(path, foreign.unexpected(document), os.EX_DATAERR)
        beside = _beside(path, document)
        state, left_out = replay(log["commits"], shown)
        self.replayed = len(log["commits"]) - sum(len(one.which) for one in left_out)
        self._path, self._header = path, header
        self._graph, untidy = graph_of(state, beside)
        self.findings = [*left_out, *untidy]
        if shown is None and log["commits"]:
            why = "is not given: of each message the alternative that was written last counts"
            self.findings.append(LeftOut("commits", "chat", why, []))
        self.findings += [LeftOut("commits", name, why, []) for name, why in _NOT_KEPT.items() if beside.get(name)]

    @property
    def graph(self) -> LogGraph:
        """What the replay came to."""
        return self._graph

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over what is to be sent: its turns, types, nodes and edges."""
        turns = self._new_batch("sessions", "turns")
        for pair in turn_ranges(self._graph.last_turn):
            self._add(turns, {"turns": pair}, pair[0])
        yield turns
        types = self._new_batch("types", "type")
        for number, spec in enumerate(self._graph.types):
            self._add(types, spec, number)
        yield types
        nodes = self._new_batch("notes", "node")
        for node in self._graph.nodes:
            self._add(nodes, node, node["id"])
        yield nodes
        edges = self._new_batch("links", "node")
        for source, links in self._graph.edges.items():
            self._add(edges, {"id": source, "links": links}, source)
        yield edges

    def _new_batch(self, part: str, unit: str) -> ForeignBatch:
        return ForeignBatch(self._path, part, self._header, [], [], [], unit)

    def _add(self, batch: ForeignBatch, item: Any, index: Any) -> None:  # noqa: ANN401
        written = foreign.as_written(item)
        if written is None or len(written) > foreign.LARGEST_ITEM:
            why = "cannot be sent: too large, or no text"
            self.findings.append(LeftOut(batch.part, "items", why, [index], is_refused=True))
        else:
            batch.add(item, index, written)
