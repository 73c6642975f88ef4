"""Methods on sessions: conversations, known by the ids their callers gave them."""

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Count, NuggetName, PageParams, Positive, Result, Token, Word
from shelfd.protocol.note import Timestamp
from shelfd.protocol.registry import define


class SessionOpenParams(ChangeParams):
    """Params of ``session.open``."""

    session_id: Token = Field(description="The conversation's id, chosen by the caller and unique in the shelf.")
    nugget: NuggetName = Field(
        default="memory", description="Whose notes it works on; a session that is there keeps its own if none is given."
    )
    actor: Word | None = Field(default=None, description="Who talks, for those who look at sessions later.")
    at_seq: Count | None = Field(
        default=None,
        description="Freeze it: its reads show the shelf as it was after this change, and it cannot write.",
    )
    turn: Positive | None = Field(default=None, description="The turn the conversation has come to, from 1.")


class SessionOpenResult(Result):
    """The open session."""

    session_id: str
    nugget: str
    seq: int = Field(description="The shelf's last change, or the one the session is frozen at.")
    opened: bool = Field(description="Whether it was not open before.")
    last_turn: int | None = Field(default=None, description="The highest turn of it that is known.")
    replayed: bool | None = None


class SessionCloseParams(ChangeParams):
    """Params of ``session.close``."""

    session_id: Token


class SessionCloseResult(Result):
    """Whether it was open."""

    session_id: str
    closed: bool
    replayed: bool | None = None


class SessionListParams(PageParams):
    """Params of ``session.list``."""

    nugget: NuggetName | None = None
    include_closed: bool = Field(default=False, description="Those too that were closed, or not used for 30 days.")


class SessionView(Result):
    """A session."""

    session_id: str
    nugget: str
    open: bool
    opened_at: Timestamp
    last_used_at: Timestamp = Field(description="To an hour if it writes, to a day if it only reads.")
    actor: str | None = None
    at_seq: int | None = None
    closed_at: Timestamp | None = None
    last_turn: int | None = None


class SessionListResult(Result):
    """Sessions by id."""

    sessions: list[SessionView]
    next_cursor: str | None = None


define("session.open", SessionOpenParams, SessionOpenResult, need="write", summary="Open a session, or open it again.")
define("session.close", SessionCloseParams, SessionCloseResult, need="write", summary="Close a session.")
define("session.list", SessionListParams, SessionListResult, need="read", summary="Sessions of the shelf.")
