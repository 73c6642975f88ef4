"""The table of commands. Each is imported and built when it is invoked, and only that one: all of them take 60 ms."""

import gc
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer

from shelfd.client.plain_command import PlainCommand, PlainGroup


class CommandEntry(NamedTuple):
    """One command: what it is called, where it is, and its line in ``--help``.

    Attributes:
        place: ``module:name`` below :mod:`shelfd.client.commands`, of a function or of a ``Typer`` with commands of
            its own.
        summary: The first sentence of the function's docstring; a test holds the two together.
    """

    name: str
    place: str
    summary: str


COMMANDS: Final = (
    CommandEntry("run", "running:run", "Serve a shelf until SIGTERM or Ctrl-C."),
    CommandEntry("remember", "remembering:remember", "Store TEXT as a note, or as a fact when it has a key."),
    CommandEntry("recall", "finding:recall", "Find the notes that fit QUERY, best first."),
    CommandEntry("search", "finding:search", "List notes like QUERY by a simpler measure than recall."),
    CommandEntry("why-not", "finding:why_not", "Say why recall of QUERY does not return a note."),
    CommandEntry("forget", "changing:forget", "Hide notes, by their ids or by nugget and key."),
    CommandEntry("restore", "changing:restore", "Bring hidden notes back; or put a backup in the place of a shelf."),
    CommandEntry("purge", "changing:purge", "Remove notes for good, with their history."),
    CommandEntry("edit", "changing:edit", "Change what a note says, or what is known of it."),
    CommandEntry("link", "changing:link", "Link two notes, or show a note's links."),
    CommandEntry("notes", "notes:notes", "List notes, the latest change first."),
    CommandEntry("note", "notes:note", "Show one note, hidden or not."),
    CommandEntry("history", "notes:history", "Show what a note was, and who changed it."),
    CommandEntry("facts", "notes:facts", "Show keys and values, of a nugget or of all."),
    CommandEntry("nuggets", "places:nuggets", "Show the nuggets of a shelf, and how much is in each."),
    CommandEntry("shelves", "places:shelves", "Show the shelves you may read, whose, and how they are."),
    CommandEntry("entity", "entities:entity", "Show the notes that mention NAME, and what it has to do with."),
    CommandEntry("graph", "entities:graph", "Show what lies around NAME, and around that."),
    CommandEntry("timeline", "entities:timeline", "Show what notes say of NAME in the order it happened."),
    CommandEntry("context", "finding:context", "Print recalled notes as text for a prompt."),
    CommandEntry("synthesize", "synthesis:synthesize", "Answer QUERY from the notes that say something about it."),
    CommandEntry("watch", "following:watch", "Show events as they happen, until Ctrl-C."),
    CommandEntry("log", "following:log", "Show who changed what; without --since, the latest changes."),
    CommandEntry("reflect", "tending:reflect", "Tidy notes now: archive, rewrite, tag, merge, link."),
    CommandEntry("reflections", "tending:reflections", "Show what past reflections did, the last one first."),
    CommandEntry("undo", "undoing:undo", "Take back what a run did, but for what was changed since."),
    CommandEntry("promote", "tending:promote", "Write what was recalled in three or more sessions to MEMORY.md."),
    CommandEntry("session", "sessions:sessions", "Conversations: their notes as a graph, rewound, branched."),
    CommandEntry("conflicts", "conflicts:conflicts", "Show notes that cannot both be true, the last found first."),
    CommandEntry("jobs", "jobs:jobs", "Show background work, the last begun first, and how far it is."),
    CommandEntry("schedule", "tending:schedule", "Show what runs by itself: when next, and how it went last."),
    CommandEntry("runs", "undoing:runs", "Show which runs there were, the last one first."),
    CommandEntry("mcp", "mcp:mcp", "Speak MCP on standard input and output: the command to give to an agent."),
    CommandEntry("ingest", "ingesting:ingest", "Take notes from a conversation's transcript."),
    CommandEntry(
        "import", "importing:import_", "Move in from another memory: Markdown, conversations, CSV, JSON or a store."
    ),
    CommandEntry(
        "export",
        "exporting:export",
        "Write all notes of a shelf as of one moment, hidden ones too: as lines, Markdown or a graph.",
    ),
    CommandEntry(
        "merge",
        "merging:merge",
        "Bring another copy of a shelf, edited apart, together with this one.",
    ),
    CommandEntry(
        "snapshot", "importing:snapshot", "Write all notes to a file beside the shelf, one a line, and print where."
    ),
    CommandEntry("backup", "backups:backup", "Copy a shelf to a file, complete and checked, while it is in use."),
    CommandEntry("move", "backups:move", "Give a shelf another name."),
    CommandEntry("setup", "running:setup", "Make the daemon a systemd service, of the machine or of a user."),
    CommandEntry("status", "running:status", "Show how the daemon and a shelf are."),
    CommandEntry("doctor", "running:doctor", "Look for what is wrong and say what to do, also while no daemon runs."),
    CommandEntry(
        "log-level", "running:log_level", "Have the running daemon log more, or less, until it is started again."
    ),
    CommandEntry("call", "running:call_method", "Call any METHOD of the daemon and print its result as JSON."),
    CommandEntry("completion", "completing:completion", "Print the script that completes commands in a shell."),
    CommandEntry("help", "helping:help_", "Explain a command, or list all of them."),
    CommandEntry("config", "running:config", "Check or show the daemon's settings without starting it."),
)


