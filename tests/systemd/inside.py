"""Runs as root under a real systemd and writes to ``/out/result.json`` which claims about the service hold.

Claims run in the order they stand in; one that fails does not stop those behind it.
"""

import json
import os
import pwd
import signal
import stat
import subprocess
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shelfd.client import Client, connect

SHELFD = "/opt/shelfd/bin/shelfd"
SOCKET = "/run/shelfd.sock"
ETC = Path("/etc/systemd/system")
CONFIG = Path("/etc/shelfd/shelfd.toml")
ADA = 4711
PROJECT = "/home/ada/.claude/projects/-home-ada-work/memory"
SECRET = "the heron nests behind the mill"

CLAIMS: list[Callable[[], None]] = []


def claim(check: Callable[[], None]) -> Callable[[], None]:
    CLAIMS.append(check)
    return check


# ------------------------------------------------------------------ words to make claims with


def run(*argv: str, ok: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, **options)
    if ok and done.returncode != 0:
        raise AssertionError(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def systemctl(*argv: str, ok: bool = True) -> str:
    return run("systemctl", *argv, ok=ok).stdout.strip()


def show(name: str, unit: str = "shelfd.service") -> str:
    return systemctl("show", "--property", name, "--value", unit)


def main_pid() -> int:
    return int(show("MainPID"))


def until(what: str, holds: Callable[[], bool], timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}\n{systemctl('status', 'shelfd', ok=False)}")
        time.sleep(0.02)  # a pause between two looks at another process, bounded by the deadline


def call(method: str, **params: Any) -> Any:
    with client() as connection:
        return connection.call(method, params)


def client() -> Client:
    return connect(SOCKET, timeout_s=30)


def as_ada(*argv: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    environment = ["env", "-i", "HOME=/home/ada", f"XDG_RUNTIME_DIR=/run/user/{ADA}", "PATH=/usr/bin:/bin"]
    return run("setpriv", f"--reuid={ADA}", f"--regid={ADA}", "--init-groups", *environment, *argv, ok=ok, cwd="/")


def in_its_namespace(script: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    """Run *script* as the service's user in the mount namespace of the running daemon."""
    user = ("setpriv", "--reuid=shelfd", "--regid=shelfd", "--clear-groups")
    return run("nsenter", f"--target={main_pid()}", "--mount", *user, "sh", "-ec", script, ok=ok)


def journal() -> list[dict[str, Any]]:
    lines = run("journalctl", "--unit=shelfd.service", "--output=json", "--no-pager").stdout.splitlines()
    return [json.loads(line) for line in lines]


def events() -> list[tuple[str, dict[str, Any]]]:
    """What the daemon logged: journald's priority, and the line."""
    found = []
    for entry in journal():
        message = entry["MESSAGE"]
        if isinstance(message, str) and message.startswith("{"):
            found.append((str(entry["PRIORITY"]), json.loads(message)))
    return found


def logged(event: str) -> int:
    return sum(line["event"] == event for _, line in events())


def probe(name: str) -> dict[str, Any]:
    """What can be done in the sandbox of the service as it is installed, drop-ins included."""
    unit = (ETC / "shelfd.service").read_text()
    dropped = ("Requires=", "After=", "Type=", "NotifyAccess=", "WatchdogSec=", "Restart", "ExecReload=")
    kept = [line for line in unit.partition("[Install]")[0].splitlines() if not line.startswith(dropped)]
    text = "\n".join(kept).replace(f"{SHELFD} run --system", "/opt/shelfd/bin/python -P /opt/checks/probe.py")
    out = Path(f"/run/{name}.json")
    dropped_in = "\n".join(path.read_text() for path in (ETC / "shelfd.service.d").glob("*.conf"))
    (ETC / f"{name}.service").write_text(f"{text}\nType=oneshot\nStandardOutput=file:{out}\n{dropped_in}")
    systemctl("daemon-reload")
    try:
        systemctl("start", f"{name}.service")
        found: dict[str, Any] = json.loads(out.read_text())
        return found
    finally:
        (ETC / f"{name}.service").unlink()
        systemctl("daemon-reload")


# ------------------------------------------------------------------ installing


@claim
def a_dry_run_changes_nothing() -> None:
    before = set(Path("/etc").rglob("*"))
    said = run(SHELFD, "setup", "--system", "--dry-run").stdout
    assert "systemd-sysusers /etc/sysusers.d/shelfd.conf" in said, said
    assert set(Path("/etc").rglob("*")) == before
    assert systemctl("is-active", "shelfd.socket", ok=False) == "inactive"


@claim
def setup_makes_it_a_running_service() -> None:
    run(SHELFD, "setup", "--system")
    assert pwd.getpwnam("shelfd").pw_dir == "/var/lib/shelfd"
    assert show("ActiveState") == "active"
    assert show("StatusText") == "serving at /run/shelfd.sock"
    assert systemctl("is-enabled", "shelfd.service", "shelfd.socket").split() == ["enabled", "enabled"]
    assert f"ExecStart={SHELFD} run --system" in (ETC / "shelfd.service").read_text()


@claim
def setup_again_disturbs_nothing() -> None:
    before = main_pid()
    CONFIG.write_text('# mine\n[log]\nlevel = "info"\n')
    run(SHELFD, "setup", "--system")
    assert main_pid() == before
    assert CONFIG.read_text().startswith("# mine")


@claim
def directories_and_socket_are_closed_to_others() -> None:
    def seen(name: str) -> tuple[str, str, str]:
        path = Path(name)
        return path.owner(), path.group(), f"{stat.S_IMODE(path.stat().st_mode):o}"

    assert seen("/var/lib/shelfd") == ("shelfd", "shelfd", "700")
    assert seen("/etc/shelfd") == ("root", "shelfd", "750")
    assert seen(SOCKET) == ("root", "shelfd", "660")
    denied = run("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", SHELFD, "status", ok=False)
    assert "Permission denied" in denied.stderr, denied


# ------------------------------------------------------------------ serving


@claim
def the_first_request_starts_it() -> None:
    systemctl("stop", "shelfd.service")
    assert show("ActiveState") == "inactive"
    started = time.monotonic()
    note = call("remember", content=SECRET)["note"]
    RESULT["first_request_s"] = round(time.monotonic() - started, 3)
    assert show("ActiveState") == "active"
    assert call("note.get", id=note["id"])["note"]["content"] == SECRET
    assert call("recall", query="where does the heron nest")["results"][0]["note"]["id"] == note["id"]


@claim
def it_tells_callers_apart() -> None:
    run("useradd", f"--uid={ADA}", "--create-home", "--groups=shelfd", "--shell=/bin/sh", "ada")
    as_ada(SHELFD, "call", "shelf.create", '{"shelf": "hers"}', f"--socket={SOCKET}")
    owners = {shelf["shelf"]: shelf["owner"] for shelf in call("shelf.list")["shelves"]}
    assert owners["hers"] == f"uid:{ADA}", owners


@claim
def its_doctor_is_content() -> None:
    found = call("system.doctor")
    assert found["ok"], found
    assert Path(f"/proc/{main_pid()}/comm").exists()


@claim
def the_journal_has_its_lines_and_no_memory_text() -> None:
    until("the request is logged", lambda: logged("rpc.handled") > 0)
    handled = [(priority, line) for priority, line in events() if line["event"] == "rpc.handled"]
    assert {priority for priority, _ in handled} == {"6"}
    assert {"method", "shelf", "principal", "duration_ms", "outcome", "request_id"} <= set(handled[0][1])
    assert f"uid:{ADA}" in {line["principal"] for _, line in handled}
    assert SECRET not in json.dumps(journal())


@claim
def it_reloads() -> None:
    before = main_pid(), logged("config.reloaded")
    CONFIG.write_text('[log]\nlevel = "debug"\n')
    systemctl("reload", "shelfd.service")
    until("the reload is logged", lambda: logged("config.reloaded") > before[1])
    assert main_pid() == before[0]
    until("it is ready again", lambda: show("StatusText") == "serving at /run/shelfd.sock")
    CONFIG.write_text('[log]\nlevel = "info"\n')
    systemctl("reload", "shelfd.service")


# ------------------------------------------------------------------ the sandbox


@claim
def the_daemon_has_no_privileges() -> None:
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{main_pid()}/status").read_text().splitlines() if ":\t" in line
    )
    uid = pwd.getpwnam("shelfd").pw_uid
    assert status["Uid"].split() == [str(uid)] * 4
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == int(status["CapPrm"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


@claim
def the_sandbox_lets_it_work_and_nothing_else() -> None:
    found = probe("probe")
    works = {"state": "ok", "config_read": "ok", "unix": "ok", "callback": 42, "loop": "uvloop", "product": 600.0,
             "thread": "ran", "files": 8192, "umask": "077"}  # fmt: skip
    assert {name: found[name] for name in works} == works, found
    for name in ("etc", "config_write", "code"):
        assert found[name] in ("EROFS", "EACCES"), (name, found)
    assert found["root"] == "EACCES", found
    assert found["home"] in ("EACCES", "ENOENT"), found
    assert found["internet"] in ("EAFNOSUPPORT", "EPERM"), found
    assert found["writable_code"] == "EPERM", found
    assert found["nice"] == "EPERM", found
    assert found["chroot"] == "EPERM", found
    assert (found["others"], found["tmp"]) == ([], []), found
    assert found["user"] == pwd.getpwnam("shelfd").pw_uid


@claim
def drop_ins_are_installed_all_at_once() -> None:
    assert Path(f"/proc/{main_pid()}/ns/net").readlink() != Path("/proc/1/ns/net").readlink()
    assert in_its_namespace(f"ls {PROJECT}", ok=False).returncode != 0
    secret = Path("/etc/shelfd/mqtt.password")
    secret.touch(mode=0o600)
    secret.write_text("s3cret\n")
    as_ada("mkdir", "-p", PROJECT, "/home/ada/private")
    Path("/home/ada").chmod(0o700)
    run("install", "-d", "-o", "ada", "-g", "shelfd", "-m", "2770", PROJECT)
    run("install", "-o", "shelfd", "-g", "shelfd", "-m", "0660", "/dev/null", f"{PROJECT}/MEMORY.md")
    names = ("broker-local", "credentials", "home")
    run(SHELFD, "setup", "--system", *(f"--drop-in={name}" for name in names))
    assert call("system.health")["ready"]


@claim
def a_local_broker_can_be_reached() -> None:
    assert Path(f"/proc/{main_pid()}/ns/net").readlink() == Path("/proc/1/ns/net").readlink()
    assert set(show("IPAddressAllow").split()) == {"127.0.0.0/8", "::1/128"}
    found = probe("networked")
    assert (found["internet"], found["writable_code"]) == ("ok", "EPERM"), found


@claim
def it_is_given_the_password_and_nobody_else_is() -> None:
    environment = Path(f"/proc/{main_pid()}/environ").read_bytes().split(b"\0")
    assert b"CREDENTIALS_DIRECTORY=/run/credentials/shelfd.service" in environment
    assert in_its_namespace("cat /run/credentials/shelfd.service/mqtt.password").stdout == "s3cret\n"
    assert in_its_namespace("cat /etc/shelfd/mqtt.password", ok=False).returncode != 0
    assert as_ada("cat", "/run/credentials/shelfd.service/mqtt.password", ok=False).returncode != 0


@claim
def it_can_be_let_into_one_directory_of_a_home() -> None:
    # As promotion does it: a new file beside the old one, dressed like it, then a rename.
    in_its_namespace(f"cd {PROJECT}; echo '- a line' > .new; chmod --reference=MEMORY.md .new; mv .new MEMORY.md")
    assert as_ada("cat", f"{PROJECT}/MEMORY.md").stdout == "- a line\n"
    assert in_its_namespace("ls /home/ada/private", ok=False).returncode != 0


# ------------------------------------------------------------------ when something goes wrong


@claim
def a_killed_daemon_comes_back_with_what_it_acknowledged() -> None:
    note = call("remember", content="acknowledged before the end")["note"]
    before = main_pid(), int(show("NRestarts"))
    os.kill(before[0], signal.SIGKILL)
    until("it was started again", lambda: int(show("NRestarts")) == before[1] + 1 and main_pid() not in (0, before[0]))
    assert call("note.get", id=note["id"])["note"]["content"] == "acknowledged before the end"


@claim
def a_blocked_daemon_is_restarted_by_the_watchdog() -> None:
    assert show("WatchdogUSec") == "1min"
    impatient = ETC / "shelfd.service.d" / "impatient.conf"
    impatient.write_text("[Service]\nWatchdogSec=2s\nTimeoutAbortSec=500ms\nRestartSec=100ms\n")
    systemctl("daemon-reload")
    systemctl("restart", "shelfd.service")
    before = main_pid(), int(show("NRestarts"))
    # The limit passes and it lives: it does ping.
    moment = time.monotonic()
    until("the limit passed", lambda: time.monotonic() > moment + 3)
    assert main_pid() == before[0]
    os.kill(before[0], signal.SIGSTOP)
    started = time.monotonic()
    until("the watchdog acted", lambda: int(show("NRestarts")) == before[1] + 1 and main_pid() not in (0, before[0]))
    RESULT["watchdog_s"] = round(time.monotonic() - started, 3)
    assert call("system.health")["ready"]
    assert any("Watchdog timeout" in str(entry["MESSAGE"]) for entry in journal())
    impatient.unlink()
    systemctl("daemon-reload")


@claim
def a_wrong_configuration_stops_it_for_good_and_says_why() -> None:
    systemctl("reset-failed", "shelfd.service")
    good = CONFIG.read_text()
    CONFIG.write_text("[memory]\nlangage = 1\n")
    assert run("systemctl", "restart", "shelfd.service", ok=False).returncode != 0
    assert (show("ActiveState"), show("ExecMainStatus"), show("NRestarts")) == ("failed", "78", "0")
    assert any("memory.langage: unknown setting" in str(entry["MESSAGE"]) for entry in journal())
    CONFIG.write_text(good)
    systemctl("reset-failed", "shelfd.service", "shelfd.socket")
    systemctl("restart", "shelfd.socket", "shelfd.service")
    assert call("system.health")["ready"]


@claim
def it_starts_without_a_configuration_file() -> None:
    good = CONFIG.read_text()
    CONFIG.unlink()
    systemctl("restart", "shelfd.service")
    assert call("system.health")["ready"]
    CONFIG.write_text(good)


# ------------------------------------------------------------------ going


@claim
def uninstalling_leaves_data_and_edited_files() -> None:
    said = run(SHELFD, "setup", "--system", "--uninstall").stdout
    assert "the data stays in /var/lib/shelfd" in said, said
    assert f"keep    {CONFIG} (yours)" in said, said
    left = list(ETC.rglob("shelfd*"))
    assert left == [], left
    assert not Path(SOCKET).exists()
    assert systemctl("is-active", "shelfd.service", ok=False) == "inactive"
    assert Path("/var/lib/shelfd/shelves/default/shelf.db").exists()
    assert CONFIG.exists()


# ------------------------------------------------------------------ a user's service


@claim
def a_user_gets_a_service_of_her_own() -> None:
    runtime = Path(f"/run/user/{ADA}")
    runtime.mkdir(parents=True, mode=0o700)
    os.chown(runtime, ADA, ADA)
    (ETC / "ada.service").write_text(
        f"[Service]\nType=notify\nUser=ada\nDelegate=yes\nWorkingDirectory=/home/ada\n"
        f"Environment=XDG_RUNTIME_DIR={runtime}\nExecStart=/lib/systemd/systemd --user\n"
    )
    systemctl("daemon-reload")
    systemctl("start", "ada.service")
    as_ada(SHELFD, "setup", "--user")
    path = runtime / "shelfd.sock"
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (ADA, 0o600)
    as_ada("systemctl", "--user", "stop", "shelfd.service")
    as_ada(SHELFD, "remember", "the kettle is green")
    assert "the kettle is green" in as_ada(SHELFD, "recall", "which colour has the kettle").stdout
    assert Path("/home/ada/.local/share/shelfd/shelves/default/shelf.db").stat().st_uid == ADA
    status = as_ada("systemctl", "--user", "show", "--property=StatusText", "--value", "shelfd").stdout.strip()
    assert status == f"serving at {path}"


@claim
def and_can_take_it_back() -> None:
    before = as_ada("systemctl", "--user", "show", "--property=MainPID", "--value", "shelfd").stdout
    as_ada(SHELFD, "setup", "--user")
    assert as_ada("systemctl", "--user", "show", "--property=MainPID", "--value", "shelfd").stdout == before
    said = as_ada(SHELFD, "setup", "--user", "--uninstall").stdout
    assert "the data stays in /home/ada/.local/share/shelfd" in said, said
    assert not Path(f"/run/user/{ADA}/shelfd.sock").exists()
    assert not list(Path("/home/ada/.config/systemd").rglob("shelfd*"))
    assert not Path("/home/ada/.config/shelfd").exists()
    assert Path("/home/ada/.local/share/shelfd/shelves/default/shelf.db").exists()


RESULT: dict[str, Any] = {"systemd": "", "held": {}, "failed": {}}


def main() -> None:
    RESULT["systemd"] = run("systemctl", "--version").stdout.splitlines()[0]
    RESULT["process_1"] = Path("/proc/1/comm").read_text().strip()
    for check in CLAIMS:
        started = time.monotonic()
        try:
            check()
            RESULT["held"][check.__name__] = round(time.monotonic() - started, 2)
        except Exception:  # noqa: BLE001 - whatever it is, the claims behind it are still to be checked
            RESULT["failed"][check.__name__] = traceback.format_exc()
    if RESULT["failed"]:
        RESULT["journal"] = run("journalctl", "--no-pager", "--lines=200", ok=False).stdout
    Path("/out/result.json").write_text(json.dumps(RESULT, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
