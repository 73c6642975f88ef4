"""docs/python.md does what it says: its examples are run, one after another, and print what it shows."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from running import Daemon

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
_EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_every_example_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = _EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(examples) > 5
    names: dict[str, Any] = {}
    with Daemon(tmp_path) as daemon:
        monkeypatch.setenv("SHELFD_SOCKET", daemon.socket)
        for code, shown in examples:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, str(PAGE), "exec"), names)
            assert (code, printed.getvalue()) == (code, shown)
        names["memory"].close()
        names["get_memory_manager"].cache_clear()
