"""The gate that every text of a caller passes before it is stored."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, NoReturn

import structlog

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.knowledge.entities.patterns import compile_pattern
from shelfd.memory.knowledge.governance.orders import gives_orders, may_give_orders, words_of, words_of_orders
from shelfd.memory.knowledge.governance.passwords import ASSIGNING, SHORTEST, announces
from shelfd.memory.knowledge.governance.personal import personal_rules
from shelfd.memory.knowledge.governance.rule import Finder, TextRule
from shelfd.memory.knowledge.governance.screening import worth_a_look
from shelfd.memory.knowledge.governance.secrets import in_small_letters, secret_rules, tag_rules
from shelfd.memory.notes.note import NO_EXTRA, QUARANTINED, Note
from shelfd.memory.ports.intake import Intake
from shelfd.memory.ports.log import Origin
from shelfd.memory.settings import GovernanceSettings, Treatment

log = structlog.get_logger("shelfd.memory")

#: A tag or an alias of which so much is part of something that was taken out goes with it.
_PART: Final = 6
_TAGS: Final = "tags"
#: More than so many credentials or personal data make a note that is refused: what is left of it would say little.
_MOST: Final = 64


class _Found(NamedTuple):
    """What must not be kept: the text, the rule that found it, and where it stands."""

    text: str
    rule: str
    field: str
    treatment: Treatment


class _Part(NamedTuple):
    field: str
    text: str


class Gate(Intake):
    """Admits text by the rules of a configuration, and counts what it did not admit as it was.

    Args:
        settings: The rules.
        shelf: Name of the shelf, for the log.
    """

    def __init__(self, settings: GovernanceSettings, shelf: str) -> None:
        self._settings = settings
        self._shelf = shelf
        self._looks_for_secrets = settings.secrets != "allow"
        self._looks_for_personal_data = settings.personal_data != "allow"
        self._own_secrets = [
            TextRule(name, (), compile_pattern(text).expression) for name, text in settings.secret_patterns.items()
        ]
        self._refused = Counter[str]()
        self._redacted = Counter[str]()
        self._quarantined = 0

    def admit(self, note: Note, old: Note | None, origin: Origin | None) -> Note:
        """Return what may be stored of *note*. See the port."""
        if old is not None and _says_the_same(note, old):
            return note
        text = _text(note)
        if self._settings.min_characters > 1:
            self._check_length(note, origin)
        words = words_of(text)
        known = _telling_words().intersection(words)  # of most text none: looked for once, for all that follows
        if self._looks_for_personal_data or (self._looks_for_secrets and self._may_hold_secrets(text, words, known)):
            note = self._without(note, self._search(_parts(note)), origin)
        if old is not None and not _is_reworded(note, old):
            return note
        is_ordering = self._settings.quarantine and may_give_orders(text, words, known) and gives_orders(text, words)
        trust = QUARANTINED if is_ordering else None
        return note if note.extra.trust == trust else self._trusted(note, trust, origin)

    def admit_many(self, notes: Sequence[Note], origin: Origin | None) -> list[Note | GovernanceViolation]:
        """Return what may be stored of each of some new notes. See the port."""
        settings = self._settings
        is_plain = settings.min_characters <= 1 and not (self._looks_for_personal_data or self._own_secrets)
        if not is_plain or not notes:
            return [self._admitted(note, origin) for note in notes]
        worth = worth_a_look(list(map(_text, notes)), secrets=self._looks_for_secrets, orders=settings.quarantine)
        return [
            self._admitted(note, origin) if is_worth or note.extra is not NO_EXTRA else note
            for note, is_worth in zip(notes, worth, strict=True)
        ]

    def _admitted(self, note: Note, origin: Origin | None) -> Note | GovernanceViolation:
        try:
            return self.admit(note, None, origin)
        except GovernanceViolation as error:
            return error

    def admit_line(self, text: str, field: str, origin: Origin | None) -> str:
        """Return what may be stored of a line beside a note. See the port."""
        found = self._search([_Part(field, text)])
        self._check(found, origin)
        return _replaced(text, self._taken_out(found, origin))

    def is_clean(self, text: str) -> bool:
        """Return whether *text* may be kept as it is. See the port."""
        words = words_of(text)
        if self._looks_for_personal_data or (self._looks_for_secrets and self._may_hold_secrets(text, words, words)):
            return not self._search([_Part("", text)])
        return True

    def counts(self) -> Mapping[str, Any]:
        """Return what was refused, redacted and quarantined. See the port."""
        return {"refused": dict(self._refused), "redacted": dict(self._redacted), "quarantined": self._quarantined}

    # ------------------------------------------------------------- what is found

    def _check_length(self, note: Note, origin: Origin | None) -> None:
        least = self._settings.min_characters
        if len("".join(note.content.split())) < least:
            self._refuse("min_characters", "content", f"has fewer than {least} characters beside blanks", origin)

    def _may_hold_secrets(self, text: str, words: Sequence[bytes], known: Iterable[bytes]) -> bool:
        """Whether it is worth while to look for secrets: most notes have no word that is one, or announces one."""
        return (
            max(map(len, words), default=0) >= SHORTEST
            or not ASSIGNING.isdisjoint(known)
            or announces(text)
            or bool(self._own_secrets)
        )

    def _search(self, parts: Sequence[_Part]) -> list[_Found]:
        settings = self._settings
        kinds: list[tuple[Treatment, Sequence[Finder], Sequence[_Part]]] = []
        if self._looks_for_secrets:
            kinds.append((settings.secrets, (*_secret_rules(), *self._own_secrets), parts))
            if tags := [part for part in parts if part.field == _TAGS]:
                kinds.append((settings.secrets, (*_tag_rules(), *map(in_small_letters, self._own_secrets)), tags))
        if self._looks_for_personal_data:
            rules = _personal_rules(settings.personal_kinds, settings.phone_region)
            kinds.append((settings.personal_data, rules, parts))
        everything = (
            _Found(text, rule.name, part.field, treatment)
            for treatment, rules, among in kinds
            for rule in _worth_asking(rules, among)
            for part in among
            for text in rule.find(part.text)
        )
        found: dict[str, _Found] = {}
        for one in everything:
            found.setdefault(one.text, one)
            if len(found) > _MOST:
                break
        return list(found.values())

    # ------------------------------------------------------------- what becomes of it

    def _without(self, note: Note, found: Sequence[_Found], origin: Origin | None) -> Note:
        if not found:
            return note
        self._check(found, origin)
        in_key = next((one for one in found if note.key is not None and one.field == "title"), None)
        if in_key is not None:
            self._refuse(in_key.rule, "key", f"holds what rule {in_key.rule} keeps out", origin)
        return _redacted(note, self._taken_out(found, origin))

    def _check(self, found: Sequence[_Found], origin: Origin | None) -> None:
        for one in found:
            if one.treatment == "refuse" or len(found) > _MOST:
                self._refuse(one.rule, one.field, f"holds what rule {one.rule} keeps out", origin)

    def _refuse(self, rule: str, field: str, why: str, origin: Origin | None) -> NoReturn:
        self._refused[rule] += 1
        log.warning("text.refused", **self._about(origin), rule=rule, field=field)
        raise GovernanceViolation(why, rule=rule, field=field)

    def _taken_out(self, found: Sequence[_Found], origin: Origin | None) -> dict[str, str]:
        """The rule of each text that is taken out."""
        taken = {one.text: one.rule for one in found}
        for rule in taken.values():
            self._redacted[rule] += 1
        for rule in dict.fromkeys(taken.values()):
            log.info("text.redacted", **self._about(origin), rule=rule)
        return taken

    def _trusted(self, note: Note, trust: str | None, origin: Origin | None) -> Note:
        if trust == QUARANTINED:
            self._quarantined += 1
            log.warning("note.quarantined", **self._about(origin), id=note.id)
        return note._replace(extra=note.extra._replace(trust=trust))

    def _about(self, origin: Origin | None) -> dict[str, str]:
        if origin is None:
            return {"shelf": self._shelf}
        about = {"principal": origin.principal, "method": origin.method, "request_id": origin.request_id}
        return {"shelf": self._shelf, **{name: value for name, value in about.items() if value is not None}}


@cache
def _telling_words() -> frozenset[bytes]:
    """Words by which a text may hold secrets, or give orders."""
    return ASSIGNING | words_of_orders()


#: Made when the first text needs them: that takes some milliseconds, which the start has not.
_secret_rules = cache(secret_rules)
_tag_rules = cache(tag_rules)
_personal_rules = cache(personal_rules)


def _worth_asking(rules: Sequence[Finder], parts: Sequence[_Part]) -> Sequence[Finder]:
    """Return those of *rules* that may find something in any of *parts*: of most notes, two of forty."""
    text = "\n".join([part.text for part in parts])
    return [rule for rule in rules if rule.may_find(text)]


def _says_the_same(note: Note, old: Note) -> bool:
    return note.tags == old.tags and note.extra.source_ref == old.extra.source_ref and not _is_reworded(note, old)


def _is_reworded(note: Note, old: Note) -> bool:
    """Whether a note says something else than before; what it is filed under is nothing it says."""
    return (
        note.content != old.content
        or note.title != old.title
        or note.extra.fields != old.extra.fields
        or note.extra.aliases != old.extra.aliases
    )


def _text(note: Note) -> str:
    """All that a note says, in lines: of nearly every one its content, title and tags."""
    extra = note.extra
    if extra is not NO_EXTRA and (extra.aliases or extra.fields or extra.source_ref is not None):
        return "\n".join(part.text for part in _parts(note))
    if not (note.title or note.tags):
        return note.content
    return "\n".join(filter(None, (note.title, note.content, *note.tags)))


def _parts(note: Note) -> list[_Part]:
    """The texts of a note, and where each stands."""
    extra = note.extra
    parts = [_Part("title", note.title), _Part("content", note.content)]
    parts += [_Part(_TAGS, tag) for tag in note.tags]
    parts += [_Part("aliases", alias) for alias in extra.aliases]
    for name, value in extra.fields.items():
        # With its name: what is no secret by itself may be one that is assigned.
        parts += [_Part(f"fields.{name}", f"{name}: {text}") for text in _texts(value)]
    if extra.source_ref is not None:
        parts.append(_Part("source_ref", extra.source_ref))
    return [part for part in parts if part.text]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            for text in _texts(item):
                yield f"{name}: {text}"
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _redacted(note: Note, taken: Mapping[str, str]) -> Note:
    """The note without the texts that are taken out, with the names of their rules in their places."""
    extra = note.extra
    lowered = [text.lower() for text in taken]

    def is_part(name: str) -> bool:
        name = name.lower()
        return any(text in name or (len(name) >= _PART and name in text) for text in lowered)

    rules = dict.fromkeys((*extra.redacted, *taken.values()))
    return note._replace(
        title=_replaced(note.title, taken),
        content=_replaced(note.content, taken),
        tags=tuple(tag for tag in note.tags if not is_part(tag)),
        extra=extra._replace(
            aliases=tuple(alias for alias in extra.aliases if not is_part(alias)),
            fields=_cleaned(extra.fields, taken) if extra.fields else extra.fields,
            source_ref=None if extra.source_ref is None else _replaced(extra.source_ref, taken),
            redacted=tuple(rules),
        ),
    )


def _cleaned(value: Any, taken: Mapping[str, str]) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return _replaced(value, taken)
    if isinstance(value, Mapping):
        return {name: _cleaned(item, taken) for name, item in value.items()}
    return [_cleaned(item, taken) for item in value] if isinstance(value, list | tuple) else value


def _replaced(text: str, taken: Mapping[str, str]) -> str:
    for found in sorted(taken, key=len, reverse=True):  # one may be part of another
        if found in text:
            text = text.replace(found, f"[redacted: {taken[found]}]")
    return text
