"""The memory under the names that Nuggets gives its methods, in snake_case, for programs written for that.

What is stored is the daemon's, at once and for good: ``save``, ``load`` and their kin have no counterpart. Notes and
statuses are the protocol's ``NoteView`` and ``NuggetStatus``, as dictionaries.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from shelfd.client.failure import RpcFailure
from shelfd.client.shelf_connection import ShelfConnection

Json: TypeAlias = dict[str, Any]
Found: TypeAlias = list[Json]
_PAGE = 500


class NuggetShelf(ShelfConnection):
    """One shelf of a daemon, with its nuggets. Keys of metadata are those of ``note.create``."""

    # ------------------------------------------------------------------ nuggets

    def create(self, name: str, **options: Any) -> "ShelfNugget":  # noqa: ANN401
        """Make a nugget; *options* are those of ``nugget.create``, such as ``max_facts``."""
        self.change("nugget.create", name=name, **options)
        return ShelfNugget(self, name)

    def get(self, name: str) -> "ShelfNugget":
        """Return a nugget that is there."""
        self.read("nugget.status", name=name)
        return ShelfNugget(self, name)

    def get_or_create(self, name: str, **options: Any) -> "ShelfNugget":  # noqa: ANN401
        """Return a nugget, made with these *options* if it is not there."""
        try:
            return self.create(name, **options)
        except RpcFailure as error:
            if error.data.get("type") != "DuplicateNugget":
                raise
            return ShelfNugget(self, name)

    def has(self, name: str) -> bool:
        """Return whether the nugget is there."""
        try:
            return bool(self.read("nugget.status", name=name))
        except RpcFailure as error:
            if error.data.get("type") != "NuggetNotFound":
                raise
            return False

    @property
    def size(self) -> int:
        """How many nuggets there are."""
        return len(self.list())

    def list(self) -> Found:
        """Return the status of each nugget, by name."""
        return [*self._pages("nugget.list", "nuggets")]

    def remove(self, name: str) -> None:
        """Take a nugget away; its notes are hidden, not lost."""
        self.change("nugget.remove", name=name)

    # ------------------------------------------------------------------ facts

    def remember(self, nugget: str, key: str, value: str) -> None:
        """Let *key* have this value."""
        self.change("remember", nugget=nugget, key=key, content=value)

    def recall(self, query: str, nugget: str | None = None, session: str = "") -> Json:
        """Return what the facts of a nugget, or of all, say; a hit of *session*, of none if that is empty.

        Its members are ``answer``, ``confidence``, ``margin``, ``found``, ``key`` and ``nugget_name``.
        """
        asked = {"query": query, "nugget": nugget, "mode": "fhrr", "k": 1, "session_id": session or None}
        answer = self.read("recall", **asked, count_hits=bool(session)).get("answer") or {}
        found = bool(answer.get("found"))
        return {
            "answer": answer["value"] if found else None,
            "confidence": answer.get("confidence", 0.0) if found else 0.0,
            "margin": answer.get("margin", 0.0) if found else 0.0,
            "found": found,
            "key": answer["key"] if found else "",
            "nugget_name": answer["nugget"] if found else nugget or "",
        }

    def forget(self, nugget: str, key: str) -> bool:
        """Forget a fact; return whether it was there."""
        return bool(self.change("forget", nugget=nugget, key=key)["forgotten"])

    # ------------------------------------------------------------------ notes

    def create_note(self, nugget: str, title: str, content: str, tags: Sequence[str] = (), **metadata: Any) -> Json:  # noqa: ANN401
        """Make a note."""
        return self._note("note.create", nugget=nugget, title=title, content=content, tags=[*tags], **metadata)

    def get_note(self, id: str) -> Json | None:  # noqa: A002 - its name there
        """Return a note, or None."""
        try:
            return self._shown(self.read("note.get", id=id))
        except RpcFailure as error:
            if error.data.get("type") != "NoteNotFound":
                raise
            return None

    def edit_note(self, id: str, **changes: Any) -> Json:  # noqa: A002, ANN401
        """Change a note: ``title``, ``content``, ``tags``, ``hidden``, ``metadata``."""
        return self._note("note.edit", id=id, **changes)

    def delete_note(self, id: str, hard: bool = False) -> bool:  # noqa: A002
        """Hide a note, or with *hard* purge it; return whether that changed anything."""
        return bool(self.change("note.delete", id=id, hard=hard)["changed"])

    def merge_notes(self, source: str, target: str) -> Json:
        """Take the lines of one note over into another, and hide it; return the other."""
        return self._note("note.merge", source=source, target=target)

    def add_link(self, source: str, target: str, reason: str = "") -> None:
        """Link two notes, both ways."""
        self.change("link.upsert", source=source, target=target, reason=reason)

    def search_notes(self, query: str, nugget: str | None = None, limit: int = 5, **filters: Any) -> Found:  # noqa: ANN401
        """Return the notes most like *query*: ``note``, ``score`` and its parts."""
        found: Found = self.read("note.search", query=query, nugget=nugget, limit=limit, **filters)["results"]
        return found

    def list_notes(self, nugget: str | None = None, **filters: Any) -> Found:  # noqa: ANN401
        """Return the notes of a nugget, or of all; *filters* are those of ``note.list``."""
        return [*self._pages("note.list", "notes", nugget=nugget, **filters)]

    # ------------------------------------------------------------------ tending

    def reflect_and_clean_memory(self, nugget: str | None = None, limit: int = 10) -> Json:
        """Look at some notes and tidy them; return what was done."""
        done: Json = self.change("reflect_and_clean_memory", nugget=nugget, limit=limit)
        return done

    def promote_facts(self) -> int:
        """Write what is recalled again and again to MEMORY.md; return how many entries are new or changed."""
        done = self.change("promote_facts")
        return int(done["added"] + done["updated"])

    # ------------------------------------------------------------------

    def _note(self, method: str, **params: Any) -> Json:  # noqa: ANN401
        return self._shown(self.change(method, **params))

    @staticmethod
    def _shown(result: Mapping[str, Any]) -> Json:
        note: Json = result["note"]
        return note

    def _pages(self, method: str, member: str, **params: Any) -> Iterator[Json]:  # noqa: ANN401
        cursor: str | None = None
        while True:
            page = self.read(method, **params, limit=_PAGE, cursor=cursor)
            yield from page[member]
            cursor = page.get("next_cursor")
            if cursor is None:
                return


class ShelfNugget:
    """A nugget of a shelf by its name: the shelf's methods with the nugget left out."""

    def __init__(self, shelf: NuggetShelf, name: str) -> None:
        self.shelf = shelf
        self.name = name

    def remember(self, key: str, value: str) -> None:
        """Let *key* have this value."""
        self.shelf.remember(self.name, key, value)

    def recall(self, query: str, session_id: str = "") -> Json:
        """Return what its facts say, as :meth:`NuggetShelf.recall` does."""
        return self.shelf.recall(query, self.name, session_id)

    def forget(self, key: str) -> bool:
        """Forget a fact; return whether it was there."""
        return self.shelf.forget(self.name, key)

    def facts(self) -> Found:
        """Return its facts in the order they were first given: ``key``, ``value``, ``hits``, ``note_id``."""
        return [*self.shelf._pages("nugget.facts", "facts", name=self.name)]  # noqa: SLF001

    def clear(self) -> int:
        """Hide all its notes; return how many there were."""
        return int(self.shelf.change("nugget.clear", name=self.name)["hidden"])

    def status(self) -> Json:
        """Return what it holds."""
        held: Json = self.shelf.read("nugget.status", name=self.name)
        return held

    def create_note(self, title: str, content: str, tags: Sequence[str] = (), **metadata: Any) -> Json:  # noqa: ANN401
        """Make a note."""
        return self.shelf.create_note(self.name, title, content, tags, **metadata)

    def search_notes(self, query: str, limit: int = 5, **filters: Any) -> Found:  # noqa: ANN401
        """Return its notes most like *query*."""
        return self.shelf.search_notes(query, self.name, limit, **filters)

    def list_notes(self, **filters: Any) -> Found:  # noqa: ANN401
        """Return its notes."""
        return self.shelf.list_notes(self.name, **filters)
