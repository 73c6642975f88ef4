"""The import command: which files it finds, what it sends, and what it says; against canned answers and a daemon."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.fake_daemon import FakeDaemon, rpc_error
from client.in_process import shelfd
from client.test_cli_with_daemon import shelfd as told_to
from nuggets_files import HOME, Json, fact, fact_file, graph, graph_note, header, link, write_home
from running import Daemon
from shelfd.client import foreign
from shelfd.client.foreign import EXPECTED, ForeignBatch, halves, requests

NOTHING: Json = {"created": 0, "updated": 0, "unchanged": 0, "kept": [], "rejected": [], "not_kept": []}


def answered(params: Json) -> Json:
    """What a daemon says that takes everything."""
    told = [{**NOTHING, "part": part["part"], "created": len(part["items"])} for part in params["parts"]]
    return {"parts": told, "known": {}, "dry_run": False, "last_seq": 7}


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "s.sock", {"shelf.import": answered}) as daemon:
        yield daemon


def sent(fake: FakeDaemon) -> list[Json]:
    return [params for method, params in fake.asked if method == "shelf.import"]


def run(fake: FakeDaemon, *arguments: Any) -> tuple[int, str, list[str]]:
    done = shelfd("import", *map(str, arguments), "--socket", str(fake.path))
    return done.returncode, done.stdout, [line.removeprefix("shelfd: ") for line in done.stderr.splitlines()]


# ------------------------------------------------------------------ what is sent


def test_a_folder_is_sent_as_it_is_in_the_order_that_links_need(fake: FakeDaemon, tmp_path: Path) -> None:
    home = write_home(tmp_path / ".nuggets")
    assert run(fake, home)[0] == 0
    (params,) = sent(fake)
    assert params["format"] == "nuggets"
    assert [(part["part"], part["source"]["name"]) for part in params["parts"]] == [
        ("nuggets", "home.nugget.json"),
        ("nuggets", "work.nugget.json"),
        ("notes", "graph.json"),
        ("facts", "home.nugget.json"),
        ("facts", "work.nugget.json"),
        ("links", "graph.json"),
    ]
    assert params["parts"][1]["items"] == [header(HOME["work.nugget.json"])]
    assert params["parts"][2]["items"] == HOME["graph.json"]["notes"]
    assert params["parts"][2]["source"]["header"] == {"version": 3}
    assert params["parts"][4]["items"] == HOME["work.nugget.json"]["facts"]
    linked = [note for note in HOME["graph.json"]["notes"] if note["links"]]
    assert params["parts"][5]["items"] == [{"id": note["id"], "links": note["links"]} for note in linked]


def test_single_files_and_the_other_name(fake: FakeDaemon, tmp_path: Path) -> None:
    write_home(tmp_path, {"x.donna.json": fact_file("x", [fact("a", "b")]), "y.json": graph([])})
    assert run(fake, tmp_path / "x.donna.json", tmp_path / "y.json", "--shelf", "work")[0] == 0
    (params,) = sent(fake)
    assert [part["source"]["name"] for part in params["parts"]] == ["x.donna.json", "x.donna.json"]
    assert params["shelf"] == "work"


def test_the_later_form_of_a_nugget_counts_and_it_is_said(fake: FakeDaemon, tmp_path: Path) -> None:
    old = write_home(
        tmp_path / "old", {"a.nugget.json": fact_file("a", []), "graph.json": graph([graph_note("n", "1")])}
    )
    new = write_home(
        tmp_path / "new", {"a.donna.json": fact_file("a", []), "graph.json": graph([graph_note("n", "2")])}
    )
    status, _, told = run(fake, old, new, old)
    assert status == 0
    assert told == [
        f"{old}/a.nugget.json: left out, {new}/a.donna.json has the same nugget",
        f"{old}/graph/graph.json: left out 1 of its notes, which {new}/graph/graph.json has, too",
    ]
    (params,) = sent(fake)
    assert [part["items"][0].get("content") for part in params["parts"]] == [None, "2"]


@pytest.fixture
def small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a request hold 500 items."""
    monkeypatch.setattr(foreign, "ITEMS", 500)


