"""Where settings come from, strongest first: flags, environment, configuration file.

Each source gives a nested dict and remembers for every value what to call the place it came from.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shelfd.memory.errors import ConfigError

Location = tuple[str, ...]
Nested = dict[str, Any]

PREFIX = "SHELFD__"

#: Names that are older than ours or shorter; ``SHELFD__SECTION__KEY`` wins over them.
SHORT_NAMES: Mapping[str, Location] = {
    "SHELFD_SOCKET": ("daemon", "socket"),
    "SHELFD_LOOP": ("daemon", "loop"),
    "MEMORY_REFLECTION_HOUR": ("reflection", "hour"),
    "MEMORY_REFLECTION_MINUTE": ("reflection", "minute"),
    "MEMORY_REFLECTION_MAX_NOTES": ("reflection", "max_notes"),
    "HEARTBEAT_INTERVAL_MS": ("heartbeat", "interval_ms"),
    "QUIET_HOURS_START": ("quiet_hours", "start"),
    "QUIET_HOURS_END": ("quiet_hours", "end"),
}


class Source:
    """One place settings come from.

    Attributes:
        values: What it sets, as sections of keys.
        origins: What to call the place of each value.
    """

    def __init__(self) -> None:
        self.values: Nested = {}
        self.origins: dict[Location, str] = {}

    def put(self, where: Location, value: object, origin: str) -> None:
        """Set one value; a part of the path that is already a plain value is replaced."""
        target = self.values
        for name in where[:-1]:
            inner = target.setdefault(name, {})
            if not isinstance(inner, dict):
                inner = target[name] = {}
            target = inner
        target[where[-1]] = value
        self.origins[where] = origin


class Flags(Source):
    """The command line."""

    def __init__(self, flags: Mapping[Location, tuple[str, object]]) -> None:
        """*flags*: by setting, the flag as it is written and its value."""
        super().__init__()
        for where, (flag, value) in flags.items():
            self.put(where, value, f"flag {flag}")


class Environment(Source):
    """Environment variables. An empty one counts as not set; a list or table is written as JSON."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        for name, where in SHORT_NAMES.items():
            if environ.get(name):
                self.put(where, environ[name], f"environment {name}")
        for name in sorted(n for n in environ if n.startswith(PREFIX) and environ[n]):
            where = tuple(name.removeprefix(PREFIX).lower().split("__"))
            self.put(where, _from_text(environ[name]), f"environment {name}")


def _from_text(text: str) -> object:
    """Read a JSON list or table; anything else stays the text it is, for pydantic to convert."""
    if text[0] in "[{":
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text


class File(Source):
    """A TOML file; None stands for no file."""

    def __init__(self, path: Path | None) -> None:
        """Read *path*.

        Raises:
            ConfigError: If it cannot be read or is not TOML.
        """
        super().__init__()
        if path is None:
            return
        self.values = read_toml(path)
        self.origins = dict.fromkeys(leaves(self.values), f"file {path}")


def read_toml(path: Path) -> Nested:
    """Return the file's content.

    Raises:
        ConfigError: If it cannot be read or is not TOML, naming the file and, where there is one, the line.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error


def lay_over(below: Nested, above: Mapping[str, Any]) -> Nested:
    """Return *below* with the values of *above* in place of its own, table by table."""
    merged = dict(below)
    for name, value in above.items():
        inner = merged.get(name)
        merged[name] = lay_over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged


def leaves(values: Mapping[str, Any], above: Location = ()) -> Iterator[Location]:
    """Yield the path of every value that is not a table, and of empty tables."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name)
