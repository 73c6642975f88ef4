"""The embedder that is configured."""

from collections.abc import Mapping
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shelfd.daemon.llm import api_key
from shelfd.daemon.places import Places
from shelfd.daemon.settings import Settings
from shelfd.daemon.zones import zone
from shelfd.memory import Clock
from shelfd.memory.errors import ConfigError
from shelfd.memory.ports.embedder import ABSENT_EMBEDDER, Embedder
from shelfd.models import ModelSettings

_NEEDED: Final = {"minilm": ("onnxruntime", "tokenizers"), "wordllama": ("tokenizers",)}
#: Of a reply: the widest vectors of a batch, as decimals.
_REPLY_BYTES: Final = 1 << 24


def embedder(settings: Settings, places: Places, environ: Mapping[str, str], clock: Clock) -> Embedder:
    """Return the embedder; it has read, imported and connected nothing yet.

    Raises:
        ConfigError: If an extra is not installed, a file is not there, or the key cannot be used.
    """
    section = settings.embedder
    if section.kind == "off":
        return ABSENT_EMBEDDER
    if section.kind == "http":
        return _http(settings, places, environ, clock)
    if any(find_spec(name) is None for name in _NEEDED[section.kind]):
        raise ConfigError(f'embedder.kind: "{section.kind}" needs the extra "dense": install ".[dense]", not "."')
    return _local(section.kind, section.model_file, section.vocabulary)


def _local(kind: str, model_file: str, vocabulary: str) -> Embedder:
    # Each is imported for those who want it.
    if kind == "wordllama":
        from shelfd.models.word_table import word_table, word_table_files

        table_files, missing = word_table_files(model_file, vocabulary)
        made = word_table(table_files)
    else:
        from shelfd.models.minilm import minilm, minilm_files

        files, missing = minilm_files(model_file, vocabulary)
        made = minilm(files)
    if missing:
        names = "embedder.model_file and embedder.vocabulary"
        raise ConfigError(f'{names}: not there: {"; ".join(missing)}: the extra "dense" brings them')
    return made


def _http(settings: Settings, places: Places, environ: Mapping[str, str], clock: Clock) -> Embedder:
    section = settings.embedder
    if find_spec("httpx2") is None:
        raise ConfigError('embedder.kind: "http" needs the extra "llm": install ".[llm]", not "."')
    from shelfd.models.embeddings import HttpEmbedder  # for those who want it
    from shelfd.models.ledger import TokenLedger

    asked = ModelSettings(
        url=section.url,
        model=section.model,
        api_key=api_key(section, "embedder", places, environ),
        ca_file=str(Path(section.ca_file).expanduser()) if section.ca_file else "",
        timeout=timedelta(seconds=section.timeout_s),
        retries=section.retries,
        max_reply_bytes=_REPLY_BYTES,
        context_tokens=section.context_tokens,
        tokens_per_day=section.tokens_per_day,
        failures=section.breaker_failures,
        rest=timedelta(seconds=section.breaker_rest_s),
    )
    ledger = TokenLedger(
        places.data / "embedder-tokens.json", clock, zone(settings.memory.timezone), section.tokens_per_day
    )
    return HttpEmbedder(asked, clock, ledger)
