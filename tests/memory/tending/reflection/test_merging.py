"""Making one note of two that say the same."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from memory.tending.reflection.scenes import a_note, settled, shelve, told
from shelfd.memory.notes.note import Extra, Provenance
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.tending.reflection.merging import fingerprint, says_the_same

STOP = word_lists("english").stop | word_lists("english").question
TEXT = "the night build of the web shop runs on the old server in the cellar and writes its report to the shared disk"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({}, {"content": TEXT + " again"}),
        ({"title": "Builds"}, {"title": "builds"}),
        ({"title": "nice builds"}, {"title": "builds"}),
        ({"title": "builds"}, {}),
        ({"tags": ("a",)}, {"tags": ("b",)}),
        ({"source": "inferred"}, {"confidence": 0.3}),
        ({"expires_at": 5}, {"expires_at": 6}),
        ({"content": "東京の天気は晴れです"}, {"content": "東京の天気は晴れです。"}),
        ({"author": "Ann"}, {}),
        ({}, {"domain": "cti"}),
        ({"author": "Ann", "domain": "cti"}, {}),
        ({"author": "Ann"}, {"domain": "cti"}),
        ({"session_id": "s", "author": "Ann"}, {"session_id": "t"}),
        ({"turn": 1}, {"turn": 2}),
        ({"occurred_at": 1}, {"occurred_at": 1}),
        ({"created_at": 1}, {"created_at": 86_400_000_000}),
    ],
)
def test_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert says_the_same(a_note(TEXT)._replace(**one), a_note(TEXT)._replace(**other), STOP)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"subject": "a"}, {"subject": "b"}),
        ({"scope": "self"}, {"scope": "user"}),
        ({"type": "event"}, {"type": "note"}),
        ({"nugget": "a"}, {"nugget": "b"}),
        ({"author": "Ann"}, {"author": "Bo"}),
        ({"domain": "cti"}, {"domain": "incident"}),
        ({"occurred_at": 1}, {"occurred_at": 2}),
        ({"occurred_at": 1}, {}),
        ({"author": "Ann", "turn": 1}, {}),
        ({"author": "Ann"}, {"turn": 1}),
        ({"author": "Ann", "type": "event"}, {"type": "event"}),
        ({"domain": "cti", "occurred_at": 1}, {"occurred_at": 1}),
        ({"author": "Ann"}, {"content": TEXT + " again"}),
        ({"type": "thread", "title": "Lamp"}, {"type": "thread", "title": "Lamp again"}),
        ({"type": "event", "extra": Extra(source_span=(2, 2))}, {"type": "event", "extra": Extra(source_span=(9, 9))}),
        ({"valid_to": 9}, {}),
        ({"expires_at": 9}, {}),
        ({"kind": "fact", "key": "k"}, {}),
        ({"extra": Extra(fields={"a": 1})}, {"extra": Extra(fields={"a": 2})}),
        ({"title": "Berlin office"}, {"title": "Munich office"}),
        ({"title": "deploy"}, {"title": "rollback"}),
        ({"title": "plan 1"}, {"title": "plan"}),
        ({}, {"content": TEXT + " not"}),
        ({}, {"content": TEXT + " of Berta"}),
        ({}, {"content": TEXT + " at 5"}),
        ({"content": "the weather is fine"}, {"content": "the weather is fine today it seems"}),
        ({"content": "!!!"}, {"content": "???"}),
    ],
)
def test_not_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not says_the_same(a_note(TEXT)._replace(**one), a_note(TEXT)._replace(**other), STOP)


async def test_two_equal_notes_and_an_empty_temporary_one(either: Api) -> None:
    same = "The weekly meeting is about the harbour"
    await shelve(either, [a_note(same, id="a"), a_note(same, id="b"), a_note("", id="c", title="tmp draft")])
    result = await either.call("reflect")

    assert result["inspected"] > 0
    assert [told(result, "merge"), told(result, "hide")] == [["a"], ["c"]]
    assert [result["merged"], result["hidden"]] == [1, 1]
    details = {change["type"]: change["detail"] for change in result["changes"]}
    assert [details["merge"], details["hide"]] == ["Merged duplicate note b", "Archived low-value note"]
    assert [note["id"] for note in (await either.call("note.list"))["notes"]] == ["a"]


async def test_rollups_that_say_the_same_stay_two_notes(either: Api) -> None:
    rollup = Extra(is_rollup=True, rollup_depth=1)
    await shelve(either, [a_note(TEXT, id="a", type="event"), a_note(TEXT, id="b", type="event")])
    await shelve(either, [a_note(TEXT, id=one, type="event", extra=rollup) for one in ("c", "d")])
    await settled(either)
    left = (await either.call("note.list", order="created_at"))["notes"]
    assert sorted(note["id"] for note in left) == ["a", "c", "d"]


async def test_the_same_text_about_the_assistant_and_the_user_stays_two_notes(either: Api) -> None:
    for scope in ("self", "user"):
        await either.remember("prefers short answers in the morning", scope=scope)
    await settled(either)

    assert len((await either.call("note.list"))["notes"]) == 2


async def test_what_was_given_its_day_is_told_apart_by_it(either: Api) -> None:
    for day in ("2026-03-01", "2026-03-02"):
        await either.remember("took 5 mg", occurred_at=f"{day}T08:00:00Z")
        await either.remember("the tablets are in the cupboard")
        either.clock.advance(timedelta(days=1))
    await settled(either)

    left = [note["content"] for note in (await either.call("note.list", order="created_at"))["notes"]]
    assert left == ["took 5 mg", "the tablets are in the cupboard", "took 5 mg"]


async def test_who_said_it_and_of_what_is_not_lost_and_comes_apart_again(either: Api) -> None:
    first = await either.remember(TEXT)
    second = await either.remember(TEXT, author="Ann", domain="cti")
    run = await either.call("reflect")
    kept = await either.note(first["id"])

    assert told(run, "merge") == [first["id"]]
    assert (kept["author"], kept["domain"]) == ("Ann", "cti")
    assert await either.found("night build", domain="cti", author="Ann") == [TEXT]
    await either.call("reflection.undo", run_id=run["run_id"])
    assert "author" not in await either.note(first["id"])
    assert (await either.note(second["id"]))["hidden"] is False


async def test_facts_are_never_merged(either: Api) -> None:
    for key in ("home colour", "house colour"):
        await either.remember("a very dark green like the old door", key=key, type="note")
    await either.remember("a very dark green like the old door")
    await settled(either)

    assert len((await either.call("note.list"))["notes"]) == 3
    assert (await either.call("recall", query="home colour"))["answer"]["found"] is True


async def test_the_longer_one_stays_and_takes_over_lines_tags_aliases_and_links(either: Api) -> None:
    friend = await either.remember("somebody of another kind altogether", nugget="people")
    source = await either.remember(
        f"{TEXT}\nit is slow", tags=["old", "both"], aliases=["cellar build"], links=[{"to": friend["id"]}]
    )
    target = await either.remember(f"{TEXT}\nit is slow and loud", tags=["new", "both"], aliases=["builds"])
    result = await either.call("reflect", nugget="memory")
    kept, gone = await either.note(target["id"]), await either.note(source["id"])

    assert told(result, "merge") == [target["id"]]
    assert kept["content"] == f"{TEXT}\nit is slow and loud\nit is slow"
    assert kept["aliases"] == ["builds", "cellar build"]
    assert {"old", "new", "both"} <= set(kept["tags"])
    assert friend["id"] in {link["to"] for link in kept["links"]}
    assert target["id"] in {link["to"] for link in (await either.note(friend["id"]))["links"]}
    assert kept["last_rewritten_at"] == "2026-01-01T00:00:00Z"
    assert gone["hidden"] is True
    assert gone["content"] == f"{TEXT}\nit is slow"
    assert (target["id"], "merged_into") in {(link["to"], link["relation"]) for link in gone["links"]}
    stored = either.shelf().view.notes.get(target["id"])
    assert stored is not None
    names = (fingerprint("cellar build"), fingerprint("old"))
    assert stored.extra.provenance == (Provenance(source["id"], (fingerprint("it is slow"),), names),)


async def test_of_two_equal_ones_the_older_stays_and_is_only_marked(either: Api) -> None:
    notes = await shelve(either, [a_note(TEXT, id="young", created_at=9), a_note(TEXT, id="old", created_at=5)])
    result = await either.call("reflect")

    assert told(result, "merge") == ["old"]
    assert (await either.note("old"))["content"] == notes[0].content
    kinds = [version["kind"] for version in (await either.call("note.history", id="old"))["versions"]]
    assert kinds == ["note.created", "note.updated", "note.merged"]


async def test_where_a_line_came_from_is_known_over_two_merges(api: Api) -> None:
    long = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    await shelve(api, [a_note(f"{long}\nred", id="a"), a_note(f"{long}\nblue wide", id="b")])
    await settled(api)
    await shelve(api, [a_note(f"{long}\nred\nblue\nwide and large", id="c")])
    await settled(api)

    stored = api.shelf().view.notes.get("c")
    assert stored is not None
    assert Provenance("a", (fingerprint("red"),)) not in stored.extra.provenance  # it had that line itself
    assert Provenance("b", (fingerprint("blue wide"),)) in stored.extra.provenance


async def test_the_other_one_keeps_its_hits_and_the_one_that_stays_counts_the_sessions_of_both(either: Api) -> None:
    notes = await shelve(either, [a_note(TEXT, id="a"), a_note(TEXT, id="b")])
    shelf = either.shelf()
    shelf.record_use(notes[:1], session_id="one")
    shelf.record_use(notes[1:], session_id="two")
    shelf.record_use(notes, session_id="both")
    run = await either.call("reflect")
    assert [(await either.note(name))["hits"] for name in ("a", "b")] == [3, 2]

    shelf.record_use(notes[:1], session_id="two")  # known to the other one already
    assert [(await either.note(name))["hits"] for name in ("a", "b")] == [3, 2]
    await either.call("reflection.undo", run_id=run["run_id"])
    assert [(await either.note(name))["hits"] for name in ("a", "b")] == [3, 2]  # one, both, two: its own by now


@pytest.mark.parametrize("pinned", ["a", "b", "both"])
async def test_a_pinned_note_is_never_hidden(api: Api, pinned: str) -> None:
    await shelve(api, [a_note(TEXT, id=name, pinned=pinned in (name, "both")) for name in ("a", "b")])
    await settled(api)

    visible = [note["id"] for note in (await api.call("note.list"))["notes"]]
    assert visible == (["a"] if pinned == "a" else ["a", "b"])


async def test_sessions_keep_their_own(api: Api) -> None:
    for session in ("s1", "s2", "s2"):
        await api.remember(TEXT, scope="session", session_id=session)
    await settled(api)

    notes = (await api.call("note.list"))["notes"]
    assert sorted(note["session_id"] for note in notes) == ["s1", "s2"]


@pytest.mark.parametrize("layout", ["```\n{}\n```", "- {}", "| {} | |"])
async def test_what_is_laid_out_is_not_torn_apart(api: Api, layout: str) -> None:
    await shelve(api, [a_note(f"{TEXT}\n{layout.format('one')}", id=f"n{n}") for n in range(2)])
    await shelve(api, [a_note(f"{TEXT}\n{layout.format('other')}", id="m")])
    await settled(api)

    assert {note["id"] for note in (await api.call("note.list"))["notes"]} == {"n0", "m"}


async def test_too_much_for_one_note_stays_two(api: Api) -> None:
    api.service.limits = api.limits.model_copy(update={"content_bytes": len(TEXT) + 10})
    await shelve(api, [a_note(f"{TEXT}\nshort", id="a"), a_note(f"{TEXT}\nshort too", id="b")])
    await settled(api)

    assert len((await api.call("note.list"))["notes"]) == 2


async def test_typed_notes_merge_when_their_columns_are_equal(either: Api) -> None:
    for columns in ({"a": "one", "b": "two"}, {"a": "one", "b": "two"}, {"a": "one", "b": "three"}):
        await either.remember_typed(columns)
    await settled(either)

    notes = (await either.call("note.list"))["notes"]
    assert sorted(note["fields"]["b"] for note in notes) == ["three", "two"]


async def test_a_summary_follows_the_content(either: Api) -> None:
    for summary in (f"{TEXT}\nalso slow", f"{TEXT}\nalso slow and loud"):
        await either.remember_typed({"summary": summary, "a": 1})
    await settled(either)

    (note,) = (await either.call("note.list"))["notes"]
    assert note["content"].endswith("also slow and loud\nalso slow")
    assert note["fields"] == {"summary": note["content"], "a": 1}


async def test_merges_are_bounded_and_go_on_next_time(api: Api) -> None:
    await shelve(api, [a_note(TEXT, id=f"n{n:02}") for n in range(9)])
    results = await settled(api, limit=3)

    assert [result["merged"] for result in results][:3] == [3, 3, 2]
    assert [note["id"] for note in (await api.call("note.list"))["notes"]] == ["n00"]
