"""Whether an answer can be used, and how good it is. Any object may be asked about, whoever made it."""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from shelfd.protocol.limits import SYNTHESIS_LIMIT
from shelfd.protocol.methods.synthesis import SynthesisFormat

Grade: TypeAlias = Literal["EXCELLENT", "GOOD", "NEEDS_WORK"]

LEAST_CONFIDENCE: Final = 0.3
#: From which on more adds nothing to the score.
_SURE: Final = 0.7
_MANY: Final = 5
_WEIGHTS: Final = {"confidence": 0.4, "sources": 0.3, "completeness": 0.3}
_EXCELLENT: Final = 0.8
_GOOD: Final = 0.5
#: What each format must have, one of each row.
_SAYS: Final = ("answer", "summary", "timeline", "entities", "relationships", "themes")
#: Characters of an answer in which it may say that it is none.
_OPENING: Final = 300
#: What is known, and by whom it is not: English, then German, Spanish, French, Chinese and Japanese.
_KNOWN: Final = r"(?:information|mention|record|details?|data|evidence|answer|memor(?:y|ies)|notes?|results?)"
_NOT_KNOWN: Final = (
    r"(?:i|we)\s(?:don'?t|do\snot|cannot|can'?t|could\s?n[o']t)\s(?:know|say|answer|tell|find|determine)",
    r"(?:i|we)(?:'m|\sam|'re|\sare)\s(?:not\s(?:sure|certain|able\sto)|unable\sto)",
    rf"(?:i|we)\s(?:have\sno|(?:don'?t|do\snot)\shave\s(?:any|enough))\s(?:idea|{_KNOWN})",
    r"(?:un|not\s)known\W*$|n/?a\W*$|no\sidea",
    rf"no\s(?:specific\s|relevant\s|clear\s)?{_KNOWN}\b.{{0,20}}\b(?:found|available|known)",
    r"not\senough\s(?:information|evidence)|nothing\s(?:is\s|was\s)?(?:known|found)",
    rf"there\s(?:is|are|was|were)\s(?:no|not\senough)\s(?:specific\s|relevant\s)?{_KNOWN}\b[^.;!?]{{0,160}}[.!?]?\s*$",
    (
        r"(?:the|these|my|your)\s(?:\w+\s){0,2}(?:notes?|memories|sources|context|documents?)\s(?:do|does)\s?n[o']t\s"
        r"(?:say|mention|contain|include|provide|specify|state|tell)\b(?![^.!?]*\bbut\b)[^.;!?]{0,160}[.!?]?\s*$"
    ),
    r"(?:(?:das|es|dazu|darüber)\s)?(?:ich\s)?wei(?:ß|ss)\s(?:(?:es|das|ich|leider|dazu|darüber)\s){0,3}(?:nicht|nichts)\b",
    (
        r"keine\s(?:ahnung|informationen|angaben)|(?:gibt\ses|liegen|habe\sich)\s(?:dazu|darüber)\s(?:keine|nichts)"
        r"|(?:dazu|darüber|davon)\s(?:ist|gibt\ses|liegen|liegt|habe\sich)\s"
        r"(?:mir\s|leider\s)?(?:nichts|keine)"
    ),
    r"no\s(?:lo\s)?(?:sé|sabemos)\b|no\s(?:lo\s)?se\W*$|no\s(?:tengo|hay)\s(?:ninguna\s|m[aá]s\s)?(?:informaci[oó]n|idea|datos)",
    (
        r"(?:je\sne|nous\sne|on\sne)\s(?:le\s)?(?:sais|savons|sait)\s(?:pas|rien)|je\sn'en\ssais\srien"
        r"|aucune\s(?:information|idée)"
    ),
    r"(?:我们?)?(?:也)?(?:不知道|不清楚|无法回答)|没有(?:相关|找到)?(?:的)?(?:信息|记录|资料)",
    r"(?:それは|よく)?(?:わかりません|分かりません|知りません|不明です)|(?:関連する)?(?:情報|記録)(?:が|は)?(?:ありません|見つかりません)",
)
_SORRY: Final = (
    r"(?:i'?m\s(?:so\s|very\s)?sorry|sorry|unfortunately|leider|lo\ssiento|lamentablemente|désolée?|malheureusement"
    r"|很?抱歉|对不起|すみません|申し訳ありません)(?:が)?[,.:，、。]?\s*(?:(?:but|aber|pero|mais)\s)?"
)
_NO_ANSWER: Final = re.compile(rf"\W*(?:{_SORRY})?(?:{'|'.join(_NOT_KNOWN)})", re.IGNORECASE)


