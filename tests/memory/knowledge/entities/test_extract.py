"""Reading a text, whatever it is: without an error, inside its bounds, and in time."""

import re
import sys
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.knowledge.entities.aliases import Aliases, find_aliases
from shelfd.memory.knowledge.entities.extract import MOST_ENTITIES, extract, mentions_in
from shelfd.memory.knowledge.entities.kinds import ENTITY_TYPES, key_of, shown
from shelfd.memory.knowledge.entities.segment import Segment, segments
from shelfd.memory.knowledge.entities.times import matches, pattern

WORDS = (
    "Anna Berlin Siemens GmbH Operation APT28 CVE-2024-3094 10.0.0.1 2001:db8:: https://a.b/c a@b.de /etc/passwd C:\\x "
    "v1.2.3 home/+/temp web-01 May 2024 tomorrow at 10:30 wedding of the Bank University hiking aka also known as "
    "( ) [.] hxxp :// \n . , ' ’ - _ # İ ß ﬁ 東京 🦊 ‐ ― \u200b"
).split(" ")
texts = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))


@given(texts)
@settings(deadline=None, max_examples=400)
def test_any_text_is_read_and_what_is_found_lies_in_it(text: str) -> None:
    found = extract(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= following.start for one, following in pairwise(found))
    assert {one.type for one in found} <= ENTITY_TYPES
    assert all(0 < one.confidence <= 1 and one.key and one.value for one in found)
    assert len({(one.type, one.key) for one in found}) <= MOST_ENTITIES
    for segment in segments(text):
        list(find_aliases(segment, mentions_in(segment, Aliases(()).names)))


@given(texts)
@settings(deadline=None, max_examples=100)
def test_the_same_is_found_each_time_and_spelled_in_one_form(text: str) -> None:
    found = extract(text)
    assert found == extract(text)
    for one in found:
        assert key_of(one.type, one.value) == key_of(one.type, shown(one.type, one.value))


#: Words that begin, continue and end times, and what can stand between them.
OF_TIMES = (
    "in the of at by for over since until from around a an two several few couple about past last next this "
    "every second early mid late midmay earlyjanuary late1990s 1990s 2024 q1 2024-05-01 05.06.2024 5/6/24 "
    "10:30 5pm 5 am o'clock 3rd May march mar. jan dec. Monday mondays summer day weeks night morning evenings "
    "noon christmas eve new year's Easter ago later centuries quarter yesterday tonight daily (2024) 12 7 "
    "ſunday İn house berlin between and to January September dawn dusk first fourth weekday 1571 each"
).split(" ")
BETWEEN = (" ", " ", " ", "-", ", ", "\n", "_", ".", "", " (", "\u00a0", "  ", ":", "/", ")")
timely = st.lists(st.tuples(st.sampled_from(OF_TIMES), st.sampled_from(BETWEEN)), max_size=9)


@given(timely.map(lambda parts: "".join(word + sign for word, sign in parts)) | texts)
@settings(deadline=None, max_examples=400)
def test_times_are_where_their_pattern_finds_them_though_it_is_only_tried_at_some_words(text: str) -> None:
    found = [match.span() for match in matches(Segment(text))]
    assert found == [match.span() for match in pattern().finditer(text)]


@given(texts)
@settings(deadline=None, max_examples=200)
def test_the_words_of_a_segment_stand_where_it_says(text: str) -> None:
    segment = Segment(text)
    places = list(zip(segment.starts, segment.ends, strict=True))
    assert places == [match.span() for match in re.finditer(r"[^\W_]+", text)]
    assert segment.words == [text[start:end] for start, end in places]


LARGE = 256 * 1024
HOSTILE = {
    "a word": "a", "capitals": "A", "names": "Aa ", "a chain of names": "Aa of ", "banks": "Bank of the ",
    "numbers": "1 ", "digits": "1", "dots": "a.", "octets": "1.", "colons": "a:", "slashes": "a/", "levels": "a/+/",
    "backslashes": "\\a", "drives": "C:\\", "addresses": "a@", "mails": "a@a.de ", "hex": "0af", "urls": "http://",
    "vulnerabilities": "cve-2024-", "hashes": "0" * 64 + " ", "versions": "1.2.3-", "months": "may ",
    "days": "Monday, ",
    "times": "in 1 ", "brackets": "(", "quotes": "'s ", "operations": "Operation Xx ", "aliases": "Xx also known as ",
    "groups": "apt 1 ", "devices": "web-", "lines": "a\n", "blanks": " ", "dashes": "-", "points": "[.]",
    "parents": "../",
    "kin": "my sister ", "works": "works at Aa ", "events": "festival ", "weddings": "Aa's wedding ",
}  # fmt: skip


