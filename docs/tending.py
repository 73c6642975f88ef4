"""Writes docs/tending.md by doing what it says: every command is run and its output is what the page shows.

Run: ``python docs/tending.py [--check]`` (needs jq)
"""

import sys
from pathlib import Path

from transcript import Step, page, publish, run, said_to_check

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "tending.md"

INTRODUCTION = """\
# Tending: reflection, undo, promotion

What the daemon does by itself with the notes it keeps, done here by hand so that it can be watched: a reflection, as a
dry run and in earnest; what past ones did; how a run or a single transaction is taken back, and what stays when
somebody has edited since; and what goes to MEMORY.md, and why. The rules are in [design.md](design.md), the methods in
[protocol.md](protocol.md). This page is written by `python docs/tending.py`, which runs every command below and pastes
what came of it.
"""

NOTES = """\
crane="The crane at the northern pier lifts forty tons, is checked by the harbour crew every spring before the
first ships arrive, and stands idle in winter when ice closes the old basin."
shelfd remember "$crane
It creaks.
Oil helps." --title "Northern crane" --tag oil
shelfd remember "$crane
It creaks, and oil helps." --title "Northern crane"
shelfd remember "$crane
It needs no oil." --title "Northern crane"
shelfd remember "The night shift starts at ten.
The night shift starts at ten.
Bring a lamp." --title Shifts
shelfd remember "ask somebody about that" --title "tmp: ask"
shelfd remember "Repairs of the harbour crane are paid by the port office." --title "Crane repairs"
shelfd remember "make ship" --key "project:deploy command"
"""

FACTS = """\
shelfd remember "dark" --key "user:pref:theme"
shelfd remember "the port office" --key "user:works at"
for session in monday tuesday wednesday; do
    for question in "user:pref:theme" "user:works at" "project:deploy command"; do
        shelfd recall "$question" -k 1 --session "$session"
    done
done
"""

MERGING = """\
### What is merged

Two notes become one if all of this holds:

- Both are notes in sight of one nugget. A fact is never merged: its value belongs to its key.
- They have the same subject, scope, type, parent and validity; both expire or neither does; as typed notes they have
  the same columns. A note of a session alone meets only notes of that session.
- They say the same: nine in ten of all their words are common to both, and neither text has a number, date, unit, name
  or negation that the other lacks. Nor do their titles each name something else.
- They have the same author, domain and `occurred_at`. Equal texts need not, if neither was said in a turn of a
  conversation, is an event or was given its date: then what only one of them says is taken over, and they stay apart
  only where both name an author, or a domain, and not the same. So "took 5 mg", noted with the dates of two days, stays
  two notes, and a remark noted once with its author and once without becomes one.
- The one that would go is not pinned, and neither is longer than 16,384 characters. What is laid out (lists, tables,
  code) is merged only if it lacks no line, and the note that stays must not grow beyond a note's limits.

The longer one stays; of two that are as long, the older. It may differ from the other in everything else: source,
confidence, stability, importance, tier, times of writing.
"""

MEMORY = "shelf/shelves/default/MEMORY.md"


def _last(kind: str) -> str:
    """A shell command that prints the first number of the last transaction with such a change."""
    return f"shelfd log --json | jq '[.log[] | select(.kind == \"{kind}\")][-1].tx'"


