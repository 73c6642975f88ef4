"""The recall formula once more, plain and slow: the model the index is tested against.

Everything is computed anew from the documents, in pure Python. Only the
tokeniser and the date grades are shared with the package; they have tests of their own.
"""

from collections import Counter
from dataclasses import dataclass
from math import log

import numpy as np

from shelfd.memory.facts.lexicon import telling_words
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import holds
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.recall import Analyzer, Document
from shelfd.memory.recall.dates import date_grades, date_line
from shelfd.memory.recall.rarity import rarities

K1, B = 0.9, 0.3


@dataclass(frozen=True)
class Found:
    id: str
    score: float
    total: float


def order(doc: Document) -> tuple[int, int]:
    return doc.turn or 0, doc.row


def same_session(one: Document, other: Document) -> bool:
    return one.session is not None and (one.nugget, one.session) == (other.nugget, other.session)


class Field:
    """BM25 over bags of terms; statistics over some of them."""

    def __init__(self, bags: dict[int, Counter[str]], lengths: dict[int, int], counted: list[int]) -> None:
        self.bags, self.lengths, self.counted = bags, lengths, counted
        self.average = sum(lengths[row] for row in counted) / max(len(counted), 1) or 1.0

    def frequency(self, term: str) -> int:
        return sum(1 for row in self.counted if self.bags[row][term])

    def idf(self, term: str) -> float:
        df = self.frequency(term)
        return log(1 + (len(self.counted) - df + 0.5) / (df + 0.5))

    def score(self, row: int, terms: list[str]) -> float:
        total = 0.0
        for term in terms:
            tf = self.bags[row][term]
            norm = K1 * (1 - B + B * self.lengths[row] / self.average)
            total += self.idf(term) * tf * (K1 + 1) / (tf + norm)
        return total


