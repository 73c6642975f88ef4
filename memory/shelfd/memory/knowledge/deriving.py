"""What the rules derive from one note: entities, other names of theirs, statements, edges."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.aliases import Aliases, SaidAlias, find_aliases, learned
from shelfd.memory.knowledge.entities.extract import bounded, mentions_in, weights
from shelfd.memory.knowledge.entities.kinds import EntityMention
from shelfd.memory.knowledge.entities.own import OwnTypes, own_types
from shelfd.memory.knowledge.entities.segment import segments
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.knowledge.graph.edges import EdgeReading
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.edges import Edge
from shelfd.memory.ports.entities import MentionedEntity, StoredAlias

#: Has something of most that is looked for, in sentences of their own.
_SAMPLE: Final = Note(
    content="APT28, also known as Fancy Bear, used X-Agent on 7 May 2023. The office moved from Oslo to Bergen last "
    "week, and Anna Lund works for Acme Ltd now. Status: the server 10.0.0.1 runs 2.4.1."
)


class Derived(NamedTuple):
    """What was derived of a note as it was read."""

    note: Note
    mentioned: Sequence[MentionedEntity] = ()
    learned: Sequence[StoredAlias] = ()
    stated: Sequence[Statement] | None = None  #: None if that is stored already
    edges: Sequence[Edge] = ()


def steps_of(note: Note, aliases: Aliases, types: OwnTypes, now: int, *, is_stated: bool) -> Iterator[Derived | None]:
    """Yield None after each part of a note that was read, and at last what was derived."""
    reading = EdgeReading()
    head: list[EntityMention] = []
    for segment in segments(" ".join((note.title, *note.tags))) if note.title or note.tags else ():
        found = mentions_in(segment, aliases.names, types)
        head += found
        reading.read(segment.text, found, segment.offset)
    body: list[EntityMention] = []
    said: list[SaidAlias] = []
    values: dict[tuple[str, str], str] = {}
    for segment in segments(note.content):
        found = mentions_in(segment, aliases.names, types)
        body += found
        values |= {(one.type, one.key): one.value for one in found}
        said += find_aliases(segment, found)
        reading.read(segment.text, found, segment.offset)
        yield None
    weighed = weights(bounded(head), bounded(body))
    values |= {(one.type, one.key): one.value for one in head}
    mentioned = [MentionedEntity(*name, values[name], weight) for name, weight in weighed.items()]
    is_said = said and note.live
    says = learned(said, aliases, note.row, now=now) if is_said else ()
    stated = None if is_stated else read(note.content)
    yield Derived(note, mentioned, says, stated, reading.edges(weighed.keys()))


@cache
def prepare() -> None:
    """Read a text, so that all words and patterns that reading needs are there: some 0.1 s, for a thread of its own.

    Those of other languages come with their first text: all of them take 20 MiB.
    """
    for _ in steps_of(_SAMPLE, Aliases(()), own_types(()), 0, is_stated=False):
        pass
