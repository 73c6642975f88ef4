"""Events: the change log published as CloudEvents."""

from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.log.history import changed_values
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.watching import WATCH_MATCHED, WatchMatch
from shelfd.memory.settings import EventContent
from shelfd.protocol import from_micros

#: Beginnings of the kinds of changes that are about a conversation.
_OF_SESSIONS: Final = ("session.", "context.")
#: Kinds of changes of which an event tells what the log does.
_AS_LOGGED: Final = frozenset(
    {"nugget.renamed", "schedule.missed", "reflection.undone", "alias.added", "alias.removed"}
)


def render_event(row: LogRow, note: Note | None, *, shelf: str, instance: str, content: EventContent) -> dict[str, Any]:
    """Return one change as a CloudEvent, with its *note* as it was right after that change.

    ``prev_seq`` is 0; the component that delivers the event fills it in.
    """
    subject = row.ids[0] if row.ids else (row.nugget or shelf)
    if row.kind.startswith(_OF_SESSIONS) and row.origin.session_id is not None:
        subject = row.origin.session_id
    return {
        "specversion": "1.0",
        "id": f"{shelf}:{row.seq}",
        "source": f"urn:shelfd:{instance}:{shelf}",
        "type": f"shelfd.{row.kind}.v1",
        "subject": subject,
        "time": from_micros(row.at),
        "seq": row.seq,
        "tx": row.tx,
        "tx_size": row.tx_size,
        "prev_seq": 0,
        "datacontenttype": "application/json",
        "data": _data(row, note, content),
    }


def render_match(
    match: WatchMatch, row: LogRow, note: Note | None, *, shelf: str, instance: str, content: EventContent
) -> dict[str, Any]:
    """Return as a CloudEvent that a change brought a *note*, as it is now, into the results of a standing query."""
    data: dict[str, Any] = {
        "nugget": row.nugget,
        "ids": [match.note],
        "id": match.note,
        "watch": match.watch,
        "principal": match.principal,
        "relevance": round(match.relevance, 6),
    }
    return {
        "specversion": "1.0",
        "id": f"{shelf}:{row.seq}:{match.watch}",
        "source": f"urn:shelfd:{instance}:{shelf}",
        "type": f"shelfd.{WATCH_MATCHED}.v1",
        "subject": match.watch,
        "time": from_micros(row.at),
        "cause_seq": row.seq,
        "datacontenttype": "application/json",
        "data": data if note is None else data | _about(note, content),
    }


def _data(row: LogRow, note: Note | None, content: EventContent) -> dict[str, Any]:
    data: dict[str, Any] = {"nugget": row.nugget, "ids": list(row.ids), "principal": row.origin.principal}
    if row.origin.session_id is not None:
        data["session_id"] = row.origin.session_id
    if row.origin.run_id is not None:
        data["run_id"] = row.origin.run_id
    if row.kind.startswith("note."):
        data |= _about_note(row, note, content)
    elif row.kind.startswith("link."):
        data |= {"source": row.ids[0], "target": row.ids[1], **_about_link(row.before or {})}
    elif row.kind == "nugget.updated" and row.before:
        data["changed"] = sorted(row.before["new"])
    elif row.kind.startswith(_OF_SESSIONS):
        data |= {} if row.origin.turn is None else {"turn": row.origin.turn}
        data |= row.before or {}
    elif row.kind.startswith("conflict."):
        data |= {name: value for name, value in (row.before or {}).items() if value is not None}
    elif row.kind in _AS_LOGGED and row.before:
        data |= row.before
    elif row.kind == "promotion.completed" and row.before:
        data |= {"run_id": row.origin.run_id, **row.before}
    elif row.kind == "reflection.completed" and row.before:
        data |= row.before.get("counts", {})
    return data


def _about_note(row: LogRow, note: Note | None, content: EventContent) -> dict[str, Any]:
    data: dict[str, Any] = {"id": row.ids[0]}
    if row.kind == "note.expired" and row.before:
        data["expires_at"] = from_micros(row.before["expires_at"])
    if note is None:
        return data
    if row.before:
        names = changed_values(row.before, note)
        data["changed"] = sorted("hidden" if name == "archived_at" else name for name in names)
    data |= _about(note, content)
    if row.kind == "note.promoted" and (at := note.extra.promoted_at) is not None:
        data["promoted_at"] = from_micros(at)
    return data


def _about_link(before: Mapping[str, Any]) -> dict[str, Any]:
    """A link's relation, and of one that was there already the names of what it says differently now."""
    if "link" not in before:  # a purge takes it away
        return {}
    link, old = before["link"], before.get("old")
    about: dict[str, Any] = {"relation": link[2]}
    if old is not None:
        about["changed"] = sorted(
            name for name, was, now in zip(Link._fields, Link(*old), Link(*link), strict=True) if was != now
        )
    return about


def _about(note: Note, content: EventContent) -> dict[str, Any]:
    about: dict[str, Any] = {
        "kind": note.kind,
        "type": note.type,
        "scope": note.scope,
        "rev": note.rev,
        "hidden": note.hidden,
    }
    if note.extra.trust is not None:
        about["trust"] = note.extra.trust
    if note.quarantined:
        return about  # whoever follows may be the one to whom it gives orders
    if content != "none":
        about["title"] = note.title
    if content == "full":
        about["content"] = note.content
    return about
