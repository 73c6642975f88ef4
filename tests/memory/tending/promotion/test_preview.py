"""promotion.preview: line by line which note it is and what a promotion would do."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from fakes import Api, memory
from memory_file import MemoryFile
from shelfd.memory.tending.promotion import Promoter
from shelfd.storage import DiskMemoryFiles

Known = Callable[..., Awaitable[str]]


async def states(api: Api) -> dict[str, str]:
    return {line["note_id"]: line["status"] for line in (await api.call("promotion.preview"))["lines"]}


async def test_each_line_tells_its_note_sessions_and_since_when(api: Api, file: MemoryFile, known: Known) -> None:
    dark = await known("dark", key="user:theme", tags=["preferences"])
    await api.call("promote")
    api.clock.advance(timedelta(days=1))
    token = await known("Tokens use RS256.", sessions=5, title="token", tags=["learnings"])
    before = file.stamp

    assert await api.call("promotion.preview") == {
        "path": str(file),
        "tokens": -(-len(file.text + "\n## learnings\n\n- **token**: Tokens use RS256.\n") // 4),
        "budget_tokens": 4000,
        "lines": [
            {"note_id": token, "section": "learnings", "line": "- **token**: Tokens use RS256.", "sessions": 5,
             "since": None, "status": "new"},
            {"note_id": dark, "section": "preferences", "line": "- **user:theme**: dark", "sessions": 3,
             "since": "2026-01-01T00:00:00Z", "status": "in_file"},
        ],
    }  # fmt: skip
    assert file.stamp == before


async def test_what_people_did_to_a_line_is_said(api: Api, file: MemoryFile, known: Known) -> None:
    theme, drink, tone = await known("dark", title="theme"), await known("tea", title="drink"), await known("low")
    await api.call("promote")
    file.write(file.text.replace("**theme**: dark", "**theme**: darkest").replace("- **drink**: tea\n", "").encode())

    assert await states(api) == {theme: "edited", drink: "taken_out", tone: "in_file"}


async def test_what_is_no_longer_true_is_said(api: Api, file: MemoryFile, known: Known) -> None:
    theme, drink = await known("dark", title="theme"), await known("tea", title="drink")
    await api.call("promote")
    await api.call("note.edit", id=theme, content="light")
    await api.call("note.hide", id=drink)
    lines = {line["note_id"]: line for line in (await api.call("promotion.preview"))["lines"]}

    assert {note_id: line["status"] for note_id, line in lines.items()} == {theme: "updated", drink: "leaves"}
    assert (lines[theme]["line"], lines[drink]["line"]) == ("- **theme**: light", "- **drink**: tea")
    await api.call("promote")
    assert await states(api) == {theme: "in_file"}
    assert "tea" not in file.text


async def test_what_has_no_room_is_said(api: Api, files: DiskMemoryFiles, known: Known) -> None:
    api.service.promoter = Promoter(files, budget_tokens=60)
    short = await known("a" * 40, sessions=5)
    long = await known("b" * 400, sessions=4)
    preview = await api.call("promotion.preview")

    assert {line["note_id"]: line["status"] for line in preview["lines"]} == {short: "new", long: "fell_out"}
    assert preview["tokens"] <= preview["budget_tokens"] == 60


async def test_it_agrees_with_what_promote_does(api: Api, known: Known) -> None:
    theme, _ = await known("dark", title="theme"), await known("tea", title="drink")
    await api.call("promote")
    await api.call("note.edit", id=theme, content="light", metadata={"scope": "shared"})
    await known("new here")
    found: list[Any] = list((await states(api)).values())
    result = await api.call("promote")

    assert (found.count("new"), found.count("updated")) == (result["added"], result["updated"]) == (1, 1)


async def test_a_daemon_without_files_says_why() -> None:
    async with memory() as api:
        preview = await api.call("promotion.preview")
    assert (preview["path"], preview["lines"], preview["reason"]) == (None, [], "this daemon keeps no MEMORY.md")
