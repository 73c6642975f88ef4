"""The files of an image: every flipped bit is found, and a crash while one is written costs nothing."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from shelfd.memory.errors import ShelfError, StorageCorrupt, StoreBusy
from shelfd.memory.ports.image import Arrays, Image
from shelfd.storage.sqlite.images import SqliteImages, image_problem

FILE = "shelf.db"


def image(seq: int, count: int = 1_000) -> Image:
    parts: dict[str, dict[str, Arrays | None]] = {
        "index": {"state": {"n": np.arange(count), "b": np.ones(7, np.uint8)}, f"only {seq}": {"n": np.arange(3)}}
    }
    return Image(seq, {"version": 1}, {"index": {}}, parts)


@pytest.fixture
def images(tmp_path: Path) -> SqliteImages:
    return SqliteImages(tmp_path / FILE)


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "index").iterdir())


async def seq_of(images: SqliteImages) -> int | None:
    found = await images.load()
    return None if found is None else found.seq


async def test_nobody_else_may_read_it(tmp_path: Path, images: SqliteImages) -> None:
    await images.save(image(1))

    assert {stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)} == {0o600}
    assert stat.S_IMODE((tmp_path / "index").stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["image.json", "*.part"])
async def test_one_that_another_user_put_there_is_not_read(tmp_path: Path, images: SqliteImages, name: str) -> None:
    await images.save(image(1))
    os.chown(next((tmp_path / "index").glob(name)), 65534, 65534)
    with pytest.raises(StorageCorrupt, match="another user's"):
        await images.load()


async def test_every_flipped_bit_is_found(tmp_path: Path, images: SqliteImages) -> None:
    await images.save(image(1, 200))
    for path in files(tmp_path):
        whole = path.read_bytes()
        for at in {0, 1, 8, 9, 40, len(whole) // 2, len(whole) - 1} & set(range(len(whole))):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << at % 8
            path.write_bytes(damaged)
            with pytest.raises(StorageCorrupt):
                await images.load()
            assert image_problem(tmp_path / FILE) is not None
        path.write_bytes(whole)

    assert await seq_of(images) == 1
    assert image_problem(tmp_path / FILE) is None


async def test_every_truncation_is_found(tmp_path: Path, images: SqliteImages) -> None:
    await images.save(image(1, 200))
    for path in files(tmp_path):
        whole = path.read_bytes()
        for length in {0, 1, 9, 64, len(whole) - 1} & set(range(len(whole))):
            path.write_bytes(whole[:length])
            with pytest.raises(StorageCorrupt):
                await images.load()
        path.write_bytes(whole + b"\0")
        with pytest.raises(StorageCorrupt):
            await images.load()
        path.write_bytes(whole)


async def test_a_file_that_is_gone_or_is_none_is_found(tmp_path: Path, images: SqliteImages) -> None:
    await images.save(image(1))
    part = next(path for path in files(tmp_path) if path.suffix == ".part")
    part.rename(tmp_path / "elsewhere")
    with pytest.raises(StorageCorrupt):
        await images.load()
    part.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ShelfError):
        await images.load()


class PowerCutError(Exception):
    """Nothing more happens."""


@pytest.mark.parametrize("call", ["fsync", "write", "replace", "unlink"])
async def test_a_crash_leaves_the_one_before_or_the_new_one(
    tmp_path: Path, images: SqliteImages, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    await images.save(image(1))
    module = Path if call in ("replace", "unlink") else os
    real = getattr(module, call)
    for last in range(8):
        left = last

        def cut(*args: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCutError
            return real(*args, **options)

        monkeypatch.setattr(module, call, cut)
        try:
            await images.save(image(2 + last))
        except PowerCutError:
            pass
        finally:
            monkeypatch.setattr(module, call, real)
        assert await seq_of(images) is not None

    await images.save(image(99))
    assert await seq_of(images) == 99
    assert len(files(tmp_path)) == 3, "what the crashes left is gone"


async def test_a_disk_that_is_full_leaves_the_one_before(
    tmp_path: Path, images: SqliteImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    await images.save(image(1))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreBusy, match="No space left"):
            await images.save(image(2))

    assert await seq_of(images) == 1
    assert str(tmp_path) not in str(await images.load())


async def test_what_a_full_disk_cut_short_takes_no_room_there(
    tmp_path: Path, images: SqliteImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.write, 3

    def full(descriptor: int, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreBusy, match="No space left"):
        await images.save(image(1))
    assert files(tmp_path) == []


async def test_what_a_crash_left_that_nothing_names_is_removed_before_anything_is_read(
    tmp_path: Path, images: SqliteImages
) -> None:
    await images.save(image(1))
    (tmp_path / "index" / "image.json").unlink()
    assert await images.load() is None
    assert not (tmp_path / "index").exists()
