"""History and revert: what a note was, from its change log."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.log.history import at_rev, states_after, with_log
from shelfd.memory.notes.note import Note

#: What a note says, without what is counted and when.
SAID = ("title", "content", "tags", "aliases", "fields", "hidden", "pinned", "type", "scope", "confidence", "author")

EDITS = st.one_of(
    st.fixed_dictionaries({"content": st.sampled_from(["one", "two", "three"])}),
    st.fixed_dictionaries({"title": st.sampled_from(["A", "B", "C"])}),
    st.fixed_dictionaries({"tags": st.lists(st.sampled_from(["x", "y"]), max_size=2)}),
    st.fixed_dictionaries({"set_fields": st.dictionaries(st.sampled_from(["f", "g"]), st.integers(0, 2), max_size=2)}),
    st.fixed_dictionaries({"clear_fields": st.just(["f"])}),
    st.fixed_dictionaries({"aliases": st.lists(st.sampled_from(["p", "q"]), max_size=2, unique=True)}),
    st.fixed_dictionaries({"hidden": st.booleans()}),
    st.fixed_dictionaries({"pinned": st.booleans()}),
    st.fixed_dictionaries({"metadata": st.sampled_from([{"scope": "self"}, {"scope": "user"}, {"author": "Ada"}])}),
)


def said(note: dict[str, Any]) -> dict[str, Any]:
    return {name: note.get(name) for name in SAID}


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=8), st.booleans(), st.data())
def test_a_revert_gives_back_what_the_note_said_at_any_rev(
    edits: list[dict[str, Any]], fact: bool, data: st.DataObject
) -> None:
    async def run() -> None:
        async with memory() as api:
            key = {"key": "A"} if fact else {"title": "A"}
            note = await api.remember("one", **key)
            states = {1: said(note)}
            for edit in edits:
                note = (await api.call("note.edit", id=note["id"], **edit))["note"]
                states[note["rev"]] = said(note)
            rev = data.draw(st.sampled_from(sorted(states)))

            result = await api.call("note.revert", id=note["id"], rev=rev)

            assert said(result["note"]) == states[rev]
            assert result["changed"] == (states[rev] != states[note["rev"]])
            again = await api.call("note.revert", id=note["id"], rev=note["rev"])
            assert said(again["note"]) == states[note["rev"]]

    asyncio.run(run())


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=8))
def test_events_tell_every_version_as_it_was_and_history_what_it_changed(edits: list[dict[str, Any]]) -> None:
    async def run() -> None:
        async with memory() as api:
            note = await api.remember("one", title="A")
            states = [note]
            for edit in edits:
                note = (await api.call("note.edit", id=note["id"], **edit))["note"]
                if note["rev"] != states[-1]["rev"]:
                    states.append(note)

            events = (await api.call("events.since", seq=1))["events"]
            assert [event["data"]["title"] for event in events] == [state["title"] for state in states]
            assert [event["data"]["rev"] for event in events] == [state["rev"] for state in states]
            assert [event["data"]["hidden"] for event in events] == [state["hidden"] for state in states]

            versions = (await api.call("note.history", id=note["id"]))["versions"]
            assert [version["rev"] for version in versions] == [state["rev"] for state in states]
            for before, after, version in zip(states, states[1:], versions[1:], strict=False):
                told = version["change"]
                for name in set(SAID) - {"tags"}:
                    changed = before.get(name) != after.get(name)
                    assert (name in told) == changed, name
                    if changed:
                        assert told[name] == after.get(name) or (not told[name] and name not in after)

    asyncio.run(run())


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=8), st.booleans())
def test_the_change_log_rewinds_to_every_version_exactly(edits: list[dict[str, Any]], fact: bool) -> None:
    async def run() -> None:
        async with memory() as api:
            note_id = (await api.remember("one", **({"key": "A"} if fact else {"title": "A"})))["id"]
            view = api.shelf().view

            def stored() -> Note:
                note = view.notes.get(note_id)
                assert note is not None
                return note._replace(updated_at=0)

            versions = {1: stored()}
            for edit in edits:
                await api.call("note.edit", id=note_id, **edit)
                versions[stored().rev] = stored()

            rows = [row for row in view.log.page(since_seq=0, limit=1000) if row.row is not None]
            assert [state._replace(updated_at=0) for state in states_after(rows, view).values()] == list(
                reversed(versions.values())
            )
            found = with_log(view, note_id)
            assert found is not None
            for rev, version in versions.items():
                then = at_rev(found[0], reversed(found[1]), rev)
                assert then is not None
                assert then._replace(updated_at=0) == version
            assert at_rev(found[0], reversed(found[1]), len(versions) + 1) is None

    asyncio.run(run())


async def test_the_first_version_tells_what_was_said_first(either: Api) -> None:
    note = await either.remember("one", key="k", tags=["x"], fields={"a": 1})
    await either.remember("two", key="k")

    first = (await either.call("note.history", id=note["id"]))["versions"][0]
    assert [first["rev"], first["kind"], first["principal"]] == [1, "note.created", "uid:1000"]
    assert [first["change"][name] for name in ("content", "title", "fields")] == ["one", "k", {"a": 1}]
    assert "rendered" not in first["change"]


async def test_history_comes_in_pages(either: Api) -> None:
    note = await either.remember("v0", key="k")
    for n in range(1, 5):
        await either.remember(f"v{n}", key="k")

    revs: list[int] = []
    page: dict[str, Any] = {"next_cursor": None}
    while "next_cursor" in page:
        page = await either.call("note.history", id=note["id"], limit=2, cursor=page["next_cursor"])
        revs += [version["rev"] for version in page["versions"]]
    assert revs == [1, 2, 3, 4, 5]


async def test_a_revert_is_a_new_rev_and_itself_in_the_history(api: Api) -> None:
    note = await api.remember("one", key="k")
    await api.remember("two", key="k")
    result = await api.call("note.revert", id=note["id"], rev=1)

    assert [result["note"]["rev"], result["note"]["content"]] == [3, "one"]
    assert len((await api.call("note.history", id=note["id"]))["versions"]) == 3
    assert (await api.call("recall", query="k"))["answer"]["value"] == "one"


async def test_a_revert_to_the_present_changes_nothing(api: Api) -> None:
    note = await api.remember("one")

    assert (await api.call("note.revert", id=note["id"], rev=1))["changed"] is False


async def test_an_unknown_rev_is_not_found(api: Api) -> None:
    note = await api.remember("one")
    error = await api.refused("note.revert", id=note["id"], rev=2)

    assert (error.code, error.field) == (-32001, "rev")


async def test_a_revert_to_a_key_that_is_taken_by_now_is_refused(either: Api) -> None:
    note = await either.remember("one", key="a")
    await either.call("note.edit", id=note["id"], title="b")
    await either.remember("other", key="a")

    assert (await either.refused("note.revert", id=note["id"], rev=1)).kind == "DuplicateKey"


async def test_a_revert_that_brings_a_note_back_brings_its_nugget_back(either: Api) -> None:
    note = await either.remember("one", nugget="n")
    await either.call("nugget.remove", name="n")
    await either.call("note.revert", id=note["id"], rev=1)

    assert (await either.call("nugget.status", name="n"))["hidden_count"] == 0


async def test_a_rename_of_the_nugget_is_no_version(either: Api) -> None:
    note = await either.remember("one", nugget="n")
    await either.call("nugget.rename", name="n", new_name="m")
    await either.call("note.edit", id=note["id"], content="two")
    result = await either.call("note.revert", id=note["id"], rev=1)

    assert [result["note"]["nugget"], result["note"]["content"]] == ["m", "one"]
