"""remember_with_extraction and remember_report without a language model."""

import asyncio
from typing import Any

import pytest

from fakes import Api, memory
from shelfd.memory import MemorySettings
from shelfd.memory.settings import GovernanceSettings

TEXT = (
    "Hi Bob! Ada is allergic to peanuts. How are you? APT28 deployed X-Agent against a ministry in March 2024."
    " It was rather warm at lunch, I guess. The budget of the project is 40,000 euros. Thanks!"
)


def texts(answer: dict[str, Any]) -> list[str]:
    return [one["note"]["content"] for one in answer["results"]]


async def test_every_fact_is_reported_by_importance_and_kept(either: Api) -> None:
    answer = await either.call("remember_with_extraction", content=TEXT, source_ref="mail-7", domain="project")
    assert answer["engine"] == "rules"
    assert answer["pending"] == []
    weights = [one["importance"] for one in answer["results"]]
    assert weights == sorted(weights, reverse=True)
    assert {one["status"] for one in answer["results"]} == {"added"}
    notes = [one["note"] for one in answer["results"]]
    assert [note["importance"] for note in notes] == weights
    assert {note["domain"] for note in notes} == {"project"}
    assert sorted(note["source_ref"] for note in notes) == [f"mail-7:extraction:{n}" for n in range(len(notes))]
    assert "Ada is allergic to peanuts." in texts(answer)
    assert not any("Hi" in text or "?" in text or "Thanks" in text for text in texts(answer))
    assert sorted(await either.found("peanuts")) == ["Ada is allergic to peanuts."]


async def test_no_more_facts_than_wanted_and_none_that_matters_less(either: Api) -> None:
    answer = await either.call("remember_with_extraction", content=TEXT, max_facts=1)
    assert len(answer["results"]) == 1
    answer = await either.call("remember_with_extraction", content=TEXT, min_importance=10, nugget="other")
    assert answer["results"] == []
    assert (await either.call("note.list"))["total"] == 1


async def test_small_talk_leaves_nothing(either: Api) -> None:
    answer = await either.call("remember_with_extraction", content="Hello! How are you? Thanks!")
    assert (answer["results"], answer["engine"]) == ([], "rules")
    assert (await either.call("note.list"))["total"] == 0


async def test_what_is_said_of_the_text_is_said_of_its_notes(either: Api) -> None:
    params: dict[str, Any] = {
        "tags": ["mail"],
        "author": "Ada",
        "session_id": "s-1",
        "turn": 3,
        "tier": "A",
        "scope": "project",
    }
    answer = await either.call(
        "remember_with_extraction", content="The budget is 40,000 euros.", source_type="task_output",
        occurred_at="2024-05-01T09:00:00Z", **params,
    )  # fmt: skip
    note = await either.note(answer["results"][0]["note"]["id"], full=True)
    assert {name: note[name] for name in ("author", "session_id", "turn", "tier", "scope")} == {
        name: value for name, value in params.items() if name != "tags"
    }
    assert "mail" in note["tags"]
    assert (note["source_type"], note["occurred_at"]) == ("task_output", "2024-05-01T09:00:00Z")


async def test_the_same_request_is_carried_out_once(either: Api) -> None:
    first = await either.call("remember_with_extraction", content=TEXT, idempotency_key="k-1")
    again = await either.call("remember_with_extraction", content=TEXT, idempotency_key="k-1")
    assert again == {**first, "replayed": True}
    assert (await either.call("note.list"))["total"] == len(first["results"])
    error = await either.refused("remember_with_extraction", content="Other.", idempotency_key="k-1")
    assert error.kind == "IdempotencyMismatch"


async def test_a_text_is_one_transaction_that_can_be_taken_back(either: Api) -> None:
    answer = await either.call("remember_with_extraction", content=TEXT)
    log = (await either.call("shelf.log"))["log"]
    assert {row["tx"] for row in log if row["kind"] == "note.created"} == {log[0]["tx"]}
    await either.call("reflection.undo", run_id=answer["run_id"])
    assert await either.found("peanuts") == []


async def test_what_a_text_says_of_known_things_updates_them(either: Api) -> None:
    old = await either.remember("APT28 uses X-Agent.")
    answer = await either.call("remember_with_extraction", content="APT28 stopped using X-Agent.")
    (one,) = answer["results"]
    assert (one["status"], one["superseded"]) == ("updated", [old["id"]])
    again = await either.call("remember_with_extraction", content="APT28 stopped using X-Agent.")
    assert again["results"][0]["status"] == "noop"
    assert again["results"][0]["note"]["id"] == one["note"]["id"]


REPORT = " ".join(
    f"The group Storm-{n:04} deployed malware number {n} against {n} banks in Europe." for n in range(100, 160)
)


