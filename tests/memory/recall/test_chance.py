"""On a large shelf many notes have some words of a question; none of them is meant by it."""

import pytest

from memory.recall.notes import index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Document, Focus, Names
from shelfd.memory.recall.focus import Judged

ROOMS = ("attic", "cellar", "garage", "kitchen", "library", "office", "pantry", "studio")
BOOKS = "Somebody is reading a novel, a thick book, in the {}"
ASKED = "which novel are we reading in the book club?"


def ask(documents: list[Document], query: str, k: int = 10, **options: object) -> list[Judged]:
    """What a query finds among *documents* and some that have no word of it."""
    others = [note(100 + at, f"Bread number {at} was baked by the neighbours") for at in range(40)]
    index = index_of(*documents, *others)
    return Focus(index, Names(index.analyzer)).recall(query, RECALLABLE, k, **options).found  # type: ignore[arg-type]


def of_rooms(text: str, count: int, session: str | None = None) -> list[Document]:
    return [note(at, text.format(room), session=session, turn=at) for at, room in enumerate(ROOMS[:count], 1)]


def test_many_notes_that_lack_the_same_are_not_meant() -> None:
    few, many = (ask(of_rooms(BOOKS, count), ASKED) for count in (3, 8))
    assert [one.relevant for one in few] == [True] * 3
    assert [one.relevant for one in many] == [False] * 8
    assert min(one.relevance for one in few) > 4 * max(one.relevance for one in many)


def test_many_notes_that_say_all_that_is_asked_are_meant() -> None:
    found = ask(of_rooms("The spare key of the {} is in a box", 8), "where is the spare key")
    assert [one.relevant for one in found] == [True] * 8


def test_the_one_that_says_more_than_the_many_is_meant() -> None:
    best = note(50, "The novel that the book club is reading is Emma")
    found = ask([*of_rooms(BOOKS, 8), best], ASKED)
    assert [one.hit.row for one in found if one.relevant] == [50]


def test_turns_of_one_conversation_that_come_back_to_a_subject_are_not_many() -> None:
    said = of_rooms(BOOKS, 8, session="talk")
    assert any(one.relevant for one in ask(said, ASKED))


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("count", [3, 8])
def test_what_is_thought_of_a_note_does_not_depend_on_how_many_are_wanted(count: int, explain: bool) -> None:
    notes = of_rooms(BOOKS, count)
    ten = ask(notes, ASKED)
    two = ask(notes, ASKED, 2, explain=explain)
    assert [one.relevance for one in two] == pytest.approx([one.relevance for one in ten[:2]])
    assert ask(notes, ASKED, 0) == []


def test_what_one_of_a_hundred_notes_has_is_rare_on_a_shelf_of_any_size() -> None:
    def rarities(size: int) -> list[float]:
        index = index_of(*(note(row, "tea cup" if row == 1 else f"cup w{row}") for row in range(1, size + 1)))
        often = [note(size + at, "kettle") for at in range(1, size // 100 + 1)]
        index.extend(often)
        return index.rarities([index.number("tea"), index.number("kettle"), index.number("cup"), None])

    small, large = rarities(100), rarities(3_000)
    assert small == pytest.approx([1.0, 1.0, small[2], 1.0])
    assert large == pytest.approx(small, abs=0.01)
