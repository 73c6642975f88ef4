"""How probable it is that a part of a note, such as a sentence, says what is asked."""

from collections.abc import Set as AbstractSet

from shelfd.memory.recall.document import Words
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.relevance import Calibration, DocumentContext, ResolvedQuestion, match, observe

#: A part has no name, and is compared with parts of notes that were found.
_CONTEXT = DocumentContext(frozenset(), -1.0, 1.0)


class PassageJudge:
    """Judges parts of notes by a question as documents are judged: by the same features and constants.

    Good until the index has new words.

    Args:
        index: Of the shelf.
        question: As the index knows it.
        constants: By which it judges.
    """

    def __init__(self, index: RecallIndex, question: ResolvedQuestion, constants: Calibration) -> None:
        self._index = index
        self._question = question
        self._constants = constants

    def words_around(self, row: int) -> AbstractSet[int]:
        """Return which of the question's terms a note has anywhere, or the one before it in its session; by number."""
        if row not in self._index:
            return frozenset()
        words = self._index.words_of(row, self._question.numbers)
        return words.own | words.previous

    def judge(self, text: str, around: AbstractSet[int]) -> float:
        """Return how probable it is that *text* says what is asked, 0 to 1.

        Args:
            text: A part of a note.
            around: What is said around it, see :meth:`words_around`; it counts as the note before a note does.
        """
        analyzer, question = self._index.analyzer, self._question
        parsed = analyzer.parse_text(text)
        terms = {analyzer.term(word) for word in (*parsed.words, *parsed.beside)}
        own = self._index.numbers(terms) & question.numbers
        words = Words(own, around - own, parsed.answer_types, parsed.question)
        return self._constants.probability(observe(question, words, match(question, words), _CONTEXT))
