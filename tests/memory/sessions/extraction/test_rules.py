"""What the rules take from a turn, and what they leave alone."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import pytest

from shelfd.memory.sessions.extraction.rules import operations
from shelfd.memory.sessions.extraction.turns import Entity, KnownEntities, Message

TYPES = ("event", "character_sheet", "location_state", "thread")


def taken(*texts: str, author: str | None = None, known: Sequence[Entity] = ()) -> list[dict[str, Any]]:
    return operations([Message(text, author=author) for text in texts], KnownEntities(TYPES, known))


def created(ops: Sequence[dict[str, Any]], type_: str) -> dict[str, dict[str, Any]]:
    return {op["title"]: op["fields"] for op in ops if op["op"] == "create" and op["type"] == type_}


def edited(ops: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {op["node_id"]: op["set_fields"] for op in ops if op["op"] == "edit"}


def links(ops: Sequence[dict[str, Any]]) -> set[tuple[str, str, str]]:
    names = {op["ref"]: op.get("title", op["type"]) for op in ops if op["op"] == "create"}
    found = set()
    for op in (op for op in ops if op["op"] == "link_upsert"):
        source = names.get(op.get("source_ref", "")) or op["source_node_id"]
        for link in op["links"]:
            found.add((source, link["relation"], names.get(link.get("target_ref", "")) or link["target_node_id"]))
    return found


def person(title: str, *aliases: str, id_: str = "p", **fields: Any) -> Entity:
    return Entity(id_, "character_sheet", title, aliases, fields)


def thread(title: str, id_: str = "t") -> Entity:
    return Entity(id_, "thread", title, (), {"status": "active", "note": title})


def summaries(ops: Sequence[dict[str, Any]]) -> list[str]:
    return [op["fields"]["summary"] for op in ops if op["op"] == "create" and op["type"] == "event"]


def test_a_turn_gives_one_event_that_says_what_happened_in_its_own_words() -> None:
    ops = taken("Morning! The tree fell on the fence. Could you look for a saw?", author="Ben")
    assert summaries(ops) == ["The tree fell on the fence"]


def test_who_says_i_stands_before_the_summary_and_takes_part() -> None:
    ops = taken("I repaired the gate.", author="Ben")
    assert summaries(ops) == ["Ben: I repaired the gate"]
    assert ("event", "involved_in", "Ben") in links(ops)


@pytest.mark.parametrize("text", ["My flat is on the fourth floor", "Our boat leaks", "The red van is mine"])
def test_who_says_my_stands_before_the_summary(text: str) -> None:
    assert summaries(taken(f"{text}.", author="Ben")) == [f"Ben: {text}"]
    assert summaries(taken(f"{text}.")) == [text]


@pytest.mark.parametrize(
    "text", ["", "Thanks a lot!", "Ok, great.", "Where is the key?", "```\nAda is my sister.\n```"]
)
def test_what_says_nothing_gives_nothing(text: str) -> None:
    assert taken(text) == []


def test_a_person_is_described_by_what_is_said_in_so_many_words() -> None:
    ops = taken(
        "My brother Kilian, a carpenter, called. He is stubborn. Kilian owns a red van. He wants to sell the workshop."
    )
    sheet = created(ops, "character_sheet")["Kilian"]
    assert "carpenter" in sheet["identity"]
    assert sheet["traits"] == ["stubborn"]
    assert sheet["inventory"] == ["a red van"]
    assert sheet["goal"] == "sell the workshop"


def test_other_names_are_kept_as_aliases() -> None:
    ops = taken("Captain Imre Holt, also known as the Raven, laughed.")
    assert created(ops, "character_sheet")["Captain Imre Holt"]["aliases"] == ["Raven", "Imre Holt", "Holt"]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("My sister Ada arrived.", ("Ben", "family_of", "Ada")),
        ("My wife Ada arrived.", ("Ben", "partner_of", "Ada")),
        ("Ada's husband Piet laughed.", ("Ada", "partner_of", "Piet")),
        ("Ada and Piet are siblings.", ("Ada", "family_of", "Piet")),
        ("My mentor Ada called me.", ("Ada", "mentor_of", "Ben")),
        ("Master Orlan met his apprentice Ada.", ("Master Orlan", "mentor_of", "Ada")),
        ("Harrow owes a debt to Lady Pim.", ("Harrow", "debt_owed_to", "Lady Pim")),
    ],
)
def test_people_are_related_as_they_are_said_to_be(text: str, relation: tuple[str, str, str]) -> None:
    known = [person("Ada", id_="Ada"), person("Piet", id_="Piet"), person("Harrow", id_="Harrow")]
    assert relation in links(taken(text, author="Ben", known=known))


@pytest.mark.parametrize(
    ("text", "title", "column", "value"),
    [
        ("The old bridge is closed.", "old bridge", "state", "closed"),
        ("The cellar has been flooded.", "cellar", "state", "flooded"),
        ("The north gate is held by the Red Company.", "north gate", "controller", "Red Company"),
        ("The farm belongs to the Janssens now.", "farm", "controller", "Janssens"),
        ("The tunnel is infested with rats.", "tunnel", "danger", "infested with rats"),
    ],
)
def test_a_place_has_the_state_that_is_said(text: str, title: str, column: str, value: str) -> None:
    assert created(taken(text), "location_state")[title] == {column: value}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("I'll call the plumber tomorrow.", "call the plumber tomorrow"),
        ("We have to renew the contract.", "renew the contract"),
        ("TODO: rewrite the summary page.", "rewrite the summary page"),
        ("Don't forget to feed the cat.", "feed the cat"),
        ("We still don't know why the pump stops.", "why the pump stops"),
    ],
)
def test_what_is_undertaken_or_open_is_a_thread(text: str, title: str) -> None:
    fields = created(taken(text), "thread")[title]
    assert fields == {"status": "active", "note": text.rstrip(".")}


@pytest.mark.parametrize(
    "text", ["I'll be fine.", "We'll see.", "I'll do my best.", "It will rain.", "Should I call?", "I think I know."]
)
def test_what_binds_nobody_is_no_thread(text: str) -> None:
    assert created(taken(text), "thread") == {}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I called the plumber.", "resolved"),
        ("The plumber has been called.", "resolved"),
        ("Done: plumber called.", "resolved"),
        ("Forget the plumber.", "abandoned"),
        ("The plumber visit was cancelled.", "abandoned"),
    ],
)
def test_a_thread_that_is_open_is_ended_by_what_is_said_of_it(text: str, status: str) -> None:
    ops = taken(text, known=[thread("call the plumber")])
    assert edited(ops)["t"]["status"] == status
    assert ("event", "advances", "t") in links(ops)


@pytest.mark.parametrize("text", ["I didn't call the plumber.", "I'll call the plumber.", "Did Jo call the plumber?"])
def test_a_thread_stays_open_until_something_is_done(text: str) -> None:
    ops = taken(text, known=[thread("call the plumber")])
    assert edited(ops) == {}
    assert created(ops, "thread") == {}


def test_who_is_known_by_an_alias_is_edited_and_not_created_again() -> None:
    ops = taken("The Raven is blunt. RAVEN laughed.", known=[person("Imre Holt", "raven", id_="holt")])
    assert created(ops, "character_sheet") == {}
    assert edited(ops) == {"holt": {"traits": ["blunt"]}}


def test_what_is_known_already_is_not_said_again() -> None:
    known = [person("Ada", id_="ada", identity="sister", traits=["blunt", "loyal"])]
    assert edited(taken("My sister Ada is loyal.", known=known)) == {}


def test_a_name_is_created_once_however_often_it_is_said() -> None:
    ops = taken("Ilka Baum called. Ilka laughed. Ms. Baum is a nurse.", "Ilka Baum is patient.")
    assert "Ilka Baum" in created(ops, "character_sheet")
    assert sum(op["op"] == "create" and op.get("title") == "Ilka Baum" for op in ops) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Writing brings such joy. Hopefully it helps. Pets make us happy.",
        "Python raised an error on Monday in Berlin mode.",
        "TikTok can help you. Basketball gives me energy.",
        "Legal has approved the text. Kessler & Sons sent an invoice.",
        "Things have been tough for her. Is there anything she needs?",
    ],
)
def test_a_capital_letter_makes_no_person(text: str) -> None:
    assert created(taken(text), "character_sheet") == {}


def test_of_another_language_an_event_is_all_that_is_taken() -> None:
    assert [op["type"] for op in taken("Mi hermana Ada llegó tarde. El puente está cerrado.")] == ["event"]
    assert [op["type"] for op in taken("姉のアダは昨日来ました。")] == ["event"]


def test_types_whose_cadence_leaves_a_turn_out_get_no_operations() -> None:
    known = KnownEntities(("event",))
    ops = operations([Message("My sister Ada arrived. The cellar is flooded. I'll call the plumber.")], known)
    assert [op["op"] for op in ops] == ["create"]


def test_what_was_taken_is_nothing_new_if_it_is_known() -> None:
    texts = ("My brother Kilian, a carpenter, is stubborn. The cellar is flooded. I'll call the plumber tomorrow.",)
    known = KnownEntities(TYPES)
    for op in taken(*texts):
        if op["op"] == "create" and op["type"] != "event":
            known.add(Entity(op["ref"], op["type"], op["title"], tuple(op["fields"].get("aliases", ())), op["fields"]))
    again = operations([Message(text) for text in texts], known)
    assert {op.get("type") for op in again if op["op"] == "create"} == {"event"}
    assert not edited(again)


#: Texts that an expression or a loop that is not linear would take minutes for.
def calls(work: Callable[[], object]) -> int:
    """How many functions *work* calls, those of C among them: the same each time, on every machine."""
    count = 0

    def called(_frame: FrameType, event: str, _given: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


ADVERSARIAL = {
    "letters": "a",
    "hyphens": "a-",
    "apostrophes": "a'",
    "capitals": "Ab ",
    "names": "Ada and ",
    "pronouns": "he is ",
    "places": "the old bridge of ",
    "quotes": '"Ada. ',
    "blanks": " ",
    "lines": "I'll call Ada.\n",
    "commas": "Ada, a nurse, ",
    "wills": "I will ",
    "fences": "```\n",
}


@pytest.mark.parametrize("piece", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_a_text_of_any_kind_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def steps(size: int) -> int:
        text = (piece * (size // len(piece) + 1))[:size]
        return calls(lambda: taken(text, known=[thread("call Ada")]))

    steps(4096)  # lists are read on first use
    # A search that backtracks is one call, but with 256 KiB one that lasts longer than a test may.
    assert steps(256 * 1024) < 10 * steps(32 * 1024) + 1_000


def test_a_turn_of_two_kilobytes_costs_little() -> None:
    text = (
        "We went through the figures of the spring with everybody who could come, and most of it looks better than we "
        "had feared. The warehouse is closed until the new floor is dry. My colleague Ivana will call the insurer on "
        "Friday. I'm glad that the weather turned, because the roof would not have held for another week of rain. "
    ) * 6

    def take() -> None:
        taken(text, author="Ben", known=[thread(f"write report {number}", f"t{number}") for number in range(50)])

    assert len(text) > 1900
    take()
    assert calls(take) < 15_000  # 9,234 when this was written
