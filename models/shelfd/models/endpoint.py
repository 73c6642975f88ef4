"""One server and model: a question with all its attempts."""

import asyncio
import email.utils
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from shelfd.memory import Clock
from shelfd.memory.errors import InvalidReply, ModelUnavailable
from shelfd.memory.ports.language_model import A, ModelQuestion, ModelReply, Permit, token_count
from shelfd.models import dialect
from shelfd.models.breaker import Breaker
from shelfd.models.failure import AttemptFailed
from shelfd.models.ledger import TokenLedger
from shelfd.models.settings import ModelSettings

if TYPE_CHECKING:
    from shelfd.models.transport import HttpAnswer, Transport

_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
#: A server that says to come again later than this is taken to be down.
_LONGEST_RETRY_AFTER_S: Final = 3600.0
#: Statuses after which the same request may succeed.
_RETRIED: Final = frozenset({408, 409, 425, 429})
#: Statuses by which a server says that it does not know the form of a request.
_FORM: Final = frozenset({400, 415, 422, 501})


@dataclass(slots=True)
class CallCounters:
    """What was asked since the daemon's start."""

    calls: int = 0
    failures: int = 0
    retries: int = 0
    invalid: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class _Told(NamedTuple):
    """What an attempt cost, by the server's count or ours."""

    completion: dialect.Completion
    tokens_in: int
    tokens_out: int


class Endpoint:
    """One server and model.

    Args:
        settings: With a url.
        transport: Its connections.
        clock: Time for back-off, breaker and deadlines between attempts; an attempt itself is timed by the loop.
        ledger: Keeps the day's budget.
        counters: Counts.
        draw: Returns a number from 0 to 1, for jitter.
    """

    def __init__(
        self,
        settings: ModelSettings,
        transport: "Transport",
        clock: Clock,
        ledger: TokenLedger,
        counters: CallCounters,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self.transport = transport
        self.breaker = Breaker(clock, failures=settings.failures, rest=settings.rest)
        self._clock = clock
        self._ledger = ledger
        self._counters = counters
        self._draw = draw
        self._forms = dialect.forms(settings.reply_format)
        self._is_form_known = False
        self._not_before = 0.0  # by the server's Retry-After

    @property
    def form(self) -> str:
        """How JSON is got now."""
        return self._forms[0].json_by

    async def ask(self, question: ModelQuestion[A], deadline: float, permit: Permit) -> ModelReply[A]:
        """Return the answer, trying again as often as is allowed. Raises as the port says."""
        retries = 0
        while True:
            await self._wait_for_server(deadline)
            try:
                return await self._attempt(question, deadline, permit)
            except InvalidReply:
                # The server may have ignored a form that it does not know.
                if retries >= self.settings.retries or not self._other_way():
                    raise
                retries += 1
            except AttemptFailed as failure:
                if failure.is_form and self._other_form():
                    continue
                is_last = not failure.is_retried or retries >= self.settings.retries
                wait_s = self._wait_s(failure, retries)
                if is_last or self._clock.monotonic() + wait_s >= deadline:
                    raise _unavailable(failure, wait_s) from None
                retries += 1
                self._counters.retries += 1
                await self._clock.sleep(timedelta(seconds=wait_s))

    async def _wait_for_server(self, deadline: float) -> None:
        wait_s = self._not_before - self._clock.monotonic()
        if wait_s <= 0:
            return
        if self._not_before >= deadline:
            text = "the language model's server said to come again later"
            raise ModelUnavailable(text, reason="MODEL_BUSY", retry_after_s=round(wait_s, 1))
        await self._clock.sleep(timedelta(seconds=wait_s))

    async def _attempt(self, question: ModelQuestion[A], deadline: float, permit: Permit) -> ModelReply[A]:
        form = self._forms[0]
        body = dialect.request(question, self.settings.model, form)
        most_in = token_count(body)
        self.breaker.admit()
        try:
            day = await self._ledger.set_aside(most_in + question.reply_tokens)
        except BaseException:
            self.breaker.abandoned()
            raise
        spent_in, spent_out = 0, 0
        try:
            permit()
            spent_in = most_in
            told = await self._post(json.dumps(body).encode("ascii"), most_in, deadline)
            spent_in, spent_out = told.tokens_in, told.tokens_out
            self.breaker.succeeded()
        except AttemptFailed as failure:
            if failure.is_form:
                self.breaker.abandoned()
            else:
                self.breaker.failed()
            spent_in = 0 if failure.reason in _COST_NOTHING else spent_in
            raise
        except BaseException:
            self.breaker.abandoned()
            raise
        finally:
            self._counters.tokens_in += spent_in
            self._counters.tokens_out += spent_out
            await self._ledger.settle(day, most_in + question.reply_tokens, tokens_in=spent_in, tokens_out=spent_out)
        value = dialect.answer(told.completion, question)
        self._forms, self._is_form_known = [form], True
        return ModelReply(value, spent_in, spent_out, self.settings.model)

    async def _post(self, body: bytes, most_in: int, deadline: float) -> _Told:
        left_s = min(self.settings.timeout.total_seconds(), deadline - self._clock.monotonic())
        try:
            async with asyncio.timeout(left_s):
                answer = await self.transport.post(dialect.PATH, body)
        except TimeoutError:
            text = f"the language model took longer than {left_s:.0f} s"
            raise AttemptFailed(text, "MODEL_TIMEOUT") from None
        if answer.status != HTTPStatus.OK:
            raise refusal(answer)
        completion = dialect.completion(answer.body)
        tokens_in = most_in if completion.tokens_in is None else completion.tokens_in
        return _Told(completion, tokens_in, completion.tokens_out or token_count(completion.texts))

    def _other_form(self) -> bool:
        """Go on to the next form; after the last, or when the one that worked is refused, begin anew next time."""
        if self._is_form_known or len(self._forms) == 1:
            self._forms, self._is_form_known = dialect.forms(self.settings.reply_format), False
            return False
        self._forms = self._forms[1:]
        return True

    def _other_way(self) -> bool:
        """Go on to another way to get JSON; return False if this one is known to work or it is the last."""
        others = [form for form in self._forms if form.json_by != self._forms[0].json_by]
        if self._is_form_known or not others:
            return False
        self._forms = others
        return True

    def _wait_s(self, failure: AttemptFailed, retries: int) -> float:
        """How long to wait before another attempt: what the server says, else back-off with jitter."""
        asked_s = _seconds(failure.retry_after, self._clock.now() / 1e6)
        if asked_s is not None:
            self._not_before = max(self._not_before, self._clock.monotonic() + asked_s)
            return asked_s
        most_s: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**retries)
        return most_s * (0.5 + self._draw() / 2)


