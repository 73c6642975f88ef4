"""Operations from a turn by rules: English sentences whose form leaves little doubt.

Precision first: what is not said in so many words gives no operation. A turn in another language gives an event of its
first statement and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.sessions.extraction.events import (
    Spoken,
    central,
    first_statement,
    is_first_person,
    is_where,
    summary,
    takes_part,
)  # fmt: skip
from shelfd.memory.sessions.extraction.language import is_english, lexicon
from shelfd.memory.sessions.extraction.names import Cast, Kind, short_names
from shelfd.memory.sessions.extraction.people import Portraits
from shelfd.memory.sessions.extraction.places import PlaceSaid, places_said
from shelfd.memory.sessions.extraction.sentences import sentences
from shelfd.memory.sessions.extraction.threads import Threads, ThreadSaid, begun
from shelfd.memory.sessions.extraction.turns import Entity, KnownNotes, Message, Op
from shelfd.protocol import from_micros

_LISTS: Final = frozenset(("aliases", "traits", "inventory"))
#: Sentences of a turn that are read; what is beyond them is data.
_MOST_SENTENCES: Final = 400
#: Characters of a turn that are read; who says more shows a document.
_MOST_CHARACTERS: Final = 8000


def operations(turn: Sequence[Message], known: KnownNotes) -> list[Op]:
    """Return what *turn* adds to and changes in what is *known*: a pure function, linear in the turn's text."""
    spoken = _spoken(turn)
    ops = _Operations(known)
    if not is_english([word for one in spoken for word in one.sentence.low]):
        at = first_statement(spoken)
        if at is not None:
            ops.event(spoken[at])
        return ops.ops
    _write(_Reading(spoken, known), ops)
    return ops.ops


def _write(said: "_Reading", ops: "_Operations") -> None:
    for title in said.people:
        ops.entity("character_sheet", title, said.portraits.columns.get(title, {}))
    for title, columns in said.places.items():
        ops.entity("location_state", title, columns)
    for thread in said.threads:
        ops.thread(thread)
    for relation in said.portraits.relations:
        ops.link(ops.end(relation.source), relation.relation, ops.end(relation.target))
    if said.central is None:
        return
    ops.event(said.spoken[said.central])
    ends = (("involved_in", said.involved), ("occurred_at", said.where), ("mentions", said.mentioned))
    for relation_word, titles in ends:
        for title in titles:
            ops.link("event", relation_word, ops.end(title))
    for thread in said.threads:
        if thread.known is not None:
            ops.link("event", "advances", thread.known.id)


def _spoken(turn: Sequence[Message]) -> list[Spoken]:
    narrators = lexicon()["narrators"]
    found: list[Spoken] = []
    left = _MOST_CHARACTERS
    for number, message in enumerate(turn):
        author = message.author.strip() if message.author else None
        if author and author.casefold().replace(" ", "_") in narrators:
            author = None
        text, left = message.text[:left], max(0, left - len(message.text))
        for sentence in sentences(text):
            if len(found) >= _MOST_SENTENCES:
                return found
            found.append(Spoken(sentence, number, message.role, author, message.occurred_at))
    return found


class _Reading:
    """What the sentences of an English turn say, put together."""

    def __init__(self, spoken: Sequence[Spoken], known: KnownNotes) -> None:
        sentences = [one.sentence for one in spoken]
        authors = list(dict.fromkeys(one.author for one in spoken if one.author))
        self.spoken = spoken
        self.cast = Cast(sentences, known, authors)
        self.portraits = Portraits(self.cast)
        self.portraits.number(sentences)
        self.places: dict[str, dict[str, list[str]]] = {}
        self.threads: list[ThreadSaid] = []
        self._begun = {at: new for at in range(len(spoken)) if (new := self._begins(at)) is not None}
        self._read(known)
        self.central = central(spoken, self.cast, self._begun.keys())
        self.involved: list[str] = []
        self.where: list[str] = []
        self.mentioned: list[str] = []
        self._place_people()
        self.people = list(dict.fromkeys([*self.involved, *self._named("person"), *self._related(authors)]))

    def _read(self, known: KnownNotes) -> None:
        threads = Threads(known.threads)
        before: str | None = None
        message = -1
        for at, one in enumerate(self.spoken):
            if one.message != message:
                before, message = None, one.message
            self.portraits.read(at, one.sentence, one.author, before)
            before = self._antecedent(at, before)
            hypothetical = one.sentence.is_question or one.sentence.low[0] in ("if", "suppose", "imagine")
            if not hypothetical:
                for said in places_said(at, one.sentence, self.cast, known):
                    self._take(said)
            changed = threads.changed(one.sentence, is_narrated=one.role == "assistant" and one.author is None)
            if changed is not None and all(changed.known != each.known for each in self.threads):
                self.threads.append(changed)
            elif changed is None and (new := self._begun.get(at)) and not threads.is_known(new.title):
                self.threads += [new] if all(new.title != each.title for each in self.threads) else []

    def _begins(self, at: int) -> ThreadSaid | None:
        one = self.spoken[at]
        return begun(at, one.sentence, self.cast, is_person=one.role != "assistant" or one.author is not None)

    def _take(self, said: PlaceSaid) -> None:
        if said.value:
            title = said.title
            title = title[:1].lower() + title[1:] if title.split()[0].casefold() == "the" else title
            self.places.setdefault(title, {})[said.column] = [said.value]

    def _antecedent(self, at: int, before: str | None) -> str | None:
        """Whom "he" or "she" means in the sentence after number *at*."""
        sentence = self.spoken[at].sentence
        people = self.cast.of(at, "person")
        if not people:
            return before if sentence.low[0] in ("he", "she", "his", "her") else None
        titles = {self.cast.title(mention.name) for mention in people}
        return titles.pop() if len(titles) == 1 else None

    def _named(self, kind: Kind) -> list[str]:
        found = [
            self.cast.title(mention.name) for at, one in enumerate(self.spoken) for mention in self.cast.of(at, kind)
        ]
        return list(dict.fromkeys(found))

    def _related(self, authors: Sequence[str]) -> list[str]:
        ends = [end for each in self.portraits.relations for end in (each.source, each.target)]
        return [*ends, *(author for author in authors if self.portraits.columns.get(author))]

    def _place_people(self) -> None:
        people, places = self._named("person"), self._named("place")
        places = [title for title in places if not any(each.endswith(f" {title}") for each in self.places)]
        for title in places:
            self.places.setdefault(title, {})
        if self.central is None:
            return
        one = self.spoken[self.central]
        for mention in self.cast.of(self.central, "person"):
            title = self.cast.title(mention.name)
            if takes_part(one.sentence, mention) and title not in self.involved:
                self.involved.append(title)
        if one.author and is_first_person(one.sentence) and one.author not in self.involved:
            self.involved.append(self.cast.title(one.author))
        for mention in self.cast.of(self.central, "place"):
            title = self.cast.title(mention.name)
            if title in places and self.central not in self._begun and is_where(one.sentence, mention.start):
                self.where.append(title)
        self.mentioned = [title for title in people if title not in self.involved]
        self.mentioned += [title for title in places if title not in self.where]


