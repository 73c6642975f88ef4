"""Documents into an index and out of it, and the tidying that follows."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, islice
from typing import Final

import numpy as np

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.columns import HIDDEN, Living
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.document import Document, fields_of
from shelfd.memory.recall.document_reader import DocumentReader
from shelfd.memory.recall.inverted import STEP
from shelfd.memory.recall.links import unlinked
from shelfd.memory.recall.renumbering import Renumbering

_SMALLEST_RENUMBERING: Final = 4_096  # dead ordinals
_FEW: Final = 4  #: documents


class DocumentWriter:
    """Changes the contents of an index.

    Args:
        contents: Of the index.
        living: Its rows.
        analyzer: Tokeniser of texts.
        renumbered: Called when documents have other ordinals.
    """

    def __init__(
        self, contents: Contents, living: Living, analyzer: Analyzer, *, renumbered: Callable[[], None]
    ) -> None:
        self._contents = contents
        self._living = living
        self._reader = DocumentReader(analyzer, contents.vocabulary, contents.authors)
        self._renumbered = renumbered
        self._renumbering: Renumbering | None = None

    def extend(self, documents: Iterable[Document]) -> None:
        """Put documents, each in place of the one of the same row."""
        some: list[Document] = []
        source = iter(documents)
        try:
            while True:
                room = self._contents.postings.room
                some.extend(islice(source, room))
                if len(some) < room:
                    break
                full, some = some, []
                self.store(full)
                self._tidy()
        finally:  # what came before an interruption is kept
            if some:
                self.store(some)
                self._tidy()

    def store(self, documents: Sequence[Document]) -> None:
        """Put documents, for which there is room in the delta, and leave the tidying for later."""
        contents = self._contents
        contents.revision += 1
        columns, links = contents.columns, contents.links
        fields = fields_of(documents)
        read = self._reader.read(documents, fields)
        lengths, speakers = list(read.columns["length"]), list(read.columns["speaker"])
        columns_read = {**read.columns, **contents.filtering.read(fields), **unlinked(lengths)}
        tags = list(map(contents.filtering.tag_codes, fields["tags"]))
        first = columns.extend(len(documents), columns_read)
        contents.postings.extend(read.written, fields["id"], tags)
        contents.filtering.extend(first, fields)
        retired: list[int] = []
        all_shown = True not in fields["hidden"]
        if all_shown and len(documents) > _FEW and self._living.extend(fields["row"], first):
            links.extend(first, len(documents))
        else:
            for ordinal, (row, hidden) in enumerate(zip(fields["row"], fields["hidden"], strict=True), first):
                self._retire(row, retired)
                links.insert(ordinal, hidden=hidden)
                self._living.put(row, ordinal)
        contents.statistics.reserve(contents.vocabulary.size)
        terms = read.written.terms
        if not all_shown:
            shown = [not hidden for hidden in fields["hidden"]]
            terms = terms[np.repeat(shown, read.written.sizes)]
            lengths, speakers = list(compress(lengths, shown)), list(compress(speakers, shown))
        for speaker in speakers:
            contents.authors.add(speaker)
        contents.statistics.count(terms, len(lengths), sum(lengths), 1)
        self._count(retired)

    def remove(self, rows: Iterable[int]) -> None:
        """Remove the documents of *rows*; an unknown row is no error."""
        self._contents.revision += 1
        retired: list[int] = []
        for row in rows:
            self._retire(row, retired)
        self._count(retired)
        self._tidy()

    def erase(self, rows: set[int]) -> None:
        """Remove documents and keep nothing of them, nor of what they said before."""
        contents = self._contents
        contents.revision += 1
        columns = contents.columns
        retired: list[int] = []
        for row in rows:
            self._retire(row, retired)
        self._count(retired)
        (dead,) = (columns.flags[: columns.size] == 0).nonzero()
        dead = dead[np.isin(columns.row[dead], list(rows))]
        self._stop_renumbering()
        contents.postings.erase(dead.tolist())
        columns.erase(dead)

    def compact(self) -> None:
        """Make everything one segment and free what dead documents hold."""
        self._stop_renumbering()
        self._contents.postings.compact()

    def merge_some(self) -> bool:
        """Take a step of what merging there is to do, some milliseconds; return whether there was any."""
        return (self._renumber_some() or self._contents.postings.merge_quietly()) > 0

    def _tidy(self) -> None:
        living = len(self._living)
        if self._renumbering is None and self._contents.columns.size - living > max(_SMALLEST_RENUMBERING, living):
            self._renumbering = Renumbering(self._contents)
        self._contents.postings.tidy(self._renumber_some)

    def _retire(self, row: int, retired: list[int]) -> None:
        """Mark the present version of *row*, if any, dead and unlink it; add it to *retired* if it was visible."""
        ordinal = self._living.get(row)
        if ordinal < 0:
            return
        self._living.put(row, -1)
        contents = self._contents
        columns = contents.columns
        hidden = bool(columns.flags[ordinal] & HIDDEN)
        contents.links.withdraw(ordinal, hidden=hidden)
        if not hidden:
            retired.append(ordinal)
            contents.authors.discard(int(columns.speaker[ordinal]))
        columns.flags[ordinal] = 0

    def _count(self, retired: Sequence[int]) -> None:
        """Count what links have changed, and no longer those that were *retired*."""
        contents = self._contents
        contents.links.count()
        if retired:
            ordinals = np.array(retired, np.int64)
            _, terms = contents.postings.gather(ordinals)
            tokens = int(contents.columns.length[ordinals].sum())
            contents.statistics.count(terms, len(retired), tokens, -1)

    def _renumber_some(self) -> int:
        """Take a step of renumbering, if there is any to do; return about how many postings that was."""
        if self._renumbering is None:
            return 0
        done = self._renumbering.step()
        if not done and self._renumbering.is_finished:
            self._renumbering = None
        elif not done:
            self._contents.revision += 1
            self._renumbering.finish()
            self._living.fill(self._contents.columns)
            self._renumbered()
            done = STEP
        return done

    def _stop_renumbering(self) -> None:
        if self._renumbering is not None:
            self._renumbering = None
            self._contents.postings.release()
