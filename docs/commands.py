"""What the documents say of the command line, from the commands themselves: docs/cli.md and the manual page."""

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import typer

from shelfd.client.application import app

#: Options that commands share, and that are explained once.
COMMON = ("--shelf", "--socket", "--json", "--help")

PREFACE = """<!-- Made by docs/generate.py from the commands in client/. Do not edit: change the commands. -->

# The command line

`shelfd COMMAND -h` and `shelfd help COMMAND` say what stands here; `man shelfd` is the same as a manual page, once
`shelfd setup` has installed it together with completion for bash, zsh and fish (`shelfd completion bash`).

"""
#: What holds for every command.
CONVENTIONS = """\
**Texts.** Several words are one text: no quotes are needed but for what the shell itself would take. `-` reads stdin,
and `--file` a file. A text that begins with a dash goes behind `--`.

**Options.** `-n`, `--nugget` is a nugget and `-k`, `--limit` at most so many results, in every command. A time may be
given as `2026-01-31`, as `'2026-01-31 09:00'` or with a zone; without one it is of this machine's zone, as are all
times that are shown.

**Every command that asks the daemon** takes `--socket PATH` (or `$SHELFD_SOCKET`; else it looks where a daemon usually
listens), `--json` and, where it works on a shelf, `--shelf NAME` (`default`).

**Output.** Results go to stdout, trouble to stderr. On a terminal there are colours, unless `$NO_COLOR` is set,
headings and, for what takes more than a second, progress; in a pipe there is nothing of it. With `--json` a result is
what the daemon answered, on one line, and an error is one line on stderr:
`{"error":{"code":-32001,"message":"…","data":{"type":"NoteNotFound"}}}`, without `code` if it is not the daemon's; what
is no reason to fail is `{"warning":"…"}`.
"""
STATUSES = (
    (0, "done"),
    (1, "doctor has found something"),
    (64, "wrong usage, or a method that does not exist"),
    (65, "the daemon refuses what was given: wrong, too large, or against a rule"),
    (66, "what was named does not exist"),
    (69, "no daemon listens, or something it needs is not there"),
    (70, "an internal error"),
    (73, "it contradicts what is there, or a quota is used up"),
    (74, "a file or the output cannot be read or written, or a shelf is damaged"),
    (75, "not now; the same may succeed later"),
    (77, "not allowed, or a person said no"),
    (78, "the configuration is wrong"),
    (130, "interrupted by Ctrl-C"),
)


class Described(NamedTuple):
    """One command."""

    name: str
    usage: str
    text: Sequence[str]  #: paragraphs
    examples: Sequence[str]
    rows: Sequence[tuple[str, str]]  #: arguments and options but the common ones


def described() -> list[Described]:
    """Every command, those inside others behind them."""
    root: Any = typer.main.get_command(app)
    return [_described(path, command) for path, command in _commands(root, ())]


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    for name, lazy in group.commands.items():
        command = lazy.load() if hasattr(lazy, "load") else lazy
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))


def _described(path: tuple[str, ...], command: Any) -> Described:  # noqa: ANN401
    text, _, examples = (command.help or "").partition("For example:")
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip()]
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    rows = [row for param in command.params if (row := _row(param)) is not None]
    pieces = " ".join(p for p in command.collect_usage_pieces(_context(path, command)) if p != "[OPTIONS]")
    return Described(" ".join(path), f"shelfd {' '.join(path)} {pieces}".strip(), paragraphs, lines, rows)


def _context(path: tuple[str, ...], command: Any) -> Any:  # noqa: ANN401
    return command.make_context(" ".join(path), [], resilient_parsing=True)


def _row(param: Any) -> tuple[str, str] | None:  # noqa: ANN401
    about = param.help or ""
    if param.param_type_name == "argument":
        return (param.metavar or param.name.upper(), about)
    if set(param.opts) & set(COMMON):
        return None
    flags = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    if not param.is_flag:
        flags += f" {param.metavar or 'VALUE'}"
        if param.default not in (None, (), []):
            about = f"{about} Default: {param.default}.".strip()
    return flags, f"{about} Required.".strip() if param.required else about


# ------------------------------------------------------------------ docs/cli.md


def cli_md() -> str:
    """docs/cli.md."""
    found = described()
    parts = [PREFACE + CONVENTIONS.strip()]
    parts.append("\n".join(["## Commands\n", "| command | what it does |", "|---|---|", *map(_line, found)]))
    statuses = [f"| {status} | {when} |" for status, when in STATUSES]
    parts.append("\n".join(["## Exit status\n", "| status | when |", "|---|---|", *statuses]))
    parts += [_section(one) for one in found]
    return "\n\n".join(parts) + "\n"


def _line(one: Described) -> str:
    anchor = re.sub(r"[^a-z0-9 -]", "", f"shelfd {one.name}").replace(" ", "-")
    return f"| [`{one.name}`](#{anchor}) | {one.text[0] if one.text else ''} |"


def _section(one: Described) -> str:
    parts = [f"## `shelfd {one.name}`", f"```\n{one.usage}\n```", *one.text]
    if one.rows:
        cells = [(flags.replace("|", "\\|"), about.replace("|", "\\|")) for flags, about in one.rows]
        parts.append("\n".join(["| | |", "|---|---|", *(f"| `{flags}` | {about} |" for flags, about in cells)]))
    if one.examples:
        parts.append("\n".join(["```sh", *one.examples, "```"]))
    return "\n\n".join(parts)


# ------------------------------------------------------------------ the manual page


def manual_page() -> str:
    """client/shelfd/client/man/shelfd.1, for groff's man macros."""
    head = [
        '.\\" Made by docs/generate.py from the commands in client/. Do not edit: change the commands.',
        f'.TH SHELFD 1 "" "shelfd {version("shelfd")}" "User Commands"',
        ".SH NAME",
        "shelfd \\- the memory of an AI agent: remember, recall, and the daemon that keeps them",
        ".SH SYNOPSIS",
        ".B shelfd",
        ".I COMMAND",
        "[\\fIARGUMENTS\\fR]",
        ".SH DESCRIPTION",
        _roff("One daemon keeps an agent's notes and facts. These commands ask it, show what it keeps, and run it."),
    ]
    lines = [*head]
    for text in CONVENTIONS.split("\n\n"):
        lines += [
            ".PP",
            _roff(" ".join(text.replace("`", "").split())).replace("**", "\\fB", 1).replace("**", "\\fR", 1),
        ]
    lines.append(".SH COMMANDS")
    for one in described():
        lines += [f".SS {_roff(one.usage)}"]
        for text in one.text:
            lines += [".PP", _roff(text.replace("`", ""))]
        for flags, about in one.rows:
            lines += [".TP", f"\\fB{_roff(flags)}\\fR", _roff(about) or "\\&"]
        if one.examples:
            lines += [".PP", "For example:", ".PP", ".nf", ".RS", *map(_roff, one.examples), ".RE", ".fi"]
    lines.append(".SH EXIT STATUS")
    for status, when in STATUSES:
        lines += [".TP", f"\\fB{status}\\fR", _roff(when)]
    lines += [".SH ENVIRONMENT"]
    for name, text in (
        ("SHELFD_SOCKET", "The daemon's socket."),
        ("NO_COLOR", "No colours, whatever it is set to."),
        ("VISUAL, EDITOR", "What shelfd edit opens."),
    ):
        lines += [".TP", f"\\fB{name}\\fR", _roff(text)]
    return "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "\\&...")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
