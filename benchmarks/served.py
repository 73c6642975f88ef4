"""A daemon to measure: started on an empty directory, stopped and removed afterwards."""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shelfd.client import Client

CHECKOUT = Path(__file__).resolve().parent.parent
DAEMON = (sys.executable, "-m", "shelfd.daemon")
_LOOK_S = 0.5  # between looks at how many notes have vectors


@dataclass(frozen=True)
class Served:
    """A running daemon: its socket, its data directory, its log file and its process."""

    socket: str
    data: Path
    log: Path
    process: "subprocess.Popen[str]"
    ready_s: float

    def cpu_s(self) -> float:
        """CPU seconds the daemon has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self) -> float:
        """Resident memory of the daemon now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20

    def exact_cpu_s(self) -> float:
        """The same of its present threads, to less than a millisecond."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def own_mib(self) -> float:
        """Memory of the daemon's own now: resident, without pages of files."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("RssAnon:", 1)[1].split(maxsplit=1)[0]) / 2**10


@contextmanager
def working_directory(parent: str | None) -> Iterator[Path]:
    """An empty directory on a real disk (``--dir``, else below the checkout: /tmp may live in memory)."""
    base = Path(parent) if parent else CHECKOUT / ".run"
    base.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="bench-", dir=base))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def served(directory: Path, *flags: str, command: Sequence[str] = DAEMON) -> Iterator[Served]:
    """Run a daemon in *directory* until the block ends, by *command*, with further command line *flags*."""
    socket, data, log = str(directory / "s"), directory / "data", directory / "log"
    environment = clean_environment()
    arguments = ["--data-dir", str(data), "--socket", socket, *flags]
    started = time.perf_counter()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=sink, text=True, env=environment
        )
    try:
        assert process.stdout is not None
        while line := process.stdout.readline():
            if "READY" in line:
                break
        else:
            raise SystemExit(f"the daemon did not start:\n{log.read_text()}")
        yield Served(socket, data, log, process, time.perf_counter() - started)
    finally:
        process.terminate()
        process.communicate(timeout=30)


#: Embedders of the extra "dense", the default first.
EMBEDDERS = ("minilm", "wordllama")


def with_embedder(directory: Path, kind: str) -> tuple[str, str]:
    """Return the flags of a daemon with an embedder, that waits for it however busy the machine is."""
    file = directory / "embedder.toml"
    file.write_text(f'[embedder]\nkind = "{kind}"\ndeadline_ms = 60000\n')
    return "--config", str(file)


def wait_for_vectors(client: Client, shelf: str) -> Iterator[float]:
    """Yield which share of the notes of a shelf has vectors, until all have."""
    share = 0.0
    while share < 1:
        reply = client.call("recall", {"query": "shelf", "shelf": shelf, "session_id": None})
        dense = reply["dense"]
        share = 0.0 if "skipped" in dense else dense["share"]
        yield share
        time.sleep(_LOOK_S)


def clean_environment() -> dict[str, str]:
    """This process's environment without settings of a daemon, and with compiled bytecode allowed."""
    return {n: v for n, v in os.environ.items() if not n.startswith("SHELFD") and n != "PYTHONDONTWRITEBYTECODE"}


def fdatasync_overwrites_per_s(path: Path, seconds: float = 1.0) -> float:
    """How many 4 KiB overwrites can be made durable in a second, one after another."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    block = b"x" * 4096
    os.pwrite(descriptor, block, 0)
    os.fsync(descriptor)
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        os.pwrite(descriptor, block, 0)
        os.fdatasync(descriptor)
        count += 1
    os.close(descriptor)
    return count / (time.perf_counter() - began)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which *share* of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table; the first is its head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)
