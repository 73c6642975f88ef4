"""The table and the picture of ``peers.py``."""

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from served import table

Result = dict[str, Any]  #: what was measured of one store at one size
BEGIN, END = "<!-- peers: written by benchmarks/peers.py -->", "<!-- end of peers -->"
PICTURE = Path("pictures") / "peers.svg"
_COLUMNS: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("loaded, notes/s", lambda one: f"{one['loaded'] / one['load_s']:,.0f}"),
    ("add p50, ms", lambda one: f"{one['add_ms']:.2f}"),
    ("query p50, ms", lambda one: f"{one['query_ms']:.2f}"),
    ("p99", lambda one: f"{one['query_ms_p99']:.2f}"),
    ("hit@5, %", lambda one: f"{one['hit']:.1f}"),
    ("memory, MiB", lambda one: f"{one['rss_mib']:,.0f}"),
    ("disk, MiB", lambda one: f"{one['disk_mib']:,.0f}"),
    ("start, s", lambda one: f"{one['start_s']:.2f}"),
)
_NAMES, _PANEL, _TOP, _BAR = 220, 240, 56, 16  #: of the picture, in pixels
_COLOURS = ("#9bb8d9", "#2f5f98", "#17324f", "#c60")


def report(results: Sequence[Result], model: str) -> str:
    """All that was measured, as Markdown."""
    rows = [["notes", "store", *(name for name, _ in _COLUMNS), "measured (UTC)", "load average"]]
    rows += [[f"{one['notes']:,}", one["peer"], *_cells(one), one["at"], str(one["load_average"])] for one in results]
    notes = [f"{one['notes']:,} notes, {one['peer']}: {_remark(one)}." for one in results if _remark(one)]
    about = f"Vectors: {model}. Machine: {os.cpu_count()} cores, {_processor()}."
    return "\n\n".join([table(rows), *notes, about])


def told(one: Result) -> str:
    """One result as text, for those who wait."""
    shown = ", ".join(f"{name} {cell}" for (name, _), cell in zip(_COLUMNS, _cells(one), strict=True))
    return f"{one['notes']:,} notes, {one['peer']}: {_remark(one) or shown}"


def write(document: Path, results: Sequence[Result], model: str) -> None:
    """Put the report between the markers of *document*, and its picture beside it."""
    text = document.read_text(encoding="utf-8")
    alternative = "The time of a query and the share of questions with a right note among the first five"
    inside = f"{BEGIN}\n\n{report(results, model)}\n\n![{alternative}]({PICTURE})\n\n{END}"
    changed, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: inside, text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{document} does not have the line {BEGIN!r} and after it {END!r}, once")
    (document.parent / PICTURE).write_text(picture(results, alternative), encoding="utf-8")
    document.write_text(changed, encoding="utf-8")


def _cells(one: Result) -> list[str]:
    cells = []
    for _, show in _COLUMNS:
        try:
            cells.append(show(one))
        except KeyError:
            cells.append("-")
    return cells


def _remark(one: Result) -> str:
    if "not_run" in one:
        return f"not run: {one['not_run']}"
    if one["finished"]:
        return ""
    if "load_s" in one:
        return f"stopped after {one['minutes']:g} minutes, with all notes loaded and {one['queries']} questions asked"
    return f"did not finish within {one['minutes']:g} minutes ({one['loaded']:,} loaded)"


def _processor() -> str:
    name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return name[1] if name else "unknown processor"


def picture(results: Sequence[Result], label: str) -> str:
    """Bars for each store and size: the time of a query, on a logarithmic scale, and hits."""
    shown = [one for one in results if "query_ms" in one]
    stores = sorted(
        {one["peer"] for one in shown}, key=lambda peer: min(_time(one) for one in shown if one["peer"] == peer)
    )
    sizes = sorted({one["notes"] for one in shown})
    step = _BAR * len(sizes) + 12
    width, height = _NAMES + 2 * _PANEL + 130, _TOP + step * len(stores) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
        f'font-family="sans-serif" font-size="12" aria-label="{escape(label)}">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _said(_NAMES, 40, "query p50, ms (logarithmic)"),
        _said(_NAMES + _PANEL + 70, 40, "hit@5, %"),
    ]
    for number, size in enumerate(sizes):
        parts.append(f'<rect x="{_NAMES + 110 * number}" y="10" width="12" height="12" fill="{_COLOURS[number]}"/>')
        parts.append(_said(_NAMES + 110 * number + 18, 20, f"{size:,} notes"))
    low = min((math.floor(_time(one)) for one in shown), default=0)
    high = max((math.ceil(_time(one)) for one in shown), default=1)
    for row, peer in enumerate(stores):
        top = _TOP + step * row
        parts.append(_said(_NAMES - 10, top + step / 2, peer, "end"))
        for one in (one for one in shown if one["peer"] == peer):
            at = sizes.index(one["notes"])
            share = (_time(one) - low) / max(1, high - low)
            parts += _bar(
                _NAMES,
                top + _BAR * at,
                _PANEL * share,
                _COLOURS[at],
                f"{one['query_ms']:.{0 if one['query_ms'] >= 10 else 2}f}",
            )
            left = _NAMES + _PANEL + 70
            parts += _bar(left, top + _BAR * at, _PANEL * one["hit"] / 100, _COLOURS[at], f"{one['hit']:.0f}")
    return "\n".join([*parts, "</svg>", ""])


def _time(one: Result) -> float:
    return math.log10(one["query_ms"])


def _bar(left: float, top: float, length: float, colour: str, value: str) -> list[str]:
    return [
        f'<rect x="{left}" y="{top:.1f}" width="{max(length, 1):.1f}" height="{_BAR - 3}" fill="{colour}"/>',
        _said(left + length + 6, top + _BAR - 5, value),
    ]


def _said(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'
