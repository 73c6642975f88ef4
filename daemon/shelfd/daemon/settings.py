"""The daemon's settings as one frozen object, built once: flags > environment > file > defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shelfd.daemon import sections
from shelfd.daemon.sources import Environment, File, Flags, Location, Nested, lay_over
from shelfd.daemon.zones import SYSTEM, zone
from shelfd.memory.errors import ConfigError
from shelfd.protocol import Limits

DEFAULT_ORIGIN = "default"


class Settings(BaseModel):
    """Every setting, by section."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    daemon: sections.Daemon = Field(default_factory=sections.Daemon)
    log: sections.Log = Field(default_factory=sections.Log)
    limits: Limits = Limits()
    access: sections.AccessRules = Field(default_factory=sections.AccessRules)
    memory: sections.Memory = Field(default_factory=sections.Memory)
    entities: sections.Entities = Field(default_factory=sections.Entities)
    evolution: sections.Evolution = Field(default_factory=sections.Evolution)
    recall: sections.Recall = Field(default_factory=sections.Recall)
    synthesis: sections.Synthesis = Field(default_factory=sections.Synthesis)
    reflection: sections.Reflection = Field(default_factory=sections.Reflection)
    heartbeat: sections.Heartbeat = Field(default_factory=sections.Heartbeat)
    quiet_hours: sections.QuietHoursSection = Field(default_factory=sections.QuietHoursSection)
    promotion: sections.Promotion = Field(default_factory=sections.Promotion)
    backup: sections.BackupSection = Field(default_factory=sections.BackupSection)
    metrics: sections.Metrics = Field(default_factory=sections.Metrics)
    events: sections.Events = Field(default_factory=sections.Events)
    governance: sections.Governance = Field(default_factory=sections.Governance)
    history: sections.History = Field(default_factory=sections.History)
    mqtt: sections.Mqtt = Field(default_factory=sections.Mqtt)
    llm: sections.Llm = Field(default_factory=sections.Llm)
    embedder: sections.EmbedderChoice = Field(default_factory=sections.EmbedderChoice)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings and where they came from.

    Attributes:
        settings: The values.
        origins: By path of a value that was set, the place: "flag --x", "environment X", "file /x".
        file: The configuration file, None without one.
        environ: The environment they were read from, where a setting may name a variable that holds a secret.
    """

    settings: Settings
    origins: Mapping[Location, str] = field(default_factory=dict)
    file: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def origin(self, where: Location) -> str:
        """Return the place a value came from; a value that was set in parts names the first part's place."""
        return origin_of(self.origins, where) or DEFAULT_ORIGIN


def load(flags: Mapping[Location, tuple[str, object]], environ: Mapping[str, str], file: Path | None) -> Loaded:
    """Read, merge and check all settings.

    Raises:
        ConfigError: If the file cannot be read, or a key is unknown or a value is wrong anywhere. The message has
            one line for each complaint, with the place, the key and what was expected.
    """
    # A section that nobody mentions is read as an empty one: to make each by itself takes a model's validator each.
    values: Nested = {section: {} for section in Settings.model_fields}
    origins: dict[Location, str] = {}
    for source in (File(file), Environment(environ), Flags(flags)):  # the strongest last
        values = lay_over(values, source.values)
        origins.update(source.origins)
    try:
        loaded = Loaded(Settings.model_validate(values), origins, file, environ)
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(error, origins))) from error
    return _in_zone_of(environ, loaded)


def _in_zone_of(environ: Mapping[str, str], loaded: Loaded) -> Loaded:
    """Return *loaded* with the zone ``system`` made that of $TZ, if that is set, as in every other program.

    Raises:
        ConfigError: If $TZ is no zone. Other programs would take UTC in silence, and everything would be hours off.
    """
    name = environ.get("TZ")
    memory = loaded.settings.memory
    if name is None or memory.timezone != SYSTEM:
        return loaded
    try:
        zone(name)
    except (ValueError, OSError):
        expected = "expected a name like Europe/Berlin, or none for the machine's own zone"
        raise ConfigError(f"environment TZ: unknown time zone {name!r}; {expected}") from None
    settings = loaded.settings.model_copy(update={"memory": memory.model_copy(update={"timezone": name or "UTC"})})
    return Loaded(settings, {**loaded.origins, ("memory", "timezone"): "environment TZ"}, loaded.file, environ)


def _complaints(error: ValidationError, origins: Mapping[Location, str]) -> list[str]:
    lines: list[str] = []
    for one in error.errors(include_url=False, include_input=False):
        where = tuple(str(part) for part in one["loc"] if part != "[key]")
        place = origin_of(origins, where) or "settings"
        lines.append(f"{place}: {'.'.join(where)}: {_expected(one['type'], one['msg'], where)}")
    return lines


def _expected(kind: str, message: str, where: Location) -> str:
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ")
    siblings = _names_beside(where)
    return f"unknown setting; expected one of {', '.join(siblings)}" if siblings else "unknown setting"


def _names_beside(where: Location) -> list[str]:
    model: type[BaseModel] = Settings
    for name in where[:-1]:
        annotation = model.model_fields[name].annotation if name in model.model_fields else sections.ShelfRule
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            model = annotation
    return list(model.model_fields)


def origin_of(origins: Mapping[Location, str], where: Location) -> str | None:
    """Return the place of the value at *where*, of the nearest one around it, or of the first one inside it."""
    for length in range(len(where), 0, -1):
        if where[:length] in origins:
            return origins[where[:length]]
    return next((place for path, place in origins.items() if path[: len(where)] == where), None)
