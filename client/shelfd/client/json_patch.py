"""JSON Patch (RFC 6902): a document brought from one state to the next, all of a patch or nothing of it."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

#: What the copies of one document's patches may come to, in bytes of JSON: a few operations could double it each.
COPIED_BYTES: Final = 64 * 1024 * 1024

_Undo = Callable[[], object]
_MISSING: Final = object()


class PatchFailed(Exception):
    """An operation that cannot be carried out."""


class Patched:
    """A JSON document to which patches are applied.

    Attributes:
        document: As it is now. It and what the patches added belong to this object, which changes both.
    """

    def __init__(self, document: Any) -> None:  # noqa: ANN401
        self.document = document
        self._room = COPIED_BYTES
        self._undos: list[_Undo] = []

    def apply(self, patch: object) -> None:
        """Carry a patch out.

        Raises:
            PatchFailed: If that is not possible; then the document is as it was.
        """
        if not isinstance(patch, list):
            raise PatchFailed("is no list of operations")
        self._undos.clear()
        for number, operation in enumerate(patch):
            try:
                self._apply_one(operation)
            except PatchFailed as failed:
                for undo in reversed(self._undos):
                    undo()
                raise PatchFailed(f"operation {number} {failed}") from None

    def _apply_one(self, operation: object) -> None:
        if not isinstance(operation, dict):
            raise PatchFailed("is not an object")
        name, path = operation.get("op"), _tokens(operation.get("path"))
        if name in ("add", "replace", "test") and "value" not in operation:
            raise PatchFailed("has no value")
        if name == "add":
            self._add(path, operation["value"])
        elif name == "remove":
            self._remove(path)
        elif name == "replace":
            self._replace(path, operation["value"])
        elif name == "move":
            start = _tokens(operation.get("from"))
            if path[: len(start)] == start and path != start:
                raise PatchFailed("moves a value into itself")
            self._get(start)
            if path != start:
                self._add(path, self._remove(start))
        elif name == "copy":
            self._add(path, self._copied(self._get(_tokens(operation.get("from")))))
        elif name == "test":
            if not _equal(self._get(path), operation["value"]):
                raise PatchFailed("expects another value")
        else:
            raise PatchFailed("is none of add, remove, replace, move, copy, test")

    def _get(self, path: Sequence[str]) -> Any:  # noqa: ANN401
        value = self.document
        for token in path:
            if isinstance(value, dict):
                value = value.get(token, _MISSING)
            elif isinstance(value, list):
                value = value[_index(token, len(value) - 1)]
            else:
                value = _MISSING
            if value is _MISSING:
                raise PatchFailed("points to nothing")
        return value

    def _add(self, path: Sequence[str], value: Any) -> None:  # noqa: ANN401
        if not path:
            return self._set_root(value)
        parent, name = self._get(path[:-1]), path[-1]
        if isinstance(parent, list):
            at = len(parent) if name == "-" else _index(name, len(parent))
            parent.insert(at, value)
            self._undos.append(lambda: parent.pop(at))
        else:
            self._put(parent, name, value)
        return None

    def _replace(self, path: Sequence[str], value: Any) -> None:  # noqa: ANN401
        self._get(path)
        if not path:
            return self._set_root(value)
        parent, name = self._get(path[:-1]), path[-1]
        if not isinstance(parent, list):
            return self._put(parent, name, value)
        at = _index(name, len(parent) - 1)
        old, parent[at] = parent[at], value
        self._undos.append(lambda: parent.__setitem__(at, old))
        return None

    def _put(self, parent: Any, name: str, value: Any) -> None:  # noqa: ANN401
        if not isinstance(parent, dict):
            raise PatchFailed("points into what holds nothing")
        old = parent.get(name, _MISSING)
        parent[name] = value
        self._undos.append(lambda: parent.pop(name) if old is _MISSING else parent.__setitem__(name, old))

    def _remove(self, path: Sequence[str]) -> Any:  # noqa: ANN401
        old = self._get(path)
        if not path:
            self._set_root(None)
            return old
        parent, name = self._get(path[:-1]), path[-1]
        if isinstance(parent, list):
            at = _index(name, len(parent) - 1)
            del parent[at]
            self._undos.append(lambda: parent.insert(at, old))
        else:
            del parent[name]
            self._undos.append(lambda: parent.__setitem__(name, old))
        return old

    def _set_root(self, value: Any) -> None:  # noqa: ANN401
        old, self.document = self.document, value
        self._undos.append(lambda: setattr(self, "document", old))

    def _copied(self, value: Any) -> Any:  # noqa: ANN401
        try:
            text = json.dumps(value)
        except RecursionError:
            raise PatchFailed("copies what is nested too deep") from None
        self._room -= len(text)
        if self._room < 0:
            raise PatchFailed(f"makes it more than {COPIED_BYTES} bytes that are copied")
        return json.loads(text)


def _tokens(pointer: object) -> list[str]:
    """The reference tokens of a JSON Pointer."""
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchFailed("has no pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def _index(name: str, highest: int) -> int:
    if not name.isascii() or not name.isdigit() or len(name) > 10 or (name[0] == "0" and name != "0"):
        raise PatchFailed("has no index where one is needed")
    if int(name) > highest:
        raise PatchFailed("points beyond the end of a list")
    return int(name)


def _equal(one: object, other: object) -> bool:
    """Whether two JSON values are the same; true is no number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return one == other
