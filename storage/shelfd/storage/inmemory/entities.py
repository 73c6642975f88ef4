"""The twin's entities."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Mapping, Sequence
from typing import Any

from shelfd.memory.ports.entities import (
    EntitiesWriter,
    EntityCount,
    MentionedEntity,
    NoteEntities,
    StoredAlias,
    StoredEntity,
)
from shelfd.storage.encoding import decode, encode
from shelfd.storage.inmemory.tables import InMemoryRows, Tables


class InMemoryEntities(InMemoryRows, EntitiesWriter):
    """Entities."""

    def get(self, type_: str, key: str) -> StoredEntity | None:
        return self._tables.entities.get((type_, key))

    def called(self, names: Sequence[tuple[str, str]]) -> list[StoredEntity]:
        return [found for name in dict.fromkeys(names) if (found := self.get(*name)) is not None]

    def numbered(self, numbers: Sequence[int]) -> list[StoredEntity]:
        wanted = set(numbers)
        return [one for one in self._tables.entities.values() if one.number in wanted]

    def beginning(self, type_: str, key: str, *, limit: int) -> list[StoredEntity]:
        found = [one for one in self._tables.entities.values() if one.type == type_ and one.key.startswith(key)]
        return sorted(found, key=lambda one: one.key)[: max(limit, 0)]

    def of_note(self, row: int) -> list[MentionedEntity]:
        by_number = {entity.number: entity for entity in self._tables.entities.values()}
        mentioned = [
            (by_number[number], weight) for (number, note), weight in self._tables.mentions.items() if note == row
        ]
        return sorted(MentionedEntity(entity.type, entity.key, entity.value, weight) for entity, weight in mentioned)

    def notes(self, number: int, *, weight: int, before: int | None, limit: int) -> list[int]:
        found = [
            note
            for (entity, note), its_weight in self._tables.mentions.items()
            if entity == number and its_weight == weight and (before is None or note < before)
        ]
        return sorted(found, reverse=True)[: max(limit, 0)]

    def counts(self) -> list[EntityCount]:
        types = sorted({entity.type for entity in self._tables.entities.values()})
        found = []
        for type_ in types:
            numbers = {entity.number for entity in self._tables.entities.values() if entity.type == type_}
            mentions = sum(number in numbers for number, _ in self._tables.mentions)
            found.append(EntityCount(type_, len(numbers), mentions))
        return found

    def aliases(self, *, limit: int) -> list[StoredAlias]:
        found = sorted(self._tables.aliases.values(), key=lambda alias: (alias.note, alias.family, alias.alias))
        return found[: max(limit, 0)]

    def said_by(self, row: int) -> list[StoredAlias]:
        return [alias for alias in self.aliases(limit=len(self._tables.aliases)) if alias.note == row > 0]

    def named(self, aliases: Sequence[str]) -> list[StoredAlias]:
        return [alias for alias in self.aliases(limit=len(self._tables.aliases)) if alias.alias in aliases]

    def position(self) -> Mapping[str, Any] | None:
        return self._tables.enrichment.get("position")

    def put(self, found: Sequence[NoteEntities]) -> None:
        for one in found:
            self._put(*one)

    def _put(self, row: int, mentioned: Sequence[MentionedEntity], learned: Sequence[StoredAlias], text: int) -> None:
        tables = self._tables
        of_text, read = tables.read_mentions.get(row, (text, ()))
        if of_text != text:
            tables.remove(tables.read_mentions, row)
            read = ()
        names = {one[:2] for one in mentioned}
        mentioned = [*mentioned, *(one for one in read if one[:2] not in names)]
        forget_entities(tables, row, keep=frozenset(one[:2] for one in mentioned))
        self._add(row, mentioned)
        for alias in learned:
            self.put_alias(alias._replace(note=row))

    def put_read(self, row: int, mentioned: Sequence[MentionedEntity], *, text: int) -> None:
        self._tables.put(self._tables.read_mentions, row, (text, tuple(mentioned)))
        known = {one[:2] for one in self.of_note(row)}
        self._add(row, [one for one in mentioned if one[:2] not in known])

    def _add(self, row: int, mentioned: Sequence[MentionedEntity]) -> None:
        for one in mentioned:
            entity = entity_of(self._tables, one.type, one.key, one.value)
            self._tables.put(self._tables.mentions, (entity.number, row), one.weight)

    def put_alias(self, alias: StoredAlias) -> None:
        self._tables.put(self._tables.aliases, (alias.family, alias.alias, alias.note), alias)

    def delete_aliases(self, family: str, alias: str) -> int:
        found = [key for key in self._tables.aliases if key[:2] == (family, alias)]
        return sum(self._tables.remove(self._tables.aliases, key) for key in found)

    def put_position(self, position: Mapping[str, Any]) -> None:
        self._tables.put(self._tables.enrichment, "position", decode(encode(position)))


def forget_entities(tables: Tables, row: int, *, keep: frozenset[tuple[str, str]] = frozenset()) -> None:
    """Delete what a note mentions, entities that nothing else keeps, and the aliases it says."""
    for key in [key for key in tables.aliases if key[2] == row > 0]:
        tables.remove(tables.aliases, key)
    for mention in [mention for mention in tables.mentions if mention[1] == row]:
        tables.remove(tables.mentions, mention)
    drop_unused(tables, keep=keep)


def entity_of(tables: Tables, type_: str, key: str, value: str) -> StoredEntity:
    """Return an entity, which is added if it is not there."""
    entity = tables.entities.get((type_, key))
    if entity is None:
        tables.entity_number += 1
        entity = StoredEntity(tables.entity_number, type_, key, value)
        tables.put(tables.entities, (type_, key), entity)
    return entity


def drop_unused(tables: Tables, *, keep: frozenset[tuple[str, str]] = frozenset()) -> None:
    """Delete the entities that no note mentions and that have no edge, but for those to *keep*."""
    mentioned = {number for number, _ in tables.mentions}
    linked = {end for source, target, *_ in tables.edges for end in (source, target)}
    for name, entity in list(tables.entities.items()):
        if entity.number not in mentioned and name not in linked and name not in keep:
            tables.remove(tables.entities, name)