STEPS = (
    Step(
        "## Some notes\n\nA daemon on a directory of its own:",
        "shelfd run --data-dir shelf --socket shelf.sock 2> log",
        in_background=True,
    ),
    Step("", "export SHELFD_SOCKET=$PWD/shelf.sock"),
    Step(
        "Notes as they come about: two that say the same, one that only looks like it, one that repeats itself, one"
        f" for the moment, one that has to do with others, and a fact (`notes.sh`):\n\n```sh\n{NOTES}```",
        "bash notes.sh",
    ),
    Step(
        "## Reflection\n\nThe scheduler does this every day at nine. A dry run says what would be done and leaves no"
        " trace:",
        "shelfd reflect --dry-run",
    ),
    Step(
        "In earnest. Each run has an id, by which the log knows it:",
        "shelfd reflect --json > run.json\njq -c 'del(.changes)' run.json",
    ),
    Step(
        "Of the two that say the same the longer one stays, with the lines it lacked, however alike they are; the one"
        " that says *never* was left alone.",
        "kept=$(jq -r '.changes[] | select(.type == \"merge\").note_id' run.json)\nshelfd note $kept",
    ),
    Step(
        "The other is out of sight, whole, with a link to where it went:",
        "gone=$(shelfd notes --hidden --json | jq -r '.notes[] | select(.links[].relation == \"merged_into\").id')\n"
        "shelfd note $gone",
    ),
    Step(
        f"{MERGING}\n### Until nothing remains\n\n`remaining` counts the notes that further runs have to look at: those"
        " a run had no room for, those it changed, and those that are new and were not looked at yet. Once more, until"
        " nothing remains:",
        "until shelfd reflect | tee run.txt | grep -q ' 0 remaining'; do cat run.txt; done; cat run.txt",
    ),
    Step(
        "`reflection.history` tells which runs there were. Their sentences for people are not kept, for those may hold"
        " words of the notes:",
        "shelfd reflections",
    ),
    Step(
        "", "shelfd call reflection.history '{\"limit\": 1}' | jq -c '.runs[0] | {run_id, ran_at, principal, changes}'"
    ),
    Step(
        "## Undo\n\nMeanwhile somebody edits the merged note:",
        "run=$(jq -r .run_id run.json)\n"
        "shelfd note $kept --json |\n"
        '    jq \'.note | {id, content: (.content | sub("Oil helps.$"; "Oil helps, says Ada."))}\' > edit.json\n'
        "shelfd call note.edit - < edit.json | jq -r .note.content",
    ),
    Step(
        "Now the first run is taken back. What it wrote goes, field by field, as long as nobody wrote over it; what"
        " somebody did since stays, and is named:",
        "shelfd undo $run",
    ),
    Step("The note that had gone is back:", "shelfd notes --asc"),
    Step(
        "Of the lines that came from it, one is out again, and the one that somebody has edited is theirs:",
        "shelfd note $kept --json | jq -r .note.content",
    ),
    Step("The history says who took it back:", "shelfd reflections"),
    Step(
        "An undo is a run like any other, and can be undone:",
        "undo=$(shelfd call reflection.history | jq -r --arg run $run '.runs[] | select(.run_id == $run).undone_by')\n"
        "shelfd undo $undo",
    ),
    Step(
        "### Of a transaction\n\n`undo` takes back one transaction of the caller's own, named by its first number in"
        " the log. Here, a merge by hand, of two notes that reflection would not touch:",
        "other=$(shelfd notes --json | jq -r '.notes[] | select(.title == \"Crane repairs\").id')\n"
        'printf \'{"target": "%s", "source": "%s"}\' $kept $other | shelfd call note.merge - |\n'
        "    jq '{changed, note: .note | {id, title, content, aliases}}'",
    ),
    Step("", f"tx=$({_last('note.merged')})\nshelfd log --limit 4"),
    Step("", 'shelfd call undo "{\\"tx\\": $tx}" | jq -c .'),
    Step(
        "",
        "for id in $kept $other; do shelfd note $id --json | jq -c '.note | {title, content, aliases, hidden}'; done",
    ),
    Step(
        "A fact is never merged away, because its key would no longer answer:",
        "fact=$(shelfd notes --kind fact --json | jq -r '.notes[0].id')\n"
        'printf \'{"target": "%s", "source": "%s"}\' $kept $fact | shelfd call note.merge -',
    ),
    Step(
        "## Hits\n\nA note's hits are the distinct sessions in which it was returned as *relevant*: recall thinks that"
        " it says what was asked. What only came along (a question mark after its score) counts none, and neither does"
        " anything returned to a question that nothing here answers:",
        "shelfd recall 'when does the night shift start' --session sunday -k 2\n"
        "shelfd recall 'what colour is the crane' --session sunday -k 1",
    ),
    Step("", "shelfd notes --json | jq -c '.notes[] | select(.hits > 0) | {title, hits}'"),
    Step(
        "## Promotion\n\nWhat was hit in three or more distinct sessions is promoted. Two more facts, and three"
        f" sessions that ask for all of them (`facts.sh`):\n\n```sh\n{FACTS}```",
        "bash facts.sh > /dev/null; shelfd facts memory",
    ),
    Step("Somebody has written in the file already:", f"printf '# Notes\\n\\nMine, by hand.\\n' > {MEMORY}"),
    Step(
        "`promotion.preview` says for each line which note it is, in how many sessions that was used, since when it"
        " stands in the file and what a promotion would do:",
        "shelfd call promotion.preview | jq '{tokens, budget_tokens, lines}'",
    ),
    Step("", "shelfd promote"),
    Step("", f"cat {MEMORY}"),
    Step(
        "A fact changes, and a person changes another one's line. The first follows its note; the second is that"
        " person's from now on:",
        f"shelfd remember light --key user:pref:theme\nsed -i 's/the port office/the port office, Mondays/' {MEMORY}\n"
        "shelfd call promotion.preview | jq -c '.lines[] | {line, status}'",
    ),
    Step("", f"shelfd promote; cat {MEMORY}"),
    Step(
        "What is no longer true goes:",
        f'shelfd forget --key "project:deploy command"; shelfd promote; tail -n 6 {MEMORY}',
    ),
    Step("## Stop", "kill %1; wait %1; tail -n 1 log | jq -c '{level, event}'"),
)


def main() -> int:
    """Run everything and write the page, or compare it."""
    check = said_to_check(__doc__)
    outputs = run(STEPS, {"notes.sh": NOTES, "facts.sh": FACTS})
    return publish(PAGE, page(INTRODUCTION, STEPS, outputs), check=check)


if __name__ == "__main__":
    sys.exit(main())
