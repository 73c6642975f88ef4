"""The one way to a language model: a shelf asks it nothing that holds text of a nugget which is to stay here."""

from collections.abc import Iterable
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from shelfd.memory.errors import NoLanguageModel
from shelfd.memory.ports.language_model import NO_MODEL, LanguageModel, ModelQuestion, ModelReply
from shelfd.memory.ports.view import View

A = TypeVar("A", bound=BaseModel)


class ShelfModel:
    """The language model, as far as one shelf may ask it."""

    def __init__(self, view: View, model: LanguageModel = NO_MODEL) -> None:
        self._view = view
        self._model = model

    @property
    def context_tokens(self) -> int:
        """How many tokens a question may have, its answer included; 0 without a model."""
        return self._model.context_tokens

    def may_see(self, nugget: str) -> bool:
        """Return whether there is a model and the text of *nugget* may be sent to it."""
        return self._model.is_configured and not self._is_local(nugget)

    async def ask(self, question: ModelQuestion[A], *, deadline: float | None = None) -> ModelReply[A]:
        """Return the validated answer. See the port.

        Raises:
            NoLanguageModel: If there is none, or the question holds text of a nugget that is marked ``local_only``.
                Nothing of it was sent then.
        """
        nuggets = sorted({passage.nugget for passage in question.passages if passage.nugget is not None})
        self._check(nuggets)
        # Again before each attempt: it may be marked while a question waits for its turn.
        return await self._model.ask(question, deadline=deadline, permit=partial(self._check, nuggets))

    def _check(self, nuggets: Iterable[str]) -> None:
        for name in nuggets:
            if self._is_local(name):
                text = f"nugget {name!r} is marked local_only: its text is not sent to a language model"
                raise NoLanguageModel(text, nugget=name, reason="LOCAL_ONLY")

    def _is_local(self, name: str) -> bool:
        nugget = self._view.nuggets.get(name)
        return nugget is not None and nugget.local_only
