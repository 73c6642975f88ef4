"""A real systemd as process 1: boots a throw-away copy of this machine and runs one program in it.

The copy is an overlay over ``/`` in a mount namespace of its own: when its last process ends, nothing of it is left.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
COMPONENTS = ("protocol", "memory", "storage", "gateway", "scheduler", "models", "daemon", "client")
_CAP_SYS_ADMIN = 21
_HIDDEN = ("/root", "/home", "/tmp", "/var/tmp")

#: Units that ask for what a container has not got, or wait for it.
_MASKED = (
    "systemd-logind.service", "systemd-resolved.service", "systemd-networkd.service", "systemd-timesyncd.service",
    "systemd-udevd.service", "systemd-udev-trigger.service", "systemd-firstboot.service", "getty.target",
    "console-getty.service", "mosquitto.service", "apt-daily.timer", "apt-daily-upgrade.timer", "fstrim.timer",
)  # fmt: skip

_UNIT = """\
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart={python} -P /opt/checks/inside.py
ExecStopPost=/bin/systemctl --force --force poweroff
StandardOutput=file:/out/stdout
StandardError=file:/out/stderr
TimeoutStartSec=100s
[Install]
WantedBy=multi-user.target
"""

_BOOT = """\
echo $$ > "$2/cgroup.procs"
mount -t tmpfs -o mode=0755 tmpfs /run
mount -t tmpfs -o mode=0755 tmpfs "$1/space"
cd "$1/space"
mkdir upper work root
mount -t overlay -o lowerdir=/,upperdir="$1/space/upper",workdir="$1/space/work" overlay root
rm -rf root/etc/systemd/system root/etc/systemd/user root/home root/out
cp -a "$1/stage/." root/
mkdir -p root/home root/out root/opt/shelfd/packages
: > root/etc/machine-id
shift 2
exec systemd-nspawn --quiet --register=no --keep-unit --private-network --console=pipe --directory=root "$@" \
    --boot systemd.unit=multi-user.target
"""


def why_not() -> str | None:
    """Return why no container can be booted here; None when one can."""
    if os.geteuid() != 0:
        return "needs root"
    status = Path("/proc/self/status").read_text(encoding="ascii")
    effective = int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)
    if not effective >> _CAP_SYS_ADMIN & 1:
        return "needs CAP_SYS_ADMIN, which this container has not got"
    if _interpreter() is None:
        return (
            f"needs a Python {sys.version_info.major}.{sys.version_info.minor} that is not under {', '.join(_HIDDEN)}"
        )
    if not _groups():
        return "needs a writable cgroup2 hierarchy"
    probe = (
        "mount -t tmpfs tmpfs /mnt && cd /mnt && mkdir u w m && mount -t overlay -o lowerdir=/,upperdir=u,workdir=w o m"
    )
    tried = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-ec", probe],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if tried.returncode == 0 else f"no overlay can be mounted: {tried.stderr.strip()}"


def boot(directory: Path, program: Path, extra: Mapping[str, Path], timeout_s: float) -> dict[str, Any]:
    """Run *program* inside and return what it wrote to ``/out/result.json``.

    Args:
        directory: A directory of its own to work in.
        program: Copied to ``/opt/checks/inside.py``, run by the interpreter of the installed shelfd.
        extra: By path inside, a file to copy there.
        timeout_s: After this it is ended, whatever it does.
    """
    stage, out = directory / "stage", directory / "out"
    for path in (stage, out, directory / "space"):
        path.mkdir(parents=True)
    python = install(stage / "opt" / "shelfd")
    _stage(stage, python, program, extra)
    group = _group()
    packages = Path(next(path for path in sys.path if (Path(path) / "numpy").is_dir()))
    command = [
        "unshare", "--mount", "--propagation", "private", "sh", "-euc", _BOOT, "boot", str(directory), str(group),
        f"--bind={out}:/out", f"--bind-ro={packages}:/opt/shelfd/packages",
    ]  # fmt: skip
    environment = {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
    console = out / "console"
    try:
        with console.open("wb") as sink:
            # TERM reaches nspawn, which ends the machine; nothing survives the KILL of process 1 of a pid namespace.
            subprocess.run(
                ["timeout", "--kill-after=5", str(timeout_s), *command],
                stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=environment, check=False,
            )  # fmt: skip
    finally:
        _remove_group(group.name)
        shutil.rmtree(stage)
    result = out / "result.json"
    if not result.exists():
        told = "".join(path.read_text(errors="replace")[-4000:] for path in (console, out / "stderr") if path.exists())
        raise AssertionError(f"the machine ended without a result:\n{told}")
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def _groups(kinds: tuple[str, ...] = ("cgroup2",)) -> list[Path]:
    """The control group this process is in, as directories to make groups in, by kind of hierarchy."""
    own = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), "/")
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    found = [Path(fields[1]) / own.lstrip("/") for fields in mounts if fields[2] in kinds]
    return [path for path in found if path.is_dir() and not os.statvfs(path).f_flag & os.ST_RDONLY]


def _group() -> Path:
    """A control group of the machine's own: its manager leaves behind what it makes in it."""
    group = _groups()[0] / f"shelfd-checks-{os.getpid()}"
    group.mkdir()
    return group


