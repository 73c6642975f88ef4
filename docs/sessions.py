"""Writes docs/sessions.md by doing what it says: every command is run and its output is what the page shows.

Run: ``python docs/sessions.py [--check]`` (needs jq)
"""

import json
import sys
from pathlib import Path

from transcript import Step, page, publish, run, said_to_check

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "sessions.md"

INTRODUCTION = """\
# Sessions, rollups and rewinding

A conversation's memory as a graph: typed notes and their links, written turn by turn; what a prompt can choose from,
and what it held; rollups, which keep that short; and how turns are taken back, switched to an alternative, or branched
off. Everything here is done on one conversation, before and after. The rules are in [design.md](design.md), the methods
in [protocol.md](protocol.md). This page is written by `python docs/sessions.py`, which runs every command below and
pastes what came of it.
"""


def _event(text: str, *refs: str) -> dict[str, object]:
    links = [{"target_ref": ref, "relation": "involved_in", "direction": "incoming"} for ref in refs]
    return {"op": "create", "type": "event", "fields": {"summary": text}, "links": links}


def _person(name: str, ref: str, **fields: str) -> dict[str, object]:
    return {"op": "create", "type": "character_sheet", "ref": ref, "title": name, "fields": fields}


def _place(name: str, ref: str, **fields: str) -> dict[str, object]:
    return {"op": "create", "type": "location_state", "ref": ref, "title": name, "fields": fields}


def _thread(name: str, status: str, note: str) -> dict[str, object]:
    return {"op": "create", "type": "thread", "title": name, "fields": {"status": status, "note": note}}


#: What each turn adds. A second sheet of the same name merges into the first.
TURNS = (
    (_event("Ada and Eve board the night ferry in the fog.", "ada", "eve"),
     _person("Ada", "ada", identity="river pilot"), _person("Eve", "eve", identity="engineer"),
     {"op": "link_upsert", "source_ref": "ada", "links": [{"target_ref": "eve", "relation": "family_of"}]}),
    (_event("Eve finds the engine's fuel line cut.", "eve"), _person("Eve", "eve"),
     _thread("Who cut the fuel line?", "active", "Eve found it cut before the ferry left.")),
    (_event("They repair it with a hose from the galley."),),
    (_event("The ferry leaves two hours late."),),
    (_event("Ada steers past the sandbank at Mill Point.", "ada", "mill"), _person("Ada", "ada"),
     _place("Mill Point", "mill", danger="a sandbank, uncharted")),
    (_event("A stranger asks the mate about the engine."),),
    (_event("The mate admits that he let the stranger aboard."),),
    (_event("The stranger is gone when they look for him."),
     _thread("Who cut the fuel line?", "active", "A stranger, let aboard by the mate, is gone.")),
    (_event("At dawn the fog lifts over the estuary."),),
    (_event("They hand the hose and a note to the harbour master."),
     _thread("Who cut the fuel line?", "resolved", "The harbour master has the stranger's name.")),
)  # fmt: skip

CONVERSATION = "".join(
    json.dumps({"session_id": "ferry", "turn": turn, "ops": ops}, ensure_ascii=False) + "\n"
    for turn, ops in enumerate(TURNS, 1)
)
TELL = """\
while read -r turn; do
    printf '%s' "$turn" | shelfd call session.apply_extraction_batch - | jq -c '{ids, rejected}'
done < conversation.jsonl
"""
TALK = {
    "session_id": "market",
    "turns": [
        {"turn": 1, "author": "Mara", "text": "My brother Tom, also known as Thomas, runs the bakery on Lime Street."},
        {"turn": 2, "author": "Mara", "text": "We need to order new tables before the spring fair."},
    ],
}

