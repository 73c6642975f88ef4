"""The table of commands."""

import typer

from shelfd.client.commands import (
    conflicts,
    entities,
    finding,
    following,
    importing,
    jobs,
    notes,
    running,
    sessions,
    synthesis,
    tending,
)
from shelfd.client.plain_command import PlainCommand, PlainGroup

_HELP = "The memory of an AI agent: remember, recall, and the daemon that keeps them."

app = typer.Typer(
    name="shelfd",
    cls=PlainGroup,
    help=_HELP,
    epilog="Every command explains itself with -h or --help. --version prints the version.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # rich takes 0.1 s to import, and a traceback with local variables would show memory text.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command(cls=PlainCommand)(running.run)
app.command(cls=PlainCommand)(notes.remember)
app.command(cls=PlainCommand)(finding.recall)
app.command("why-not", cls=PlainCommand)(finding.why_not)
app.command(cls=PlainCommand)(notes.forget)
app.command(cls=PlainCommand)(notes.notes)
app.command(cls=PlainCommand)(notes.note)
app.command(cls=PlainCommand)(notes.facts)
app.command(cls=PlainCommand)(entities.entity)
app.command(cls=PlainCommand)(entities.graph)
app.command(cls=PlainCommand)(entities.timeline)
app.command(cls=PlainCommand)(finding.context)
app.command(cls=PlainCommand)(synthesis.synthesize)
app.command(cls=PlainCommand)(following.watch)
app.command(cls=PlainCommand)(following.log)
app.command(cls=PlainCommand)(tending.reflect)
app.command(cls=PlainCommand)(tending.reflections)
app.command(cls=PlainCommand)(tending.undo)
app.command(cls=PlainCommand)(tending.promote)
app.add_typer(sessions.sessions, name="session", cls=PlainGroup)
app.add_typer(conflicts.conflicts, name="conflicts", cls=PlainGroup)
app.add_typer(jobs.jobs, name="jobs", cls=PlainGroup)
app.command(cls=PlainCommand)(tending.schedule)
app.command(cls=PlainCommand)(tending.runs)
app.command("import", cls=PlainCommand)(importing.import_)
app.command(cls=PlainCommand)(importing.snapshot)
app.command(cls=PlainCommand)(running.setup)
app.command(cls=PlainCommand)(running.status)
app.command(cls=PlainCommand)(running.doctor)
app.command("call", cls=PlainCommand)(running.call_method)
app.add_typer(running.config, name="config", cls=PlainGroup)
