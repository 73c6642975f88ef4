"""Results as JSON on their way into a reply of recall.

What follows from a note alone was written when it was found before: ten notes of every recall are put in as they are,
with what their links and their use say.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from shelfd.memory.methods.found import Found
from shelfd.memory.methods.render import NoteRenderer, link_of_note, unused_view
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros

_NO_LINKS: Final = b"[]"
_NO_SESSION: Final = b'""'
_NEVER_USED: Final = Usage()
_BOOLS: Final = (b"false", b"true")
#: What stands around a note; its places are filled in together with those of the note.
_HIT: Final = b'{"note":%b,"score":%%b,"relevant":%%b,"vector_score":%%b,"text_score":%%b%%b}'


class _Template(NamedTuple):
    """A result as JSON, with places for what is not said of its note alone.

    These are links, hits, the session of the last one, accesses and the last access of the note; then its scores.
    """

    text: bytes
    created: bytes  #: when the note was made, which is the last access to one that was never used


def hits_written(
    shelf: Shelf,
    found: Sequence[Found],
    *,
    full: bool,
    max_content_chars: int | None,
    explain: bool,
    redacted: Collection[str] = (),
) -> list[bytes]:
    """Return results as JSON.

    Args:
        shelf: Theirs.
        found: With the links that leave them.
        full: Whether to tell what others say of a note.
        max_content_chars: Of the content, which is cut at a word if it is longer.
        explain: Whether to say what led to a result.
        redacted: Ids of notes of whose history a purge took something.
    """
    if not found:
        return []
    usage = shelf.usage.of([item.note for item in found])
    use_of, rendered = usage.get, shelf.hot.rendered
    scores = [round(item.score, 6) for item in found]
    texts = to_json(scores, inf_nan_mode="null")[1:-1].split(b",")
    session, session_json = "", _NO_SESSION  # of most notes of a reply it is the same
    hits: list[bytes] = []
    for item, score, text in zip(found, scores, texts, strict=True):
        note = item.note
        dense, words = (b"0.0", text) if "dense" not in item.signals else _shares(item.signals["dense"], score)
        more = b""
        if explain or item.via is not None or item.collapsed or item.conflicts or (redacted and note.id in redacted):
            more = _more(item, explain=explain, redacted=note.id in redacted)
        if full or (max_content_chars is not None and len(note.content) > max_content_chars):
            render = NoteRenderer(shelf.view, usage, {note.id: item.links}, full=full)
            shown = to_json(render(note, max_content_chars), inf_nan_mode="null").replace(b"%", b"%%")
            hits.append(_HIT % shown % (text, _BOOLS[item.relevant], dense, words, more))
            continue
        template, accessed = rendered(note, _template)
        links = to_json([link_of_note(link) for link in item.links]) if item.links else _NO_LINKS
        count, accesses, last, by = use_of(note.row) or _NEVER_USED
        if by != session:
            session, session_json = by, to_json(by)
        if last > note.created_at:
            accessed = _moment(last)
        counted, accesses_said = b"%d" % count, b"%d" % accesses  # which takes a third of what it does among others
        hits.append(
            template
            % (links, counted, session_json, accesses_said, accessed, text, _BOOLS[item.relevant], dense, words, more)
        )
    return hits


@lru_cache(maxsize=4096)
def _moment(micros: int) -> bytes:
    """Return a time as it goes over the wire: notes that were found together have one in common from then on."""
    return from_micros(micros).encode()


def _shares(dense: float, score: float) -> tuple[bytes, bytes]:
    """Return which share of a score meaning has, and which words have."""
    share = round(min(max(dense, 0.0), score), 6)
    return to_json(share), to_json(round(score - share, 6))


def _more(item: Found, *, explain: bool, redacted: bool) -> bytes:
    """Return what is said of some results only, after all else."""
    hit: dict[str, Any] = {}
    if item.via is not None:
        hit["via"] = item.via
    if item.collapsed:
        hit["collapsed"] = list(item.collapsed)
    if item.conflicts:
        hit["conflicts"] = list(item.conflicts)
    if explain:
        hit["signals"] = {name: round(value, 6) + 0.0 for name, value in item.signals.items()}
        hit |= {"coverage": round(item.coverage, 6), "relevance": round(item.relevance, 6)}
        if item.order is not None:
            hit["order"] = {name: round(value, 6) for name, value in item.order.items()}
    if redacted:
        hit["redacted"] = True
    return b"," + to_json(hit, inf_nan_mode="null")[1:-1]


def _template(note: Note) -> _Template:
    view = unused_view(note)
    created = view["last_accessed_at"].encode()
    text = to_json(view, inf_nan_mode="null").replace(b"%", b"%%")
    # What callers may have named is behind all of these, and in a string a quotation mark has a backslash before it.
    for unused, place in (
        (b'"links":[],', b'"links":%b,'),
        (b'"hits":0,"last_hit_session":"",', b'"hits":%b,"last_hit_session":%b,'),
        (b'"access_count":0,', b'"access_count":%b,'),
        (b'"last_accessed_at":"%b"' % created, b'"last_accessed_at":"%b"'),
    ):
        text = text.replace(unused, place, 1)
    return _Template(_HIT % text, created)
