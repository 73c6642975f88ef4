"""The composition root: which part is made of what. Nothing here runs yet."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shelfd.daemon.embedder import embedder
from shelfd.daemon.host import SystemClock
from shelfd.daemon.llm import model_settings
from shelfd.daemon.mqtt import MqttService
from shelfd.daemon.places import Places
from shelfd.daemon.settings import Settings
from shelfd.daemon.system import DaemonSystem
from shelfd.daemon.zones import zone
from shelfd.gateway import Counters, Dispatcher, UnixServer
from shelfd.gateway.exposition import MetricsServer
from shelfd.memory import ANYONE, PROJECTIONS, Access, GovernanceSettings, MemorySettings, Rule, Service, Shelves
from shelfd.memory.ports.embedder import Embedder
from shelfd.memory.ports.job import SCHEDULER
from shelfd.memory.tending.promotion import Promoter
from shelfd.models import ConfiguredModel
from shelfd.scheduler import Answers, QuietHours, ScheduledJob, Scheduler, SchedulerSettings, daily_cron
from shelfd.storage import Destination, DiskMemoryFiles, PromotionPaths, SqliteStores

SERVICE_MODE = 0o660
USER_MODE = 0o600
_BACKUP_LIMIT = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Parts:
    """The daemon's parts, in the order they are started in."""

    shelves: Shelves
    service: Service
    system: DaemonSystem
    server: UnixServer
    scheduler: Scheduler
    backups: Scheduler | None
    metrics: MetricsServer | None
    mqtt: MqttService | None
    model: ConfiguredModel
    embedder: Embedder


def build(settings: Settings, places: Places, environ: Mapping[str, str] = MappingProxyType({})) -> Parts:
    """Make all parts; opens nothing but the directory of shelves.

    Args:
        settings: All of them.
        places: Where data and socket are.
        environ: The environment, of which a setting may name a variable that holds a secret.

    Raises:
        OSError: If the directory of shelves cannot be made.
        ConfigError: If settings that are right in themselves contradict each other, or a file they name is not there.
    """
    clock = SystemClock()
    counters = Counters()
    stores = SqliteStores(places.data / "shelves", clock, backup_directory(settings, places))
    shelves = Shelves(stores, clock, memory_settings(settings), PROJECTIONS)
    paths = promotion_paths(settings, places)
    paths.check()
    llm = model_settings(settings.llm, places, environ)
    model = ConfiguredModel(llm, clock, zone(settings.memory.timezone), places.data / "llm-tokens.json")
    promoter = Promoter(DiskMemoryFiles(paths))
    embeds = embedder(settings, places, environ, clock)
    service = Service(shelves, access(settings, shelves), promoter, settings.limits, model, embeds)
    jobs = scheduled_jobs(service)
    scheduler = Scheduler(shelves, jobs, clock, scheduler_settings(settings))
    backups = backup_scheduler(settings, shelves, service, clock)
    system = DaemonSystem(
        instance=settings.daemon.instance,
        places=places,
        shelves=shelves,
        service=service,
        counters=counters,
        clock=clock,
        backup_directory=backup_directory(settings, places),
        connections_count=settings.limits.connections_count,
        socket_mode=socket_mode(settings, places),
        scheduler=scheduler.status,
        backups=None if backups is None else backups.status,
        clock_status=scheduler.clock_status,
        model=model,
        embedder=embeds,
    )
    dispatcher = Dispatcher(
        service,
        system,
        clock=clock,
        limits=settings.limits,
        counters=counters,
        scheduling=Answers([scheduler] if backups is None else [scheduler, backups], shelves),
    )
    metrics = MetricsServer(system.metrics, partial(system.health, ANYONE)) if settings.metrics.listen else None
    mqtt = None
    if settings.mqtt.url or settings.mqtt.embedded_broker:
        mqtt = MqttService(settings, places, service, dispatcher, system, clock)
        system.mqtt, system.mqtt_probe = mqtt.status, mqtt.probe
    return Parts(shelves, service, system, UnixServer(dispatcher), scheduler, backups, metrics, mqtt, model, embeds)


def backup_directory(settings: Settings, places: Places) -> Path:
    """Return where backups are kept, a directory for each shelf."""
    chosen = settings.backup.directory
    return Path(chosen).expanduser().absolute() if chosen else places.data / "backups"


