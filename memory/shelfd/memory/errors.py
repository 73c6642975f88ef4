"""What can go wrong on a shelf.

::

    ShelfError
    ├── InvalidParams
    ├── NotFound ── NoteNotFound, ChildNotFound, NuggetNotFound, ShelfNotFound, SessionNotFound, LinkNotFound
    ├── Conflict ── DuplicateNugget, DuplicateShelf, DuplicateKey, DuplicateId, NodeArchived, NodeExists,
    │                ChildHasParent, RevisionConflict, NotMergeable, IdempotencyMismatch, SessionElsewhere,
    │                SessionFrozen
    ├── Forbidden
    ├── TooLarge
    ├── QuotaExceeded
    ├── GovernanceViolation
    ├── NoEmbedder
    ├── NoLanguageModel
    ├── DeadlineExceeded
    ├── Cancelled
    ├── HistoryTrimmed
    ├── StorageCorrupt
    ├── SchemaTooNew
    ├── BackupFailed
    └── Unavailable (retryable) ── StoreBusy, ShuttingDown, BrokerUnreachable, ModelUnavailable, InvalidReply,
                                    EmbedderUnavailable

An error carries data for programs and builds its own message. Messages never hold memory text.
"""

from traceback import extract_tb
from typing import Any, ClassVar

from shelfd.protocol import NOT_AVAILABLE, Code


class ShelfError(Exception):
    """Base of every error a caller gets. ``code`` and ``retryable`` are the class's."""

    code: ClassVar[int] = Code.INTERNAL_ERROR
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **data: Any) -> None:  # noqa: ANN401
        super().__init__(message)
        self.message = message
        self.data = {key: value for key, value in data.items() if value is not None}


def error_of(error: ShelfError) -> dict[str, Any]:
    """Return the error object that describes *error* to a caller."""
    fixed = {"type": type(error).__name__, "retryable": error.retryable}
    return {"code": int(error.code), "message": error.message, "data": {**fixed, **error.data, **fixed}}


