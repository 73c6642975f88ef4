"""``shelfd setup``: what it plans, what it does to a tree of files, and what it refuses."""

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shelfd.daemon.setup import execute, installation, plan, shipped
from shelfd.daemon.setup.installation import Installation, UnreachableError
from shelfd.daemon.setup.machine import Machine, look
from shelfd.daemon.setup.shipped import with_command
from shelfd.daemon.setup.steps import RemoveFile, RunCommand, StepFailedError, WriteFile

COMMAND = ("/opt/shelfd/bin/shelfd",)
UNIT = "[Service]\nType=notify\nExecStart=/usr/local/bin/shelfd run --system\nExecReload=/bin/kill -HUP $MAINPID\n"
#: Where nothing can stop a service from reading: no test writes there.
OUTSIDE = "/opt/shelfd/bin/shelfd"
#: The manual page and the completion of bash, zsh and fish.
FOR_PEOPLE = ("shelfd.1", "shelfd", "_shelfd", "shelfd.fish")


def machine(root: Path, **differs: Any) -> Machine:
    usual = Machine(
        root=root, is_tree=False, runs_manager=True, has_systemctl=True, has_account=False, has_sysusers=True,
        has_tmpfiles=True, is_root=True,
    )  # fmt: skip
    return replace(usual, **differs)


def commands(planned: plan.InstallPlan) -> list[str]:
    return [" ".join(step.argv) for step in planned.steps if isinstance(step, RunCommand)]


def write_all(planned: plan.InstallPlan) -> None:
    """Do what concerns files."""
    for step in planned.steps:
        if not isinstance(step, RunCommand):
            step.perform()


def files(root: Path) -> dict[str, str]:
    return {
        f"/{path.relative_to(root)}": path.read_text(encoding="utf-8") for path in root.rglob("*") if path.is_file()
    }


def setup(*argv: str, home: Path | None = None) -> int:
    return execute(argv, {"HOME": str(home or "/nonexistent")})


# ------------------------------------------------------------------ the command in the unit


def test_the_command_replaces_the_first_word_only() -> None:
    text = with_command(UNIT, COMMAND)
    assert "ExecStart=/opt/shelfd/bin/shelfd run --system\n" in text
    assert "ExecReload=/bin/kill -HUP $MAINPID\n" in text


def test_a_command_of_several_words_is_possible() -> None:
    assert "ExecStart=/usr/bin/python3 -P -m shelfd.client run" in with_command(
        UNIT, ("/usr/bin/python3", "-P", "-m", "shelfd.client")
    )


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/opt/my tools/shelfd", '"/opt/my tools/shelfd"'),
        ("/opt/100%/shelfd", "/opt/100%%/shelfd"),
        ("/opt/größe/shelfd", "/opt/größe/shelfd"),
    ],
)
def test_odd_names_are_written_so_that_they_are_read_as_they_are(path: str, written: str) -> None:
    assert f"ExecStart={written} run --system\n" in with_command(UNIT, (path,))


@pytest.mark.parametrize(
    "path", ["/opt/a\nExecStartPre=/bin/evil", "/opt/$HOME/x", "/opt/\x1b/x", '/opt/"/x', "/opt/a\\b/x"]
)
def test_names_a_unit_cannot_hold_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot be written into a unit"):
        with_command(UNIT, (path,))


@pytest.mark.parametrize("unit", ["[Service]\n", UNIT + "ExecStart=/bin/true\n"])
def test_a_unit_without_exactly_one_start_is_refused(unit: str) -> None:
    with pytest.raises(ValueError, match="expected one ExecStart"):
        with_command(unit, COMMAND)


# ------------------------------------------------------------------ what is shipped


def test_files_are_found_beside_the_checkout_first_and_else_in_the_package(tmp_path: Path) -> None:
    checkout, package = tmp_path / "checkout", tmp_path / "package"
    (checkout / "systemd").mkdir(parents=True)
    assert shipped.directory("systemd", checkout=checkout, package=package) == package / "share" / "systemd"
    (checkout / "pyproject.toml").touch()
    assert shipped.directory("systemd", checkout=checkout, package=package) == checkout / "systemd"
    assert shipped.directory("config", checkout=checkout, package=package) == package / "share" / "config"


