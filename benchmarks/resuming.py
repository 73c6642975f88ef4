"""What a thousand jobs that were cut short cost a daemon that starts: nothing before READY.

Run: ``python benchmarks/resuming.py``
"""

import argparse
import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from served import median, served, table, working_directory
from shelfd.client import connect

_NOTES = 3  # each job has left


def fill(directory: Path, jobs: int) -> None:
    """Make a shelf in which every nugget is to be cleared, and nobody has gone beyond the first step."""
    with served(directory) as daemon, connect(daemon.socket) as client:
        for first in range(0, jobs, 1000):
            some = range(first, min(first + 1000, jobs))
            notes = [{"content": f"line {n}", "nugget": f"n{number}"} for number in some for n in range(_NOTES)]
            client.call("remember_many", {"notes": notes})
    with closing(sqlite3.connect(directory / "data" / "shelves" / "default" / "shelf.db")) as shelf, shelf:
        seq = shelf.execute("SELECT max(seq) FROM change").fetchone()[0]
        for number in range(jobs):
            params = json.dumps({"nugget": f"n{number}", "drop": False, "seq": seq})
            cursor = json.dumps({"done": 0, "total": _NOTES, "after": [-1, 0], "is_over": False})
            shelf.execute(
                "INSERT INTO job (id, kind, state, principal, method, run_id, params, cursor, attempts, created_at,"
                " updated_at) VALUES (?, 'hide', 'running', 'uid:0', 'nugget.clear', ?, ?, ?, 0, ?, ?)",
                (f"job-{number}", f"run-{number}", params, cursor, time.time_ns() // 1000, time.time_ns() // 1000),
            )


def start(directory: Path, *, with_jobs: bool) -> tuple[float, float, float]:
    """Start a daemon on a copy; return seconds to READY, to the first answer to a recall, and until no job is left."""
    shutil.rmtree(directory / "data", ignore_errors=True)
    shutil.copytree(directory / "full", directory / "data")
    if not with_jobs:
        with closing(sqlite3.connect(directory / "data" / "shelves" / "default" / "shelf.db")) as shelf, shelf:
            shelf.execute("DELETE FROM job")
    with served(directory) as daemon, connect(daemon.socket) as client:
        began = time.perf_counter()
        client.call("recall", {"query": "line 1"})
        answered = time.perf_counter() - began
        while client.call("job.list", {"unfinished": True, "limit": 1})["jobs"]:
            time.sleep(0.01)
        return daemon.ready_s, answered, time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1000)
    arguments = parser.parse_args()
    with working_directory(arguments.dir) as directory:
        fill(directory, arguments.jobs)
        (directory / "data").rename(directory / "full")
        found: dict[bool, list[tuple[float, float, float]]] = {False: [], True: []}
        for _ in range(arguments.runs):
            for with_jobs in (False, True):
                found[with_jobs].append(start(directory, with_jobs=with_jobs))
    rows = [["measurement", "no jobs", f"{arguments.jobs} jobs cut short", "must be"]]
    without, with_ = (list(zip(*found[with_jobs], strict=True)) for with_jobs in (False, True))
    rows.append(["READY after start, median", *(f"{median(times[0]):.3f} s" for times in (without, with_)), "the same"])
    rows.append(["READY after start, least", *(f"{min(times[0]):.3f} s" for times in (without, with_)), "the same"])
    rows.append(["first recall after READY", *(f"{median(times[1]) * 1000:.0f} ms" for times in (without, with_)), ""])
    rows.append(["until no job is left", "", f"{median(with_[2]):.2f} s", ""])
    print(table(rows))


if __name__ == "__main__":
    main()
