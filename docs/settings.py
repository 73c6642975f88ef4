"""What the documents say of settings and of the environment, from config/shelfd.toml: docs/settings.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CONFIG = Path(__file__).resolve().parent.parent / "config" / "shelfd.toml"

_SECTION = re.compile(r"\[([a-z_]+)\]")
_SETTING = re.compile(r"#([a-z_]+) = (.+)")

PREFACE = """<!-- Made by docs/generate.py from config/shelfd.toml. Do not edit: change that file. -->

# Settings and environment

Everything works without any. A setting is taken from a flag of `shelfd run`, else from the environment, else from the
file (`/etc/shelfd/shelfd.toml`, `~/.config/shelfd/shelfd.toml` or `--config`), else the default holds. `shelfd config
show` says what holds in the running daemon and where it comes from, `shelfd config check` what is wrong in a file.

## Settings

In the environment lists and tables are written as JSON, and an empty variable counts as not set.

"""

ENVIRONMENT = """
## The rest of the environment

| variable | read by | what it does |
| --- | --- | --- |
| `SHELFD_SOCKET` | all | the socket, as `SHELFD__DAEMON__SOCKET`; commands ask the daemon there |
| `SHELFD_LOOP` | daemon | as `SHELFD__DAEMON__LOOP` |
| `MEMORY_REFLECTION_HOUR` | daemon | as `SHELFD__REFLECTION__HOUR` |
| `MEMORY_REFLECTION_MINUTE` | daemon | as `SHELFD__REFLECTION__MINUTE` |
| `MEMORY_REFLECTION_MAX_NOTES` | daemon | as `SHELFD__REFLECTION__MAX_NOTES` |
| `HEARTBEAT_INTERVAL_MS` | daemon | as `SHELFD__HEARTBEAT__INTERVAL_MS` |
| `QUIET_HOURS_START`, `QUIET_HOURS_END` | daemon | as `SHELFD__QUIET_HOURS__START` and `…__END` |
| `TZ` | all | the time zone, where `memory.timezone` is `system`; commands show times in it |
| `XDG_DATA_HOME` | all | data of a user's daemon: `$XDG_DATA_HOME/shelfd`; else `~/.local/share/shelfd` |
| `SHELFD_CONFIG` | daemon | the file with settings, as `--config` |
| `XDG_STATE_HOME` | commands | the log of a daemon that `shelfd mcp` starts: `$XDG_STATE_HOME/shelfd`; else \
`~/.local/state/shelfd` |
| `XDG_RUNTIME_DIR` | all | its socket: `$XDG_RUNTIME_DIR/shelfd.sock` |
| `HOME` | all | where `~` is |
| `STATE_DIRECTORY`, `LISTEN_FDS`, `LISTEN_PID`, `LISTEN_FDNAMES`, `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`, \
`CREDENTIALS_DIRECTORY`, `CONFIGURATION_DIRECTORY`, `SYSTEMD_EXEC_PID`, `JOURNAL_STREAM` | daemon | set by systemd: \
data, socket, readiness, watchdog, secrets, settings, that it is a service |
| `NO_COLOR`, `TERM`, `COLUMNS` | commands | no colours; what the terminal is, and how wide |
| `VISUAL`, `EDITOR` | commands | the editor of `shelfd edit` |
| `SHELFD_STARTED_BY` | daemon | how it says it can be started again, in what it leaves beside its socket |
"""


class Setting(NamedTuple):
    """One setting as the file shows it."""

    section: str
    key: str
    default: str
    meaning: str  #: what the comment above it says; that of a group stands with its first one


def settings() -> Iterator[Setting]:
    """Every setting, in the order of the file."""
    section, comment = "", []
    is_done = False
    for line in CONFIG.read_text(encoding="utf-8").splitlines():
        if found := _SECTION.fullmatch(line):
            section, comment = found[1], []
        elif found := _SETTING.fullmatch(line):
            yield Setting(section, found[1], found[2], "" if is_done else _sentence(comment))
            is_done = True
        elif line.startswith("# ") and not line.startswith("#   "):
            if is_done:
                comment, is_done = [], False
            comment.append(line[2:])
        elif not line:
            comment, is_done = [], False


def _sentence(comment: list[str]) -> str:
    return " ".join(comment).replace("|", "\\|").rstrip(":")


def settings_md() -> str:
    """The page on settings and environment."""
    rows = ["| environment | section and key | default | |", "| --- | --- | --- | --- |"]
    for one in settings():
        name = f"SHELFD__{one.section}__{one.key}".upper()
        rows.append(f"| `{name}` | `{one.section}.{one.key}` | `{one.default}` | {one.meaning} |")
    return PREFACE + "\n".join(rows) + "\n" + ENVIRONMENT
