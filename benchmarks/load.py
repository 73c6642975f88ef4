"""A load generator in its own process: many connections, each with several requests on the way.

Prints one JSON object: acknowledged requests, seconds, latencies and its own CPU seconds.
"""

import argparse
import json
import selectors
import socket
import time


def lines_for(connection: int, count: int) -> list[bytes]:
    """The requests of one connection, made before the clock starts."""
    return [
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "remember",
                "params": {
                    "content": f"Writer {connection} noted observation {number}: the harbour crane lifted container "
                    f"{number * 7919 % 9973} at berth {connection} while the tide turned and rain set in from the west",
                    "session_id": f"load-{connection}",
                    "author": f"writer-{connection}",
                },
            }
        ).encode()
        + b"\n"
        for number in range(count)
    ]


class Lane:
    """One connection: what is still to be sent, and what is on its way."""

    def __init__(self, path: str, requests: list[bytes], window: int) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.requests = requests
        self.window = window
        self.sent = self.done = self.failed = 0
        self.began: dict[int, float] = {}
        self.rest = b""

    def fill(self) -> None:
        """Send as many requests as may be on the way."""
        upto = min(len(self.requests), self.done + self.window)
        if upto > self.sent:
            now = time.perf_counter()
            for number in range(self.sent, upto):
                self.began[number] = now
            self.socket.sendall(b"".join(self.requests[self.sent : upto]))
            self.sent = upto

    def take(self, latencies: list[float]) -> None:
        """Read replies; each must be a result."""
        *lines, self.rest = (self.rest + self.socket.recv(1 << 18)).split(b"\n")
        now = time.perf_counter()
        for line in lines:
            # The id stands in front or at the end; a search costs less than parsing a reply of 800 bytes.
            start = line.index(b'"id":') + 5
            number = int(line[start : start + 8].split(b",")[0].split(b"}")[0])
            latencies.append(now - self.began.pop(number))
            self.failed += b'"result"' not in line
        self.done += len(lines)


def main() -> None:
    """Send everything, wait for every reply, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--socket", required=True)
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--window", type=int, default=8, help="requests of one connection on the way")
    parser.add_argument("--each", type=int, default=300, help="requests of one connection in all")
    arguments = parser.parse_args()
    lanes = [Lane(arguments.socket, lines_for(i, arguments.each), arguments.window) for i in range(arguments.writers)]
    selector = selectors.DefaultSelector()
    for lane in lanes:
        selector.register(lane.socket, selectors.EVENT_READ, lane)
    latencies: list[float] = []
    cpu, began = time.process_time(), time.perf_counter()
    for lane in lanes:
        lane.fill()
    total = arguments.writers * arguments.each
    while len(latencies) < total:
        for key, _ in selector.select():
            key.data.take(latencies)
            key.data.fill()
    took = time.perf_counter() - began
    print(
        json.dumps(
            {
                "acknowledged": total - sum(lane.failed for lane in lanes),
                "failed": sum(lane.failed for lane in lanes),
                "seconds": took,
                "cpu_s": time.process_time() - cpu,
                "p50_ms": sorted(latencies)[total // 2] * 1000,
                "p99_ms": sorted(latencies)[int(total * 0.99)] * 1000,
            }
        )
    )


if __name__ == "__main__":
    main()
