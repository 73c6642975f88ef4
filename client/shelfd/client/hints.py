"""What the daemon's messages tell to do, as commands: they name methods, which people at a terminal do not type."""

import re
from typing import Final

#: The commands that there are for methods which messages name.
_COMMANDS: Final = {
    "conflict.list": "conflicts", "conflict.resolve": "conflicts resolve", "job.cancel": "jobs cancel",
    "job.get": "jobs get", "job.list": "jobs", "job.retry": "jobs retry", "note.edit": "edit", "note.get": "note",
    "note.hide": "forget", "note.history": "history", "note.list": "notes", "note.restore": "restore",
    "nugget.create": "nuggets create", "nugget.edit": "nuggets edit", "nugget.list": "nuggets",
    "reflection.history": "reflections", "reflection.undo": "undo", "scheduler.history": "runs",
    "scheduler.jobs": "schedule", "session.list": "session list", "shelf.backups": "backup --list",
    "shelf.create": "shelves create", "shelf.list": "shelves", "shelf.log": "log",
}  # fmt: skip
#: Methods that messages name and that have none.
_CALLED: Final = (
    "alias.remove", "note.move", "note.release", "schema.set_type", "session.delete_node",
    "session.open",
)  # fmt: skip
#: A method before what it does: "job.get shows it", "note.release takes it out".
_TOLD: Final = re.compile(
    rf"\b({'|'.join(map(re.escape, (*_COMMANDS, *_CALLED)))})(?= (?:shows|lists|has|makes|opens|takes|brings) )"
)


def command_of(method: str) -> str:
    """Return the command that does what a *method* does; the method itself if there is none."""
    return _COMMANDS.get(method, method)


def as_commands(message: str) -> str:
    """Return a daemon's *message* with what to type for the methods that it tells to use."""
    return _TOLD.sub(lambda told: f"`shelfd {_COMMANDS.get(told[1]) or 'call ' + told[1]}`", message)
