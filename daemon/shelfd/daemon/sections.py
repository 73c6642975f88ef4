"""The settings: their sections, types, units and defaults.

Names carry their unit. ``config/shelfd.toml`` shows every one of them; a test keeps the two together.
"""

from importlib.util import find_spec
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from shelfd.daemon.zones import zone
from shelfd.memory import EntityRule, OwnTypes, compile_pattern
from shelfd.protocol.base import Tier
from shelfd.protocol.limits import SHELF_NAME

NOT_YET = "is not available in this version"


def _refuse_bool(value: object) -> object:
    # Python counts True as 1, a configuration file must not.
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - pydantic reports ValueError only
    return value


def _known_zone(name: str) -> str:
    try:
        zone(name)
    except (ValueError, OSError):
        raise ValueError(f"unknown time zone {name!r}; expected a name like Europe/Berlin, or system") from None
    return name


def _known_language(name: str) -> str:
    import Stemmer  # lazily: the default is known to be there

    if name != "english" and name not in Stemmer.algorithms():
        raise ValueError(f"unknown language {name!r}; expected one of {', '.join(sorted(Stemmer.algorithms()))}")
    return name


def _broker_url(url: str) -> str:
    if not url:
        return url
    parts = urlsplit(url)
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname:
        raise ValueError("expected mqtt[s]://[user@]host:port")
    if parts.password is not None:
        raise ValueError("must not hold a password; passwords come from a credential file")
    return url


def _model_url(url: str) -> str:
    if not url:
        return url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("expected http[s]://host[:port]/v1, without ? and #")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user or password; the key comes from llm.api_key_file")
    return url


def _cron_text(text: str) -> str:
    if text:
        from shelfd.scheduler import check_cron  # lazily: the default needs no check and croniter takes long to import

        check_cron(text)
    return text


def _loopback(text: str) -> str:
    if text:
        from ipaddress import ip_address  # lazily: the default needs no check

        host, _, port = text.rpartition(":")
        try:
            is_local = ip_address(host.strip("[]")).is_loopback
        except ValueError:
            is_local = False
        if not is_local or not port.isascii() or not port.isdigit() or int(port) > 65_535:
            raise ValueError("must be a loopback address and a port, like 127.0.0.1:9464 or [::1]:9464")
    return text


def _only_bool(value: object) -> object:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"  # as the environment spells it
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - pydantic reports ValueError only
    return value


def _octal_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError('expected an octal mode in quotes, like "0660"')  # noqa: TRY004 - as above
    return value


def _known_pattern(text: str) -> str:
    compile_pattern(text)
    return text


def _only_keep(value: str) -> str:
    if value != "keep":
        raise ValueError(f"trimming the history {NOT_YET}; expected keep")
    return value


