"""What a request that asks for another time reads: which change of the log it means, and the shelf as it was then."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from shelfd.memory.errors import HistoryTrimmed, InvalidParams, NoteNotFound, NotFound
from shelfd.memory.log.history import as_known, last_change_until, links_then
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.storing import get_note
from shelfd.protocol.methods.notes import NoteGetParams
from shelfd.protocol.moments import WireMoment


class LogMoment(NamedTuple):
    """A moment of a shelf's log."""

    seq: int  #: the last change that was made by then
    at: int  #: microseconds since 1970 UTC


def known_moment(view: View, wanted: WireMoment, now: int) -> LogMoment:
    """Return which moment of the log is *wanted*; a time to come is *now*.

    Raises:
        HistoryTrimmed: If the log no longer reaches back this far.
        InvalidParams: If it names a change that is still to come.
    """
    log = view.log
    first, last = log.first_seq, log.last_seq
    if wanted.seq is None:
        at = min(wanted.at or 0, now)
        seq = last_change_until(view, at)
    else:
        seq, at = wanted.seq, now
        if seq > last:
            raise InvalidParams(f"known_at: the last change is {last}", field="known_at", last_seq=last)
        if seq < last and (rows := log.page(since_seq=max(seq, first) - 1, limit=1)):
            at = rows[0].at
    if first > 1 and (seq < first - 1 or (wanted.seq is None and seq < first)):
        raise HistoryTrimmed(f"known_at: the change log begins at {first}", field="known_at", first_seq=first)
    return LogMoment(seq, at)


def note_then(shelf: Shelf, params: NoteGetParams) -> tuple[Note, dict[str, list[Link]], dict[str, Any]]:
    """Return a note at another time: what it said, its links, and what the reply says of the history.

    Raises:
        NoteNotFound: If there was none, or what it says does not hold then.
        HistoryTrimmed: If the log no longer reaches back this far.
    """
    view, redacted = shelf.view, {}
    note = get_note(view, params.id)
    links: Sequence[Link] = view.links.leaving([note.id])[note.id]
    if params.known_at is not None:
        moment = known_moment(view, params.known_at, shelf.clock.now())
        known = as_known(view, params.id, moment.seq)
        if known is None:
            raise NoteNotFound(params.id)
        note = known.note
        links = links_then(view, note.id, links, moment.seq)
        redacted = {"redacted": True} if known.is_redacted else {}
    if params.as_of is not None:
        if not note.holds(params.as_of):
            raise NotFound("what the note says does not hold at as_of", id=note.id, field="as_of")
        links = [link for link in links if link.holds(params.as_of)]
    return note, {note.id: list(links)}, redacted
