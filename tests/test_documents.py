"""What the documents name is there, and what there is they name."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
_READ = re.compile(r"""\b(?:environ|env)(?:\.get\(|\[)["']([A-Z_]+)["'](?!\] =)""")


def test_every_variable_that_is_read_is_on_the_page_of_settings() -> None:
    page = (CHECKOUT / "docs" / "settings.md").read_text(encoding="utf-8")
    read = {
        name
        for component in ("client", "daemon", "gateway", "models")
        for module in (CHECKOUT / component).rglob("*.py")
        for name in _READ.findall(module.read_text(encoding="utf-8"))
    }
    assert len(read) > 10
    assert {name for name in read if f"`{name}`" not in page} == set()


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (CHECKOUT / "docs" / "index.md").read_text(encoding="utf-8").split()
    pages = {page.stem for page in (CHECKOUT / "docs").glob("*.md")} - {"index"}
    assert pages - set(index) == set()
