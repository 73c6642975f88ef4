"""Exports of conversations with ChatGPT and Claude: ``conversations.json``, by itself, in a folder or in a zip."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple

from shelfd.client.beginnings import begins_array, is_archive
from shelfd.client.foreign import LARGEST_ITEM, REFUSED, ForeignBatch, Unusable, as_written
from shelfd.client.formats import json_array
from shelfd.client.formats.entries import EntryFile
from shelfd.client.formats.moments import moment
from shelfd.client.transport import as_json

FILE_NAME: Final = "conversations.json"
#: What a file in a zip may become, and how many times its size there.
_LARGEST: Final = 16 * 1024**3
_MOST_TIMES: Final = 200
_SMALL: Final = 64 * 1024 * 1024
_FILES: Final = 10_000
_MESSAGES: Final = 200
_DEEPEST: Final = 100_000
_SESSION_CHARACTERS: Final = 128
_LOOKED_AT: Final = 10


class ForeignMessage(NamedTuple):
    """A message of a conversation."""

    id: str
    is_turn: bool  #: whether the assistant said it
    item: dict[str, Any]


def format_of(path: str) -> str | None:
    """Return whose conversations the file at *path* has: ``chatgpt`` or ``claude``; None if they are nobody's.

    Raises:
        Unusable: If it cannot be read.
    """
    with _opened(path) as file:
        beginning = file.read(256)
    if not begins_array(beginning):
        return None
    with _opened(path) as file:
        for member in json_array.read(file):
            if (found := _whose(member.value)) is not None or member.number >= _LOOKED_AT:
                return found
    return None


def _whose(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("mapping"), Mapping):
        return "chatgpt"
    return "claude" if isinstance(value.get("chat_messages"), list) else None


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """The file with conversations at *path*, which may be in a zip; nothing of that is written anywhere.

    Raises:
        Unusable: If it cannot be read, or would become too large.
    """
    try:
        if not is_archive(path):
            with Path(path).open("rb") as file:
                yield file
            return
        with zipfile.ZipFile(path) as archive, archive.open(_found(path, archive)) as member:
            yield member
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        why = "is encrypted" if isinstance(error, RuntimeError) else "is a damaged zip"
        raise Unusable(path, why, os.EX_DATAERR) from error


def _found(path: str, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    if len(archive.filelist) > _FILES:
        raise Unusable(path, f"is a zip of more than {_FILES} files", os.EX_DATAERR)
    found = [info for info in archive.filelist if PurePosixPath(info.filename).name == FILE_NAME and not info.is_dir()]
    if not found:
        names = ", ".join(info.filename[:32] for info in archive.filelist[:4]) or "nothing"
        raise Unusable(path, f"is a zip without {FILE_NAME}; it has {names}", os.EX_DATAERR)
    info = min(found, key=lambda one: one.filename.count("/"))
    if info.file_size > _LARGEST or info.file_size > max(_SMALL, info.compress_size * _MOST_TIMES):
        raise Unusable(
            path, f"{FILE_NAME} in it would become {info.file_size} bytes, which no export is", os.EX_DATAERR
        )
    return info


class Conversations(EntryFile):
    """A file of conversations. Each is a session; of one that branches, what is shown is taken."""

    unit = "conversation"

    def __init__(self, path: str, header: Mapping[str, Any], format_: str) -> None:
        super().__init__(path, header)
        self.format = format_

    def count(self) -> int:
        """Return 0: it is not known before it is read."""
        return 0

    def entries(self, part: str) -> Iterator[Any]:  # noqa: ARG002
        """Return nothing: the items of a conversation go together."""
        return iter(())

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over messages, some at a time, each time behind the turns that they are of.

        Raises:
            Unusable: If it cannot be read.
        """
        with _opened(self.path) as file:
            for member in json_array.read(file):
                whose = _whose(member.value)
                if member.why or whose != self.format:
                    self._reject(member.number, member.why or f"is no conversation of {self.format}")
                    continue
                yield from self._conversation(member.number, member.value)

    def _conversation(self, number: int, conversation: Mapping[str, Any]) -> Iterator[ForeignBatch]:
        id_ = conversation.get("conversation_id") or conversation.get("id") or conversation.get("uuid")
        title = conversation.get("title") or conversation.get("name")
        if not isinstance(id_, str) or not id_.strip():
            self._reject(number, "has no id")
            return
        header = {**self._header, "session_id": id_.strip()[:_SESSION_CHARACTERS]}
        if isinstance(title, str) and title.strip():
            header["title"] = " ".join(title.split())[:500]
        read = _of_chatgpt if self.format == "chatgpt" else _of_claude
        batch = ForeignBatch(self.path, "notes", header, [], [], [], self.unit)
        turn = counted = 0
        for message in read(conversation, self, number):
            item = {**message.item, "id": message.id, "turn": turn + 1}
            turn += message.is_turn
            written = as_written(item)
            if written is None or len(written) > LARGEST_ITEM:
                self._reject(number, "a message cannot be sent: too large, or no text")
                continue
            batch.add(item, number, written)
            if len(batch.items) == _MESSAGES:
                last = batch.items[-1]["turn"]
                yield _turns(batch, counted, last)
                yield batch
                counted = max(counted, last)
                batch = batch._replace(items=[], indexes=[], written=[])
        if batch.items:
            yield _turns(batch, counted, batch.items[-1]["turn"])
            yield batch

    def _reject(self, number: int, why: str) -> None:
        self.rejected.append({"index": number, "error": {**REFUSED, "message": why}})


