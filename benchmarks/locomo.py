"""Recall on real conversations: LoCoMo, one shelf per conversation, one turn one note, no language model.

The data is not part of this project; give the path of a file with LoCoMo conversations. Every turn is remembered
and every question asked through the daemon's socket. R@k is the share of a question's evidence turns among the
first k notes, mean over questions of categories 1 to 4.

Run: ``python benchmarks/locomo.py PATH``; ``--dense`` recalls by meaning too, with the extra "dense"
"""

import argparse
import json
import math
import re
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from served import EMBEDDERS, median, percentile, served, table, wait_for_vectors, with_embedder, working_directory
from shelfd.client import Client, connect

K = 20


def turns(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """The notes of one conversation, in order, each with its turn's id as ``source_ref``."""
    found = []
    name = conversation["sample_id"]
    numbers = sorted(
        int(key.split("_")[1]) for key in conversation["conversation"] if re.fullmatch(r"session_\d+", key)
    )
    for number in numbers:
        said = conversation["conversation"][f"session_{number}_date_time"]
        moment = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn, message in enumerate(conversation["conversation"][f"session_{number}"], start=1):
            caption = message.get("blip_caption")
            found.append(
                {
                    "content": message["text"] + (f" {caption}" if caption else ""),
                    "author": message["speaker"],
                    "session_id": f"{name}-s{number}",
                    "turn": turn,
                    "occurred_at": moment.isoformat(),
                    "source_ref": message["dia_id"],
                }
            )
    return [note for note in found if note["content"].strip()]


def evidence(question: dict[str, Any], known: set[str]) -> set[str]:
    """Ids of the turns that hold the answer, with the data's typing slips repaired."""
    found = set()
    for part in question.get("evidence", []):
        for raw in re.split(r"[;\s]+", part):
            match = re.fullmatch(r"D:?(\d+):0*(\d+)", raw.strip())
            if match:
                found.add(f"D{match[1]}:{match[2]}")
    return found & known


def progress(done: int, total: int, what: str) -> None:
    """Draw a progress bar on a terminal, or a line at the end elsewhere."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(
            f"\r{what:<22} [{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True
        )
    elif done == total:
        print(f"{what}: {done}", file=sys.stderr)


def ingest(client: Client, shelf: str, notes: list[dict[str, Any]]) -> None:
    """Remember every turn, one request each."""
    client.call("shelf.create", {"shelf": shelf})
    for number, note in enumerate(notes, start=1):
        client.call("remember", {**note, "shelf": shelf})
        if number % 20 == 0 or number == len(notes):
            progress(number, len(notes), f"remember {shelf}")


def ask(client: Client, shelf: str, question: str, session_id: str) -> tuple[list[dict[str, Any]], float]:
    """The notes recalled for a question, best first, and how long a recall of ten took in seconds."""
    began = time.perf_counter()
    client.call("recall", {"query": question, "shelf": shelf, "k": 10, "session_id": session_id})
    took = time.perf_counter() - began
    reply = client.call("recall", {"query": question, "shelf": shelf, "k": K, "session_id": None})
    return [hit["note"] for hit in reply["results"]], took


def judge(notes: list[dict[str, Any]], wanted: set[str]) -> dict[str, float]:
    """The measures of one question."""
    ids = [note["source_ref"] for note in notes]
    ranks = [rank for rank, turn in enumerate(ids, start=1) if turn in wanted]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(wanted)) + 1))
    sessions = {turn.split(":")[0] for turn in wanted}
    return {
        **{f"R@{k}": len(wanted & set(ids[:k])) / len(wanted) for k in (5, 10, 20)},
        **{f"hit@{k}": float(bool(wanted & set(ids[:k]))) for k in (5, 10)},
        "nDCG@10": sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10) / ideal,
        "MRR": 1 / ranks[0] if ranks else 0.0,
        "session R@10": len(sessions & {turn.split(":")[0] for turn in ids[:10]}) / len(sessions),
    }


def name(client: Client, shelf: str, notes: list[dict[str, Any]]) -> None:
    """Remember a fact keyed by each speaker's name, which stands in most questions and answers none."""
    for speaker in sorted({note["author"] for note in notes}):
        told = f"{speaker} is one of the two friends who write here."
        client.call("remember", {"content": told, "key": speaker, "source_ref": f"name:{speaker}", "shelf": shelf})


def embed(client: Client, shelf: str) -> None:
    """Wait until all notes have vectors."""
    for share in wait_for_vectors(client, shelf):
        progress(round(100 * share), 100, f"embed {shelf}, %")


def run(
    client: Client, conversations: list[dict[str, Any]], *, names: bool, dense: bool
) -> tuple[dict[str, dict[int, list[dict[str, float]]]], list[float]]:
    """Ingest and ask everything; measures by conversation and category, and latencies."""
    measures: dict[str, dict[int, list[dict[str, float]]]] = {}
    latencies: list[float] = []
    for conversation in conversations:
        shelf = conversation["sample_id"]
        notes = turns(conversation)
        ingest(client, shelf, notes)
        if names:
            name(client, shelf, notes)
        if dense:
            embed(client, shelf)
        known = {note["source_ref"] for note in notes}
        measures[shelf] = defaultdict(list)
        for number, question in enumerate(conversation["qa"], start=1):
            progress(number, len(conversation["qa"]), f"recall {shelf}")
            wanted = evidence(question, known)
            if wanted:
                found, took = ask(client, shelf, question["question"], f"bench-{number}")
                latencies.append(took)
                measures[shelf][question["category"]].append(judge(found, wanted))
    return measures, latencies


def report(measures: dict[str, dict[int, list[dict[str, float]]]]) -> str:
    """The table: a row per conversation, one for all, one per category."""
    groups: list[tuple[str, list[dict[str, float]]]] = [
        (shelf, [m for category, found in by.items() if category <= 4 for m in found]) for shelf, by in measures.items()
    ]
    groups.append(("all, categories 1-4", [m for _, found in groups for m in found]))
    groups += [
        (f"category {number}", [m for by in measures.values() for m in by.get(number, [])]) for number in range(1, 6)
    ]
    names = list(groups[0][1][0])
    rows = [["questions of", "n", *names]]
    for title, found in groups:
        if found:
            means = [f"{100 * sum(m[name] for m in found) / len(found):.1f}" for name in names]
            rows.append([title, str(len(found)), *means])
    return table(rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a JSON file with LoCoMo conversations")
    parser.add_argument("--names", action="store_true", help="add a fact keyed by each speaker's name")
    parser.add_argument("--dense", nargs="?", choices=EMBEDDERS, const=EMBEDDERS[0], help="with vectors; by %(const)s")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    conversations = json.loads(Path(arguments.path).read_text())
    with (
        working_directory(arguments.dir) as directory,
        served(directory, *(with_embedder(directory, arguments.dense) if arguments.dense else ())) as daemon,
        connect(daemon.socket) as client,
    ):
        began = time.perf_counter()
        measures, latencies = run(client, conversations, names=arguments.names, dense=bool(arguments.dense))
        took = time.perf_counter() - began
        memory = daemon.rss_mib()
    print(report(measures))
    print(
        f"\nrecall of 10 through the socket: p50 {median(latencies) * 1000:.2f} ms,"
        f" p99 {percentile(latencies, 0.99) * 1000:.2f} ms ({len(latencies)} questions);"
        f" whole run {took:.1f} s, daemon {memory:.0f} MiB resident"
    )


if __name__ == "__main__":
    main()
