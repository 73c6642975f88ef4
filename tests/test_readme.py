"""README's examples are held to what they do; this holds what does that to its own word."""

import importlib.util
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = """\
Say:

```sh
echo note-memory-0badcafe; echo '2026-11-22 03:30:34+00:00'
```

```text
note-memory-12345678
2025-01-01 09:00:00+01:00
```

<!-- needs: no-such-command -->
```sh
no-such-command
```

```text
stays
```

```python
print("two", 1 + 1)
```

```text
two 3
```
"""


@pytest.fixture
def readme(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CHECKOUT / "docs"))
    # The page exports this; a machine with nothing on it has no "python" otherwise.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    spec = importlib.util.spec_from_file_location("readme", CHECKOUT / "docs" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "readme", module)
    spec.loader.exec_module(module)
    return module


def normalised(text: str) -> str:
    """*text* without what may differ from run to run; it is one of all pages."""
    shown: str = import_module("transcript").normalised(text)
    return shown


def test_what_came_of_it_replaces_what_stood_there(readme: ModuleType) -> None:
    new = readme.written(PAGE, readme.run(list(readme.blocks(PAGE))))
    assert "```text\nnote-memory-0badcafe\n2026-11-22 03:30:34+00:00\n```" in new
    assert "```text\nstays\n```" in new
    assert "```text\ntwo 2\n```" in new
    assert re.sub(r"(?s)```text\n.*?```", "", new) == re.sub(r"(?s)```text\n.*?```", "", PAGE)


def test_only_what_differs_each_time_may_differ(readme: ModuleType) -> None:
    new = readme.written(PAGE, readme.run(list(readme.blocks(PAGE))))
    assert normalised(new) == normalised(PAGE.replace("two 3", "two 2"))
    assert normalised(new) != normalised(PAGE)


def test_no_command_holds_an_id_that_only_one_machine_has(readme: ModuleType) -> None:
    page = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    found = list(readme.blocks(page))
    assert len(found) > 10
    assert not [block.code for block in found if normalised(block.code) != block.code and "ID" in block.code]
    assert not [block.code for block in found if re.search(r"(note|fact|run)-\w*-?[0-9a-f]{8}", block.code)]
    # Nothing that is not run: every fenced block is commands, output, or marked.
    assert set(re.findall(r"(?m)^```(\w+)$", page)) <= {"sh", "python", "text"}
