"""Holds the commands that stand amid the prose of some pages to what they print.

What the page shows has to come, line by line and in this order; a line ``…`` stands for any others, and what differs
each time (ids, times, sizes) may. What would change the machine (``sudo``), asks back, or shows one moment of a long
job is not run. Run: ``python docs/shown.py``; status 1 if a page shows something else.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from transcript import Shell, normalised

CHECKOUT = Path(__file__).resolve().parent.parent
DOCS = CHECKOUT / "docs"

#: What differs from one machine to another, too.
_VARYING = (
    (r"pid \d+", "pid N"),
    (r"\d+(\.\d+)? (MiB|ms)", "SIZE"),
    (r"up (\d+ (min|s) ?)+", "up SPAN"),
    (r"shelfd \d+(\.\d+)*", "shelfd VERSION"),
    (r"(version +)\S+", r"\1VERSION"),
    (r"(seq|connections|change|limit|uid:|(?:ready|none)) *\d+", r"\1 N"),
    (r"default-\d{8}T\d{6}Z-\d+", "default-DATE"),
    (r"127\.0\.0\.1:\w+", "ADDRESS"),
    (r'"undone": \d+', '"undone": N'),
    (r"run-[0-9a-f]{8,12}", "run-ID"),
    (r"/run/user/\d+|/home/ada/.local/share/shelfd", "PLACE"),
    (r" +", " "),
)


class Shown(NamedTuple):
    """Commands of a page, and what is done before them; *instead* is what is run for the one that is shown."""

    page: str
    command: str
    before: str = ""
    instead: str = ""


def text(name: str, *lines: str) -> str:
    """A command that writes a file."""
    return f"mkdir -p $(dirname {name}); cat > {name} <<'END'\n" + "\n".join(lines) + "\nEND"


def on_terminal(command: str) -> str:
    """A command as a person sees it, who has a wide window and no colours."""
    return f'NO_COLOR=1 COLUMNS=200 script --quiet --return --command "{command}" /dev/null'


CREATE = 'shelfd call shelf.create \'{"shelf": "team"}\''
STOP = "kill $(cat ~/pid); while kill -0 $(cat ~/pid) 2> /dev/null; do sleep 0.05; done"
READY = "until grep -q READY ready; do sleep 0.05; done"
START = f"rm -f ready; shelfd run --embedded-broker > ready 2> log & echo $! > ~/pid; {READY}"
SETTINGS = ".config/shelfd/shelfd.toml"
SHOWN = (
    Shown("operations", "shelfd run", START),
    Shown(
        "operations",
        "shelfd config check --config bad.toml",
        text("bad.toml", "[limits]", "content_bytes = 999999", "[memory]", 'langage = "de"'),
        "shelfd config check --config bad.toml; echo $?",
    ),
    Shown(
        "operations",
        CREATE,
        instead=f"{CREATE}; shelfd remember 'the report is due on Friday' --shelf team; shelfd call shelf.list",
    ),
    Shown(
        "operations",
        "shelfd schedule",
        "{ shelfd remember 'the kettle is green'; shelfd reflect; } > /dev/null",
        on_terminal("shelfd schedule; shelfd runs"),
    ),
    Shown(
        "operations",
        "shelfd call reflection.undo",
        "run=$(shelfd runs --json | jq --raw-output '.runs[0].run_id')",
        "shelfd call reflection.undo '{\"run_id\": \"'$run'\"}' | jq .",
    ),
    Shown("operations", "shelfd backup"),
    Shown("operations", "shelfd status", instead=on_terminal("shelfd status; shelfd doctor")),
    Shown(
        "operations",
        "shelfd remember x --shelf team",
        f"{STOP}; echo no database > .local/share/shelfd/shelves/team/shelf.db; {START}",
        "shelfd remember x --shelf team; shelfd status",
    ),
    Shown(
        "operations",
        "SHELFD__LOG__LEVEL=debug shelfd config show --origin",
        STOP + "; " + text(SETTINGS, "[daemon]", 'socket_mode = "0666"'),
    ),
    Shown("moving-in", "shelfd import ~/.nuggets --dry-run", f"rm -r .local {SETTINGS}; {START}"),
    Shown(
        "moving-in",
        "shelfd facts project",
        "shelfd import ~/.nuggets > /dev/null 2>&1",
        "shelfd facts project; shelfd note fact-project-5d1f09aa",
    ),
    Shown("moving-in", "shelfd import ~/.nuggets 2> /dev/null"),
    Shown(
        "moving-in",
        "shelfd import ~/.nuggets",
        """
        shelfd call note.edit '{"id": "fact-project-5d1f09aa", "content": "pnpm go"}' > /dev/null
        sed -i 's/pnpm deploy/pnpm ship/; s/on Fridays/on Mondays/' .nuggets/*.json .nuggets/graph/graph.json
        """,
    ),
)  # fmt: skip


def blocks(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield commands and output of each block that begins with one: what is run in it, and what that printed."""
    for found in re.finditer(r"```\w*\n(\$ .*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL):
        commands, output = [], []
        for line in found[1].replace("\\\n", "").splitlines():
            (commands if line.startswith("$ ") else output).append(line.removeprefix("$ "))
        yield commands, output


def is_of(step: Shown, command: str) -> bool:
    """Return whether a block that begins with *command* is meant."""
    return command.startswith(step.command) if step.instead else command == step.command


def plain(text_: str) -> list[str]:
    """Return the lines of *text_* without what differs."""
    text_ = normalised(text_)
    for pattern, instead in _VARYING:
        text_ = re.sub(pattern, instead, text_)
    return [line.rstrip() for line in text_.splitlines() if line.strip()]


def missing(shown: Sequence[str], printed: str) -> list[str]:
    """Return the lines that are shown and were not printed, or not after the one before."""
    left = iter(plain(printed))
    return [line for line in plain("\n".join(shown)) if line != "…" and not any(line == one for one in left)]


def write_nuggets(home: Path) -> None:
    """Write the files of another memory that the page imports."""
    from nuggets_files import fact, fact_file, graph, graph_note, link, write_home

    here = {"nugget": "project", "scope": "project", "type": "project", "stability": "durable"}
    first, second = "fact-project-5d1f09aa", "note-project-77e0c412"
    deploy = graph_note(
        first, "pnpm deploy", **here, title="project:deploy-cmd", hits=4, lastHitSession="s-81",
        tags=["project", "scope:project", "type:project", "release"], links=[link(second, "both ship")],
    )  # fmt: skip
    ships = graph_note(
        second, "The release ships on Fridays.", **here, title="Release",
        links=[link(first, "both ship"), link("note-none")],
    )  # fmt: skip
    facts = [
        fact("project:deploy-cmd", "pnpm deploy", hits=4, session="s-81"),
        fact("test-cmd", "pnpm test", hits=1, session="s-1"),
    ]
    write_home(home, {"project.nugget.json": fact_file("project", facts), "graph.json": graph([deploy, ships])})


def main() -> int:
    """Run everything and compare."""
    directory = Path(tempfile.mkdtemp(prefix="shown-"))
    sys.path.insert(0, str(CHECKOUT / "tests"))
    write_nuggets(directory / ".nuggets")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    faults = 0
    try:
        with Shell(directory, {"PATH": path, "TZ": "Etc/UTC", "LC_ALL": "C.UTF-8"}) as shell:
            for step in SHOWN:
                shell.run(step.before or "true")
                printed = shell.run(step.instead or step.command)
                printed = printed.replace(str(directory), "/home/ada").replace("\r", "")
                found = [
                    output
                    for commands, output in blocks(step.page)
                    if commands[0].startswith(step.command) and (commands[0] == step.command or step.instead)
                ]
                wrong = missing(found[0], printed) if found else ["is on the page no more"]
                faults += bool(wrong)
                if wrong:
                    print(f"{step.page}.md: {step.command}", *wrong, "--- printed:", printed, sep="\n")
            shell.run(STOP)
    finally:
        shutil.rmtree(directory)
    print(f"{len(SHOWN) - faults} of {len(SHOWN)} blocks are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