def _remove_group(name: str) -> None:
    # nspawn mirrors the group in the older hierarchy, where there is one.
    deadline = time.monotonic() + 10  # a group is busy until its last process has been reaped
    for group in (groups / name for groups in _groups(("cgroup", "cgroup2"))):
        while group.is_dir():
            try:
                for path, _, _ in os.walk(group, topdown=False):
                    Path(path).rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)  # a pause between two tries, bounded by the deadline


def install(prefix: Path) -> str:
    """Lay out at *prefix* what installing the wheel into a virtual environment does; return its interpreter inside.

    The packages it depends on are expected at ``/opt/shelfd/packages``.
    """
    interpreter = _interpreter()
    assert interpreter is not None
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site, scripts = prefix / "lib" / version / "site-packages", prefix / "bin"
    scripts.mkdir(parents=True)
    for component in COMPONENTS:
        source = CHECKOUT / component / "shelfd" / component
        shutil.copytree(source, site / "shelfd" / component, ignore=shutil.ignore_patterns("__pycache__"))
    for shared in ("systemd", "config"):
        shutil.copytree(CHECKOUT / shared, site / "shelfd" / "daemon" / "share" / shared)
    # As installing does: the service itself cannot write what it compiled.
    subprocess.run([interpreter, "-m", "compileall", "-q", str(site / "shelfd")], check=True)
    (site / "packages.pth").write_text("/opt/shelfd/packages\n", encoding="ascii")
    metadata = site / "shelfd-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shelfd\nVersion: 0\n", encoding="ascii")
    (prefix / "pyvenv.cfg").write_text(f"home = {Path(interpreter).parent}\n", encoding="ascii")
    (scripts / "python").symlink_to(interpreter)
    script = scripts / "shelfd"
    script.write_text(
        "#!/opt/shelfd/bin/python\nimport sys\nfrom shelfd.client.cli import main\nsys.exit(main())\n", encoding="ascii"
    )
    script.chmod(0o755)
    return "/opt/shelfd/bin/python"


def _stage(stage: Path, python: str, program: Path, extra: Mapping[str, Path]) -> None:
    units = stage / "etc" / "systemd" / "system"
    wanted = units / "multi-user.target.wants"
    wanted.mkdir(parents=True)
    (units / "checks.service").write_text(_UNIT.format(python=python), encoding="ascii")
    (wanted / "checks.service").symlink_to("../checks.service")
    for name in _MASKED:
        (units / name).symlink_to("/dev/null")
    for inside, source in {"/opt/checks/inside.py": program, **extra}.items():
        target = stage / inside.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    # The service's user has to get at the code whatever the umask of this test is.
    for path in (stage, *stage.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _interpreter() -> str | None:
    """A Python of this version, for packages compiled for it, that a sandboxed service can see."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = [Path(sys.base_prefix) / "bin" / name, Path("/usr/local/bin") / name, Path("/usr/bin") / name]
    return next((str(path) for path in candidates if path.exists() and not _is_hidden(path)), None)


def _is_hidden(path: Path) -> bool:
    return any(p.is_relative_to(hidden) for p in (path, path.resolve()) for hidden in _HIDDEN)