def test_what_is_for_people_is_found_in_a_wheel_too(tmp_path: Path) -> None:
    found = shipped.for_people()
    assert [Path(place).name for place, _ in found] == list(FOR_PEOPLE)
    with pytest.raises(FileNotFoundError):
        shipped.for_people(checkout=tmp_path, package=tmp_path / "shelfd" / "daemon")
    shutil.copytree(shipped._CHECKOUT / "client" / "shelfd" / "client", tmp_path / "shelfd" / "client")
    assert shipped.for_people(checkout=tmp_path, package=tmp_path / "shelfd" / "daemon") == found


def test_everything_setup_installs_is_there() -> None:
    assert shipped.drop_ins() == ["broker-local", "broker-remote", "credentials", "home"]
    for name in ("shelfd.service", "user/shelfd.service", "shelfd.sysusers.conf", "shelfd.tmpfiles.conf"):
        assert shipped.text("systemd", name)
    assert shipped.text("config", "shelfd.toml")


# ------------------------------------------------------------------ the system's service


def test_installing_on_a_running_system_goes_in_the_right_order(tmp_path: Path) -> None:
    planned = plan.install_system(machine(tmp_path), COMMAND)
    assert commands(planned) == [
        "systemd-sysusers /etc/sysusers.d/shelfd.conf",
        "systemd-tmpfiles --create /etc/tmpfiles.d/shelfd.conf",
        "systemctl daemon-reload",
        "systemctl enable shelfd.socket shelfd.service",
        "systemctl restart shelfd.socket shelfd.service",
    ]
    kinds = [step.path.name if isinstance(step, WriteFile) else "run" for step in planned.steps]
    assert kinds == [
        "shelfd.conf", "shelfd.conf", "run", "run", "shelfd.toml", *FOR_PEOPLE, "shelfd.socket", "shelfd.service",
        "run", "run", "run",
    ]  # fmt: skip


def test_installing_again_changes_no_file_and_restarts_nothing(tmp_path: Path) -> None:
    write_all(plan.install_system(machine(tmp_path), COMMAND))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = plan.install_system(machine(tmp_path, has_account=True), COMMAND)
    write_all(again)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert commands(again)[-1] == "systemctl start shelfd.socket shelfd.service"
    assert not any("sysusers" in command for command in commands(again))


def test_another_command_is_written_and_the_service_restarted(tmp_path: Path) -> None:
    write_all(plan.install_system(machine(tmp_path), COMMAND))
    moved = plan.install_system(machine(tmp_path), ["/opt/newer/shelfd"])
    assert commands(moved)[-1] == "systemctl restart shelfd.socket shelfd.service"
    write_all(moved)
    assert "ExecStart=/opt/newer/shelfd run --system" in files(tmp_path)["/etc/systemd/system/shelfd.service"]


def test_an_edited_configuration_and_drop_in_stay(tmp_path: Path) -> None:
    write_all(plan.install_system(machine(tmp_path), COMMAND, ["home"]))
    config = tmp_path / "etc/shelfd/shelfd.toml"
    drop_in = tmp_path / "etc/systemd/system/shelfd.service.d/home.conf"
    for path in (config, drop_in):
        path.write_text("# mine\n", encoding="utf-8")
    again = plan.install_system(machine(tmp_path), COMMAND, ["home"])
    write_all(again)
    assert config.read_text(encoding="utf-8") == drop_in.read_text(encoding="utf-8") == "# mine\n"
    assert f"keep    {config} (yours)" in [step.describe() for step in again.steps]


def test_a_system_without_sysusers_and_tmpfiles_gets_the_same_by_other_means(tmp_path: Path) -> None:
    planned = plan.install_system(machine(tmp_path, has_sysusers=False, has_tmpfiles=False), COMMAND)
    assert [command.split()[0] for command in commands(planned)[:2]] == ["useradd", "install"]
    assert "--home-dir /var/lib/shelfd" in commands(planned)[0]
    assert "-g shelfd /etc/shelfd" in commands(planned)[1]


