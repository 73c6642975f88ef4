"""The same thing written in another way is found: quantities, versions, addresses, compounds, dates."""

from datetime import UTC, datetime

import pytest

from memory.recall.notes import DAY, index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.words import fold
from shelfd.memory.recall import Analyzer
from shelfd.memory.recall.german import parts_of
from shelfd.memory.recall.quantities import quantities

OTHERS = [
    note(100 + at, text)
    for at, text in enumerate([
        "something else altogether 7", "a walk in 30 parks", "20 cats", "16 people", "5 apples and 72 pears",
        "the key of the house 1 2 3", "C is a letter", "docs for example", "a page of a memory", "Der Garten im Winter",
    ])
]  # fmt: skip


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("The trail is 5 km long.", ["5km", "5 km", "5 kilometres", "5 kilometer", "5-km"]),
        ("The trail is 5km long.", ["5 km", "5 kilometros", "5 kilometres"]),
        ("The server has 16 GB of memory.", ["16GB", "16 gigabytes"]),
        ("The boiler is set to 72 °C.", ["72°C", "72 degrees celsius", "72C"]),
        ("It costs $20.", ["20 dollars", "$ 20", "20 USD"]),
        ("It costs 1,200 euros.", ["€1200", "1200 €", "1.200 EUR"]),
        ("He takes 20 mg daily.", ["20mg", "20 milligrams"]),
        ("a walk of 30 minutes", ["30min", "30 min"]),
        ("Version v1.2.3 is out.", ["1.2.3", "v1.2.3"]),
        ("The fix is in src/shelfd/memory/ranking.py.", ["src/shelfd/memory/ranking.py", "ranking.py"]),
        ("CVE-2024-3094 is in xz.", ["CVE-2024-3094", "cve 2024 3094"]),
        ("See https://example.org/docs/page?x=1.", ["https://example.org/docs/page?x=1", "example.org"]),
        ("Set MAX_RETRY_COUNT to 5.", ["maxRetryCount", "max retry count"]),
        ("It is a std::vector of ints.", ["std::vector", "vector"]),
        ("Incident 2026-10-05: the disk was full.", ["what happened on 5 October 2026", "October 2026", "5.10.2026"]),
        ("Der Ausfall vom 05.10.2026 lag am Netz.", ["was war am 5. Oktober 2026", "outage of 2026-10-05"]),
        ("2026-10-15T09:30:00Z ERROR no space left", ["what failed on 15 October 2026"]),
        ("The outage of 5 October 2026 was long.", ["2026-10-05", "2026/10/05", "what was on 05.10.2026"]),
        ("Write to ada@example.org.", ["ada@example.org", "ada"]),
        ("Der Haustürschlüssel liegt im Schrank.", ["Schlüssel", "Haustür", "wo ist der Schlüssel für die Haustür?"]),
        ("Der Schlüssel der Haustür liegt im Schrank.", ["wo ist der Haustürschlüssel?"]),
    ],
)
def test_it_is_found_however_it_is_written(text: str, queries: list[str]) -> None:
    index = index_of(note(1, text), *OTHERS)
    found = {query: index.search(query, RECALLABLE, 3).hits for query in queries}
    assert {query: hits[0].row if hits else None for query, hits in found.items()} == dict.fromkeys(queries, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 km, 5km and 2.5 kg", ["5km", "5", "km", "2.5kg"]),
        ("1,200.50 euros or $1,200", ["1200.50eur", "1200usd"]),
        ("10.0.0.1 runs v2.0", ["10.0.0.1", "2.0"]),
        ("20 percent, 20%", ["20pct", "20pct"]),
        ("in 2024 we met 5 people at 10:30", []),
        ("no number at all", []),
    ],
)
def test_quantities(text: str, expected: list[str]) -> None:
    assert quantities(fold(text)) == expected


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Haustürschlüssel", ("schlussel", "haustur", "tur", "haus")),
        ("Wohnungsschlüssel", ("schlussel", "wohnung")),
        ("Schrebergarten", ("garten", "schreber")),
        ("Steuererklärung", ("steuer", "erklarung")),
        ("Garten", ()),
        ("verstehen", ()),
        ("gestern", ()),
        ("Kühlschrankthermostat", ("thermostat", "kuhlschrank", "schrank", "kuhl")),
        ("Kühlschrankabdichtung", ("kuhlschrank", "schrank", "kuhl", "abdichtung")),
        ("Rauchmelder", ("melder", "rauch")),
    ],
)
def test_german_compounds_are_taken_apart(word: str, parts: tuple[str, ...]) -> None:
    assert parts_of(fold(word)) == parts


@pytest.mark.parametrize(
    ("text", "day", "query"),
    [
        ("Last Friday we went to the dentist.", "2023-05-10", "dentist on 5 May 2023"),
        ("We went to the dentist yesterday.", "2023-05-10", "dentist on 9 May 2023"),
        ("We went to the dentist two weeks ago.", "2023-05-24", "dentist on 10 May 2023"),
        ("The dentist is tomorrow.", "2023-05-24", "dentist on 25 May 2023"),
        ("Gestern war ich beim dentist.", "2023-05-10", "dentist am 9. Mai 2023"),
        ("Heute vor einer Woche war ich beim dentist.", "2023-05-10", "dentist am 3. Mai 2023"),
        ("Letzten Freitag war ich beim dentist.", "2023-05-10", "dentist am 5. Mai 2023"),
        ("Ayer fui al dentist con mi hermano.", "2023-05-10", "dentist el 9 de mayo de 2023"),
        ("El viernes pasado fui al dentist.", "2023-05-10", "dentist el 5 de mayo de 2023"),
        ("Hace tres dias fui al dentist con mi madre.", "2023-05-10", "dentist el 7 de mayo de 2023"),
        ("Hier je suis alle chez le dentist.", "2023-05-10", "dentist le 9 mai 2023"),
        ("Il y a deux semaines nous sommes alles chez le dentist.", "2023-05-24", "dentist le 10 mai 2023"),
    ],
)
def test_a_relative_date_is_one_seen_from_the_notes_own_day(text: str, day: str, query: str) -> None:
    rest = [note(200 + n, f"dentist number {n}", when=at("2023-03-01") + 2 * n * DAY) for n in range(30)]
    index = index_of(note(1, text, when=at(day)), *rest)
    assert index.search(query, RECALLABLE, 3).hits[0].row == 1


def test_a_question_of_yesterday_finds_the_note_with_that_date() -> None:
    index = index_of(
        note(1, "Dentist on 9 May 2023 at noon.", when=at("2023-01-01")),
        *[note(2 + n, "The dentist is nice.", when=at("2023-01-02") + n * DAY) for n in range(20)],
    )
    now = RECALLABLE._replace(now=at("2023-05-10"))
    assert index.search("what was with the dentist yesterday?", now, 1).hits[0].row == 1


@pytest.mark.parametrize("text", ["Wir treffen uns hier.", "on Friday we meet", "a week in June", "this week"])
def test_what_is_no_clear_date_tells_of_none(text: str) -> None:
    assert Analyzer().parse_text(text).told == ()
