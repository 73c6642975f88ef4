"""A daemon with a language model: through its socket, against a real server."""

from pathlib import Path
from typing import Any

from model_server import ModelServer, drips, hangs, refuses, says, thinks
from running import Daemon, until

BOAT = "The boat to Orm leaves at six in the morning."
KAI = "Kai owns the boat and repairs it himself."
SECRET = "The boat is insured for four million."
KEY = "sk-very-secret"


def chooses(data: dict[str, Any]) -> dict[str, Any]:
    return {"action": "finalize", "selected": [row["n"] for row in data["candidates"] if "Kai" in str(row)]}


def environment(server: ModelServer, **more: object) -> dict[str, str]:
    settings = {"url": server.url, "model": "test-model", "api_key_env": "MODEL_KEY", **more}
    return {"MODEL_KEY": KEY} | {f"SHELFD__LLM__{name.upper()}": str(value) for name, value in settings.items()}


def told(daemon: Daemon) -> None:
    for text, nugget in ((BOAT, "story"), (KAI, "story"), (SECRET, "papers")):
        daemon.call("remember", content=text, nugget=nugget)
    daemon.call("nugget.edit", name="papers", local_only=True)
    for nugget in ("story", "papers"):
        daemon.call("session.open", session_id=f"s-{nugget}", nugget=nugget)


def route(daemon: Daemon, nugget: str = "story") -> tuple[str, list[str]]:
    params = {"query": "when does the boat leave", "session_id": f"s-{nugget}", "mode": "route", "nugget": nugget}
    answer = daemon.call("recall", **params)
    return answer["mode"], [hit["note"]["content"] for hit in answer["results"]]


def test_recall_by_choice_and_everything_it_leaves_behind(tmp_path: Path) -> None:
    with ModelServer() as server, Daemon(tmp_path, environment=environment(server)) as daemon:
        told(daemon)
        server.otherwise = thinks(chooses)
        assert route(daemon) == ("route", [KAI])
        assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
        sent = len(server.received)

        mode, found = route(daemon, "papers")
        assert (mode, found) == ("lexical", [SECRET])
        assert len(server.received) == sent
        assert SECRET not in server.everything

        counted = daemon.call("system.metrics")["metrics"]
        assert (counted["llm_calls"], counted["llm_tokens_today"]) == (1, 120)
        log = daemon.log.read_text()
        assert '"event":"llm.answered"' in log
        assert not any(text in log for text in (BOAT, KAI, SECRET, KEY, "boat"))
        assert KEY.encode() not in Path(f"/proc/{daemon.pid}/cmdline").read_bytes()
        assert daemon.stop() == 0


def test_a_budget_holds_across_a_kill(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.otherwise = thinks(chooses)
        daemon = Daemon(tmp_path, environment=environment(server, tokens_per_day=3000))
        with daemon:
            told(daemon)
            assert [route(daemon)[0] for _ in range(2)] == ["route"] * 2
            daemon.kill()
            daemon.start()
            assert daemon.call("system.health")["llm"]["tokens_today"] == 240
            while route(daemon)[0] == "route":
                assert len(server.received) < 30
            sent = len(server.received)
            mode, found = route(daemon)
            assert (mode, found[0]) == ("lexical", BOAT)
            assert len(server.received) == sent
            assert daemon.call("system.health")["llm"]["tokens_today"] <= 3000


def test_a_server_that_drips_or_fails_holds_up_nobody(tmp_path: Path) -> None:
    more = {"timeout_s": 1, "retries": 0, "breaker_failures": 2, "breaker_rest_s": 3600}
    with ModelServer() as server, Daemon(tmp_path, environment=environment(server, **more)) as daemon:
        told(daemon)
        server.then(drips, refuses("500 Oops"))
        server.otherwise = says("never asked")
        with daemon.connect() as other:
            for _ in range(4):
                mode, found = route(daemon)
                assert (mode, found[0]) == ("lexical", BOAT)
                assert other.call("recall", {"query": "boat"})["results"]
        assert len(server.received) == 2
        health = daemon.call("system.health")
        assert (health["status"], health["llm"]["state"]) == ("degraded", "resting")
        findings = {one["check"]: one for one in daemon.call("system.doctor")["findings"]}
        assert findings["llm"]["ok"]
        assert "left alone" not in findings["llm questions"]["detail"]
        assert not findings["llm questions"]["ok"]


def answers(data: dict[str, Any]) -> dict[str, Any]:
    rows = [row for name, shown in data.items() if name.startswith("notes") for row in shown]
    return {"answer": "At six.", "sources": [row["n"] for row in rows if "six" in row["text"]], "confidence": 0.9}


def test_answers_by_a_model_name_their_notes_and_what_is_to_stay_here_stays(tmp_path: Path) -> None:
    with ModelServer() as server, Daemon(tmp_path, environment=environment(server)) as daemon:
        told(daemon)
        server.otherwise = thinks(answers)
        found = daemon.call("synthesize", query="when does the boat leave", nugget="story")
        assert (found["engine"], found["synthesis"]["answer"]) == ("llm", "At six.")
        assert (found["metadata"]["model_used"], found["metadata"]["tokens_used"]) == ("test-model", 120)
        cited = daemon.call("note.get", id=found["synthesis"]["sources"][0])["note"]
        assert (cited["content"], cited["access_count"], cited["hits"]) == (BOAT, 1, 0)
        sent = len(server.received)

        found = daemon.call("synthesize", query="for how much is the boat insured", nugget="papers")
        assert (found["engine"], found["synthesis"]["answer"]) == ("rules", SECRET)
        server.otherwise = hangs
        found = daemon.call("synthesize", query="when does the boat leave", nugget="story", timeout_ms=1500)
        assert (found["engine"], found["synthesis"]["answer"]) == ("rules", BOAT)
        assert len(server.received) == sent + 1
        assert SECRET not in server.everything
        assert not any(text in daemon.log.read_text() for text in (BOAT, KAI, SECRET, "At six"))


def extracts(data: dict[str, Any]) -> dict[str, Any]:
    summary = f"noted: {data['turns'][0]['text']}"
    return {"ops": [{"op": "create", "type": "event", "title": "", "fields": {"summary": summary}}]}


def test_an_extraction_goes_on_after_a_kill_and_no_turn_is_noted_twice(tmp_path: Path) -> None:
    said = [f"On day {turn} the boat leaves at six." for turn in range(1, 7)]
    turns = [{"text": text, "turn": number} for number, text in enumerate(said, 1)]
    with ModelServer() as server, Daemon(tmp_path, environment=environment(server)) as daemon:
        told(daemon)
        server.then(thinks(extracts), thinks(extracts), hangs)
        server.otherwise = thinks(extracts)
        job = daemon.call("session.extract", session_id="s-story", turns=turns, sync=False)["job"]
        until(lambda: len(server.received) == 3, "the third turn is with the model")
        assert daemon.call("recall", query="boat")["results"]  # nobody waits for it
        daemon.kill()
        daemon.start()
        ended = until(lambda: _ended(daemon, job), "the job ends")

        assert (ended["state"], ended["result"]["extracted"]) == ("done", [1, 2, 3, 4, 5, 6])
        events = daemon.call("note.list", nugget="story", type="event")["notes"]
        assert sorted(event["content"] for event in events) == [f"noted: {text}" for text in said]
        assert len(server.received) == 7
        assert not any(text in daemon.log.read_text() for text in said)


def _ended(daemon: Daemon, job_id: str) -> dict[str, Any] | None:
    job: dict[str, Any] = daemon.call("job.get", id=job_id)["job"]
    return job if job["state"] not in ("queued", "running", "waiting") else None
