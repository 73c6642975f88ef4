"""Use case: merge two notes on request.

Reflection merges only what says the same. Here the caller has decided: the two may say different things, and the
target says all of it afterwards. What would lose something is refused.
"""

import re
from typing import Final

from shelfd.memory.call import Call
from shelfd.memory.errors import NotMergeable, TooLarge
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.notes import show_changed
from shelfd.memory.methods.registry import change
from shelfd.memory.notes.note import MERGED_INTO, Link, Note
from shelfd.memory.shelf.storing import connect, get_note, too_many
from shelfd.memory.tending.reflection.merging import inherited, missing_lines, names_of_both, tags_of_both, united
from shelfd.protocol import Limits
from shelfd.protocol.methods.graph import NoteMergeParams

#: Lines that mean something only with those around them: fences and what is indented, tables, quotations.
_IN_A_BLOCK: Final = re.compile(r" {0,3}(```|~~~)|[ \t]+\S|[|>]|.*\|.*\|")


@change("note.merge", render=show_changed)
def merge(tx: Transaction, params: NoteMergeParams, call: Call) -> Outcome:
    """Merge one note into another and hide it; repeating that changes nothing.

    Raises:
        NotMergeable: If one of them is hidden, or something would be lost.
        TooLarge: If the two together are longer than a note may be.
        InvalidParams: If they have more tags, aliases or links together than a note may.
    """
    target, source = get_note(tx.rows, params.target), get_note(tx.rows, params.source)
    if source.hidden and tx.rows.links.get(source.id, target.id, MERGED_INTO) is not None:
        return {"id": target.id, "changed": False}
    _check_sight(target, "target", tx.now)
    _check_sight(source, "source", tx.now)
    _check_pair(target, source)
    stored = tx.change_note(target, _merged(target, source, tx.now, call.limits), kind="note.merged")
    tx.hide(source)
    tx.put_link(Link(source.id, target.id, MERGED_INTO, "", tx.now), source.nugget)
    _inherit_links(tx, target, source, call.limits)
    return {"id": stored.id, "changed": True}


def _check_sight(note: Note, param: str, now: int) -> None:
    if note.hidden:
        raise NotMergeable(f"the {param} is hidden; note.restore brings it back", field=param, reason="HIDDEN")
    if note.superseded_by is not None:
        raise NotMergeable(f"the {param} was replaced by another note", field=param, reason="SUPERSEDED")
    if note.quarantined:
        raise NotMergeable(f"the {param} is quarantined; note.release lets it out", field=param, reason="QUARANTINED")
    if note.expires_at is not None and note.expires_at <= now:
        raise NotMergeable(f"the {param} has expired", field=param, reason="EXPIRED")


def _check_pair(target: Note, source: Note) -> None:
    if target.nugget != source.nugget:
        text = f"the notes are in different nuggets, {target.nugget!r} and {source.nugget!r}; note.move brings one over"
        raise NotMergeable(text, field="source", reason="OTHER_NUGGET")
    session_ids = {note.session_id for note in (target, source)}
    if "session" in (target.scope, source.scope) and (target.scope != source.scope or len(session_ids) > 1):
        text = "one of the notes belongs to a session alone, and the other does not belong to it"
        raise NotMergeable(text, field="source", reason="OTHER_SESSION")
    if source.kind == "fact":
        # Its key would no longer answer: in one nugget, no two facts have the same.
        text = "the source is a fact, whose key would no longer answer; forget it, or merge a note into it"
        raise NotMergeable(text, field="source", reason="OTHER_KEY")


def _merged(target: Note, source: Note, now: int, limits: Limits) -> Note:
    lines = missing_lines(target.content, source.content)
    content = _joined(target.content, source.content, lines)
    if len(content.encode()) > limits.content_bytes:
        limit = limits.content_bytes
        raise TooLarge(f"content: the two together are larger than {limit} bytes", field="content", limit=limit)
    names, tags = names_of_both(target, source), tags_of_both(target, source)
    if len(names) > max(limits.aliases_count, len(target.extra.aliases)):
        raise too_many("aliases", "aliases", limits.aliases_count)
    if len(tags) > max(limits.tags_count, len(target.tags)):
        raise too_many("tags", "own tags", limits.tags_count)
    merged = united(target, source, content, aliases=names, tags=tags, now=now)
    merged = merged._replace(pinned=target.pinned or source.pinned)
    extra = merged.extra
    if lines:
        extra = extra._replace(rendered=False)  # it says more than its fields now
    if source.expires_at is None and target.expires_at is not None:
        merged = merged._replace(expires_at=None)  # what was to stay must not go with the rest
        extra = extra._replace(ttl_days=None)
    return merged._replace(extra=extra)


def _joined(target: str, source: str, lines: list[str]) -> str:
    """Both texts in one: line by line, or one after the other where lines depend on those around them."""
    if not lines:
        return target
    if any(_IN_A_BLOCK.match(line) for line in f"{target}\n{source}".split("\n")):
        return f"{target}\n\n{source}"
    return "\n".join([target, *lines])


def _inherit_links(tx: Transaction, target: Note, source: Note, limits: Limits) -> None:
    """Give the target the source's links in both directions; those it has already stay as they are."""
    for link in inherited(tx.rows, target, source, tx.now):
        begins = target if link.source == target.id else tx.rows.notes.get(link.source)
        if begins is not None and tx.rows.links.get(link.source, link.target, link.relation) is None:
            connect(tx, link, begins.nugget, limits)
