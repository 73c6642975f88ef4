"""One sentence of Chinese or Japanese, read as a statement."""

import re
import unicodedata
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import SpacelessLexicon, spaceless, units
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value

_TIME: Final = re.compile(
    r"\d{1,4}年(?:\d{1,2}月)?(?:\d{1,2}日)?|\d{1,2}月\d{1,2}[日号]|\d{1,2}[点時](?:\d{1,2}分)?|(?:星期|周)[一二三四五六日天]|[月火水木金土日]曜日|\d{1,2}:\d\d"
)
_AMOUNT: Final = re.compile(
    r"(\d+(?:\.\d+)?) ?(gb|mb|tb|kg|km|cm|mm|mg|ms|%|度|公斤|キロ|分钟|小时|時間|元|円|天|岁|歳|米|公里|欧元|美元|升)?",
    re.IGNORECASE,
)
_LONGEST: Final = 120  #: characters of a sentence that is compared: patterns take the square of it
_END: Final = " 。．.!！；;"


def read_spaceless(sentence: str, language: str) -> Statement:
    """Return what a sentence states; one without a subject if it has no known form."""
    lexicon = spaceless(language)
    text = unicodedata.normalize("NFKC", sentence).lower().strip(_END)
    if len(text) > _LONGEST:
        return Statement(language, words=(text,))
    asks = text.endswith(("?", "吗", "か")) and language in ("zh", "ja")
    denied: frozenset[str] = NOBODY
    if (contrast := lexicon.contrast.search(text)) is not None and (text[: contrast.start()]):
        denied, text = frozenset((contrast["d"],)), text[: contrast.start()]
    flags = {name for name, pattern in lexicon.flags.items() if pattern.search(text)}
    bare = lexicon.flags["fillers"].sub("", text).replace(":", "" if not _TIME.search(text) else ":")
    statement = _by_form(bare if flags & {"correction", "now"} else text, lexicon, bare)
    return statement._replace(
        words=(bare,),
        real=not asks and "unreal" not in flags,
        past="past" in flags,
        now="now" in flags,
        corrects="correction" in flags or bool(denied),
        adds="additive" in flags and language == "zh",
        denied=denied,
    )


def _by_form(text: str, lexicon: SpacelessLexicon, bare: str) -> Statement:
    for tried in dict.fromkeys((text, bare)):
        for name, pattern in lexicon.patterns:
            if (match := pattern.match(tried)) is not None:
                return _read(Effect(name), match.groupdict(), lexicon)
    return Statement(lexicon.language)


def _read(effect: Effect, found: dict[str, str | None], lexicon: SpacelessLexicon) -> Statement:
    subject = lexicon.flags["fillers"].sub("", found["s"] or "").strip(", 、")
    positive = True
    if lexicon.negation is not None and effect is Effect.SAYS and subject.endswith(("不", "没", "没有")):
        subject, positive = subject.rstrip("没有不"), False
    said = found.get("v") or ""
    positive = positive and said not in ("不是", "ではない", "ではありません", "じゃない")
    verb = "be" if said in lexicon.be else lexicon.verbs.get(said, said)
    value = (found.get("b") if effect is not Effect.ENDED else None) or found.get("o") or ""
    value = lexicon.flags["fillers"].sub("", value).strip(", 、")
    amounts = (
        tuple(_amount(match) for match in _AMOUNT.finditer(value)) if value.isascii() or _AMOUNT.match(value) else ()
    )
    if verb in lexicon.states:
        value, verb = verb, "be"
    kind, core = _kind(value, amounts, lexicon)
    owner = NOBODY if any(subject.startswith(word) for word in lexicon.pronouns) else frozenset((subject,))
    slot = Arity.MANY
    if verb == "be" and lexicon.fixed.search(subject):
        slot = Arity.FIXED
    elif verb in lexicon.functional or (verb == "be" and _is_attribute(subject, lexicon)):
        slot = Arity.ONE
    return Statement(
        lexicon.language,
        owner if subject else NOBODY,
        verb,
        "",
        core,
        NOBODY,
        (),
        amounts,
        kind,
        slot,
        effect,
        positive,
    )


def _is_attribute(subject: str, lexicon: SpacelessLexicon) -> bool:
    """Return whether the subject is something that has one value."""
    last = subject.rsplit(lexicon.attribute, 1)[-1]
    return lexicon.nouns.search(last) is not None or ("好きな" in subject or "最喜欢" in subject)


def _amount(match: re.Match[str]) -> float:
    return round(float(match[1]) * units().get((match[2] or "").lower(), ("", 1.0))[1], 9)


def _kind(value: str, amounts: tuple[float, ...], lexicon: SpacelessLexicon) -> tuple[Value, tuple[str, ...]]:
    if not value:
        return Value.NONE, ()
    if value in lexicon.states:
        return Value.STATE, (value,)
    if _TIME.match(value):
        return Value.TIME, ("~" + value,)
    if amounts and (match := _AMOUNT.fullmatch(value)) is not None:
        return Value.AMOUNT, ("#" + units().get((match[2] or "").lower(), ("", 1.0))[0],)
    return Value.NAME, (value,)
