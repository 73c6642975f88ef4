"""Methods on entities: notes that mention one, and names that mean the same."""

from typing import Annotated, Literal

from pydantic import Field

from shelfd.protocol.base import ChangeParams, Key, NuggetName, PageParams, Positive, ReadParams, Result, Token, Word
from shelfd.protocol.limits import RECALL_LIMIT
from shelfd.protocol.methods.recall import IndexState
from shelfd.protocol.note import NoteView
from shelfd.protocol.registry import define

EntityType = Annotated[
    Word,
    Field(
        description="cve, intrusion_set, actor, threat_actor, tool, malware, campaign, attack_pattern, ipv4, ipv6,"
        " domain, url, md5, sha1, sha256, email, path, version, mqtt_topic, asset, sector, person, location,"
        " organization, event, activity, temporal, or one of the daemon's configuration."
    ),
]


class EntityRecallParams(ReadParams):
    """What all methods that recall an entity take."""

    nugget: NuggetName | None = None
    k: Annotated[int, Field(ge=1, le=RECALL_LIMIT)] = 5
    session_id: Token | None = Field(default=None, description="Whose hit this is; null counts none.")
    count_hits: bool = True
    max_content_chars: Positive | None = None


class RecallEntityParams(EntityRecallParams):
    """Params of ``recall_entity``."""

    entity_type: EntityType
    entity_value: Key = Field(
        description="Case, blanks and hyphens make no difference, any of its names will do. So will one that differs"
        " in accents, if notes mention nothing by exactly this one."
    )


class RecallCveParams(EntityRecallParams):
    """Params of ``recall_cve``."""

    cve_id: Key


class RecallActorParams(EntityRecallParams):
    """Params of ``recall_actor``."""

    actor_name: Key


class RecallToolParams(EntityRecallParams):
    """Params of ``recall_tool``."""

    tool_name: Key


class EntityView(Result):
    """An entity: as it was asked for, and the name that stands for all that mean the same."""

    type: str
    value: str
    canonical: str


class EntityRecallResult(Result):
    """Notes that mention an entity: those that are most about it first, of equal ones the newest."""

    notes: list[NoteView]
    entity: EntityView
    index: IndexState = Field(
        description="How far notes were read for what they mention. While that is warming, as after a large import,"
        " the newest that have the words of its name are read for the answer, and others may be missing; with min_seq"
        " it waits."
    )


class AliasParams(ChangeParams):
    """Params of ``alias.remove``."""

    type: EntityType
    alias: Key


class EntityPurgeParams(ChangeParams):
    """Params of ``entity.purge``.

    It takes every note that has all words of one of its names beside each other, in whatever case and order: in its
    text, title, tags, aliases, key, author, subject, source or fields. If such words may be no name ("Rose", "The
    Guardian"), it takes the notes that are found to mention it, and those that have it as a name by itself: as author,
    subject or alias, or with a capital as title or field.

    It waits until all notes were read for what they mention, for 5 s or as long as ``timeout_ms`` allows. If they are
    not by then, nothing is done: the error is -32003, retryable, and has how far they are as ``index``.
    """

    entity_type: EntityType
    entity_value: Key = Field(description="Any of its names.")
    dry_run: bool = Field(default=False, description="Only say what would be purged.")


class EntityPurgeResult(Result):
    """Answer of ``entity.purge``."""

    entity: EntityView
    notes: int = Field(description="How many notes name it, hidden and superseded ones included.")
    note_ids: list[str] = Field(description="Those, the most about it first, at most 1,000 of them.")
    staying: int = Field(description="How many notes have the words of one of its names otherwise: these stay.")
    staying_ids: list[str] = Field(description="Those, the newest first, at most 1,000 of them.")
    aliases: int = Field(description="Names given to it by callers, which go with the notes.")
    known: bool = Field(description="Whether notes mention it as of this type, or it has other names as such.")
    purged: int
    still_in: list[str]
    remaining: int = Field(description="Notes that are left: all of them after a dry run, none after a purge.")
    dry_run: bool
    run_id: str | None
    replayed: bool | None = None


class AliasAddParams(AliasParams):
    """Params of ``alias.add``."""

    canonical: Key = Field(description="What it is another name of.")


class AliasAddResult(Result):
    """Answer of ``alias.add``."""

    alias: str
    canonical: str = Field(description="The name that stands for it and all that mean the same.")
    added: bool = Field(description="Whether that was anything new.")
    replaced: str | None = Field(default=None, description="What it was another name of before, if of something else.")
    replayed: bool | None = None


class AliasRemoveResult(Result):
    """Answer of ``alias.remove``."""

    removed: bool
    canonical: str | None = Field(
        default=None, description="What it is another name of again, as it was before a caller said otherwise."
    )
    replayed: bool | None = None


class AliasListParams(PageParams):
    """Params of ``alias.list``."""

    type: EntityType | None = None


class AliasView(Result):
    """A name that means the same as another one."""

    type: str = Field(description="It holds for all types related to this one.")
    alias: str
    canonical: str
    source: Literal["built_in", "caller", "note"]
    note_id: str | None = Field(default=None, description="The note that says so.")


class AliasListResult(Result):
    """Answer of ``alias.list``, by type and name."""

    aliases: list[AliasView]
    next_cursor: str | None = None


class TopicListParams(ReadParams):
    """Params of ``topic.list``."""

    beginning: Annotated[str, Field(max_length=256)] = Field(
        default="", description="What the name begins with; case, blanks and hyphens make no difference."
    )
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class TopicView(Result):
    """What a shelf knows something about: a nugget, or an entity that one may recall."""

    name: str
    kind: Literal["nugget", "entity"]
    type: str | None = Field(default=None, description="The entity's.")


class TopicListResult(Result):
    """Answer of ``topic.list``: nuggets first, then entities, by type."""

    topics: list[TopicView]


_ENTITY = "Notes that mention an entity."
define("recall_entity", RecallEntityParams, EntityRecallResult, need="read", summary=_ENTITY)
define("recall_cve", RecallCveParams, EntityRecallResult, need="read", summary="Notes that mention a vulnerability.")
define("recall_actor", RecallActorParams, EntityRecallResult, need="read", summary="Notes that mention an actor.")
define("recall_tool", RecallToolParams, EntityRecallResult, need="read", summary="Notes that mention a tool.")
define("alias.add", AliasAddParams, AliasAddResult, need="write", summary="Say that two names mean the same.")
define(
    "alias.remove",
    AliasParams,
    AliasRemoveResult,
    need="write",
    summary="Take back that two names mean the same.",
    is_barrier=True,
)
define("alias.list", AliasListParams, AliasListResult, need="read", summary="Names that mean the same.")
define("topic.list", TopicListParams, TopicListResult, need="read", summary="Nuggets and entities by their beginning.")
define(
    "entity.purge",
    EntityPurgeParams,
    EntityPurgeResult,
    need="write",
    summary="Purge every note that names an entity, by any of its names.",
    is_barrier=True,
)