class Reference:
    """The documents and, made of them, all that the formula speaks of."""

    def __init__(self, analyzer: Analyzer, documents: list[Document]) -> None:
        self.analyzer = analyzer
        self.documents = {doc.row: doc for doc in documents}
        self.visible = [doc for doc in documents if not doc.hidden]
        self.previous = {doc.row: self.find_previous(doc) for doc in documents}
        self.next = {doc.row: self.find_next(doc) for doc in documents}
        bags, lengths = {}, {}
        for doc in documents:
            line = date_line(analyzer.day(doc.when))
            terms = analyzer.terms(f"{line}\n{doc.author or ''}\n{doc.text}")
            lengths[doc.row] = len(terms)
            told = analyzer.told_words(analyzer.parse_text(doc.text).told, analyzer.day(doc.when))
            terms += map(analyzer.term, [*analyzer.beside(doc.text), *told])
            bags[doc.row] = Counter({term: min(count, 255) for term, count in Counter(terms).items()})
        both_bags, both_lengths = {}, {}
        for row, before in self.previous.items():
            both_bags[row] = bags[row] + (bags[before.row] if before else Counter())
            both_lengths[row] = lengths[row] + (lengths[before.row] if before else 0)
        counted = [doc.row for doc in self.visible]
        self.own, self.both = Field(bags, lengths, counted), Field(both_bags, both_lengths, counted)

    def find_previous(self, doc: Document) -> Document | None:
        below = [d for d in self.visible if same_session(d, doc) and order(d) < order(doc)]
        return max(below, key=order, default=None)

    def find_next(self, doc: Document) -> Document | None:
        above = [d for d in self.visible if same_session(d, doc) and order(d) > order(doc)]
        return None if doc.hidden else min(above, key=order, default=None)

    def base(self, doc: Document, terms: list[str]) -> float:
        before, after = self.previous[doc.row], self.next[doc.row]
        b = self.own.score(doc.row, terms) + 1.2 * self.both.score(doc.row, terms)
        if before is not None and asks(before):
            b += 0.4 * self.own.score(before.row, terms)
        earlier = before and self.previous[before.row]
        if earlier is not None and any(self.own.bags[doc.row][term] for term in terms):
            b += 0.5 * self.own.score(earlier.row, [term for term in terms if not self.both.bags[doc.row][term]])
        if after is not None:
            b += 0.15 * self.own.score(after.row, terms)
        return b

    def named_author(self, query: str) -> tuple[str, ...] | None:
        words = self.analyzer.words(query)
        known = {tuple(self.analyzer.words(doc.author)) for doc in self.visible if doc.author} - {()}
        firsts = Counter(name[0] for name in known)
        named = set()
        for name in known:
            full = any(tuple(words[i : i + len(name)]) == name for i in range(len(words)))
            alone = len(name[0]) >= 2 and firsts[name[0]] == 1 and name[0] in words
            if full or alone:
                named.add(name)
        return named.pop() if len(named) == 1 else None

    def admitted(self, doc: Document, f: NoteFilter) -> bool:
        for name in ("nugget", "domain", "scope", "type", "subject", "author"):
            if getattr(f, name) is not None and getattr(f, name) != getattr(doc, name):
                return False
        private = doc.scope == "session" and doc.session is not None
        if private and f.scope != "session" and f.session != doc.session:
            return False
        expired = doc.expires_at is not None and doc.expires_at <= f.now
        return (
            set(f.tags) <= set(doc.tags)
            and (f.include_hidden or not doc.hidden)
            and (f.include_superseded or not doc.superseded or (f.as_of is not None and doc.valid_to is not None))
            and (f.as_of is None or holds(doc.valid_from, doc.valid_to, f.as_of))
            and (f.below is None or doc.row < f.below)
            and doc.row not in f.but
            and (f.include_expired or not expired)
            and (f.since is None or doc.when >= f.since)
            and (f.quarantined is None or doc.quarantined == f.quarantined)
        )

    def strength(self, doc: Document, terms: list[str]) -> float:
        """How well one document fits by itself: lengths and words as they are in general, each word once."""
        known = rarities(self.analyzer.language)
        before, after = self.previous[doc.row], self.next[doc.row]
        found = most = 0.0
        for term in terms:
            weight = known.of(term)
            most += weight * 2.2 * 1.9 / 1.63
            in_own, in_both = self.own.bags[doc.row][term], self.both.bags[doc.row][term]
            found += weight * (in_own > 0) * 1.9 / (1 + 0.9 * (0.7 + 0.3 * self.own.lengths[doc.row] / 26))
            found += weight * 1.2 * (in_both > 0) * 1.9 / (1 + 0.9 * (0.7 + 0.3 * self.both.lengths[doc.row] / 52))
            if before is not None and asks(before):
                found += weight * 0.4 * (self.own.bags[before.row][term] > 0)
            if after is not None:
                found += weight * 0.15 * (self.own.bags[after.row][term] > 0)
        return min(1.0, found / most)

    def search(self, query: str, filters: NoteFilter, first: str | None = None, wants: int = 0) -> list[Found]:
        """Return all hits in order, of equal ones that of the highest standing, then the newest.

        *first* is the one that has its score by itself, the first if not given; the others have theirs from it. *wants*
        has the kinds of answer that the query asks for.
        """
        parsed = self.analyzer.parse_query(query)
        parsed = self.analyzer.dated(parsed, filters.now)
        terms = sorted(parsed.terms)
        base = {d.row: self.base(d, terms) for d in self.documents.values() if self.admitted(d, filters)}
        base = {row: b for row, b in base.items() if b > 0}
        if not base:
            return []
        best = max(base.values())
        author = self.named_author(query)
        lists = word_lists(self.analyzer.language)
        totals = {}
        for row, b in base.items():
            doc = self.documents[row]
            mates = [r for r in base if r == row or same_session(self.documents[r], doc)]
            top = sorted(base[mate] / best for mate in mates)[-2:]
            total = b / best + 0.5 * sum(top) / len(top)
            if author and tuple(self.analyzer.words(doc.author or "")) == author:
                total += 0.35
            if parsed.asks_when and lists.temporal.search(doc.text.lower()):
                total += 0.1
            if wants & self.analyzer.parse_text(doc.text).answer_types:
                total += 0.1
            if asks(doc):
                total -= 0.1
            telling = len(telling_words(self.analyzer.words(doc.text)))
            total += 0.15 * telling / (telling + 8)
            day = np.array([self.analyzer.day(doc.when).toordinal()], np.int32)
            totals[row] = total + 0.3 * float(date_grades(day, parsed.dates)[0])
        by_standing = sorted(totals.items(), key=lambda found: (-self.documents[found[0]].standing, -found[0]))
        ordered = sorted(by_standing, key=lambda found: -round(found[1], 6))
        known = {self.documents[row].id: row for row in totals}
        scale = self.strength(self.documents[known.get(first or "", ordered[0][0])], terms) / max(totals.values())
        return [Found(self.documents[row].id, max(0.0, scale * total), total) for row, total in ordered]


def asks(doc: Document) -> bool:
    return doc.text.rstrip().endswith("?")
