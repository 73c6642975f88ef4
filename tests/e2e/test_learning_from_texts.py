"""Facts of texts, and what a language model decides later: through a daemon's socket, which may be killed."""

from pathlib import Path
from typing import Any

from model_server import ModelServer, hangs, says
from running import Daemon, until

TEXT = "Hello! Ada is allergic to peanuts. APT28 exploited CVE-2024-3094 in March 2024. How are you?"
OLD, NEW = "Ada plays tennis.", "Ada plays golf."


def environment(server: ModelServer, **more: object) -> dict[str, str]:
    settings = {"url": server.url, "model": "test-model", **more}
    return {f"SHELFD__LLM__{name.upper()}": str(value) for name, value in settings.items()}


def visible(daemon: Daemon) -> set[str]:
    notes: list[dict[str, Any]] = daemon.call("note.list", include_superseded=False)["notes"]
    return {note["content"] for note in notes}


def test_a_text_and_a_report_without_a_model(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        answer = daemon.call("remember_with_extraction", content=TEXT, source_ref="mail", idempotency_key="a")
        assert (answer["engine"], [one["status"] for one in answer["results"]]) == ("rules", ["added", "added"])
        assert visible(daemon) == {"Ada is allergic to peanuts.", "APT28 exploited CVE-2024-3094 in March 2024."}
        report = " ".join(f"Storm-{n:04} targets bank number {n} with ransomware." for n in range(100, 140))
        answer = daemon.call("remember_report", content=report, chunk_size=500, max_facts=50, sync=False)
        until(lambda: daemon.call("job.get", id=answer["job"])["job"]["state"] == "done", "the job's end")
        assert len(visible(daemon)) == 42
        assert not any(text in daemon.log.read_text() for text in ("peanuts", "ransomware"))


def test_a_decision_is_not_lost_with_the_daemon(tmp_path: Path) -> None:
    with ModelServer() as server, Daemon(tmp_path, environment=environment(server)) as daemon:
        daemon.call("remember", content=OLD)
        server.then(hangs)
        answer = daemon.call("remember", content=NEW, evolve=True)
        assert (answer["status"], len(answer["pending"])) == ("created", 1)
        until(lambda: len(server.received) == 1, "a question")
        server.otherwise = says({"decisions": [{"fact": 0, "operation": "UPDATE", "n": 0}]})
        daemon.kill()
        daemon.start()
        until(lambda: daemon.call("job.get", id=answer["pending"][0])["job"]["state"] == "done", "the job's end")
        assert visible(daemon) == {NEW}
        log = daemon.call("shelf.log")["log"]
        assert [row["kind"] for row in log].count("note.superseded") == 1
        daemon.call("reflection.undo", run_id=log[-1]["run_id"])
        assert visible(daemon) == {OLD, NEW}
        assert "tennis" not in daemon.log.read_text()


def test_new_notes_are_read_in_the_background_if_that_is_wanted(tmp_path: Path) -> None:
    read = {"notes": [{"n": 0, "entities": [{"type": "activity", "value": "theft of the ledger"}], "triples": []}]}
    with ModelServer() as server:
        server.otherwise = says(read)
        wanted = {**environment(server), "SHELFD__EVOLUTION__READING": "true"}
        with Daemon(tmp_path, environment=wanted) as daemon:
            note = daemon.call("remember", content="Nobody saw the theft of the ledger.", domain="incident")["note"]
            until(lambda: any(job["kind"] == "enrichment" for job in daemon.call("job.list")["jobs"]), "the job")
            until(lambda: all(job["state"] == "done" for job in daemon.call("job.list")["jobs"]), "the job's end")
            found = daemon.call("recall_entity", entity_type="activity", entity_value="theft of the ledger")
            assert [one["id"] for one in found["notes"]] == [note["id"]]
