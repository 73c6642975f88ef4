"""The service under a real systemd as process 1, in a throw-away copy of this machine."""

from pathlib import Path

import pytest

from systemd import inside
from systemd.container import boot, why_not

HERE = Path(__file__).resolve().parent


@pytest.mark.component("systemd-nspawn")
@pytest.mark.timeout(150)
def test_every_claim_about_the_service_holds_under_a_real_systemd(tmp_path: Path) -> None:
    if reason := why_not():
        pytest.skip(f"no systemd of our own can be booted: {reason}")
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    found = boot(tmp_path, HERE / "inside.py", {"/opt/checks/probe.py": HERE / "probe.py"}, timeout_s=120)
    assert found["process_1"] == "systemd"
    told = "\n\n".join(f"{name}:\n{trace}" for name, trace in found["failed"].items())
    assert not found["failed"], f"{told}\n\n{found.get('journal', '')}"
    assert list(found["held"]) == [check.__name__ for check in inside.CLAIMS]
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts
