"""What a note is about when the caller does not say: scope, subject, type, source, stability, confidence and tags.

The rules are Nuggets', read by whole tokens: "profile" is not about a file, "empathy" not about a path. Tokens are
runs of letters and digits of any script. Explicit input always wins; what a note already has is never inferred anew.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import isnan
from typing import NamedTuple

import numpy as np

from shelfd.memory.notes.latin import LETTERS, as_latin
from shelfd.memory.notes.word_numbers import WordNumbers

_TOKEN = re.compile(r"[^\W_]+")
_PATH = re.compile(r"\w/\w|^[~.]?/\w|\w\.[A-Za-z]\w{0,4}\b")
#: In running text, where "and/or" and "e.g." are no paths.
_FILE = re.compile(r"(?:^|[\s(\"'`])(?:~|\.{1,2})?/\w|\w/[\w.-]+/\w|\w{2,}\.[a-z]\w{0,4}\b(?!\.)")
_SCOPE_PREFIX = re.compile(r"^(self|user|shared|project|session):", re.IGNORECASE)

#: Own tags that say of which type a note is.
_TYPE_TAGS = frozenset({"preferences", "reflection"})
_NO_TAGS = frozenset[str]()
#: Content beyond this is not read for hints: what a note is about stands at its beginning.
_HINT_CHARACTERS = 2000

_VOICES = frozenset({"name", "style", "tone", "voice"})
#: In UTF-8, as are the words that they are looked for in.
_SHARED_HINTS = frozenset(
    b"shared server project workspace repo system status reaction tool command cmd path file edited task".split()
)
_SELF_HINTS = frozenset({b"assistant", b"self", b"identity", b"persona"})
_HINTS = _SHARED_HINTS | _SELF_HINTS
_SHARED, _SELF = 1, 2
_BY_HINTS = ("user", "shared", "self", "shared")
#: Latin text in lower case, with a blank for all that is in no token; letters beyond ASCII are in no hint.
_LOWER_WORDS = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else code if code in LETTERS else ord(" ")
    for code in range(256)
)
#: The one Latin letter that is two characters in small letters, of which one is in no token.
_DOTTED = "İ"
_LEARNING = frozenset({"learn", "learned", "learning", "learnings", "learnt"})
#: Not "temperature", "tempting" or "scratched".
_PASSING = re.compile(r"(?:tmp|temp|scratch)(?:files?|pads?)?(?![^\W\d_])", re.IGNORECASE)

_SUBJECTS = {
    "self": "assistant:self",
    "user": "user:primary",
    "session": "session:current",
    "shared": "shared:project",
    "project": "shared:project",
}
_CONFIDENCE = {
    "explicit_user": 1.0,
    "system": 1.0,
    "tool_observation": 0.98,
    "agent_reflection": 0.75,
    "inferred": 0.6,
}


class Traits(NamedTuple):
    """What is known of a note beside its text; None where it is to be inferred."""

    type: str | None = None
    subject: str | None = None
    scope: str | None = None
    source: str | None = None
    confidence: float | None = None
    stability: str | None = None


#: As of most notes.
NOTHING_KNOWN = Traits()


class KnownTraits(NamedTuple):
    """Traits with every gap filled."""

    type: str
    subject: str
    scope: str
    source: str
    confidence: float
    stability: str


def infer(
    kind: str, title: str, content: str, tags: tuple[str, ...], given: Traits, *, by_words: str | None = None
) -> KnownTraits:
    """Fill the gaps in *given* from a note's kind, title (a fact's key), content and own tags.

    Args:
        by_words: What :func:`scopes_by_words` says of the content and these tags, if it was asked.
    """
    if not title:
        return _infer_untitled(kind, content, tags, given, by_words)
    key = title.casefold()
    bare = _SCOPE_PREFIX.sub("", key)
    key_tokens = _TOKEN.findall(bare)
    scope = given.scope or _scope(key, key_tokens, content, tags)
    type_ = given.type or _type(kind, bare, key_tokens, tags, scope)
    source = given.source or _source(bare, type_, scope)
    confidence = _CONFIDENCE[source] if given.confidence is None else clamp(given.confidence)
    passing = scope == "session" or bare.startswith("_") or is_passing(title)
    stability = given.stability or ("temporary" if passing else "durable")
    return KnownTraits(type_, given.subject or _SUBJECTS[scope], scope, source, confidence, stability)


def _infer_untitled(
    kind: str, content: str, tags: tuple[str, ...], given: Traits, by_words: str | None = None
) -> KnownTraits:
    """The same without a title, as most notes come: there is no key to look at."""
    scope = given.scope or by_words or _scope_of_words(content, tags, ())
    if given is NOTHING_KNOWN or given == NOTHING_KNOWN:
        return untitled(kind, scope, tags)
    type_ = given.type or _type(kind, "", [], tags, scope)
    source = given.source or _source("", type_, scope)
    confidence = _CONFIDENCE[source] if given.confidence is None else clamp(given.confidence)
    stability = given.stability or ("temporary" if scope == "session" else "durable")
    return KnownTraits(type_, given.subject or _SUBJECTS[scope], scope, source, confidence, stability)


def untitled(kind: str, scope: str, tags: tuple[str, ...]) -> KnownTraits:
    """Return what :func:`infer` does of a note without a title of which nothing is known but its *scope* and tags."""
    return _untitled(kind, scope, _TYPE_TAGS.intersection(tags) if tags else _NO_TAGS)


@cache
def _untitled(kind: str, scope: str, tags: frozenset[str]) -> KnownTraits:
    return _infer_untitled(kind, "", tuple(tags), Traits(scope=scope))


def clamp(confidence: float) -> float:
    """Return *confidence* moved into 0 to 1.

    Raises:
        ValueError: If it is not a number.
    """
    if isnan(confidence):
        raise ValueError("confidence is not a number")
    return min(1.0, max(0.0, confidence))


def default_confidence(source: str) -> float:
    """Return the confidence of a note whose source is all that is known."""
    return _CONFIDENCE[source]


def title_tags(title: str) -> tuple[str, ...]:
    """Return the tags a title gives by itself."""
    if not title:
        return ()
    key = title.casefold()
    tokens = frozenset(_TOKEN.findall(key))
    found = (
        ("preferences", "pref:" in key),
        ("learnings", not tokens.isdisjoint(_LEARNING)),
        ("files", _PATH.search(title) is not None),
        ("reflection", bool(tokens & {"reflect", "reflection"})),
        ("style", "style" in tokens),
    )
    return tuple(tag for tag, holds in found if holds)


def is_passing(title: str) -> bool:
    """Return whether a title (a fact's key) says that it is for the moment only: "tmp-x", "user:scratchpad"."""
    return _PASSING.match(_SCOPE_PREFIX.sub("", title)) is not None


def mentions_path(text: str) -> bool:
    """Return whether *text* names a file or a path."""
    return _FILE.search(text) is not None


def _scope(key: str, key_tokens: list[str], content: str, tags: tuple[str, ...]) -> str:
    if key and (prefix := _SCOPE_PREFIX.match(key)):
        return prefix[1]
    if key.startswith("_"):
        return "shared"
    for first, second in pairwise(key_tokens):
        if second in _VOICES and first in ("assistant", "user"):
            return "self" if first == "assistant" else "user"
    return _scope_of_words(content, tags, key_tokens)


@cache
def _hints() -> WordNumbers:
    table = WordNumbers(0, is_rare=True)
    for words, of_scope in ((_SHARED_HINTS, _SHARED), (_SELF_HINTS, _SELF)):
        table.add(list(words), [of_scope] * len(words))
    return table


def scopes_by_words(notes: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the scopes of some notes without titles by what is said in their contents and own tags: all at once."""
    plain = [_plain(_hinting(content, tags)) for content, tags in notes]
    begins, _, hints = _hints().find(b" ".join([text or b"" for text in plain]).translate(_LOWER_WORDS))
    (at,) = hints.nonzero()
    edges = (np.array([len(text or b"") for text in plain], np.int64) + 1).cumsum()
    found = np.zeros(len(plain), np.int64)
    np.bitwise_or.at(found, edges.searchsorted(begins[at], "right"), hints[at])
    scopes = [_BY_HINTS[hint] for hint in found.tolist()]
    return [
        _scope_of_words(content, tuple(tags), ()) if text is None else scope
        for scope, text, (content, tags) in zip(scopes, plain, notes, strict=True)
    ]


def _plain(text: str) -> bytes | None:
    """A text as Latin bytes of which each letter stands for itself; None if that cannot be said of it."""
    if text.isascii():
        return text.encode()
    return None if _DOTTED in text else as_latin(text.replace("ß", "ss"))  # as it is without differences of case


def _hinting(content: str, words: Sequence[str]) -> str:
    """What of a note is read for hints."""
    hinting = content if len(content) <= _HINT_CHARACTERS else content[:_HINT_CHARACTERS]
    return "\n".join((hinting, *words)) if words else hinting


def _scope_of_words(content: str, tags: tuple[str, ...], key_tokens: Sequence[str]) -> str:
    hinting = _hinting(content, (*tags, *key_tokens))
    if hinting.isascii():
        words = _HINTS.intersection(hinting.encode().translate(_LOWER_WORDS).split())
    else:
        tokens = _TOKEN.findall(hinting.casefold())
        words = _HINTS.intersection([token.encode() for token in tokens if token.isascii()])
    if not words:
        return "user"  # nearly always
    if not _SHARED_HINTS.isdisjoint(words):
        return "project" if "project" in key_tokens else "shared"
    return "user" if _SELF_HINTS.isdisjoint(words) else "self"


def _type(kind: str, bare: str, key_tokens: list[str], tags: tuple[str, ...], scope: str) -> str:
    if "preferences" in tags or bare.startswith("pref:") or ":pref:" in bare:
        return "preference"
    if "reflection" in tags or bare.startswith("reflect:") or ":reflect:" in bare:
        return "reflection"
    if scope == "self":
        return "style" if "style" in key_tokens else "self_model"
    return "project" if scope == "project" else kind


def _source(bare: str, type_: str, scope: str) -> str:
    if bare.startswith(("file:", "edited:")) or ":file:" in bare or ":edited:" in bare:
        return "tool_observation"
    if type_ in ("reflection", "self_model", "style"):
        return "agent_reflection" if scope == "self" else "inferred"
    return "explicit_user"
