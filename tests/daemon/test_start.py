"""What the daemon imports until it is ready: what it needs then, and what a thread imports after it."""

import subprocess
import sys
from pathlib import Path

from running import TIMEOUT_S, Daemon, clean_environment
from shelfd.memory.methods import USE_CASES
from shelfd.protocol import METHODS

#: Methods of connections themselves.
NEEDED = {"shelfd.protocol.methods.events"}
#: What notes are read by.
RULES = {"shelfd.memory.knowledge.batches", "shelfd.memory.knowledge.deriving", "shelfd.memory.knowledge.graph.edges"}
#: Packages that only some settings need.
HEAVY = {
    "amqtt",
    "httpx2",
    "numba",
    "onnxruntime",
    "phonenumbers",
    "prometheus_client",
    "rich.console",
    "tokenizers",
    "typer",
}


def imported_until_ready(home: Path, **environment: str) -> set[str]:
    """The modules that a daemon imports before it says READY."""
    command = [sys.executable, "-X", "importtime", "-m", "shelfd.daemon"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(home / "data"), "--socket", str(home / "s")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment(home, environment),
    )  # fmt: skip
    modules = set()
    try:
        assert process.stdout is not None
        while not (line := process.stdout.readline()).startswith("READY"):
            assert line, "the daemon did not start"
            if line.startswith("import time:"):
                modules.add(line.rpartition("|")[2].strip())
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT_S)
    return modules


def test_methods_are_imported_after_ready(tmp_path: Path) -> None:
    imported = imported_until_ready(tmp_path)
    assert "shelfd.memory.methods.service" in imported
    later = {*USE_CASES.modules(), *METHODS.modules(), *RULES, "shelfd.memory.methods.job_kinds"} - NEEDED
    assert imported & later == set()
    assert imported & HEAVY == set()


def test_no_plugin_of_another_package_sees_what_is_validated(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "onlooker-1.0.dist-info").mkdir(parents=True)
    (packages / "onlooker-1.0.dist-info" / "METADATA").write_text("Name: onlooker\nVersion: 1.0\n")
    (packages / "onlooker-1.0.dist-info" / "entry_points.txt").write_text("[pydantic]\nonlooker = onlooker:plugin\n")
    (packages / "onlooker.py").write_text("plugin = None\n")
    assert "onlooker" not in imported_until_ready(tmp_path, PYTHONPATH=str(packages))


def test_a_request_that_comes_at_once_is_answered(tmp_path: Path) -> None:
    with Daemon(tmp_path, afresh=True) as daemon:
        assert daemon.call("session.list") == {"sessions": []}
        assert daemon.call("remember", content="the kettle is green")["status"] == "created"
        assert "run_id" in daemon.call("reflect", dry_run=True)
