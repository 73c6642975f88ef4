"""Writes docs/walkthrough.md by doing what it says: every command is run and its output is what the page shows.

Run: ``python docs/walkthrough.py PATH`` with a file of LoCoMo conversations, which are not part of this project; what
people say in them is blanked out on the page.
"""

import argparse
import textwrap
from pathlib import Path

from transcript import Step, page, run

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "walkthrough.md"

INTRODUCTION = """\
# A walk through shelfd

A real conversation is remembered, asked about, tended and promoted, with events over MQTT, the scheduler's ledger and
an undo at the end. This page is written by `python docs/walkthrough.py PATH`, which runs every command below and
pastes what came of it; PATH is a file of LoCoMo conversations, which are not part of this project. Contents of
memories are blanked out here (`…`), because they belong to that data.
"""

INGEST = """\
import json, re, sys
from datetime import datetime, timezone
from shelfd.client import connect

data = json.load(open(sys.argv[1]))[0]
talk = data["conversation"]
with connect() as shelf:
    count = 0
    for number in range(1, 100):
        for turn, said in enumerate(talk.get(f"session_{number}", ()), start=1):
            when = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            shelf.call(
                "remember",
                {
                    "content": said["text"],
                    "author": said["speaker"],
                    "source_ref": said["dia_id"],
                    "session_id": f"session-{number}",
                    "turn": turn,
                    "occurred_at": when.replace(tzinfo=timezone.utc).isoformat(),
                },
            )
            count += 1
    print("remembered", count, "turns")
    for session in ("mon", "tue", "wed", "thu"):
        for question in data["qa"]:
            shelf.call("recall", {"query": question["question"], "k": 3, "session_id": session})
    print("asked", len(data["qa"]), "questions under four session ids")
"""


STEPS = (
    Step(
        "## Start\n\nA daemon on a directory of its own, with the small broker that needs no installation.",
        "shelfd run --data-dir shelf --socket shelf.sock --embedded-broker 2> log",
        in_background=True,
    ),
    Step("Every command finds it by this:", "export SHELFD_SOCKET=$PWD/shelf.sock"),
    Step("How is it?", "shelfd status"),
    Step(
        "## Watch\n\nIn a second terminal, over MQTT: the daemon says where its broker is and which password to use.",
        "shelfd watch --mqtt --count 4 > events",
        in_background=True,
    ),
    Step(
        "## Remember and ask\n\nA conversation, turn by turn, then its questions under four session ids"
        " (`ingest.py`):\n\n"
        f"```python\n{INGEST}```",
        "python ingest.py conversations.json",
    ),
    Step("What the watcher saw first:", "cat events"),
    Step("A fact with a key, to have something exact as well:", 'shelfd remember "RS256" --key "learn:token format"'),
    Step("", 'shelfd recall "learn:token format" --json | jq -c .answer'),
    Step("How much is there?", "shelfd call get_stats | jq -c '{total_notes, total_facts, links, last_seq}'"),
    Step(
        "## Tend\n\nThe scheduler does this every day at nine; here it is asked for. What it would do:",
        "shelfd reflect --dry-run --limit 3 | sed -E 's/(note, [^,]*).*/\\1, …/'",
    ),
    Step(
        "And in earnest, until nothing is left to do:",
        textwrap.dedent("""\
        runs=0
        while [ "$(shelfd reflect --json | jq '.rewritten + .merged + .hidden + .tagged + .linked')" != 0 ]; do
            runs=$((runs + 1))
        done
        echo "$runs runs changed something, the next one nothing\""""),
    ),
    Step("One more changes nothing either:", "shelfd reflect --json | jq -c 'del(.run_id, .ran_at)'"),
    Step(
        "Each run is in the change log, with everything needed to take it back:",
        'shelfd call shelf.log \'{"limit": 1000}\' | jq -c \'.log[] | select(.method == "reflect")'
        " | {seq, principal, kind, run_id}' | head -4",
    ),
    Step(
        "## Promote\n\nSomebody has written in the file already. None of that may change by a byte.",
        "printf '# Notes\\n\\n- **mine**: this line stays\\n' > shelf/shelves/default/MEMORY.md",
    ),
    Step("", "shelfd promote"),
    Step(
        "The file now, without what the people of the conversation said:",
        "sed -E 's/(- \\*\\*)[^*]+(\\*\\*: ).*/\\1…\\2…/' shelf/shelves/default/MEMORY.md | uniq -c | head -14",
    ),
    Step("", "head -3 shelf/shelves/default/MEMORY.md"),
    Step(
        "Once more: nothing to do, and the file is not written.",
        textwrap.dedent("""\
        before=$(stat -c '%Y %i' shelf/shelves/default/MEMORY.md)
        shelfd promote --json | jq -c '{added, updated, removed}'
        [ "$before" = "$(stat -c '%Y %i' shelf/shelves/default/MEMORY.md)" ] && echo "same time, same inode\""""),
    ),
    Step("## Schedule\n\nWhat runs by itself, and when:", "shelfd schedule"),
    Step(
        "Both jobs now, and the ledger:",
        textwrap.dedent("""\
        shelfd call scheduler.run '{"job": "reflection"}' > run.json
        shelfd call scheduler.run '{"job": "promotion"}' > run.json
        until shelfd runs --json | jq -e 'all(.runs[]; .status == "done")' > /dev/null; do sleep 0.1; done
        shelfd runs | head -n 4"""),
    ),
    Step(
        "## Take back\n\nWhat the last reflection that changed something did, is undone:",
        'run=$(shelfd call shelf.log \'{"limit": 1000}\' | jq -r \'[.log[] | select(.kind == "note.updated" and'
        ' .method == "reflect")][-1].run_id\')\n'
        'shelfd call reflection.undo "{\\"run_id\\": \\"$run\\"}" | jq -c \'{undone, kept}\'',
    ),
    Step(
        "## Silent\n\nTending leaves ledger, log and events, and nothing else."
        " The daemon's own log has no memory text:",
        "grep -c rpc.handled log; grep -c RS256 log",
    ),
    Step(
        "## Stop",
        "kill %1; until grep -q daemon.stopped log; do sleep 0.1; done; tail -n 1 log | jq -c '{level, event}'",
    ),
)


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a JSON file with LoCoMo conversations")
    arguments = parser.parse_args()
    outputs = run(STEPS, {"ingest.py": INGEST, "conversations.json": arguments.path})
    PAGE.write_text(page(INTRODUCTION, STEPS, outputs), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
