"""The three-way merge: what promotion wrote last time, what it would write now, and what the file says.

Lines that promotion did not write are never touched, byte for byte. A line of its own that a person changed is that
person's from then on; one that a person took out stays out until the note says something else.
"""

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from shelfd.memory.ports.tending import Promoted
from shelfd.memory.tending.promotion.budget import NOTICE, TITLE, choose, heading_of
from shelfd.memory.tending.promotion.claims import Place, claim
from shelfd.memory.tending.promotion.document import Line, MemoryFile, Part, is_bullet
from shelfd.memory.tending.promotion.entries import PromotionLine, section_order


@dataclass(frozen=True, slots=True)
class Merged:
    """What promotion comes to.

    Attributes:
        text: The file's new text; None if there is no file and nothing to write.
        manifest: What promotion has written by now: headings first, then lines by note.
        promoted: Notes whose lines stand in the file.
        sections: How many lines each section has, in their order.
        fell_out: Entries for which the budget left no room.
        states: What becomes of each entry's line, by note: ``in_file``, ``updated``, ``new``, ``fell_out``,
            ``edited`` or ``taken_out``; ``leaves`` for lines in the file that belong to no entry any more.
    """

    text: str | None
    manifest: Sequence[Promoted]
    promoted: frozenset[str]
    sections: dict[str, int]
    added: int
    updated: int
    removed: int
    fell_out: int
    states: Mapping[str, str]


def merge(
    text: str | None,
    entries: Sequence[PromotionLine],
    manifest: Sequence[Promoted],
    *,
    existing: Container[str],
    characters: int,
    now: int,
) -> Merged:
    """Merge *entries* into *text*.

    Args:
        text: The file's text. None is no file: then everything is written anew.
        entries: Lines to write, the most valuable first, no two alike.
        manifest: What promotion wrote into this file so far.
        existing: Notes of the manifest that are still there, hidden or not; nothing is kept of others.
        characters: How many the file may have, where promotion has a say.
        now: Microseconds since 1970 UTC.
    """
    known = () if text is None else manifest
    work = _Merge(MemoryFile(text or ""), entries, known, characters=characters, now=now)
    work.rewrite()
    work.write_missing()
    merged = work.result(existing)
    return replace(merged, text=None) if text is None and not merged.promoted else merged


