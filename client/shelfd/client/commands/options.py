"""Options that many commands share."""

from typing import Annotated

import typer

Shelf = Annotated[str, typer.Option("--shelf", metavar="NAME", help="Shelf to work on.")]
Socket = Annotated[
    str | None,
    typer.Option("--socket", metavar="PATH", help="The daemon's socket; default: $SHELFD_SOCKET or the usual places."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the daemon's answer as JSON.")]
Nugget = Annotated[str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Only this nugget (topic).")]
Limit = Annotated[int, typer.Option("--limit", "-l", metavar="N", min=1, max=1000, help="At most this many.")]
MqttUrl = Annotated[
    str | None, typer.Option("--mqtt-url", metavar="URL", help="Another broker: mqtt[s]://[user@]host:port")
]
PasswordFile = Annotated[
    str | None, typer.Option("--password-file", metavar="FILE", help="Holds the password for --mqtt-url.")
]
CaFile = Annotated[str | None, typer.Option("--ca-file", metavar="FILE", help="Who vouches for an mqtts broker (PEM).")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Conversation this belongs to.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="May be given several times.")]
