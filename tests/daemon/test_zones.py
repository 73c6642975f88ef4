"""Which time zone holds."""

import shutil
from datetime import UTC, datetime, tzinfo
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from running import Daemon, refused, until
from shelfd.daemon.settings import load
from shelfd.daemon.zones import zone
from shelfd.memory.errors import ConfigError

BERLIN = ("2026-01-01T01:00:00+01:00", "2026-07-01T02:00:00+02:00")


def new_year_and_july(found: tzinfo) -> tuple[str, str]:
    first, second = (datetime(2026, month, 1, tzinfo=UTC).astimezone(found).isoformat() for month in (1, 7))
    return first, second


@pytest.fixture
def berlin(tmp_path: Path) -> Path:
    """A zone file, wherever the machine has its own, if any."""
    with as_file(files("tzdata.zoneinfo.Europe") / "Berlin") as shipped:
        return Path(shutil.copy(shipped, tmp_path / "Berlin"))


def test_the_machines_zone_is_what_localtime_points_to(tmp_path: Path) -> None:
    localtime = tmp_path / "localtime"
    localtime.symlink_to("/usr/share/zoneinfo/Europe/Berlin")  # there or not: the name says which it is
    assert zone("system", localtime) == ZoneInfo("Europe/Berlin")


def test_a_localtime_that_is_a_copy_or_a_link_elsewhere_holds_as_well(tmp_path: Path, berlin: Path) -> None:
    localtime = tmp_path / "localtime"
    localtime.symlink_to(berlin)
    assert new_year_and_july(zone("system", localtime)) == BERLIN
    localtime.unlink()
    shutil.copy(berlin, localtime)
    assert new_year_and_july(zone("system", localtime)) == BERLIN
    assert str(zone("system", localtime)) == "localtime"


def test_without_a_localtime_or_with_a_broken_one_it_is_utc(tmp_path: Path) -> None:
    localtime = tmp_path / "localtime"
    assert zone("system", localtime) == ZoneInfo("UTC")
    localtime.write_text("nonsense")
    assert zone("system", localtime) == ZoneInfo("UTC")


@pytest.mark.parametrize(
    "text", ["Europe/Berlin", ":Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", ":CET-1CEST,M3.5.0,M10.5.0/3"]
)
def test_tz_may_be_a_name_or_a_rule(text: str) -> None:
    [found] = [load({}, {"TZ": text}, None)]
    assert new_year_and_july(zone(found.settings.memory.timezone)) == BERLIN
    assert found.origin(("memory", "timezone")) == "environment TZ"


def test_tz_may_be_a_file(berlin: Path) -> None:
    assert new_year_and_july(zone(load({}, {"TZ": str(berlin)}, None).settings.memory.timezone)) == BERLIN


def test_an_empty_tz_is_utc_and_none_is_the_machines(tmp_path: Path) -> None:
    assert zone(load({}, {"TZ": ""}, None).settings.memory.timezone) == ZoneInfo("UTC")
    assert load({}, {}, None).settings.memory.timezone == "system"


def test_a_zone_in_the_settings_is_stronger_than_tz() -> None:
    environ = {"TZ": "Mars/Olympus", "SHELFD__MEMORY__TIMEZONE": "Asia/Tokyo"}
    assert load({}, environ, None).settings.memory.timezone == "Asia/Tokyo"
    environ = {"TZ": "Europe/Berlin", "SHELFD__MEMORY__TIMEZONE": "system"}
    assert load({}, environ, None).settings.memory.timezone == "Europe/Berlin"


@pytest.mark.parametrize(
    "text", ["Mars/Olympus", "Europe", "../../etc/passwd", "/etc/passwd", "/nonexistent", "/", "x" * 5000, "a\nb", "ö"]
)
def test_a_bad_tz_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="environment TZ: unknown time zone"):
        load({}, {"TZ": text}, None)


def test_a_daemon_with_a_bad_tz_ends_with_78(tmp_path: Path) -> None:
    done = refused(tmp_path, "--data-dir", str(tmp_path / "data"), environment={"TZ": "Mars/Olympus"})
    assert done.returncode == 78
    assert done.stderr.startswith("shelfd: environment TZ: unknown time zone 'Mars/Olympus'; expected a name like ")


def _planned(daemon: Daemon) -> dict[str, Any] | None:
    return next((job for job in daemon.call("scheduler.jobs")["jobs"] if job["next_at"]), None)


def test_the_schedule_follows_tz(tmp_path: Path) -> None:
    with Daemon(tmp_path, environment={"TZ": "Asia/Tokyo"}) as daemon:
        job = until(lambda: _planned(daemon), "the scheduler")
        assert job["tz"] == "Asia/Tokyo"
        assert job["next_at"].endswith("T00:00:00Z")  # nine there


def test_a_part_of_a_zone_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"TZif2")
    with pytest.raises(ValueError, match="only a part"):
        zone(str(tmp_path / "part"))
    assert str(zone("system", tmp_path / "part")) == "UTC"
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert str(zone("system", tmp_path / "circle")) == "UTC"