class _Merge:
    """One merge at work.

    Attributes:
        written: What promotion wrote last time, by note.
        separated: Sections of people's where a blank line of promotion's comes before its own.
        sections: Notes whose lines stand in the file, with the sections they were written for.
    """

    def __init__(
        self,
        document: MemoryFile,
        entries: Sequence[PromotionLine],
        manifest: Sequence[Promoted],
        *,
        characters: int,
        now: int,
    ) -> None:
        self.document = document
        self.is_new = document.is_blank
        self.entries = entries
        self.now = now
        self.rows = {entry.note_id: entry.row for entry in entries}
        self.manifest = manifest
        self.written = {row.note_id: row for row in manifest if row.note_id}
        self.separated = {row.section for row in manifest if not row.note_id and not row.line}
        self.sections: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.updated: set[str] = set()
        self.claims = claim(document, entries, self.written)
        self._claim_headings()
        self._adopt_headings()
        self.chosen = self._choose(characters)

    # ----------------------------------------------------------- look

    def _claim_headings(self) -> None:
        for row in self.manifest:
            if not row.note_id and row.line:
                heading = row.line.strip("\n")
                for part in self.document.parts:
                    if part.made is None and part.heading is not None and part.heading.text == heading:
                        part.made = row.line
                        break

    def _adopt_headings(self) -> None:
        """Take headings for own that came into the file just before a crash, with nothing but lines like that."""
        recorded = {row.section for row in self.manifest}
        for before, part in pairwise(self.document.parts):
            owners = {line.owner for line in part.body if line.owner is not None}
            if part.section in recorded or part.level != 2 or not owners or owners & self.written.keys():
                continue
            if part.heading is None or part.heading.text != heading_of(part.section):
                continue
            leads = "\n" if before.body and before.body[-1].is_blank else ""
            tails = "\n" if part.body[0].is_blank else ""
            part.made = f"{leads}{part.heading.text}{tails}"
            if not self.document.may_remove(part):
                part.made = None

    def _choose(self, characters: int) -> frozenset[str]:
        """Choose what the file has room for."""
        settled = self.claims.theirs | self.claims.taken_out
        wanted = [entry for entry in self.entries if entry.note_id not in settled]
        chosen = choose(self.document, wanted, separators=len(self.separated), characters=characters)
        self.counts["fell_out"] = len(wanted) - len(chosen)
        return chosen

    # ---------------------------------------------------------- write

    def rewrite(self) -> None:
        """Bring lines that stand in the file up to date and take out those that have no place there any more."""
        for stale in self.claims.stale:
            self._take_out(stale)
            self.counts["removed"] += 1
        for entry in self.entries:
            place = self.claims.standing.get(entry.note_id)
            if place is None:
                continue
            if entry.note_id not in self.chosen:
                self._take_out(place)
                self.counts["removed"] += 1
            elif self._belongs_elsewhere(entry, place):
                self._take_out(place)
                self.updated.add(entry.note_id)
            else:
                self._keep(entry, place)

    def _belongs_elsewhere(self, entry: PromotionLine, place: Place) -> bool:
        """Whether a line must move: it still is where promotion put it, and its note has changed sides."""
        base = self.written.get(entry.note_id)
        return base is not None and place.part.section == base.section != entry.section

    def _keep(self, entry: PromotionLine, place: Place) -> None:
        base = self.written.get(entry.note_id)
        is_moved = base is not None and place.part.section != entry.section
        self.sections[entry.note_id] = base.section if is_moved and base is not None else entry.section
        if place.line.text != entry.line:
            place.line.text = entry.line
            self.updated.add(entry.note_id)

    def _take_out(self, place: Place) -> None:
        body = place.part.body
        position = body.index(place.line)
        del body[position]
        section = place.part.section
        is_last = not any(line.owner is not None for line in body)
        if is_last and section in self.separated and position and body[position - 1].is_blank:
            del body[position - 1]
            self.separated.discard(section)

    def write_missing(self) -> None:
        """Write chosen entries that have no line, section by section."""
        missing = [entry for entry in self.entries if entry.note_id in self.chosen - self.sections.keys()]
        self._remove_empty_headings({entry.section for entry in missing})
        if missing and self.is_new:
            self._begin()
        for entry in sorted(missing, key=lambda entry: (section_order(entry.section), entry.row)):
            self._insert(self._part_of(entry.section), entry)
            self.sections[entry.note_id] = entry.section
            self.counts["added"] += entry.note_id not in self.claims.standing

    def _leads_on(self, part: Part) -> bool:
        """Whether the blank line at the end of *part* came with the next section's heading."""
        parts = self.document.parts
        behind = parts.index(part) + 1
        return behind < len(parts) and (parts[behind].made or "").startswith("\n") and part.size < len(part.body)

    def _remove_empty_headings(self, needed: Collection[str]) -> None:
        """Take away headings that promotion made, that have nothing under them any more and are not *needed*."""
        parts = self.document.parts
        for part in [part for part in parts if part.made is not None]:
            if part.section in needed or not self.document.may_remove(part):
                continue
            if any(line.owner is not None for line in part.body):
                continue
            before = parts[parts.index(part) - 1]
            made = part.made or ""
            if made.endswith("\n") and part.body and part.body[0].is_blank:
                del part.body[0]
            if made.startswith("\n") and before.body and before.body[-1].is_blank:
                del before.body[-1]
            before.body += part.body
            parts.remove(part)

    def _begin(self) -> None:
        parts = self.document.parts
        blanks = [line for part in parts for line in part.body]
        parts[:] = [Part(None), Part(Line(TITLE), 1, body=[Line(""), Line(NOTICE), *blanks])]

    def _part_of(self, section: str) -> Part:
        found = [part for part in self.document.parts if part.level == 2 and part.section == section]
        if not found:
            return self._new_part(section)
        return next((part for part in found if part.made is not None), found[0])

    def _new_part(self, section: str) -> Part:
        parts = self.document.parts
        position = self._position_of(section)
        before = parts[position - 1]
        part = Part(Line(heading_of(section)), 2, section, body=[Line(""), *before.body[before.size :]])
        del before.body[before.size :]
        leads = "\n" if before.body or before.heading is not None or position > 1 else ""
        if leads:
            before.body.append(Line(""))
        part.made = f"{leads}{heading_of(section)}\n"
        parts.insert(position, part)
        return part

    def _position_of(self, section: str) -> int:
        """Where a new section goes among those that promotion made; at the end if there are none."""
        parts = self.document.parts
        position = len(parts)
        for index in reversed(range(1, len(parts))):
            if parts[index].made is None:
                continue
            if section_order(parts[index].section) > section_order(section):
                position = index
            else:
                end = (i for i in range(index + 1, len(parts)) if parts[i].level <= 2)
                return next(end, len(parts))
        return position

    def _insert(self, part: Part, entry: PromotionLine) -> None:
        """Put a line among promotion's own in its section, in the order in which their notes were made."""
        own = [line for line in part.body if line.owner is not None]
        line = Line(entry.line, owner=entry.note_id)
        older = [other for other in own if self.rows[other.owner or ""] < entry.row]
        if older:
            last = max(older, key=lambda other: self.rows[other.owner or ""])
            part.body.insert(part.end_of_item(last), line)
        elif own:
            part.body.insert(part.body.index(own[0]), line)
        else:
            self._begin_list(part, line)

    def _begin_list(self, part: Part, line: Line) -> None:
        """Put the first line of promotion's into a section: behind everything else, with a blank line before it."""
        start = part.size or min(1, len(part.body) - self._leads_on(part))
        before = part.body[start - 1] if start else part.heading
        lines = [line]
        if before is not None and not before.is_blank and not is_bullet(before):
            self.separated.add(part.section)
            lines = [Line(""), line]
        part.body[start:start] = lines

    # ----------------------------------------------------------- tell

    def result(self, existing: Container[str]) -> Merged:
        """Return what it came to."""
        return Merged(
            text=self.document.text(),
            manifest=[*self._headings(), *self._lines(existing)],
            promoted=frozenset(self.sections),
            sections=dict(sorted(Counter(self.sections.values()).items(), key=lambda item: section_order(item[0]))),
            added=self.counts["added"],
            updated=len(self.updated),
            removed=self.counts["removed"],
            fell_out=self.counts["fell_out"],
            states={entry.note_id: self._state(entry.note_id) for entry in self.entries}
            | {place.line.owner: "leaves" for place in self.claims.stale if place.line.owner is not None},
        )

    def _state(self, note_id: str) -> str:
        if note_id in self.claims.theirs:
            return "edited"
        if note_id in self.claims.taken_out:
            return "taken_out"
        if note_id not in self.chosen:
            return "fell_out"
        if note_id in self.updated:
            return "updated"
        return "in_file" if note_id in self.claims.standing else "new"

    def _headings(self) -> list[Promoted]:
        since = {row.section: row.promoted_at for row in self.manifest if not row.note_id}
        made = [(part.section, part.made) for part in self.document.parts if part.made is not None]
        made += [(section, "") for section in self.separated]
        return [Promoted("", section, line, since.get(section, self.now)) for section, line in sorted(made)]

    def _lines(self, existing: Container[str]) -> list[Promoted]:
        """What is on record of each note's line: as it stands in the file, or as a person last saw it."""
        lines = {entry.note_id: entry.line for entry in self.entries}
        rows: dict[str, Promoted] = {}
        for note_id, base in self.written.items():
            if note_id in self.claims.theirs:
                rows[note_id] = base._replace(line=lines[note_id])
            elif note_id in self.claims.taken_out:
                rows[note_id] = base
        for note_id, section in self.sections.items():
            old = self.written.get(note_id)
            rows[note_id] = Promoted(note_id, section, lines[note_id], old.promoted_at if old else self.now)
        return [row for note_id, row in sorted(rows.items()) if note_id in existing]
