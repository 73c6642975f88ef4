"""How long a small change waits that comes when many large ones of others wait already.

A daemon on a real disk. Each of several connections sends a request of thousands of notes at the same moment; half a
second later one more connection begins to remember single notes, one after the other, until all large requests are
answered.

Run: ``python benchmarks/behind.py [--clients N] [--notes N] [--dir DIR]``
"""

import argparse
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

from bulk import new_shelf, notes, sentences
from served import median, served, table, working_directory
from shelfd.client import connect

_LATER_S = 0.5  # when the first small change comes
_BETWEEN_S = 0.05  # small changes


def answered(path: str, line: bytes, moments: list[float]) -> None:
    """Send a request and note when it is answered."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(line)
        reply = connection.makefile("rb").readline()
        assert b'"rejected":[]' in reply, reply[:500]
    moments.append(time.perf_counter())


def measured(path: str, clients: int, count: int) -> tuple[list[float], float]:
    """Return how long each small change took, and all large ones together; seconds."""
    with connect(path, timeout_s=600) as client, new_shelf(client, "behind") as shelf:
        client.call("remember", {"shelf": shelf, "content": "The shelf is open."})
        params: dict[str, Any] = {"shelf": shelf, "notes": notes(sentences(count))}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "remember_many", "params": params}).encode() + b"\n"
        moments: list[float] = []
        began = time.perf_counter()
        senders = [threading.Thread(target=answered, args=(path, line, moments)) for _ in range(clients)]
        for sender in senders:
            sender.start()
        time.sleep(_LATER_S)
        taken: list[float] = []
        while any(sender.is_alive() for sender in senders):
            sent = time.perf_counter()
            client.call("remember", {"shelf": shelf, "content": f"Small note {len(taken)} came late."})
            taken.append(time.perf_counter() - sent)
            time.sleep(_BETWEEN_S)
        return taken, max(moments) - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=16, help="connections with a large request (16)")
    parser.add_argument("--notes", type=int, default=5_000, help="notes of each of these (5000)")
    parser.add_argument("--dir", help="directory on the disk to measure; default: .run in the checkout")
    arguments = parser.parse_args()
    with working_directory(arguments.dir) as directory:
        Path(directory / "served").mkdir()
        with served(directory / "served") as daemon:
            taken, together = measured(daemon.socket, arguments.clients, arguments.notes)
    rows = [
        ["measurement", "seconds"],
        ["the first small change", f"{taken[0]:.2f}"],
        [f"the longest of {len(taken)}", f"{max(taken):.2f}"],
        ["half of them took less than", f"{median(taken):.2f}"],
        [f"all {arguments.clients} large ones", f"{together:.2f}"],
    ]
    print(table(rows))


if __name__ == "__main__":
    main()
