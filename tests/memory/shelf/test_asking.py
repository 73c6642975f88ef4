"""The one gate between a shelf and a language model."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from fakes import Api
from shelfd.memory.errors import NoLanguageModel
from shelfd.memory.ports.language_model import A, ModelQuestion, ModelReply, Passage
from shelfd.memory.shelf.asking import ShelfModel


class Word(BaseModel):
    """What is asked for."""

    word: str


class Listener:
    """A model that answers everything and keeps what it was shown."""

    is_configured = True
    context_tokens = 8192

    def __init__(self) -> None:
        self.shown: list[Any] = []

    async def ask(
        self, question: ModelQuestion[A], *, deadline: float | None = None, permit: Callable[[], None] = lambda: None
    ) -> ModelReply[A]:
        permit()
        self.shown.append([passage.value for passage in question.passages])
        return ModelReply(question.answer.model_validate({"word": "yes"}), 1, 1)


def about(*nuggets: str | None) -> ModelQuestion[Word]:
    return ModelQuestion("test", "Say a word.", [Passage(f"p{n}", name, name) for n, name in enumerate(nuggets)], Word)


async def test_text_of_a_nugget_that_is_local_only_is_not_shown(either: Api) -> None:
    await either.call("nugget.create", name="open")
    await either.call("nugget.create", name="diary", local_only=True)
    listener = Listener()
    model = ShelfModel(either.shelf().view, listener)

    assert (await model.ask(about("open", "unknown", None))).value.word == "yes"
    assert (model.may_see("open"), model.may_see("unknown"), model.may_see("diary")) == (True, True, False)
    for question in (about("diary"), about("open", "diary", None)):
        with pytest.raises(NoLanguageModel) as caught:
            await model.ask(question)
        assert (caught.value.code, caught.value.data["reason"]) == (-32008, "LOCAL_ONLY")
    assert listener.shown == [["open", "unknown", None]]


async def test_a_mark_set_while_a_question_waits_holds_for_it(either: Api) -> None:
    await either.call("nugget.create", name="diary")

    class Slow(Listener):
        async def ask(self, question: ModelQuestion[A], **named: Any) -> ModelReply[A]:
            await either.call("nugget.edit", name="diary", local_only=True)
            return await super().ask(question, **named)

    slow = Slow()
    with pytest.raises(NoLanguageModel):
        await ShelfModel(either.shelf().view, slow).ask(about("diary"))
    assert not slow.shown


async def test_without_a_model_nothing_may_be_shown(either: Api) -> None:
    model = either.shelf().model
    assert (model.may_see("any"), model.context_tokens) == (False, 0)
    with pytest.raises(NoLanguageModel) as caught:
        await model.ask(about("any"))
    assert "[llm]" in caught.value.message
