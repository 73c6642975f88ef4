"""An upgrade: shelves that an older version wrote are brought up to date, each after a copy of it was made."""

from pathlib import Path

from running import Daemon
from storage.test_copies import COPY, OLD, old_shelf


async def test_an_upgrade_migrates_after_an_automatic_copy_and_there_is_a_way_back(tmp_path: Path) -> None:
    await old_shelf(tmp_path / "data" / "shelves")
    (tmp_path / "data").chmod(0o700)
    with Daemon(tmp_path) as daemon:
        assert daemon.call("shelf.backup", shelf="work")["backup"]["schema_version"] > OLD
        assert [note["content"] for note in daemon.call("note.list", shelf="work")["notes"]] == ["What n1 says"]
        assert (daemon.data / "shelves" / "work" / COPY).is_file()
        findings = {one["check"]: one for one in daemon.call("system.doctor")["findings"]}
        assert f"work/{COPY}" in findings["copies"]["detail"]
        assert daemon.call("shelf.check", shelf="work")["problems"] == []
