"""Vectors from a server: in order, within bounds, and when it is slow, broken or a stranger."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes import FakeClock
from model_server import Behaviour, ModelServer, Received, drops, hangs, never_ends, refuses, sends, truncates
from shelfd.memory.errors import EmbedderUnavailable, QuotaExceeded
from shelfd.models.embeddings import HttpEmbedder
from shelfd.models.ledger import TokenLedger
from shelfd.models.settings import ModelSettings


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def embedder(server: ModelServer, file: Path | None = None, **changed: Any) -> HttpEmbedder:
    clock = FakeClock()
    settings = replace(ModelSettings(url=server.url, model="m", timeout=timedelta(seconds=20)), **changed)
    return HttpEmbedder(settings, clock, TokenLedger(file, clock, UTC, settings.tokens_per_day))


async def embeds(received: Received, writer: Any) -> None:
    """A vector that says how long each text is, the last text's first."""
    rows = [{"index": index, "embedding": [len(text), 1.0, -0.5]} for index, text in enumerate(received.json["input"])]
    body = json.dumps({"data": rows[::-1], "usage": {"prompt_tokens": 3}}).encode()
    await sends(body)(received, writer)


async def test_each_text_gets_its_vector_and_an_empty_one_none(server: ModelServer) -> None:
    asked = embedder(server.then(embeds), api_key="sk-1")
    made = await asked.texts(["four", " ", "twelve chars"])
    assert [len(one) for one in made] == [1, 0, 1]
    for vectors, length in ((made[0], 4), (made[2], 12)):
        cosine = vectors[0].astype(float) @ (length, 1.0, -0.5)
        assert cosine / np.linalg.norm(vectors[0].astype(float)) / np.linalg.norm((length, 1.0, -0.5)) > 0.999
    (received,) = server.received
    assert (received.path, received.json["model"], received.json["input"]) == (
        "/v1/embeddings", "m", ["four", "twelve chars"],
    )  # fmt: skip
    assert received.headers["authorization"] == "Bearer sk-1"
    assert asked.status()["tokens_today"] == 3
    await asked.close()


async def test_long_texts_are_cut_at_what_the_model_takes(server: ModelServer) -> None:
    asked = embedder(server.then(embeds), context_tokens=64)
    await asked.query("x" * 5_000)
    assert server.received[0].json["input"] == ["x" * 192]
    await asked.close()


@pytest.mark.parametrize("bad", [drops, truncates, refuses("503 Busy"), refuses("429 Slow"), sends(b"garbage")])
async def test_what_may_pass_is_tried_again_for_notes_and_not_for_a_query(server: ModelServer, bad: Behaviour) -> None:
    asked = embedder(server.then(bad, bad, embeds, bad))
    assert len(await asked.texts(["text"])) == 1
    with pytest.raises(EmbedderUnavailable):
        await asked.query("text")
    assert len(server.received) == 4
    await asked.close()


@pytest.mark.parametrize(
    "data",
    [[], [{"index": 0, "embedding": []}], [{"index": 1, "embedding": [1.0]}], [{"index": 0, "embedding": ["a"]}],
     [{"index": 0, "embedding": [float("nan")]}], [{"index": 0, "embedding": [1.0] * 9000}], {"index": 0}, None,
     [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]],
)  # fmt: skip
async def test_a_reply_that_is_not_what_was_asked_for_is_none(server: ModelServer, data: object) -> None:
    asked = embedder(server.then(sends(json.dumps({"data": data}).encode())))
    with pytest.raises(EmbedderUnavailable, match="cannot be used"):
        await asked.query("text")
    await asked.close()


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(refuses("401 Who"), "EMBEDDER_REFUSED"), (refuses("404 Gone"), "EMBEDDER_REFUSED"),
     (refuses("307 There", Location="http://127.0.0.1:9/v1"), "REDIRECT"), (never_ends, "REPLY_TOO_LONG")],
)  # fmt: skip
async def test_what_will_not_pass_is_not_tried_again(server: ModelServer, bad: Behaviour, reason: str) -> None:
    asked = embedder(server.then(bad))
    with pytest.raises(EmbedderUnavailable) as caught:
        await asked.texts(["secret text"])
    assert (caught.value.data["reason"], len(server.received)) == (reason, 1)
    assert "secret" not in str(asked.status())
    await asked.close()


async def test_a_server_that_hangs_is_left_and_then_left_alone(server: ModelServer) -> None:
    asked = embedder(server.then(hangs, hangs), timeout=timedelta(seconds=0.05), failures=2)
    reasons = []
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable) as caught:
            await asked.query("text")
        reasons.append(caught.value.data["reason"])
    assert reasons == ["EMBEDDER_TIMEOUT", "EMBEDDER_TIMEOUT", "EMBEDDER_RESTS"]
    assert (len(server.received), asked.status()["state"]) == (2, "resting")
    await asked.close()


async def test_a_day_has_so_many_tokens_and_a_restart_gives_no_more(server: ModelServer, tmp_path: Path) -> None:
    server.otherwise = embeds
    first = embedder(server, tmp_path / "tokens.json", tokens_per_day=40)
    await first.query("some text")
    with pytest.raises(QuotaExceeded):
        await first.query("a longer text, " * 20)
    again = embedder(server, tmp_path / "tokens.json", tokens_per_day=40)
    assert again.status()["tokens_today"] == 3
    assert len(server.received) == 1
    await first.close()


async def test_what_must_not_leave_is_not_sent(server: ModelServer) -> None:
    asked = embedder(server)

    def forbid() -> None:
        raise EmbedderUnavailable("it is marked", reason="LOCAL_ONLY")

    with pytest.raises(EmbedderUnavailable):
        await asked.texts(["text"], permit=forbid)
    assert server.received == []
    assert asked.status()["tokens_today"] == 0
    await asked.close()
