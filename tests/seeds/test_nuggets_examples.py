"""The worked examples of Nuggets' pages on reflection and promotion, run as they stand there.

What a page shows is what comes out, or the difference is named in the docstring with its reason. The pages' API is
ours by other names: ``reflectAndCleanMemory(shelf, {nuggetName, limit})`` is ``reflect {nugget, limit}`` and
``promoteFacts(shelf)`` is ``promote``; camel case is understood and snake case answered,
and a nugget is named by ``nugget``.
"""

import re
from typing import Any

import pytest

from fakes import ROOT, Api
from memory.tending.reflection.scenes import a_note, settled, shelve, told
from memory_file import MemoryFile
from shelfd.daemon.sections import Reflection
from shelfd.protocol import METHODS

HEADER = "# Memory\n\nAuto-promoted from nuggets graph notes (3+ recalls across sessions).\n"


async def recalled(api: Api, content: str, *, sessions: int = 3, **named: Any) -> str:
    """Remember something that was then recalled in some sessions; return its id."""
    note = await api.remember(content, **named)
    for number in range(sessions):
        await api.call("note.record_hit", id=note["id"], session_id=f"session-{number}")
    return str(note["id"])


# ------------------------------------------------------------------ promotion


async def test_the_memory_file_of_the_page_on_rewriting(api: Api, file: MemoryFile) -> None:
    """The page puts ``user:theme`` under preferences, which its code did for none but preferences: so is ours."""
    await recalled(api, "dark", key="user:theme", type="preference")
    await recalled(api, "pnpm test", key="shared:test-command")
    result = await api.call("promote")

    assert file.text == (
        "# Memory\n"
        "\n"
        "Auto-promoted from nuggets graph notes (3+ recalls across sessions).\n"
        "\n"
        "## preferences\n"
        "\n"
        "- **user:theme**: dark\n"
        "\n"
        "## shared-context\n"
        "\n"
        "- **shared:test-command**: pnpm test\n"
    )
    assert (result["added"], result["sections"]) == (2, {"preferences": 1, "shared-context": 1})


async def test_the_memory_file_of_the_page_on_reflection(api: Api, file: MemoryFile) -> None:
    await recalled(
        api,
        "Tokens use RS256 signing. Public key is at src/auth/keys/public.pem.",
        title="JWT token format",
        tags=["learnings"],
    )
    await recalled(api, "2-space indent, no semicolons", title="style preference")
    await api.call("promote")

    assert file.text == (
        "# Memory\n"
        "\n"
        "Auto-promoted from nuggets graph notes (3+ recalls across sessions).\n"
        "\n"
        "## learnings\n"
        "\n"
        "- **JWT token format**: Tokens use RS256 signing. Public key is at src/auth/keys/public.pem.\n"
        "\n"
        "## user\n"
        "\n"
        "- **style preference**: 2-space indent, no semicolons\n"
    )


async def test_a_fact_on_its_own_stands_under_user(api: Api, file: MemoryFile) -> None:
    await recalled(api, "dark", key="user:theme")
    await api.call("promote")

    assert file.text == f"{HEADER}\n## user\n\n- **user:theme**: dark\n"


async def test_sections_stand_in_the_page_s_order(api: Api, file: MemoryFile) -> None:
    """Learnings and preferences first, the others by their names."""
    await recalled(api, "x", key="zebra", nugget="zoo", subject="animal", scope="user")
    await recalled(api, "x", key="user:name")
    await recalled(api, "x", key="self:voice")
    await recalled(api, "x", key="project:stack")
    await recalled(api, "x", key="user:pref:tabs")
    await recalled(api, "x", title="seen", tags=["learnings"])
    await api.call("promote")

    assert re.findall(r"^## (.+)$", file.text, re.MULTILINE) == [
        "learnings", "preferences", "assistant-self", "shared-context", "user", "zoo",
    ]  # fmt: skip


async def test_what_is_promoted(api: Api) -> None:
    """Three sessions or more, and not hidden."""
    await recalled(api, "twice", key="user:a", sessions=2)
    await recalled(api, "three times", key="user:b", sessions=3)
    hidden = await recalled(api, "hidden", key="user:c", sessions=9)
    await api.call("note.hide", id=hidden)

    lines = (await api.call("promotion.preview"))["lines"]
    assert [(line["line"], line["sessions"]) for line in lines] == [("- **user:b**: three times", 3)]


