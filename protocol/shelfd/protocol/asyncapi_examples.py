"""Examples for the AsyncAPI document. A test holds every one of them against its model."""

from typing import Any, Final

Payload = dict[str, Any]

_ID: Final = "0197f0c2-7d3e-7c11-9d7e-3f1c2a4b5d6e"
_NOTE: Final[Payload] = {
    "id": "fact-home-1f0c33aa",
    "nugget": "home",
    "kind": "fact",
    "title": "kettle colour",
    "content": "green",
    "tags": ["home", "scope:shared", "type:fact"],
    "links": [],
    "hidden": False,
    "hits": 0,
    "last_hit_session": "",
    "subject": "",
    "scope": "shared",
    "type": "fact",
    "source": "inferred",
    "confidence": 0.6,
    "stability": "durable",
    "domain": "general",
    "tier": "B",
    "importance": 5,
    "access_count": 0,
    "created_at": "2026-01-31T09:00:00.000001Z",
    "updated_at": "2026-01-31T09:00:00.000001Z",
    "last_accessed_at": "2026-01-31T09:00:00.000001Z",
    "rev": 1,
}

#: By method, the payload of a request.
REQUESTS: Final[dict[str, Payload]] = {
    "remember": {
        "id": _ID,
        "params": {"content": "green", "key": "kettle colour", "nugget": "home"},
        "reply_to": "shelfd/v1/local/rep/agent/1",
    },
    "recall": {"id": 2, "params": {"query": "kettle colour", "k": 3}, "exp": "2026-01-31T09:00:30Z"},
    "forget": {"id": 3, "params": {"nugget": "home", "key": "kettle colour", "idempotency_key": "forget-kettle-1"}},
    "reflect": {"id": 4, "params": {"dry_run": True}, "reply_to": "shelfd/v1/local/rep/agent/1", "correlation": "a7"},
    "system.health": {"id": 5},
}

#: By method, the payload of a reply.
REPLIES: Final[dict[str, Payload]] = {
    "remember": {
        "jsonrpc": "2.0",
        "id": _ID,
        "result": {"note": _NOTE, "status": "created", "superseded": [], "conflicts": [], "pending": []},
    },
    "recall": {
        "jsonrpc": "2.0",
        "id": 2,
        "result": {
            "results": [
                {"note": _NOTE, "score": 0.93, "relevant": True, "vector_score": 0.0, "text_score": 0.93},
            ],
            "dropped": 0,
            "answer": {
                "found": True,
                "value": "green",
                "key": "kettle colour",
                "confidence": 1.0,
                "margin": 1.0,
                "nugget": "home",
                "note_id": "fact-home-1f0c33aa",
            },
            "intent": "factual",
            "abstained": False,
            "mode": "lexical",
            "index": {"state": "ready", "share": 1.0, "seq": 7},
            "took_ms": 0.8,
        },
    },
    "forget": {
        "jsonrpc": "2.0",
        "id": 3,
        "error": {
            "code": -32004,
            "message": "you may not write to this shelf",
            "data": {"type": "Forbidden", "retryable": False},
        },
    },
}

EVENT: Final[Payload] = {
    "specversion": "1.0",
    "id": "default:7",
    "source": "urn:shelfd:local:default",
    "type": "shelfd.note.created.v1",
    "subject": "fact-home-1f0c33aa",
    "time": "2026-01-31T09:00:00.000001Z",
    "seq": 7,
    "tx": 7,
    "tx_size": 1,
    "prev_seq": 6,
    "datacontenttype": "application/json",
    "data": {"nugget": "home", "kind": "fact", "title": "kettle colour"},
}

GAP: Final[Payload] = {
    "specversion": "1.0",
    "id": "default:gap:8-8",
    "source": "urn:shelfd:local:default",
    "type": "shelfd.events.gap.v1",
    "subject": "default",
    "time": "2026-01-31T09:00:01Z",
    "cause_seq": 8,
    "datacontenttype": "application/json",
    "data": {"from_seq": 8, "to_seq": 8, "reason": "too_large"},
}

STATUS: Final[tuple[Payload, ...]] = (
    {"state": "online", "instance": "local", "version": "0.1.0", "boot": "5f1c0a", "at": "2026-01-31T09:00:00Z"},
    {"state": "offline", "instance": "local", "version": "0.1.0", "boot": "5f1c0a", "reason": "connection lost"},
)

HEALTH: Final[Payload] = {
    "at": "2026-01-31T09:00:00Z",
    "status": "ok",
    "ready": True,
    "uptime_s": 3600.0,
    "connections": 1,
    "shelves": [{"shelf": "default", "state": "open", "index": "ready", "seq": 7}],
}
