"""The embedder as the daemon is told of it."""

from pathlib import Path

import pytest

from fakes import FakeClock
from shelfd.daemon.embedder import embedder
from shelfd.daemon.places import choose
from shelfd.daemon.settings import load
from shelfd.memory.errors import ConfigError
from shelfd.memory.ports.embedder import Embedder


def made(tmp_path: Path, **wanted: object) -> Embedder:
    named = {f"SHELFD__EMBEDDER__{name.upper()}": str(value) for name, value in wanted.items()}
    environ = {"HOME": str(tmp_path), "KEY": "sk-1", **named}
    found = load({}, environ, None)
    places = choose(found, environ, system=False, activated=None, pid=1)
    return embedder(found.settings, places, environ, FakeClock())


def test_by_default_there_is_none(tmp_path: Path) -> None:
    assert made(tmp_path).model == ""


def test_a_server_is_an_embedder_elsewhere(tmp_path: Path) -> None:
    found = made(tmp_path, kind="http", url="http://127.0.0.1:11434/v1", model="nomic-embed-text", api_key_env="KEY")
    assert (found.model, found.is_local) == ("http/nomic-embed-text", False)
    assert found.status()["state"] == "ready"


@pytest.mark.component("wordllama")
def test_the_table_of_the_extra_is_on_this_machine(tmp_path: Path) -> None:
    found = made(tmp_path, kind="wordllama")
    assert (found.model, found.is_local, found.weight) == ("wordllama-l2-supercat/256.1", True, 0.1)


@pytest.mark.component("minilm")
def test_the_model_of_the_extra_is_on_this_machine(tmp_path: Path) -> None:
    found = made(tmp_path, kind="minilm")
    assert (found.model, found.is_local) == ("all-MiniLM-L6-v2-int8/96.1", True)
    assert found.status()["state"] == "idle"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [({"kind": "best"}, "embedder.kind"), ({"kind": "http"}, "embedder.url and embedder.model must be set"),
     ({"kind": "http", "url": "ftp://x/v1", "model": "m"}, "embedder.url"),
     ({"kind": "http", "url": "http://models.example/v1", "model": "m", "api_key_env": "KEY"}, "by https only"),
     ({"kind": "http", "url": "https://x/v1", "model": "m", "api_key_env": "NONE"}, "embedder.api_key_env: the env"),
     ({"kind": "http", "url": "https://x/v1", "model": "m", "api_key_file": "/none"}, "embedder.api_key_file: cannot"),
     ({"kind": "http", "url": "https://x/v1", "model": "m", "ca_file": "/none"}, "embedder.ca_file: cannot be used"),
     ({"kind": "minilm", "vocabulary": "/none/vocab.txt"}, "not there: vocabulary /none/vocab.txt"),
     ({"kind": "wordllama", "model_file": "/none/table"}, "not there: table /none/table"),
     ({"deadline_ms": 0}, "embedder.deadline_ms")],
)  # fmt: skip
def test_a_wrong_setting_is_named(tmp_path: Path, wrong: dict[str, object], expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(tmp_path, **wrong)
    assert expected in caught.value.message
