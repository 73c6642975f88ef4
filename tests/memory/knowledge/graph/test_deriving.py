"""Edges that rules read in a text: what is said, what only occurs together, and what is neither."""

import pytest

from shelfd.memory.knowledge.entities.extract import mentions_in
from shelfd.memory.knowledge.entities.kinds import EntityName
from shelfd.memory.knowledge.entities.segment import segments
from shelfd.memory.knowledge.graph.clauses import sentences
from shelfd.memory.knowledge.graph.edges import MOST_EDGES, EdgeReading
from shelfd.memory.ports.edges import Edge


def read(text: str) -> list[Edge]:
    reading, kept = EdgeReading(), set[EntityName]()
    for segment in segments(text):
        found = mentions_in(segment)
        kept |= {EntityName(one.type, one.key) for one in found}
        reading.read(segment.text, found, segment.offset)
    return reading.edges(kept)


def said(text: str) -> set[str]:
    return {f"{one.source.value} {one.relation} {one.target.value}" for one in read(text) if one.edge_type == "causal"}


def together(text: str) -> set[str]:
    return {
        f"{one.source.value} {one.relation} {one.target.value}" for one in read(text) if one.edge_type == "heuristic"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("APT28 deployed X-Agent against NATO.", {"apt28 uses x-agent"}),
        ("APT28 has recently exploited the critical flaw CVE-2023-23397.", {"apt28 exploits cve-2023-23397"}),
        ("CVE-2024-3094 was exploited by Lazarus.", {"lazarus exploits cve-2024-3094"}),
        ("APT28 uses Mimikatz, X-Agent and Sliver.", {f"apt28 uses {it}" for it in ("mimikatz", "x-agent", "sliver")}),
        ("APT28 and Lazarus use Mimikatz.", {"apt28 uses mimikatz", "lazarus uses mimikatz"}),
        ("Sandworm targeted the energy sector.", {"sandworm targets energy-sector"}),
        ("NotPetya is attributed to Sandworm.", {"notpetya attributed_to sandworm"}),
        ("Emotet led to Ryuk on every host.", {"emotet causes ryuk"}),
        ("TrickBot is related to Dridex.", {"trickbot related_to dridex"}),
        ("Emotet enabled Ryuk.", {"emotet enables ryuk"}),
    ],
)
def test_what_a_sentence_says_is_read(text: str, expected: set[str]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "APT28 did not use Mimikatz.",
        "APT28 never deployed X-Agent.",
        "APT28 stopped using X-Agent.",
        "APT28 may use Mimikatz.",
        "APT28 was seen when Lazarus used nothing; Mimikatz was there.",
        "We used Mimikatz to test the alarm for APT28.",
        "Mimikatz. APT28.",
        "Anna likes Berlin.",
    ],
)
def test_what_is_denied_doubted_or_not_said_is_not_read(text: str) -> None:
    assert said(text) == set()


def test_what_replaces_something_is_told_from_what_it_replaces() -> None:
    text = "APT28 stopped using X-Agent, switched to HeadLace backdoor."
    assert together(text) == {"apt28 USES_TOOL headlace"}
    assert together("APT28 used Sliver instead of Mimikatz.") == {"apt28 USES_TOOL sliver"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sandworm, Industroyer: what we know.", {"sandworm USES_TOOL industroyer"}),
        ("Lazarus and T1190 again.", {"lazarus USES_TECHNIQUE t1190"}),
        ("Lazarus and CVE-2024-3094 again.", {"lazarus EXPLOITS_CVE cve-2024-3094"}),
        ("Lazarus near web-01.", {"lazarus TARGETS_ASSET web-01"}),
        ("Lazarus behind Operation Aurora.", {"lazarus CONDUCTS_CAMPAIGN operation-aurora"}),
        ("Mimikatz on web-01.", {"mimikatz TARGETS_ASSET web-01"}),
        ("Emotet and T1190 again.", {"emotet IMPLEMENTS t1190"}),
        ("Anna works at Siemens in Munich.",
         {"anna AFFILIATED_WITH siemens", "anna LOCATED_AT munich", "siemens BASED_IN munich"}),
    ],
)  # fmt: skip
def test_what_occurs_in_one_sentence_goes_together(text: str, expected: set[str]) -> None:
    assert together(text) == expected


def test_a_short_note_that_speaks_of_one_is_about_it_throughout() -> None:
    assert together("Sandworm came back. Seen with Industroyer.") == {"sandworm USES_TOOL industroyer"}
    assert together("Sandworm and Lazarus came back. Seen with Industroyer.") == set()
    assert together("Sandworm came back." + " Nothing else to say here." * 20 + " Seen with Industroyer.") == set()


def test_what_is_said_is_surer_than_what_occurs_together() -> None:
    found = {one.relation: one.confidence for one in read("APT28 used Mimikatz. CVE-2024-3094 was there.")}
    assert found["uses"] > found["USES_TOOL"] > found["EXPLOITS_CVE"] > 0


def test_a_list_of_thousands_gives_few_edges() -> None:
    actors = " ".join(f"APT{number} used" for number in range(3000))
    tools = ", ".join(f"CVE-2024-{number}" for number in range(10_000, 17_000))
    assert len(read(f"{actors} {tools}.\n" * 2)) <= MOST_EDGES
    lines = "\n".join(f"APT{number} exploited CVE-2024-{10_000 + number}." for number in range(5000))
    assert len(read(lines)) == MOST_EDGES


def test_a_long_name_is_left_out() -> None:
    assert read(f"APT28 used https://example.org/{'a' * 300} and Mimikatz.") == read("APT28 used and Mimikatz.")


@pytest.mark.parametrize(
    ("text", "count"),
    [("One. Two! Three? Four", 4), ("Dr. Anna met Prof. Ben.", 1), ("e.g. Mimikatz 1.2.3 here.", 1), ("", 0)],
)
def test_sentences_end_where_the_next_begins(text: str, count: int) -> None:
    assert len(list(sentences(text))) == count
