"""ZettelForge's cases that speak of synthesis, with the same outcome or a fixed one; its docstrings say which."""

from typing import Any

import pytest

from fakes import Api

FORMATS = {
    "direct_answer": {"answer", "confidence", "sources"},
    "synthesized_brief": {"summary", "themes", "confidence", "sources"},
    "timeline_analysis": {"timeline", "confidence"},
    "relationship_map": {"entities", "relationships", "confidence"},
}


async def synthesized(api: Api, query: str, **params: Any) -> dict[str, Any]:
    return await api.call("synthesize", query=query, **params)


@pytest.fixture
async def told(api: Api) -> Api:
    await api.remember("APT28 used CVE-2024-3094 against a ministry.", domain="cti", tier="A")
    await api.remember("APT28 also goes by Fancy Bear and works at night.", domain="cti")
    await api.remember("The bakery sells rye bread on Fridays.")
    return api


async def test_a_synthesis_has_its_fields_and_sources(told: Api) -> None:
    """The id is of SHA-256 and not MD5, and the model is named only if there was one."""
    found = await synthesized(told, "what did APT28 use against the ministry")
    assert found.keys() == {"query", "format", "synthesis", "metadata", "sources", "engine", "index"}
    assert {"query_id", "model_used", "tokens_used", "latency_ms", "sources_count", "tier_filter"} < {
        *found["metadata"]
    }
    assert len(found["metadata"]["query_id"]) == 12
    assert found["sources"]
    for source in found["sources"]:
        assert source.keys() == {"note_id", "quote", "tier", "relevance_score"}
        assert len(source["quote"]) <= 200
        assert 0 <= source["relevance_score"] <= 1


@pytest.mark.parametrize("wanted", FORMATS)
async def test_each_format_has_its_own_answer_without_a_model(told: Api, wanted: str) -> None:
    """There three of the four became a direct answer, or an error, without the enterprise package or a model."""
    found = await synthesized(told, "APT28 against a ministry", format=wanted)
    assert (found["format"], found["engine"]) == (wanted, "rules")
    assert found["synthesis"].keys() == FORMATS[wanted]
    assert found["synthesis"]["confidence"] > 0


async def test_an_answer_without_a_model_is_an_answer(told: Api) -> None:
    """There it was always "No specific answer found"."""
    found = await synthesized(told, "what does the bakery sell on Fridays")
    assert found["synthesis"]["answer"] == "The bakery sells rye bread on Fridays."


async def test_what_is_not_known_needs_work(told: Api) -> None:
    """There the answer that there is none listed four sources and was GOOD."""
    found = await synthesized(told, "who won the chess tournament")
    assert found["sources"] == []
    quality = await told.call("check_synthesis_quality", response=found)
    assert (quality["grade"], quality["score"]) == ("NEEDS_WORK", 0.0)

    found["sources"] = [{"note_id": f"n-{number}", "quote": "", "tier": "A"} for number in range(4)]
    found["synthesis"] = {"answer": "No specific answer found for: chess...", "confidence": 0.0, "sources": []}
    assert (await told.call("check_synthesis_quality", response=found))["grade"] == "NEEDS_WORK"


async def test_only_the_tiers_that_are_wanted(told: Api) -> None:
    """There the configured ones were not read, and C was in by default."""
    await told.remember("APT28 used a rumour against the ministry.", tier="C")
    query = "what did APT28 use against the ministry"
    assert {source["tier"] for source in (await synthesized(told, query))["sources"]} <= {"A", "B"}
    assert {source["tier"] for source in (await synthesized(told, query, tier_filter=["C"]))["sources"]} == {"C"}


async def test_an_answer_is_validated(told: Api) -> None:
    """The bounds are the same: confidence from 0.3, 1 to 20 sources."""
    found = await synthesized(told, "what did APT28 use against the ministry")
    assert await told.call("validate_synthesis", response=found) == {"is_valid": True, "errors": []}
    found["synthesis"]["confidence"] = 0.2
    found["sources"] = []
    assert len((await told.call("validate_synthesis", response=found))["errors"]) >= 2
