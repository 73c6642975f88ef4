"""Requests from a link: answers, order, what is ignored, and that there are never too many."""

import asyncio
import gc
import json
import tracemalloc
from datetime import timedelta
from typing import Any

import pytest

from fakes import until
from gateway.mqtt.requesting import TOPICS, FakeLink, desk, request_topic
from shelfd.gateway.mqtt import requests as module
from shelfd.gateway.mqtt.link import Trouble
from shelfd.gateway.mqtt.request import REQUEST_BYTES

ALICE = TOPICS.reply_prefix("alice")
HERE = ALICE + "x"
REMEMBER = request_topic("alice", "remember")
RECALL = request_topic("alice", "recall")
PAST, FUTURE = "2025-12-31T23:59:59Z", "2026-01-01T00:00:01+00:00"


async def test_a_request_is_answered_where_it_says() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, {"id": 7, "params": {"content": "tea"}}, response_topic=HERE, correlation=b"\x00c")
        await at.idle()
        sent = at.link.sent[-1]
        assert (sent.topic, sent.qos, sent.is_retained, sent.correlation) == (HERE, 1, False, b"\x00c")
        assert sent.json == {"jsonrpc": "2.0", "id": 7, "result": {"label": "tea"}}
        assert at.service.calls[0].principal == "mqtt:alice"
        assert at.link.acknowledged == [1]


async def test_the_body_can_say_where_and_gets_its_correlation_back() -> None:
    async with desk() as at:
        at.link.arrive(RECALL, {"params": {"query": "tea"}, "reply_to": HERE, "correlation": 'ä"1'})
        assert await at.reply() == {"jsonrpc": "2.0", "id": None, "result": {"label": "tea"}, "correlation": 'ä"1'}
        assert at.link.sent[-1].correlation is None


async def test_both_ways_may_say_the_same() -> None:
    async with desk() as at:
        at.link.arrive(RECALL, {"id": 1, "params": {"query": "q"}, "reply_to": HERE}, response_topic=HERE)
        assert (await at.reply())["result"] == {"label": "q"}


@pytest.mark.parametrize(
    ("body", "code", "counted"),
    [
        (b"{", -32700, "ParseError"),
        (b"\xff", -32700, "ParseError"),
        (b"", -32700, "ParseError"),
        (b'{"id": 9, "params": {"query": NaN}}', -32700, "ParseError"),
        (b"[" * 40 + b"]" * 40, -32005, "TooLarge"),
        (b"3", -32600, "NOT_AN_OBJECT"),
        (b'[{"id": 9, "params": {"query": "q"}}]', -32600, "NOT_AN_OBJECT"),
        (b" " * (REQUEST_BYTES + 1), -32005, "REQUEST_TOO_LARGE"),
        ({"id": 9, "method": "remember"}, -32600, "WRONG_METHOD"),
        ({"id": 9, "method": None}, -32600, "WRONG_METHOD"),
        ({"id": 9, "jsonrpc": "1.0"}, -32600, "BAD_REQUEST"),
        ({"id": 9, "params": ["q"]}, -32600, "BAD_REQUEST"),
        ({"id": {"a": 1}}, -32600, "BAD_REQUEST"),
        ({"id": 9, "exp": "tomorrow"}, -32600, "BAD_EXP"),
        ({"id": 9, "exp": 3}, -32600, "BAD_EXP"),
        ({"id": 9, "reply_to": 3}, -32600, "BAD_REPLY_TO"),
        ({"id": 9, "reply_to": ALICE + "y"}, -32600, "TWO_REPLY_TOPICS"),
        ({"id": 9, "correlation": 3}, -32600, "BAD_CORRELATION"),
        ({"id": 9, "correlation": "c" * 1025}, -32600, "BAD_CORRELATION"),
    ],
)
async def test_what_cannot_be_understood_is_answered_and_counted(body: Any, code: int, counted: str) -> None:
    async with desk() as at:
        at.link.arrive(RECALL, body, response_topic=HERE, correlation=b"c")
        reply = await at.reply()
        assert reply["error"]["code"] == code
        assert reply["id"] == (9 if isinstance(body, dict) and body["id"] == 9 else None)
        assert at.link.sent[-1].correlation == b"c"
        assert at.link.acknowledged == [1]
        assert at.requests.status()["refused"] == {counted: 1}
        assert at.service.calls == []


