"""A store for LangGraph: its long-term memory, in a nugget of a shelf. Needs the extra ``langgraph``.

Each item is a fact: its value in the fact's ``fields``, its text in the content, for recall; what it is called by a
digest of namespace and key, for keys of facts do not tell case. Tags name the namespaces it lies in, so that a search
looks at no other items.
"""

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from shelfd.client.failure import RpcFailure
from shelfd.client.steady import SteadyClient

_NOT_FOUND: Final = -32001
#: Levels of a namespace: each has a tag, of which a note may have 32.
_DEEPEST: Final = 31
#: Characters of an item's text that recall finds it by.
_TEXT: Final = 16_000
#: Items that are asked for at a time: with values of 64 KiB they still fit a reply.
_PAGE: Final = 50
_BEST: Final = 200  #: which recall gives at most

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": lambda value, other: _is_number(value) and bool(value > other),
    "$gte": lambda value, other: _is_number(value) and bool(value >= other),
    "$lt": lambda value, other: _is_number(value) and bool(value < other),
    "$lte": lambda value, other: _is_number(value) and bool(value <= other),
}


class ShelfdStore(BaseStore):
    """Items of LangGraph in a shelf.

    A search with a query gives items as recall ranks them, with its score; without one, the last changed first. A value
    is a JSON object of at most 64 KiB, less some bytes for its namespace and key. What is deleted is hidden and can be
    brought back, unless *purges*. As with every note, what governance takes for a credential is taken out of a value.
    ``list_namespaces`` reads all items.

    Args:
        socket: The daemon's; None looks in the usual places.
        nugget: Where the items are; other notes do not belong there.
        purges: Whether what is deleted is removed for good, history included.
    """

    supports_ttl = False

    def __init__(
        self,
        socket: str | None = None,
        *,
        shelf: str = "default",
        nugget: str = "langgraph",
        purges: bool = False,
        timeout_s: float | None = 60.0,
    ) -> None:
        self._client = SteadyClient(socket, timeout_s=timeout_s)
        self._where = {"shelf": shelf, "nugget": nugget}
        self._purges = purges

    def close(self) -> None:
        """End the connection; a later call makes another."""
        self._client.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out what is asked for; what is put comes last, and of one item the last counts.

        Raises:
            RpcFailure: If the daemon refuses, as for a value that is too large.
            ConnectionError: If it is not there.
        """
        results: list[Result] = []
        put: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                put[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op.namespace, op.key))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                raise TypeError(f"not an operation of a store: {type(op).__name__}")
        for op in put.values():
            self._delete(op) if op.value is None else self._put(op, op.value)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what :meth:`batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _put(self, op: PutOp, value: Mapping[str, Any]) -> None:
        if len(op.namespace) > _DEEPEST:
            raise ValueError(f"a namespace has at most {_DEEPEST} levels")
        paths = ["$"] if op.index is None else op.index or []
        text = "\n".join(text for path in paths for text in get_text_at_path(dict(value), path))
        self._client.change(
            "remember",
            {
                **self._where,
                "key": _digest([*op.namespace], op.key),
                "content": text[:_TEXT] if text.strip() else op.key,
                "fields": {"namespace": [*op.namespace], "key": op.key, "value": dict(value)},
                "tags": [_tag(op.namespace[:level]) for level in range(1, len(op.namespace) + 1)],
            },
        )

    def _delete(self, op: PutOp) -> None:
        params = {**self._where, "key": _digest([*op.namespace], op.key), **({"purge": True} if self._purges else {})}
        try:
            self._client.change("forget", params)
        except RpcFailure as failure:
            if failure.code != _NOT_FOUND:
                raise

    def _get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        params = {"query": _digest([*namespace], key), "mode": "fhrr", "k": 1, "include_links": False}
        for hit in self._recalled(params):
            found = hit["note"]["fields"]
            if (tuple(found["namespace"]), found["key"]) == (namespace, key):
                return Item(**_parts(hit["note"]))
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        tags = [_tag(op.namespace_prefix)] if op.namespace_prefix else []
        found = self._ranked(op, tags) if op.query else ((note, None) for note in self._listed(tags))
        fitting = (
            SearchItem(**_parts(note), score=score)
            for note, score in found
            if all(_fits(note["fields"]["value"].get(name), wanted) for name, wanted in (op.filter or {}).items())
        )
        return list(islice(fitting, op.offset, op.offset + op.limit))

    def _ranked(self, op: SearchOp, tags: list[str]) -> Iterator[tuple[dict[str, Any], float | None]]:
        k = _BEST if op.filter else min(_BEST, max(1, op.offset + op.limit))
        params = {"query": op.query, "tags": tags, "k": k, "focus": "off", "include_links": False}
        for hit in self._recalled(params):
            yield hit["note"], hit["score"]

    def _recalled(self, params: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        try:
            found = self._client.read("recall", {**self._where, **params, "count_hits": False})
        except RpcFailure as failure:
            if failure.code != _NOT_FOUND:  # of the nugget: nothing was put yet
                raise
            return ()
        return [hit for hit in found["results"] if "namespace" in hit["note"].get("fields", {})]

    def _listed(self, tags: list[str]) -> Iterator[dict[str, Any]]:
        """Yield the notes of all items with *tags*, the last changed first."""
        params = {**self._where, "tags": tags, "limit": _PAGE, "desc": True}
        while True:
            try:
                page = self._client.read("note.list", params)
            except RpcFailure as failure:
                if failure.code != _NOT_FOUND:
                    raise
                return
            yield from (note for note in page["notes"] if "namespace" in note.get("fields", {}))
            if "next_cursor" not in page:
                return
            params["cursor"] = page["next_cursor"]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        spaces = {tuple(note["fields"]["namespace"]) for note in self._listed([])}
        matching = {space for space in spaces if all(_matches(one, space) for one in op.match_conditions or ())}
        return sorted({space[: op.max_depth] for space in matching})[op.offset : op.offset + op.limit]


def _digest(namespace: list[str], key: str) -> str:
    return sha256(json.dumps([namespace, key]).encode()).hexdigest()[:40]


def _tag(namespace: tuple[str, ...]) -> str:
    return f"ns-{sha256(json.dumps(namespace).encode()).hexdigest()[:24]}"


def _parts(note: Mapping[str, Any]) -> dict[str, Any]:
    fields = note["fields"]
    return {
        "namespace": tuple(fields["namespace"]),
        "key": fields["key"],
        "value": fields["value"],
        "created_at": datetime.fromisoformat(note["created_at"]),
        "updated_at": datetime.fromisoformat(note["updated_at"]),
    }


def _fits(value: Any, wanted: Any) -> bool:  # noqa: ANN401
    """Whether a value is what a filter wants: itself, or what operators like ``$gt`` compare it with."""
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            if unknown := wanted.keys() - _COMPARISONS.keys():
                raise ValueError(f"not an operator of a filter: {', '.join(sorted(unknown))}")
            return all(_COMPARISONS[name](value, other) for name, other in wanted.items())
        return isinstance(value, dict) and all(_fits(value.get(name), other) for name, other in wanted.items())
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_fits(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _is_number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int | float) and not isinstance(value, bool)


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", level) for wanted, level in zip(path, part, strict=True))
