"""What kind of question a query is, by words that show it, and what counts for each kind."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from shelfd.memory.notes.words import letters

Intent: TypeAlias = Literal["factual", "temporal", "relational", "causal", "exploratory"]


class IntentPolicy(NamedTuple):
    """What decides between notes that fit a query about equally well; each kind of question has its own shares.

    It never enters a score, which says how well a note fits and stays comparable over time.
    """

    text: float  #: how well it fits
    entities: float  #: a name of it stands in the query
    graph: float  #: links between it and other results
    time: float  #: how late it is


POLICIES: Final[Mapping[Intent, IntentPolicy]] = {
    "factual": IntentPolicy(text=0.3, entities=0.7, graph=0.2, time=0.0),
    "temporal": IntentPolicy(text=0.2, entities=0.1, graph=0.2, time=0.5),
    "relational": IntentPolicy(text=0.2, entities=0.2, graph=0.5, time=0.1),
    "causal": IntentPolicy(text=0.1, entities=0.1, graph=0.6, time=0.2),
    "exploratory": IntentPolicy(text=0.5, entities=0.2, graph=0.2, time=0.1),
}

#: Words and phrases by which a query shows what kind of question it is: English, then German, Spanish and French.
_CUES: Final[Mapping[Intent, str]] = {
    "temporal": "when, how long, how often, what year, what month, what date, what day, what time, which year,"
    " which month, which day, timeline, chronology, since, before, after, until, changed, history, previously, earlier,"
    " latest, recent, recently, last, ago, yesterday, wann, wie lange, seit, bevor, nachdem, bis wann, zuletzt,"
    " gestern, neulich, kürzlich, früher, verlauf, cuándo, cuánto tiempo, desde cuándo, hasta cuándo, ayer, anoche,"
    " hace, últimamente, recientemente, quand, depuis, combien de temps, hier, récemment, dernièrement, il y a",
    "causal": "why, because, cause, caused, causes, caused by, enables, enabled, led to, leads to, lead to, result in,"
    " results in, resulted in, due to, reason, reasons, reason for, how come, warum, wieso, weshalb, weswegen, weil,"
    " grund, ursache, führte zu, wegen, por qué, porque, causa, causas, debido a, motivo, razón, pourquoi,"
    " parce que, à cause, causé, raison",
    "relational": "who uses, who targets, who conducts, who used, what tools does, what tool does, what malware does,"
    " what technique, what techniques, what cve does, what cves does, used by, uses tool, attributed to, relate,"
    " related, relates, related to, relationship, relationships, connected, connected to, connect, connects,"
    " connection, connections, associated with, linked to, link, links, between, friend of, friends of, work with,"
    " works with, work for, works for, which actor, which actors, which group, which groups, which apt, zwischen,"
    " verbindung, beziehung, verbunden mit, zusammenhang, arbeitet für, arbeitet mit, entre, relación,"
    " conexión, trabaja con, trabaja para, relation, lien, travaille avec, travaille pour, travaille chez",
    "exploratory": "tell me, explain, describe, overview, information on, information about, details about, details on,"
    " context, everything, anything, summarize, summarise, summary, what do we know, what do you know, what do i know,"
    " brief, erzähl, erzähle, erkläre, beschreibe, überblick, alles über, zusammenfassung, was wissen wir,"
    " was weißt du, cuéntame, explica, describe, resumen, todo sobre, qué sabemos, qué sabes, raconte, explique,"
    " décris, résumé, tout sur, que savons, que sais",
    "factual": "cve, vulnerability, exploit, threat, what is, what was, who is, who was, name, identify, was ist,"
    " wer ist, wer war, qué es, quién es, quién era, qui est, qui était",
}
#: Of kinds that a query shows equally often, the first.
_ORDER: Final[tuple[Intent, ...]] = tuple(_CUES)
#: Cues of one word, and longer ones by their first two words, the longest first.
_WORDS: Final[dict[str, Intent]] = {}
_PHRASES: Final[dict[tuple[str, str], list[tuple[list[str], Intent]]]] = {}
for _intent, _listed in _CUES.items():
    for _cue in sorted((cue.split() for cue in _listed.split(",")), key=len, reverse=True):
        if len(_cue) == 1:
            _WORDS[_cue[0]] = _intent
        else:
            _PHRASES.setdefault((_cue[0], _cue[1]), []).append((_cue, _intent))

#: By which a query asks for whatever mentions its topic, whatever else it shows.
_TOPIC: Final = re.compile(
    r"\b(?:tell me|overview|everything|anything|summar(?:y|ize|ise)|what do (?:we|you|i) know"
    r"|was wissen wir|alles über|überblick)\b",
    re.IGNORECASE,
)
#: One of these is in it, then.
_TOPIC_WORDS: Final = frozenset(
    ("tell", "overview", "everything", "anything", "summary", "summarize", "summarise", "know", "wissen")
)
_FIRST_WORDS: Final = frozenset((*_WORDS, *(first for first, _ in _PHRASES)))


def is_exploratory(query: str) -> bool:
    """Return whether *query* asks for whatever is known of something."""
    if query.isascii() and _TOPIC_WORDS.isdisjoint(letters(query)):  # nearly always, and in a fifth of the time
        return False
    return _TOPIC.search(query) is not None


def intent_of(query: str) -> Intent:
    """Return what kind of question *query* is: what most of its cues show; ``factual`` when there are none."""
    words = letters(query)
    if _FIRST_WORDS.isdisjoint(words):
        return "factual"
    counts: dict[Intent, int] = {}
    for at, word in enumerate(words):
        if word not in _FIRST_WORDS:
            continue
        # A phrase is one cue, whatever its first word is alone: "reason for".
        found: Intent | None = _WORDS.get(word)
        for cue, intent in _PHRASES.get((word, words[at + 1]), ()) if at + 1 < len(words) else ():
            if words[at : at + len(cue)] == cue:
                found = intent
                break
        if found is not None:
            counts[found] = counts.get(found, 0) + 1
    if not counts:
        return "factual"
    # A question for a thing by its name says "what is" whatever else it asks.
    return max(counts, key=lambda intent: (counts[intent] - (intent == "factual"), -_ORDER.index(intent)))
