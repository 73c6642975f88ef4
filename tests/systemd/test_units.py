"""The shipped units: what the service manager's own checks say of them, and that they fit the daemon."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shelfd.daemon.places import SYSTEM_CONFIG, SYSTEM_DATA, SYSTEM_SOCKET
from shelfd.daemon.sections import Daemon
from shelfd.daemon.setup.shipped import with_command

SYSTEMD = Path(__file__).resolve().parents[2] / "systemd"
DROP_INS = sorted(path.stem for path in (SYSTEMD / "drop-ins").glob("*.conf"))
needs_systemd = pytest.mark.component("systemd")


def lines(name: str) -> dict[str, list[str]]:
    """By setting, the values a unit gives it."""
    found: dict[str, list[str]] = {}
    for line in (SYSTEMD / name).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\w+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


def installed(directory: Path, variant: str = "", drop_in: str | None = None) -> list[str]:
    """Lay the units out as installed, with a command that exists; return their paths."""
    command = Path("/bin/true")
    service = with_command((SYSTEMD / variant / "shelfd.service").read_text(encoding="utf-8"), [str(command)])
    (directory / "shelfd.service").write_text(service, encoding="utf-8")
    shutil.copy(SYSTEMD / variant / "shelfd.socket", directory)
    if drop_in is not None:
        (directory / "shelfd.service.d").mkdir()
        shutil.copy(SYSTEMD / "drop-ins" / f"{drop_in}.conf", directory / "shelfd.service.d")
    return [str(directory / name) for name in ("shelfd.service", "shelfd.socket")]


def analyze(*argv: str, runtime: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime)}
    return subprocess.run(
        ["systemd-analyze", *argv], capture_output=True, text=True, check=False, env=environment, timeout=60
    )


@needs_systemd
@pytest.mark.parametrize("drop_in", [None, *DROP_INS])
def test_the_system_units_are_clean(tmp_path: Path, drop_in: str | None) -> None:
    done = analyze("verify", "--man=no", *installed(tmp_path, drop_in=drop_in), runtime=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_the_user_units_are_clean(tmp_path: Path) -> None:
    done = analyze("verify", "--man=no", "--user", *installed(tmp_path, "user"), runtime=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_the_system_unit_exposes_at_most_one_of_ten(tmp_path: Path) -> None:
    service, _ = installed(tmp_path)
    done = analyze("security", "--offline=true", "--threshold=10", "--no-pager", service, runtime=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_systemd
@pytest.mark.parametrize("drop_in", DROP_INS)
def test_a_drop_in_opens_little(tmp_path: Path, drop_in: str) -> None:
    service, _ = installed(tmp_path, drop_in=drop_in)
    done = analyze("security", "--offline=true", "--threshold=15", "--no-pager", service, runtime=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_systemd
def test_a_command_of_any_name_survives_the_service_manager(tmp_path: Path) -> None:
    command = tmp_path / "an odd; 100% größe" / "shelfd"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n", encoding="ascii")
    command.chmod(0o755)
    units = installed(tmp_path)
    text = with_command((SYSTEMD / "shelfd.service").read_text(encoding="utf-8"), [str(command)])
    Path(units[0]).write_text(text, encoding="utf-8")
    # verify looks whether the command can be executed.
    done = analyze("verify", "--man=no", *units, runtime=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_units_say_what_the_daemon_expects() -> None:
    service, socket = lines("shelfd.service"), lines("shelfd.socket")
    assert socket["ListenStream"] == [str(SYSTEM_SOCKET)]
    assert socket["FileDescriptorName"] == ["rpc"]
    assert service["Type"] == ["notify"]
    assert service["StateDirectory"] == [SYSTEM_DATA.name]
    assert service["ConfigurationDirectory"] == [SYSTEM_CONFIG.parent.name]
    assert service["ExecStart"][0].endswith("/shelfd run --system")
    assert lines("user/shelfd.service")["ExecStart"][0].endswith("/shelfd run")
    assert lines("user/shelfd.socket")["ListenStream"] == ["%t/shelfd.sock"]


def test_the_service_manager_waits_longer_than_the_daemon_drains() -> None:
    for name in ("shelfd.service", "user/shelfd.service"):
        assert int(lines(name)["TimeoutStopSec"][0].removesuffix("s")) >= Daemon().drain_s + 10


def test_callers_keep_their_names() -> None:
    # In a user namespace of its own the kernel would report every caller but root as "nobody".
    for name in ("shelfd.service", "user/shelfd.service", *(f"drop-ins/{drop_in}.conf" for drop_in in DROP_INS)):
        assert "PrivateUsers" not in lines(name)
        assert "DynamicUser" not in lines(name)


@pytest.mark.parametrize("name", ["shelfd.service", "shelfd.socket", "user/shelfd.service", "user/shelfd.socket"])
def test_no_setting_is_given_twice_by_mistake(name: str) -> None:
    repeatable = {"SystemCallFilter"}
    assert {setting for setting, values in lines(name).items() if len(values) > 1} <= repeatable


@pytest.mark.parametrize("path", sorted(SYSTEMD.rglob("*.service")) + sorted(SYSTEMD.rglob("*.socket")), ids=str)
def test_units_have_the_sections_of_their_kind(path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read(path, encoding="utf-8")
    assert parser.sections() == ["Unit", {".service": "Service", ".socket": "Socket"}[path.suffix], "Install"]


def test_the_page_names_every_file() -> None:
    page = (SYSTEMD / "README.md").read_text(encoding="utf-8")
    for path in SYSTEMD.rglob("*"):
        if path.is_file() and path.name != "README.md":
            assert str(path.relative_to(SYSTEMD)) in page, path
