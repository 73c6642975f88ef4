"""What the recall index is told of a note, and whether a filter lets a note through."""

from shelfd.memory.note import Note
from shelfd.memory.recall import Document, Filters


def document_of(note: Note) -> Document:
    """Return *note* as recall indexes it: title, aliases, own tags and content are its text."""
    parts = [note.title] if note.title else []
    if aliases := note.extra.get("aliases"):
        parts.extend(aliases)
    if note.tags:
        parts.append(" ".join(note.tags))
    parts.append(note.content)
    return Document(
        row=note.row,
        id=note.id,
        nugget=note.nugget,
        session=note.session_id,
        turn=note.turn,
        author=note.author,
        when=note.when,
        text="\n".join(parts) if len(parts) > 1 else note.content,
        kind=note.kind,
        type=note.type,
        subject=note.subject,
        scope=note.scope,
        domain=note.domain,
        tags=note.all_tags,
        hidden=note.archived_at is not None,
        superseded=note.superseded_by is not None,
        expires_at=note.expires_at,
    )


def admits(filters: Filters, note: Note) -> bool:
    """Return whether *note* may be returned under *filters*; the index asks the same of its columns."""
    wanted = (
        (filters.nugget, note.nugget),
        (filters.domain, note.domain),
        (filters.scope, note.scope),
        (filters.type, note.type),
        (filters.subject, note.subject),
        (filters.author, note.author),
    )
    if any(want is not None and want != have for want, have in wanted):
        return False
    if note.hidden and not filters.include_hidden:
        return False
    if note.superseded_by is not None and not filters.include_superseded:
        return False
    if note.expires_at is not None and note.expires_at <= filters.now and not filters.include_expired:
        return False
    if filters.since is not None and note.when < filters.since:
        return False
    if note.scope == "session" and note.session_id is not None and filters.scope != "session":
        return note.session_id == filters.session and set(filters.tags) <= set(note.all_tags)
    return set(filters.tags) <= set(note.all_tags)