#: Under which headings they stand in ``--help``; one that is under none stands last.
_SECTIONS: Final = (
    ("Remember and find", "remember recall search context synthesize why-not"),
    ("Notes", "notes note history edit link forget restore purge"),
    ("What there is", "facts nuggets shelves entity graph timeline conflicts session"),
    ("What happens", "watch log reflect reflections undo promote schedule runs jobs"),
    ("In and out", "ingest import export snapshot backup merge move"),
    ("The daemon", "run setup status doctor config log-level mcp call completion help"),
)


class LazyCommand(PlainCommand):
    """A command before it is invoked: a name and a line in ``--help``."""

    def __init__(self, entry: CommandEntry) -> None:
        super().__init__(name=entry.name, help=entry.summary)
        self._entry = entry

    def load(self) -> Any:  # noqa: ANN401 - of the command line library, which has moved its types before
        """Import the command and return it with its parameters."""
        module, name = self._entry.place.split(":")
        found = getattr(import_module(f"shelfd.client.commands.{module}"), name)
        gc.enable()  # it was off until now
        holder = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        if isinstance(found, typer.Typer):
            holder.add_typer(found, name=self._entry.name, cls=PlainGroup)
            group: Any = typer.main.get_command(holder)
            return group.commands[self._entry.name]
        holder.command(self._entry.name, cls=PlainCommand)(found)
        return typer.main.get_command(holder)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:  # noqa: ANN401
        """Begin to invoke, or to complete, the command: by the loaded one, whose context this returns."""
        return self.load().make_context(info_name, args, parent, **extra)


class Commands(PlainGroup):
    """All commands."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        for entry in COMMANDS:
            self.add_command(LazyCommand(entry))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Write what ``--help`` says of all commands."""
        left = dict(self.commands)
        found = [(title, [left.pop(name) for name in names.split() if name in left]) for title, names in _SECTIONS]
        room = formatter.width - 6 - max(map(len, self.commands))
        for title, commands in [*found, ("More", list(left.values()))]:
            if commands:
                with formatter.section(title):
                    formatter.write_dl([(command.name, command.get_short_help_str(room)) for command in commands])


app = typer.Typer(
    name="shelfd",
    cls=Commands,
    epilog="Every command explains itself with -h or --help.",
    no_args_is_help=True,
    add_completion=False,  # ours knows what is on the shelf, see completion.py
    context_settings={"help_option_names": ["-h", "--help"]},
    # rich takes 0.1 s to import, and a traceback with local variables would show memory text.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def shelfd(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """The memory of an AI agent: remember, recall, and the daemon that keeps them."""
    del version  # it is answered before any of this is loaded
