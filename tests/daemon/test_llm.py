"""The language model as the daemon is told of it, and what the daemon says of it."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model_server import ModelServer
from running import Daemon, until
from shelfd.daemon import config_command
from shelfd.daemon.llm import model_settings
from shelfd.daemon.places import Places, choose
from shelfd.daemon.settings import Loaded, load
from shelfd.memory.errors import ConfigError

HERE = "http://127.0.0.1:11434/v1"
THERE = "https://models.example/v1"
SECRET = "sk-very-secret"


def loaded(environ: dict[str, str] | None = None, **llm: object) -> Loaded:
    named = {f"SHELFD__LLM__{name.upper()}": str(value) for name, value in llm.items()}
    return load({}, {"HOME": "/home/me", "SHELFD__LLM__MODEL": "m", **named, **(environ or {})}, None)


def places(found: Loaded, credentials: Path | None = None) -> Places:
    environ = {"HOME": "/home/me"} | ({} if credentials is None else {"CREDENTIALS_DIRECTORY": str(credentials)})
    return choose(found, environ, system=False, activated=None, pid=1)


def settings(environ: dict[str, str] | None = None, credentials: Path | None = None, **llm: object) -> Any:
    found = loaded(environ, **llm)
    return model_settings(found.settings.llm, places(found, credentials), found.environ)


def complaint(llm: dict[str, object], environ: dict[str, str] | None = None) -> str:
    found: Any = settings
    with pytest.raises(ConfigError) as caught:
        found(environ, **llm)
    return caught.value.message


def test_without_a_url_there_is_none() -> None:
    assert settings().url == ""


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [({"url": "ftp://x/v1"}, "llm.url: expected http"), ({"url": "https://me:pw@x/v1"}, "must not hold a user"),
     ({"url": "https://x/v1?key=1"}, "without ? and #"), ({"url": HERE, "model": ""}, "llm.model must name the model"),
     ({"timeout_s": 0}, "llm.timeout_s"), ({"retries": 11}, "llm.retries"), ({"concurrency": 0}, "llm.concurrency"),
     ({"max_reply_bytes": 3}, "llm.max_reply_bytes"), ({"context_tokens": 100}, "llm.context_tokens"),
     ({"tokens_per_day": -1}, "llm.tokens_per_day"), ({"format": "xml"}, "llm.format"),
     ({"api_key_env": "a b"}, "llm.api_key_env"), ({"api_key_file": "a", "api_key_env": "B"}, "exclude each other")],
)  # fmt: skip
def test_a_wrong_setting_is_named(wrong: dict[str, object], expected: str) -> None:
    message = complaint(wrong)
    assert expected in message
    assert "pw" not in message


def test_the_key_comes_from_a_file_a_credential_or_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "llm.api_key"
    file.write_text(f"  {SECRET}\nnot this\n")
    assert settings(url=THERE, api_key_file=file).api_key == SECRET
    assert settings(url=THERE, credentials=tmp_path).api_key == SECRET
    assert settings({"MODEL_KEY": SECRET}, url=THERE, api_key_env="MODEL_KEY").api_key == SECRET
    assert settings(url=THERE).api_key is None
    assert SECRET not in repr(settings(url=THERE, api_key_file=file))


@pytest.mark.parametrize("key", ["", " ", "two words", "schlüssel", "a\x00b", "x" * 5000])
def test_what_is_no_key_is_refused_without_being_shown(tmp_path: Path, key: str) -> None:
    file = tmp_path / "key"
    file.write_text(key)
    message = complaint({"url": THERE, "api_key_file": file})
    assert "holds no API key" in message
    assert not key.strip() or key not in message


def test_a_key_is_not_sent_to_another_machine_in_the_clear(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    assert "https only" in complaint({"url": "http://nas.example/v1", "api_key_file": tmp_path / "key"})
    for url in ("http://localhost:1/v1", "http://[::1]:1/v1", HERE):
        assert settings(url=url, api_key_file=tmp_path / "key").api_key == SECRET
    assert settings(url="http://nas.example/v1").api_key is None


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "llm.api_key_file: cannot be read" in complaint({"url": THERE, "api_key_file": tmp_path / "none"})
    assert "llm.ca_file: cannot be used" in complaint({"url": THERE, "ca_file": tmp_path / "none"})
    assert "the environment has no MODEL_KEY" in complaint({"url": THERE, "api_key_env": "MODEL_KEY"})


def test_config_check_looks_at_it_and_config_show_shows_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "key").write_text(SECRET)
    file = tmp_path / "s.toml"
    file.write_text(f'[llm]\nurl = "{THERE}"\nmodel = "m"\napi_key_file = "{tmp_path}/key"\n')
    argv = ["--config", str(file), "--data-dir", str(tmp_path / "none")]
    assert config_command.execute(["check", *argv], {}) == 0
    assert config_command.execute(["show", *argv], {}) == 0
    assert SECRET not in capsys.readouterr().out
    (tmp_path / "key").unlink()
    with pytest.raises(ConfigError, match="api_key_file"):
        config_command.execute(["check", *argv], {})


# -------------------------------------------------------------------- a daemon


def findings(daemon: Daemon) -> dict[str, tuple[bool, str]]:
    found = daemon.call("system.doctor")["findings"]
    return {one["check"]: (one["ok"], one["detail"]) for one in found if one["check"].startswith("llm")}


def test_a_running_daemon_is_given_another_model_and_says_how_it_is(tmp_path: Path) -> None:
    config = tmp_path / "s.toml"
    config.write_text("")
    with ModelServer() as server, Daemon(tmp_path, "--config", str(config)) as daemon:
        assert daemon.call("system.health")["llm"] == {"state": "off"}
        assert not findings(daemon)
        assert daemon.call("system.metrics")["metrics"]["llm_calls"] == 0

        (tmp_path / "key").write_text(SECRET)
        config.write_text(f'[llm]\nurl = "{server.url}"\nmodel = "test-model"\napi_key_file = "{tmp_path}/key"\n')
        daemon.signal(signal.SIGHUP)
        health = until(lambda: _unless_off(daemon), "the model is configured")
        assert (health["state"], health["model"], health["tokens_today"]) == ("ready", "test-model", 0)
        assert findings(daemon) == {"llm": (True, "test-model is there")}

        config.write_text(f'[llm]\nurl = "{server.url}"\nmodel = "no-model"\napi_key_file = "{tmp_path}/none"\n')
        daemon.signal(signal.SIGHUP)
        until(lambda: daemon.call("system.health")["config"]["complaints"], "the complaint is there")
        assert daemon.call("system.health")["llm"]["model"] == "test-model"
        assert SECRET not in daemon.log.read_text() + str(daemon.call("system.health"))
        assert daemon.stop() == 0


def _unless_off(daemon: Daemon) -> dict[str, Any] | None:
    llm: dict[str, Any] = daemon.call("system.health")["llm"]
    return None if llm["state"] == "off" else llm


def test_a_server_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    environment = {"SHELFD__LLM__URL": "http://127.0.0.1:1/v1", "SHELFD__LLM__MODEL": "m"}
    with Daemon(tmp_path, environment=environment) as daemon:
        assert findings(daemon)["llm"] == (False, "the language model's server cannot be reached")
        assert daemon.call("system.health")["status"] == "ok"  # nobody has missed it yet


def test_the_library_is_not_loaded_before_it_is_needed() -> None:
    loaded_now = "any(name.startswith(('httpx', 'httpcore', 'anyio')) for name in sys.modules)"
    code = f"import sys, shelfd.daemon.life; sys.exit({loaded_now})"
    subprocess.run([sys.executable, "-c", code], check=True)
