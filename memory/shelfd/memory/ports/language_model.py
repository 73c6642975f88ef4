"""The language model, which may be absent: whatever asks it has an answer of its own without it."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from shelfd.memory.errors import InvalidReply, ModelUnavailable, NoLanguageModel, QuotaExceeded

A = TypeVar("A", bound=BaseModel)
#: Raises what ends a question, if it may not be sent now.
Permit: TypeAlias = Callable[[], None]
#: Of UTF-8, about, in most languages.
_BYTES_PER_TOKEN: Final = 4
#: What a caller catches that has an answer of its own.
NO_ANSWER: Final = (NoLanguageModel, QuotaExceeded, ModelUnavailable, InvalidReply)


class Passage(NamedTuple):
    """One named part of what a question is about. The model is told that it is data, whatever it says.

    Attributes:
        name: What it is, such as ``candidates``.
        nugget: The nugget that its text is from, of which it depends whether it may be sent; None for our own words.
        value: JSON-like.
    """

    name: str
    nugget: str | None
    value: Any


class ModelQuestion(NamedTuple, Generic[A]):
    """What a model is asked.

    Attributes:
        purpose: For logs and counters: a constant such as ``recall.route``.
        instructions: Our own words; never memory text.
        passages: What it is about.
        answer: What is expected; its JSON schema goes along.
        reply_tokens: How many tokens the answer may have.
    """

    purpose: str
    instructions: str
    passages: Sequence[Passage]
    answer: type[A]
    reply_tokens: int = 2000

    @property
    def tokens(self) -> int:
        """About how many tokens it has, without the answer and its schema."""
        return token_count([self.instructions, {passage.name: passage.value for passage in self.passages}])

    def again(self, problem: str) -> "ModelQuestion[A]":
        """Return the same question, and why the last answer to it was refused; *problem* is our own words."""
        return self._replace(passages=[*self.passages, Passage("your_last_answer_was_refused", None, problem)])


class ModelReply(NamedTuple, Generic[A]):
    """A model's answer, the tokens that it cost, and the model's name if it has one."""

    value: A
    tokens_in: int
    tokens_out: int
    model: str = ""


class LanguageModel(Protocol):
    """Answers questions. It never sees more than one question holds, and keeps nothing of it."""

    @property
    def is_configured(self) -> bool:
        """Whether there is one to be asked."""

    @property
    def context_tokens(self) -> int:
        """How many tokens a question may have, its answer included."""

    async def ask(
        self, question: ModelQuestion[A], *, deadline: float | None = None, permit: Permit = lambda: None
    ) -> ModelReply[A]:
        """Return the validated answer. May be cancelled at any time.

        Args:
            question: What is asked.
            deadline: By the clock's monotonic seconds; the configured one may be sooner.
            permit: Called right before anything is sent, each time; what it raises ends this.

        Raises:
            NoLanguageModel: If none is configured.
            QuotaExceeded: If it would take more tokens than are left for today.
            ModelUnavailable: If it cannot be reached, is overloaded, or took too long; retryable.
            InvalidReply: If what it said is not what was asked for. The message says how, and repeats nothing of it.
            TooLarge: If the question has more tokens than the model's context.
        """


def token_count(value: object) -> int:
    """Return about how many tokens a JSON-like value has as JSON."""
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
    return -(-size // _BYTES_PER_TOKEN)


class NoModel:
    """The absent language model."""

    is_configured = False
    context_tokens = 0

    async def ask(
        self, question: ModelQuestion[A], *, deadline: float | None = None, permit: Permit = lambda: None
    ) -> ModelReply[A]:
        """Raise NoLanguageModel."""
        del question, deadline, permit
        raise NoLanguageModel


NO_MODEL: Final = NoModel()