async def test_a_report_is_read_whole_chunk_by_chunk(either: Api) -> None:
    params: dict[str, Any] = {"source_url": "https://example.org/r", "published_date": "2024-03-05", "chunk_size": 500}
    answer = await either.call("remember_report", content=REPORT, max_facts=50, **params)
    assert (answer["engine"], len(answer["results"]), answer["pending"]) == ("rules", 60, [])
    note = await either.note(answer["results"][0]["note"]["id"], full=True)
    assert note["source_type"] == "report"
    assert note["domain"] == "cti"
    assert note["occurred_at"] == note["valid_from"] == "2024-03-05T00:00:00Z"
    refs = {one["note"]["source_ref"].rsplit(":", 1)[0] for one in answer["results"]}
    assert "https://example.org/r:chunk:0:extraction" in refs
    assert len(refs) == len({ref.split(":chunk:")[1] for ref in refs}) > 5
    job = (await either.call("job.get", id=answer["job"]))["job"]
    assert (job["state"], job["progress"]["done"]) == ("done", len(refs))
    assert (await either.call("reflection.undo", run_id=answer["run_id"]))["undone"] >= 60


async def test_a_short_report_is_no_job(either: Api) -> None:
    answer = await either.call("remember_report", content="Storm-0001 targets banks.")
    assert "job" not in answer
    assert answer["results"][0]["note"]["source_ref"] == "report:chunk:0:extraction:0"


async def test_a_long_report_need_not_be_waited_for(either: Api) -> None:
    answer = await either.call("remember_report", content=REPORT, chunk_size=500, sync=False, idempotency_key="r-1")
    assert (answer["pending"], answer["results"]) == ([answer["job"]], [])
    again = await either.call("remember_report", content=REPORT, chunk_size=500, sync=False, idempotency_key="r-1")
    assert (again["job"], again["replayed"]) == (answer["job"], True)
    await ended(either)
    assert (await either.call("note.list"))["total"] == 60


KEY = "AKIA" + "QYLPMN5HHHXZ7J2Q"


async def test_a_secret_in_a_text_is_not_kept_and_no_job_has_it(api: Api) -> None:
    await api.call("remember_with_extraction", content=f"The deployment uses the key {KEY} for the bucket.")
    answer = await api.call("remember_report", content=f"{REPORT} The key {KEY} is for the bucket.", chunk_size=500)
    assert answer["results"]
    notes = (await api.call("note.list", limit=1000))["notes"]
    assert not any(KEY in note["content"] for note in notes)
    assert any("for the bucket" in note["content"] for note in notes)


async def test_a_text_with_a_secret_is_refused_if_secrets_are() -> None:
    governed = MemorySettings(governance=GovernanceSettings(secrets="refuse", min_characters=20))
    async with memory(settings=governed) as api:
        for method in ("remember_with_extraction", "remember_report"):
            error = await api.refused(method, content=f"{REPORT} The key is {KEY}.")
            assert (error.code, error.field) == (-32006, "content")
            assert KEY not in error.message
        assert (await api.call("job.list"))["jobs"] == []
        answer = await api.call("remember_with_extraction", content="Ada is ill. Ada prefers tabs over spaces.")
        assert texts(answer) == ["Ada prefers tabs over spaces."]  # the other one is too short


async def ended(api: Api) -> None:
    for _ in range(100_000):
        if not api.shelf().view.jobs.page(unfinished=True, before=None, limit=1):
            return
        await asyncio.sleep(0)
    raise AssertionError("jobs do not end")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("remember_with_extraction", {"content": " "}, "content"),
    ("remember_with_extraction", {"content": "x", "min_importance": 0}, "min_importance"),
    ("remember_with_extraction", {"content": "x", "max_facts": 51}, "max_facts"),
    ("remember_with_extraction", {"content": "x", "source_type": "gossip"}, "source_type"),
    ("remember_report", {"content": "x", "published_date": "soon"}, "published_date"),
    ("remember_report", {"content": "x", "published_date": "2024-13-01"}, "published_date"),
    ("remember_report", {"content": "x", "chunk_size": 10}, "chunk_size"),
]


@pytest.mark.parametrize(("method", "params", "field"), REFUSED)
async def test_bad_input_is_refused_with_the_field(api: Api, method: str, params: dict[str, Any], field: str) -> None:
    error = await api.refused(method, params)
    assert (error.code, error.field) == (-32602, field)
    assert (await api.call("note.list"))["total"] == 0


@pytest.mark.parametrize("given", ["2024", "2024-05", "2024-05-06", "2024-05-06T10:00:00+02:00"])
async def test_dates_of_publication_may_be_less_than_exact(api: Api, given: str) -> None:
    answer = await api.call("remember_report", content="Storm-0001 targets banks.", published_date=given)
    assert answer["results"][0]["note"]["occurred_at"].startswith("2024-0")
