"""When the server is slow, broken, overloaded or a stranger."""

import asyncio
import gzip
from datetime import timedelta
from email.utils import format_datetime

import pytest

from fakes import NEW_YEAR, FakeClock, until
from model_server import (
    Behaviour,
    drips,
    drops,
    hangs,
    never_ends,
    refuses,
    replies,
    says,
    says_text,
    sends,
    thinks,
    truncates,
)
from models.desk import GOOD, Desk, question
from shelfd.memory.errors import InvalidReply, ModelUnavailable, NoLanguageModel, TooLarge

SOON = timedelta(seconds=0.3)


async def failure(desk: Desk, **changed: object) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        await desk.ask(**changed)
    return caught.value


@pytest.mark.parametrize(
    "bad",
    [drops, truncates, refuses("500 Oops"), refuses("503 Busy"), refuses("529 Overloaded"), refuses("429 Slow Down"),
     refuses("408 Timeout"), sends(b"garbage")],
)  # fmt: skip
async def test_what_may_pass_is_tried_again(desk: Desk, bad: Behaviour) -> None:
    desk.server.then(bad, bad, says(GOOD))
    assert (await desk.ask()).value.count == 2
    assert len(desk.server.received) == 3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(refuses("401 Who"), "MODEL_REFUSED"), (refuses("403 No"), "MODEL_REFUSED"),
     (refuses("404 Gone"), "MODEL_REFUSED"), (never_ends, "REPLY_TOO_LONG"),
     (refuses("307 There", Location="http://127.0.0.1:9/v1"), "REDIRECT"),
     (sends(gzip.compress(b" " * 10_000_000), Content_Encoding="gzip"), "MODEL_FAILED")],
)  # fmt: skip
async def test_what_will_not_pass_is_not(desk: Desk, bad: Behaviour, reason: str) -> None:
    desk.server.then(bad)
    assert (await failure(desk)).data["reason"] == reason
    assert len(desk.server.received) == 1


async def test_attempts_are_bounded_and_further_and_further_apart(desk: Desk) -> None:
    desk.server.otherwise = refuses("500 Oops")
    error = await failure(desk, retries=3)
    waited = desk.clock.monotonic()

    assert len(desk.server.received) == 4
    assert 0.5 * (0.5 + 1 + 2) <= waited <= 0.5 + 1 + 2
    assert (error.data["reason"], error.retryable) == ("MODEL_BUSY", True)


async def test_a_server_says_when_to_come_again(desk: Desk) -> None:
    desk.server.then(refuses("429 Slow Down", Retry_After="7"), says(GOOD))
    await desk.ask()
    assert 7 <= desk.clock.monotonic() < 8


async def test_or_says_it_by_a_date(desk: Desk) -> None:
    then = format_datetime(NEW_YEAR + timedelta(seconds=9), usegmt=True)
    desk.server.then(refuses("503 Busy", Retry_After=then), says(GOOD))
    await desk.ask()
    assert 9 <= desk.clock.monotonic() < 10


@pytest.mark.parametrize("nonsense", ["soon", "-5", "1e9", "Tue, 99 Foo 2026 00:00:00 GMT", ""])
async def test_nonsense_about_that_is_ignored(desk: Desk, nonsense: str) -> None:
    desk.server.then(refuses("429 Slow Down", Retry_After=nonsense), says(GOOD))
    await desk.ask()
    assert desk.clock.monotonic() <= 0.5


async def test_nobody_asks_before_a_time_that_is_too_late(desk: Desk) -> None:
    model = desk.model()
    desk.server.then(refuses("429 Slow Down", Retry_After="600"))
    for _ in range(3):
        with pytest.raises(ModelUnavailable) as caught:
            await model.ask(question())
        assert caught.value.data["retry_after_s"] == 600
    assert len(desk.server.received) == 1

    desk.clock.advance(timedelta(seconds=600))
    desk.server.then(says(GOOD))
    assert (await model.ask(question())).value.count == 2