def steps_of(work: Callable[[], object]) -> int:
    """How many functions were called, those of C included."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_large_text_takes_steps_by_its_size(kind: str) -> None:
    part = HOSTILE[kind]
    small, large = (part * (size // len(part)) for size in (LARGE // 32, LARGE // 8))
    extract(small)  # word lists and patterns are made when they are first needed
    assert steps_of(lambda: extract(large)) <= 4.4 * steps_of(lambda: extract(small)) + 2_000


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_large_text_is_read_to_its_end(kind: str) -> None:
    """No pattern tries again and again: what those do is no step of ours, and would not end."""
    part = HOSTILE[kind]
    text = part * (LARGE // 4 // len(part))
    for segment in segments(text):
        mentions_in(segment)


def test_of_ten_thousand_entities_some_are_kept() -> None:
    found = extract(" ".join(f"10.{a}.{b}.1" for a in range(100) for b in range(100)))
    assert len(found) == MOST_ENTITIES
    assert found[0].value == "10.0.0.1"


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("cve", "Fixed CVE-2024-3094 today", "cve-2024-3094"),
        ("attack_pattern", "by T1059.001 again", "t1059.001"),
        ("ipv4", "ping 192.0.2.55!", "192.0.2.55"),
        ("ipv4", "beacons to 198[.]51[.]100[.]7", "198.51.100.7"),
        ("ipv6", "from 2001:DB8:0:0::1 on", "2001:db8::1"),
        ("ipv6", "is ::1 up?", "::1"),
        ("ipv6", "via fe80::1%eth0", "fe80::1"),
        ("ipv6", "at [2001:db8::7]:443", "2001:db8::7"),
        ("md5", "9e107d9d372bb6826bd81d3542a419d6 it is", "9e107d9d372bb6826bd81d3542a419d6"),
        ("sha1", "see 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"),
        ("sha256", "see " + "ab12" * 16, "ab12" * 16),
        ("url", "read https://example.org/a?b=1.", "https://example.org/a?b=1"),
        ("url", "hxxps://evil.example[.]com/x", "https://evil.example.com/x"),
        ("domain", "at evil.example.com", "evil.example.com"),
        ("email", "write to Anna.K+x@example.org.", "anna.k+x@example.org"),
        ("path", "in /etc/mosquitto/mosquitto.conf.", "/etc/mosquitto/mosquitto.conf"),
        ("path", "in ~/notes.txt", "~/notes.txt"),
        ("path", "in C:\\Users\\ada\\plan.docx", "c:\\users\\ada\\plan.docx"),
        ("version", "upgrade to v2.4.1", "2.4.1"),
        ("version", "Python 3.12 runs", "3.12"),
        ("version", "now 1.9.0-rc1", "1.9.0-rc1"),
        ("mqtt_topic", "subscribe to shelfd/v1/home/ev/#", "shelfd/v1/home/ev/#"),
        ("mqtt_topic", "the topic garden/soil/moisture", "garden/soil/moisture"),
        ("mqtt_topic", "zigbee2mqtt/kitchen/lamp is set", "zigbee2mqtt/kitchen/lamp"),
        ("mqtt_topic", "$SYS/broker/uptime", "$sys/broker/uptime"),
        ("asset", "pump-07 leaks", "pump-07"),
        ("asset", "sensor-kitchen-3 is warm", "sensor-kitchen-3"),
        ("asset", "on /dev: ttyUSB0", "ttyusb0"),
        ("asset", "eth0 is down", "eth0"),
        ("domain", "The staging server is stg-03.larkspur.example (10.20.4.17)", "stg-03.larkspur.example"),
        ("domain", "mail.lab.test is down", "mail.lab.test"),
    ],
)
def test_identifiers_are_found(type_: str, text: str, value: str) -> None:
    assert (type_, value) in [(one.type, one.value) for one in extract(text)]


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("May called twice.", "person", "May"),
        ("Her teacher is Frau Hofmühle.", "person", "Hofmühle"),
        ("We met Monsieur Quillon.", "person", "Quillon"),
        ("Will Hargreaves teaches Latin.", "person", "Will Hargreaves"),
        ("Yes, my brother-in-law Gustl came.", "person", "Gustl"),
        ("Please remind Xochil of the keys.", "person", "Xochil"),
        ("The school offered Xochil a place.", "person", "Xochil"),
        ("We ate at Xochil's place.", "person", "Xochil"),
        ("Xochil broke his wrist.", "person", "Xochil"),
        ("I had lunch with Xochil.", "person", "Xochil"),
        ("Aurelwin and Petron laughed.", "person", "Aurelwin"),
        ("Fiona and Xochil left.", "person", "Xochil"),
        ("Amazon delivered the shelf.", "organization", "Amazon"),
        ("She sits on the board of Quillon.", "organization", "Quillon"),
        ("Yesterday Quillon acquired a rival.", "organization", "Quillon"),
        ("He stood at the gates of Mordun.", "location", "Mordun"),
        ("The office in Queen Street is closed.", "location", "Queen Street"),
        ("He lived there between 2008 and 2012.", "temporal", "2012"),
        ("The pass opens in spring.", "temporal", "spring"),
        ("They left before sunrise.", "temporal", "sunrise"),
        ("September was wet.", "temporal", "September"),
        ("It is on the first Saturday of May.", "temporal", "first Saturday of May"),
        ("The battle was fought in 1571.", "temporal", "1571"),
        ("Ich wohne in der Karl-Heine-Straße 12.", "location", "karl-heine-strasse"),
        ("Die Heinrich-Heine-Allee ist gesperrt.", "location", "heinrich-heine-allee"),
        ("Anna Lund wohnt am Rosa-Luxemburg-Platz.", "location", "rosa-luxemburg-platz"),
        ("Sie lernt an der Willy-Brandt-Schule.", "organization", "willy-brandt-schule"),
        ("Anna-Lena Weg called.", "person", "anna-lena-weg"),
    ],
)
def test_names_are_known_by_what_stands_beside_them(text: str, type_: str, value: str) -> None:
    assert (type_, key_of(type_, value)) in {(one.type, one.key) for one in extract(text)}


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("May I borrow it?", "person"),
        ("Will Ana come?", "organization"),
        ("Parsley is his favourite.", "person"),
        ("The Amazon is long.", "organization"),
        ("It fits in 1500 bytes.", "temporal"),
        ("The Summer Sounds play.", "person"),
    ],
)
def test_what_is_no_name_is_none(text: str, type_: str) -> None:
    assert type_ not in {one.type for one in extract(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What begins a note is a label unless it speaks.
        ("Zelda: I will be late", ["person zelda"]),
        ("Rosa: call back", ["person rosa"]),
        ("Groceries: milk, eggs", []),
        ("Running: five kilometres", []),
        # Who has no name.
        ("Osteopath told me to rest", []),
        ("Pharmacist recommended zinc", []),
        ("The printer is a Brother HL-L2350DW", []),
        # Customers are firms, unless the name is a person's.
        ("Customer Aquila wants a refund", ["organization aquila"]),
        ("Our supplier Heyne delivered late", ["organization heyne"]),
        ("Client Anna Bauer wants a call", ["person anna-bauer"]),
        # Programs are no places.
        ("A bug in OpenSSH: patched", []),
        ("They live in McAllen", ["location mcallen"]),
        # Things are no occasions.
        ("Call the plumber about the dripping shower", []),
        ("The baby shower was lovely", ["event baby-shower"]),
        ("Bring the cordless drill", []),
        ("The fire drill was loud", ["event fire-drill"]),
        ("Buy strawberry jam and a salad bowl", []),
        # A first name that means something else, too, is somebody's who has a laptop.
        ("Max's laptop is broken", ["person max"]),
        ("Dana's phone extension is 214", ["person dana"]),
        ("June's numbers are bad", []),
    ],
)
def test_notes_as_people_write_them(text: str, expected: list[str]) -> None:
    assert [f"{one.type} {one.value}" for one in extract(text) if one.type != "temporal"] == expected