def traced(error: BaseException) -> dict[str, Any]:
    """Return what a log line says of an unforeseen *error*: its kind and place. Its message might quote a memory."""
    where = [f"{frame.name} {frame.filename}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    return {"error": type(error).__name__, "where": where[-8:]}


class InvalidParams(ShelfError):
    """A param is of the right shape and makes no sense here."""

    code = Code.INVALID_PARAMS

    def __init__(self, message: str, *, field: str | None = None, reason: str = "BAD_ARGS", **data: Any) -> None:  # noqa: ANN401
        super().__init__(message, field=field, reason=reason, **data)


class NotAvailable(InvalidParams):
    """The contract names it; this version does not have it."""

    def __init__(self, what: str, *, field: str | None = None) -> None:
        super().__init__(f"{what} is not available in this version", field=field, reason=NOT_AVAILABLE)


class NotFound(ShelfError):
    """What was named does not exist."""

    code = Code.NOT_FOUND


class NoteNotFound(NotFound):
    """No note has this id."""

    def __init__(self, note_id: str, *, field: str | None = None) -> None:
        text = "there is no note with this id" if field is None else f"{field}: there is no note with this id"
        super().__init__(text, id=note_id[:256], field=field, reason="NODE_NOT_FOUND")


class ChildNotFound(NotFound):
    """No note that a rollup could represent has this id."""

    def __init__(self, note_id: str, *, field: str) -> None:
        text = f"{field}: there is no note with this id in the session's nugget"
        super().__init__(text, id=note_id[:256], field=field, reason="CHILD_NOT_FOUND")


class NuggetNotFound(NotFound):
    """No nugget has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no nugget {name!r}; nugget.create makes one", nugget=name)


class ShelfNotFound(NotFound):
    """No shelf has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no shelf {name!r}; shelf.create makes one", shelf=name)


class SessionNotFound(NotFound):
    """No session has this id."""

    def __init__(self, session_id: str) -> None:
        text = "there is no open session with this id; session.open opens one"
        super().__init__(text, field="session_id", session_id=session_id)


class JobNotFound(NotFound):
    """No job has this id, or it ended long ago."""

    def __init__(self, job_id: str) -> None:
        super().__init__("there is no job with this id; job.list shows those that are kept", id=job_id)


class Conflict(ShelfError):
    """The request contradicts what is there."""

    code = Code.CONFLICT


class AlreadyResolved(Conflict):
    """A conflict between notes was resolved in another way."""

    def __init__(self, conflict_id: str, resolution: str) -> None:
        super().__init__(f"it is resolved already: {resolution}", id=conflict_id, reason="RESOLVED")


class DuplicateNugget(Conflict):
    """The nugget's name is taken."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nugget {name!r} already exists", nugget=name)


class DuplicateShelf(Conflict):
    """The shelf's name is taken."""

    def __init__(self, name: str) -> None:
        super().__init__(f"shelf {name!r} already exists", shelf=name)


class DuplicateKey(Conflict):
    """Another fact of the nugget has this key."""

    def __init__(self, nugget: str, note_id: str) -> None:
        super().__init__("another fact of this nugget has this key", nugget=nugget, id=note_id)


class DuplicateId(Conflict):
    """Another note has this id."""

    def __init__(self, note_id: str) -> None:
        super().__init__("another note has this id", id=note_id[:256])


class NodeArchived(Conflict):
    """The note is hidden."""

    def __init__(self, note_id: str, *, field: str) -> None:
        text = f"{field}: note {note_id[:256]} is hidden; note.restore brings it back"
        super().__init__(text, id=note_id[:256], field=field, reason="NODE_ARCHIVED")


class ChildHasParent(Conflict):
    """A visible note represents the note already."""

    def __init__(self, note_id: str, parent_id: str, *, field: str) -> None:
        text = f"{field}: note {parent_id} represents this one already; session.delete_node takes it away"
        super().__init__(text, id=note_id[:256], parent_id=parent_id, field=field, reason="CHILD_HAS_PARENT")


class NodeExists(Conflict):
    """A visible note of the type has one of the names, and merging was ruled out."""

    def __init__(self, type_: str, note_id: str) -> None:
        super().__init__(f"a note of type {type_} has this name already", id=note_id, field="on_match")


class RevisionConflict(Conflict):
    """``if_rev`` was given and the note has moved on."""

    def __init__(self, note_id: str, *, expected: int, actual: int) -> None:
        text = f"if_rev: the note is at rev {actual}, not {expected}"
        super().__init__(text, field="if_rev", id=note_id, expected=expected, actual=actual)


class NotMergeable(Conflict):
    """Two notes cannot become one."""

    def __init__(self, message: str, *, field: str, reason: str) -> None:
        super().__init__(message, field=field, reason=reason)


class IdempotencyMismatch(Conflict):
    """The idempotency key was used before with other params."""

    def __init__(self) -> None:
        super().__init__("this idempotency_key was used before with other params", field="idempotency_key")


class SessionElsewhere(Conflict):
    """The session works on another nugget."""

    def __init__(self, session_id: str, nugget: str) -> None:
        text = f"nugget: the session works on nugget {nugget!r} and keeps to it; open one with another id"
        super().__init__(text, field="nugget", session_id=session_id, nugget=nugget)


class SessionFrozen(Conflict):
    """The session shows the shelf as it was and takes no changes."""

    def __init__(self, session_id: str, at_seq: int) -> None:
        text = f"the session is frozen at change {at_seq}; session.open without at_seq lets it write"
        super().__init__(text, reason="FROZEN", session_id=session_id, at_seq=at_seq)


class Forbidden(ShelfError):
    """The principal may not do this."""

    code = Code.FORBIDDEN


class TooLarge(ShelfError):
    """Something is larger than its limit."""

    code = Code.TOO_LARGE

    def __init__(self, message: str, *, field: str, limit: int) -> None:
        super().__init__(message, field=field, limit=limit)


class QuotaExceeded(ShelfError):
    """A quota is used up."""

    code = Code.QUOTA_EXCEEDED


class GovernanceViolation(ShelfError):
    """A rule of the shelf forbids this content. It is named, what it found is not repeated."""

    code = Code.GOVERNANCE_VIOLATION

    def __init__(self, why: str, *, rule: str, field: str, **data: Any) -> None:  # noqa: ANN401
        super().__init__(f"{field}: {why}", reason="GOVERNANCE_VIOLATION", rule=rule, field=field, **data)


class NoEmbedder(ShelfError):
    """A dense mode was asked for and no embedder is configured."""

    code = Code.NO_EMBEDDER

    def __init__(
        self,
        message: str = "no embedder is configured; use mode auto or lexical",
        *,
        reason: str = "NO_EMBEDDING_PROFILE",
    ) -> None:
        super().__init__(message, reason=reason)


class NoLanguageModel(ShelfError):
    """A language model was asked for, and none is configured or may be asked."""

    code = Code.NO_LANGUAGE_MODEL

    def __init__(
        self,
        message: str = "no language model is configured: see [llm] in the configuration",
        **data: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(message, **data)


class DeadlineExceeded(ShelfError):
    """The request's time ran out before anything happened."""

    code = Code.DEADLINE_EXCEEDED

    def __init__(self) -> None:
        super().__init__("the deadline passed before the request was carried out; nothing happened")


class Cancelled(ShelfError):
    """The caller took the request back before anything happened."""

    code = Code.CANCELLED

    def __init__(self) -> None:
        super().__init__("cancelled; nothing happened")


class HistoryTrimmed(ShelfError):
    """The change log no longer reaches back this far."""

    code = Code.HISTORY_TRIMMED


class StorageCorrupt(ShelfError):
    """A shelf's file is damaged; this shelf is refused, others are served."""

    code = Code.STORAGE_CORRUPT


class SchemaTooNew(ShelfError):
    """A newer version wrote the shelf's file, which is sound; this shelf is refused, others are served."""

    code = Code.STORAGE_CORRUPT

    def __init__(self, *, schema: int, newest: int) -> None:
        super().__init__(
            f"the shelf has schema version {schema} and this shelfd knows {newest}; install a newer shelfd",
            schema=schema,
            newest=newest,
        )


class BackupFailed(ShelfError):
    """A backup could not be written, or read. Unlike other trouble with a disk it is not tried again by itself."""

    code = Code.UNAVAILABLE


class Unavailable(ShelfError):
    """It could not be done now; the same request may succeed later."""

    code = Code.UNAVAILABLE
    retryable = True


class StoreBusy(Unavailable):
    """The store did not take the change; nothing happened."""


class ShuttingDown(Unavailable):
    """The daemon is on its way out."""

    def __init__(self) -> None:
        super().__init__("the daemon is shutting down")


class BrokerUnreachable(Unavailable):
    """The MQTT broker cannot be reached."""


class ModelUnavailable(Unavailable):
    """The language model cannot be reached, is overloaded, refuses, or took too long."""


class InvalidReply(Unavailable):
    """A language model said something else than what it was asked for. The message repeats nothing of it."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the language model's reply cannot be used: {problem}", reason="INVALID_REPLY")
        self.problem = problem


class EmbedderUnavailable(Unavailable):
    """The embedder cannot be loaded or reached, is overloaded, or took too long."""


class ConfigError(ShelfError):
    """The configuration is wrong; the daemon exits with status 78."""
