"""Rare fields in a file and in its log, in the form that files have had them from the first version on."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from contract.samples import create, edit
from fakes import FakeClock
from shelfd.memory.log.history import at_rev, changed_values, with_log
from shelfd.memory.notes.note import NO_EXTRA, Extra, Imported, Provenance
from shelfd.storage import SqliteStores

#: Each rare field as the first version wrote it, and what that is now.
FIELDS: list[tuple[dict[str, Any], Extra]] = [
    ({}, NO_EXTRA),
    ({"source_key": "Wi-Fi", "source_type": "document"}, Extra(source_key="Wi-Fi", source_type="document")),
    ({"ttl_days": 7, "aliases": ["a", "b"]}, Extra(ttl_days=7, aliases=("a", "b"))),
    ({"fields": {"x": [1, None]}, "rendered": True}, Extra(fields={"x": [1, None]}, rendered=True)),
    ({"derived_tags": ["t"], "dropped_tags": ["u"]}, Extra(derived_tags=("t",), dropped_tags=("u",))),
    (
        {"provenance": [{"from": "n2", "lines": ["12"]}, {"from": "n3", "lines": [], "names": ["34"]}]},
        Extra(provenance=(Provenance("n2", ("12",)), Provenance("n3", (), ("34",)))),
    ),
    (
        {"imported": {"format": "nuggets", "nugget": "x", "note": {"title": "ab"}, "id": "5", "as": "6"}},
        Extra(imported=Imported("nuggets", "x", {"note": {"title": "ab"}}, "5", "6")),
    ),
    ({"last_rewritten_at": 5, "promoted_at": 6}, Extra(last_rewritten_at=5, promoted_at=6)),
]


def _file(root: Path) -> Path:
    return next(root.rglob("*.db"))


@pytest.mark.parametrize(("old", "extra"), FIELDS)
async def test_an_older_files_rows_and_log_are_read(tmp_path: Path, old: dict[str, Any], extra: Extra) -> None:
    stores = SqliteStores(tmp_path, clock=FakeClock())
    store = await stores.create("work", owner="uid:1")
    await store.commit(create("n1"))
    await store.commit(edit("n1", content="other", extra=Extra(aliases=("new",))))
    await store.close()
    before = {"content": "What n1 says", "tags": ["t"], "extra": old}
    with sqlite3.connect(_file(tmp_path)) as file:
        file.execute("UPDATE note SET extra = ?", (json.dumps(old | {"aliases": ["new"]}),))
        file.execute("UPDATE change SET before = ? WHERE kind = 'note.updated'", (json.dumps(before),))
    file.close()

    store = await stores.open("work")
    found = with_log(store.view, "n1")
    await store.close()

    assert found is not None
    note, log = found
    assert note.extra == extra._replace(aliases=("new",))
    assert (log[1].before or {})["extra"] == extra
    was = at_rev(note, reversed(log), 1)
    assert was is not None
    assert (was.content, was.tags, was.extra) == ("What n1 says", ("t",), extra)
    assert changed_values(log[1].before or {}, note)["aliases"] == ("new",)


@pytest.mark.parametrize(("old", "extra"), FIELDS)
async def test_they_are_written_as_ever(tmp_path: Path, old: dict[str, Any], extra: Extra) -> None:
    store = await SqliteStores(tmp_path, clock=FakeClock()).create("work", owner="uid:1")
    await store.commit(create("n1", extra=extra))
    await store.commit(edit("n1", extra=NO_EXTRA if extra else Extra(aliases=("x",))))
    await store.close()

    with sqlite3.connect(_file(tmp_path)) as file:
        (rows,) = file.execute("SELECT before FROM change WHERE before IS NOT NULL").fetchone()
    file.close()
    assert json.loads(rows) == {"extra": old}
