"""Files as Nuggets writes them, made here: fact files of versions 1 to 4 and graphs of versions 1 to 3."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: Which fields a fact file of a version has beside its facts; earlier ones leave some out.
_HEADERS: Mapping[int, Sequence[str]] = {
    1: ("name",),
    2: ("name", "D", "banks"),
    3: ("name", "D", "banks", "ensembles", "max_facts", "config"),
    4: ("name", "D", "banks", "ensembles", "max_facts", "config"),
}
_CONFIG = {"sharpen_p": 1, "corvacs_a": 0, "temp_T": 0.9, "orth_iters": 1}


def fact(key: str, value: str, *, hits: int = 0, session: str = "", version: int = 4) -> Json:
    """A fact; a file of version 1 knows nothing of hits."""
    return {"key": key, "value": value} | ({} if version == 1 else {"hits": hits, "last_hit_session": session})


def fact_file(name: str, facts: Sequence[Json], *, version: int = 4, **options: Any) -> Json:
    """A whole fact file; *options* replace header fields."""
    header = {"name": name, "D": 16384, "banks": 4, "ensembles": 1, "max_facts": 0, "config": _CONFIG}
    kept = {field: header[field] for field in _HEADERS[version]}
    return {"version": version, **kept, **options, "facts": list(facts)}


def graph_note(id_: str, content: str, *, nugget: str = "work", title: str = "", **fields: Any) -> Json:
    """A note of a graph of version 3 with all of its fields."""
    kind = "fact" if id_.startswith("fact-") else "note"
    note = {
        "id": id_, "nuggetName": nugget, "title": title, "content": content,
        "tags": [nugget, "scope:user", f"type:{kind}"], "links": [], "vector": {"seed": 11, "basis": [f"kind:{kind}"]},
        "hidden": False, "kind": kind, "hits": 0, "lastHitSession": "", "createdAt": "2025-03-01T08:00:00.000Z",
        "updatedAt": "2025-03-02T08:00:00.000Z", "lastAccessedAt": "2025-03-02T08:00:00.000Z",
        "subject": "user:primary", "scope": "user", "type": kind, "source": "explicit_user", "confidence": 0.9,
        "stability": "durable",
    }  # fmt: skip
    return note | ({"sourceKey": title} if kind == "fact" else {}) | fields


def link(to: str, reason: str = "", at: str = "2025-03-03T08:00:00.000Z") -> Json:
    """A link as it stands on the note it leaves."""
    return {"to": to, "reason": reason, "createdAt": at}


def graph(notes: Sequence[Json], *, version: int | None = 3) -> Json:
    """A whole graph."""
    return ({} if version is None else {"version": version}) | {"notes": list(notes)}


def header(file: Json) -> Json:
    """What a file says beside its list of items."""
    return {name: value for name, value in file.items() if name not in ("facts", "notes")}


def parts(*files: Json) -> list[Json]:
    """The parts of an import of whole files in one request."""
    facts, graphs = [f for f in files if "facts" in f], [f for f in files if "notes" in f]
    graph_sources = [{"name": "graph.json", "header": header(file)} for file in graphs]
    found: list[Json] = [{"part": "nuggets", "items": [header(file) for file in facts]}] if facts else []
    for source, file in zip(graph_sources, graphs, strict=True):
        found.append({"part": "notes", "source": source, "items": file["notes"]})
    for file in facts:
        source = {"name": f"{file.get('name', 'x')}.nugget.json"[:255], "header": header(file)}
        found.append({"part": "facts", "source": source, "items": file["facts"]})
    for source, file in zip(graph_sources, graphs, strict=True):
        found.append({"part": "links", "source": source, "items": file["notes"]})
    return found


#: A small memory: a graph and two fact files, one of whose facts the graph has, too.
HOME: Mapping[str, Json] = {
    "work.nugget.json": fact_file(
        "work", [fact("project:deploy", "pnpm deploy", hits=4, session="s-9"), fact("colour", "green", hits=1)]
    ),
    "home.nugget.json": fact_file("home", [fact("kettle", "blue")], version=3, D=2048),
    "graph.json": graph([
        graph_note("fact-work-0000aaaa", "pnpm deploy", title="project:deploy", scope="project", type="project",
                   subject="shared:project", tags=["work", "scope:project", "type:project", "release"], hits=3,
                   lastHitSession="s-7", links=[link("note-work-0000bbbb", "both ship")]),
        graph_note("note-work-0000bbbb", "ship on\n\n\n\nfriday", title="Shipping", confidence=0.75,
                   source="agent_reflection", lastRewrittenAt="2025-03-02T07:00:00.000Z",
                   links=[link("fact-work-0000aaaa", "both ship")]),
        graph_note("note-work-0000cccc", "an old thought", hidden=True, archivedAt="2025-04-01T08:00:00.000Z"),
    ]),
}  # fmt: skip


def write_home(directory: Path, files: Mapping[str, Json] = HOME) -> Path:
    """Write files where Nuggets has them."""
    for name, content in files.items():
        path = directory / ("graph/graph.json" if name == "graph.json" else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return directory