async def test_promoting_returns_how_many_are_new(api: Api, file: MemoryFile) -> None:
    """The count is of new entries; what changed is not among them. Fixed: what is no longer true is removed."""
    theme = await recalled(api, "dark", key="user:theme")
    await recalled(api, "pnpm test", key="shared:test-command")
    assert (await api.call("promote_facts"))["added"] == 2
    await api.remember("light", key="user:theme")
    result = await api.call("promote")
    assert (result["added"], result["updated"], result["removed"]) == (0, 1, 0)
    assert "- **user:theme**: light\n" in file.text
    await api.call("forget", id=theme)

    assert (await api.call("promote"))["removed"] == 1
    assert "theme" not in file.text


async def test_without_a_directory_nothing_is_written_and_nothing_added(
    api: Api, file: MemoryFile, tmp_path: Any
) -> None:
    """As the page says of a project's memory; the reason is told. The shelf's own file needs no directory."""
    await recalled(api, "dark", key="user:theme")
    result = await api.call("promote", project=str(tmp_path / "elsewhere"), principal=ROOT)

    assert (result["added"], result["path"]) == (0, None)
    assert result["reason"]
    assert not file.exists


async def test_a_file_that_says_it_all_is_not_written(api: Api, file: MemoryFile) -> None:
    await recalled(api, "dark", key="user:theme")
    await api.call("promote")
    stamp = file.stamp

    assert (await api.call("promote"))["added"] == 0
    assert file.stamp == stamp


async def test_what_people_wrote_in_the_file_stays(api: Api, file: MemoryFile) -> None:
    """Fixed: the original dropped what it could not parse, and everything before the first section."""
    file.path.parent.mkdir(parents=True, exist_ok=True)
    mine = "Mine, first.\n\n## user\n\nProse.\n\n- a bullet\n  - nested\n"
    file.write(mine.encode())
    await recalled(api, "dark\nat night", key="user:theme")
    await api.call("promote")

    assert file.text == f"{mine}\n- **user:theme**: dark at night\n"


# ------------------------------------------------------------------ reflection


async def test_the_details_of_the_page(api: Api) -> None:
    """Each example sentence, by notes with the page's ids.

    Fixed: the tags begin with the nugget's name, which the page elsewhere says is always among them, and "deploy"
    comes behind "shared-context", which follows from the scope.
    """
    text = "the deploy of the billing service runs on the old server in the cellar every night"
    common = {"nugget": "project", "scope": "project", "subject": "shared:project", "type": "project"}
    await shelve(
        api,
        [
            a_note("Ready.   \n\n\nReady.\nReady.", id="note-project-00000001", nugget="project"),
            a_note(text, id="note-project-a4b5c6d7", **common),
            a_note(text, id="note-project-b5c6d7e8", **common),
            a_note("pnpm", id="fact-project-a1b2c3d4", kind="fact", key="deploy", title="deploy",
                   **{**common, "type": "fact"}),
            a_note("x", id="note-project-00000002", nugget="project", title="tmp"),
            a_note("the deploy of the shop runs on the new server", id="note-project-c9d0e1f2", **common),
        ],
    )  # fmt: skip
    results = await settled(api, nugget="project")
    details = {(change["type"], change["note_id"]): change["detail"] for r in results for change in r["changes"]}

    assert details["rewrite", "note-project-00000001"] == "Normalized duplicated whitespace and repeated lines"
    assert details["merge", "note-project-a4b5c6d7"] == "Merged duplicate note note-project-b5c6d7e8"
    assert (
        details["tag", "fact-project-a1b2c3d4"]
        == "Tags -> project, scope:project, type:fact, shared-context, deploy, pnpm"
    )
    assert details["hide", "note-project-00000002"] == "Archived low-value note"
    assert details["link", "note-project-a4b5c6d7"] == "Linked to note-project-c9d0e1f2"


