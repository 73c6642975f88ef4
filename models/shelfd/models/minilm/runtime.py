"""The model at work: the only file that knows onnxruntime. Imported when the first text is embedded.

Every token's last hidden state, the marks at both ends left out, is made one long, projected on 96 directions and
rounded to signed bytes. The directions are those in which the tokens of the notes and questions in ``benchmarks/data/``
differ most, which were written for this project (``benchmarks/projection.py``).
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import tokenizers

# As soon as it is imported, it would write an identifier of this machine into the user's cache, and tell its maker's
# server by HTTPS how it is used: https://github.com/microsoft/onnxruntime/blob/main/docs/Privacy.md
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

from shelfd.memory.ports.embedder import Vectors
from shelfd.models.minilm.places import MODEL_SHA256, TOKENIZER_SHA256, VOCABULARY_SHA256, MiniLmFiles
from shelfd.models.package_files import checked

#: Tokens of a text that are looked at, marks included: about 90 words. The model was trained on as many.
MOST_TOKENS: Final = 128
_MOST_CHARACTERS: Final = 8_192
WIDTH: Final = 96
_LARGEST: Final = 127
_SHORTEST: Final = 1e-9
_ERRORS: Final = 3  #: of onnxruntime that are logged: errors only

Floats = npt.NDArray[np.float32]


class Runtime:
    """The loaded model. Its methods may be called by several threads; they compute outside of Python's lock.

    Raises:
        ValueError: If a file is not the one whose name it has.
        OSError: If a file cannot be read.
    """

    def __init__(self, paths: MiniLmFiles) -> None:
        model = checked(paths.model, MODEL_SHA256)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the thread that calls
        options.log_severity_level = _ERRORS
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer = _tokenizer(paths.vocabulary)
        self._projection = projection()

    def embed(self, text: str) -> Vectors:
        """Return the vectors of a text's tokens."""
        states = self.states(text) @ self._projection
        found: Vectors = np.rint(states * _LARGEST).clip(-_LARGEST, _LARGEST).astype(np.int8)
        return found

    def states(self, text: str) -> Floats:
        """Return the last hidden state of each token, of length one; shape (tokens, 384)."""
        # Half a surrogate pair is no text to the tokenizer, which reads all that it is given.
        whole = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
        ids = np.array([self._tokenizer.encode(whole).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: Floats = np.array(self._session.run(None, given)[0], np.float32)[0, 1:-1]
        states /= np.linalg.norm(states, axis=1, keepdims=True).clip(_SHORTEST)
        return states


def projection() -> Floats:
    """Return the projection; shape (384, 96)."""
    with files("shelfd.models.minilm").joinpath("projection.npy").open("rb") as file:
        found: Floats = np.load(file).astype(np.float32)
    return found


def _tokenizer(file: Path) -> tokenizers.Tokenizer:
    if file.suffix == ".txt":
        lines = checked(file, VOCABULARY_SHA256).decode("utf-8").splitlines()
        numbers = {line: number for number, line in enumerate(lines)}
        unknown = "[UNK]"
        model = tokenizers.models.WordPiece(numbers, unk_token=unknown, max_input_chars_per_word=100)
        made = tokenizers.Tokenizer(model)
        made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        marks = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
        )
    else:
        made = tokenizers.Tokenizer.from_str(checked(file, TOKENIZER_SHA256).decode("utf-8"))
    made.no_padding()
    made.enable_truncation(MOST_TOKENS)
    return made