def test_without_a_running_service_manager_it_is_enabled_for_the_next_boot(tmp_path: Path) -> None:
    planned = plan.install_system(machine(tmp_path, runs_manager=False), COMMAND)
    assert commands(planned)[-1] == "systemctl enable shelfd.socket shelfd.service"
    assert "no service manager is running" in planned.remarks[0]
    bare = plan.install_system(machine(tmp_path, runs_manager=False, has_systemctl=False), COMMAND)
    assert not any("systemctl" in command for command in commands(bare))


def test_a_tree_gets_files_and_nothing_is_called(tmp_path: Path) -> None:
    assert setup("--system", "--root", str(tmp_path), "--command", OUTSIDE, "--drop-in", "credentials") == 0
    found = files(tmp_path)
    assert sorted(found) == [
        "/etc/shelfd/shelfd.toml",
        "/etc/systemd/system/shelfd.service",
        "/etc/systemd/system/shelfd.service.d/credentials.conf",
        "/etc/systemd/system/shelfd.socket",
        "/etc/sysusers.d/shelfd.conf",
        "/etc/tmpfiles.d/shelfd.conf",
        "/usr/local/share/bash-completion/completions/shelfd",
        "/usr/local/share/fish/vendor_completions.d/shelfd.fish",
        "/usr/local/share/man/man1/shelfd.1",
        "/usr/local/share/zsh/site-functions/_shelfd",
    ]
    assert f"ExecStart={OUTSIDE} run --system" in found["/etc/systemd/system/shelfd.service"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_file()} == {0o644}


def test_a_dry_run_says_everything_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("--system", "--root", str(tmp_path), "--command", OUTSIDE, "--dry-run") == 0
    said = capsys.readouterr().out.splitlines()
    assert f"write   {tmp_path}/etc/systemd/system/shelfd.service" in said
    assert said[-1] == "nothing was changed"
    assert files(tmp_path) == {}


def test_the_way_back_removes_what_was_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop_ins = [part for name in shipped.drop_ins() for part in ("--drop-in", name)]
    assert setup("--system", "--root", str(tmp_path), "--command", OUTSIDE, *drop_ins) == 0
    assert setup("--system", "--root", str(tmp_path), "--uninstall") == 0
    assert files(tmp_path) == {}
    assert not (tmp_path / "etc/systemd/system/shelfd.service.d").exists()
    assert not (tmp_path / "etc/shelfd").exists()
    assert "the data stays in /var/lib/shelfd" in capsys.readouterr().out


def test_the_way_back_leaves_what_was_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_all(plan.install_system(machine(tmp_path), COMMAND, ["home"]))
    config = tmp_path / "etc/shelfd/shelfd.toml"
    drop_in = tmp_path / "etc/systemd/system/shelfd.service.d/home.conf"
    for path in (config, drop_in):
        path.write_text("# mine\n", encoding="utf-8")
    assert setup("--system", "--root", str(tmp_path), "--uninstall") == 0
    assert sorted(files(tmp_path)) == ["/etc/shelfd/shelfd.toml", "/etc/systemd/system/shelfd.service.d/home.conf"]
    assert f"keep    {config} (yours)" in capsys.readouterr().out


def test_the_way_back_stops_the_service_first_and_reloads_last(tmp_path: Path) -> None:
    write_all(plan.install_system(machine(tmp_path), COMMAND))
    planned = plan.remove_system(machine(tmp_path, has_account=True))
    first, last = planned.steps[0], planned.steps[-1]
    assert isinstance(first, RunCommand)
    assert " ".join(first.argv) == "systemctl disable --now shelfd.service shelfd.socket"
    assert isinstance(last, RunCommand)
    assert " ".join(last.argv) == "systemctl daemon-reload"
    assert "userdel shelfd" in planned.remarks[1]