class Quality(NamedTuple):
    """How good an answer is: the score from 0 to 1, and its parts, of the same range."""

    score: float
    grade: Grade
    components: Mapping[str, float]


def says_nothing(synthesis: Mapping[str, Any]) -> bool:
    """Return whether an answer gives none: it is empty, or says in words that it knows none."""
    said = [synthesis[name] for name in _SAYS if synthesis.get(name)]
    texts = [one for one in (synthesis.get("answer"), synthesis.get("summary")) if isinstance(one, str)]
    return not said or any(not one.strip() or _NO_ANSWER.match(one[:_OPENING].replace("\u2019", "'")) for one in texts)


def errors_of(response: Mapping[str, Any]) -> list[str]:
    """Return what makes an answer unusable, each with the field at fault; nothing of what it says."""
    synthesis = response.get("synthesis")
    if not isinstance(synthesis, Mapping):
        return ["synthesis: is no object"]
    found = []
    if "format" in response and response["format"] not in get_args(SynthesisFormat):
        found.append(f"format: is none of {', '.join(get_args(SynthesisFormat))}")
    confidence = synthesis.get("confidence")
    if "confidence" in synthesis and not LEAST_CONFIDENCE <= _share(confidence, -1.0) <= 1:
        found.append(f"synthesis.confidence: is no number from {LEAST_CONFIDENCE} to 1")
    if says_nothing(synthesis):
        found.append("synthesis: gives no answer")
    sources = response.get("sources")
    if not isinstance(sources, list) or not 1 <= len(sources) <= SYNTHESIS_LIMIT:
        return [*found, f"sources: is no list of 1 to {SYNTHESIS_LIMIT} sources"]
    ids = [source.get("note_id") if isinstance(source, Mapping) else None for source in sources]
    found += [f"sources.{at}.note_id: is no id" for at, id_ in enumerate(ids) if not isinstance(id_, str) or not id_]
    if any(cited not in ids for cited in _cited(synthesis)):
        found.append("synthesis: names a source that is not among sources")
    return found


def quality_of(response: Mapping[str, Any]) -> Quality:
    """Return how good an answer is. One that gives none needs work, however many sources it names."""
    given = response.get("synthesis")
    synthesis: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    sources = response.get("sources")
    is_complete = not says_nothing(synthesis)
    components = {
        "confidence": min(1.0, max(0.0, _share(synthesis.get("confidence"), 0.0)) / _SURE) if is_complete else 0.0,
        "sources": min(1.0, len(sources) / _MANY) if isinstance(sources, list) else 0.0,
        "completeness": 1.0 if is_complete else 0.0,
    }
    score = round(sum(_WEIGHTS[name] * value for name, value in components.items()), 3)
    grade: Grade = "EXCELLENT" if score >= _EXCELLENT else "GOOD" if score >= _GOOD else "NEEDS_WORK"
    rounded = {name: round(value, 3) for name, value in components.items()}
    return Quality(score, grade if is_complete else "NEEDS_WORK", rounded)


def _share(value: object, otherwise: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if is_number else otherwise  # type: ignore[arg-type]


def _cited(answer: Mapping[str, Any]) -> Iterator[object]:
    """The ids that an answer names, wherever they stand."""
    left: list[object] = [answer]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            for name, member in value.items():
                if name == "note_id":
                    yield member
                elif name in ("sources", "note_ids") and isinstance(member, list):
                    yield from member
                else:
                    left.append(member)
        elif isinstance(value, list):
            left += value