async def test_what_cannot_be_understood_leaves_nothing_behind() -> None:
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        async with desk() as at:
            for _ in range(8):
                at.link.arrive(RECALL, b"x" * 1_000_000, response_topic=HERE)
                await at.idle()
            assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
        gc.enable()


async def test_a_refusal_goes_to_the_address_in_the_body_too() -> None:
    async with desk() as at:
        at.link.arrive(RECALL, {"id": 9, "method": "remember", "reply_to": HERE, "correlation": "c"})
        reply = await at.reply()
        assert (reply["error"]["data"]["reason"], reply["correlation"]) == ("WRONG_METHOD", "c")


async def test_without_an_address_a_refusal_is_only_counted() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, b"{")
        await at.idle()
        assert at.link.sent == []
        assert at.link.acknowledged == [1]
        assert at.requests.status()["refused"] == {"ParseError": 1}


@pytest.mark.parametrize(
    ("method", "code"), [("forgett", -32601), ("events.subscribe", -32602), ("recall", -32602)], ids=str
)
async def test_what_the_dispatcher_refuses_is_answered(method: str, code: int) -> None:
    async with desk() as at:
        at.link.ask("alice", method, 1)
        assert (await at.reply())["error"]["code"] == code


@pytest.mark.parametrize(
    ("topic", "more", "reason"),
    [
        (RECALL, {"retained": True, "response_topic": HERE}, "retained"),
        (RECALL, {"response_topic": TOPICS.reply_prefix("bob") + "x"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "#"}, "foreign_response_topic"),
        # A broker hangs up on these, whenever the request comes back.
        (RECALL, {"response_topic": ALICE + "\x01"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "\x85"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "\ufffe"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "a/" * 200 + "b"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "a" * 70_000}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE + "+/x"}, "foreign_response_topic"),
        (RECALL, {"response_topic": ALICE}, "foreign_response_topic"),
        (RECALL, {"response_topic": ""}, "foreign_response_topic"),
        (RECALL, {"response_topic": request_topic("alice", "remember")}, "foreign_response_topic"),
        (RECALL, {"response_topic": HERE, "expires_at": 0.0}, "expired"),
        (RECALL, {}, "read_without_reply"),
        (request_topic("alice", "nonsense"), {}, "read_without_reply"),
        ("shelfd/v1/here/req", {"response_topic": HERE}, "bad_topic"),
        ("shelfd/v1/here/req/alice", {"response_topic": HERE}, "bad_topic"),
        ("shelfd/v1/here/req//recall", {"response_topic": HERE}, "bad_topic"),
        ("shelfd/v1/here/req/alice/$/cancel", {"response_topic": HERE}, "bad_topic"),
        ("shelfd/v1/there/req/alice/recall", {"response_topic": HERE}, "bad_topic"),
        ("", {"response_topic": HERE}, "bad_topic"),
        (request_topic("a" * 129, "recall"), {"response_topic": HERE}, "bad_topic"),
    ],
)
async def test_what_is_ignored_is_counted_and_acknowledged(topic: str, more: Any, reason: str) -> None:
    async with desk() as at:
        at.link.arrive(topic, {"id": 1, "params": {"query": "q"}}, **more)
        at.link.ask("bob", "recall", query="after")
        await until(lambda: len(at.link.replies()) == 1)
        await at.idle()
        assert at.service.begun == ["after"]
        assert at.link.acknowledged == [1, 2]
        assert {r: n for r, n in at.requests.status()["ignored"].items() if n} == {reason: 1}


async def test_a_foreign_address_in_the_body_is_ignored() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, {"params": {"content": "x"}, "reply_to": TOPICS.reply_prefix("bob") + "x"})
        await at.idle()
        assert at.service.calls == []
        assert at.requests.status()["ignored"]["foreign_response_topic"] == 1


