"""What ``setup`` does, as steps in order: for the system and for a user, there and back."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shelfd.daemon.places import SYSTEM_CONFIG, SYSTEM_DATA
from shelfd.daemon.setup import shipped
from shelfd.daemon.setup.machine import ACCOUNT, Machine
from shelfd.daemon.setup.shipped import with_command
from shelfd.daemon.setup.steps import InstallStep, RemoveFile, RunCommand, WriteFile

SERVICE, SOCKET = "shelfd.service", "shelfd.socket"
_SYSTEM_UNITS = Path("/etc/systemd/system")
_SYSUSERS = Path("/etc/sysusers.d/shelfd.conf")
_TMPFILES = Path("/etc/tmpfiles.d/shelfd.conf")
_SHARE = Path("/usr/local/share")
#: What enabling makes, beside the units: links that start them.
_SYSTEM_LINKS = (Path("sockets.target.wants") / SOCKET, Path("multi-user.target.wants") / SERVICE)
_USER_LINKS = (Path("sockets.target.wants") / SOCKET, Path("default.target.wants") / SERVICE)


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Steps, and what is to be said when they are done."""

    steps: Sequence[InstallStep]
    remarks: Sequence[str]


def install_system(machine: Machine, command: Sequence[str], drop_ins: Sequence[str] = ()) -> InstallPlan:
    """Plan the service of the machine."""
    units = _units(machine, _SYSTEM_UNITS, "", command)
    units += [WriteFile(_drop_in(machine, name), shipped.text("systemd", f"drop-ins/{name}.conf"), keep=True)
              for name in drop_ins]  # fmt: skip
    steps: list[InstallStep] = [
        WriteFile(machine.at(_SYSUSERS), shipped.text("systemd", "shelfd.sysusers.conf")),
        WriteFile(machine.at(_TMPFILES), shipped.text("systemd", "shelfd.tmpfiles.conf")),
        *([] if machine.is_tree else [*_account(machine), *_directory(machine)]),
        # Its directory is closed to others; the file itself holds no secrets.
        WriteFile(machine.at(SYSTEM_CONFIG), shipped.text("config", "shelfd.toml"), keep=True),
        *_for_people(machine, _SHARE),
        *units,
        *_start(machine, ["systemctl"], is_changed=any(unit.is_needed for unit in units)),
    ]
    return InstallPlan(steps, _remarks(machine, SYSTEM_CONFIG, "systemctl", "journalctl --unit shelfd", command))


def install_user(machine: Machine, command: Sequence[str], config_home: Path, data_home: Path) -> InstallPlan:
    """Plan the service of one user; *config_home* and *data_home* are the user's directories."""
    units = _units(machine, config_home / "systemd" / "user", "user/", command)
    config = config_home / "shelfd" / "shelfd.toml"
    steps: list[InstallStep] = [
        WriteFile(machine.at(config), shipped.text("config", "shelfd.toml"), mode=0o600, keep=True),
        *_for_people(machine, data_home),
        *units,
        *_start(machine, ["systemctl", "--user"], is_changed=any(unit.is_needed for unit in units)),
    ]
    remarks = _remarks(machine, config, "systemctl --user", "journalctl --user --unit shelfd", command)
    if machine.has_systemctl:
        remarks.append("it runs while you are logged in; always: loginctl enable-linger")
    return InstallPlan(steps, remarks)


def remove_system(machine: Machine) -> InstallPlan:
    """Plan the way back; data, the user and what was edited stay."""
    units = [machine.at(_SYSTEM_UNITS / name) for name in (SERVICE, SOCKET)]
    steps = [
        *_stop(machine, ["systemctl"], units),
        *_link_removals(machine, _SYSTEM_UNITS, _SYSTEM_LINKS),
        *_drop_in_removals(machine),
        *(RemoveFile(path) for path in (*units, machine.at(_SYSUSERS), machine.at(_TMPFILES)) if path.exists()),
        *_removed_from_people(machine, _SHARE),
        *_config_removal(machine, SYSTEM_CONFIG),
        *_reload(machine, ["systemctl"], units),
    ]
    remarks = _what_stays(machine, SYSTEM_DATA)
    if machine.has_account and not machine.is_tree:
        remarks.append(f"user and group {ACCOUNT} stay, they own it; without the data: userdel {ACCOUNT}")
    return InstallPlan(steps, remarks)


def remove_user(machine: Machine, config_home: Path, data_home: Path) -> InstallPlan:
    """Plan the way back for one user; data and what was edited stay."""
    directory = config_home / "systemd" / "user"
    units = [machine.at(directory / name) for name in (SERVICE, SOCKET)]
    steps = [
        *_stop(machine, ["systemctl", "--user"], units),
        *_link_removals(machine, directory, _USER_LINKS),
        *(RemoveFile(path) for path in units if path.exists()),
        *_removed_from_people(machine, data_home),
        *_config_removal(machine, config_home / "shelfd" / "shelfd.toml"),
        *_reload(machine, ["systemctl", "--user"], units),
    ]
    return InstallPlan(steps, _what_stays(machine, data_home / "shelfd"))


