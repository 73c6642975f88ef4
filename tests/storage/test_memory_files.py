"""Where each shelf's MEMORY.md is, and how one is replaced on disk."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shelfd.memory.errors import ConfigError, Unavailable
from shelfd.memory.tending.promotion import LeftAlone, Target
from shelfd.storage import Destination, DiskMemoryFiles, PromotionPaths
from shelfd.storage.memory_files import read_file, replace_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "MEMORY.md"


def paths(tmp_path: Path, default: Destination | None = None, **shelves: Destination) -> PromotionPaths:
    return PromotionPaths(tmp_path / "data", tmp_path / "home", default or Destination(), shelves)


def names(directory: Path) -> list[str]:
    return [entry.name for entry in directory.iterdir()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ------------------------------------------------------------------ where


def test_a_shelf_without_a_setting_has_its_file_beside_its_notes(tmp_path: Path) -> None:
    assert paths(tmp_path).target("team", None) == Target(str(tmp_path / "data/shelves/team/MEMORY.md"))


def test_a_configured_path_needs_its_directory(tmp_path: Path) -> None:
    places = paths(tmp_path, Destination(path=str(tmp_path / "notes" / "agent.md")))
    missing = places.target("default", None)
    assert missing.path is None
    assert "promotion.path" in (missing.reason or "")

    (tmp_path / "notes").mkdir()
    assert places.target("default", None) == Target(str(tmp_path / "notes" / "agent.md"))


def test_home_may_be_written_as_a_tilde(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert paths(tmp_path, Destination(path="~/M.md")).target("default", None) == Target(str(tmp_path / "home/M.md"))


@pytest.mark.parametrize(
    ("project", "folder"),
    [
        ("/srv/app", "-srv-app"),
        ("/srv/app/", "-srv-app"),
        ("//srv//./app", "-srv-app"),
        ("/srv/x/../app", "-srv-app"),
        ("/srv/../../etc", "-etc"),
        ("/my.app/ä b", "-my.app-ä b"),
    ],
)
def test_a_project_folder_is_named_after_its_directory(tmp_path: Path, project: str, folder: str) -> None:
    projects = tmp_path / "home" / ".claude" / "projects"
    expected = projects / folder / "memory" / "MEMORY.md"
    missing = paths(tmp_path).target("default", project)
    assert missing == Target(None, f"there is no project folder ~/.claude/projects/{folder}; nothing was written")
    assert str(tmp_path) not in (missing.reason or "")

    (projects / folder).mkdir(parents=True)
    assert paths(tmp_path).target("default", project) == Target(str(expected))
    assert paths(tmp_path, Destination(project_dir=project)).target("default", None) == Target(str(expected))


def test_a_project_with_an_impossible_name_has_no_folder(tmp_path: Path) -> None:
    assert paths(tmp_path).target("default", "/" + "x" * 300).path is None


def test_two_shelves_on_one_file_are_refused(tmp_path: Path) -> None:
    one = Destination(path=str(tmp_path / "M.md"))
    with pytest.raises(ConfigError, match="'default' and 'work' would write to one file"):
        paths(tmp_path, one, work=one).check()


@pytest.mark.parametrize("other", ["x/../M.md", "link/M.md"])
def test_also_if_they_are_spelled_differently(tmp_path: Path, other: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="one file"):
        paths(tmp_path, Destination(path=f"{tmp_path}/M.md"), work=Destination(path=f"{tmp_path}/{other}")).check()


def test_the_place_beside_another_shelfs_notes_is_taken(tmp_path: Path) -> None:
    beside = Destination(path=str(tmp_path / "data/shelves/other/MEMORY.md"))
    with pytest.raises(ConfigError, match="'other' and 'default'"):
        paths(tmp_path, beside).check()
    paths(tmp_path, beside, other=Destination(path=str(tmp_path / "else.md"))).check()


@pytest.mark.parametrize(
    ("destination", "complaint"),
    [
        (Destination("/a", "/b"), "not both"),
        (Destination(path="relative.md"), "path must be absolute"),
        (Destination(project_dir="src/app"), "project_dir must be absolute"),
    ],
)
def test_a_destination_that_makes_no_sense_is_refused(tmp_path: Path, destination: Destination, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        paths(tmp_path, destination).check()


def test_a_listed_project_is_an_absolute_directory(tmp_path: Path) -> None:
    relative = PromotionPaths(tmp_path / "data", tmp_path / "home", projects=("~/app", "src/app"))
    with pytest.raises(ConfigError, match=r"promotion\.projects: 'src/app' must be absolute"):
        relative.check()


def test_a_project_is_open_when_its_file_is_that_of_one_that_is_listed(tmp_path: Path) -> None:
    listed = PromotionPaths(tmp_path / "data", tmp_path / "home", projects=("/srv/app", "~/x"))
    assert all(listed.is_open(project) for project in ("/srv/app", "/srv//app/", "/srv/app-2/../app", "/srv-app"))
    assert listed.is_open(f"{tmp_path}/home/x")
    assert not any(listed.is_open(project) for project in ("/srv", "/srv/app/sub", "/srv/app/../other", "/x"))


def test_different_files_are_fine(tmp_path: Path) -> None:
    paths(tmp_path, Destination(path="/a.md"), work=Destination(project_dir="/a"), home=Destination()).check()


# ----------------------------------------------------------------- reading


def test_no_file_is_none(file: Path) -> None:
    assert read_file(str(file)) is None


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    pipe, directory = tmp_path / "pipe", tmp_path / "directory"
    os.mkfifo(pipe)
    directory.mkdir()
    for path in (pipe, directory):
        with pytest.raises(LeftAlone, match="not a regular file"):
            read_file(str(path))
        with pytest.raises(LeftAlone, match="not a regular file"):
            replace_file(str(path), None, b"new")
    assert names(directory) == []
    assert sorted(names(tmp_path)) == ["directory", "pipe"]


def test_what_is_too_large_is_left_alone(tmp_path: Path) -> None:
    large = tmp_path / "MEMORY.md"
    large.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(LeftAlone, match="larger"):
        read_file(str(large))


# ----------------------------------------------------------------- writing


def test_a_new_file_is_private_and_so_is_its_directory(file: Path) -> None:
    assert replace_file(str(file), None, b"new")

    assert read_file(str(file)) == b"new"
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    assert names(file.parent) == ["MEMORY.md"]


def test_an_existing_one_keeps_its_mode(file: Path) -> None:
    replace_file(str(file), None, b"old")
    file.chmod(0o664)
    assert replace_file(str(file), b"old", b"new")

    assert (file.read_bytes(), mode(file)) == (b"new", 0o664)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_and_its_owner(file: Path) -> None:
    replace_file(str(file), None, b"old")
    os.chown(file, 1234, 5678)
    replace_file(str(file), b"old", b"new")

    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 5678)


def test_what_was_written_meanwhile_is_kept(file: Path) -> None:
    replace_file(str(file), None, b"old")
    file.write_bytes(b"by a person")

    assert not replace_file(str(file), b"old", b"new")
    assert not replace_file(str(file), None, b"new")
    assert file.read_bytes() == b"by a person"
    file.unlink()
    assert not replace_file(str(file), b"old", b"new")
    assert names(file.parent) == []


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "memory.md", tmp_path / "MEMORY.md"
    real.parent.mkdir()
    link.symlink_to("dotfiles/memory.md")

    assert replace_file(str(link), None, b"one")
    assert replace_file(str(link), b"one", b"two")
    assert link.is_symlink()
    assert real.read_bytes() == b"two"
    assert names(real.parent) == ["memory.md"]


def test_a_link_that_leads_to_itself_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "MEMORY.md"
    link.symlink_to("MEMORY.md")
    with pytest.raises(Unavailable):
        read_file(str(link))
    with pytest.raises(Unavailable):
        replace_file(str(link), None, b"new")
    assert names(tmp_path) == ["MEMORY.md"]


@contextmanager
def nobody() -> Iterator[Path]:
    """A directory one may read and not write, and the rights of one who is not root."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        directory = Path(made)
        (directory / "MEMORY.md").write_bytes(b"old")
        (directory / "MEMORY.md").chmod(0o644)
        directory.chmod(0o555)
        was_root = os.geteuid() == 0
        if was_root:
            os.seteuid(65534)
        try:
            yield directory
        finally:
            if was_root:
                os.seteuid(0)
            directory.chmod(0o755)


def test_a_directory_that_cannot_be_written_is_a_clear_error() -> None:
    with nobody() as directory:
        file = directory / "MEMORY.md"
        with pytest.raises(Unavailable, match=r"cannot be written: .*let the daemon's user write") as raised:
            replace_file(str(file), b"old", b"new")
        with pytest.raises(Unavailable):
            replace_file(str(directory / "memory" / "MEMORY.md"), None, b"new")

    assert str(directory) not in raised.value.message + str(raised.value.data)


async def test_the_disk_is_read_and_written_off_the_loop(tmp_path: Path) -> None:
    files = DiskMemoryFiles(paths(tmp_path, Destination(path=str(tmp_path / "M.md"))))
    target = await files.target("default", None)
    assert target.path is not None

    assert await files.read(target.path) is None
    assert await files.replace(target.path, None, b"new")
    assert await files.read(target.path) == b"new"