@pytest.mark.usefixtures("small_requests")
def test_much_is_sent_in_pieces(fake: FakeDaemon, tmp_path: Path) -> None:
    notes = [graph_note(f"n{i}", "x", links=[link("n0")] if i % 2 else []) for i in range(1200)]
    write_home(tmp_path, {"graph.json": graph(notes), "a.nugget.json": fact_file("a", [fact("big", "x" * 1_000_000)])})
    assert run(fake, tmp_path)[0] == 0
    assert [sum(len(part["items"]) for part in params["parts"]) for params in sent(fake)] == [500, 500, 201, 500, 101]
    assert all(len(json.dumps(params)) < 2 * 1024 * 1024 for params in sent(fake))
    items = [
        item for params in sent(fake) for part in params["parts"] for item in part["items"] if part["part"] == "notes"
    ]
    assert items == notes


@pytest.mark.usefixtures("small_requests")
def test_what_one_answer_says_is_known_goes_with_the_next(fake: FakeDaemon, tmp_path: Path) -> None:
    answers = iter([{"a": "b"}, {}, {}])
    fake.answers["shelf.import"] = lambda params: {**answered(params), "known": next(answers)}
    write_home(tmp_path, {"graph.json": graph([graph_note(f"n{i}", "x", links=[link("n0")]) for i in range(600)])})
    assert run(fake, tmp_path)[0] == 0
    assert [params["known"] for params in sent(fake)] == [{}, {"a": "b"}, {"a": "b"}]


def test_a_snapshot_is_sent_in_steps_of_which_none_spoils_another(fake: FakeDaemon, tmp_path: Path) -> None:
    def answer(params: Json) -> Json:
        items = [item for part in params["parts"] for item in part["items"]]
        refused = rpc_error(-32005) if any(item["id"] == "n500" for item in items) else None
        return refused or {**answered(params), "run_id": params.get("run_id", "run-0123456789ab")}

    fake.answers["shelf.import"] = answer
    snapshot = tmp_path / "notes.jsonl"
    links = [{"source": "n7", "target": "n500", "relation": "related", "reason": "", "created_at": 1}]
    with snapshot.open("w", encoding="utf-8") as file:
        for number in range(1_000):
            rest = {"format": 1, "note": {"nugget": "memory"}, **({"links": links} if number == 7 else {})}
            line = {"id": f"n{number}", "content": {"raw": "x"}, "links": {"related": []}, "shelfd": rest}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    status, out, told = run(fake, snapshot)
    assert (status, told) == (os.EX_DATAERR, [f"{snapshot}: line 501 rejected: no"])
    assert out == "notes  999 created, 0 updated, 0 unchanged, 1 rejected\nlinks  1 created, 0 updated, 0 unchanged\n"
    sizes = [[(part["part"], len(part["items"])) for part in params["parts"]] for params in sent(fake)]
    assert max(count for parts in sizes for _, count in parts) == 336
    # Both ends of a link are there when it comes, whatever was refused and sent again.
    kinds = [kind for parts in sizes for kind, _ in parts]
    assert kinds == ["notes"] * (len(kinds) - 1) + ["links"]
    assert [params.get("run_id") for params in sent(fake)] == [None, *["run-0123456789ab"] * (len(sizes) - 1)]


def test_a_daemon_that_knows_of_no_common_run_takes_each_request_as_its_own(fake: FakeDaemon, tmp_path: Path) -> None:
    def answer(params: Json) -> Json:
        if "run_id" in params:
            return rpc_error(-32602, "run_id: unknown param", field="run_id")
        return {**answered(params), "run_id": f"run-{len(sent(fake)):012x}"}

    fake.answers["shelf.import"] = answer
    snapshot = tmp_path / "notes.jsonl"
    line = {"content": {"raw": "x"}, "links": {"related": []}, "shelfd": {"format": 1, "note": {"nugget": "memory"}}}
    snapshot.write_text("".join(json.dumps({"id": f"n{n}", **line}) + "\n" for n in range(1_500)), encoding="utf-8")
    status, out, told = run(fake, snapshot)
    assert (status, out) == (0, "notes  1500 created, 0 updated, 0 unchanged\n")
    assert [one.partition(":")[0] for one in told] == ["the daemon is older than this command"]
    taken = [part for params in sent(fake) if "run_id" not in params for part in params["parts"]]
    assert sorted(item["id"] for part in taken for item in part["items"]) == sorted(f"n{n}" for n in range(1_500))


