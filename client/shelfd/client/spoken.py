"""What was said in conversations that were imported, in the shape of ``session.extract``."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from shelfd.client.foreign import ForeignBatch
from shelfd.client.transcript import LONGEST_TEXT


def conversations(batches: Iterable[ForeignBatch]) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Iterate over the conversations that batches of their messages are of, and what was said in each.

    Each has to be gone through before the next. Hidden messages are left out, and alternatives that are not shown.
    """
    notes = (batch for batch in batches if batch.part == "notes" and batch.header.get("session_id"))
    for session_id, found in groupby(notes, key=lambda batch: str(batch.header["session_id"])):
        yield session_id, _said(found)


def _said(batches: Iterable[ForeignBatch]) -> Iterator[dict[str, Any]]:
    shown = 0  # the turn whose assistant has spoken: what else comes of it is an alternative
    for item in (item for batch in batches for item in batch.items):
        said = _message(item)
        if said is None or said["turn"] == shown:
            continue
        if "variant" in item:
            shown = item["turn"]
        if len(said["text"].encode(errors="replace")) <= LONGEST_TEXT:
            yield said


def _message(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """One message; None if it is hidden, or only noted by the program."""
    message = item.get("message")
    if isinstance(message, Mapping):
        role = "user" if message.get("is_user") is True else "assistant"
        text, is_hidden = message["mes"], bool(message.get("is_system"))
    else:
        role, text, is_hidden = item["author"], item["text"], bool(item.get("hidden"))
    return None if is_hidden else {"turn": item["turn"], "role": role, "text": text}