def test_the_way_back_where_nothing_is_installed_does_nothing(tmp_path: Path) -> None:
    assert list(plan.remove_system(machine(tmp_path)).steps) == []


# ------------------------------------------------------------------ a user's service


def test_a_user_gets_units_and_configuration_in_the_home_directory(tmp_path: Path) -> None:
    planned = plan.install_user(machine(Path("/")), COMMAND, tmp_path / "config", tmp_path / "share")
    assert commands(planned) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable shelfd.socket shelfd.service",
        "systemctl --user restart shelfd.socket shelfd.service",
    ]
    write_all(planned)
    assert files(tmp_path / "share")["/man/man1/shelfd.1"].count(".SH COMMANDS") == 1
    assert len(files(tmp_path / "share")) == len(FOR_PEOPLE)
    found = files(tmp_path / "config")
    assert sorted(found) == [
        "/shelfd/shelfd.toml", "/systemd/user/shelfd.service", "/systemd/user/shelfd.socket"
    ]  # fmt: skip
    assert "ExecStart=/opt/shelfd/bin/shelfd run\n" in found["/systemd/user/shelfd.service"]
    assert any("loginctl enable-linger" in remark for remark in planned.remarks)


def only_systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, does: str) -> Path:
    """Make a systemctl that says *does* the only command there is; return what it writes its calls to."""
    calls, script = tmp_path / "calls", tmp_path / "bin" / "systemctl"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n{does}\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    return calls


def test_a_users_way_back(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls = only_systemctl(tmp_path, monkeypatch, does="exit 0")
    assert setup("--user", "--command", OUTSIDE, home=tmp_path) == 0
    assert "later: systemctl --user enable --now" in capsys.readouterr().out
    assert setup("--user", "--uninstall", home=tmp_path) == 0
    assert files(tmp_path / ".config") == {}
    assert calls.read_text(encoding="utf-8") == "--user disable shelfd.service shelfd.socket\n"
    assert f"the data stays in {tmp_path}/.local/share/shelfd" in capsys.readouterr().out


def test_without_systemd_setup_says_so_and_the_way_back_removes_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert setup("--user", "--command", OUTSIDE, home=tmp_path) == 0
    said = capsys.readouterr().out
    assert f"there is no systemd here to start it; the daemon needs none: {OUTSIDE} run" in said
    assert "systemctl" not in said
    wants = tmp_path / ".config/systemd/user/default.target.wants"
    wants.mkdir()  # as it was enabled by a systemd that has been removed since
    (wants / "shelfd.service").symlink_to("../shelfd.service")
    assert setup("--user", "--uninstall", home=tmp_path) == 0
    assert files(tmp_path) == {}
    assert list(wants.iterdir()) == []
    said = capsys.readouterr().out
    assert f"remove  {wants}/shelfd.service" in said
    assert f"the data stays in {tmp_path}/.local/share/shelfd" in said
    assert "a daemon that was started by hand goes on" in said


def test_the_way_back_goes_on_when_the_service_manager_refuses_and_says_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_systemctl(tmp_path, monkeypatch, does="echo no bus >&2; exit 1")
    assert setup("--user", "--command", OUTSIDE, home=tmp_path) == 0
    assert setup("--user", "--uninstall", home=tmp_path) == os.EX_UNAVAILABLE
    assert files(tmp_path / ".config") == {}
    heard = capsys.readouterr()
    assert "the data stays in" in heard.out
    assert "left undone: systemctl --user disable shelfd.service shelfd.socket: exit status 1" in heard.err
    assert "no bus" in heard.err


def test_a_user_may_have_everything_at_home(tmp_path: Path) -> None:
    # No sandbox hides a user's home from the user's own service.
    assert setup("--user", "--command", "/home/ada/.local/bin/shelfd", "--dry-run", home=tmp_path) == 0


def test_a_users_manager_is_the_one_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_systemctl(tmp_path, monkeypatch, does="exit 0")
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert not look(None, environ, user=True).runs_manager
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd" / "private").touch()
    assert look(None, environ, user=True).runs_manager
    assert not look(tmp_path, environ, user=True).runs_manager
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not look(None, environ, user=True).runs_manager  # nothing can ask it


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("place", ["/root/.local", "/home/ada/.venv", "/tmp/venv", "/var/tmp/venv", "/run/user/7"])
def test_an_installation_the_sandbox_hides_is_refused(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("--system", "--command", f"{place}/bin/shelfd") == os.EX_UNAVAILABLE
    said = capsys.readouterr().err
    assert f"{place}/bin/shelfd, is under /" in said
    assert "which the service cannot see (Pr" in said
    assert "uv tool install" in said


def test_every_part_of_an_installation_counts() -> None:
    found = Installation(
        COMMAND, [("the command", Path("/opt/x")), ("the interpreter", Path("/root/.pyenv/bin/python"))]
    )
    with pytest.raises(UnreachableError, match=r"the interpreter, /root/.pyenv/bin/python, is under /root"):
        installation.check_reachable(found)


def test_a_directory_closed_to_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_HIDDEN", {})
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "shelfd").touch(mode=0o755)
    with pytest.raises(UnreachableError, match=f"cannot be read by the service's user: permissions of {closed}"):
        installation.check_reachable(installation.named(str(closed / "shelfd")))


def test_this_installation_names_its_command_and_every_link_to_its_interpreter(tmp_path: Path) -> None:
    found = installation.running()
    assert Path(found.command[0]).is_absolute()
    named = [path for what, path in found.needs if what == "the interpreter"]
    assert named[0] == Path(sys.executable)
    assert named[-1] == Path(sys.executable).resolve()


def test_neither_or_both_kinds_of_service_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["--system", "--user"], ["--system", "--drop-in", "nonsense"]):
        with pytest.raises(SystemExit) as ended:
            setup(*argv)
        assert ended.value.code == os.EX_USAGE
    assert "broker-local" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do it")