class _Operations:
    """Operations being put together; who is known is edited, who is new is created once."""

    def __init__(self, known: KnownNotes) -> None:
        self.ops: list[Op] = []
        self._known = known
        self._ends: dict[str, str] = {}
        self._refs: set[str] = set()
        self._linked: set[tuple[str, str, str]] = set()

    def end(self, title: str) -> str:
        """Return the id or ref of who or what has this title."""
        return self._ends.get(title, "")

    def event(self, one: Spoken) -> None:
        if "event" in self._known.types:
            when = {} if one.occurred_at is None else {"occurred_at": from_micros(one.occurred_at)}
            self._create("event", "event", {"summary": summary(one), **when})

    def entity(self, type_: str, title: str, columns: Mapping[str, Sequence[str]]) -> None:
        if type_ not in self._known.types:
            return
        entity = self._known.named(title)
        if entity is not None:
            self._ends[title] = entity.id
            changes = {column: new for column, values in columns.items() if (new := _merged(entity, column, values))}
            if changes:
                self.ops.append({"op": "edit", "node_id": entity.id, "set_fields": changes})
            return
        fields = {column: list(values) if column in _LISTS else ", ".join(values) for column, values in columns.items()}
        if type_ == "character_sheet":
            short = [name for name in short_names(title) if self._known.named(name) is None]
            if aliases := [*columns.get("aliases", ()), *short]:
                fields["aliases"] = list(dict.fromkeys(aliases))
        ref = f"{'person' if type_ == 'character_sheet' else 'place'}-{len(self._refs) + 1}"
        self._ends[title] = ref
        self._create(type_, ref, fields, title=title)

    def thread(self, said: ThreadSaid) -> None:
        if "thread" not in self._known.types:
            return
        fields = {"status": said.status, "note": said.note}
        if said.known is not None:
            self.ops.append({"op": "edit", "node_id": said.known.id, "set_fields": fields})
        else:
            self._create("thread", f"thread-{len(self._refs) + 1}", fields, title=said.title)

    def link(self, source: str, relation: str, target: str) -> None:
        """Link two ends; nothing if one of them was left out."""
        if not source or not target or (source == "event" and "event" not in self._refs):
            return
        if source == target or (source, relation, target) in self._linked:
            return
        self._linked.add((source, relation, target))
        from_ = "source_ref" if source in self._refs else "source_node_id"
        to = "target_ref" if target in self._refs else "target_node_id"
        link = {to: target, "relation": relation, "direction": "outgoing"}
        if self.ops and self.ops[-1].get(from_) == source:
            self.ops[-1]["links"].append(link)
        else:
            self.ops.append({"op": "link_upsert", from_: source, "links": [link]})

    def _create(self, type_: str, ref: str, fields: dict[str, Any], title: str | None = None) -> None:
        self._refs.add(ref)
        op: Op = {"op": "create", "type": type_, "ref": ref, "fields": fields}
        if title is not None:
            op["title"] = title
        self.ops.append(op)


def _merged(entity: Entity, column: str, values: Sequence[str]) -> str | list[str] | None:
    """Return what *column* of a known note becomes, None if *values* say nothing new."""
    had = entity.aliases if column == "aliases" else entity.fields.get(column) or ()
    old = [had] if isinstance(had, str) else list(had)
    text = " ".join(map(str, old)).casefold()
    new = [value for value in values if value.casefold() not in text]
    if column == "aliases":
        new = [value for value in new if value.casefold() != entity.title.casefold()]
    if not new:
        return None
    if column in _LISTS:
        return [*old, *new]
    return ", ".join(map(str, [*old, *new])) if column == "identity" else ", ".join(new)
