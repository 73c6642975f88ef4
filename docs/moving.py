"""Writes the section of docs/moving-in.md that shows the import of each sample, by importing it.

It stands between two marks; the rest of the page is left as it is. The samples are those of the tests
(tests/moving_in). Run: ``python docs/moving.py [--check]``.
"""

import sys
from pathlib import Path

from transcript import Step, page, publish, run, said_to_check

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "moving-in.md"
SAMPLES = CHECKOUT / "tests" / "moving_in"

BEGIN = "<!-- from here on written by docs/moving.py -->\n"
END = "<!-- until here -->\n"

INTRODUCTION = """\
### What it looks like

Each is a sample of the tests (`tests/moving_in`), imported into a shelf of its own.
"""

START = (
    Step("", "shelfd run --data-dir shelf --socket shelf.sock 2> log", in_background=True),
    Step("", "export SHELFD_SOCKET=$PWD/shelf.sock"),
    Step("", f"cp -r {SAMPLES}/. ."),
)

EXAMPLES = (
    Step("A vault of Obsidian:", "shelfd import vault; shelfd notes --nugget vault"),
    Step("A project of basic-memory:", "shelfd import basic"),
    Step("Claude Code's memory of a project:", "shelfd import claude\nshelfd notes --nugget claude"),
    Step("The file of the MCP reference memory server:", "shelfd import memory.jsonl"),
    Step("An export of mem0:", "shelfd import mem0.json"),
    Step("Lines of JSON, whose columns are guessed:", "shelfd import notes.jsonl"),
    Step("CSV, whose columns are named:", "shelfd import notes.csv --map text=content,title=name"),
    Step("Conversations, of ChatGPT and of Claude:", "shelfd import chatgpt.json; shelfd import claude.json"),
)  # fmt: skip

STOP = (Step("", "kill %1; wait %1"),)

STEPS = (*START, *EXAMPLES, *STOP)


def main() -> int:
    """Run everything and write the section, or compare it."""
    check = said_to_check(__doc__)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    outputs = run(STEPS, {})
    shown = page(INTRODUCTION, EXAMPLES, outputs[len(START) : -len(STOP)])
    return publish(PAGE, f"{before}{BEGIN}\n{shown}\n{END}{after}", check=check)


if __name__ == "__main__":
    sys.exit(main())