STEPS = (
    Step("## A conversation\n\nA daemon on a directory of its own, and a session in it, which works on a nugget:",
         "shelfd run --data-dir shelf --socket shelf.sock 2> log", in_background=True),
    Step("", "export SHELFD_SOCKET=$PWD/shelf.sock"),
    Step("", "shelfd call session.open '{\"session_id\": \"ferry\", \"nugget\": \"story\"}'"),
    Step(
        "Ten turns, each a batch of operations that an agent, or [extraction](design.md#extraction), has made of what"
        " was said. The first one, of `conversation.jsonl`:",
        "head -n 1 conversation.jsonl | jq -c '.ops[]'",
    ),
    Step(
        "A batch is done as a whole or not at all. `ref` names what the batch itself creates. A second `thread` of the"
        f" same title is not a second note: the type has one for each thing (`tell.sh`).\n\n```sh\n{TELL}```",
        "bash tell.sh",
    ),
    Step("What the conversation's prompts can choose from, by type, the earliest turn first:",
         "shelfd session graph ferry"),
    Step("A batch with one bad operation changes nothing, and says which one it was and why:",
         """shelfd call session.apply_extraction_batch - <<'END' | jq -c '{applied, rejected, rolled_back}'
{"session_id": "ferry", "turn": 10, "ops": [
  {"op": "create", "type": "event", "fields": {"summary": "They go ashore."}, "ref": "e"},
  {"op": "create", "type": "evnt", "fields": {"summary": "They sleep."}}]}
END"""),
    Step(
        "## What a note looks like to a prompt\n\nA *brief* is a row of what is chosen from: the columns of its type,"
        " and how it is linked to what is visible.",
        "ada=$(shelfd call session.find_by_name '{\"session_id\": \"ferry\", \"query\": \"ada\"}' |"
        " jq -r '.matches[0].id')\n"
        'shelfd call session.get_node_brief "{\\"session_id\\": \\"ferry\\", \\"id\\": \\"$ada\\"}" | jq .',
    ),
    Step(
        "Who hands notes to a prompt records which, and what the prompt of any turn held can be asked for later:",
        "printf '{\"session_id\": \"ferry\", \"turn\": 10, \"recalled\": [\"%s\"], \"tokens\": 220}' $ada |\n"
        "    shelfd call session.record_injection - | jq -c .\nshelfd session show ferry --turn 10",
    ),
    Step(
        "## Rollups\n\nTen events are more than the type keeps apart: the oldest are due to become one note, three at a"
        " time, but for the three newest.",
        "shelfd call session.compaction_candidates '{\"session_id\": \"ferry\", \"type\": \"event\"}' |"
        " jq -c .groups[]",
    ),
    Step("That is done daily; now it is asked for. Without a language model a rollup cites what it represents.",
         "shelfd session compact ferry"),
    Step("Before, ten events were visible; after it:", "shelfd session graph ferry --type event"),
    Step("Nothing is lost: `--all` opens rollups, and recall finds the notes below them as before.",
         "shelfd session graph ferry --type event --all"),
    Step("", "shelfd recall 'who cut the fuel line' --nugget story -k 2"),
    Step("Links lead to what is visible, whatever it was that was linked:",
         "shelfd session graph ferry --type character_sheet --links"),
    Step(
        "## Rewinding\n\nThe teller wants another end: turns from 8 on are to be taken back. A dry run says what that"
        " comes to:",
        "shelfd session rewind ferry --from-turn 8 --dry-run",
    ),
    Step("", "shelfd session rewind ferry --from-turn 8 | tee rewound.txt"),
    Step(
        "The events of those turns are gone, the thread says what it said after turn 2, and what no longer had grounds,"
        " such as a rollup of what is taken back, would be gone as well:",
        "shelfd session graph ferry",
    ),
    Step("", "shelfd call session.find_by_name '{\"session_id\": \"ferry\", \"query\": \"who cut\"}' |"
             " jq -c '.matches[].fields'"),
    Step("A rewind is a run, and can be undone:", "shelfd undo $(cut -d: -f1 rewound.txt)"),
    Step("", "shelfd session graph ferry --type thread --type event | tail -n 6"),
    Step(
        "### Alternatives\n\nA turn that is answered anew has *variants*. What the first one wrote is put away, and"
        " comes back with it:",
        "shelfd session variant ferry 10 1\n"
        "printf '{\"session_id\": \"ferry\", \"turn\": 10, \"type\": \"event\", \"fields\": {\"summary\":"
        " \"They turn back to find the stranger.\"}}' |\n    shelfd call session.create_node - | jq -c .created\n"
        "shelfd session graph ferry --type event --type thread | tail -n 4",
    ),
    Step("", "shelfd session variant ferry 10 0\nshelfd session graph ferry --type event --type thread | tail -n 4"),
    Step(
        "### Branches\n\nA branch copies the memory as it was at a turn into a nugget of its own. Both go on, and"
        " neither sees the other:",
        "shelfd session branch ferry what-if --at-turn 5\nshelfd session graph what-if",
    ),
    Step(
        "### Frozen reads\n\nA session that is opened with `at_seq` reads everything as it was after that change, and"
        " cannot write:",
        "seq=$(shelfd log --limit 1000 --json | jq '[.log[] | select(.turn == 3)][-1].seq')\n"
        "printf '{\"session_id\": \"then\", \"nugget\": \"story\", \"at_seq\": %d}' $seq |"
        " shelfd call session.open - | jq -c .\nshelfd session graph then --type event --type thread",
    ),
    Step(
        "## From what was said to notes\n\nTurns as they were said become operations by `session.extract`. Without a"
        " language model that is done by rules, which would rather take nothing than guess:",
        "shelfd call session.open '{\"session_id\": \"market\", \"nugget\": \"market\"}' | jq -c .session_id\n"
        "jq -c '.turns[]' talk.json\n"
        "shelfd call session.extract - < talk.json | jq -c '{engine, extracted, operations}'\n"
        "shelfd session graph market",
    ),
    Step("## Stop", "kill %1; wait %1; tail -n 1 log | jq -c '{level, event}'"),
)  # fmt: skip


def main() -> int:
    """Run everything and write the page, or compare it."""
    check = said_to_check(__doc__)
    files: dict[str, str | Path] = {
        "conversation.jsonl": CONVERSATION,
        "tell.sh": TELL,
        "talk.json": json.dumps(TALK),
    }
    outputs = run(STEPS, files)
    return publish(PAGE, page(INTRODUCTION, STEPS, outputs), check=check)


if __name__ == "__main__":
    sys.exit(main())