def test_one_item_that_is_refused_as_too_large_spoils_none_of_the_others(fake: FakeDaemon, tmp_path: Path) -> None:
    def answer(params: Json) -> Json:
        items = [item for part in params["parts"] for item in part["items"]]
        return rpc_error(-32005) if any(item.get("key") == "k5" for item in items) else answered(params)

    fake.answers["shelf.import"] = answer
    write_home(tmp_path, {"a.nugget.json": fact_file("a", [fact(f"k{i}", "v") for i in range(9)])})
    status, out, told = run(fake, tmp_path)
    assert (status, told) == (os.EX_DATAERR, [f"{tmp_path}/a.nugget.json: fact 5 rejected: no"])
    assert out == "nuggets  1 created, 0 updated, 0 unchanged\nfacts    8 created, 0 updated, 0 unchanged, 1 rejected\n"


def test_halves_are_halves() -> None:
    batch = ForeignBatch("f", "facts", {}, [*range(7)], [*range(7)], [b"1"] * 7)
    assert [[len(part.items) for part in half] for half in halves([batch._replace(part="notes"), batch])] == [[7], [7]]
    assert [[part.indexes for part in half] for half in halves([batch])] == [[[0, 1, 2, 3]], [[4, 5, 6]]]
    assert [len(one[0].items) for one in requests([batch], items=3)] == [3, 3, 1]
    assert [one[0].items for one in requests([batch], size=3)] == [[0, 1, 2], [3, 4, 5], [6]]


# ------------------------------------------------------------------ what is not sent


