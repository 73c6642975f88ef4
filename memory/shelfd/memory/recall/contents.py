"""The parts of an index, put together."""

from dataclasses import dataclass

from shelfd.memory.recall.authors import Authors
from shelfd.memory.recall.columns import Columns
from shelfd.memory.recall.filtering import Filtering
from shelfd.memory.recall.links import Links
from shelfd.memory.recall.postings import Postings
from shelfd.memory.recall.statistics import Statistics
from shelfd.memory.recall.vocabulary import Vocabulary


@dataclass(slots=True)
class Contents:
    """Everything the index holds; all parts speak of the same ordinals and term numbers."""

    vocabulary: Vocabulary
    authors: Authors
    columns: Columns
    postings: Postings
    statistics: Statistics
    links: Links
    filtering: Filtering
    revision: int = 0  #: how often documents were put, removed or given other ordinals

    def layer(self, count: int) -> "Contents":
        """Return the same contents, free to change and to take *count* documents; good until these change."""
        columns, statistics = self.columns.layer(count), self.statistics.copy()
        postings = self.postings.layer(columns.alive)
        return Contents(
            vocabulary=self.vocabulary.layer(),
            authors=self.authors.copy(),
            columns=columns,
            postings=postings,
            statistics=statistics,
            links=self.links.layer(columns, postings, statistics),
            filtering=self.filtering.over(columns, postings),
        )
