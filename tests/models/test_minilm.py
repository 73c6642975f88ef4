"""The model of the extra "dense", as it is."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from shelfd.memory.errors import EmbedderUnavailable
from shelfd.memory.recall.held_vectors import VectorsHeld, scales_of
from shelfd.models.local_embedder import LocalEmbedder
from shelfd.models.minilm import MiniLmFiles, minilm, minilm_files
from shelfd.models.minilm.places import VOCABULARY_SHA256

pytestmark = pytest.mark.component("minilm")


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return minilm(minilm_files()[0])


async def test_what_means_the_same_is_nearer_than_what_does_not(embedder: LocalEmbedder) -> None:
    notes = ["The physician comes on Monday.", "Interest rates were raised again.", "Our cat sleeps on the sofa."]
    made = await embedder.texts(notes)
    assert {one.shape[1] for one in made} == {96}
    starts = np.cumsum([0, *map(len, made)])[:-1]
    vectors = np.concatenate(made)
    picture = VectorsHeld(np.arange(3), starts, vectors, scales_of(vectors))
    for query, best in (("When is the doctor's visit?", 0), ("What does the central bank do?", 1), ("pets", 2)):
        likeness = picture.best(await embedder.query(query)).mean(axis=1)
        assert likeness.argmax() == best
    assert embedder.status() == {"state": "ready", "model": embedder.model, "embedded": 6, "last_error": None}


def test_the_runtime_keeps_nothing_at_home_and_tells_its_maker_nothing(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.defpath}
    command = [sys.executable, "-c", "import shelfd.models.minilm.runtime, os; os._exit(0)"]
    subprocess.run(command, env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []


async def test_nothing_is_said_of_an_empty_text_and_the_start_of_a_long_one(embedder: LocalEmbedder) -> None:
    empty, long, odd = await embedder.texts(["", "word " * 5000, "\ud800 \x00 🙂"])
    assert (len(empty), len(long)) == (0, 126)
    assert odd.dtype == np.int8


async def test_a_vocabulary_as_lines_makes_the_same_tokens(embedder: LocalEmbedder, tmp_path: Path) -> None:
    files, _ = minilm_files()
    numbers = json.loads(files.vocabulary.read_text(encoding="utf-8"))["model"]["vocab"]
    lines = "".join(f"{word}\n" for word in sorted(numbers, key=numbers.__getitem__)).encode()
    assert sha256(lines).hexdigest() == VOCABULARY_SHA256
    (tmp_path / "vocab.txt").write_bytes(lines)
    other = minilm(MiniLmFiles(files.model, tmp_path / "vocab.txt"))
    text = "Où est l'Hôtel? CVE-2024-1234, don't; 日本語 unbelievably"
    assert (await other.query(text)).tolist() == (await embedder.query(text)).tolist()


async def test_another_file_is_not_taken_for_the_model(tmp_path: Path) -> None:
    files, _ = minilm_files()
    (tmp_path / "model.onnx").write_bytes(b"not it")
    other = minilm(files._replace(model=tmp_path / "model.onnx"))
    with pytest.raises(EmbedderUnavailable) as caught:
        await other.query("text")
    assert caught.value.data == {"reason": "EMBEDDER_FAILED"}
    status = other.status()
    assert (status["state"], "SHA-256" in status["last_error"]) == ("failed", True)