async def test_exp_decides_whether_it_is_done() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, {"params": {"content": "late"}, "exp": PAST, "reply_to": HERE})
        at.link.arrive(REMEMBER, {"params": {"content": "in time"}, "exp": FUTURE, "reply_to": HERE})
        await at.idle()
        assert at.service.applied == ["in time"]
        assert at.requests.status()["ignored"]["expired"] == 1
        assert at.link.acknowledged == [1, 2]


async def test_what_expires_while_it_waits_is_not_done() -> None:
    async with desk(in_flight_count=1) as at:
        first = at.service.hold("first")
        at.link.ask("alice", "remember", content="first")
        at.link.arrive(REMEMBER, {"params": {"content": "late"}, "exp": FUTURE})
        await first.reached()
        await until(lambda: at.requests.at_work == 2)
        at.clock.advance(timedelta(seconds=2))
        first.release()
        await at.idle()
        assert at.service.applied == ["first"]
        assert at.requests.status()["ignored"]["expired"] == 1


async def test_a_change_without_an_address_is_made() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, {"id": 1, "params": {"content": "quiet"}})
        await at.idle()
        assert at.service.applied == ["quiet"]
        assert at.link.sent == []
        assert at.link.acknowledged == [1]


async def test_changes_are_made_and_acknowledged_in_order_of_arrival() -> None:
    async with desk() as at:
        slow = at.service.hold("0")
        for number in range(20):
            at.link.ask("alice", "remember", content=str(number))
        await slow.reached()
        await until(lambda: len(at.service.begun) == 20)
        assert at.link.acknowledged == []
        slow.release()
        await at.idle()
        assert at.service.applied == [str(number) for number in range(20)]
        assert at.link.acknowledged == list(range(1, 21))


async def test_acknowledgements_keep_order_across_users_and_answers_do_not() -> None:
    async with desk() as at:
        slow = at.service.hold("slow")
        at.link.ask("alice", "remember", content="slow")
        at.link.ask("bob", "recall", query="fast")
        await slow.reached()
        await until(lambda: len(at.link.replies()) == 1)
        assert at.link.replies()[0]["result"] == {"label": "fast"}
        assert at.link.acknowledged == []
        slow.release()
        await at.idle()
        assert at.link.acknowledged == [1, 2]


async def test_a_read_holds_back_no_acknowledgement() -> None:
    async with desk() as at:
        slow = at.service.hold("slow")
        at.link.ask("alice", "recall", query="slow")
        await slow.reached()
        assert at.link.acknowledged == [1]
        for number in range(1000):
            at.link.ask("bob", "remember", content=str(number))
        await until(lambda: len(at.service.applied) == 1000)
        await until(lambda: at.requests.at_work == 1)
        assert at.link.acknowledged == list(range(1, 1002))
        slow.release()
        await at.idle()
        assert len(at.link.replies()) == 1001


async def test_reads_that_wait_for_their_turn_hold_back_no_acknowledgement_either() -> None:
    async with desk(in_flight_count=1) as at:
        slow = at.service.hold("slow")
        for _ in range(3):
            at.link.ask("alice", "recall", query="slow")
        at.link.ask("bob", "remember", content="tea")
        await until(lambda: at.service.applied == ["tea"])
        await until(lambda: at.link.acknowledged == [1, 2, 3, 4])
        slow.release()
        await at.idle()
        assert len(at.link.replies()) == 4


async def test_a_change_is_acknowledged_only_after_its_commit() -> None:
    async with desk() as at:
        held = at.service.hold_started("tea")
        at.link.ask("alice", "remember", content="tea", timeout_ms=1)
        await held.reached()
        assert at.link.acknowledged == []
        held.release()
        await at.idle()
        assert at.service.applied == ["tea"]
        assert at.link.acknowledged == [1]


async def test_a_message_without_qos_needs_no_acknowledgement() -> None:
    async with desk() as at:
        at.link.arrive(REMEMBER, {"params": {"content": "a"}}, qos=0)
        at.link.arrive(REMEMBER, {"params": {"content": "b"}})
        await at.idle()
        assert at.link.acknowledged == [2]


