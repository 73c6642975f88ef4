"""What settings become."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from shelfd.daemon.composition import memory_settings, socket_mode
from shelfd.daemon.places import choose
from shelfd.daemon.reload import changes
from shelfd.daemon.settings import Settings, load
from shelfd.daemon.zones import system_zone, zone


def link(tmp_path: Path, name: str) -> Path:
    target = tmp_path / "zoneinfo" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()
    (tmp_path / "localtime").symlink_to(target)
    return tmp_path / "localtime"


def test_the_machine_s_zone_is_what_localtime_points_to(tmp_path: Path) -> None:
    assert system_zone(link(tmp_path, "Europe/Berlin"), tmp_path / "none") == "Europe/Berlin"


def test_else_it_is_the_one_that_is_written_down_and_else_utc(tmp_path: Path) -> None:
    named = tmp_path / "timezone"
    assert system_zone(tmp_path / "none", named) == "UTC"
    named.write_text("Asia/Tokyo\n")
    assert system_zone(tmp_path / "none", named) == "Asia/Tokyo"
    named.write_text("nonsense\n")
    assert system_zone(tmp_path / "none", named) == "UTC"


def test_a_named_zone_is_taken() -> None:
    assert zone("America/New_York") == ZoneInfo("America/New_York")


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
