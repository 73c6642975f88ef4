"""The merge in single cases: what promotion wrote, what people made of it, what the notes say now."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from shelfd.memory.ports.tending import Promoted
from shelfd.memory.tending.promotion.entries import PromotionLine
from shelfd.memory.tending.promotion.merge import Merged, merge

HEADER = "# Memory\n\nAuto-promoted from nuggets graph notes (3+ recalls across sessions).\n"


def entry(number: int, title: str, content: str, section: str = "user") -> PromotionLine:
    return PromotionLine(f"n{number}", number, section, f"- **{title}**: {content}")


THEME, DRINK = entry(1, "theme", "dark"), entry(2, "drink", "tea")


@dataclass
class Page:
    """A file and what is on record of it."""

    text: str | None = None
    manifest: Sequence[Promoted] = ()
    existing: set[str] = field(default_factory=lambda: {f"n{number}" for number in range(10)})

    def night(self, *entries: PromotionLine, tokens: int = 4000) -> Merged:
        merged = merge(
            self.text, entries, self.manifest, existing=self.existing, characters=4 * tokens, now=len(self.manifest)
        )
        self.text, self.manifest = merged.text, merged.manifest
        return merged

    def edit(self, old: str, new: str) -> None:
        assert self.text is not None
        assert self.text.count(old) == 1
        self.text = self.text.replace(old, new)

    @property
    def body(self) -> str:
        assert self.text is not None
        return self.text.removeprefix(HEADER)


def counts(merged: Merged) -> tuple[int, int, int]:
    return merged.added, merged.updated, merged.removed


@pytest.fixture
def page() -> Page:
    page = Page()
    page.night(THEME, DRINK)
    return page


def test_nothing_to_write_makes_no_file() -> None:
    page = Page()
    assert counts(page.night()) == (0, 0, 0)
    assert page.text is None


def test_lines_stand_in_the_order_their_notes_were_made(page: Page) -> None:
    assert page.body == "\n## user\n\n- **theme**: dark\n- **drink**: tea\n"
    page.night(entry(0, "first", "of all"), DRINK, THEME)
    assert page.body == "\n## user\n\n- **first**: of all\n- **theme**: dark\n- **drink**: tea\n"


def test_learnings_and_preferences_come_before_the_rest() -> None:
    page = Page()
    page.night(entry(1, "z", "z", "zoo"), entry(2, "a", "a", "assistant-self"))
    page.night(
        entry(1, "z", "z", "zoo"), entry(2, "a", "a", "assistant-self"),
        entry(3, "l", "l", "learnings"), entry(4, "p", "p", "preferences"), entry(5, "m", "m", "memory"),
    )  # fmt: skip

    headings = [line for line in page.body.split("\n") if line.startswith("##")]
    assert headings == ["## learnings", "## preferences", "## assistant-self", "## memory", "## zoo"]


def test_a_changed_note_changes_its_line_in_place(page: Page) -> None:
    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (0, 1, 0)
    assert page.body == "\n## user\n\n- **theme**: light\n- **drink**: tea\n"


def test_a_note_that_changes_sides_moves(page: Page) -> None:
    assert counts(page.night(entry(1, "theme", "dark", "preferences"), DRINK)) == (0, 1, 0)
    assert page.body == "\n## preferences\n\n- **theme**: dark\n\n## user\n\n- **drink**: tea\n"


def test_a_section_goes_with_its_last_line(page: Page) -> None:
    assert counts(page.night()) == (0, 0, 2)
    assert page.text == HEADER


def test_a_heading_stays_while_somebody_elses_lines_stand_under_it(page: Page) -> None:
    page.edit("- **drink**: tea\n", "- **drink**: tea\nprose of a person\n")
    page.night()
    assert page.body == "\n## user\n\nprose of a person\n"


def test_an_edited_line_is_its_editors(page: Page) -> None:
    page.edit("dark", "dark, except in sunlight")
    edited = page.text

    assert counts(page.night(THEME, DRINK)) == (0, 0, 0)
    assert page.text == edited
    # Also when the note changes: there must not be two lines about one thing.
    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (0, 0, 0)
    assert page.text == edited
    # And when the note is gone.
    assert counts(page.night(DRINK)) == (0, 0, 0)
    assert page.text == edited


@pytest.mark.parametrize("edited", ["* **theme**: dark", "- **Theme:** dark", "- **theme** is dark"])
def test_a_line_is_known_by_its_title_however_it_is_written(page: Page, edited: str) -> None:
    page.edit("- **theme**: dark", edited)
    assert counts(page.night(THEME, DRINK)) == (0, 0, 0)


def test_a_line_edited_back_is_promotions_again(page: Page) -> None:
    page.edit("dark", "darker")
    page.night(THEME, DRINK)
    page.edit("darker", "dark")
    page.night(THEME, DRINK)

    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (0, 1, 0)


def test_a_line_taken_out_stays_out_until_the_note_says_something_else(page: Page) -> None:
    page.edit("- **theme**: dark\n", "")
    for _ in range(2):
        assert counts(page.night(THEME, DRINK)) == (0, 0, 0)
    # Also when the note was away in between.
    page.night(DRINK)
    assert counts(page.night(THEME, DRINK)) == (0, 0, 0)

    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (1, 0, 0)
    assert "- **theme**: light" in page.body


def test_an_edited_line_taken_out_later_stays_out_too(page: Page) -> None:
    page.edit("dark", "darker")
    page.night(entry(1, "theme", "light"), DRINK)
    page.edit("- **theme**: darker\n", "")

    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (0, 0, 0)
    assert counts(page.night(entry(1, "theme", "sepia"), DRINK)) == (1, 0, 0)


def test_a_line_that_a_person_moved_stays_there_and_up_to_date(page: Page) -> None:
    page.edit("- **theme**: dark\n", "")
    page.text = f"{page.text}\n## looks\n\n- **theme**: dark\n"

    assert counts(page.night(entry(1, "theme", "light"), DRINK)) == (0, 1, 0)
    assert page.body == "\n## user\n\n- **drink**: tea\n\n## looks\n\n- **theme**: light\n"
    page.night(DRINK)
    assert page.body == "\n## user\n\n- **drink**: tea\n\n## looks\n\n"


def test_what_is_nested_under_a_line_stays_with_it(page: Page) -> None:
    page.edit("- **theme**: dark\n", "- **theme**: dark\n  - said in May\n\n  and in June\n")
    page.night(THEME, entry(3, "pet", "cat"), DRINK)
    page.night(THEME, entry(3, "pet", "cat"))

    assert page.body == "\n## user\n\n- **theme**: dark\n  - said in May\n\n  and in June\n- **pet**: cat\n"


def test_a_title_somebody_wrote_a_line_for_is_not_written_again() -> None:
    page = Page("## user\n\n- **theme**: whatever the system says\n")
    assert counts(page.night(THEME, DRINK)) == (1, 0, 0)
    assert page.text == "## user\n\n- **theme**: whatever the system says\n- **drink**: tea\n"


def test_two_notes_that_say_the_same_are_one_line_for_whichever_is_left(page: Page) -> None:
    page.night(entry(7, "theme", "dark"), DRINK)  # n1 says the same and is worth less now
    assert page.body.count("- **theme**: dark") == 1
    page.night(THEME, DRINK)
    assert page.body.count("- **theme**: dark") == 1
    page.night(DRINK)
    assert counts(page.night(THEME, DRINK)) == (1, 0, 0)


def test_people_s_own_section_is_used_and_left_to_them() -> None:
    text = "# Notes\n\n## User\n\nI am me.\n\n### details\n\nmany\n"
    page = Page(text)
    page.night(THEME)
    assert page.text == "# Notes\n\n## User\n\nI am me.\n\n- **theme**: dark\n\n### details\n\nmany\n"
    page.night()
    assert page.text == text


@pytest.mark.parametrize("text", ["before any heading", "a\r\nb\r\n", "\ufeff# Mine\n", "x\n\n\n", "```\n## user\n"])
def test_new_sections_come_behind_everything_else(text: str) -> None:
    page = Page(text)
    page.night(THEME)
    assert page.text is not None
    assert page.text.startswith(text.rstrip("\n"))
    assert "# Memory" not in page.text
    assert ("\r\n" in text) == ("\r\n- **theme**: dark\r\n" in page.text)
    page.night()
    assert page.text == text


def test_what_stands_in_code_or_comments_is_nobodys_heading_or_line() -> None:
    text = "```\n## user\n- **theme**: dark\n```\n<!--\n## user\n-->\n"
    page = Page(text)
    page.night(THEME)
    assert page.text == f"{text}\n## user\n\n- **theme**: dark\n"
    page.night()
    assert page.text == text


def test_a_line_like_promotions_own_counts_as_its_own() -> None:
    page = Page(f"{HEADER}\n## user\n\n- **theme**: dark\n")
    assert counts(page.night(THEME)) == (0, 0, 0)
    assert counts(page.night()) == (0, 0, 1)
    assert page.text == HEADER


def test_nothing_is_kept_of_notes_that_are_gone(page: Page) -> None:
    page.edit("- **theme**: dark\n", "")
    page.existing.discard("n1")
    page.night(DRINK)
    assert {row.note_id for row in page.manifest} == {"", "n2"}


def test_the_most_valuable_fit_and_smaller_ones_fill_up() -> None:
    page = Page()
    lines = [entry(1, "best", "x" * 100), entry(2, "huge", "x" * 1000), entry(3, "small", "x")]
    merged = page.night(*lines, tokens=75)
    assert (sorted(merged.promoted), merged.fell_out) == (["n1", "n3"], 1)


def test_what_people_write_counts_against_the_budget(page: Page) -> None:
    page.text = f"{page.text}\n## mine\n\n{'words ' * 80}\n"
    merged = page.night(THEME, DRINK, tokens=100)
    assert (merged.removed, merged.fell_out) == (2, 2)
    assert page.body == f"\n## mine\n\n{'words ' * 80}\n"
