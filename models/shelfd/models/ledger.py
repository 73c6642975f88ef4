"""What questions cost: tokens by day, kept in a file, so that a restart does not renew the day's budget."""

import asyncio
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Final

import structlog

from shelfd.memory import Clock
from shelfd.memory.errors import ModelUnavailable, QuotaExceeded

log = structlog.get_logger("shelfd.models")

_DAYS_KEPT: Final = 40
_FILE_BYTES: Final = 65_536


@dataclass(slots=True)
class DayTokens:
    """Tokens of one day; what was set aside for a question counts until it is known what that took."""

    tokens_in: int = 0
    tokens_out: int = 0
    set_aside: int = 0

    @property
    def total(self) -> int:
        """All that counts against the budget."""
        return self.tokens_in + self.tokens_out + self.set_aside


class TokenLedger:
    """Tokens by local day.

    What a question may cost is set aside, durably, before it is sent. If the daemon is killed before the answer has
    come, it counts as spent.

    Args:
        file: Where they are kept; None: only in memory.
        limit: Tokens of a day; 0: any number.
    """

    def __init__(self, file: Path | None, clock: Clock, zone: tzinfo, limit: int) -> None:
        self.limit = limit
        self._file = file
        self._clock = clock
        self._zone = zone
        self._lock = asyncio.Lock()
        self._days = _read(file) if file is not None else {}

    def today(self) -> DayTokens:
        """Return what today's questions took so far."""
        return self._days.get(self._day()) or DayTokens()

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left for today."""
        return bool(self.limit) and self.today().total >= self.limit

    async def set_aside(self, tokens: int) -> str:
        """Set *tokens* aside for a question about to be sent; return the day, for :meth:`settle`.

        Raises:
            QuotaExceeded: If fewer are left for today.
            ModelUnavailable: If there is a budget, and the file that keeps it cannot be written.
        """
        day = self._day()
        spent = self._days.setdefault(day, DayTokens())
        if self.limit and spent.total + tokens > self.limit:
            raise QuotaExceeded(
                "the language model's tokens for today are used up; there are more after midnight",
                reason="TOKENS_PER_DAY",
                limit=self.limit,
                left=max(0, self.limit - spent.total),
            )
        spent.set_aside += tokens
        try:
            await self._write()
        except BaseException as error:
            spent.set_aside -= tokens
            if not isinstance(error, OSError):
                raise
            if self.limit:
                text = "the file that keeps the budget of tokens cannot be written"
                raise ModelUnavailable(text, reason="BUDGET_NOT_KEPT") from None
            spent.set_aside += tokens
        return day

    async def settle(self, day: str, tokens: int, *, tokens_in: int, tokens_out: int) -> None:
        """Replace what was set aside on *day* by what the question took. Never raises: the answer is there."""
        spent = self._days.setdefault(day, DayTokens())
        spent.set_aside = max(0, spent.set_aside - tokens)
        spent.tokens_in += tokens_in
        spent.tokens_out += tokens_out
        try:
            await self._write()
        except OSError as error:
            log.warning("llm.ledger_failed", error=type(error).__name__, errno=error.errno)

    def _day(self) -> str:
        seconds = self._clock.now() / 1e6
        return datetime.fromtimestamp(seconds, tz=UTC).astimezone(self._zone).date().isoformat()

    async def _write(self) -> None:
        if self._file is None:
            return
        async with self._lock:
            oldest = (datetime.fromisoformat(self._day()) - timedelta(days=_DAYS_KEPT)).date().isoformat()
            for day in [day for day in self._days if day < oldest]:
                del self._days[day]
            rows = {day: [row.tokens_in, row.tokens_out, row.set_aside] for day, row in self._days.items()}
            await asyncio.to_thread(_replace, self._file, json.dumps({"days": rows}, indent=1))


def _read(file: Path) -> dict[str, DayTokens]:
    """Read the file; what a killed daemon had set aside counts as spent, now as then."""
    try:
        with file.open("rb") as opened:
            stored = json.loads(opened.read(_FILE_BYTES))
        return {str(day): _day_of(row) for day, row in stored["days"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        log.warning("llm.ledger_unreadable", file=str(file), error=type(error).__name__)
        return {}


def _day_of(row: Any) -> DayTokens:  # noqa: ANN401 - as a file has it
    tokens_in, tokens_out, set_aside = (int(count) for count in row)
    return DayTokens(tokens_in + set_aside, tokens_out)


def _replace(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(file)