def _turns(batch: ForeignBatch, counted: int, last: int) -> ForeignBatch:
    item = {"turns": [min(counted, last) + 1, last]}
    return batch._replace(part="sessions", items=[item], indexes=[batch.indexes[0]], written=[as_json(item)])


def _of_chatgpt(conversation: Mapping[str, Any], file: EntryFile, number: int) -> Iterator[ForeignMessage]:
    """The messages from the first one to the one that is shown last, along the branch that is shown."""
    nodes = conversation["mapping"]
    at = conversation.get("current_node")
    if at not in nodes:
        leaves = [name for name, node in nodes.items() if isinstance(node, Mapping) and not node.get("children")]
        at = leaves[-1] if leaves else None
    path: list[Mapping[str, Any]] = []
    while isinstance(at, str) and isinstance(node := nodes.get(at), Mapping) and len(path) < _DEEPEST:
        path.append(node)
        at = node.get("parent")
    if sum(1 for node in nodes.values() if isinstance(node, Mapping) and node.get("message")) > sum(
        1 for node in path if node.get("message")
    ):
        file.leave_out("notes", "branches", "of alternatives only those that are shown are taken", [number])
    for node in reversed(path):
        message = node.get("message")
        if isinstance(message, Mapping) and (said := _message(message, node, file, number)) is not None:
            yield said


def _message(
    message: Mapping[str, Any], node: Mapping[str, Any], file: EntryFile, number: int
) -> ForeignMessage | None:
    author, content, about = (message.get(name) for name in ("author", "content", "metadata"))
    role = author.get("role") if isinstance(author, Mapping) else None
    if role not in ("user", "assistant") or not isinstance(content, Mapping):
        if role == "tool":
            file.leave_out("notes", "tool", "what tools said is left out", [number])
        return None
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation"):
        return None
    if content.get("content_type") not in ("text", "multimodal_text", None):
        file.leave_out("notes", "content", "what is neither text nor a picture's text is left out", [number])
        return None
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if isinstance(parts, list) and len(texts) < len(parts):
        file.leave_out("notes", "attachments", "files and pictures are left out", [number])
    return _said(message.get("id") or node.get("id"), role == "assistant", "\n".join(texts), message.get("create_time"))


def _of_claude(conversation: Mapping[str, Any], file: EntryFile, number: int) -> Iterator[ForeignMessage]:
    for message in conversation["chat_messages"]:
        if not isinstance(message, Mapping):
            continue
        blocks = message.get("content")
        blocks = [one for one in blocks if isinstance(one, Mapping)] if isinstance(blocks, list) else []
        texts = [one["text"] for one in blocks if one.get("type") == "text" and isinstance(one.get("text"), str)]
        if any(one.get("type") not in ("text", None) for one in blocks):
            file.leave_out("notes", "content", "thoughts and uses of tools are left out", [number])
        if message.get("attachments") or message.get("files"):
            file.leave_out("notes", "attachments", "files and pictures are left out", [number])
        text = message.get("text") if not texts else "\n".join(texts)
        is_turn = message.get("sender") == "assistant"
        said = _said(message.get("uuid"), is_turn, text if isinstance(text, str) else "", message.get("created_at"))
        if said is not None:
            yield said


def _said(id_: object, is_turn: bool, text: str, at: object) -> ForeignMessage | None:
    if not isinstance(id_, str) or not text.strip():
        return None
    item: dict[str, Any] = {"text": text, "author": "assistant" if is_turn else "user"}
    if (when := moment(at)) is not None:
        item["created_at"] = when
    return ForeignMessage(id_, is_turn, item)