@pytest.mark.parametrize("slow", [hangs, drips])
async def test_an_attempt_has_a_time_limit_however_it_is_slow(desk: Desk, slow: Behaviour) -> None:
    desk.server.then(slow, says(GOOD))
    assert (await desk.ask(timeout=SOON)).value.count == 2
    desk.server.then(slow)
    assert (await failure(desk, timeout=SOON, retries=0)).data["reason"] == "MODEL_TIMEOUT"


async def test_a_question_has_one_with_all_its_attempts(desk: Desk) -> None:
    desk.server.otherwise = refuses("500 Oops")
    await failure(desk, retries=10, deadline=timedelta(seconds=3))
    assert desk.clock.monotonic() < 3
    assert 2 <= len(desk.server.received) <= 5


async def test_the_callers_deadline_may_be_sooner(desk: Desk) -> None:
    desk.server.otherwise = refuses("500 Oops")
    with pytest.raises(ModelUnavailable):
        await desk.model(retries=10).ask(question(), deadline=desk.clock.monotonic() + 0.2)
    assert len(desk.server.received) == 1


async def test_a_server_that_is_not_there(desk: Desk) -> None:
    error = await failure(desk, url="http://127.0.0.1:1/v1")
    assert error.data["reason"] == "MODEL_UNREACHABLE"
    assert "127.0.0.1" not in str(error)


async def test_questions_at_a_time_are_bounded_and_the_rest_wait(desk: Desk) -> None:
    desk.server.otherwise = says(GOOD)
    model = desk.model(concurrency=3)
    found = await asyncio.gather(*(model.ask(question(f"text {number}")) for number in range(20)))
    assert len(found) == 20
    assert desk.server.most_at_once <= 3


async def test_no_more_than_a_number_of_them_wait(desk: Desk) -> None:
    desk.server.otherwise = hangs
    model = desk.model(concurrency=1)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.ask(question())) for _ in range(65)]
        await until(lambda: model.status()["waiting"] >= 64)
        with pytest.raises(ModelUnavailable, match="too many"):
            await model.ask(question())
        for task in tasks:
            task.cancel()
    assert model.status()["waiting"] == 0


async def test_cancelling_frees_the_place_and_tells_nothing_about_the_server(desk: Desk) -> None:
    desk.server.then(hangs)
    model = desk.model(concurrency=1, failures=1)
    task = asyncio.create_task(model.ask(question()))
    await until(lambda: desk.server.received)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    desk.server.then(says(GOOD))
    assert (await model.ask(question())).value.count == 2


async def test_permission_is_asked_for_before_each_attempt(desk: Desk) -> None:
    asked: list[int] = []

    def permit() -> None:
        asked.append(len(desk.server.received))
        if len(asked) == 3:
            raise NoLanguageModel

    desk.server.otherwise = refuses("500 Oops")
    with pytest.raises(NoLanguageModel):
        await desk.model(retries=9).ask(question(), permit=permit)
    assert asked == [0, 1, 2]
    assert len(desk.server.received) == 2


async def test_a_question_that_no_context_holds_is_not_sent(desk: Desk) -> None:
    with pytest.raises(TooLarge) as caught:
        await desk.model(context_tokens=4096).ask(question("x" * 20_000))
    assert caught.value.data["limit"] == 4096
    assert not desk.server.received


# -------------------------------------------------------------------- the breaker


async def test_a_server_that_keeps_failing_is_left_alone_then_tried_once(desk: Desk) -> None:
    desk.server.otherwise = refuses("500 Oops")
    model = desk.model(retries=0, failures=3, rest=timedelta(seconds=30))
    for _ in range(3):
        with pytest.raises(ModelUnavailable):
            await model.ask(question())
    assert model.status()["state"] == "resting"
    for _ in range(5):
        with pytest.raises(ModelUnavailable, match="left alone"):
            await model.ask(question())
    assert len(desk.server.received) == 3

    desk.clock.advance(timedelta(seconds=30))
    assert model.status()["state"] == "on_trial"
    with pytest.raises(ModelUnavailable):
        await model.ask(question())
    assert (len(desk.server.received), model.status()["state"]) == (4, "resting")

    desk.clock.advance(timedelta(seconds=30))
    desk.server.otherwise = says(GOOD)
    await model.ask(question())
    assert (model.status()["state"], model.status()["last_error"]) == ("ready", None)


