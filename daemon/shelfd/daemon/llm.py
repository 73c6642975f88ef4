"""The language model's settings, with the key from where they say it is."""

import ssl
from collections.abc import Mapping
from datetime import timedelta
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from shelfd.daemon.places import Places
from shelfd.daemon.sections import EmbedderChoice, Llm
from shelfd.memory.errors import ConfigError
from shelfd.models import ModelSettings

_KEY_CHARACTERS: Final = 4096


def model_settings(section: Llm, places: Places, environ: Mapping[str, str]) -> ModelSettings:
    """Return the settings of the language model.

    Raises:
        ConfigError: If the extra is not installed, a file cannot be read, the key cannot be one, or it would be sent
            to another machine in the clear.
    """
    if not section.url:
        return ModelSettings(tokens_per_day=section.tokens_per_day)
    if find_spec("httpx2") is None:
        raise ConfigError('llm.url: needs the extra "llm": install ".[llm]", not "."')
    key = api_key(section, "llm", places, environ)
    return ModelSettings(
        url=section.url,
        model=section.model,
        api_key=key,
        ca_file=str(Path(section.ca_file).expanduser()) if section.ca_file else "",
        reply_format=section.format,
        timeout=timedelta(seconds=section.timeout_s),
        deadline=timedelta(seconds=section.deadline_s),
        retries=section.retries,
        concurrency=section.concurrency,
        max_reply_bytes=section.max_reply_bytes,
        context_tokens=section.context_tokens,
        tokens_per_day=section.tokens_per_day,
        price_in=section.price_in,
        price_out=section.price_out,
        failures=section.breaker_failures,
        rest=timedelta(seconds=section.breaker_rest_s),
    )


def api_key(section: Llm | EmbedderChoice, name: str, places: Places, environ: Mapping[str, str]) -> str | None:
    """Return the API key of the section *name*, if it has one; its certificates were looked at.

    Raises:
        ConfigError: If a file cannot be read, the key cannot be one, or it would be sent elsewhere in the clear.
    """
    key = _api_key(section, name, places, environ)
    if key is not None and section.url.startswith("http:") and not _is_this_machine(section.url):
        raise ConfigError(f"{name}.url: an API key is sent to another machine by https only")
    if section.ca_file:
        _check_certificates(section.ca_file, name)
    return key


def _api_key(section: Llm | EmbedderChoice, name: str, places: Places, environ: Mapping[str, str]) -> str | None:
    if section.api_key_file:
        setting = f"{name}.api_key_file"
        return _checked(_read(Path(section.api_key_file).expanduser(), setting), setting)
    if section.api_key_env:
        if not environ.get(section.api_key_env):
            raise ConfigError(f"{name}.api_key_env: the environment has no {section.api_key_env}")
        return _checked(environ[section.api_key_env], f"{name}.api_key_env")
    credential = f"{name}.api_key"
    if places.credentials is not None and (places.credentials / credential).exists():
        return _checked(_read(places.credentials / credential, f"credential {credential}"), f"credential {credential}")
    return None


def _read(file: Path, name: str) -> str:
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{name}: cannot be read: {why}: {file}") from None


def _checked(key: str, name: str) -> str:
    """Return the key without blanks around it; nothing in it may end the header that it is sent in."""
    key = key.strip()
    if not key or len(key) > _KEY_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{name}: holds no API key: one line of printable ASCII without blanks is expected")
    return key


def _is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_certificates(file: str, name: str) -> None:
    try:
        ssl.create_default_context(cafile=str(Path(file).expanduser()))
    except OSError as error:
        raise ConfigError(f"{name}.ca_file: cannot be used: {error.strerror or error}: {file}") from None
