"""The limits of the wire contract. Configuration may lower them, never raise them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

KIB = 1024
MIB = 1024 * KIB


def _at_most(limit: int, description: str) -> object:
    return Field(default=limit, ge=1, le=limit, description=description)


def _up_to(limit: int, description: str) -> object:
    """As above, for a default that is less than the largest value."""
    return Field(ge=1, le=limit, description=description)


class Limits(BaseModel):
    """What a stranger may send and ask for, in the unit each name ends with.

    The default of each field is the contract's limit and also the largest value a configuration may give it; what one
    principal may take of the connections and what the buffers may hold can be raised too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    content_bytes: Annotated[int, _at_most(256 * KIB, "note content, UTF-8 bytes")] = 256 * KIB
    title_bytes: Annotated[int, _at_most(512, "title, key or alias, UTF-8 bytes")] = 512
    tag_characters: Annotated[int, _at_most(64, "one tag, characters")] = 64
    tags_count: Annotated[int, _at_most(32, "own tags of one note")] = 32
    aliases_count: Annotated[int, _at_most(32, "aliases of one note")] = 32
    query_bytes: Annotated[int, _at_most(8 * KIB, "recall query, UTF-8 bytes")] = 8 * KIB
    fields_bytes: Annotated[int, _at_most(64 * KIB, "typed fields of one note as JSON, bytes")] = 64 * KIB
    links_count: Annotated[int, _at_most(1000, "links that leave one note")] = 1000
    line_bytes: Annotated[int, _at_most(8 * MIB, "one request line or reply on the socket, bytes")] = 8 * MIB
    batch_count: Annotated[int, _at_most(1000, "members of one JSON-RPC batch")] = 1000
    json_depth: Annotated[int, _at_most(32, "nesting of a request's JSON")] = 32
    connections_count: Annotated[int, _at_most(256, "open socket connections")] = 256
    in_flight_count: Annotated[int, _at_most(64, "requests of one connection at work")] = 64
    remember_many_count: Annotated[int, _at_most(10_000, "notes of one remember_many")] = 10_000
    subscriptions_count: Annotated[int, _at_most(64, "event subscriptions of one connection")] = 64
    principal_connections_count: Annotated[int, _up_to(256, "open socket connections of one principal")] = 128
    principal_requests_count: Annotated[int, _at_most(256, "requests of one principal at work")] = 256
    buffer_bytes: Annotated[
        int, _up_to(1024 * MIB, "requests and replies of all connections, beyond 512 KiB each, bytes")
    ] = 256 * MIB


#: Largest integer that every JSON implementation keeps exact.
MAX_INTEGER = 2**53

SHELF_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"
NUGGET_NAME = r"^\w[\w.-]{0,63}$"
TOKEN_CHARACTERS = 128  #: session_id, idempotency_key, author and the like
LIST_LIMIT = 1000
RECALL_LIMIT = 200
SYNTHESIS_LIMIT = 20  #: notes of one answer
OPERATIONS_LIMIT = 1000  #: of one batch of a session
TURNS_LIMIT = 1000  #: messages of one extraction
