"""Notes as JSON on their way into a reply of recall.

What follows from a note alone was written when it was found before: ten notes of every recall are put in as they are,
with what their links and their use say.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from shelfd.memory.encoded import EncodedResult
from shelfd.memory.methods.found import Found
from shelfd.memory.methods.render import NoteRenderer, link_of_note, unused_view
from shelfd.memory.notes.note import Note
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros

_NO_LINKS: Final = b"[]"
_NO_SESSION: Final = b'""'
#: Where a hit's note belongs. In a string every quotation mark has a backslash before it, so this stands nowhere else.
_NOTE: Final = b'{"note":null,'


class _Template(NamedTuple):
    """A note as JSON, with places for links, hits, the session of the last one, accesses and the last access."""

    text: bytes
    created: bytes  #: when it was made, which is the last access to a note that was never used


def encoded_with(result: Mapping[str, Any], notes: Sequence[bytes]) -> EncodedResult:
    """Return *result* as JSON. The dictionaries in it that begin with a ``note`` of None get these, in their order."""
    first, *others = to_json(result, inf_nan_mode="null").split(_NOTE)
    parts = [first]
    for note, rest in zip(notes, others, strict=True):
        parts += (b'{"note":', note, b",", rest)
    return EncodedResult(b"".join(parts))


def written(shelf: Shelf, found: Sequence[Found], *, full: bool, max_content_chars: int | None) -> list[bytes]:
    """Return the notes that were found as JSON, the content of each cut at a word if it is longer.

    Args:
        shelf: Theirs.
        found: With the links that leave them.
        full: Whether to tell what others say of a note.
        max_content_chars: Of the content.
    """
    usage = shelf.usage.of([item.note for item in found])
    render = NoteRenderer(shelf.view, usage, {item.note.id: item.links for item in found}, full=full)
    use_of, rendered = usage.get, shelf.hot.rendered
    session, session_json, moment, moment_text = "", _NO_SESSION, 0, b""  # of most notes of a reply they are the same
    notes: list[bytes] = []
    for item in found:
        note = item.note
        if full or (max_content_chars is not None and len(note.content) > max_content_chars):
            notes.append(to_json(render(note, max_content_chars), inf_nan_mode="null"))
            continue
        text, accessed = rendered(note, _template)
        links = to_json([link_of_note(link) for link in item.links]) if item.links else _NO_LINKS
        use = use_of(note.row)
        if use is None:
            notes.append(text % (links, 0, _NO_SESSION, 0, accessed))
            continue
        if use.last_hit_session != session:
            session, session_json = use.last_hit_session, to_json(use.last_hit_session)
        if use.last_accessed_at > note.created_at:
            if use.last_accessed_at != moment:
                moment, moment_text = use.last_accessed_at, from_micros(use.last_accessed_at).encode()
            accessed = moment_text
        notes.append(text % (links, use.hits, session_json, use.access_count, accessed))
    return notes


def _template(note: Note) -> _Template:
    view = unused_view(note)
    created = view["last_accessed_at"].encode()
    text = to_json(view, inf_nan_mode="null").replace(b"%", b"%%")
    # What callers may have named is behind all of these, and in a string a quotation mark has a backslash before it.
    for unused, place in (
        (b'"links":[],', b'"links":%b,'),
        (b'"hits":0,"last_hit_session":"",', b'"hits":%d,"last_hit_session":%b,'),
        (b'"access_count":0,', b'"access_count":%d,'),
        (b'"last_accessed_at":"%b"' % created, b'"last_accessed_at":"%b"'),
    ):
        text = text.replace(unused, place, 1)
    return _Template(text, created)
