"""The memory's port ``Embedder`` by an OpenAI-compatible server over HTTP: one vector for each text."""

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from http import HTTPStatus
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import structlog

from shelfd.memory import Clock
from shelfd.memory.errors import EmbedderUnavailable, ModelUnavailable, QuotaExceeded
from shelfd.memory.ports.embedder import CONTEXTUAL, Permit, Vectors
from shelfd.memory.ports.language_model import token_count
from shelfd.models.breaker import Breaker
from shelfd.models.endpoint import refusal
from shelfd.models.failure import AttemptFailed
from shelfd.models.ledger import TokenLedger
from shelfd.models.settings import ModelSettings

if TYPE_CHECKING:
    from shelfd.models.transport import Transport

log = structlog.get_logger("shelfd.models")

_PATH: Final = "/embeddings"
#: Of a text no more is sent than a context of so many tokens holds, if three characters are a token.
_CHARACTERS_PER_TOKEN: Final = 3
_WIDEST: Final = 8_192
_LARGEST: Final = 127
_LEAST: Final = 1e-12
_FIRST_WAIT_S: Final = 0.5
#: What is wrong, by reasons of failed attempts.
_PROBLEMS: Final = {
    "MODEL_TIMEOUT": "the embedder's server takes too long: see embedder.timeout_s",
    "MODEL_UNREACHABLE": "the embedder's server cannot be reached",
    "MODEL_BUSY": "the embedder's server is overloaded or out of order",
    "MODEL_REFUSED": "the embedder's server refuses: see embedder.url, embedder.model and embedder.api_key_file",
    "MODEL_RESTS": "the embedder's server failed several times in a row and is left alone for a while",
    "CERTIFICATE": "the embedder's server has a certificate that is not trusted: see embedder.ca_file",
    "REDIRECT": "the embedder's server sends elsewhere, which is not followed: see embedder.url",
}
_UNUSABLE: Final = "what the embedder's server replies cannot be used"


