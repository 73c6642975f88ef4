"""Arguments and options that many commands share: each means one thing, whatever the command."""

from typing import Annotated

import typer

# ------------------------------------------------------------------ of every command

Shelf = Annotated[str, typer.Option("--shelf", metavar="NAME", help="Shelf to work on.")]
Socket = Annotated[
    str | None,
    typer.Option("--socket", metavar="PATH", help="The daemon's socket; default: $SHELFD_SOCKET or the usual places."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the daemon's answer, and errors, as JSON.")]

# ------------------------------------------------------------------ what is worked on

Query = Annotated[
    list[str], typer.Argument(metavar="QUERY", help="What to look for; several words are one text, - reads stdin.")
]
NoteId = Annotated[str, typer.Argument(metavar="ID", help="The note.")]
NoteIds = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Notes.")]
File = Annotated[str | None, typer.Option("--file", "-F", metavar="FILE", help="Take the text from a file.")]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="The fact with this key.")]
IdempotencyKey = Annotated[
    str | None, typer.Option("--idempotency-key", metavar="KEY", help="Makes a repeat harmless.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

# ------------------------------------------------------------------ what is wanted

Nugget = Annotated[str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Only this nugget (topic).")]
Limit = Annotated[int, typer.Option("--limit", "-k", metavar="N", min=1, max=1000, help="At most this many.")]
Many = Annotated[int, typer.Option("--limit", "-k", metavar="N", min=1, help="At most this many.")]
Best = Annotated[
    int | None, typer.Option("--limit", "-k", metavar="N", min=1, max=200, help="At most this many notes.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="May be given several times.")]
Hidden = Annotated[bool, typer.Option("--hidden", help="Hidden notes too.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Conversation this belongs to.")]

# ------------------------------------------------------------------ what is known of a note

Title = Annotated[str | None, typer.Option("--title", metavar="TEXT")]
Type = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="note, preference, event, …")]
Subject = Annotated[str | None, typer.Option("--subject", metavar="NAME", help="Whom or what it is about.")]
Scope = Annotated[str | None, typer.Option("--scope", metavar="SCOPE", help="self, user, shared, project or session")]
Source = Annotated[
    str | None,
    typer.Option(
        "--source", metavar="SOURCE", help="explicit_user, agent_reflection, tool_observation, inferred or system"
    ),
]
Confidence = Annotated[float | None, typer.Option("--confidence", metavar="X", help="0 to 1.")]
Stability = Annotated[str | None, typer.Option("--stability", metavar="HOW", help="temporary or durable")]
Domain = Annotated[str | None, typer.Option("--domain", metavar="DOMAIN", help="general, cti, incident, project, …")]
SourceType = Annotated[
    str | None,
    typer.Option(
        "--source-type", metavar="TYPE", help="conversation, task_output, ingestion, observation, mcp or report"
    ),
]
SourceRef = Annotated[str | None, typer.Option("--source-ref", metavar="URL", help="Where it is from.")]
Author = Annotated[str | None, typer.Option("--author", metavar="NAME", help="Who said it.")]
Importance = Annotated[int | None, typer.Option("--importance", metavar="N", min=1, max=10, help="1 to 10.")]
Tier = Annotated[str | None, typer.Option("--tier", metavar="TIER", help="A, B or C")]
OccurredAt = Annotated[
    str | None, typer.Option("--occurred-at", metavar="TIME", help="When it happened; without a zone, this machine's.")
]
ValidFrom = Annotated[str | None, typer.Option("--valid-from", metavar="TIME", help="From when on it holds.")]
ValidTo = Annotated[str | None, typer.Option("--valid-to", metavar="TIME", help="Until when it holds.")]
TtlDays = Annotated[int | None, typer.Option("--ttl-days", metavar="N", min=1, help="Days after which it expires.")]
Aliases = Annotated[
    list[str] | None, typer.Option("--alias", metavar="NAME", help="Another name; may be given several times.")
]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=VALUE", help="A column; VALUE is JSON, or else text. Several times."),
]

# ------------------------------------------------------------------ of the broker

MqttUrl = Annotated[
    str | None, typer.Option("--mqtt-url", metavar="URL", help="Another broker: mqtt[s]://[user@]host:port")
]
PasswordFile = Annotated[
    str | None, typer.Option("--password-file", metavar="FILE", help="Holds the password for --mqtt-url.")
]
CaFile = Annotated[str | None, typer.Option("--ca-file", metavar="FILE", help="Who vouches for an mqtts broker (PEM).")]
