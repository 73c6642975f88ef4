"""What the tests of the language model ask, and who asks it."""

from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from fakes import FakeClock
from model_server import ModelServer
from shelfd.memory.ports.language_model import ModelQuestion, ModelReply, Passage
from shelfd.models import ConfiguredModel, ModelSettings


class Colours(BaseModel):
    """What these tests ask for."""

    model_config = ConfigDict(extra="forbid")

    colours: list[str]
    count: int


GOOD = {"colours": ["red", "blue"], "count": 2}


def question(text: str = "the sea is blue", **changed: Any) -> ModelQuestion[Colours]:
    """A question about a text."""
    asked = ModelQuestion("test.colours", "Which colours are named?", [Passage("text", "memory", text)], Colours, 200)
    return asked._replace(**changed)


@dataclass
class Desk:
    """A model that asks the server."""

    server: ModelServer
    clock: FakeClock
    settings: ModelSettings
    ledger: Path
    made: list[ConfiguredModel] = field(default_factory=list)

    def model(self, **changed: Any) -> ConfiguredModel:
        """Return a model with some settings changed, as a daemon that starts now has it."""
        self.made.append(ConfiguredModel(replace(self.settings, **changed), self.clock, UTC, self.ledger))
        return self.made[-1]

    async def ask(self, **changed: Any) -> ModelReply[Colours]:
        """Ask a model of its own."""
        return await self.model(**changed).ask(question())