def test_only_root_changes_the_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert setup("--system", "--command", OUTSIDE) == os.EX_NOPERM
    assert "needs root" in capsys.readouterr().err


def test_a_failing_command_ends_it_with_what_the_command_said() -> None:
    with pytest.raises(StepFailedError, match=r"exit status 3\nno such unit"):
        RunCommand(["sh", "-c", "echo no such unit >&2; exit 3"]).perform()
    with pytest.raises(StepFailedError, match="No such file"):
        RunCommand(["/nonexistent/systemctl"]).perform()


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "etc").touch()
    assert setup("--system", "--root", str(tmp_path), "--command", OUTSIDE) == os.EX_CANTCREAT
    assert str(tmp_path) in capsys.readouterr().err


# ------------------------------------------------------------------ steps


def test_a_file_is_replaced_whole_and_its_mode_does_not_hang_on_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "unit"
    previous = os.umask(0o077)
    try:
        WriteFile(path, "one").perform()
        inode = path.stat().st_ino
        WriteFile(path, "two").perform()
    finally:
        os.umask(previous)
    assert path.read_text(encoding="utf-8") == "two"
    assert path.stat().st_ino != inode
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [entry.name for entry in path.parent.iterdir()] == ["unit"]


def test_a_directory_goes_only_when_it_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "d" / "one"
    WriteFile(path, "x").perform()
    WriteFile(path.with_name("two"), "x").perform()
    RemoveFile(path, only_if="x", also_directory=True).perform()
    assert [entry.name for entry in path.parent.iterdir()] == ["two"]
    RemoveFile(path.with_name("two"), only_if="other", also_directory=True).perform()
    assert path.with_name("two").exists()
    RemoveFile(path.with_name("two"), also_directory=True).perform()
    assert not path.parent.exists()


def test_the_command_line_hands_setup_over(tmp_path: Path) -> None:
    argv = ["-m", "shelfd.client", "setup", "--system", f"--root={tmp_path}", "--command", OUTSIDE, "--drop-in", "home"]
    done = subprocess.run([sys.executable, *argv], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "/etc/systemd/system/shelfd.service.d/home.conf" in files(tmp_path)
