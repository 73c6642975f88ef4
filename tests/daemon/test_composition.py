"""What settings become."""

import pytest

from shelfd.daemon.composition import memory_settings, socket_mode
from shelfd.daemon.places import choose
from shelfd.daemon.reload import changes
from shelfd.daemon.settings import Settings, load


@pytest.mark.parametrize(
    ("system", "wanted", "mode"), [(True, "auto", 0o660), (False, "auto", 0o600), (False, "0666", 0o666)]
)
def test_the_socket_mode_follows_who_shares_it(*, system: bool, wanted: str, mode: int) -> None:
    env = {"HOME": "/home/me", "SHELFD__DAEMON__SOCKET_MODE": wanted}
    loaded = load({}, env, None)
    assert socket_mode(loaded.settings, choose(loaded, env, system=system, activated=None, pid=1)) == mode


def test_the_memory_gets_its_settings() -> None:
    environ = {
        "SHELFD__MEMORY__IDEMPOTENCY_DAYS": "2",
        "SHELFD__EVENTS__CONTENT": "none",
        "SHELFD__DAEMON__INSTANCE": "x",
    }
    found = memory_settings(load({}, environ, None).settings)
    assert (found.idempotency_retention.days, found.event_content, found.instance) == (2, "none", "x")


def test_changes_are_named_by_key() -> None:
    other = load({}, {"SHELFD_LOOP": "asyncio", "QUIET_HOURS_END": "0"}, None).settings
    assert changes(Settings(), other) == ["daemon.loop", "quiet_hours.end"]
