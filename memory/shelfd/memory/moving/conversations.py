"""Conversations with assistants: a message becomes a note, as it was said.

A turn is a message of the assistant that has text, with what was said to it before.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.chats import LAST_TURN, chat_of, read_turns, weigh
from shelfd.memory.moving.placing import CHAT, identity, named_id
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, past
from shelfd.memory.moving.record import NoteRecord
from shelfd.memory.notes.inference import Traits, infer
from shelfd.memory.notes.note import EMPTY, NO_EXTRA
from shelfd.memory.notes.text import tidy_content
from shelfd.protocol.base import Content, Title, Word

_WORD: Final = TypeAdapter[str](Word)
_CONTENT: Final = TypeAdapter[str](Content)
_TITLE: Final = TypeAdapter[str](Title)
_SAYS: Final = frozenset({"content", "hidden", "turn", "origin"})


def read_message(given: object, origin: ItemOrigin) -> NoteRecord:
    """Read a message: its ``id`` in the conversation, ``text``, ``author``, ``created_at``, ``hidden``, and ``turn``.

    The header may name the conversation's ``title``.
    """
    item = Item(given, origin.limits)
    chat = chat_of(item, origin)
    turn, name = item.take("turn"), item.take("id")
    if type(turn) is not int or turn < 1:
        raise InvalidParams("turn: is no turn", field="turn")
    if not isinstance(name, str) or not name:
        raise InvalidParams("id: is no text", field="id")
    if turn > LAST_TURN:
        item.record_loss("turn", f"is later than turn {LAST_TURN}, and left out")
        turn = None
    content = tidy_content(str(_CONTENT.validate_python(item.take("text"), strict=True, context=origin.limits)))
    said_at = past(item, "created_at", item.instant("created_at"), origin)
    return NoteRecord(
        id=None,
        identity=identity(chat, name),
        has_id=False,
        nugget=chat.nugget,
        origin=chat.session_id,
        kind="note",
        title="",
        content=content,
        tags=(),
        traits=infer("note", "", content, (), Traits(type="conversation")),
        says=_SAYS,
        archived_at=origin.now if item.flag("hidden") else None,
        created_at=origin.now if said_at is None else said_at,
        updated_at=origin.now if said_at is None else said_at,
        extra=NO_EXTRA._replace(level="episodic", fields=_fields(origin)),
        author=item.checked(_WORD, "author"),
        occurred_at=said_at,
        chat=chat,
        turn=turn,
        last_turn=turn,
        losses=item.all_losses(),
    )


def _fields(origin: ItemOrigin) -> Mapping[str, Any]:
    """What is known of the conversation: its title."""
    try:
        title = _TITLE.validate_python(origin.header.get("title"), context=origin.limits)
    except ValidationError:
        return EMPTY
    return {"conversation": title} if title else EMPTY


def id_of(item: object, origin: ItemOrigin) -> str | None:
    """Return the id that the note of a message gets."""
    name, session_id = (item.get("id") if isinstance(item, Mapping) else None), origin.header.get("session_id")
    if not isinstance(name, str) or not isinstance(session_id, str):
        return None
    return named_id(session_id, name, stem=CHAT)


#: Formats of such conversations.
CONVERSATIONS: Final = tuple(
    Format(name=name, readers={"sessions": read_turns, "notes": read_message}, weigh=weigh, id_of=id_of)
    for name in ("chatgpt", "claude")
)