async def test_a_link_lost_before_the_commit_gets_no_acknowledgement_and_the_next_one_the_reply() -> None:
    async with desk() as at:
        held = at.service.hold("tea")
        at.link.ask("alice", "remember", content="tea")
        await held.reached()
        first, second = at.link, FakeLink()
        first.lose()
        at.requests.detached()
        at.attach(second)
        held.release()
        await at.idle()
        assert (first.acknowledged, second.acknowledged) == ([], [])
        assert second.replies()[0]["result"] == {"label": "tea"}


async def test_without_a_link_changes_go_on_and_replies_are_lost() -> None:
    async with desk() as at:
        held = at.service.hold("tea")
        at.link.ask("alice", "remember", content="tea")
        await held.reached()
        at.requests.detached()
        held.release()
        await at.idle()
        assert at.service.applied == ["tea"]
        assert at.requests.status()["replies_lost"] == 1


async def test_a_reply_the_broker_refuses_is_counted_and_its_request_acknowledged() -> None:
    async with desk() as at:
        at.link.refuses = lambda topic: Trouble.NOT_AUTHORIZED if "/rep/" in topic else None
        at.link.ask("alice", "remember", content="tea")
        await at.idle()
        assert at.link.acknowledged == [1]
        assert at.requests.status()["replies_lost"] == 1


async def test_a_result_over_900_kib_is_an_error() -> None:
    async with desk() as at:
        at.service.results["q"] = {"text": "x" * module.REPLY_BYTES}
        at.link.ask("alice", "recall", query="q")
        reply = await at.reply()
        assert (reply["error"]["code"], reply["error"]["data"]["field"]) == (-32005, "result")


# ---------------------------------------------------------------------- never too many


async def test_one_user_has_no_more_at_work_than_a_connection_has() -> None:
    async with desk(in_flight_count=4) as at:
        held = at.service.hold("alice 0")
        for number in range(10):
            at.link.ask("alice", "remember", content=f"alice {number}")
        at.link.ask("bob", "remember", content="bob")
        await until(lambda: "bob" in at.service.begun)
        assert at.service.begun == ["alice 0", "alice 1", "alice 2", "alice 3", "bob"]
        held.release()
        await at.idle()
        assert [label for label in at.service.applied if label != "bob"] == [f"alice {n}" for n in range(10)]


async def test_one_user_cannot_take_all_places() -> None:
    async with desk(at_work_count=16, in_flight_count=2, principal_requests_count=8) as at:
        held = at.service.hold("slow")
        for number in range(20):
            at.link.ask("alice", "recall", number, query="slow")
        at.link.ask("bob", "recall", 99, query="fast")
        at.link.ask("bob", "remember", 100, content="tea")
        await until(lambda: at.service.applied == ["tea"])
        refused = [reply for reply in at.link.replies() if "error" in reply]
        assert [reply["id"] for reply in refused] == list(range(8, 20))
        assert refused[0]["error"]["code"] == -32010
        assert refused[0]["error"]["data"] == {
            "type": "QuotaExceeded", "retryable": False, "field": "requests", "limit": 8,
        }  # fmt: skip
        assert at.requests.status()["refused"] == {"QuotaExceeded": 12}
        held.release()
        await at.idle()
        assert at.link.acknowledged == list(range(1, 23))
        assert len(at.link.replies()) == 22


async def test_changes_of_one_user_wait_rather_than_be_refused() -> None:
    async with desk(in_flight_count=2, principal_requests_count=8) as at:
        held = at.service.hold("0")
        for number in range(20):
            at.link.ask("alice", "remember", number, content=str(number))
        await held.reached()
        held.release()
        await at.idle()
        assert at.service.applied == [str(number) for number in range(20)]
        assert all("result" in reply for reply in at.link.replies())


async def test_what_has_no_room_is_not_even_taken() -> None:
    async with desk(at_work_count=8) as at:
        held = at.service.hold("0")
        for number in range(30):
            at.link.ask("alice", "remember", content=str(number))
        await until(lambda: at.requests.at_work == 8)
        assert at.link.unread == 30 - 9  # one is in the hands of the one who waits
        held.release()
        await at.idle()
        assert at.service.applied == [str(number) for number in range(30)]


