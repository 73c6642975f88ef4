"""Luker's floor log: the changes of a chat's memory graph, replayed, and the graph they come to put in order.

A commit is an RFC 6902 patch of the whole graph, made while a message of the chat was written (its floor) or one of its
alternatives (its swipe). It counts if the message is there and that alternative is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.client.json_patch import Patched, PatchFailed

#: Relations that follow from the tree.
_OF_TREE: Final = frozenset({"contains", "semantic_contains"})
#: What says how many turns there were, in the graph or beside it.
_COUNTERS: Final = ("seqCounter", "appliedSeqTo", "loggedSeqTo", "coveredAssistantSeq", "sourceMessageCount")
#: Turns beyond these are none; and how many of them are one item.
_LAST_TURN: Final = 100_000
_TURNS: Final = 140
_DEEPEST: Final = 31


class LeftOut(NamedTuple):
    """Something that is not taken, or not as it was.

    Attributes:
        part: What kind of items it concerns.
        which: The items.
        is_refused: Whether that is because they are broken.
    """

    part: str
    field: str
    why: str
    which: list[Any]
    is_refused: bool = False


class LogGraph(NamedTuple):
    """A memory graph as items to send.

    Attributes:
        nodes: Each after its parent and what replaced it.
        edges: By the node that they leave.
        types: Of a schema that the log has with it.
        last_turn: The last turn that anything speaks of.
    """

    nodes: list[dict[str, Any]]
    edges: dict[str, list[dict[str, Any]]]
    types: list[Any]
    last_turn: int


def replay(commits: Sequence[Any], shown: Sequence[int] | None) -> tuple[Any, list[LeftOut]]:
    """Return the state that a log comes to, and what of the log was left out.

    Args:
        commits: In their order. What they hold becomes part of the state.
        shown: The alternative that is shown of each message of the chat; None if the chat is not known: then that of
            a floor's last commit counts.
    """
    findings: list[LeftOut] = []
    chosen = _last_swipes(commits) if shown is None else dict(enumerate(shown))
    gone: list[int] = []
    elsewhere: list[int] = []
    patched = Patched({})
    for number, commit in enumerate(commits):
        floor, swipe = _place(commit)
        if floor is not None and floor not in chosen:
            gone.append(number)
        elif floor is not None and chosen[floor] != swipe:
            elsewhere.append(number)
        else:
            try:
                _apply(patched, commit, floor)
            except PatchFailed as failed:
                findings.append(
                    LeftOut("commits", "patches", f"cannot be replayed: {failed}", [number], is_refused=True)
                )
                if rest := list(range(number + 1, len(commits))):
                    findings.append(LeftOut("commits", "order", "comes after one that cannot be replayed", rest))
                break
    if gone:
        findings.append(LeftOut("commits", "floor", "the chat does not have the message", gone))
    if elsewhere:
        findings.append(LeftOut("commits", "swipe", "the message shows another alternative", elsewhere))
    return patched.document, findings


def _apply(patched: Patched, commit: object, floor: int | None) -> None:
    if floor is None or not isinstance(commit, dict):
        raise PatchFailed("it is no commit with a floor")
    patched.apply(commit.get("patches"))


def _place(commit: object) -> tuple[int | None, int]:
    """The floor and the swipe of a commit; no floor if it has none."""
    if not isinstance(commit, dict):
        return None, 0
    floor, swipe = commit.get("floor"), commit.get("swipeId")
    return floor if type(floor) is int and floor >= 0 else None, swipe if type(swipe) is int else 0


def _last_swipes(commits: Sequence[Any]) -> dict[int, int]:
    return {floor: swipe for floor, swipe in map(_place, commits) if floor is not None}


def graph_of(state: object, beside: Mapping[str, Any]) -> tuple[LogGraph, list[LeftOut]]:
    """Return the graph of a replayed state, put in order, and what of it was left out.

    Args:
        state: It is changed.
        beside: What stands beside the log: a schema, counters.
    """
    findings = _Findings()
    given: dict[str, Any] = state if isinstance(state, dict) else {}
    nodes = _nodes(given.get("nodes"), findings)
    _climb(nodes, findings)
    ordered = [nodes[name] for name in _in_order(nodes, findings)]
    _measure(ordered)
    for node in ordered:
        node.pop("childrenIds", None)
    edges = _edges(given.get("edges"), nodes, findings)
    schema = next((found for found in map(_schema, (given, beside)) if found is not None), [])
    counted = [given.get(name) for name in _COUNTERS] + [beside.get(name) for name in _COUNTERS]
    turns = [*counted, *_turns(ordered), *(edge.get("seqTo") for some in edges.values() for edge in some)]
    last_turn = max((int(turn) for turn in turns if _is_turn(turn)), default=0)
    return LogGraph(ordered, edges, schema, last_turn), findings.all()


class _Findings:
    """Findings, those of one kind as one."""

    def __init__(self) -> None:
        self._which: dict[tuple[str, str, str], list[Any]] = {}

    def add(self, part: str, field: str, why: str, which: Any) -> None:  # noqa: ANN401
        self._which.setdefault((part, field, why), []).append(which)

    def all(self) -> list[LeftOut]:
        return [LeftOut(*about, which) for about, which in self._which.items()]


def _schema(given: Mapping[str, Any]) -> list[Any] | None:
    found = (given.get(name) for name in ("schema", "nodeTypeSchema"))
    return next((schema for schema in found if isinstance(schema, list)), None)


def _is_turn(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= _LAST_TURN


def _turns(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    for node in nodes:
        yield node.get("seqTo")
        span = node.get("floorRange")
        if isinstance(span, dict):
            yield span.get("end")


# ------------------------------------------------------------------ nodes and their tree


def _nodes(given: object, findings: _Findings) -> dict[str, dict[str, Any]]:
    """The nodes by id, but for those that only record a recall."""
    nodes: dict[str, dict[str, Any]] = {}
    for name, node in (given if isinstance(given, dict) else {}).items():
        if not isinstance(node, dict):
            findings.add("notes", "nodes", "is not an object", name)
        elif _is_record(node.get("type")):
            findings.add("notes", "nodes", "only records what a recall did", name)
        else:
            node["id"] = name
            nodes[name] = node
    return nodes


def _is_record(type_: object) -> bool:
    name = type_.strip().lower() if isinstance(type_, str) else ""
    return name == "recall" or name.startswith("recall_")


def _climb(nodes: dict[str, dict[str, Any]], findings: _Findings) -> None:
    """Have each node name its parent, if that is there."""
    for name, node in nodes.items():
        children = node.get("childrenIds")
        for child in children if isinstance(children, list) else []:
            below = nodes.get(child) if isinstance(child, str) and child != name else None
            if below is not None and not below.get("parentId"):
                below["parentId"] = name
    for name, node in nodes.items():
        for role in ("parentId", "supersededBy"):
            other = node.get(role)
            if other and (not isinstance(other, str) or other not in nodes or other == name):
                findings.add("notes", role, "names a node that is not there", name)
                del node[role]


def _in_order(nodes: dict[str, dict[str, Any]], findings: _Findings) -> list[str]:
    """The names of all nodes, each behind its parent and what replaced it. What would go around in a circle is cut."""
    done: dict[str, bool] = {}  # by name, whether it has its place, or is on the way to that
    ordered: list[str] = []
    for start in nodes:
        way = [start]
        while way:
            name = way[-1]
            if done.get(name):
                way.pop()
                continue
            done[name] = False
            node = nodes[name]
            ahead = None
            for role in ("parentId", "supersededBy"):
                other = node.get(role)
                if not other or done.get(other):
                    continue
                if other in done:
                    findings.add("notes", role, "leads around in a circle", name)
                    del node[role]
                elif ahead is None:
                    ahead = other
            if ahead is None:
                done[name] = True
                ordered.append(name)
                way.pop()
            else:
                way.append(ahead)
    return ordered


def _measure(ordered: Sequence[dict[str, Any]]) -> None:
    """Give each rollup with children the depth that follows from them."""
    deepest: dict[str, int] = {}
    for node in reversed(ordered):
        below = deepest.get(node["id"], -1) + 1
        if node.get("semanticRollup") is True and below:
            node["semanticDepth"] = min(max(1, below), _DEEPEST)
        own = node["semanticDepth"] if node.get("semanticRollup") is True and "semanticDepth" in node else 0
        parent = node.get("parentId")
        if parent:
            depth = own if isinstance(own, int) and not isinstance(own, bool) else 0
            deepest[parent] = max(deepest.get(parent, 0), depth)


def _edges(given: object, nodes: Mapping[str, Any], findings: _Findings) -> dict[str, list[dict[str, Any]]]:
    """The edges by the node that they leave, but for those of the tree and what leads from or to nothing."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number, edge in enumerate(given if isinstance(given, list) else []):
        if not isinstance(edge, dict):
            findings.add("edges", "edges", "is not an object", number)
            continue
        source, target, type_ = edge.get("from"), edge.get("to"), edge.get("type")
        if not (isinstance(source, str) and isinstance(target, str) and source in nodes and target in nodes):
            findings.add("edges", "edges", "leads from or to a node that is not there", number)
        elif source == target:
            findings.add("edges", "edges", "leads from a node to itself", number)
        elif isinstance(type_, str) and type_.strip().lower() in _OF_TREE:
            if nodes[target].get("parentId") != source:
                findings.add("edges", "edges", "says of the tree what the nodes do not", number)
        else:
            kept = {name: value for name, value in edge.items() if name != "from"}
            found.setdefault(source, []).append(kept)
    return found


def turn_ranges(last_turn: int) -> Iterator[list[int]]:
    """Iterate over the turns up to *last_turn*, some at a time, as first and last; over nothing at all once."""
    starts = range(1, last_turn + 1, _TURNS)
    for start in starts:
        yield [start, min(start + _TURNS - 1, last_turn)]
    if not last_turn:
        yield [1, 0]
