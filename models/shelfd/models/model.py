"""The language model that is configured: the port's adapter, which can be configured anew while it is at work."""

import asyncio
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Any, Final

import structlog

from shelfd.memory import Clock
from shelfd.memory.errors import InvalidReply, ModelUnavailable, NoLanguageModel, ShelfError, TooLarge
from shelfd.memory.ports.language_model import A, ModelQuestion, ModelReply, Permit
from shelfd.models import dialect
from shelfd.models.breaker import RESTS
from shelfd.models.endpoint import CallCounters, Endpoint
from shelfd.models.failure import AttemptFailed
from shelfd.models.ledger import TokenLedger
from shelfd.models.settings import ModelSettings

log = structlog.get_logger("shelfd.models")

#: Questions that wait for their turn, at most.
_WAITING: Final = 64
_PROBE: Final = timedelta(seconds=10)


class ConfiguredModel:
    """Implements the memory's ``LanguageModel`` port. Nothing is connected or imported before the first question.

    Args:
        settings: What to ask where; without a url there is no model.
        clock: Time.
        zone: In which a day of the budget begins.
        ledger_file: Keeps the tokens that were taken; None: only in memory.
    """

    def __init__(self, settings: ModelSettings, clock: Clock, zone: tzinfo, ledger_file: Path | None = None) -> None:
        self.settings = settings  #: what holds now; see :meth:`configure`
        self._clock = clock
        self._ledger = TokenLedger(ledger_file, clock, zone, settings.tokens_per_day)
        self._counters = CallCounters()
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._waiting = 0
        self._endpoint: Endpoint | None = None
        self._opening = asyncio.Lock()
        self._at_work: dict[Endpoint, int] = {}
        self._last_error: str | None = None

    # ---------------------------------------------------------------- the port

    @property
    def is_configured(self) -> bool:
        """Whether there is one to be asked. See the port."""
        return bool(self.settings.url)

    @property
    def context_tokens(self) -> int:
        """How many tokens a question may have, its answer included. See the port."""
        return self.settings.context_tokens if self.is_configured else 0

    async def ask(
        self, question: ModelQuestion[A], *, deadline: float | None = None, permit: Permit = lambda: None
    ) -> ModelReply[A]:
        """Return the validated answer. See the port."""
        if not self.is_configured:
            raise NoLanguageModel
        self._check_size(question)
        started = self._clock.monotonic()
        latest = started + self.settings.deadline.total_seconds()
        latest = latest if deadline is None else min(latest, deadline)
        self._counters.calls += 1
        try:
            reply = await self._ask_in_turn(question, latest, permit)
        except ShelfError as error:
            self._failed(question, error)
            raise
        self._last_error = None
        log.info(
            "llm.answered",
            purpose=question.purpose,
            duration_ms=round((self._clock.monotonic() - started) * 1000),
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
        )
        return reply

    def _check_size(self, question: ModelQuestion[A]) -> None:
        if question.tokens + question.reply_tokens > self.settings.context_tokens:
            text = f"{question.purpose}: the question has more tokens than llm.context_tokens"
            raise TooLarge(text, field="context_tokens", limit=self.settings.context_tokens)

    async def _ask_in_turn(self, question: ModelQuestion[A], latest: float, permit: Permit) -> ModelReply[A]:
        slots = self._slots
        if slots.locked():
            if self._waiting >= _WAITING:
                raise ModelUnavailable("too many questions wait for the language model", reason="MODEL_BUSY")
            self._waiting += 1
            try:
                async with asyncio.timeout(max(0.0, latest - self._clock.monotonic())):
                    await slots.acquire()
            except TimeoutError:
                raise ModelUnavailable(
                    "the language model had no time for this question", reason="MODEL_BUSY"
                ) from None
            finally:
                self._waiting -= 1
        else:
            await slots.acquire()
        try:
            return await self._ask_endpoint(question, latest, permit)
        finally:
            slots.release()

    async def _ask_endpoint(self, question: ModelQuestion[A], latest: float, permit: Permit) -> ModelReply[A]:
        endpoint = await self._opened()
        self._at_work[endpoint] = self._at_work.get(endpoint, 0) + 1
        try:
            return await endpoint.ask(question, latest, permit)
        finally:
            self._at_work[endpoint] -= 1
            if not self._at_work[endpoint]:
                del self._at_work[endpoint]
                if endpoint is not self._endpoint:  # it was configured anew meanwhile
                    await endpoint.transport.close()

    async def _opened(self) -> Endpoint:
        async with self._opening:
            if self._endpoint is None:
                settings = self.settings
                # The import of the library and reading certificates would hold up requests noticeably.
                try:
                    transport = await asyncio.to_thread(_transport, settings)
                except OSError:
                    raise ModelUnavailable("llm.ca_file cannot be used", reason="CERTIFICATE") from None
                self._endpoint = Endpoint(settings, transport, self._clock, self._ledger, self._counters)
            return self._endpoint

    def _failed(self, question: ModelQuestion[A], error: ShelfError) -> None:
        if isinstance(error, NoLanguageModel):  # it was not asked
            return
        if isinstance(error, InvalidReply):
            self._counters.invalid += 1
        self._counters.failures += 1
        if error.data.get("reason") != RESTS:  # which says nothing about what is wrong with the server
            self._last_error = error.message
        log.warning("llm.failed", purpose=question.purpose, error=type(error).__name__, reason=error.data.get("reason"))

    # ---------------------------------------------------------------- life

    def configure(self, settings: ModelSettings) -> None:
        """Go by other settings from the next question on; those under way end as they began."""
        self.settings = settings
        self._ledger.limit = settings.tokens_per_day
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._last_error = None
        before, self._endpoint = self._endpoint, None
        if before is not None and before not in self._at_work:
            asyncio.get_running_loop().create_task(before.transport.close(), name="shelfd.models.close")

    async def close(self) -> None:
        """Close all connections."""
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.transport.close()

    # ---------------------------------------------------------------- what it says

    def status(self) -> dict[str, Any]:
        """Return what ``system.health`` says of it."""
        if not self.is_configured:
            return {"state": "off"}
        today = self._ledger.today()
        return {
            "state": self._state(),
            "url": self.settings.url,
            "model": self.settings.model,
            "format": self._endpoint.form if self._endpoint is not None else self.settings.reply_format,
            "waiting": self._waiting,
            "tokens_today": today.total,
            "tokens_per_day": self.settings.tokens_per_day,
            "last_error": self._last_error,
        }

    def _cost_today(self) -> int:
        """What today's answered questions cost, in millionths of the currency of the prices."""
        today = self._ledger.today()
        return round(today.tokens_in * self.settings.price_in + today.tokens_out * self.settings.price_out)

    def _state(self) -> str:
        if self._ledger.is_spent:
            return "spent"
        breaker = "closed" if self._endpoint is None else self._endpoint.breaker.state
        return {"closed": "ready", "open": "resting", "half_open": "on_trial"}[breaker]

    def metrics(self) -> dict[str, int]:
        """Return counters since start, and today's tokens."""
        counted = self._counters
        return {
            "llm_calls": counted.calls,
            "llm_failures": counted.failures,
            "llm_invalid_replies": counted.invalid,
            "llm_retries": counted.retries,
            "llm_tokens_in": counted.tokens_in,
            "llm_tokens_out": counted.tokens_out,
            "llm_tokens_today": self._ledger.today().total,
            "llm_cost_today_millionths": self._cost_today(),
        }

    async def probe(self) -> tuple[bool, str]:
        """Find out whether the server is there and has the model, which costs no tokens; return that in words."""
        endpoint = await self._opened()
        try:
            async with asyncio.timeout(_PROBE.total_seconds()):
                answer = await endpoint.transport.get("/models")
        except AttemptFailed as failure:
            return False, failure.text
        except TimeoutError:
            return False, f"the server did not answer within {_PROBE.total_seconds():.0f} s"
        return dialect.listed(answer.status, answer.body, self.settings.model)


def _transport(settings: ModelSettings) -> Any:  # noqa: ANN401 - imported here
    from shelfd.models.transport import Transport  # after the first question is asked: see the module

    return Transport(settings)
