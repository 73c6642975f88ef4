"""A question to the language model whose answer is checked, and asked again with the reason if it cannot be used."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shelfd.memory.errors import InvalidReply, NoLanguageModel
from shelfd.memory.ports.language_model import ModelQuestion, token_count
from shelfd.memory.shelf.asking import ShelfModel

A = TypeVar("A", bound=BaseModel)
#: Which way something was made, as results say it.
RULES: Final = "rules"
LLM: Final = "llm"
_RETRIES: Final = 2
#: Problems that the model is told at once.
_TOLD: Final = 5
#: Of the model's context, what the texts may take beside instructions, schema and answer.
_ROOM_SHARE: Final = 0.9
_FEWEST_TOKENS: Final = 100
_CHARACTERS_PER_TOKEN: Final = 3


class ModelAnswer(BaseModel):
    """What a model answers; names that nobody asked for are let be."""

    model_config = ConfigDict(extra="ignore", defer_build=True)


def _weighed(value: Any) -> Any:  # noqa: ANN401
    try:
        return min(max(round(float(value)), 1), 10)
    except (TypeError, ValueError, OverflowError):
        return 5


#: How much something matters, 1 to 10; what is no number is 5.
Importance: TypeAlias = Annotated[int, BeforeValidator(_weighed)]


async def ask_checked(
    model: ShelfModel,
    question: ModelQuestion[A],
    check: Callable[[A], Sequence[str]],
    *,
    deadline: float | None = None,
) -> A:
    """Return the answer to *question*, asked again with the reason where it cannot be used, twice at most.

    Args:
        model: The shelf's.
        question: What is asked.
        check: Returns what is wrong with an answer, in our own words; nothing if it can be used.
        deadline: By the clock's monotonic seconds.

    Raises:
        ShelfError: One of :data:`~shelfd.memory.ports.language_model.NO_ANSWER`.
    """
    problem = ""
    for _ in range(_RETRIES + 1):
        try:
            answer = (await model.ask(question.again(problem) if problem else question, deadline=deadline)).value
        except InvalidReply as error:
            problem = error.problem
            continue
        problems = check(answer)
        if not problems:
            return answer
        problem = "; ".join(problems[:_TOLD])
    raise InvalidReply(problem)


def room(model: ShelfModel, question: ModelQuestion[A]) -> int:
    """Return how many characters of text a question of this kind has room for beside what it holds now.

    Raises:
        NoLanguageModel: If the model's context is too small for anything.
    """
    taken = question.reply_tokens + token_count(question.answer.model_json_schema()) + question.tokens
    left = int((model.context_tokens - taken) * _ROOM_SHARE)
    if left < _FEWEST_TOKENS:
        raise NoLanguageModel(
            "the language model's context is too small: see llm.context_tokens", reason="CONTEXT_TOO_SMALL"
        )
    return left * _CHARACTERS_PER_TOKEN
