"""docs/mqtt.md does what it says: its examples are run, one after another, and print what it shows."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from running import Daemon
from shelfd.client import connect

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mqtt.md"
_EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def test_every_example_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = _EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(examples) == 2
    names: dict[str, Any] = {}
    with Daemon(tmp_path, "--embedded-broker") as daemon:
        with connect(daemon.socket) as client:
            while (broker := client.call("system.health")["mqtt"])["state"] != "connected":
                assert broker["state"] == "connecting"
            monkeypatch.setenv("PASSWORD", (daemon.data / "broker" / "agent.password").read_text().strip())
            monkeypatch.setenv("PORT", broker["url"].rpartition(":")[2])
        for code, shown in examples:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, str(PAGE), "exec"), names)
            assert (code, printed.getvalue()) == (code, shown)
