"""Language models behind an OpenAI-compatible HTTP endpoint: Ollama, llama.cpp, vLLM and hosted ones."""

from shelfd.models.model import ConfiguredModel
from shelfd.models.settings import ModelSettings

__all__ = ["ConfiguredModel", "ModelSettings"]