async def test_one_question_is_the_trial_and_the_others_do_not_wait(desk: Desk) -> None:
    desk.server.otherwise = refuses("500 Oops")
    model = desk.model(retries=0, failures=1)
    with pytest.raises(ModelUnavailable):
        await model.ask(question())
    desk.clock.advance(timedelta(seconds=30))
    desk.server.otherwise = hangs
    trial = asyncio.create_task(model.ask(question()))
    await until(lambda: len(desk.server.received) >= 2)
    with pytest.raises(ModelUnavailable, match="left alone"):
        await model.ask(question())
    trial.cancel()
    await asyncio.gather(trial, return_exceptions=True)
    desk.server.otherwise = says(GOOD)
    assert (await model.ask(question())).value.count == 2  # a trial that was cancelled makes room for another


async def test_a_reply_of_the_wrong_shape_is_no_failure_of_the_server(desk: Desk) -> None:
    desk.server.otherwise = says_text("no")
    model = desk.model(retries=0, failures=1)
    for _ in range(3):
        with pytest.raises(InvalidReply):
            await model.ask(question())
    assert model.status()["state"] == "ready"


# -------------------------------------------------------------------- life


async def test_without_a_url_there_is_no_model(desk: Desk) -> None:
    model = desk.model(url="")
    assert (model.is_configured, model.status()) == (False, {"state": "off"})
    with pytest.raises(NoLanguageModel):
        await model.ask(question())


async def test_new_settings_hold_from_the_next_question_on(desk: Desk) -> None:
    model = desk.model(url="")
    model.configure(desk.settings)
    release = asyncio.Event()
    desk.server.then(says(GOOD))
    assert (await model.ask(question())).value.count == 2

    desk.server.then(hangs, thinks(lambda data: {"colours": [data["text"]], "count": 1}))
    task = asyncio.create_task(model.ask(question()))
    await until(lambda: len(desk.server.received) >= 2)
    model.configure(desk.model(model="another").settings)
    assert (await model.ask(question("teal"))).value.colours == ["teal"]
    assert desk.server.received[-1].json["model"] == "another"
    assert not task.done()  # it goes on as it began
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    release.set()


async def test_the_doctor_asks_whether_it_is_there_without_a_token(desk: Desk) -> None:
    assert await desk.model().probe() == (True, "test-model is there")
    is_well, detail = await desk.model(model="other").probe()
    assert (is_well, detail) == (False, "the server has 1 models, and other is none of them")
    assert not (await desk.model(url="http://127.0.0.1:1/v1").probe())[0]
    assert not desk.server.received


async def test_the_key_goes_to_the_server_and_nowhere_else(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.server.then(says(GOOD), refuses("401 Who"))
    model = desk.model(api_key="sk-very-secret")
    await model.ask(question("a secret text"))
    assert desk.server.received[0].headers["authorization"] == "Bearer sk-very-secret"
    with pytest.raises(ModelUnavailable) as caught:
        await model.ask(question("a secret text"))

    output = capsys.readouterr()
    told = "".join((output.out, output.err, repr(model.settings), str(model.status()), str(caught.value.data)))
    assert "sk-very-secret" not in told + str(caught.value)
    assert "secret text" not in told + str(caught.value)


async def test_the_environment_names_no_proxy(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    desk.server.then(says(GOOD))
    assert (await desk.ask()).value.count == 2


async def test_back_off_takes_the_clock_and_not_the_machine(desk: Desk) -> None:
    clock = FakeClock(stands_still=True)
    desk.clock = clock
    desk.server.then(refuses("500 Oops"), says(GOOD))
    task = asyncio.create_task(desk.ask())
    await until(lambda: clock._sleepers)
    assert len(desk.server.received) == 1
    clock.advance(timedelta(seconds=1))
    assert (await task).value.count == 2


def test_the_body_of_a_reply_is_what_the_protocol_says() -> None:
    assert b'"choices"' in replies({"content": ""})