async def test_large_requests_take_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_WORK_BYTES", 100_000)
    async with desk() as at:
        held = at.service.hold("0" * 40_000)
        for number in range(5):
            at.link.ask("alice", "remember", content=str(number) * 40_000)
        await held.reached()
        await until(lambda: at.link.unread == 2)
        assert at.requests.at_work == 2
        held.release()
        await at.idle()
        assert len(at.service.applied) == 5


async def test_replies_that_are_not_taken_over_hold_requests_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_UNSENT_COUNT", 3)
    async with desk(at_work_count=4) as at:
        at.link.holds = asyncio.Event()
        for number in range(8):
            at.link.ask("alice", "recall", number, query="q")
        await until(lambda: len(at.link.replies()) == 8)
        assert [sent.qos for sent in at.link.sent] == [1, 1, 1, 0, 0, 0, 0, 0]
        at.link.holds.set()
        await at.idle()
        assert at.link.acknowledged == list(range(1, 9))


async def test_idle_users_leave_nothing_behind() -> None:
    async with desk() as at:
        for number in range(300):
            at.link.ask(f"user{number}", "recall", query="q")
        await at.idle()
        assert len(at.link.replies()) == 300
        assert at.requests.status()["users"] == 0
        assert len({call.request_id for call in at.service.calls}) == 300


# ---------------------------------------------------------------------- the end


async def test_draining_waits_for_what_is_at_work() -> None:
    async with desk() as at:
        held = at.service.hold("tea")
        at.link.ask("alice", "remember", content="tea")
        await held.reached()
        draining = asyncio.get_running_loop().create_task(at.requests.drain(timedelta(seconds=20)))
        held.release()
        assert await draining
        assert at.link.replies()[0]["result"] == {"label": "tea"}


async def test_what_is_abandoned_stays_with_the_broker() -> None:
    async with desk(in_flight_count=2) as at:
        started, held = at.service.hold_started("started"), at.service.hold("held")
        at.link.ask("alice", "remember", content="started")
        at.link.ask("alice", "remember", content="held")
        at.link.ask("alice", "remember", content="waiting")
        await started.reached()
        await until(lambda: at.requests.at_work == 3)
        assert not await at.requests.drain(timedelta(0))
        at.requests.abandon()
        started.release()
        held.release()
        await at.idle()
        assert at.service.applied == ["started"]
        assert at.link.acknowledged == []
        assert at.link.sent == []
        assert at.requests.status()["left"] == 3


async def test_reads_that_are_abandoned_are_answered_for_they_do_not_come_again() -> None:
    async with desk(in_flight_count=2) as at:
        held = at.service.hold("slow")
        for number in range(3):
            at.link.ask("alice", "recall", number, query="slow")
        await held.reached()
        await until(lambda: at.requests.at_work == 3)
        assert not await at.requests.drain(timedelta(0))
        at.requests.abandon()
        held.release()
        await at.idle()
        assert sorted(reply["id"] for reply in at.link.replies()) == [0, 1, 2]
        assert {reply["error"]["data"]["type"] for reply in at.link.replies()} == {"ShuttingDown"}
        assert at.requests.status()["left"] == 0


async def test_a_daemon_on_its_way_out_leaves_requests_with_the_broker() -> None:
    async with desk() as at:
        at.dispatcher.refuse_new()
        at.link.ask("alice", "remember", content="tea")
        await until(lambda: at.requests.status()["left"] == 1)
        await at.idle()
        assert (at.link.sent, at.link.acknowledged) == ([], [])
        at.link.ask("alice", "recall", query="q")
        await at.idle()
        assert at.link.replies()[0]["error"]["data"]["type"] == "ShuttingDown"


async def test_nothing_of_a_request_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    async with desk() as at:
        secret = "s3cret-content"
        at.link.arrive(REMEMBER, {"id": secret, "params": {"content": secret, "bogus": secret}}, response_topic=HERE)
        at.link.arrive(REMEMBER, b'{"params": "s3cret-content', response_topic=HERE)
        await at.idle()
        out = capsys.readouterr()
        assert secret not in out.out + out.err
        assert secret not in json.dumps([reply["error"] for reply in at.link.replies()])
