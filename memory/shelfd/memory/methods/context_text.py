"""Notes as text for a prompt: whole entries within a budget, and a word on what there was no room for."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from shelfd.memory.methods.found import Found
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import cut, first_sentence
from shelfd.protocol import from_micros

CHARACTERS_PER_TOKEN: Final = 4
#: Ids that are named of notes there was no room for.
_IDS: Final = 5


class ContextText(NamedTuple):
    """What goes into the prompt.

    Attributes:
        text: The entries; at most four characters for each token of the budget.
        notes: Those that have one, best first.
        left_out: Those for which there was no room, best first.
    """

    text: str
    notes: list[Note]
    left_out: list[Note]

    @property
    def tokens(self) -> int:
        """How many tokens the text takes, at four characters each."""
        return -(-len(self.text) // CHARACTERS_PER_TOKEN)


def chosen(found: Sequence[Found], k: int) -> list[Found]:
    """Return the best *k* of what was *found*, best first; pinned ones displace the last of the others."""
    best = list(found[:k])
    displaceable = [item for item in best if not item.note.pinned]
    for pinned in [item for item in found[k:] if item.note.pinned]:
        if not displaceable:
            break
        best.remove(displaceable.pop())
        best.append(pinned)
    return best


def context_text(
    found: Sequence[Found], content_chars: int, token_budget: int, disputed: Collection[int] = ()
) -> ContextText:
    """Return the entries of what was *found*: pinned notes first get room, then the best, then shorter ones.

    Args:
        found: Best first.
        content_chars: Longer content is cut at a word and marked; 0 for all of it.
        token_budget: Of the text.
        disputed: Rows of notes that another one contradicts.
    """
    budget = token_budget * CHARACTERS_PER_TOKEN
    left = budget - len(_heading(len(found)))
    # Numbers of entries are no longer than that of the last one.
    sizes = [len(_entry(item, len(found), content_chars, disputed)) + 2 for item in found]
    order = sorted(range(len(found)), key=lambda at: (not found[at].note.pinned, at))
    fitting = _fitting(sizes, order, left)
    if len(fitting) < len(found):  # that has to be said, which takes room, too
        longest = sorted((item.note for item in found), key=lambda note: -len(note.id))
        fitting = _fitting(sizes, order, left - len(_left_out(longest)) - 2) or fitting
    kept = [item for at, item in enumerate(found) if at in fitting]
    left_out = [item.note for at, item in enumerate(found) if at not in fitting]
    numbered = [_entry(item, number, content_chars, disputed) for number, item in enumerate(kept, start=1)]
    text = "\n\n".join([_heading(len(kept)), *numbered]) if kept else _none(left_out, budget)
    if kept and left_out and len(text) + 2 + len(rest := _left_out(left_out)) <= budget:
        text = f"{text}\n\n{rest}"
    return ContextText(text, [item.note for item in kept], left_out)


def _fitting(sizes: Sequence[int], order: Sequence[int], left: int) -> set[int]:
    """Those that there is room for, taken in *order*; after one that is too long a shorter one may fit."""
    fitting = set()
    for at in order:
        if sizes[at] <= left:
            left -= sizes[at]
            fitting.add(at)
    return fitting


def _heading(count: int) -> str:
    return f"## Relevant Memories ({count} notes)"


def _none(left_out: Sequence[Note], budget: int) -> str:
    """What is said instead of entries, as far as there is room for that: there are none, or none that fits."""
    if not left_out:
        sayings = ["No relevant memories found."]
    else:
        none = f"(no room for {len(left_out)} relevant {'memory' if len(left_out) == 1 else 'memories'}"
        sayings = [f"{none}: {_named(left_out)})", f"{none})"]
    return next((said for said in sayings if len(said) <= budget), "")


def _left_out(notes: Sequence[Note]) -> str:
    return f"(no room for {len(notes)} more: {_named(notes)})"


def _named(notes: Sequence[Note]) -> str:
    ids = ", ".join(note.id for note in notes[:_IDS])
    return f"{ids}, ..." if len(notes) > _IDS else ids


def _entry(item: Found, number: int, content_chars: int, disputed: Collection[int]) -> str:
    note = item.note
    content = note.content if content_chars == 0 else cut(note.content, content_chars)
    about = note.title if note.kind == "fact" else first_sentence(note.content)
    known = [f"confidence: {note.confidence:.2f}", from_micros(note.when)[:10], *_marks(note, disputed)]
    lines = [f"### [{number}] {note.id} ({', '.join(known)})", f"Context: {about}", f"Content: {content}"]
    if related := [link.target for link in item.links]:
        lines.append(f"Related: {', '.join(dict.fromkeys(related))}")
    return "\n".join(lines)


def _marks(note: Note, disputed: Collection[int]) -> list[str]:
    """What a reader should know before relying on a note."""
    marks = []
    if note.superseded_by is not None:
        marks.append(f"superseded by {note.superseded_by}")
    if note.needs_review:
        marks.append("uncertain")
    if note.row in disputed:
        marks.append("contradicted by another note")
    if note.extra.trust is not None:
        marks.append("untrusted")
    return marks
