"""Which of these formats a file or folder is of, and how it is read.

What reads a format is imported where it is needed: all of them take longer than a command may.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from shelfd.client.beginnings import is_archive, is_array, is_database
from shelfd.client.foreign import Unusable
from shelfd.client.formats.entries import EntryFile

VAULTS: Final = ("markdown", "basic-memory", "claude-code")
#: In which nugget notes go of memories that have one file for all, unless another one is asked for.
_USUAL: Final = {"mem0": "memory", "mcp-memory": "memory", "mcp-memory-service": "memory"}
#: What a memory's file is called in its folder.
_FILES: Final = ("conversations.json", "memory.jsonl", "memory.json", "history.db", "sqlite_vec.db")


def find_in(folder: str, asked: str | None) -> tuple[str, str | None] | None:
    """Return what is to be read in a folder, and its format if the folder says it; None if there is nothing.

    Raises:
        Unusable: If it cannot be read.
    """
    from shelfd.client.formats import vault

    if asked in VAULTS:
        return folder, asked
    there = next((path for name in _FILES if (path := Path(folder, name)).is_file()), None)
    if there is not None and not Path(folder, "MEMORY.md").is_file():
        return str(there), None
    found = vault.format_of(folder) if asked is None else None
    return None if found is None else (folder, found)


def of_database(path: str) -> str | None:
    """Return of which format a SQLite file is; None if it is of none of these.

    Raises:
        Unusable: If it cannot be read.
    """
    from shelfd.client import sqlite_file
    from shelfd.client.formats import mem0, memory_service

    if sqlite_file.columns(path, "memories") >= memory_service.NEEDED:
        return "mcp-memory-service"
    return "mem0" if sqlite_file.columns(path, "history") >= mem0.NEEDED else None


def of_text(path: str, *, is_mapped: bool) -> str | None:
    """Return of which format any other file is, by its name and its first lines; None if it is of none of these.

    Args:
        path: Where it is.
        is_mapped: Whether it was said what its columns are.

    Raises:
        Unusable: If it cannot be read.
    """
    name = path.lower()
    if name.endswith((".csv", ".tsv")):
        return "csv"
    if name.endswith((".md", ".markdown")):
        from shelfd.client.formats import vault

        return "claude-code" if Path(path).name in vault.POINTS else "markdown"
    if is_archive(path) or is_array(path):
        return _of_documents(path, is_mapped=is_mapped)
    from shelfd.client.formats import mcp_memory

    if mcp_memory.is_graph(path):
        return "mcp-memory"
    return "jsonl" if is_mapped else None


def _of_documents(path: str, *, is_mapped: bool) -> str | None:
    """Of which format a zip or an array is."""
    from shelfd.client.formats import conversations, records

    found = conversations.format_of(path)
    if found is None and is_archive(path):
        raise Unusable(path, f"{conversations.FILE_NAME} in it holds no conversations", os.EX_DATAERR)
    return found or records.format_of(path, is_mapped=is_mapped)


def opened(path: str, format_: str, nugget: str | None, mapping: Mapping[str, str]) -> EntryFile:
    """Return what reads a file or folder.

    Args:
        path: Where it is.
        format_: Its format.
        nugget: Where its notes go, if that was asked for.
        mapping: What its columns become.
    """
    header = _header(path, format_, nugget)
    if format_ in VAULTS:
        from shelfd.client.formats.vault import Vault

        return Vault(path, header, format_)
    if format_ in ("jsonl", "csv"):
        from shelfd.client.formats.records import RecordFile

        return RecordFile(path, header, format_, mapping)
    if format_ in ("chatgpt", "claude"):
        from shelfd.client.formats.conversations import Conversations

        return Conversations(path, header, format_)
    if format_ == "mem0":
        from shelfd.client.formats.mem0 import Mem0Export, Mem0Store

        return (Mem0Store if is_database(path) else Mem0Export)(path, header)
    return _of_server(path, format_, header)


def _of_server(path: str, format_: str, header: Mapping[str, Any]) -> EntryFile:
    if format_ == "mcp-memory":
        from shelfd.client.formats.mcp_memory import McpGraph

        return McpGraph(path, header)
    from shelfd.client.formats.memory_service import MemoryService

    return MemoryService(path, header)


def _header(path: str, format_: str, nugget: str | None) -> dict[str, Any]:
    """What distinguishes a memory from others of its kind, and where its notes go."""
    place = Path(os.path.abspath(path))  # noqa: PTH100
    if format_ in VAULTS:
        folder = place if place.is_dir() else place.parent
        space = (folder.parent if folder.name == "memory" else folder).name
    else:
        space = place.name.partition(".")[0] or place.name
    usual = "memory" if format_ in _USUAL else format_ if format_ in ("chatgpt", "claude") else None
    header: dict[str, Any] = {"space": space.encode(errors="replace").decode() or "files"}
    if usual is not None:
        header["usual"] = usual
    if nugget is not None:
        header |= {"space": f"{header['space']}/{nugget}", "nugget": nugget}
    return header