#: Reasons of failures by which no tokens were taken.
_COST_NOTHING: Final = frozenset({"MODEL_UNREACHABLE", "CERTIFICATE", "MODEL_BUSY", "MODEL_REFUSED", "REDIRECT"})


def refusal(answer: "HttpAnswer") -> AttemptFailed:
    """Return what an answer that is none means."""
    status = answer.status
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        text = f"the language model's server refuses the API key (status {status}): see llm.api_key_file"
        return AttemptFailed(text, "MODEL_REFUSED", is_retried=False)
    if status == HTTPStatus.NOT_FOUND:
        text = "the server does not know this path or model (status 404): see llm.url and llm.model"
        return AttemptFailed(text, "MODEL_REFUSED", is_retried=False)
    if status in _FORM:
        text = f"the language model's server refuses the request (status {status})"
        return AttemptFailed(text, "MODEL_REFUSED", is_retried=False, is_form=True)
    if status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        text = f"the language model's server is overloaded or out of order (status {status})"
        return AttemptFailed(text, "MODEL_BUSY", retry_after=answer.retry_after)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        text = f"the server sends elsewhere (status {status}), which is not followed: see llm.url"
        return AttemptFailed(text, "REDIRECT", is_retried=False)
    return AttemptFailed(f"the server answers with status {status}", "MODEL_REFUSED", is_retried=False)


def _unavailable(failure: AttemptFailed, wait_s: float) -> ModelUnavailable:
    later_s = round(wait_s, 1) if failure.is_retried else None
    return ModelUnavailable(failure.text, reason=failure.reason, retry_after_s=later_s)


def _seconds(retry_after: str | None, now: float) -> float | None:
    """Read a Retry-After, which is a number of seconds or a date; None if it is neither."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        wait_s = float(text[:9])
    else:
        try:
            wait_s = email.utils.parsedate_to_datetime(text).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(0.0, wait_s), _LONGEST_RETRY_AFTER_S)
