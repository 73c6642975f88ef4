"""The budget of tokens: kept by day, across restarts and kills."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fakes import FakeClock, until
from model_server import hangs, refuses, replies, says, sends
from models.desk import GOOD, Desk, question
from shelfd.memory.errors import ModelUnavailable, QuotaExceeded
from shelfd.models.ledger import TokenLedger

DAY = timedelta(days=1)


def costs(tokens: int) -> bytes:
    usage = {"prompt_tokens": tokens // 2, "completion_tokens": tokens - tokens // 2}
    return replies({"content": json.dumps(GOOD)}, usage=usage)


async def test_a_question_beyond_the_budget_is_not_sent(desk: Desk) -> None:
    model = desk.model(tokens_per_day=2000)
    desk.server.then(sends(costs(1700)))
    await model.ask(question())
    with pytest.raises(QuotaExceeded) as caught:
        await model.ask(question())

    assert (caught.value.code, caught.value.data["limit"], caught.value.data["left"]) == (-32010, 2000, 300)
    assert len(desk.server.received) == 1


async def test_what_a_day_costs_is_counted(desk: Desk) -> None:
    desk.server.then(sends(costs(1700)), sends(costs(300)))
    model = desk.model(price_in=0.5, price_out=2.0)
    await model.ask(question())
    await model.ask(question())
    assert model.metrics()["llm_cost_today_millionths"] == 1000 * 0.5 + 1000 * 2
    assert desk.model(price_in=0.5).metrics()["llm_cost_today_millionths"] == 500
    desk.clock.advance(DAY)
    assert model.metrics()["llm_cost_today_millionths"] == 0


async def test_a_restart_does_not_renew_it_and_midnight_does(desk: Desk) -> None:
    desk.server.otherwise = sends(costs(1700))
    await desk.ask(tokens_per_day=2000)
    with pytest.raises(QuotaExceeded):
        await desk.ask(tokens_per_day=2000)
    desk.clock.advance(DAY)
    await desk.ask(tokens_per_day=2000)
    desk.clock.set_back(DAY)  # the day before is remembered as well
    with pytest.raises(QuotaExceeded):
        await desk.ask(tokens_per_day=2000)


async def test_what_a_killed_daemon_had_sent_counts_as_spent(desk: Desk) -> None:
    desk.server.then(hangs)
    task = asyncio.create_task(desk.ask(tokens_per_day=2000))
    await until(lambda: desk.server.received)
    after_a_kill = desk.model(tokens_per_day=2000)
    assert after_a_kill.status()["tokens_today"] > 200
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_questions_at_a_time_do_not_spend_the_same_tokens(desk: Desk) -> None:
    desk.server.otherwise = sends(costs(400))
    model = desk.model(tokens_per_day=2000, concurrency=64)
    found = await asyncio.gather(*(model.ask(question()) for _ in range(20)), return_exceptions=True)
    assert {type(one) for one in found if isinstance(one, Exception)} == {QuotaExceeded}
    assert model.status()["tokens_today"] <= 2000


async def test_a_refusal_costs_nothing_and_a_time_out_what_was_sent(desk: Desk) -> None:
    desk.server.then(refuses("429 Slow Down"), hangs)
    model = desk.model(retries=0, timeout=timedelta(seconds=0.3))
    for expected in (False, True):
        with pytest.raises(ModelUnavailable):
            await model.ask(question())
        assert bool(model.status()["tokens_today"]) == expected


async def test_the_day_begins_at_midnight_where_people_live(tmp_path: Path) -> None:
    clock = FakeClock()  # midnight in Greenwich, nine in the morning in Tokyo
    ledger = TokenLedger(tmp_path / "f", clock, ZoneInfo("Asia/Tokyo"), 100)
    await ledger.set_aside(100)
    clock.advance(timedelta(hours=14, minutes=59))
    with pytest.raises(QuotaExceeded):
        await ledger.set_aside(1)
    clock.advance(timedelta(minutes=1))
    await ledger.set_aside(1)


async def test_the_file_is_private_and_old_days_leave_it(tmp_path: Path) -> None:
    clock, file = FakeClock(), tmp_path / "f"
    ledger = TokenLedger(file, clock, ZoneInfo("UTC"), 0)
    for _ in range(60):
        await ledger.settle(await ledger.set_aside(10), 10, tokens_in=1, tokens_out=1)
        clock.advance(DAY)
    assert file.stat().st_mode & 0o777 == 0o600
    assert 40 <= len(json.loads(file.read_text())["days"]) <= 42
    assert not file.with_suffix(".new").exists()


@pytest.mark.parametrize("text", ["", "garbage", "[]", '{"days": 7}', '{"days": {"2026-01-01": ["x"]}}', "null"])
async def test_a_file_that_cannot_be_read_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    ledger = TokenLedger(tmp_path / "f", FakeClock(), ZoneInfo("UTC"), 100)
    assert ledger.today().total == 0
    await ledger.set_aside(100)
    assert TokenLedger(tmp_path / "f", FakeClock(), ZoneInfo("UTC"), 100).is_spent


async def test_a_budget_that_cannot_be_kept_is_not_spent_from(desk: Desk) -> None:
    desk.ledger.with_suffix(".new").mkdir()  # so that the file cannot be replaced
    desk.server.otherwise = says(GOOD)
    with pytest.raises(ModelUnavailable) as caught:
        await desk.ask(tokens_per_day=2000)
    assert caught.value.data["reason"] == "BUDGET_NOT_KEPT"
    assert not desk.server.received
    await desk.ask()  # without one there is nothing to keep