def test_what_cannot_be_read_is_said_and_the_others_come(fake: FakeDaemon, tmp_path: Path) -> None:
    write_home(tmp_path, {"good.nugget.json": fact_file("good", [fact("a", "b")])})
    (tmp_path / "cut.nugget.json").write_text('{"facts": [\n{"key": ', encoding="utf-8")
    (tmp_path / "list.nugget.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "nan.nugget.json").write_text('{"facts": [NaN]}', encoding="utf-8")
    (tmp_path / "deep.nugget.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "latin.nugget.json").write_bytes(b'{"facts": ["\xe4"]}')
    (tmp_path / "half.nugget.json").write_text('{"name": "\\ud800", "facts": []}', encoding="utf-8")
    status, out, told = run(fake, tmp_path)
    expected = EXPECTED
    assert status == os.EX_DATAERR
    assert told == [
        f"{tmp_path}/cut.nugget.json: is not JSON (line 2, column 9); {expected}",
        f"{tmp_path}/deep.nugget.json: is not JSON; {expected}",
        f"{tmp_path}/half.nugget.json: holds text or numbers that JSON cannot say",
        f"{tmp_path}/latin.nugget.json: is not JSON; {expected}",
        f"{tmp_path}/list.nugget.json: {expected}; this is a list",
        f"{tmp_path}/nan.nugget.json: is not JSON; {expected}",
    ]
    assert out.splitlines()[1] == "facts    1 created, 0 updated, 0 unchanged"


def test_a_path_that_is_not_there(fake: FakeDaemon, tmp_path: Path) -> None:
    write_home(tmp_path / "home")
    (tmp_path / "empty").mkdir()
    status, out, told = run(fake, tmp_path / "no", tmp_path / "empty", tmp_path / "home")
    assert status == os.EX_NOINPUT
    assert told == [
        f"{tmp_path}/no: No such file or directory",
        f"{tmp_path}/empty: no *.nugget.json, *.donna.json, graph/graph.json, *.jsonl or *__floor_log.json in it",
    ]
    assert out.startswith("nuggets  2 created")
    fake.asked.clear()
    assert run(fake, tmp_path / "no")[0] == os.EX_NOINPUT
    assert sent(fake) == []


def test_items_that_cannot_be_sent_are_reported_by_their_place(fake: FakeDaemon, tmp_path: Path) -> None:
    items: list[Any] = [
        fact("a", "1"),
        fact("A ", "2"),
        fact("b", "\ud800"),
        7,
        fact("c", "x" * 7_000_000),
        fact("d", "4"),
    ]
    text = json.dumps(fact_file("home", items)).replace("7,", "1e999,", 1)
    (tmp_path / "home.nugget.json").write_text(text, encoding="utf-8")
    fake.answers["shelf.import"] = lambda params: {
        **answered(params),
        "parts": [NOTHING | {"part": "nuggets"}, NOTHING | {
            "part": "facts", "created": 1, "kept": [{"index": 1, "id": "fact-1", "fields": ["content"]}],
            "not_kept": [{"field": "mood", "why": "is not known here", "indexes": [0, 1]}]}],
    }  # fmt: skip
    status, out, told = run(fake, tmp_path, "--dry-run")
    assert status == os.EX_DATAERR
    assert [part["items"] for part in sent(fake)[0]["parts"]][1] == [items[0], items[5]]
    file = f"{tmp_path}/home.nugget.json"
    assert told == [
        f"{file}: fact 1 rejected: stands twice in the file; the first one counts",
        *(f"{file}: fact {i} rejected: cannot be sent: too large, or no text" for i in (2, 3, 4)),
        f"{file}: fact 5: content of fact-1 changed here, too, and stays",
        f"{file}: 2 facts: mood: is not known here",
    ]
    assert out.splitlines()[0] == "dry run: nothing was changed"
    assert out.splitlines()[2] == "facts    1 created, 0 updated, 0 unchanged, 1 kept, 4 rejected"
    assert sent(fake)[0]["dry_run"] is True


def test_long_lists_are_cut_on_the_terminal_and_whole_as_json(fake: FakeDaemon, tmp_path: Path) -> None:
    write_home(tmp_path, {"a.nugget.json": fact_file("a", [fact("same", str(i)) for i in range(31)])})
    told = run(fake, tmp_path)[2]
    assert (len(told), told[-1]) == (21, f"{tmp_path}/a.nugget.json: and 10 more, which --json has")
    status, out, _ = run(fake, tmp_path, "--json")
    report = json.loads(out)
    assert (status, report["last_seq"], report["unusable"], report["dry_run"]) == (os.EX_DATAERR, 7, [], False)
    facts = next(part for part in report["parts"] if part["part"] == "facts")
    assert [one["index"] for one in facts["rejected"]] == [*range(1, 31)]


def test_trouble_with_the_daemon_is_a_status(fake: FakeDaemon, tmp_path: Path) -> None:
    write_home(tmp_path)
    fake.answers["shelf.import"] = rpc_error(-32004)
    assert run(fake, tmp_path)[0] == os.EX_NOPERM
    assert shelfd("import", str(tmp_path), "--socket", str(tmp_path / "none")).returncode == os.EX_UNAVAILABLE
    assert shelfd("import").returncode == os.EX_USAGE


# ------------------------------------------------------------------ with a daemon


def test_moving_in_and_again(tmp_path: Path) -> None:
    home = write_home(tmp_path / ".nuggets")
    (home / "cut.nugget.json").write_text("{", encoding="utf-8")
    with Daemon(tmp_path) as daemon:
        dry = told_to(daemon, "import", str(home), "--dry-run")
        done = told_to(daemon, "import", str(home))
        assert done.returncode == os.EX_DATAERR
        assert done.stdout.splitlines() == [
            "nuggets  2 created, 0 updated, 0 unchanged",
            "notes    3 created, 0 updated, 0 unchanged",
            "facts    2 created, 0 updated, 1 unchanged",
            "links    2 created, 0 updated, 0 unchanged",
        ]
        assert dry.stdout.splitlines()[1:] == done.stdout.splitlines()
        assert dry.stderr == done.stderr
        note = json.loads(told_to(daemon, "note", "fact-work-0000aaaa", "--json").stdout)["note"]
        assert (note["hits"], note["last_hit_session"], note["links"][0]["reason"]) == (4, "s-9", "both ship")
        log = daemon.call("shelf.log")["last_seq"]
        again = told_to(daemon, "import", str(home), "--json")
        parts = json.loads(again.stdout)["parts"]
        assert [(part["created"], part["updated"]) for part in parts] == [(0, 0)] * len(parts)
        assert daemon.call("shelf.log")["last_seq"] == log
        assert "pnpm" not in daemon.log.read_text(encoding="utf-8")
        assert daemon.stop() == 0


def test_an_item_that_is_too_deep_for_the_daemon_spoils_none_of_the_others(tmp_path: Path) -> None:
    deep: Any = 0
    for _ in range(40):
        deep = [deep]
    notes = [graph_note(f"note-work-{i:08x}", str(i)) for i in range(5)]
    notes[3]["vector"] = deep
    home = write_home(tmp_path / "home", {"graph.json": graph(notes)})
    with Daemon(tmp_path) as daemon:
        done = told_to(daemon, "import", str(home))
        assert done.returncode == os.EX_DATAERR
        assert done.stdout == "notes  4 created, 0 updated, 0 unchanged, 1 rejected\n"
        assert "note 3 rejected:" in done.stderr