async def test_the_result_of_the_page(api: Api) -> None:
    """``ranAt, inspected, rewritten, merged, hidden, tagged, linked, changes[{type, nuggetName, noteId, detail}]``."""
    await shelve(api, [a_note("x", title="tmp", id="n1"), a_note("a line\na line", id="n2")])
    result = await api.call("reflect_and_clean_memory", nugget="memory", limit=10)

    assert result["ran_at"] == "2026-01-01T00:00:00Z"
    counts = {name: result[name] for name in ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")}
    assert counts == {"inspected": 2, "rewritten": 1, "merged": 0, "hidden": 1, "tagged": 1, "linked": 0}
    assert {frozenset(change) for change in result["changes"]} == {frozenset({"type", "nugget", "note_id", "detail"})}
    order = [change["type"] for change in result["changes"]]
    assert order == sorted(order, key=["hide", "rewrite", "tag", "merge", "link"].index)


@pytest.mark.parametrize(("limit", "inspected"), [(None, 10), (50, 10), (10, 10), (3, 3), (0, 1), (-5, 1)])
async def test_at_most_ten_notes_are_inspected(api: Api, limit: int | None, inspected: int) -> None:
    """The default of the page and its cap: ``MEMORY_REFLECTION_MAX_NOTES``, which is read (the original's was not)."""
    await shelve(api, [a_note(f"note number {n}", id=f"n{n}") for n in range(15)])

    assert (await api.call("reflect", limit=limit))["inspected"] == inspected


async def test_one_nugget_only(api: Api) -> None:
    await shelve(api, [a_note("x", title="tmp", id=name, nugget=name) for name in ("a", "b")])

    assert told(await api.call("reflect", nugget="a"), "hide") == ["a"]
    assert told(await api.call("reflect"), "hide") == ["b"]


def test_the_settings_of_the_page_have_its_defaults() -> None:
    settings = Reflection()

    assert (settings.hour, settings.minute, settings.max_notes) == (9, 0, 10)


@pytest.mark.parametrize(
    ("fields", "goes"),
    [
        ({"content": ""}, True),
        ({"content": "ab"}, True),
        ({"content": "abc"}, False),
        ({"content": "a draft", "title": "tmp"}, True),
        ({"content": "a draft", "title": "temp file"}, True),
        ({"content": "a draft", "title": "scratchpad"}, True),
        ({"content": "twenty degrees", "title": "temperature"}, False),
        ({"content": "for letters", "title": "template"}, False),
        ({"content": "42", "kind": "fact", "title": "answer", "key": "answer"}, False),
        ({"content": "", "pinned": True}, False),
        ({"content": "", "scope": "self"}, False),
    ],
)
async def test_low_value(api: Api, fields: dict[str, Any], goes: bool) -> None:
    """The page's three rules. Fixed: words that only begin like them stay, and so do short values of facts, what is
    pinned and what is the assistant's own.
    """
    await shelve(api, [a_note(id="n", **fields)])
    await api.call("reflect")
    note = await api.note("n")

    assert (note["hidden"], "archived_at" in note) == (goes, goes)


@pytest.mark.parametrize("fields", [{"content": "ab"}, {"content": "a draft", "title": "tmp"}])
async def test_what_was_recalled_is_of_value(api: Api, fields: dict[str, Any]) -> None:
    await shelve(api, [a_note(id="n", **fields)])
    await api.call("note.record_hit", id="n", session_id="s")
    await api.call("reflect")

    assert (await api.note("n"))["hidden"] is False


async def test_what_was_archived_comes_back_by_hidden_false(api: Api) -> None:
    """Fixed: in the original the note did and the fact did not, whose row was deleted."""
    await shelve(api, [a_note("a draft", id="n", kind="fact", title="tmp:x", key="tmp:x")])
    await api.call("reflect")
    assert (await api.call("nugget.facts", name="memory"))["facts"] == []
    await api.call("note.edit", id="n", hidden=False)

    (fact,) = (await api.call("nugget.facts", name="memory"))["facts"]
    assert (fact["key"], fact["value"]) == ("tmp:x", "a draft")


async def test_normalising(api: Api) -> None:
    """As the page has it. Fixed: the original took all blank lines out, and repeated lines of code and lists, too."""
    given = (
        "First line.  \n\n\n\nFirst line.\nThis sentence is long enough.\n- item\n- item\nThis sentence is long enough."
    )
    await shelve(api, [a_note(given, id="n")])
    await api.call("reflect")
    note = await api.note("n")

    assert note["content"] == "First line.\n\nFirst line.\nThis sentence is long enough.\n- item\n- item"
    assert note["last_rewritten_at"] == "2026-01-01T00:00:00Z"


async def test_tags_are_settled_after_one_run(api: Api) -> None:
    """Fixed: with more than six tags, the original changed them in every run. A caller's own are never touched."""
    own = ["one", "two", "three", "four", "five", "six", "seven"]
    note = await api.remember("prefers src/auth/keys/public.pem over others", title="pref:keys", tags=own)
    first = await api.call("reflect")
    again = await api.call("reflect")

    assert (first["tagged"], again["tagged"]) == (1, 0)
    tags = (await api.note(note["id"]))["tags"]
    assert {"scope:user", "type:preference", "preferences", "files", *own} <= set(tags)


async def test_near_duplicates_become_the_longer_one(api: Api) -> None:
    """The page's rule. Fixed: texts that differ in a number, a name or a negation are none."""
    words = "the weekly meeting of the harbour crew is held in the old hall beside the northern pier at the usual time"
    await shelve(
        api,
        [
            a_note(words, id="short"),
            a_note(f"{words} again", id="long"),
            a_note(f"{words} not", id="negated"),
            a_note(f"{words} 7", id="numbered"),
        ],
    )
    result = await api.call("reflect")

    assert told(result, "merge") == ["long"]
    gone = await api.note("short")
    assert gone["hidden"] is True
    assert ("long", "merged_into") in {(link["to"], link["relation"]) for link in gone["links"]}
    assert {note["id"] for note in (await api.call("note.list"))["notes"]} == {"long", "negated", "numbered"}


async def test_a_link_has_the_page_s_reason(api: Api) -> None:
    """On both notes: "shared context: token1, token2"."""
    await shelve(api, [a_note("harbour crane repairs", id="a"), a_note("repairs of the harbour wall", id="b")])
    await api.call("reflect")

    links = [link for name in "ab" for link in (await api.note(name))["links"]]
    assert [(link["to"], link["reason"]) for link in links] == [
        ("b", "shared context: harbour, repairs"),
        ("a", "shared context: harbour, repairs"),
    ]


async def test_notes_with_two_links_get_no_more(api: Api) -> None:
    await shelve(api, [a_note(f"harbour crane repairs {word}", id=word) for word in ("north", "south", "east", "west")])
    await settled(api)

    for word in ("north", "south", "east", "west"):
        assert len((await api.note(word))["links"]) >= 2
    assert (await api.call("reflect"))["linked"] == 0


async def test_nothing_is_ever_deleted(api: Api) -> None:
    """Fixed: the original deleted the facts of notes it archived."""
    await shelve(
        api,
        [
            a_note("", id="empty"),
            a_note("x", id="fact", kind="fact", title="tmp", key="tmp"),
            a_note("the same words in both of them", id="a"),
            a_note("the same words in both of them", id="b"),
        ],
    )
    await settled(api)

    everything = (await api.call("note.list", include_hidden=True))["notes"]
    assert {note["id"] for note in everything} == {"empty", "fact", "a", "b"}


async def test_a_large_graph_takes_several_days_and_is_gone_through(api: Api) -> None:
    """Fixed: the original inspected the same ten notes for ever."""
    await shelve(api, [a_note("a draft", id=f"n{n:02}", title=f"tmp {n}") for n in range(35)])
    days = [(await api.call("reflect"))["hidden"] for _ in range(4)]

    assert days == [10, 10, 10, 5]
    assert (await api.call("note.list"))["total"] == 0


async def test_promotion_follows_a_merge(api: Api, file: MemoryFile) -> None:
    """Two sessions and one: "Run promoteFacts after a reflection pass so that freshly merged notes are eligible"."""
    same = "the deploy key is in the safe of the northern office"
    await shelve(api, [a_note(same, id="a", title="deploy key"), a_note(same, id="b", title="deploy key")])
    for note_id, session in (("a", "one"), ("a", "two"), ("b", "three")):
        await api.call("note.record_hit", id=note_id, session_id=session)
    assert (await api.call("promote"))["added"] == 0
    assert (await api.call("reflect"))["merged"] == 1

    assert (await api.call("promote"))["added"] == 1
    assert file.text == f"{HEADER}\n## user\n\n- **deploy key**: {same}\n"


def test_the_pages_names_are_methods() -> None:
    assert {"reflect_and_clean_memory", "promote_facts"} <= METHODS.keys()
