"""Methods on the daemon itself."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shelfd.protocol.base import Params, Result
from shelfd.protocol.registry import define


class OpenDocument(BaseModel):
    """A document whose shape another standard fixes, or that grows with the daemon."""

    model_config = ConfigDict(extra="allow")


class ShelfHealth(Result):
    """One shelf that is open or could not be opened."""

    shelf: str
    state: str
    index: str
    index_share: float | None = Field(default=None, description="Of a warming index: how much of the shelf it knows.")
    index_remaining_s: float | None = Field(default=None, description="Seconds that the rest may take at this rate.")
    seq: int
    index_complaint: str | None = None


class HealthResult(OpenDocument):
    """Liveness and readiness for everyone; what names files, addresses and settings for administrators only."""

    status: str = Field(description="`ok` or `degraded`, for every caller.")
    ready: bool
    uptime_s: float
    connections: int
    shelves: list[ShelfHealth] = Field(description="Those that the caller may read.")


class VersionResult(Result):
    """What runs here."""

    version: str
    wire: int
    instance: str
    python: str
    sqlite: str


class DoctorFinding(Result):
    """One thing ``system.doctor`` looked at."""

    check: str
    ok: bool
    detail: str
    fix: str | None = Field(default=None, description="A command that mends it, or goes further.")


class DoctorResult(Result):
    """What is in order and what is not."""

    ok: bool
    findings: list[DoctorFinding]


class MetricsResult(Result):
    """Counters since start."""

    metrics: dict[str, Any]


class ConfigResult(Result):
    """Every setting that holds now, by its key such as ``log.level``; secrets are in files, which are only named."""

    settings: dict[str, Any]
    origins: dict[str, str] = Field(description="Where each comes from.")
    file: str | None


class LogLevelParams(Params):
    """Params of ``system.log_level``."""

    level: Literal["debug", "info", "warning", "error"] | None = Field(default=None, description="Null only asks.")


class LogLevelResult(Result):
    """What is logged now, and after the next start or reload."""

    level: str
    configured: str


define("system.health", Params, HealthResult, need="open", summary="Is the daemon well?")
define("system.version", Params, VersionResult, need="open", summary="Which version runs?")
define("system.doctor", Params, DoctorResult, need="admin", summary="Look for what is wrong and say what to do.")
define("system.metrics", Params, MetricsResult, need="open", summary="Counters since start.")
define("system.config", Params, ConfigResult, need="admin", summary="The settings that hold now.")
define(
    "system.log_level",
    LogLevelParams,
    LogLevelResult,
    need="admin",
    summary="What is logged; a level holds until the next start or reload.",
)
define("rpc.discover", Params, OpenDocument, need="open", summary="This API as an OpenRPC document.")
