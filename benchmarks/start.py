"""How fast the daemon is ready, how fast a command answers, and what an idle daemon costs.

Run: ``python benchmarks/start.py``
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from served import clean_environment, median, served, table, working_directory

IMPORTS = "import numpy, uvloop, pydantic, aiomqtt"


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Wall seconds of one run of *command*."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds to watch an idle daemon")
    arguments = parser.parse_args()
    shelfd = str(Path(sys.executable).with_name("shelfd"))
    environment = clean_environment()
    ready, baseline, commands = [], [], []
    with working_directory(arguments.dir) as directory:
        for _ in range(arguments.runs):
            baseline.append(seconds([sys.executable, "-c", IMPORTS], environment))
            with served(directory) as daemon:
                ready.append(daemon.ready_s)
        with served(directory) as daemon:
            environment["SHELFD_SOCKET"] = daemon.socket
            for number in range(arguments.runs):
                commands.append(seconds([shelfd, "remember", f"benchmark {number}"], environment))
                commands.append(seconds([shelfd, "recall", "benchmark"], environment))
            time.sleep(2)
            cpu = daemon.cpu_s()
            time.sleep(arguments.idle)
            idle = (daemon.cpu_s() - cpu) / arguments.idle * 100
            memory = daemon.rss_mib()
    rows = [
        ["measurement", "measured", "must be"],
        ["READY after start, median", f"{median(ready):.3f} s", "<= 1 s"],
        [
            f"ratio to `python -c '{IMPORTS}'`",
            f"{median(ready) / median(baseline):.2f} ({median(baseline):.3f} s)",
            "<= 4",
        ],
        ["client command (remember, recall), median", f"{median(commands) * 1000:.0f} ms", "< 150 ms"],
        ["idle CPU", f"{idle:.2f} %", "< 0.1 %"],
        ["idle resident memory", f"{memory:.0f} MiB", "< 120 MB"],
    ]
    print(table(rows))


if __name__ == "__main__":
    main()