Integer = Annotated[int, BeforeValidator(_refuse_bool)]
Seconds = Annotated[float, BeforeValidator(_refuse_bool), Field(ge=0, le=86_400, allow_inf_nan=False)]
Price = Annotated[float, BeforeValidator(_refuse_bool), Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Hour = Annotated[Integer, Field(ge=0, le=23)]
HourOrOff = Annotated[Integer, Field(le=23)]
Principal = Annotated[str, Field(pattern=r"^(uid:\d+|mqtt:[^/+#\s]+)$")]
Grantee = Annotated[str, Field(pattern=r"^(\*|uid:\d+|mqtt:[^/+#\s]+)$")]
EntityTypeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
EntityPattern = Annotated[str, Field(min_length=1, max_length=256)]
#: With a letter or digit in it, by which it is found.
EntityPhrase = Annotated[str, Field(max_length=128, pattern=r"[^\W_]")]
ShelfKey = Annotated[str, Field(pattern=SHELF_NAME)]
SocketMode = Annotated[str, BeforeValidator(_octal_text), Field(pattern=r"^(auto|0?[0-7]{3})$")]
RuleName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
SecretPattern = Annotated[str, Field(max_length=1000), AfterValidator(_known_pattern)]


class Section(BaseModel):
    """Base of every section: no unknown keys. What validates them is made for all together, when they are read."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


class Daemon(Section):
    """The process itself. An empty path is chosen by the rules in the protocol document."""

    instance: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] = "local"
    data_dir: str = ""
    socket: str = ""
    socket_mode: SocketMode = "auto"
    loop: Literal["uvloop", "asyncio"] = "uvloop"
    drain_s: Annotated[Seconds, Field(le=600)] = 10.0


class Log(Section):
    """What is logged and in which form."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"


class ShelfRule(Section):
    """What is added to or taken from one shelf's access."""

    read: list[Grantee] = []
    write: list[Grantee] = []
    admin: list[Grantee] = []
    deny: list[Grantee] = []


class AccessRules(Section):
    """Access, beyond each shelf's owner."""

    admins: list[Principal] = []
    shelves: dict[ShelfKey, ShelfRule] = {}


class Memory(Section):
    """How memories are kept and found."""

    language: Annotated[str, AfterValidator(_known_language)] = "english"
    timezone: Annotated[str, AfterValidator(_known_zone)] = "system"
    idle_close_s: Annotated[Integer, Field(ge=1, le=31_536_000)] = 900
    idempotency_days: Annotated[Integer, Field(ge=1, le=365)] = 7
    shelves_count: Annotated[Integer, Field(ge=1, le=100_000)] = 1000
    shelves_per_principal_count: Annotated[Integer, Field(ge=0, le=100_000)] = 100
    open_shelves_count: Annotated[Integer, Field(ge=2, le=100_000)] = 128


class Recall(Section):
    """What recall keeps of what it was asked, and what computes it."""

    log: Literal["on", "off"] = "on"
    engine: Literal["auto", "numpy", "compiled"] = "auto"


class Synthesis(Section):
    """Of what answers are made."""

    tiers: Annotated[list[Tier], Field(min_length=1, max_length=3)] = ["A", "B"]


class EntityType(Section):
    """What belongs to one type of entities, of its own or one that is there."""

    patterns: Annotated[list[EntityPattern], Field(max_length=32)] = []
    names: Annotated[list[EntityPhrase], Field(max_length=10_000)] = []


class Entities(Section):
    """What notes are looked through for, beside what always is."""

    types: Annotated[dict[EntityTypeName, EntityType], Field(max_length=32)] = {}

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        OwnTypes(self.rules)
        return self

    @property
    def rules(self) -> tuple[EntityRule, ...]:
        """The types as the memory takes them."""
        return tuple(EntityRule(name, tuple(one.patterns), tuple(one.names)) for name, one in self.types.items())


class Evolution(Section):
    """What a language model, if there is one, makes of new notes, and what it is shown."""

    reading: Annotated[bool, BeforeValidator(_only_bool)] = False
    neighbours: Annotated[bool, BeforeValidator(_only_bool)] = False
    similar: Annotated[bool, BeforeValidator(_only_bool)] = True


class Reflection(Section):
    """When and how much the daemon tends its shelves."""

    hour: Hour = 9
    minute: Annotated[Integer, Field(ge=0, le=59)] = 0
    max_notes: Annotated[Integer, Field(ge=1, le=1000)] = 10
    cron: Annotated[str, AfterValidator(_cron_text)] = ""


class Heartbeat(Section):
    """The fallback for a missed reflection."""

    interval_ms: Annotated[Integer, Field(le=86_400_000)] = 1_800_000


class QuietHoursSection(Section):
    """Hours of the day in which no missed reflection is made up for; a negative hour switches them off."""

    start: HourOrOff = 22
    end: HourOrOff = 8


class PromotionTarget(Section):
    """Where one shelf's promoted lines go; at most one of the two is set."""

    path: str = ""
    project_dir: str = ""


class Promotion(PromotionTarget):
    """Where promoted lines go. ``path`` and ``project_dir`` speak of shelf ``default``, the tables of others.

    ``projects`` are directories that every caller may name, and not administrators alone.
    """

    projects: list[str] = []

    shelves: dict[ShelfKey, PromotionTarget] = {}


class BackupSection(Section):
    """When shelves are backed up by themselves, where to, and how many backups of each are kept. No cron: never."""

    cron: Annotated[str, AfterValidator(_cron_text)] = ""
    keep: Annotated[Integer, Field(ge=1, le=10_000)] = 7
    directory: str = ""


class Metrics(Section):
    """Where the daemon's figures can be had in Prometheus' format; an empty address is nowhere."""

    listen: Annotated[str, AfterValidator(_loopback)] = ""

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        if self.listen and find_spec("prometheus_client") is None:
            raise ValueError('metrics.listen needs the extra "metrics": install ".[metrics]", not "."')
        return self


class Events(Section):
    """What events contain of a note."""

    content: Literal["none", "title", "full"] = "title"


class History(Section):
    """How long the change log goes back."""

    retention: Annotated[str, AfterValidator(_only_keep)] = "keep"


class Governance(Section):
    """What text may come in."""

    min_characters: Annotated[Integer, Field(ge=1, le=1000)] = 1
    secrets: Literal["allow", "redact", "refuse"] = "redact"
    secret_patterns: Annotated[dict[RuleName, SecretPattern], Field(max_length=32)] = {}
    personal_data: Literal["allow", "redact", "refuse"] = "allow"
    personal_kinds: list[Literal["email", "phone", "iban", "payment_card"]] = ["email", "phone", "iban", "payment_card"]
    phone_region: Annotated[str, Field(pattern=r"^([A-Z]{2})?$")] = ""
    injections: Literal["allow", "quarantine"] = "quarantine"

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        if self.personal_data != "allow" and "phone" in self.personal_kinds and find_spec("phonenumbers") is None:
            raise ValueError('governance.personal_kinds: "phone" needs the extra "pii": install ".[pii]", not "."')
        return self


class Llm(Section):
    """A language model behind an OpenAI-compatible endpoint; an empty url is none. Keys come from elsewhere."""

    url: Annotated[str, AfterValidator(_model_url)] = ""
    model: Annotated[str, Field(max_length=256)] = ""
    api_key_file: str = ""
    api_key_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    ca_file: str = ""
    format: Literal["auto", "json_schema", "tool", "json_object", "text"] = "auto"
    timeout_s: Annotated[Seconds, Field(gt=0, le=3600)] = 60.0
    deadline_s: Annotated[Seconds, Field(gt=0, le=3600)] = 180.0
    retries: Annotated[Integer, Field(ge=0, le=10)] = 2
    concurrency: Annotated[Integer, Field(ge=1, le=64)] = 2
    max_reply_bytes: Annotated[Integer, Field(ge=1024, le=16_777_216)] = 1_048_576
    context_tokens: Annotated[Integer, Field(ge=4096, le=2_000_000)] = 8192
    tokens_per_day: Annotated[Integer, Field(ge=0, le=1_000_000_000_000)] = 0
    price_in: Price = 0.0
    price_out: Price = 0.0
    breaker_failures: Annotated[Integer, Field(ge=1, le=100)] = 5
    breaker_rest_s: Annotated[Seconds, Field(gt=0, le=3600)] = 30.0

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url and not self.model:
            raise ValueError("llm.model must name the model when llm.url is set")
        if self.api_key_file and self.api_key_env:
            raise ValueError("llm.api_key_file and llm.api_key_env exclude each other")
        return self


class EmbedderChoice(Section):
    """What makes vectors of notes and queries, so that recall finds what is said in other words."""

    kind: Literal["off", "minilm", "wordllama", "http"] = "off"
    deadline_ms: Annotated[Integer, Field(ge=1, le=60_000)] = 500
    model_file: str = ""
    vocabulary: str = ""
    url: Annotated[str, AfterValidator(_model_url)] = ""
    model: Annotated[str, Field(max_length=256)] = ""
    api_key_file: str = ""
    api_key_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    ca_file: str = ""
    timeout_s: Annotated[Seconds, Field(gt=0, le=3600)] = 30.0
    retries: Annotated[Integer, Field(ge=0, le=10)] = 2
    context_tokens: Annotated[Integer, Field(ge=64, le=2_000_000)] = 512
    tokens_per_day: Annotated[Integer, Field(ge=0, le=1_000_000_000_000)] = 0
    breaker_failures: Annotated[Integer, Field(ge=1, le=100)] = 5
    breaker_rest_s: Annotated[Seconds, Field(gt=0, le=3600)] = 30.0

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.kind == "http" and not (self.url and self.model):
            raise ValueError("embedder.url and embedder.model must be set when embedder.kind is http")
        if self.api_key_file and self.api_key_env:
            raise ValueError("embedder.api_key_file and embedder.api_key_env exclude each other")
        return self


class Mqtt(Section):
    """The MQTT broker; an empty url is none. Passwords come from files only."""

    url: Annotated[str, AfterValidator(_broker_url)] = ""
    password_file: str = ""
    ca_file: str = ""
    share_file: str = ""
    session_expiry_s: Annotated[Integer, Field(ge=0, le=31_536_000)] = 604_800
    embedded_broker: Annotated[bool, BeforeValidator(_only_bool)] = False
