"""What names somebody or something anywhere in a note, and what only has the words."""

import pytest

from shelfd.memory.knowledge.entities.naming import names_any, sought_names
from shelfd.memory.notes.note import Extra, Note


def is_named(note: Note, name: str, type_: str = "person") -> bool:
    return names_any(sought_names(type_, [name]), note)


def says(text: str, name: str = "Karla Wolff", type_: str = "person") -> bool:
    return is_named(Note(content=text), name, type_)


@pytest.mark.parametrize(
    "text",
    [
        "karla wolff rang", "KARLA WOLFF!", "Wolff, Karla: paid", "Ｋａｒｌａ Ｗｏｌｆｆ", "**Karla** **Wolff**",
        "Karla\nWolff",
        "Karla Wolff's car", "Karla Wolffs Auto", "mail karla.wolff@example.org", "karla_wolff", "see karlawolff",
        "| Karla | Wolff |", "Karla\u00a0Wolff", "(Karla Wolff)", "N:Wolff;Karla", "wolff/karla.txt",
    ],
)  # fmt: skip
def test_words_beside_each_other_are_a_name_however_they_are_written(text: str) -> None:
    assert says(text)


@pytest.mark.parametrize(
    "text",
    [
        "Karla came. Wolff left.", "Karla met Tom Wolff", "Karla Wolffmann", "Skarla Wolff", "- Karla\n- Wolff",
        "Karla\n\nWolff", "Who is Karla? Wolff knows.", "Karla", "Kárla Wolff",
    ],
)  # fmt: skip
def test_words_that_are_apart_are_none(text: str) -> None:
    assert not says(text)


@pytest.mark.parametrize(
    "note",
    [
        Note(author="Karla Wolff"), Note(subject="Karla Wolff"), Note(subject="person:karla-wolff"),
        Note(tags=("karla-wolff",)), Note(title="the file of karla wolff"),
        Note(kind="fact", title="karla wolff phone"),
        Note(extra=Extra(aliases=("Karla Wolff",))), Note(extra=Extra(fields={"who": "Karla Wolff"})),
        Note(extra=Extra(fields={"Karla Wolff": 555})), Note(extra=Extra(fields={"of": [{"who": ["karla wolff"]}]})),
        Note(extra=Extra(fields={"who": {"first": "Karla", "last": "Wolff"}})),
        Note(extra=Extra(source_ref="chats/karla_wolff.txt")), Note(extra=Extra(derived_tags=("karla-wolff",))),
    ],
)  # fmt: skip
def test_a_name_may_stand_anywhere_in_a_note(note: Note) -> None:
    assert is_named(note, "Karla Wolff")


def test_more_words_are_a_name_also_with_the_last_one_first() -> None:
    assert says("Wolff, Karla Maria Anna", "Karla Maria Anna Wolff")
    assert says("Bank of America called", "Bank of America", "organization")
    assert says("J. R. Amsel wrote", "J R Amsel")
    assert not says("We saw J. Amsel", "Anna Amsel")


def test_names_without_blanks_are_found_among_other_words() -> None:
    assert says("昨日、田中太郎さんは来た。", "田中太郎")
    assert says("김철수는 왔다", "김철수")
    assert says("アンナ・ベルク", "アンナ ベルク")
    assert not says("アンナ・ベルクマン", "アンナ ベルク")


@pytest.mark.parametrize("type_", ["person", "organization", "tool"])
def test_of_a_word_like_others_only_what_is_nothing_but_the_name_counts(type_: str) -> None:
    assert is_named(Note(author="Rose"), "Rose", type_)
    assert is_named(Note(author="rose"), "Rose", type_)
    assert is_named(Note(subject="person:rose"), "Rose", type_)
    assert not is_named(Note(author="Rose Miller"), "Rose", type_)
    assert is_named(Note(extra=Extra(aliases=("Rose",))), "Rose", type_)
    assert is_named(Note(extra=Extra(fields={"who": "Rose"})), "Rose", type_)
    assert not is_named(Note(extra=Extra(fields={"flower": "rose"})), "Rose", type_)
    assert not is_named(Note(tags=("rose",)), "Rose", type_)
    assert not is_named(Note(content="The price rose again."), "Rose", type_)


def test_a_first_name_that_is_nothing_else_may_be_a_tag() -> None:
    assert is_named(Note(tags=("anna",)), "Anna")
    assert not is_named(Note(tags=("anna-lindqvist",)), "Anna")
    assert not is_named(Note(tags=("anna",)), "Anna", "tool")


def test_common_words_beside_each_other_are_a_name_where_they_have_capitals() -> None:
    assert says("It stood in the Guardian.", "The Guardian", "organization")
    assert says("Mark May paid.", "Mark May")
    assert not says("We mark may bugs.", "Mark May")
    assert not says("He is the guardian of the child.", "The Guardian", "organization")
    assert is_named(Note(tags=("mark-may",)), "Mark May")


def test_an_identifier_is_one_as_a_whole() -> None:
    assert says("Write to box@example.org.", "box@example.org", "email")
    assert is_named(Note(author="Box@Example.org"), "box@example.org", "email")
    assert says("<mailto:box@example.org>,x@y.org", "box@example.org", "email")
    assert is_named(Note(author="Karla <box@example.org>"), "box@example.org", "email")
    assert not says("Write to mailbox@example.org.", "box@example.org", "email")
    assert not says("Version 1.2.3 is out", "1.2", "version")
    assert says("Version 1.2 is out", "1.2", "version")


def test_what_is_said_beside_a_name_need_not_be_there() -> None:
    assert says("karla wolff rang", "Dr. Karla Wolff")
    assert says("We asked dr okafor", "Dr. Okafor")
    assert is_named(Note(author="Dr. Okafor"), "Okafor")
    assert is_named(Note(subject="person:frau-amsel"), "Amsel")
    assert says("apt28 came", "APT-28", "actor")


def test_the_empty_name_is_in_no_note() -> None:
    assert not says("", "---")
    assert not says("anything --- at all", "---")
