"""What it costs to come in: an agent by MCP.

Run: ``python benchmarks/connect.py [SECTION ...]``
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcp.client.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters

from served import CHECKOUT, Served, clean_environment, median, percentile, served, table, working_directory
from shelfd.client import Client, connect

Rows = list[list[str]]
SHELFD = str(Path(sys.executable).with_name("shelfd"))
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def texts() -> list[str]:
    """What is remembered: notes written for this project."""
    lines = (CHECKOUT / "benchmarks" / "data" / "notes.jsonl").read_text().splitlines()
    return [json.loads(line)["content"] for line in lines]


def mcp(daemon: Served, runs: int) -> Rows:
    """A recall through the official client and ``shelfd mcp``, over one through the socket; the first answer."""
    with connect(daemon.socket) as client:
        notes = texts()
        for start in range(0, len(notes), 500):
            client.call("remember_many", {"notes": [{"content": text} for text in notes[start : start + 500]]})
        queries = [" ".join(text.split()[:6]) for text in notes[:: max(1, len(notes) // runs)]][:runs]
        rows = []
        for mode in ("auto", "legacy"):
            own, through = asyncio.run(_recalls(client, daemon, mode, queries))
            over = (median(through) - median(own)) * 1000
            version = "2026-07-28" if mode == "auto" else "2025-11-25"
            rows += [
                [f"recall by the socket, p50 of {runs}", f"{median(own) * 1000:.2f} ms", ""],
                [
                    f"the same by MCP {version}, p50 (p99)",
                    f"{median(through) * 1000:.2f} ms ({percentile(through, 0.99) * 1000:.2f} ms)",
                    "",
                ],
                ["over the socket's own, p50", f"{over:.2f} ms", "<= 3 ms"],
            ]
    return rows + _first_answers(daemon)


async def _recalls(client: Client, daemon: Served, mode: str, queries: list[str]) -> tuple[list[float], list[float]]:
    """Seconds of each recall by the socket and by MCP, in turn, in the same shape."""
    own: list[float] = []
    through: list[float] = []
    server = StdioServerParameters(command=SHELFD, args=["mcp", "--socket", daemon.socket], env=clean_environment())
    async with McpClient(server, mode=mode) as agent:
        for query in [*queries[:20], *queries]:  # the first ones are not counted
            began = time.perf_counter()
            client.call("recall", {"query": query, "max_content_chars": 2000})
            between = time.perf_counter()
            await agent.call_tool("recall", {"query": query})
            own.append(between - began)
            through.append(time.perf_counter() - between)
    return own[20:], through[20:]


def _first_answers(daemon: Served, runs: int = 15) -> Rows:
    """Seconds from the start of ``shelfd mcp`` to its answer to ``initialize``."""
    environment = clean_environment()
    nowhere = ["--socket", f"{daemon.socket}.none", "--no-start"]
    bare, there, alone = [], [], []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, env=environment)
        bare.append(time.perf_counter() - began)
        there.append(_first_answer(["--socket", daemon.socket], environment))
        alone.append(_first_answer(nowhere, environment))
    return [
        ["`python -c pass`, median", f"{median(bare) * 1000:.0f} ms", ""],
        ["`shelfd mcp` to the answer of initialize, median", f"{median(there) * 1000:.0f} ms", "<= 100 ms"],
        ["the same where no daemon runs", f"{median(alone) * 1000:.0f} ms", "<= 100 ms"],
    ]


def _first_answer(arguments: list[str], environment: Mapping[str, str]) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [SHELFD, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(GREETING).encode() + b"\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        took = time.perf_counter() - began
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        process.stdin.close()
    return took


#: One function for each section: of a daemon on an empty shelf, and how often to measure.
SECTIONS: dict[str, Callable[[Served, int], Rows]] = {"mcp": mcp}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all without any")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    parser.add_argument("--runs", type=int, default=300)
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        with working_directory(arguments.dir) as directory, served(directory) as daemon:
            print(table([[name, "measured", "must be"], *SECTIONS[name](daemon, arguments.runs)]), end="\n\n")


if __name__ == "__main__":
    main()
