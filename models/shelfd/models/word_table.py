"""Vectors of words by a table, on this machine: nothing is computed but sums, and a text takes 0.1 ms.

The table is WordLlama's ``l2_supercat_256`` (MIT), trained from the vectors that Llama 2 has of its tokens, and the
tokenizer Llama 2's. Both come with the package ``wordllama`` 0.4 of the extra "dense" and are read as files: nothing of
the package is imported. A word's vector is the sum of those of its pieces, and the longer the more the word says.
"""

import json
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.ports.embedder import Vectors
from shelfd.models.local_embedder import LocalEmbedder
from shelfd.models.package_files import checked, file_at, missing

#: Which vectors they are: the table, its width, and the version of what is made of it here.
WORD_TABLE: Final = "wordllama-l2-supercat/256.1"
#: What they add to the score by words, see the port: a third of what those do that know a word's context. From 0.1 to
#: 0.2 it changes little (benchmarks/questions.py, LoCoMo).
WEIGHT: Final = 0.1
#: Of the files themselves: with others the vectors would not be what they are called.
TABLE_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER_SHA256: Final = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"

_TABLE: Final = ("wordllama", "weights/l2_supercat_256.safetensors")
_TOKENIZER: Final = ("wordllama", "tokenizers/l2_supercat_tokenizer_config.json")
_WORD_BEGINS: Final = "\u2581"  #: before a token that begins a word
#: Words with shorter vectors say nothing of what a text is about: "the" and "of", but also "I" and a comma.
_LEAST_LENGTH: Final = 8.0
_MOST_CHARACTERS: Final = 2_048
_MOST_WORDS: Final = 128
_LARGEST: Final = 127
_COUNT_BYTES: Final = 8  #: with which a file of tensors begins: the length of its header
_NONE: Final = np.zeros((0, 1), np.int8)


class WordTableFiles(NamedTuple):
    """The files that it takes."""

    table: Path
    tokenizer: Path


def word_table_files(table: str = "", tokenizer: str = "") -> tuple[WordTableFiles, list[str]]:
    """Return where the files are, and which of them are missing, in words.

    Args:
        table: Path of the table; empty: the one that the extra brings.
        tokenizer: Path of its tokenizer; empty: the one that the extra brings.
    """
    files = WordTableFiles(file_at(table, *_TABLE), file_at(tokenizer, *_TOKENIZER))
    return files, missing(files)


def word_table(files: WordTableFiles) -> LocalEmbedder:
    """Return the embedder. To load it takes some 0.2 s, once."""
    return LocalEmbedder(WORD_TABLE, WEIGHT, lambda: WordTable(files))


class WordTable:
    """The loaded table, some 40 MiB with its tokenizer.

    Raises:
        ValueError: If a file is not the one whose name it has.
        OSError: If a file cannot be read.
    """

    def __init__(self, files: WordTableFiles) -> None:
        import tokenizers  # of the extra, and only here: what makes an embedder is read before

        content = checked(files.table, TABLE_SHA256)
        begin = _COUNT_BYTES + int.from_bytes(content[:_COUNT_BYTES], "little")
        shape = json.loads(content[_COUNT_BYTES:begin])["embedding.weight"]["shape"]
        self._vectors = np.frombuffer(content, np.float16, offset=begin).reshape(shape)
        self._tokenizer = tokenizers.Tokenizer.from_str(checked(files.tokenizer, TOKENIZER_SHA256).decode("utf-8"))

    def embed(self, text: str) -> Vectors:
        """Return the vectors of the words of a text that say something, or of all its words if none does."""
        # Half a surrogate pair is no text to the tokenizer, which reads all that it is given.
        whole = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
        encoded = self._tokenizer.encode(whole, add_special_tokens=False)
        begins = [at for at, token in enumerate(encoded.tokens) if not at or token.startswith(_WORD_BEGINS)]
        if not begins:
            return _NONE
        words = np.add.reduceat(self._vectors[encoded.ids].astype(np.float32), begins, axis=0)
        telling = words[np.linalg.norm(words, axis=1) >= _LEAST_LENGTH]
        words = (telling if len(telling) else words)[:_MOST_WORDS]
        words *= _LARGEST / np.abs(words).max(axis=1, keepdims=True).clip(np.finfo(np.float32).tiny)
        found: Vectors = np.rint(words).astype(np.int8)
        return found
