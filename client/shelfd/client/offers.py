"""What a shell may be offered for an argument or an option: names that are fixed, and what is on a shelf."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from shelfd.client.event_types import EVENT_TYPES
from shelfd.client.failure import RpcFailure, Unsendable
from shelfd.client.output import counted, in_one_line
from shelfd.client.transport import Client, connect

#: How long a daemon may take to answer while a person waits for the Tab key.
PATIENCE_S: Final = 0.5
_LATEST: Final = 300  #: notes and facts that are looked through
_MANY: Final = 1000
_SHOWN: Final = 60  #: characters of what describes a value


class Offer(NamedTuple):
    """A value, and what it stands for."""

    value: str
    about: str = ""


class Unfinished(NamedTuple):
    """What is to be completed, and what was said before it.

    Attributes:
        begun: What the value begins with.
        said: Values of options and arguments by the parameter's name.
        command: The command that it is an argument or an option of.
    """

    begun: str
    said: Mapping[str, str]
    command: str = ""

    @property
    def shelf(self) -> dict[str, str]:
        """The shelf that is worked on, as params name it."""
        return {"shelf": self.said.get("shelf", "default")}


Ask = Callable[[Client, Unfinished], Iterable[Offer]]


def _nuggets(client: Client, asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("nugget.list", {**asked.shelf, "limit": _MANY})["nuggets"]:
        yield Offer(one["name"], counted(one["note_count"] - one["hidden_count"], "note"))


def _shelves(client: Client, _asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("shelf.list", {})["shelves"]:
        yield Offer(one["shelf"], one["state"])


def _notes(client: Client, asked: Unfinished) -> Iterator[Offer]:
    where = {**asked.shelf, **_nugget_of(client, asked), "include_hidden": True, "desc": True, "limit": _LATEST}
    for one in client.call("note.list", where)["notes"]:
        yield Offer(one["id"], f"{one['title']}: {one['content']}" if one["title"] else one["content"])


def _nugget_of(client: Client, asked: Unfinished) -> dict[str, str]:
    """The nugget that the beginning of an id names, if there is one: only its latest notes are of use."""
    parts = asked.begun.split("-")
    if len(parts) < 3 or parts[0] not in ("note", "fact"):
        return {}
    names = {one["name"] for one in client.call("nugget.list", {**asked.shelf, "limit": _MANY})["nuggets"]}
    name = "-".join(parts[1:-1])
    return {"nugget": name} if name in names else {}


def _keys(client: Client, asked: Unfinished) -> Iterator[Offer]:
    params = {**asked.shelf, "name": asked.said.get("nugget", "memory"), "limit": _MANY}
    for one in client.call("nugget.facts", params)["facts"]:
        yield Offer(one["key"], one["value"])


def _sessions(client: Client, asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("session.list", {**asked.shelf, "include_closed": True, "limit": _LATEST})["sessions"]:
        yield Offer(one["session_id"], one["nugget"])


def _runs(client: Client, asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("reflection.history", {**asked.shelf, "limit": 50})["runs"]:
        yield Offer(one["run_id"], one["ran_at"])


def _jobs(client: Client, asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("job.list", {**asked.shelf, "limit": _LATEST})["jobs"]:
        yield Offer(one["id"], f"{one['kind']}, {one['state']}")


def _conflicts(client: Client, asked: Unfinished) -> Iterator[Offer]:
    for one in client.call("conflict.list", {**asked.shelf, "limit": _LATEST})["conflicts"]:
        yield Offer(one["id"], one["reason"])


def _methods() -> list[Offer]:
    """Every method, from a file: what the daemon says of itself is half a megabyte."""
    beside = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
    with open(f"{beside}/completions/methods.txt", encoding="utf-8") as file:  # noqa: PTH123
        return [Offer(*line.rstrip("\n").split("\t")) for line in file]


#: By the name of a parameter, who is asked for its values.
_FROM_THE_DAEMON: Final[Mapping[str, Ask]] = {
    "nugget": _nuggets, "graph": _nuggets, "shelf": _shelves, "note_id": _notes, "note_ids": _notes, "first": _notes,
    "second": _notes, "what": _notes, "link": _notes, "key": _keys, "session": _sessions, "run": _runs,
    "job_id": _jobs, "conflict": _conflicts,
}  # fmt: skip
#: By the name of a parameter, its values where they are few.
_FIXED: Final[Mapping[str, tuple[str, ...]]] = {
    "scope": ("self", "user", "shared", "project", "session"),
    "source": ("explicit_user", "agent_reflection", "tool_observation", "inferred", "system"),
    "source_type": ("conversation", "task_output", "ingestion", "observation", "mcp", "report"),
    "stability": ("temporary", "durable"),
    "tier": ("A", "B", "C"),
    "kind": ("fact", "note"),
    "mode": ("auto", "lexical", "fhrr", "route"),
    "focus": ("auto", "off"),
    "keep": ("a", "b", "both"),
    "job": ("reflection", "promotion"),
    "form": ("tree", "json", "graphml", "dot"),
    "shell": ("bash", "zsh", "fish"),
    "drop_in": ("broker-local", "broker-remote", "credentials", "home"),
    "tools": ("memory", "graph", "compat"),
    "domain": ("general", "cti", "incident", "threat_intel", "project", "personal", "research"),
    "type_": ("note", "fact", "preference", "reflection", "self_model", "project", "relationship", "style", "event"),
}
_OF_FILES: Final = frozenset(
    "file paths chat password_file ca_file config config_file data_dir project socket root command place to".split()
)


def is_file(name: str) -> bool:
    """Return whether a parameter takes a path, which shells complete better than anybody."""
    return name in _OF_FILES


def offers(name: str, asked: Unfinished) -> list[Offer]:
    """Return what fits the parameter *name*; nothing if there is no daemon, or it does not answer soon."""
    if name == "format_":
        found: Iterable[Offer] = map(Offer, _formats(asked.command))
    elif name in _FIXED:
        found = map(Offer, _FIXED[name])
    elif name == "types":
        found = map(Offer, EVENT_TYPES)
    elif name == "method":
        found = _methods()
    elif name in _FROM_THE_DAEMON:
        found = _asked_for(_FROM_THE_DAEMON[name], asked)
    else:
        return []
    return [
        Offer(value, in_one_line(about)[:_SHOWN])
        for value, about in found
        if value.startswith(asked.begun) and value.isprintable()
    ]


def _formats(command: str) -> Iterable[str]:
    if command == "import":
        from shelfd.client.recognition import FORMATS  # for this one only

        return FORMATS
    return {"synthesize": ("answer", "brief", "timeline", "map"), "export": ("jsonl", "markdown", "graphml")}.get(
        command, ()
    )


def _asked_for(ask: Ask, asked: Unfinished) -> list[Offer]:
    try:
        with connect(asked.said.get("socket"), timeout_s=PATIENCE_S) as client:
            return list(ask(client, asked))
    except (OSError, RpcFailure, Unsendable, KeyError, TypeError):
        return []
