"""Withdrawing: a purged note's lines leave MEMORY.md, and what a person made of one is named."""

from collections.abc import Awaitable, Callable

from fakes import Api
from memory_file import MemoryFile

Known = Callable[..., Awaitable[str]]


async def test_only_the_purged_note_s_line_goes(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await known("green", key="user:kettle")
    await api.call("promote")
    await known("not promoted yet", key="user:later")
    file.append(b"\nMine.\n")
    before = file.text
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == []
    assert file.text == before.replace("- **user:combination**: 4711-secret\n", "")
    assert "later" not in file.text  # a purge promotes nothing


async def test_a_line_that_a_person_changed_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await api.call("promote")
    file.write(file.data.replace(b": 4711-secret", b": 4711-secret, changed by me"))
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == [str(file)]
    assert "changed by me" in file.text


async def test_a_file_that_cannot_be_written_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await api.call("promote")
    file.remove()
    file.path.mkdir()  # whoever runs the tests may write anywhere: a directory stops everybody
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == [str(file)]


async def test_a_note_that_was_never_promoted_touches_no_file(api: Api, known: Known, file: MemoryFile) -> None:
    await known("green", key="user:kettle")
    await api.call("promote")
    stamp = file.stamp
    note = await api.remember("never promoted")
    await api.call("forget", id=note["id"], purge=True)
    assert file.stamp == stamp


async def test_the_line_of_the_note_it_was_merged_into_follows(api: Api, known: Known, file: MemoryFile) -> None:
    target = await known("the harbour opens at six", title="harbour")
    source = await api.remember("its code is 4711-secret")
    await api.call("note.merge", target=target, source=source["id"])
    await api.call("promote")
    assert "- **harbour**: the harbour opens at six its code is 4711-secret\n" in file.text
    result = await api.call("forget", id=source["id"], purge=True)

    assert result["still_in"] == []
    assert "- **harbour**: the harbour opens at six\n" in file.text


async def test_a_changed_line_of_the_note_it_was_merged_into_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    target = await known("the harbour opens at six", title="harbour")
    source = await api.remember("its code is 4711-secret")
    await api.call("note.merge", target=target, source=source["id"])
    await api.call("promote")
    file.write(file.data.replace(b"at six", b"at seven"))
    result = await api.call("forget", id=source["id"], purge=True)

    assert result["still_in"] == [str(file)]
    assert "at seven its code is 4711-secret" in file.text
