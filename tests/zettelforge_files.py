"""Stores as ZettelForge leaves them: lines of its older one, and the SQLite file of its newer one."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: The columns of its table of notes, and what each is if nothing is said of it.
_COLUMNS: Json = {
    "id": "", "created_at": "2026-01-02T03:04:05", "updated_at": "2026-01-02T03:04:05", "content_raw": "",
    "content_source_type": "conversation", "content_source_ref": "", "content_previous_raw": None, "context": "",
    "keywords": "[]", "tags": "[]", "entities": "[]", "embedding_vector": "[]", "embedding_model": "nomic",
    "embedding_hash": "", "embedding_dimensions": 768, "domain": "general", "tier": "B", "importance": 5.0,
    "confidence": 1.0, "access_count": 0, "last_accessed": None, "tlp": "", "stix_confidence": -1,
    "persistence_semantics": "memory", "ttl_anchor": None, "ttl": None, "evolution_count": 0, "superseded_by": "",
    "supersedes": "[]", "related": "[]", "causal_chain": "[]", "version": 1, "evolved_from": None, "evolved_by": "[]",
    "vuln_meta": None,
}  # fmt: skip


def note(id_: str, raw: str, *, links: Json | None = None, metadata: Json | None = None, **members: Any) -> Json:
    """Return a note as its page has it; *members* replace whole members of it."""
    return {
        "id": id_,
        "version": 1,
        "created_at": "2025-01-02T03:04:05Z",
        "updated_at": "2025-01-02T03:04:05Z",
        "evolved_from": None,
        "evolved_by": [],
        "content": {"raw": raw, "source_type": "conversation", "source_ref": ""},
        "semantic": {"context": raw, "keywords": ["word"], "tags": ["general"], "entities": ["apt28"]},
        "embedding": {"model": "nomic", "vector": [0.1] * 8, "dimensions": 768, "input_hash": ""},
        "links": {"related": [], "superseded_by": None, "supersedes": [], "causal_chain": [], **(links or {})},
        "metadata": {
            "access_count": 0, "last_accessed": None, "evolution_count": 0, "confidence": 1.0, "ttl": None,
            "domain": "general", "tier": "B", "importance": 5, **(metadata or {}),
        },
        **members,
    }  # fmt: skip


def parts(notes: Sequence[Json]) -> list[Json]:
    """Return what the command sends of a store."""
    bare = [{name: value for name, value in one.items() if name not in ("embedding", "links")} for one in notes]
    links = [{"id": one["id"], "updated_at": one["updated_at"], "links": one["links"]} for one in notes]
    return [{"part": "notes", "items": bare}, {"part": "links", "items": links}]


def write_lines(path: Path, notes: Sequence[Json]) -> Path:
    """Write the older store."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in notes), encoding="utf-8")
    return path


def write_database(path: Path, rows: Sequence[Json], *, causal: Sequence[Json] = ()) -> Path:
    """Write the newer store: *rows* of its table by column, and causal edges: note, from, relation, to."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"CREATE TABLE notes ({', '.join(_COLUMNS)}, PRIMARY KEY (id))")
        connection.execute("CREATE TABLE kg_nodes (node_id, entity_type, entity_value, properties)")
        connection.execute(
            "CREATE TABLE kg_edges (edge_id, from_node_id, to_node_id, relationship, edge_type, note_id)"
        )
        connection.execute("CREATE TABLE entity_index (entity_type, entity_value, note_id)")
        for row in rows:
            values = [*({**_COLUMNS, **row}).values()]
            connection.execute(f"INSERT INTO notes VALUES ({', '.join('?' * len(values))})", values)
        for number, said in enumerate(causal):
            for end in ("from", "to"):
                connection.execute("INSERT INTO kg_nodes VALUES (?, ?, ?, '{}')", (f"{end}{number}", *said[end]))
            edge = (f"e{number}", f"from{number}", f"to{number}", said["relation"], "causal", said["note"])
            connection.execute("INSERT INTO kg_edges VALUES (?, ?, ?, ?, ?, ?)", edge)
        connection.execute("INSERT INTO kg_edges VALUES ('h', 'a', 'b', 'USES_TOOL', 'heuristic', '')")
        connection.commit()
    return path
