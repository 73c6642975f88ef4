"""The gate that every text of a caller passes before it is stored."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import structlog

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.knowledge.entities.patterns import compile_pattern
from shelfd.memory.knowledge.governance.orders import gives_orders, may_give_orders, words_of, words_of_orders
from shelfd.memory.knowledge.governance.passwords import ASSIGNING, SHORTEST, announces
from shelfd.memory.knowledge.governance.personal import personal_rules
from shelfd.memory.knowledge.governance.redacting import (
    TextPart,
    parts_of,
    text_without,
    texts_of,
    values_without,
    without,
)
from shelfd.memory.knowledge.governance.rule import Finder, TextRule
from shelfd.memory.knowledge.governance.screening import worth_a_look
from shelfd.memory.knowledge.governance.secrets import in_small_letters, secret_rules, tag_rules, worded_rules
from shelfd.memory.notes.note import NO_EXTRA, QUARANTINED, Note
from shelfd.memory.ports.intake import Intake
from shelfd.memory.ports.log import Origin
from shelfd.memory.settings import GovernanceSettings, Treatment

T = TypeVar("T")

log = structlog.get_logger("shelfd.memory")

#: What a note is filed under, by which others refer to it: it cannot be redacted.
_IDENTIFIERS: Final = ("type", "domain", "nugget", "session_id")
_names_of: Final = attrgetter("author", "subject", *_IDENTIFIERS)
#: So many names, and lines of this length, are known to hold nothing: most are said again and again.
_MOST_KNOWN: Final = 4_096
_LONGEST_LINE: Final = 64
#: Personal data that a name may be: numbers in one are most often something else.
_PERSONAL_NAMES: Final = ("email", "iban")
#: Such as a UUID: no credential is known by its shape that has no other letters.
_NUMBER: Final = re.compile("[0-9a-fA-F-]{1,128}")
#: More than so many credentials or personal data make a note that is refused: what is left of it would say little.
_MOST: Final = 64


class _Found(NamedTuple):
    """What must not be kept: the text, the rule that found it, and where it stands."""

    text: str
    rule: str
    field: str
    treatment: Treatment


class _Clean(set[T]):
    """What is known to hold nothing that must not be kept."""

    def learn(self, one: T) -> None:
        """Add *one*; when there are too many, those before are forgotten."""
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self.add(one)


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
        self._looks = self._looks_for_secrets or self._looks_for_personal_data
        self._clean_filings = _Clean[tuple[str | None, ...]]()
        self._clean_lines = _Clean[tuple[str, bool]]()
        self._clean_names = _Clean[str]()
        self._own_secrets = [
            TextRule(name, (), compile_pattern(text).expression) for name, text in settings.secret_patterns.items()
        ]
        self._refused = Counter[str]()
        self._redacted = Counter[str]()
        self._quarantined = 0

    def admit(self, note: Note, old: Note | None, origin: Origin | None) -> Note:
        """Return what may be stored of *note*. See the port."""
        if self._is_filed_anew(note):
            note = self._filed(note, old, origin)
        if old is not None and _says_the_same(note, old):
            return note
        text = _text(note)
        if self._settings.min_characters > 1:
            self._check_length(note, origin)
        words = words_of(text)
        known = _telling_words().intersection(words)  # of most text none: looked for once, for all that follows
        if self._looks_for_personal_data or (self._looks_for_secrets and self._may_hold_secrets(text, words, known)):
            note = self._without(note, self._search(parts_of(note)), origin)
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
            self._admitted(note, origin)
            if is_worth or note.extra is not NO_EXTRA or self._is_filed_anew(note)
            else note
            for note, is_worth in zip(notes, worth, strict=True)
        ]

    def _admitted(self, note: Note, origin: Origin | None) -> Note | GovernanceViolation:
        try:
            return self.admit(note, None, origin)
        except GovernanceViolation as error:
            return error

    def admit_line(self, text: str, field: str, origin: Origin | None) -> str:
        """Return what may be stored of a line beside a note. See the port."""
        part = TextPart(field, text)
        if (text, part.is_folded) in self._clean_lines:
            return text
        found = self._search([part])
        if not found:
            if len(text) <= _LONGEST_LINE:
                self._clean_lines.learn((text, part.is_folded))
            return text
        self._check(found, origin)
        return text_without(text, self._taken_out(found, origin))

    def admit_values(self, values: Mapping[str, Any], field: str, origin: Origin | None) -> dict[str, Any]:
        """Return what may be stored of values by their names. See the port."""
        found = self._search([TextPart(field, text) for text in texts_of(values)])
        self._check(found, origin)
        return dict(values_without(values, self._taken_out(found, origin))) if found else dict(values)

    def admit_name(self, name: str, field: str, origin: Origin | None) -> None:
        """Raise if *name* holds what must not be kept. See the port."""
        rule = self._rule_against(name)
        if rule is not None:
            why = f"is kept as it is, and holds what rule {rule} keeps out; give another"
            self._refuse(rule, field, why, origin)

    def is_name(self, name: str) -> bool:
        """Return whether :meth:`admit_name` lets *name* pass. See the port."""
        return self._rule_against(name) is None

    def _rule_against(self, name: str) -> str | None:
        if not self._looks or name in self._clean_names:
            return None
        if not self._looks_for_personal_data and not self._may_be_secret(name):
            return None  # of keys of requests each is another one
        rules: list[tuple[str, Finder]] = []
        if self._looks_for_secrets:
            # What only looks a little like a credential is let be, as in tags.
            rules += [(name.lower(), rule) for rule in _tag_rules()]
            rules += [(name, rule) for rule in (*_worded_rules(), *self._own_secrets)]
        if self._looks_for_personal_data:
            kinds = tuple(kind for kind in self._settings.personal_kinds if kind in _PERSONAL_NAMES)
            rules += [(name, rule) for rule in _personal_rules(kinds, "")]
        for text, rule in rules:
            if rule.may_find(text) and next(iter(rule.find(text)), None) is not None:
                return rule.name
        self._clean_names.learn(name)
        return None

    def is_clean(self, text: str) -> bool:
        """Return whether *text* may be kept as it is. See the port."""
        words = words_of(text)
        if self._looks_for_personal_data or (self._looks_for_secrets and self._may_hold_secrets(text, words, words)):
            return not self._search([TextPart("", text)])
        return True

    def counts(self) -> Mapping[str, Any]:
        """Return what was refused, redacted and quarantined. See the port."""
        return {"refused": dict(self._refused), "redacted": dict(self._redacted), "quarantined": self._quarantined}

    # ------------------------------------------------------------- what is found

    def _is_filed_anew(self, note: Note) -> bool:
        """Whether something that a note is filed under was not looked at yet."""
        return self._looks and _names_of(note) not in self._clean_filings

    def _filed(self, note: Note, old: Note | None, origin: Origin | None) -> Note:
        """Return *note* with what may be kept of its author and subject, and an identifier of each kind that may be."""
        if old is not None and _names_of(note) == _names_of(old):
            return note
        for field in _IDENTIFIERS:
            if (name := getattr(note, field)) is not None:
                self.admit_name(name, field, origin)
        parts = [TextPart("author", note.author or ""), TextPart("subject", note.subject)]
        found = self._search(parts)
        if not found:
            self._clean_filings.learn(_names_of(note))
            return note
        self._check(found, origin)
        taken = self._taken_out(found, origin)
        author, subject = (text_without(part.text, taken) for part in parts)
        redacted = tuple(dict.fromkeys((*note.extra.redacted, *taken.values())))
        extra = note.extra._replace(redacted=redacted)
        return note._replace(author=author or None, subject=subject, extra=extra)

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

    def _may_be_secret(self, name: str) -> bool:
        """Whether it is worth while to look at a name: those that are numbers of some kind are none."""
        if not self._own_secrets and _NUMBER.fullmatch(name) is not None:
            return False
        words = words_of(name)
        return self._may_hold_secrets(name, words, words)

    def _search(self, parts: Sequence[TextPart]) -> list[_Found]:
        settings = self._settings
        kinds: list[tuple[Treatment, Sequence[Finder], Sequence[TextPart]]] = []
        if self._looks_for_secrets:
            kinds.append((settings.secrets, (*_secret_rules(), *self._own_secrets), parts))
            if folded := [part for part in parts if part.is_folded]:
                kinds.append((settings.secrets, (*_tag_rules(), *map(in_small_letters, self._own_secrets)), folded))
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
        return without(note, self._taken_out(found, origin))

    def _check(self, found: Sequence[_Found], origin: Origin | None) -> None:
        for one in found:
            if one.treatment == "refuse" or len(found) > _MOST:
                # The name of a field is text, too, and may be what was found.
                field = one.field.partition(".")[0] if any(other.text in one.field for other in found) else one.field
                self._refuse(one.rule, field, f"holds what rule {one.rule} keeps out", origin)

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
_worded_rules = cache(worded_rules)
_personal_rules = cache(personal_rules)


def _worth_asking(rules: Sequence[Finder], parts: Sequence[TextPart]) -> Sequence[Finder]:
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
        return "\n".join(part.text for part in parts_of(note))
    if not (note.title or note.tags):
        return note.content
    return "\n".join(filter(None, (note.title, note.content, *note.tags)))