def promotion_paths(settings: Settings, places: Places) -> PromotionPaths:
    """Return where each shelf's promoted lines go."""
    section = settings.promotion
    others = {name: Destination(target.path, target.project_dir) for name, target in section.shelves.items()}
    default = Destination(section.path, section.project_dir)
    return PromotionPaths(places.data, places.home, default, others, section.projects)


def memory_settings(settings: Settings) -> MemorySettings:
    """Return the memory's part of the settings."""
    return MemorySettings(
        instance=settings.daemon.instance,
        language=settings.memory.language,
        timezone=zone(settings.memory.timezone),
        event_content=settings.events.content,
        idle_close=timedelta(seconds=settings.memory.idle_close_s),
        idempotency_retention=timedelta(days=settings.memory.idempotency_days),
        shelves_count=settings.memory.shelves_count,
        shelves_per_principal_count=settings.memory.shelves_per_principal_count,
        open_shelves_count=settings.memory.open_shelves_count,
        reflection_max_notes=settings.reflection.max_notes,
        entity_rules=settings.entities.rules,
        reads_by_model=settings.evolution.reading,
        evolves_neighbours=settings.evolution.neighbours,
        decides_on_similar=settings.evolution.similar,
        recall_log=settings.recall.log == "on",
        governance=GovernanceSettings(
            min_characters=settings.governance.min_characters,
            secrets=settings.governance.secrets,
            secret_patterns=settings.governance.secret_patterns,
            personal_data=settings.governance.personal_data,
            personal_kinds=tuple(settings.governance.personal_kinds),
            phone_region=settings.governance.phone_region,
            quarantine=settings.governance.injections == "quarantine",
        ),
        synthesis_tiers=tuple(settings.synthesis.tiers),
        backup_keep=settings.backup.keep,
        embedding_deadline=timedelta(milliseconds=settings.embedder.deadline_ms),
    )


def access(settings: Settings, shelves: Shelves) -> Access:
    """Return the access rules: root, the daemon's own user and configured administrators may do everything."""
    own = {"uid:0", f"uid:{os.getuid()}", SCHEDULER}
    rules = {
        name: Rule(*(frozenset(grantees) for grantees in (rule.read, rule.write, rule.admin, rule.deny)))
        for name, rule in settings.access.shelves.items()
    }
    return Access(owner_of=shelves.owner, administrators=frozenset({*own, *settings.access.admins}), rules=rules)


def socket_mode(settings: Settings, places: Places) -> int:
    """Return the permission bits of the socket's file: a service's is for its group, a user's for the user alone."""
    if settings.daemon.socket_mode != "auto":
        return int(settings.daemon.socket_mode, 8)
    return SERVICE_MODE if places.is_service else USER_MODE


def scheduled_jobs(service: Service) -> tuple[ScheduledJob, ...]:
    """Return the jobs: reflection, then promotion and compaction in the same slot, even if those before failed."""

    async def perform(shelf: str, run_id: str, _reason: str) -> Mapping[str, Any]:
        return await service.perform(shelf, run_id)

    return (
        ScheduledJob("reflection", perform, method="reflect"),
        ScheduledJob("promotion", perform, follows="reflection", method="promote"),
        ScheduledJob("compaction", perform, follows="promotion", method="session.compact"),
    )


def backup_scheduler(settings: Settings, shelves: Shelves, service: Service, clock: SystemClock) -> Scheduler | None:
    """Return what backs shelves up by a schedule of its own; None if there is none."""
    if not settings.backup.cron:
        return None

    async def perform(shelf: str, run_id: str, _reason: str) -> Mapping[str, Any]:
        return await service.perform(shelf, run_id)

    usual = scheduler_settings(settings)
    plan = replace(usual, cron=settings.backup.cron, run_limit=_BACKUP_LIMIT, parallel=1)
    return Scheduler(shelves, (ScheduledJob("backup", perform, method="shelf.backup"),), clock, plan)


def scheduler_settings(settings: Settings) -> SchedulerSettings:
    """Return the scheduler's part of the settings."""
    section = settings.reflection
    interval_ms = settings.heartbeat.interval_ms
    return SchedulerSettings(
        cron=section.cron or daily_cron(section.hour, section.minute),
        zone=zone(settings.memory.timezone),
        heartbeat=timedelta(milliseconds=interval_ms) if interval_ms > 0 else None,
        quiet=QuietHours(settings.quiet_hours.start, settings.quiet_hours.end),
    )
