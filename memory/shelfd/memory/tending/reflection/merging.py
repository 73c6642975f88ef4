"""Step: merge two notes that say the same.

The longer one stays and takes over what only the other says, its tags and links. The other is hidden, with a link to
it, and keeps everything it has.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from math import ceil
from typing import Any, Final

from shelfd.memory.notes.note import MEMORY_TYPES, MERGED_INTO, Link, Note, Provenance, fold_key
from shelfd.memory.ports.view import View
from shelfd.memory.tending.reflection.action import Action, Revision
from shelfd.memory.tending.reflection.differing import differ
from shelfd.memory.tending.reflection.normalising import is_laid_out, rewritten
from shelfd.memory.tending.reflection.picture import LONGEST, Picture
from shelfd.memory.tending.reflection.step import Planning, Step
from shelfd.memory.tending.reflection.words import jaccard, words_of

_ALIKE: Final = 0.9  # share of their words that two notes must have in common
_MORE_TERMS: Final = 4  # beyond the fewest that find every note that is alike
_TRIED: Final = 16  # notes tried for each
_LINKS: Final = 1000  # links read at once; reflection lets a note take over no more
#: Fields in which notes of different things differ although they read the same.
_SAME: Final = "nugget kind subject scope type parent_id valid_from valid_to".split()
#: Who said it, in which field, when; and the default of each.
_SAID: Final = {"author": None, "domain": "general", "occurred_at": None}


def plan(picture: Picture) -> Planning[None]:
    """Merge each note with those it is alike to."""
    merged = 0
    for number, note_id in enumerate(picture.looked):
        note = picture.live(note_id)
        if note is None or not _is_mergeable(note):
            yield None
            continue
        words = frozenset(words_of(note.content))
        for other_id in _alike(picture, note, words):
            if merged >= picture.limit:
                picture.left.update(picture.looked[number:])
                return
            action = _merge(picture, picture.live(note_id), picture.live(other_id))
            merged += action is not None
            yield action
        yield None


def _is_mergeable(note: Note) -> bool:
    """Whether *note* may be part of a merge.

    A fact's value belongs to its key, and what a rollup says to the notes it represents, whatever else says the same.
    """
    return note.kind == "note" and not note.extra.is_rollup and len(note.content) <= LONGEST


def _alike(picture: Picture, note: Note, words: frozenset[str]) -> Sequence[str]:
    """Notes that may be alike: of any so many words, one that is alike has all but a few."""
    if not words:
        return ()
    missing = len(words) - ceil(_ALIKE * len(words))
    return picture.near(note, words, terms=missing + _MORE_TERMS, missing=missing, limit=_TRIED)


def _merge(picture: Picture, note: Note | None, other: Note | None) -> Action | None:
    if note is None or other is None or not _is_mergeable(other) or not says_the_same(note, other, picture.stop):
        return None
    if not picture.may_meet(note, other):
        return None
    target, source = sorted((note, other), key=lambda one: (-len(one.content), one.created_at, one.row))
    if source.pinned:
        return None
    merged = absorb(target, source, picture)
    if merged is None:
        return None
    hidden = source._replace(archived_at=picture.now)
    return Action(
        type="merge",
        note=target,
        other=source,
        detail=f"Merged duplicate note {source.id}",
        revisions=(Revision(target, merged, "note.merged"), Revision(source, hidden, "note.hidden")),
        links=(
            Link(source.id, target.id, MERGED_INTO, "", picture.now),
            *islice(inherited(picture.view, target, source, picture.now), _LINKS),
        ),
    )


def says_the_same(one: Note, other: Note, stop: frozenset[str]) -> bool:
    """Return whether two notes are alike, and differ in nothing that matters."""
    if any(getattr(one, name) != getattr(other, name) for name in _SAME) or _said_apart(one, other):
        return False
    if (one.expires_at is None) != (other.expires_at is None) or _columns(one) != _columns(other):
        return False
    if one.content != other.content and jaccard(words_of(one.content), words_of(other.content)) < _ALIKE:
        return False
    if one.extra.source_span != other.extra.source_span or not _have_one_name(one, other):
        return False
    own, others = frozenset(words_of(one.title)), frozenset(words_of(other.title))
    if own - others and others - own:
        return False  # each title names something else
    return not differ(one.content, other.content, stop) and not differ(one.title, other.title, stop)


def _have_one_name(one: Note, other: Note) -> bool:
    """Whether two notes go by the same title, if it is by that that notes of their type are told apart."""
    return one.type in MEMORY_TYPES or fold_key(one.title) == fold_key(other.title)


def _said_apart(one: Note, other: Note) -> bool:
    """Whether it matters who said the two, in which field, or when.

    What happened, or was said in a conversation, is distinguished by all of that: "took 5 mg" of two days is two. Equal
    texts that are neither differ only where both say something.
    """
    apart = [name for name in _SAID if getattr(one, name) != getattr(other, name)]
    if not apart or one.content != other.content or _is_of_a_moment(one) or _is_of_a_moment(other):
        return bool(apart)
    return any(_SAID[name] not in (getattr(one, name), getattr(other, name)) for name in apart)


def _is_of_a_moment(note: Note) -> bool:
    """Whether *note* is an event, was said in a turn of a conversation, or was given its date."""
    return note.type == "event" or note.turn is not None or note.occurred_at is not None


def _columns(note: Note) -> tuple[Any, ...]:
    """Fields of a typed note beside the summary, which is its content."""
    fields = {name: value for name, value in note.extra.fields.items() if name != "summary"}
    return fields, note.extra.rendered


def absorb(target: Note, source: Note, picture: Picture) -> Note | None:
    """Return *target* with what only *source* says; None if that cannot be put together."""
    limits = picture.limits
    lines = missing_lines(target.content, source.content)
    content = "\n".join([target.content, *lines])
    if lines and (
        target.extra.rendered
        or is_laid_out(source.content)
        or is_laid_out(target.content)
        or len(content.encode()) > limits.content_bytes
    ):
        return None
    names, tags = names_of_both(target, source), tags_of_both(target, source)
    said = {name: getattr(source, name) for name, unsaid in _SAID.items() if getattr(target, name) == unsaid}
    target = target._replace(**said)
    return united(
        target,
        source,
        content,
        aliases=names[: max(limits.aliases_count, len(target.extra.aliases))],
        tags=tags if len(tags) <= max(limits.tags_count, len(target.tags)) else target.tags,
        now=picture.now,
    )


def united(target: Note, source: Note, content: str, *, aliases: Sequence[str], tags: Sequence[str], now: int) -> Note:
    """Return *target* as it is once *source* was merged into it, with what it has from whom.

    Args:
        content: What both say.
        aliases: The names it goes by from then on.
        tags: Its own tags from then on.
        now: Microseconds.
    """
    lines = missing_lines(target.content, source.content)
    merged = target._replace(title=target.title or source.title, tags=tuple(tags))
    own = {*target.tags, *target.extra.aliases, target.title}
    names = [name for name in dict.fromkeys((merged.title, *aliases, *tags)) if name not in own]
    provenance = _provenance(target, source, lines, names)
    merged = merged._replace(
        extra=target.extra._replace(provenance=provenance, aliases=tuple(aliases) or target.extra.aliases)
    )
    if lines:
        merged = rewritten(merged, content, now)
    if target.expires_at is not None and source.expires_at is not None:
        merged = merged._replace(expires_at=max(target.expires_at, source.expires_at))
    return merged


def missing_lines(target: str, source: str) -> list[str]:
    """Return the lines of *source* that *target* does not have, whatever the blanks in them."""
    there = {" ".join(line.split()) for line in target.split("\n")}
    return [line for line in source.split("\n") if line.strip() and " ".join(line.split()) not in there]


def names_of_both(target: Note, source: Note) -> list[str]:
    """Return the aliases of both, the target's first; the other's title becomes one."""
    own = target.extra.aliases
    known = {fold_key(name) for name in (*own, target.title or source.title)}
    others = {fold_key(name): name for name in (source.title, *source.extra.aliases) if name}
    return [*own, *(name for folded, name in others.items() if folded not in known)]


def tags_of_both(target: Note, source: Note) -> tuple[str, ...]:
    """Return the own tags of both, but for those that a caller removed from the target."""
    dropped = target.extra.dropped_tags
    return tuple(dict.fromkeys((*target.tags, *(tag for tag in source.tags if tag not in dropped))))


def _provenance(target: Note, source: Note, lines: Iterable[str], names: Iterable[str]) -> tuple[Provenance, ...]:
    """What came from which note, by fingerprints; what the source got from others stays marked as theirs."""
    fresh = Provenance(source.id, tuple(map(fingerprint, lines)), tuple(map(fingerprint, names)))
    found = list(target.extra.provenance)
    for entry in source.extra.provenance:
        theirs = fresh.shared_with(entry)
        fresh = fresh.without(theirs)
        if theirs.lines or theirs.names:
            found.append(theirs)
    return (*found, fresh)


def fingerprint(line: str) -> str:
    """Return by what a line, title, alias or tag is known in ``provenance``, which so holds no text."""
    return sha256(line.encode()).hexdigest()[:16]


def inherited(view: View, target: Note, source: Note, now: int) -> Iterator[Link]:
    """Yield the links of *source*, in both directions, as links of *target*, in the order they were made."""
    after = 0
    while rows := view.links.page(note_id=source.id, relation=None, after=after, limit=_LINKS):
        for _, link in rows:
            if target.id not in (link.source, link.target) and link.relation != MERGED_INTO:
                moved = link._replace(created_at=now)
                ends_here = link.target == source.id
                yield moved._replace(target=target.id) if ends_here else moved._replace(source=target.id)
        after = rows[-1][0]


MERGE: Final = Step("merge", plan, _merge)
