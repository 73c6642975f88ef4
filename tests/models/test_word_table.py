"""The table of the extra "dense", as it is."""

from pathlib import Path

import numpy as np
import pytest

from shelfd.memory.errors import EmbedderUnavailable
from shelfd.memory.recall.held_vectors import VectorsHeld, scales_of
from shelfd.models.local_embedder import LocalEmbedder
from shelfd.models.word_table import word_table, word_table_files

pytestmark = pytest.mark.component("wordllama")


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return word_table(word_table_files()[0])


async def test_words_of_one_meaning_are_nearer_than_others(embedder: LocalEmbedder) -> None:
    notes = ["The physician comes on Monday.", "Interest rates were raised again.", "Our cat sleeps on the sofa."]
    made = await embedder.texts(notes)
    assert {one.shape[1] for one in made} == {256}
    starts = np.cumsum([0, *map(len, made)])[:-1]
    vectors = np.concatenate(made)
    picture = VectorsHeld(np.arange(3), starts, vectors, scales_of(vectors))
    for query, best in (("When is the doctor's visit?", 0), ("What does the central bank do?", 1), ("pets", 2)):
        likeness = picture.best(await embedder.query(query)).mean(axis=1)
        assert likeness.argmax() == best


async def test_words_that_say_nothing_of_a_text_have_no_vector_unless_there_are_no_others(
    embedder: LocalEmbedder,
) -> None:
    said, bare, empty, long, odd = await embedder.texts(
        ["a sofa of the cat", "of the", "", "word " * 5000, "\ud800 \x00 🙂"]
    )
    assert said.tolist() == (await embedder.query("sofa cat")).tolist()
    assert (len(bare), len(empty), len(long)) == (2, 0, 128)
    assert odd.dtype == np.int8


async def test_another_file_is_not_taken_for_the_table(tmp_path: Path) -> None:
    files, _ = word_table_files()
    (tmp_path / "table").write_bytes(b"not it")
    with pytest.raises(EmbedderUnavailable):
        await word_table(files._replace(table=tmp_path / "table")).query("text")