class HttpEmbedder:
    """Implements ``Embedder``. Nothing is imported or connected before the first text.

    Args:
        settings: What to ask where.
        clock: Time for back-off and the breaker; an attempt itself is timed by the loop.
        ledger: Keeps the day's budget.
        draw: Returns a number from 0 to 1, for jitter.
    """

    is_local = False
    weight = CONTEXTUAL

    def __init__(
        self, settings: ModelSettings, clock: Clock, ledger: TokenLedger, draw: Callable[[], float] = random.random
    ) -> None:
        self.model = f"http/{settings.model}"
        self._settings = settings
        self._clock = clock
        self._ledger = ledger
        self._draw = draw
        self._breaker = Breaker(clock, failures=settings.failures, rest=settings.rest)
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None
        self._last_error: str | None = None
        self._count = 0

    async def query(self, text: str, *, permit: Permit = lambda: None) -> Vectors:
        """Return the vector of a query, asked for once. See the port."""
        (found,) = await self._ask([text], permit, retries=0)
        return found

    async def texts(self, texts: Sequence[str], *, permit: Permit = lambda: None) -> list[Vectors]:
        """Return the vector of each text, all by one request. See the port."""
        said = [text for text in texts if text.strip()]
        found = iter(await self._ask(said, permit, retries=self._settings.retries) if said else ())
        return [next(found) if text.strip() else np.zeros((0, 1), np.int8) for text in texts]

    def status(self) -> dict[str, Any]:
        """Return whether the server is asked, and what was wrong last. See the port."""
        state = {"closed": "ready", "open": "resting", "half_open": "on_trial"}[self._breaker.state]
        tokens = self._ledger.today().total
        return {
            "state": "spent" if self._ledger.is_spent else state,
            "model": self.model,
            "url": self._settings.url,
            "embedded": self._count,
            "tokens_today": tokens,
            "last_error": self._last_error,
        }

    async def close(self) -> None:
        """Close all connections."""
        if self._transport is not None:
            await self._transport.close()

    async def _ask(self, texts: Sequence[str], permit: Permit, retries: int) -> list[Vectors]:
        for attempt in range(retries + 1):
            try:
                found = await self._attempt(texts, permit)
            except AttemptFailed as failure:
                if failure.is_retried and attempt < retries:
                    wait_s = _FIRST_WAIT_S * 2**attempt * (0.5 + self._draw() / 2)
                    await self._clock.sleep(timedelta(seconds=wait_s))
                    continue
                raise self._failed(failure.reason) from None
            except ModelUnavailable as error:
                raise self._failed(error.data.get("reason", "")) from None
            self._last_error = None
            self._count += len(texts)
            return found
        raise AssertionError

    def _failed(self, reason: str) -> EmbedderUnavailable:
        self._last_error = _PROBLEMS.get(reason, _UNUSABLE)
        log.warning("embedder.failed", model=self.model, reason=reason)
        return EmbedderUnavailable(self._last_error, reason=reason.replace("MODEL_", "EMBEDDER_"))

    async def _attempt(self, texts: Sequence[str], permit: Permit) -> list[Vectors]:
        longest = self._settings.context_tokens * _CHARACTERS_PER_TOKEN
        body = {"model": self._settings.model, "input": [text[:longest] for text in texts], "encoding_format": "float"}
        transport, most = await self._opened(), token_count(body)
        self._breaker.admit()
        spent = 0
        try:
            day = await self._set_aside(most)
        except BaseException:
            self._breaker.abandoned()
            raise
        try:
            permit()
            spent = most
            found, used = _read(await self._post(transport, json.dumps(body).encode("ascii")), len(texts))
            spent = most if used is None else used
            self._breaker.succeeded()
        except AttemptFailed:
            self._breaker.failed()
            raise
        except BaseException:
            self._breaker.abandoned()
            raise
        finally:
            await self._ledger.settle(day, most, tokens_in=spent, tokens_out=0)
        return found

    async def _set_aside(self, tokens: int) -> str:
        try:
            return await self._ledger.set_aside(tokens)
        except QuotaExceeded as error:
            problem = "the embedder's tokens for today are used up; there are more after midnight"
            raise QuotaExceeded(problem, **error.data) from None

    async def _post(self, transport: "Transport", body: bytes) -> bytes:
        try:
            async with asyncio.timeout(self._settings.timeout.total_seconds()):
                answer = await transport.post(_PATH, body)
        except TimeoutError:
            raise AttemptFailed("it took too long", "MODEL_TIMEOUT") from None
        if answer.status != HTTPStatus.OK:
            raise refusal(answer)
        return answer.body

    async def _opened(self) -> "Transport":
        async with self._opening:
            if self._transport is None:
                # The import of the library and reading certificates would hold up requests noticeably.
                try:
                    self._transport = await asyncio.to_thread(_transport, self._settings)
                except OSError:
                    raise AttemptFailed("its certificates", "CERTIFICATE", is_retried=False) from None
            return self._transport


def _transport(settings: ModelSettings) -> "Transport":
    from shelfd.models.transport import Transport  # after the first text is embedded: see the module

    return Transport(settings)


def _read(body: bytes, count: int) -> tuple[list[Vectors], int | None]:
    """Return the vectors in a reply, in the order of the texts, and the tokens these took if it says so."""
    try:
        reply = json.loads(body)
        rows = sorted(reply["data"], key=lambda row: int(row["index"]))
        vectors = [[float(number) for number in row["embedding"]] for row in rows]
        used = reply.get("usage", {}).get("prompt_tokens")
        places = [int(row["index"]) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise AttemptFailed(_UNUSABLE) from None
    widths = {len(vector) for vector in vectors}
    is_whole = places == list(range(count)) and len(widths) == 1 and 0 < max(widths) <= _WIDEST
    if not is_whole or not all(isfinite(number) for vector in vectors for number in vector):
        raise AttemptFailed(_UNUSABLE, is_retried=False)
    return [_rounded(vector) for vector in vectors], used if isinstance(used, int) and used >= 0 else None


def _rounded(vector: Sequence[float]) -> Vectors:
    numbers = np.array([vector], np.float64)
    found: Vectors = np.rint(numbers * (_LARGEST / max(float(np.abs(numbers).max()), _LEAST))).astype(np.int8)
    return found
