"""The memory under the names that ZettelForge's ``MemoryManager`` gives its methods, for programs written for that.

Names, params and defaults are its own. What is stored is the daemon's: ``jsonl_path`` and ``lance_path`` have no
counterpart, and notes hold no vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from shelfd.client.shelf_connection import ShelfConnection


@dataclass(frozen=True, slots=True)
class NoteContent:
    """What a note says and where it comes from."""

    raw: str
    source_type: str = "conversation"
    source_ref: str = ""


@dataclass(frozen=True, slots=True)
class NoteMeaning:
    """What was made of a note's text by rules."""

    context: str = ""
    keywords: Sequence[str] = ()
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The notes that a note has to do with, by id."""

    related: Sequence[str] = ()
    superseded_by: str | None = None
    supersedes: Sequence[str] = ()
    causal_chain: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MemoryNoteMetadata:
    """How a note is used and how much it counts; ``ttl`` is in days."""

    access_count: int = 0
    last_accessed: str | None = None
    evolution_count: int = 0
    confidence: float = 1.0
    ttl: int | None = None
    domain: str = "general"
    tier: str = "B"
    importance: int = 5


@dataclass(frozen=True, slots=True)
class MemoryNote:
    """A note, as it was when it was asked for.

    Attributes:
        version: Counts every write.
        evolved_by: The notes by which a language model reworded it.
        view: All that the daemon says of it: the protocol's ``NoteView``. Of what only full notes have (``semantic``'s
            context and keywords, ``supersedes``, ``causal_chain``) there is something in those that were recalled.
    """

    id: str
    version: int
    created_at: str
    updated_at: str
    content: NoteContent
    semantic: NoteMeaning
    links: NoteLinks
    metadata: MemoryNoteMetadata
    evolved_by: Sequence[str] = ()
    view: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def should_flag_for_review(self) -> bool:
        """Return whether little is to be given on it, or it was reworded often."""
        return self.metadata.confidence < 0.5 or self.metadata.evolution_count > 5


def note_of(view: Mapping[str, Any]) -> MemoryNote:
    """Return the note that the daemon shows as *view*."""
    return MemoryNote(
        id=view["id"],
        version=view["rev"],
        created_at=view["created_at"],
        updated_at=view["updated_at"],
        content=NoteContent(view["content"], view.get("source_type") or "conversation", view.get("source_ref") or ""),
        semantic=NoteMeaning(view.get("context") or "", view.get("keywords") or (), view["tags"]),
        links=NoteLinks(
            related=[link["to"] for link in view["links"]],
            superseded_by=view.get("superseded_by"),
            supersedes=view.get("supersedes") or (),
            causal_chain=view.get("causal_chain") or (),
        ),
        metadata=MemoryNoteMetadata(
            access_count=view["access_count"],
            last_accessed=view["last_accessed_at"],
            evolution_count=view.get("evolution_count") or 0,
            confidence=view["confidence"],
            ttl=view.get("ttl_days"),
            domain=view["domain"],
            tier=view["tier"],
            importance=view["importance"],
        ),
        evolved_by=view.get("evolved_by") or (),
        view=view,
    )


class MemoryManager(ShelfConnection):
    """One shelf of a daemon, as ZettelForge's programs know it."""

    # ------------------------------------------------------------------ write

    def remember(
        self,
        content: str,
        source_type: str = "conversation",
        source_ref: str = "",
        domain: str = "general",
        evolve: bool = False,
        sync: bool = False,
    ) -> tuple[MemoryNote, str]:
        """Store *content* as a note; return it and created, updated, corrected or noop.

        Args:
            evolve: Let it supersede, correct or repeat what is known.
            sync: Wait for what would otherwise be decided later.
        """
        found = self.change(
            "remember", content=content, source_type=source_type, source_ref=source_ref or None, domain=domain,
            evolve=evolve, sync=sync,
        )  # fmt: skip
        return note_of(found["note"]), found["status"]

    def remember_with_extraction(
        self,
        content: str,
        source_type: str = "conversation",
        source_ref: str = "",
        domain: str = "general",
        context: str = "",
        min_importance: int = 3,
        max_facts: int = 5,
    ) -> list[tuple[MemoryNote | None, str]]:
        """Store the facts in *content*, each as a note: with added, updated, corrected or noop.

        Of a noop the note is the one that says it already.
        """
        return _distilled(
            self.change(
                "remember_with_extraction", content=content, source_type=source_type, source_ref=source_ref,
                domain=domain, context=context, min_importance=min_importance, max_facts=max_facts,
            )
        )  # fmt: skip

    def remember_report(
        self,
        content: str,
        source_url: str = "",
        published_date: str = "",
        domain: str = "cti",
        min_importance: int = 3,
        max_facts: int = 10,
        chunk_size: int = 3000,
    ) -> list[tuple[MemoryNote | None, str]]:
        """Store the facts in a report, chunk by chunk; *published_date* is when they hold from."""
        return _distilled(
            self.change(
                "remember_report", content=content, source_url=source_url, published_date=published_date,
                domain=domain, min_importance=min_importance, max_facts=max_facts, chunk_size=chunk_size,
            )
        )  # fmt: skip

    # ------------------------------------------------------------------ read

    def recall(
        self,
        query: str,
        domain: str | None = None,
        k: int = 10,
        include_links: bool = True,
        exclude_superseded: bool = True,
    ) -> list[MemoryNote]:
        """Return at most *k* notes that fit *query*, best first."""
        found = self.read(
            "recall", query=query, domain=domain, k=k, include_links=include_links,
            exclude_superseded=exclude_superseded, full=True,
        )  # fmt: skip
        return [note_of(hit["note"]) for hit in found["results"]]

    def recall_entity(self, entity_type: str, entity_value: str, k: int = 5) -> list[MemoryNote]:
        """Return at most *k* notes that mention an entity, by any of its names."""
        return self._mentioning("recall_entity", k, entity_type=entity_type, entity_value=entity_value)

    def recall_cve(self, cve_id: str, k: int = 5) -> list[MemoryNote]:
        """Return at most *k* notes that mention a CVE."""
        return self._mentioning("recall_cve", k, cve_id=cve_id)

    def recall_actor(self, actor_name: str, k: int = 5) -> list[MemoryNote]:
        """Return at most *k* notes that mention an actor."""
        return self._mentioning("recall_actor", k, actor_name=actor_name)

    def recall_tool(self, tool_name: str, k: int = 5) -> list[MemoryNote]:
        """Return at most *k* notes that mention a tool."""
        return self._mentioning("recall_tool", k, tool_name=tool_name)

    def get_context(self, query: str, domain: str | None = None, k: int = 10, token_budget: int = 4000) -> str:
        """Return relevant notes as Markdown for a prompt."""
        found = self.read("get_context", query=query, domain=domain, k=k, token_budget=token_budget)
        return str(found["text"])

    def get_entity_relationships(self, entity_type: str, entity_value: str) -> list[dict[str, Any]]:
        """Return what an entity has to do with others, one edge each."""
        found = self.read("get_entity_relationships", entity_type=entity_type, entity_value=entity_value)
        return list(found["relationships"])

    def traverse_graph(self, start_type: str, start_value: str, max_depth: int = 2) -> list[dict[str, Any]]:
        """Return the entities within *max_depth* steps of one."""
        found = self.read("traverse_graph", start_type=start_type, start_value=start_value, max_depth=max_depth)
        return list(found["nodes"])

    # ------------------------------------------------------------------ answers

    def synthesize(
        self,
        query: str,
        format: str = "direct_answer",  # noqa: A002 - its name there
        k: int = 10,
        tier_filter: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Answer *query* from the notes that say something about it."""
        tiers = None if tier_filter is None else list(tier_filter)
        return dict(self.read("synthesize", query=query, format=format, k=k, tier_filter=tiers))

    def validate_synthesis(self, response: Mapping[str, Any]) -> tuple[bool, list[str]]:
        """Return whether an answer is one, and what is wrong with it."""
        found = self._client.read("validate_synthesis", {"response": dict(response)})
        return found["is_valid"], list(found["errors"])

    def check_synthesis_quality(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer's score, 0 to 1, and grade."""
        return dict(self._client.read("check_synthesis_quality", {"response": dict(response)}))

    # ------------------------------------------------------------------ the shelf

    def get_stats(self) -> dict[str, Any]:
        """Return what is counted of the shelf."""
        return dict(self.read("get_stats"))

    def mark_note_superseded(self, note_id: str, superseded_by_id: str) -> bool:
        """Have a newer note replace an older one; return False if either is not there, or they cannot."""
        found = self.change("mark_note_superseded", note_id=note_id, superseded_by_id=superseded_by_id)
        return bool(found["ok"])

    def snapshot(self) -> str:
        """Write every note to a file beside the shelf, one a line; return its path, on the daemon's machine."""
        return str(self.read("snapshot")["path"])

    def _mentioning(self, method: str, k: int, **named: str) -> list[MemoryNote]:
        return [note_of(view) for view in self.read(method, k=k, **named)["notes"]]


@cache
def get_memory_manager() -> MemoryManager:
    """Return this process's memory manager: of shelf ``default`` of the daemon in its usual place."""
    return MemoryManager()


def _distilled(found: Mapping[str, Any]) -> list[tuple[MemoryNote | None, str]]:
    return [(None if one.get("note") is None else note_of(one["note"]), one["status"]) for one in found["results"]]