def _units(machine: Machine, directory: Path, variant: str, command: Sequence[str]) -> list[WriteFile]:
    service = with_command(shipped.text("systemd", variant + SERVICE), command)
    return [
        WriteFile(machine.at(directory / SOCKET), shipped.text("systemd", variant + SOCKET)),
        WriteFile(machine.at(directory / SERVICE), service),
    ]


def _for_people(machine: Machine, share: Path) -> list[InstallStep]:
    """The manual page and what completes commands in shells."""
    return [WriteFile(machine.at(share / place), text) for place, text in shipped.for_people()]


def _removed_from_people(machine: Machine, share: Path) -> list[InstallStep]:
    places = map(machine.at, shipped.places_for_people(share))
    return [RemoveFile(path) for path in places if path.exists()]


def _drop_in(machine: Machine, name: str) -> Path:
    return machine.at(_SYSTEM_UNITS / f"{SERVICE}.d" / f"{name}.conf")


def _account(machine: Machine) -> list[InstallStep]:
    if machine.has_account:
        return []
    if machine.has_sysusers:
        return [RunCommand(["systemd-sysusers", str(_SYSUSERS)])]
    return [
        RunCommand(["useradd", "--system", "--user-group", "--home-dir", str(SYSTEM_DATA), "--no-create-home",
             "--shell", "/usr/sbin/nologin", "--comment", "Agent memory daemon", ACCOUNT])
    ]  # fmt: skip


def _directory(machine: Machine) -> list[InstallStep]:
    if machine.has_tmpfiles:
        return [RunCommand(["systemd-tmpfiles", "--create", str(_TMPFILES)])]
    return [RunCommand(["install", "-d", "-m", "0750", "-o", "root", "-g", ACCOUNT, str(SYSTEM_CONFIG.parent)])]


def _start(machine: Machine, systemctl: list[str], *, is_changed: bool) -> list[InstallStep]:
    if not machine.runs_manager:
        # Without a running manager this still makes the links that start the service at the next boot.
        is_possible = not machine.is_tree and systemctl == ["systemctl"] and machine.has_systemctl
        return [RunCommand([*systemctl, "enable", SOCKET, SERVICE])] if is_possible else []
    return [
        RunCommand([*systemctl, "daemon-reload"]),
        RunCommand([*systemctl, "enable", SOCKET, SERVICE]),
        # Both in one transaction; a second setup does not disturb a daemon that is as it should be.
        RunCommand([*systemctl, "restart" if is_changed else "start", SOCKET, SERVICE]),
    ]


def _stop(machine: Machine, systemctl: list[str], units: Sequence[Path]) -> list[InstallStep]:
    if machine.is_tree or not machine.has_systemctl or not any(unit.exists() for unit in units):
        return []
    now = ["--now"] if machine.runs_manager else []
    return [RunCommand([*systemctl, "disable", *now, *(unit.name for unit in units if unit.exists())])]


def _reload(machine: Machine, systemctl: list[str], units: Sequence[Path]) -> list[InstallStep]:
    is_useful = machine.runs_manager and any(unit.exists() for unit in units)
    return [RunCommand([*systemctl, "daemon-reload"])] if is_useful else []


def _link_removals(machine: Machine, directory: Path, links: Sequence[Path]) -> list[InstallStep]:
    # Where systemctl is there, disabling has removed them.
    if machine.has_systemctl and not machine.is_tree:
        return []
    return [RemoveFile(path) for link in links if (path := machine.at(directory / link)).is_symlink()]


def _drop_in_removals(machine: Machine) -> list[InstallStep]:
    return [
        RemoveFile(path, only_if=shipped.text("systemd", f"drop-ins/{name}.conf"), also_directory=True)
        for name in shipped.drop_ins()
        if (path := _drop_in(machine, name)).exists()
    ]


def _config_removal(machine: Machine, config: Path) -> list[InstallStep]:
    path = machine.at(config)
    return (
        [RemoveFile(path, only_if=shipped.text("config", "shelfd.toml"), also_directory=True)] if path.exists() else []
    )


def _remarks(machine: Machine, config: Path, systemctl: str, journal: str, command: Sequence[str]) -> list[str]:
    if machine.is_tree:
        return []
    if not machine.has_systemctl:
        return [f"there is no systemd here to start it; the daemon needs none: {shlex.join(command)} run"]
    if not machine.runs_manager:
        return [f"no service manager is running to start it; later: {systemctl} enable --now {SOCKET} {SERVICE}"]
    return [f"settings: {config}; after a change: {systemctl} restart shelfd", f"log: {journal}"]


def _what_stays(machine: Machine, data: Path) -> list[str]:
    stays = [f"the data stays in {data}, or where daemon.data_dir in the configuration says"]
    if not machine.runs_manager and not machine.is_tree:
        stays.append("no service manager is running here: a daemon that was started by hand goes on")
    return stays
