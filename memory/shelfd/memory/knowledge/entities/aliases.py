"""Names that mean the same: those that everybody knows, those that callers gave, those that notes say."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from json import loads
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.gazetteer import Gazetteer, known_names
from shelfd.memory.knowledge.entities.identifiers import SET_NUMBER
from shelfd.memory.knowledge.entities.kinds import (
    RELATED,
    EntityMention,
    EntityName,
    family,
    key_of,
    mention,
    related_types,
    shown,
)
from shelfd.memory.knowledge.entities.segment import Segment
from shelfd.memory.notes.words import fold, letters
from shelfd.memory.ports.entities import (
    EntitiesView,
    EntityNode,
    PlacedRow,
    StoredAlias,
    StoredEntity,
    placed_row,
)

_NUMBER: Final = re.compile(r"(?<=[^\W\d])(?=\d)")
_FIRST: Final = re.compile(r"(?:APT|FIN|UNC|TA) ?-?\d", re.IGNORECASE)


#: Entities of which is kept what they are in the graph: some megabytes of names.
_PLACED_KEPT: Final = 16_384
#: Aliases of one shelf that are known at once: all that callers give, for there are no more of these, then notes'.
ALIASES_KNOWN: Final = 2000


class _Step(NamedTuple):
    """To which name an alias leads, how that is written, and how the alias is shown."""

    key: str
    name: str
    alias: str = ""


@lru_cache(maxsize=1)
def built_in() -> dict[EntityName, _Step]:
    """Return the aliases that every shelf knows, by family and canonical form."""
    text = files("shelfd.memory.knowledge.entities").joinpath("aliases.json").read_text("utf-8")
    found: dict[EntityName, _Step] = {}
    for type_, groups in loads(text).items():
        if type_ == "about":
            continue
        for group in groups:
            first, *others = group.split(";")
            for name in others:
                found[EntityName(type_, key_of(type_, name))] = _Step(key_of(type_, first), first, shown(type_, name))
    return found


class _Steps(dict[EntityName, _Step]):
    """Where names lead: of several steps from one the first counts, and none that would close a circle.

    No alias closes one when it is given or learned. But two notes that are read together, or one and a caller
    meanwhile, may say of each other what does; then what comes first holds. What everybody knows comes last.
    """

    def __init__(self, stored: Sequence[StoredAlias]) -> None:
        super().__init__()
        self._onward: dict[EntityName, EntityName] = {}  # to names further on, the last one that was known
        for alias in stored:
            step = _Step(alias.canonical, alias.canonical_name, alias.name)
            self._add(EntityName(alias.family, alias.alias), step)
        for name, step in built_in().items():
            self._add(name, step)

    def _add(self, name: EntityName, step: _Step) -> None:
        if name in self:
            return
        if step.key:
            last = self.last(EntityName(name.type, step.key))
            if last == name:
                return
            self._onward[name] = last
        self[name] = step

    def last(self, name: EntityName) -> EntityName:
        """Return the last name to which one leads, itself if to none."""
        passed = []
        while (onward := self._onward.get(name)) is not None:
            passed.append(name)
            name = onward
        self._onward |= dict.fromkeys(passed, name)
        return name

    def root(self, name: EntityName) -> _Step:
        """Return the last step to take from a name; one to itself if there is none."""
        step = _Step(name.key, "")
        while (following := self.get(EntityName(name.type, step.key))) is not None and following.key:
            step = following
        return step


class Aliases:
    """All aliases of a shelf.

    Args:
        stored: Those of the shelf: a caller's before notes', older notes' first.
    """

    def __init__(self, stored: Sequence[StoredAlias]) -> None:
        self._stored = stored
        self._steps = _Steps(stored)
        self._placed: dict[int, PlacedRow] = {}
        self._said: dict[int, list[StoredAlias]] = {}
        for alias in stored:
            if alias.note:
                self._said.setdefault(alias.note, []).append(alias)
        self._groups: dict[tuple[str, str], list[str]] = {}  # by family and the name that stands for them
        for name in self._steps:
            self._groups.setdefault(self._steps.last(name), []).append(name.key)

    @cached_property
    def names(self) -> Gazetteer:
        """Finds the names that only this shelf knows."""
        found = [
            (alias.type, name)
            for alias in self._stored
            if alias.canonical
            for name in (alias.name, alias.canonical_name)
        ]
        return Gazetteer(dict.fromkeys(found))

    @property
    def has_names(self) -> bool:
        """Whether :attr:`names` is made, which takes 20 ms of 2,000 aliases."""
        return "names" in vars(self)

    @cached_property
    def _spelled(self) -> Mapping[EntityName, str]:
        """How names are written."""
        spelled = {EntityName(name.type, step.key): step.name for name, step in self._steps.items() if step.key}
        return spelled | {name: step.alias for name, step in self._steps.items() if step.alias}

    @cached_property
    def _telling_words(self) -> frozenset[str]:
        """Words of which every name has one."""
        words = (letters(name) or [""] for name in self._spelled.values())
        return frozenset(max(some, key=len) for some in words)

    def chain(self, type_: str, value: str) -> list[str]:
        """Return the canonical forms to which *value* leads one after another; none if it is no alias."""
        found: list[str] = []
        name = EntityName(family(type_), key_of(type_, value))
        while (step := self._steps.get(name)) is not None and step.key:
            found.append(step.key)
            name = EntityName(name.type, step.key)
        return found

    def meant_by(self, type_: str, value: str) -> str | None:
        """Return what *value* is another name of, as it is written; None if it is no alias."""
        step = self._steps.get(EntityName(family(type_), key_of(type_, value)))
        return step.name if step is not None and step.key else None

    def leads_to(self, type_: str, value: str) -> str:
        """Return the canonical form of the name that stands for *value*."""
        return self._steps.last(EntityName(family(type_), key_of(type_, value))).key

    def canonical(self, type_: str, value: str) -> str:
        """Return the name that stands for *value*, as it is shown."""
        root = self._steps.root(EntityName(family(type_), key_of(type_, value)))
        return shown("intrusion_set" if _FIRST.match(root.name) else type_, root.name or value)

    def group(self, type_: str, value: str) -> list[str]:
        """Return the canonical forms of all names that mean the same as *value*, the one that stands for them first."""
        root = self.leads_to(type_, value)
        return list(dict.fromkeys([root, *self._groups.get(EntityName(family(type_), root), ())]))

    def same(self, type_: str, value: str) -> list[tuple[str, str]]:
        """Return the types and canonical forms under which notes mention what *value* names."""
        return [(other, key) for key in self.group(type_, value) for other in related_types(type_)]

    def node(self, entity: StoredEntity) -> EntityNode:
        """Return what an entity is in the graph. See the port."""
        _, type_, key, value = entity
        related = RELATED.get(type_)
        group = type_ if related is None else related[0]
        step = self._steps.get(EntityName(group, key))
        if step is None or not step.key:
            return EntityNode(group, key, type_, value)
        root = self._steps.root(EntityName(group, key))
        type_ = "intrusion_set" if _FIRST.match(root.name) else type_
        return EntityNode(group, root.key, type_, shown(type_, root.name))

    def names_of(self, node: EntityNode) -> list[tuple[str, str]]:
        """Return type and canonical form of all names of a node. See the port."""
        group, key, type_, _ = node
        types = related_types(type_)
        if (others := self._groups.get((group, key))) is None:  # as of most nodes
            return [(other, key) for other in types]
        return [(other, name) for name in dict.fromkeys((key, *others)) for other in types]

    def placed(self, numbers: Sequence[int], entities: EntitiesView) -> Mapping[int, PlacedRow]:
        """Return what some entities are in the graph, by number. See the port."""
        known = self._placed
        missing = [number for number in numbers if number not in known]
        if missing:
            if len(self._placed) >= _PLACED_KEPT:
                self._placed.clear()
                missing = list(numbers)
            self._placed |= {one.number: placed_row(one, self.node(one)) for one in entities.numbered(missing)}
        return self._placed

    def is_known(self, type_: str, key: str) -> bool:
        """Return whether this canonical form is one of several names of something."""
        name = EntityName(family(type_), key)
        return name in self._steps or name in self._groups

    def was_taken_back(self, type_: str, key: str) -> bool:
        """Return whether a caller took back that this canonical form is another name of something."""
        step = self._steps.get(EntityName(family(type_), key))
        return step is not None and not step.key

    def said_by(self, row: int) -> Sequence[StoredAlias]:
        """Return the aliases that a note was found to say."""
        return self._said.get(row, ())

    def changed(self, row: int, says: Sequence[StoredAlias]) -> list[str]:
        """Return the names in which what a note *says* differs from what it was found to say."""
        if not says and row not in self._said:
            return []
        then = {(one.alias, one.canonical): one for one in self.said_by(row)}
        now = {(one.alias, one.canonical): one for one in says}
        differing = [*(then[pair] for pair in then.keys() - now), *(now[pair] for pair in now.keys() - then)]
        return [name for one in differing for name in (one.name, one.canonical_name)]

    def spelled(self, type_: str, key: str) -> str:
        """Return a name as it is written, by its canonical form."""
        return self._spelled.get(EntityName(family(type_), key), key).replace("-", " ")

    @cached_property
    def _accented(self) -> Mapping[EntityName, str]:
        """How names are written that have accents, by the form without."""
        return {
            EntityName(name.type, fold(name.key)): written
            for name, written in self._spelled.items()
            if name.key != fold(name.key)
        }

    def accented(self, type_: str, value: str) -> str | None:
        """Return the name that differs from *value* in accents alone, as it is written; None if no alias has such."""
        name = EntityName(family(type_), key_of(type_, value))
        if name in self._steps or name in self._groups:
            return None
        return self._accented.get(EntityName(name.type, fold(name.key)))

    def spellings(self, type_: str, value: str) -> set[str]:
        """Return how a text may write what *value* names, but for case."""
        found = {value}
        for key in self.group(type_, value):
            found |= {key, self.spelled(type_, key), _NUMBER.sub(" ", key)}
        return found

    def may_name(self, text: str) -> bool:
        """Return whether *text* can hold a name that has another one; most texts cannot."""
        return not self._telling_words.isdisjoint(letters(text))

    def in_text(self, text: str) -> list[tuple[str, str, str]]:
        """Return names in *text* that have another one: as they stand there, their type and canonical form."""
        segment = Segment(text)
        found = [
            *(mention("intrusion_set", said[0], *said.span()) for said in SET_NUMBER.finditer(text)),
            *(self.names.find(segment) if self.names else ()),
            *known_names().find(segment),
        ]
        return [(text[one.start : one.end], one.type, one.key) for one in found if self.is_known(one.type, one.key)]


#: Words that say that what follows is another name.
_CUE: Final = re.compile(
    r"[\s,;]*[(\[]?\s*(?:(?:which is |who is |is |was |are )?"
    r"(?:also|better|otherwise|formerly|previously|widely) (?:known|tracked|called|referred to|named) (?:as|by)"
    r"|also called|a\.k\.a\.|aka|alias)\s+(?:the (?:group|name) )?[\"“'‘]?",
    re.IGNORECASE,
)
_CUE_WORDS: Final = re.compile(r"\b(?:known|tracked|called|referred|named|aka|a\.k\.a|alias)\b", re.IGNORECASE)
#: One of the words of a segment, where that has one of these.
_CUE_PARTS: Final = frozenset("known tracked called referred named aka k alias".split())
_BEFORE: Final = re.compile(r"((?:[A-Z][\w$-]*|\d[\w-]*)(?: (?:[A-Z][\w$-]*|\d[\w-]*)){0,3})[\"”'’]?$")
_AFTER: Final = re.compile(r"(?:[A-Z][\w$-]*|\d[\w-]*)(?: (?:[A-Z][\w$-]*|\d[\w-]*)){0,3}")
_LOWER: Final = re.compile(r"[a-z][\w-]+")
_SORTS: Final = {
    **dict.fromkeys(("group", "actor", "gang", "adversary", "apt", "cluster"), "actor"),
    **dict.fromkeys(("malware", "backdoor", "trojan", "ransomware", "worm", "botnet", "loader", "stealer"), "malware"),
    **dict.fromkeys(("tool", "toolkit", "framework", "utility", "program"), "tool"),
    **dict.fromkeys(("campaign", "operation"), "campaign"),
    **dict.fromkeys(("company", "firm", "vendor", "startup"), "organization"),
}
_MAY_HAVE: Final = frozenset(
    "actor threat_actor intrusion_set tool malware person organization campaign location event asset".split()
)


class SaidAlias(NamedTuple):
    """What a text says of two names: that they mean the same."""

    type: str
    name: str
    other: str


def find_aliases(segment: Segment, mentions: Sequence[EntityMention]) -> Iterator[SaidAlias]:
    """Yield what *segment* says of names that mean the same: "X, also known as Y"."""
    text = segment.text
    if (text.isascii() and _CUE_PARTS.isdisjoint(segment.low)) or _CUE_WORDS.search(text) is None:
        return
    for cue in _CUE.finditer(text):
        before, after = _BEFORE.search(text, max(0, cue.start() - 120), cue.start()), _AFTER.match(text, cue.end())
        if before is None:
            continue
        name = before[1].removeprefix("The ")
        other = after[0] if after is not None else ""
        begin = segment.offset + before.start()
        end = segment.offset + cue.end() + len(other)
        near = [one for one in mentions if begin <= one.start and one.end <= end and one.type in _MAY_HAVE]
        sort = text[: before.start()].split()[-1:]
        type_ = near[0].type if near else _SORTS.get(sort[0].lower(), "") if sort else ""
        if not other and type_ in {"tool", "malware"} and (low := _LOWER.match(text, cue.end())):
            other = low[0]
        if type_ and other and key_of(type_, name) != key_of(type_, other):
            yield SaidAlias(type_, name, other)


def learned(said: Iterable[SaidAlias], known: Aliases, row: int, *, now: int) -> list[StoredAlias]:
    """Return the aliases to store of what a note says: what is known without it, or joins two groups, is left out."""
    found = []
    then = {frozenset((one.alias, one.canonical)): one for one in known.said_by(row)}
    for type_, *names in said:
        name, other = names
        key, other_key = key_of(type_, name), key_of(type_, other)
        if (before := then.get(frozenset((key, other_key)))) is not None:
            found.append(before)
            continue
        if known.was_taken_back(type_, key) or known.was_taken_back(type_, other_key):
            continue  # of what is not said: of none, then, in either direction
        if known.leads_to(type_, name) == known.leads_to(type_, other):
            continue
        if known.is_known(type_, other_key):
            if known.is_known(type_, key):
                continue
            name, other, key, other_key = other, name, other_key, key
        found.append(StoredAlias(family(type_), other_key, other, key, name, type_, 0, now))
    return found
