"""Reflection and promotion on a real conversation: what changed, where it is told, and that it comes to rest.

The data is not part of this project; give the path of a file with LoCoMo conversations. One of them is remembered turn
by turn, its questions are asked under four session ids, and the shelf is tended until a run changes nothing.

Run: ``python benchmarks/tending.py PATH``
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from locomo import ingest, progress, turns
from served import Served, median, served, table, working_directory
from shelfd.client import Client, connect

SESSIONS = 4
COUNTS = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
#: What a person wrote in the file before: none of it may change by a byte.
FOREIGN = b"# Notes\r\n\r\nMine:\r\n- **keep**: this line\r\n  - and this\r\n\r\nNo final line end"


def ask_all(client: Client, shelf: str, questions: list[dict[str, Any]]) -> None:
    """Ask every question under each of the session ids."""
    total = SESSIONS * len(questions)
    for session in range(SESSIONS):
        for number, question in enumerate(questions, start=1):
            query = {"query": question["question"], "shelf": shelf, "k": 3, "session_id": f"session-{session}"}
            client.call("recall", query)
            progress(session * len(questions) + number, total, f"recall {shelf}")


def reflect_until_rest(client: Client, shelf: str) -> tuple[Counter[str], int, list[float]]:
    """Reflect until a run changes nothing; return what was changed, in how many runs, and their milliseconds."""
    done: Counter[str] = Counter()
    took: list[float] = []
    while True:
        began = time.perf_counter()
        result = client.call("reflect", {"shelf": shelf})
        took.append((time.perf_counter() - began) * 1000)
        done.update({name: result[name] for name in COUNTS})
        if not any(result[name] for name in COUNTS[1:]):
            return done, len(took), took
        assert len(took) < 1000, "it does not come to rest"


def run_jobs(client: Client, shelf: str) -> list[dict[str, Any]]:
    """Have the scheduler run both jobs now; return their lines of the ledger."""
    wanted = {
        client.call("scheduler.run", {"job": job, "shelf": shelf})["run_id"] for job in ("reflection", "promotion")
    }
    while True:
        runs = client.call("scheduler.history", {"shelf": shelf})["runs"]
        found = [run for run in runs if run["run_id"] in wanted and run["status"] != "running"]
        if len(found) == len(wanted):
            return found
        time.sleep(0.05)


def log_of(client: Client, shelf: str) -> list[dict[str, Any]]:
    """Every row of the change log."""
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.call("shelf.log", {"shelf": shelf, "limit": 1000, **cursor})
        rows += page["log"]
        if "next_cursor" not in page:
            return rows
        cursor = {"cursor": page["next_cursor"]}


def tend(daemon: Served, conversation: dict[str, Any]) -> list[list[str]]:
    """Do it all; return the rows of the table."""
    shelf = conversation["sample_id"]
    with connect(daemon.socket, timeout_s=60) as client:
        ingest(client, shelf, turns(conversation))
        ask_all(client, shelf, conversation["qa"])
        file = daemon.data / "shelves" / shelf / "MEMORY.md"
        file.write_bytes(FOREIGN)
        done, runs, took = reflect_until_rest(client, shelf)
        again, _, _ = reflect_until_rest(client, shelf)
        assert not any(again[name] for name in COUNTS[1:]), "what was at rest changed once more"
        first = client.call("promote", {"shelf": shelf})
        assert file.read_bytes().startswith(FOREIGN), "a line of somebody else was touched"
        before = file.stat()
        second = client.call("promote", {"shelf": shelf})
        after = file.stat()
        assert (second["added"], second["updated"], second["removed"]) == (0, 0, 0)
        assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino), "the file was written again"
        ledger = run_jobs(client, shelf)
        log = log_of(client, shelf)
        seqs = [row["seq"] for row in log]
        assert seqs == list(range(1, len(seqs) + 1)), "the log has a gap"
        kinds = Counter(
            row["kind"] for row in log if row["principal"] != "uid:0" or row["method"] in ("reflect", "promote")
        )
    changed = ", ".join(f"{name} {done[name]}" for name in COUNTS)
    return [
        ["what", "result"],
        ["notes remembered, questions asked", f"{len(turns(conversation))}, {SESSIONS} x {len(conversation['qa'])}"],
        [f"reflection, {runs} runs until one changed nothing", changed],
        ["milliseconds a run, p50 and longest", f"{median(took):.0f}, {max(took):.0f}"],
        ["the next reflection", "changed nothing"],
        ["promotion", f"added {first['added']}, fell out of the budget {first['fell_out']}"],
        ["sections", json.dumps(first["sections"])],
        ["MEMORY.md", f"{after.st_size} bytes, the {len(FOREIGN)} that were there first as they were"],
        ["the next promotion", "changed nothing, the file's time and inode stay"],
        ["ledger", "; ".join(f"{run['job']} {run['status']} ({run['reason']})" for run in ledger)],
        ["log rows of tending", ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))],
    ]


def main() -> None:
    """Tend and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a JSON file with LoCoMo conversations")
    parser.add_argument("--conversation", type=int, default=0, help="which of them, from 0")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    conversations = json.loads(Path(arguments.path).read_text(encoding="utf-8"))
    with working_directory(arguments.dir) as directory, served(directory) as daemon:
        print(table(tend(daemon, conversations[arguments.conversation])))


if __name__ == "__main__":
    main()
