"""ZettelForge without a language model: vectors, entities and their graph. It has no bulk import but ``remember``.

Its own model of 768 dimensions would have to be downloaded; it gets the corpus' vectors, filled up with zeros, which
leaves every cosine as it is. What calls a model (enrichment, reranking) is off by its own settings.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from peer_drivers.driving import Corpus, K, Note, Vector, drive

_DIMENSIONS = 768


class Zettel:
    """Its memory manager; a text that its guard against injections refuses is left out."""

    batch = 100

    def __init__(self, directory: Path, corpus: Corpus) -> None:
        del corpus
        self.process_id = os.getpid()
        os.environ |= {
            "AMEM_DATA_DIR": str(directory),
            "HOME": str(directory),
            "ZETTELFORGE_EMBEDDING_PROVIDER": "given",
            "ZETTELFORGE_ENRICHMENT_ENABLED": "false",
            "ZETTELFORGE_LLM_NER_ENABLED": "false",
            "ZETTELFORGE_RERANK_ENABLED": "false",
            "ZETTELFORGE_LOG_LEVEL": "ERROR",
        }
        self._ready: dict[str, Vector] = {}
        vectors = import_module("zettelforge.vector_memory")  # of another environment
        setattr(vectors, "_compute_embedding", self._embed)  # noqa: B010 (it has no public place for it)
        self._refusal = import_module("zettelforge.prompt_injection_guard").PromptInjectionError
        self._memory = import_module("zettelforge.memory_manager").MemoryManager()

    def load(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self.add(note)

    def settle(self) -> None:
        pass

    def add(self, note: Note) -> None:
        self._ready = {note.text[:1000]: note.vector}
        with suppress(self._refusal):
            self._memory.remember(note.text, source_ref=note.id)

    def ask(self, text: str, vector: Vector) -> list[str]:
        self._ready = {text: vector}
        try:
            return [note.content.source_ref for note in self._memory.recall(text, k=K)]
        except self._refusal:
            return []

    def close(self) -> None:
        pass

    def _embed(self, text: str, model: str | None = None) -> list[float]:
        del model
        given = self._ready[text]
        return given.tolist() + [0.0] * (_DIMENSIONS - len(given))


if __name__ == "__main__":
    drive(Zettel)
