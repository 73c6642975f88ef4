"""What every test shares: components that may not be installed, and modules that are imported when first used."""

import os
import pkgutil
import shutil
import signal
from collections.abc import Callable
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

from erasing import tracing
from shelfd.memory import methods
from shelfd.models.minilm import minilm_files
from shelfd.models.word_table import word_table_files

# Each run tries the same examples, and none fails for being slow where others use the machine, too.
settings.register_profile("shelfd", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shelfd")

#: By the name a test marks: the commands it needs.
_COMMANDS = {
    "mosquitto": ("mosquitto", "mosquitto_passwd"),
    "systemd": ("systemd-analyze",),
    "systemd-nspawn": ("systemd-nspawn",),
}


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, and what a test starts inherits it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """Import every method: one that is first used while a test has something patched would keep the patch."""
    for module in pkgutil.iter_modules(methods.__path__):
        import_module(f"{methods.__name__}.{module.name}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose component is not installed; where everything must be, fail it."""
    for marker in item.iter_markers("component"):
        for name in marker.args:
            why = _OTHERS[name]() if name in _OTHERS else _not_installed(name)
            if why is not None:
                if os.environ.get("CI"):
                    pytest.fail(why)
                pytest.skip(why)


def _without(missing: list[str]) -> str | None:
    return f'a model of the extra "dense" is not installed: no {", ".join(missing)}' if missing else None


_OTHERS: dict[str, Callable[[], str | None]] = {
    "ptrace": tracing.why_not,
    "minilm": lambda: _without(minilm_files()[1]),
    "wordllama": lambda: _without(word_table_files()[1]),
}


def _not_installed(name: str) -> str | None:
    missing = [command for command in _COMMANDS[name] if _find(command) is None]
    return f"{name} is not installed: no {', '.join(missing)}" if missing else None


def _find(command: str) -> str | None:
    # Debian keeps mosquitto where only root's search path leads.
    return shutil.which(command, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
