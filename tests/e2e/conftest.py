"""A daemon for tests that need no more than one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from running import Daemon


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A running daemon on an empty directory."""
    with Daemon(tmp_path) as running:
        yield running
