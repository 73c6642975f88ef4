"""Laws of the merge, over files and notes nobody would think of."""

from collections.abc import Sequence

from hypothesis import assume, example, given
from hypothesis import strategies as st

from shelfd.memory.ports.tending import Promoted
from shelfd.memory.tending.promotion.entries import PromotionLine
from shelfd.memory.tending.promotion.merge import Merged, merge

SECTIONS = ("learnings", "preferences", "user", "shared-context", "zebra")
NOTES = tuple(f"n{number}" for number in range(8))
PLENTY = 1 << 20

#: What people write that looks like promotion's own, or could be taken for something else.
FOREIGN = st.sampled_from(
    [
        "", "", " ", "prose", "  indented prose", "    code", "\tcode", "- item", "* item", "  - nested", "1. one",
        "# Memory", "# Mine", "#", "## ", "## user", "## user ##", "  ## preferences", "## Preferences", "### sub",
        "## other", "#hash", "```", "````", "```python", "~~~", "<!--", "<!-- a -->", "-->", "text --> text", "---",
        "===", "> quote", "| a |", "- **theirs**: mine", "- **t1**: another value", "* **t2:** another",
        "\x0bodd\u2028line",
    ]
) | st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(FOREIGN, st.sampled_from(["\n", "\n", "\r\n"])), max_size=14))
    text = "".join(line + end for line, end in lines)
    if draw(st.booleans()):
        text += draw(FOREIGN)
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


@st.composite
def entry_lists(draw: st.DrawFn) -> list[PromotionLine]:
    ids = draw(st.lists(st.sampled_from(NOTES), unique=True, max_size=len(NOTES)))
    entries = []
    for note_id in ids:
        number = int(note_id[1:])
        words = draw(st.sampled_from(["one", "two", "# three", "- four", "<\\!-- five --\\>", "six " * 9]))
        line = f"- **t{number}**: {words.strip()} ({number})"
        entries.append(PromotionLine(note_id, number, draw(st.sampled_from(SECTIONS)), line))
    return entries


def run(
    text: str, entries: Sequence[PromotionLine], manifest: Sequence[Promoted] = (), *, characters: int = PLENTY
) -> Merged:
    return merge(text, entries, manifest, existing=NOTES, characters=characters, now=1)


def seen(text: str) -> bool:
    return bool(text.removeprefix("\ufeff").strip())


T0, T1 = (
    PromotionLine("n0", 0, "preferences", "- **t0**: one (0)"),
    PromotionLine("n1", 1, "learnings", "- **t1**: one (1)"),
)


@example("  ## preferences", [([T1, T0], PLENTY), ([T0], PLENTY)])
@example("a lone CR\r", [([T0], PLENTY)])
@given(files(), st.lists(st.tuples(entry_lists(), st.sampled_from([PLENTY, 300, 150])), min_size=1, max_size=4))
def test_what_people_wrote_comes_back_byte_for_byte(text: str, nights: list[tuple[list[PromotionLine], int]]) -> None:
    assume(seen(text))
    now: str = text
    manifest: Sequence[Promoted] = ()
    for entries, characters in nights:
        merged = run(now, entries, manifest, characters=characters)
        assert merged.text is not None
        now, manifest = merged.text, merged.manifest
    assert run(now, [], manifest).text == text


@given(files(), st.lists(st.tuples(entry_lists(), st.sampled_from([PLENTY, 300, 150])), min_size=1, max_size=3))
def test_a_second_run_changes_nothing(text: str, nights: list[tuple[list[PromotionLine], int]]) -> None:
    now: str = text
    manifest: Sequence[Promoted] = ()
    for entries, characters in nights:
        merged = run(now, entries, manifest, characters=characters)
        again = run(merged.text or "", entries, merged.manifest, characters=characters)
        assert (again.text, again.manifest) == (merged.text, merged.manifest)
        assert (again.added, again.updated, again.removed) == (0, 0, 0)
        assert again.fell_out == merged.fell_out
        assert again.sections == merged.sections
        now, manifest = merged.text or "", merged.manifest


@given(files(), entry_lists(), entry_lists())
def test_a_crash_between_file_and_record_is_made_good(
    text: str, before: list[PromotionLine], after: list[PromotionLine]
) -> None:
    first = run(text, before)
    second = run(first.text or "", after, first.manifest)
    again = run(second.text or "", after, first.manifest)

    assert again.text == second.text
    assert again.promoted == second.promoted
    assert (again.added, again.updated, again.removed) == (0, 0, 0)


@given(files(), entry_lists(), entry_lists(), st.integers(0, 600))
def test_the_file_stays_inside_its_budget(
    text: str, before: list[PromotionLine], after: list[PromotionLine], characters: int
) -> None:
    first = run(text, before, characters=characters)
    second = run(first.text or "", after, first.manifest, characters=characters)

    for merged, entries in ((first, before), (second, after)):
        assert merged.text is not None
        assert len(merged.text) <= max(characters, len(text) + 100 * (not seen(text)))
        assert len(merged.promoted) + merged.fell_out <= len(entries)


@given(files(), entry_lists())
def test_every_entry_is_there_once_or_somebody_else_has_its_title(text: str, entries: list[PromotionLine]) -> None:
    merged = run(text, entries)
    assert merged.text is not None
    lines = [line.removesuffix("\r") for line in merged.text.removeprefix("\ufeff").split("\n")]

    for entry in entries:
        assert lines.count(entry.line) == (entry.note_id in merged.promoted)
    assert {entry.note_id for entry in entries} - merged.promoted <= {"n1", "n2"}
    assert merged.added == len(merged.promoted) == sum(merged.sections.values())
