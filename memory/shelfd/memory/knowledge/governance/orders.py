"""Text that gives orders to the machine that reads it: to forget its rules, to hide something, to send something away.

Rules find what is worded like attacks that are known, and a learned model what reads like them (:mod:`leaning`). A
report that quotes such an order, or tells of one, gives none. What stands in quotation marks or code is not looked at
if there is text around it, and a text about attacks has to give more than one order of its own.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Final, NamedTuple
from unicodedata import normalize

from shelfd.memory.knowledge.governance.leaning import leaning, may_lean, pieces, telling_words

#: What the orders of a passage weigh together, at least, for it to give orders; and if the text is about attacks.
_ENOUGH: Final = 1.0
_ENOUGH_IN_REPORTS: Final = 2.0
#: A text that leans so far to an order gives one, and one that leans less than this gives none, whatever rules say.
LEANS: Final = 1.3
_LEANS_NOT: Final = -0.5
_ROUNDING: Final = 1e-9
#: Before an order, so many characters tell whether it is one.
_TOLD: Final = 10
#: So many characters beside what is quoted make a frame around it.
FRAME: Final = 12
#: Long text is looked at in passages of so many characters, which share some: what is far apart is not one order. Of
#: many that have words of orders, those with the most are looked at: some milliseconds.
_PASSAGE: Final = 1_200
_SHARED: Final = 300
_PASSAGES: Final = 16
#: Longer text is looked at in pieces, for many words of honest text outweigh those of an order.
WHOLE: Final = 600
#: Bytes a word, at most, of text whose letters stand apart.
APART: Final = 2.4

_WIDE_SIGNS: Final = re.compile("[\u00a0\u00ab\u00bb\u2000-\u206f\u3000-\u303f\uff01-\uff0f]")
BLANKED: Final = bytes(
    ord(" ") if chr(code) in ".,;:!?\"'()*#<>[]{}|\\`\n\t" else ord(chr(code).lower()) if code < 128 else code
    for code in range(256)
)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_LETTERS_APART: Final = re.compile(r"\b(?:\w ){3,200}\w\b")
# These three tell at a tenth of the cost that there is nothing for the expression after them to find.
_MAY_BE_APART: Final = re.compile(r" \w \w ")
_MIXED: Final = re.compile(r"[013457@$](?:(?<=[a-z].)|(?=[a-z]))")
_MAY_QUOTE: Final = re.compile("[\"`'\u201c\u201e\u00ab\u300c](?<!\\w')")
_DISGUISED: Final = re.compile(r"\b[a-z@$0-9]{4,40}\b")
_PLAIN_LETTERS: Final = str.maketrans("013457@$", "oieastas")
_TYPOGRAPHIC: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201b": "'", "\u02bc": "'"})
_PARTS: Final = re.compile(
    r"(ignore|disregard|forget|reveal|print|delete|send|do|not|tell|the|user|every|all|any|your|previous|prior|above"
    r"|instructions?|rules?|system|prompt|notes?|and)"
)
_QUOTED: Final = re.compile(
    r"```.{1,1000}?```|`[^`\n]{1,500}`|\"[^\"\n]{1,500}\"|\u201c[^\u201c\u201d\n]{1,500}\u201d"
    r"|\u201e[^\u201e\u201c\u201d\n]{1,500}[\u201c\u201d]|\u00ab[^\u00ab\u00bb\n]{1,500}\u00bb"
    r"|\u300c[^\u300c\u300d\n]{1,500}\u300d|(?<!\w)'[^'\n]{4,500}'(?!\w)",
    re.DOTALL,
)
_NO_LETTER: Final = re.compile(r"[\W\d_]+")
DISGUISES: Final = frozenset(b"ign0re 1gnore ignor3 1gn0re disreg4rd 0verride f0rget byp4ss".split())


class _Order(NamedTuple):
    """One kind of order.

    Attributes:
        name: Its name.
        weight: How much it counts.
        pattern: Where it is, in lower case.
        also: Words of which it has one, too, in UTF-8; empty if that is not so.
        is_plain: Whether it is none where somebody is told, or refuses, to do so.
    """

    name: str
    weight: float
    pattern: str
    also: frozenset[bytes]
    is_plain: bool

    def is_in(self, text: str, told: re.Pattern[str]) -> bool:
        """Return whether *text* has one; *told* is what ends before an order that is none."""
        found = _compiled(self.pattern).finditer(text)
        if not self.is_plain:
            return next(found, None) is not None
        return any(told.search(text, max(0, match.start() - _TOLD), match.start()) is None for match in found)


class _Known(NamedTuple):
    """The orders by the words, or parts of words, without which none is given; words in UTF-8."""

    by_word: dict[bytes, list[_Order]]
    by_stem: dict[str, list[_Order]]
    words: frozenset[bytes]  #: all of these
    told: re.Pattern[str]
    reporting: tuple[str, ...]


@cache
def _known() -> _Known:
    data = json.loads(files("shelfd.memory.knowledge.governance").joinpath("orders.json").read_text(encoding="utf-8"))
    by_word: defaultdict[bytes, list[_Order]] = defaultdict(list)
    by_stem: defaultdict[str, list[_Order]] = defaultdict(list)
    for rule in data["rules"]:
        pattern = rule["pattern"]
        for name, text in data["vocabulary"].items():
            pattern = pattern.replace(f"{{{name}}}", text)
        also = frozenset(word.encode() for word in rule.get("also", "").split())
        order = _Order(rule["name"], rule["weight"], pattern, also, rule.get("plain", False))
        for word in rule.get("words", "").split():
            for form in {word, word if word.isascii() else word.capitalize()}:  # only ASCII is folded before
                by_word[form.encode()].append(order)
        for stem in rule.get("stems", "").split():
            by_stem[stem].append(order)
    return _Known(dict(by_word), dict(by_stem), frozenset(by_word), re.compile(data["told"]), tuple(data["reporting"]))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def words_of(text: str) -> Sequence[bytes]:
    """Return the words of *text* in UTF-8 without what stands around them, Latin letters in lower case."""
    return with_blanks(text).translate(BLANKED).split()


def with_blanks(text: str) -> bytes:
    """Return *text* in UTF-8, with blanks for signs beyond ASCII that stand around words."""
    if not text.isascii():
        text = _WIDE_SIGNS.sub(" ", text)
    return text.encode("utf-8", "surrogatepass")


@cache
def words_of_orders() -> frozenset[bytes]:
    """Return the words without which, in a language that has blanks between words, no order is given; in UTF-8."""
    return DISGUISES | telling_words()


def may_give_orders(text: str, words: Sequence[bytes], among: Iterable[bytes] | None = None) -> bool:
    """Return whether it is worth while to ask :func:`gives_orders`; of most text it is not. Takes a microsecond.

    Args:
        text: The text.
        words: Its words, as :func:`words_of` returns them.
        among: Those of them that are among :func:`words_of_orders`, if that is known; perhaps with others.
    """
    if len(text) > WHOLE:
        return any(may_give_orders(piece, words_of(piece)) for piece in pieces(text))
    found = words_of_orders().intersection(words) if among is None else among
    if (found or not text.isascii()) and (may_lean(text, found) or not DISGUISES.isdisjoint(found)):
        return True
    if len(words) * APART > len(text) > FRAME:
        return True
    return not text.isascii() and (
        _INVISIBLE.search(text) is not None or any(stem in text for stem in _known().by_stem)
    )


def gives_orders(text: str, words: Sequence[bytes] | None = None) -> bool:
    """Return whether *text* gives orders to the machine that reads it.

    Args:
        text: The text.
        words: Its words, as :func:`words_of` returns them, if they are known.
    """
    if len(text) <= _PASSAGE + _SHARED:
        return _weigh(text, words)
    passages = [text[begin : begin + _PASSAGE] for begin in range(0, len(text), _PASSAGE - _SHARED)]
    known = words_of_orders()
    counted = [
        (len(known.intersection(words)), passage)
        for passage in passages
        if may_give_orders(passage, words := words_of(passage))
    ]
    if len(counted) > _PASSAGES:
        counted.sort(key=lambda one: -one[0])
    return any(_weigh(passage) for _, passage in counted[:_PASSAGES])


def as_read(text: str) -> str:
    """Return *text* without disguise, in small letters, and without what it quotes."""
    return _own_words(_undisguised(text))


def _weigh(text: str, words: Sequence[bytes] | None = None) -> bool:
    plain = text.lower()
    text = _undisguised(text)
    if words is None or plain != text:
        words = words_of(text)
    leans = leaning(_own_words(text))
    if leans >= LEANS or leans < _LEANS_NOT:
        return leans >= LEANS
    orders = _orders_by_words(text, words)
    if text.isascii() and _weight_of(orders) < _ENOUGH:
        return False  # nor can there be more in what is left without quotations
    own = _own_words(text)
    if own is not text:
        orders = _orders_by_words(own)
    return _weighs(own, orders, _ENOUGH) and (
        not any(word in own for word in _known().reporting) or _weighs(own, orders, _ENOUGH_IN_REPORTS)
    )


def _orders_by_words(text: str, given: Sequence[bytes] | None = None) -> set[_Order]:
    """The orders that may be in *text*, by its words, which may be given."""
    known = _known()
    words = words_of(text) if given is None else given
    orders = {
        order
        for word in known.words.intersection(words) & known.by_word.keys()
        for order in known.by_word[word]
        if not (order.also and order.also.isdisjoint(words))
    }
    if not text.isascii():
        orders |= {order for stem, found in known.by_stem.items() if stem in text for order in found}
    return orders


def _weight_of(orders: Iterable[_Order]) -> float:
    return sum(order.weight for order in orders) + _ROUNDING


_by_weight: Final = attrgetter("weight")


def _weighs(text: str, orders: Collection[_Order], enough: float) -> bool:
    """Whether those of *orders* that are in *text* weigh *enough*."""
    told, weight, left = _known().told, 0.0, _weight_of(orders)
    for order in sorted(orders, key=_by_weight, reverse=True):  # what cannot suffice any more is known soonest
        if weight + left < enough:
            return False
        left -= order.weight
        if order.is_in(text, told):
            weight += order.weight
            if weight >= enough:
                return True
    return False


def _undisguised(text: str) -> str:
    """Return *text* in lower case as it is read: without what nobody sees, and with letters instead of their likes."""
    if not text.isascii():
        text = normalize("NFKC", _INVISIBLE.sub("", text)).translate(_TYPOGRAPHIC)
    text = text.lower()
    if _MAY_BE_APART.search(text) is not None:
        text = _LETTERS_APART.sub(lambda match: _parted(match[0].replace(" ", "")), text)
    return _DISGUISED.sub(_plain, text) if _MIXED.search(text) else text


def _parted(text: str) -> str:
    """Return words written without blanks, as far as orders are made of them, with blanks."""
    return " ".join(filter(None, _PARTS.split(text)))


def _plain(match: re.Match[str]) -> str:
    plain = match[0].translate(_PLAIN_LETTERS)
    return plain if plain.isalpha() else match[0]


def _own_words(text: str) -> str:
    """Return *text* without what it quotes, if anything is left around that."""
    if _MAY_QUOTE.search(text) is None:
        return text
    own = _QUOTED.sub(" ", text)
    return own if len(own) < len(text) and len(_NO_LETTER.sub("", own)) >= FRAME else text
