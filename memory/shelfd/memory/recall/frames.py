"""What a query says around what it is about: "tell me about the release" asks for the release.

No note is looked for that says "tell" or "know" because somebody asked so.
"""

import re
from functools import cache
from typing import Final

_ABOUT: Final = r"(?:about|on|of|regarding|concerning)"
_ENGLISH: Final = (
    rf"(?:tell|remind|brief|update|inform|show|give)\s(?:me|us)\s(?:{{all}}\s)?(?:(?:you|we|i)\sknow\s)?{_ABOUT}",
    rf"(?:fill|catch)\s(?:me|us)\s(?:in|up)\s{_ABOUT}",
    (rf"what\s(?:do|did|should|must|can|could)\s(?:you|we|i)\s(?:(?:need|have)\sto\s)?(?:already\s)?"
    rf"(?:know|remember|recall|have)\s{_ABOUT}"),
    rf"what(?:\sis|['’]s)\s(?:known|there\sto\sknow|new)\s{_ABOUT}",
    (rf"do\s(?:you|we|i)\s(?:(?:know|have|remember|recall)\s(?:anything|something)\s{_ABOUT}|(?:remember|recall)"
    r"(?!\s(?:to|that|if|wh\w+|how)\b))"),
    rf"(?:is\sthere\s)?any(?:thing|\snews)\s(?:new\s)?{_ABOUT}",
    rf"{{all}}\s(?:(?:that\s)?(?:you|we|i)\sknow\s)?{_ABOUT}",
    r"(?:summari[sz]e|describe)",
    r"help\s(?:me|us)\s(?:to\s)?prepare\sfor|prepare\s(?:me|us)\sfor",
)  # fmt: skip
#: What is wanted of it.
_ALL: Final = (
    r"(?:(?:a|an|the|some|all|any)\s)?(?:(?:short|brief|quick|full|more|my|your)\s)?"
    r"(?:everything|all|more|something|anything|a\sbit|information|info|details|facts|notes|overview|summary|what)"
)
_OTHERS: Final = (
    # German
    r"(?:erz[aä]hle?|sage?|berichte?)\s(?:mir|uns)\s(?:(?:bitte|alles|etwas|was|mehr)\s)*(?:über|ueber|von|zu[mr]?)",
    r"was\s(?:wei(?:ß|ss)t?|wissen|wisst)\s(?:du|wir|ich|ihr)\s(?:(?:alles|noch|schon|so)\s)*(?:über|ueber|von|zu[mr]?)",
    r"was\s(?:muss|müssen|sollte|soll)\s(?:ich|wir)\s(?:alles\s)?(?:über|ueber|zu[mr]?)",
    r"alles\s(?:über|ueber|zu[mr]?)|gibt\ses\s(?:etwas|was)\s(?:neues\s)?(?:über|ueber|von|zu[mr]?)",
    r"was\sgibt\ses\sneues\s(?:über|ueber|von|zu[mr]?)",
    # Spanish
    (r"¿?(?:cu[eé]ntame|h[aá]blame|dime|recu[eé]rdame)\s(?:(?:algo|todo|m[aá]s)\s)?(?:lo\sque\ssabes\s)?"
    r"(?:sobre|del?|acerca\sdel?)"),
    r"¿?qu[eé]\s(?:sabes|sabemos|s[eé]|hay)\s(?:sobre|del?|acerca\sdel?)|todo\ssobre",
    # French
    (r"(?:parle|raconte|dis|rappelle)[-\s](?:moi|nous)\s(?:tout\s)?(?:ce\sque\stu\ssais\s)?"
    r"(?:de\sla|de|du|des|sur|à\spropos\sde)"),
    (r"(?:que|qu['’]est[-\s]ce\sque)\s(?:sais[-\s]tu|tu\ssais|savons[-\s]nous|nous\ssavons|on\ssait|sait[-\s]on)\s"
    r"(?:de\sla|de|du|des|sur|à\spropos\sde)|tout\ssur"),
    r"(?:parle|raconte)[-\s](?:moi|nous)\sd['’]",
)  # fmt: skip
_POLITE: Final = r"(?:(?:please|hey|ok|okay|so|and)[,\s]\s*+)?(?:(?:can|could|would|will)\syou\s(?:please\s)?)?"
#: Before what it is about in Chinese, and after it in Chinese and Japanese; after it in German if it began so.
_BEFORE: Final = r"(?:请)?(?:告诉我|说说|讲讲|介绍一下)(?:关于)?|关于|(?:你|我们)(?:知道|了解)(?:关于)?"
_AFTER: Final = (
    r"(?:的(?:事情|情况|信息))?[,，]?(?:你|我们)?(?:知道|了解)(?:些)?什么"
    r"|について(?:教えて(?:ください|下さい|くれ)?|話して(?:ください)?|(?:何を)?知って(?:い)?(?:ますか|る))"
)
#: Articles by which a subject in another language begins: alone with it, they do not show which.
_ARTICLE: Final = r"(?:(?:den|dem|die|das|der|el|los|las|le|les)\s+|l['’])?"
#: Characters at the end of a query in which the words after its subject stand.
_LONGEST_END: Final = 64
_KNOW: Final = "wissen"
_END: Final = r"[\s?？。!！.]*\Z"


@cache
def _frames() -> tuple[re.Pattern[str], ...]:
    english = "|".join(_ENGLISH).replace("{all}", _ALL)
    asked = rf"{_POLITE}(?:{english})\s+|(?:{'|'.join(_OTHERS)})(?:\s+|(?<=['’])){_ARTICLE}|{_BEFORE}"
    before = rf"\s*+(?:{asked})"
    return (
        re.compile(before, re.IGNORECASE),
        re.compile(rf"(?:\s(?:alles\s)?{_KNOW}|{_AFTER}){_END}", re.IGNORECASE),
        re.compile(rf"(?:{_AFTER}){_END}"),
    )


def subject_of(query: str) -> str:
    """Return what *query* is about, without the words by which it asks for all that is known of it."""
    before, after, after_alone = _frames()
    begun = before.match(query)
    begin = 0 if begun is None else begun.end()
    ended = None
    if not query.isascii() or _KNOW in query.lower():  # nothing else stands after a subject
        ended = (after_alone if begun is None else after).search(query, max(begin, len(query) - _LONGEST_END))
    if begun is None and ended is None:
        return query
    return query[begin : len(query) if ended is None else ended.start()]
