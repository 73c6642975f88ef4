"""Where data and socket are: the contract's order."""

from pathlib import Path

import pytest

from shelfd.daemon.places import Places, choose, config_file
from shelfd.daemon.settings import load
from shelfd.memory.errors import ConfigError

HOME = {"HOME": "/home/me"}


def places(environ: dict[str, str] | None = None, *, system: bool = False, activated: Path | None = None) -> Places:
    env = {**HOME, **(environ or {})}
    return choose(load({}, env, None), env, system=system, activated=activated, pid=7)


def test_a_user_without_anything_gets_the_home_directory() -> None:
    assert places().data == Path("/home/me/.local/share/shelfd")
    assert places().socket == Path("/home/me/.local/share/shelfd/shelfd.sock")
    assert not places().is_service


def test_the_desktop_names_are_used() -> None:
    found = places({"XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/run/user/1"})
    assert (found.data, found.socket) == (Path("/d/shelfd"), Path("/run/user/1/shelfd.sock"))


def test_a_relative_desktop_name_is_ignored() -> None:
    assert places({"XDG_DATA_HOME": "d"}).data == Path("/home/me/.local/share/shelfd")


def test_system_means_the_system_directories() -> None:
    found = places({"XDG_RUNTIME_DIR": "/run/user/1"}, system=True)
    assert (found.data, found.socket, found.is_service) == (Path("/var/lib/shelfd"), Path("/run/shelfd.sock"), True)


def test_the_service_manager_names_the_state_directory() -> None:
    found = places({"STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "SYSTEMD_EXEC_PID": "7"}, system=True)
    assert found.data == Path("/var/lib/a")
    assert places({"SYSTEMD_EXEC_PID": "7"}).socket == Path("/run/shelfd.sock")


def test_a_child_of_a_service_and_a_user_service_are_no_system_service() -> None:
    assert not places({"SYSTEMD_EXEC_PID": "6"}).is_service
    assert not places({"SYSTEMD_EXEC_PID": "7", "XDG_RUNTIME_DIR": "/run/user/1"}).is_service


def test_the_handed_over_socket_beats_the_rules_and_a_named_one_beats_it() -> None:
    given = places({"XDG_RUNTIME_DIR": "/r"}, activated=Path("/run/given.sock"))
    assert (given.socket, given.activated) == (Path("/run/given.sock"), True)
    named = places({"SHELFD_SOCKET": "/named.sock"}, activated=Path("/run/given.sock"))
    assert (named.socket, named.activated) == (Path("/named.sock"), False)


def test_a_home_in_a_path_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert places({"SHELFD__DAEMON__DATA_DIR": "~/memory"}).data == Path("/home/me/memory")


@pytest.mark.parametrize(("length", "fits"), [(107, True), (108, False)])
def test_a_socket_path_has_room_for_107_bytes(length: int, *, fits: bool) -> None:
    path = "/" + "ü" * ((length - 2) // 2) + "x" * (1 + (length - 2) % 2)
    assert len(path.encode()) == length
    if fits:
        assert places({"SHELFD_SOCKET": path}).socket == Path(path)
    else:
        with pytest.raises(ConfigError, match=r"environment SHELFD_SOCKET.*108 bytes.*107"):
            places({"SHELFD_SOCKET": path})


def test_the_configuration_file_is_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "shelfd" / "shelfd.toml"
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert config_file(None, env, system=False) is None
    file.parent.mkdir()
    file.touch()
    assert config_file(None, env, system=False) == file
    assert config_file(None, {**env, "SHELFD_CONFIG": "/named.toml"}, system=False) == Path("/named.toml")
    assert config_file("/flag.toml", {**env, "SHELFD_CONFIG": "/named.toml"}, system=False) == Path("/flag.toml")
    assert config_file(None, {"CONFIGURATION_DIRECTORY": str(file.parent)}, system=True) == file
