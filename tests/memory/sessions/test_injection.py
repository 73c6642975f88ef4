"""What a prompt held: recorded by callers and by get_context, kept by turn, gone with what is purged."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes import ROOT, Api
from shelfd.memory.ports.sessions import Retraction, Session
from shelfd.memory.sessions import injection as records
from shelfd.memory.sessions.injection import KEPT, present


async def notes(api: Api, count: int, **named: Any) -> list[str]:
    return [(await api.remember(f"tea number {n}", **named))["id"] for n in range(count)]


async def opened(api: Api, session_id: str = "s", **named: Any) -> str:
    await api.call("session.open", session_id=session_id, **named)
    return session_id


async def recorded(api: Api, turn: int, *recalled: str, **named: Any) -> dict[str, Any]:
    params = {"session_id": "s", "turn": turn, "recalled": list(recalled), **named}
    return await api.call("session.record_injection", params)


async def at(api: Api, turn: int, session_id: str = "s") -> dict[str, Any]:
    context = (await api.call("session.context_at", session_id=session_id, turn=turn))["context"]
    return {} if context is None else context


async def test_what_was_recorded_is_told_by_turn(either: Api) -> None:
    a, b, c = await notes(either, 3)
    await opened(either)
    result = await recorded(
        either, 2, b, pinned=[a, a], frontier=[a, b, c], blocks={"core": "ä"}, tokens=7, trace={"steps": []}
    )

    assert result == {"session_id": "s", "turn": 2, "seq": 6}
    assert await at(either, 2) == {
        "turn": 2,
        "at": "2026-01-01T00:00:00Z",
        "seq": 5,
        "pinned": [a],
        "recalled": [b],
        "frontier": [a, b, c],
        "blocks": {"core": "ä"},
        "tokens": 7,
        "trace": {"steps": []},
    }


async def test_a_turn_without_a_record_shows_the_one_before(either: Api) -> None:
    a, b, c = await notes(either, 3)
    await opened(either)
    for turn, note in ((2, a), (5, b), (5, c)):
        await recorded(either, turn, note)
    assert await at(either, 1) == {}
    shown = [(await at(either, turn))["recalled"] for turn in (2, 4, 5, 9)]
    assert shown == [[a], [a], [c], [c]]


async def test_missing_parts_are_empty_and_null_is_no_report(either: Api) -> None:
    await opened(either)
    await recorded(either, 1)
    shown = await at(either, 1)
    assert (shown["pinned"], shown["recalled"], shown["frontier"]) == ([], [], [])
    await recorded(either, 2, frontier=None)
    assert "frontier" not in await at(either, 2)


async def test_the_event_has_ids_and_counts_and_no_text(either: Api) -> None:
    a, b, c = await notes(either, 3, nugget="n")
    await opened(either, nugget="n")
    await recorded(either, 3, a, b, pinned=[c, a], frontier=[a], blocks={"core": "4711-secret"}, tokens=9)
    event = (await either.call("events.since", seq=0))["events"][-1]

    assert (event["type"], event["subject"]) == ("shelfd.context.changed.v1", "s")
    assert event["data"] == {
        "nugget": "n",
        "ids": [c, a, b],
        "principal": "uid:1000",
        "session_id": "s",
        "turn": 3,
        "pinned": 2,
        "recalled": 2,
        "frontier": 1,
        "tokens": 9,
    }
    assert "4711" not in str(await either.call("shelf.log"))


async def test_a_recorded_turn_counts_as_seen(either: Api) -> None:
    await notes(either, 1)
    await opened(either)
    await recorded(either, 4)
    assert (await either.call("session.open", session_id="s"))["last_turn"] == 4
    note = await either.remember("milk", session_id="s", turn=5)
    assert note["seq_to"] == 2


@pytest.mark.parametrize("where", ["pinned", "recalled", "frontier"])
async def test_every_id_must_be_one_of_a_note(either: Api, where: str) -> None:
    (a,) = await notes(either, 1)
    await opened(either)
    named: dict[str, Any] = {"session_id": "s", "turn": 1, "pinned": [a], where: [a, "note-memory-00000000"]}
    refused = await either.refused("session.record_injection", named)
    assert (refused.code, refused.kind, refused.field) == (-32001, "NoteNotFound", where)
    assert await at(either, 1) == {}


@pytest.mark.parametrize(
    ("named", "code", "field"),
    [
        ({"turn": 0}, -32602, "turn"),
        ({"turn": 10_001}, -32602, "turn"),
        ({"recalled": ["x"] * 1_001}, -32602, "recalled"),
        ({"tokens": -1}, -32602, "tokens"),
        ({"blocks": {"core": "x" * 262_144}}, -32005, "blocks"),
        ({"blocks": {"core": 1}}, -32602, "blocks.core"),
        ({"trace": {"x": "y" * 65_536}}, -32005, "trace"),
        ({"session_id": "nobody"}, -32001, "session_id"),
    ],
)
async def test_what_cannot_be_recorded_is_refused(
    api: Api, named: dict[str, Any], code: int, field: str | None
) -> None:
    await opened(api)
    refused = await api.refused("session.record_injection", {"session_id": "s", "turn": 1, **named})
    assert (refused.code, refused.field) == (code, field)
    assert await at(api, 9) == {}


async def test_a_closed_or_frozen_session_takes_no_record(either: Api) -> None:
    await opened(either, at_seq=0)
    refused = await either.refused("session.record_injection", session_id="s", turn=1)
    assert (refused.code, refused.kind, refused.reason) == (-32002, "SessionFrozen", "FROZEN")
    await either.call("session.close", session_id="s")
    assert (await either.refused("session.record_injection", session_id="s", turn=1)).kind == "SessionNotFound"
    assert (await either.refused("session.context_at", session_id="s", turn=1)).kind == "SessionNotFound"


async def test_the_same_request_records_once(either: Api) -> None:
    await opened(either)
    first, again = [await recorded(either, 1, idempotency_key="k") for _ in range(2)]
    assert (again["seq"], again["replayed"]) == (first["seq"], True)
    assert either.shelf().view.injections.count("s") == 1


async def test_records_survive_a_restart(durable: Api) -> None:
    (a,) = await notes(durable, 1)
    await opened(durable)
    await recorded(durable, 1, a)
    await durable.reopen()
    assert (await at(durable, 1))["recalled"] == [a]


async def test_the_oldest_records_go(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KEPT == 1_000
    monkeypatch.setattr(records, "KEPT", 3)
    monkeypatch.setattr(records, "KEPT_IN_ALL", 8)
    await opened(either)
    for turn in range(1, 7):
        await recorded(either, turn)
    assert [bool(await at(either, turn)) for turn in (3, 4, 6)] == [False, True, True]
    await opened(either, "t")
    for turn in range(1, 10):
        await recorded(either, turn, session_id="t")
    assert either.shelf().view.injections.count("t") == 3
    assert either.shelf().view.injections.count("s") == 0


# -------------------------------------------------------------- get_context


async def test_get_context_records_by_itself(either: Api) -> None:
    (a,) = await notes(either, 1)
    await opened(either)
    await either.remember("biscuits", session_id="s", turn=3)
    given = await either.call("get_context", query="tea", session_id="s")

    shown = await at(either, 9)
    assert (shown["turn"], shown["recalled"], shown["tokens"]) == (3, [a], given["tokens"])
    assert shown["blocks"] == {"context": given["text"]}
    assert not {"pinned", "frontier"} & shown.keys()
    await either.call("get_context", query="biscuits", session_id="s", turn=4)
    assert (await at(either, 4))["turn"] == 4
    event = (await either.call("events.since", seq=0))["events"][-1]
    assert (event["type"], event["subject"], event["data"]["turn"]) == ("shelfd.context.changed.v1", "s", 4)
    assert "biscuits" not in str(event)


@pytest.mark.parametrize("named", [{"session_id": "s", "record": False}, {"session_id": None}, {}])
async def test_get_context_records_nothing_unless_asked(either: Api, named: dict[str, Any]) -> None:
    await notes(either, 1)
    await opened(either)
    await either.call("get_context", query="tea", **named)
    assert await at(either, 9) == {}
    assert (await either.call("events.since", seq=0))["events"][-1]["type"] == "shelfd.session.opened.v1"


async def test_get_context_answers_although_nothing_can_be_recorded(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await notes(either, 1)
    await opened(either)

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(records, "record", fail)
    assert (await either.call("get_context", query="tea", session_id="s"))["notes"]
    assert await at(either, 9) == {}
    monkeypatch.undo()
    await either.call("get_context", query="tea", session_id="s", turn=1)
    assert (await at(either, 9))["turn"] == 1


async def test_more_than_can_wait_is_left_out(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.memory.shelf.unattended.MOST", 2)
    await notes(api, 1)
    await opened(api)
    asked = [api.call("get_context", query="tea", session_id="s", turn=turn) for turn in range(1, 6)]
    answers = await asyncio.gather(*asked)
    assert all(answer["notes"] for answer in answers)
    await at(api, 9)
    assert 2 <= api.shelf().view.injections.count("s") <= 5


async def test_a_session_that_was_never_opened_is_recorded_too(either: Api) -> None:
    (a,) = await notes(either, 1)
    await either.call("get_context", query="tea", session_id="s")
    await opened(either)
    assert (await at(either, 1))["recalled"] == [a]


# -------------------------------------------------------------------- purge


async def test_a_purged_note_leaves_the_records(durable: Api, tmp_path: Path) -> None:
    secret = await durable.remember("the tea is in safe 4711-secret")
    other = await durable.remember("tea with milk")
    await opened(durable)
    ids = [secret["id"], other["id"]]
    await recorded(
        durable, 1, *ids, pinned=ids, frontier=ids, blocks={"core": "4711-secret"}, trace={"x": "4711-secret"}
    )
    await recorded(durable, 2, other["id"], blocks={"core": "tea with milk"})
    await durable.call("get_context", query="tea", session_id="s", turn=3)
    await durable.call("forget", id=secret["id"], purge=True)

    first, second, third = [await at(durable, turn) for turn in (1, 2, 3)]
    assert [first[name] for name in ("pinned", "recalled", "frontier")] == [[other["id"]]] * 3
    assert not {"blocks", "trace"} & first.keys()
    assert second["blocks"] == {"core": "tea with milk"}
    assert (third["recalled"], "blocks" in third) == ([other["id"]], False)
    assert (await durable.call("shelf.check", principal=ROOT))["problems"] == []
    await durable.shelves.close()
    assert b"4711-secret" not in _bytes(tmp_path)


def _bytes(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def test_text_that_another_note_had_of_a_purged_one_leaves_the_records(either: Api) -> None:
    source, target = await either.remember("tea: 4711-secret"), await either.remember("tea with milk")
    await either.call("note.merge", source=source["id"], target=target["id"])
    await opened(either)
    await either.call("get_context", query="tea", session_id="s", turn=1)
    assert "4711" in str(await at(either, 1))
    await either.call("forget", id=source["id"], purge=True)
    shown = await at(either, 1)
    assert (shown["recalled"], "blocks" in shown) == ([target["id"]], False)


async def test_a_record_of_what_was_purged_meanwhile_does_not_name_it(either: Api) -> None:
    (a,) = await notes(either, 1)
    purge = either.call("forget", id=a, purge=True)
    context = either.call("get_context", query="tea", session_id="s", turn=1)
    await asyncio.gather(context, purge)
    await opened(either)
    assert a not in str(await at(either, 1))


# ------------------------------------------------------------------ rewinding


async def test_the_present_record_is_the_last_one_that_was_not_taken_back(either: Api) -> None:
    a, b, c = await notes(either, 3)
    await opened(either)
    await recorded(either, 2, a)
    await recorded(either, 3, b)
    shelf = either.shelf()
    shown = present(shelf.view, Session("s", "memory"))
    assert shown is not None
    assert shown.recalled == (b,)
    last = shelf.view.log.last_seq
    await shelf.commit(
        either.request("session.list").origin(),
        lambda tx: tx.rows.rewinds.add_retraction(Retraction("s", 3, None, None, last, last, last, "run-1")),
    )
    shown = present(shelf.view, Session("s", "memory"))
    assert shown is not None
    assert shown.recalled == (a,)
    await recorded(either, 3, c)
    shown = present(shelf.view, Session("s", "memory"))
    assert shown is not None
    assert shown.recalled == (c,)


async def test_a_frozen_session_has_the_records_of_its_time(either: Api) -> None:
    a, b = await notes(either, 2)
    await opened(either)
    first = await recorded(either, 1, a)
    second = await recorded(either, 2, b)
    for at_seq, turns in ((first["seq"] - 1, [0, 0]), (first["seq"], [1, 1]), (second["seq"], [1, 2])):
        await opened(either, at_seq=at_seq)
        assert [(await at(either, turn)).get("turn", 0) for turn in (1, 2)] == turns
        shown = present(either.shelf().view, Session("s", "memory", None, at_seq))
        assert (0 if shown is None else shown.turn) == turns[1]


async def test_stats_count_sessions(either: Api) -> None:
    await opened(either)
    await opened(either, "t")
    assert (await either.call("get_stats"))["sessions"] == 2


async def test_a_removed_nugget_brings_its_types_back(either: Api) -> None:
    await notes(either, 1, nugget="n")
    shelf = either.shelf()
    origin = either.request("session.list").origin()
    await shelf.commit(origin, lambda tx: tx.rows.note_types.put("n", "bug", {"label": "Bug"}))
    run_id = (await either.call("nugget.remove", name="n"))["run_id"]
    assert shelf.view.note_types.of("n") == {}
    await either.call("reflection.undo", run_id=run_id)
    assert shelf.view.note_types.of("n") == {"bug": {"label": "Bug"}}
