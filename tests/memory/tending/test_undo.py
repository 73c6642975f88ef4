"""Undo: a transaction or a run is taken back, and nobody's later work with it."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import BOB, ROOT, Api, memory
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Link
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf.storing import get_note

RUN = Origin("scheduler", "reflect", run_id="run-1")


async def last_tx(api: Api) -> int:
    log = (await api.call("shelf.log", limit=1000))["log"]
    return int(log[-1]["tx"])


def kept(result: dict[str, Any]) -> set[tuple[str, str]]:
    return {(item["field"], item["why"]) for item in result["kept"]}


async def test_an_edit_is_taken_back(either: Api) -> None:
    api = either
    note = await api.remember("first", title="A", tags=["x"])
    before = logical_hash(api.shelf().view)
    await api.call("note.edit", id=note["id"], content="second", title="B", add_tags=["y"], pinned=True)
    result = await api.call("undo", tx=await last_tx(api))
    assert (result["undone"], result["kept"]) == (4, [])
    assert logical_hash(api.shelf().view) == before


async def test_what_was_edited_since_stays_and_is_named(api: Api) -> None:
    note = await api.remember("first", title="A")
    await api.call("note.edit", id=note["id"], content="second", title="B")
    tx = await last_tx(api)
    await api.call("note.edit", id=note["id"], title="C")
    result = await api.call("undo", tx=tx)
    assert (result["undone"], kept(result)) == (1, {("title", "edited")})
    now = await api.note(note["id"])
    assert (now["content"], now["title"]) == ("first", "C")


async def test_a_field_changed_back_by_hand_counts_as_what_the_run_wrote(api: Api) -> None:
    note = await api.remember("first")
    await api.call("note.edit", id=note["id"], content="second")
    tx = await last_tx(api)
    await api.call("note.edit", id=note["id"], content="third")
    await api.call("note.edit", id=note["id"], content="second")
    await api.call("undo", tx=tx)
    assert (await api.note(note["id"]))["content"] == "first"


async def test_a_new_note_is_hidden(api: Api) -> None:
    note = await api.remember("a mistake")
    await api.call("undo", tx=await last_tx(api))
    assert (await api.note(note["id"]))["hidden"] is True
    assert await api.found("mistake") == []


async def test_a_forgotten_fact_answers_again(api: Api) -> None:
    await api.remember("green", key="kettle")
    await api.call("forget", nugget="memory", key="kettle")
    await api.call("undo", tx=await last_tx(api))
    assert (await api.call("recall", query="kettle"))["answer"]["value"] == "green"


async def test_links_go_and_come_back(either: Api) -> None:
    api = either
    one, two = await api.remember("one"), await api.remember("two")
    before = logical_hash(api.shelf().view)
    await api.call("link.upsert", source=one["id"], target=two["id"], reason="because")
    made = await last_tx(api)
    linked = logical_hash(api.shelf().view)
    await api.call("link.delete", source=one["id"], target=two["id"])
    await api.call("undo", tx=await last_tx(api))
    assert logical_hash(api.shelf().view) == linked
    result = await api.call("undo", tx=made)
    assert (result["undone"], result["kept"]) == (2, [])
    assert logical_hash(api.shelf().view) == before


async def test_a_link_that_says_something_new_stays(api: Api) -> None:
    one, two = await api.remember("one"), await api.remember("two")
    await api.call("link.upsert", source=one["id"], target=two["id"], direction="outgoing")
    tx = await last_tx(api)
    await api.call("link.upsert", source=one["id"], target=two["id"], direction="outgoing", reason="said again")
    result = await api.call("undo", tx=tx)
    assert (result["undone"], kept(result)) == (0, {("links", "edited")})


async def test_an_undo_can_be_undone(api: Api) -> None:
    note = await api.remember("first")
    await api.call("note.edit", id=note["id"], content="second")
    after = logical_hash(api.shelf().view)
    result = await api.call("undo", tx=await last_tx(api))
    await api.call("reflection.undo", run_id=result["run_id"])
    assert logical_hash(api.shelf().view) == after


async def test_only_its_own_principal_or_an_admin_undoes_a_transaction(api: Api) -> None:
    note = await api.remember("mine")
    await api.call("note.edit", id=note["id"], content="edited")
    tx = await last_tx(api)
    assert (await api.refused("undo", {"tx": tx}, principal=BOB)).kind == "Forbidden"
    assert (await api.call("undo", {"tx": tx}, principal=ROOT))["undone"] == 1


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    await api.remember("one")
    await api.remember("two", key="k", nugget="other")  # nugget.created, note.created: one transaction
    middle = await last_tx(api) + 1
    for tx in (99, middle):
        refused = await api.refused("undo", tx=tx)
        assert (refused.kind, refused.field) == ("NotFound", "tx")
    refused = await api.refused("reflection.undo", run_id="run-none")
    assert (refused.kind, refused.field) == ("NotFound", "run_id")


async def test_a_run_over_several_transactions_is_taken_back_whole(either: Api) -> None:
    api = either
    one, two = await api.remember("one\nshared"), await api.remember("shared line\nmore")
    shelf = api.shelf()
    before = logical_hash(shelf.view)

    def merge(tx: Transaction) -> None:
        target, source = get_note(tx.rows, one["id"]), get_note(tx.rows, two["id"])
        tx.change_note(target, target._replace(content=f"{target.content}\n{source.content}"), kind="note.merged")
        tx.hide(source)

    def link(tx: Transaction) -> None:
        tx.put_link(Link(two["id"], one["id"], "merged_into", "", tx.now), "memory")

    await shelf.commit(RUN, merge)
    await shelf.commit(RUN, link)
    result = await api.call("reflection.undo", run_id="run-1")
    assert (result["undone"], result["kept"]) == (3, [])
    assert logical_hash(shelf.view) == before


async def test_a_merge_gives_back_its_lines_around_later_edits(api: Api) -> None:
    one = await api.remember("one")

    def merge(tx: Transaction) -> None:
        target = get_note(tx.rows, one["id"])
        tx.change_note(target, target._replace(content="one\nreceived a\nreceived b"), kind="note.merged")

    await api.shelf().commit(RUN, merge)
    await api.call("note.edit", id=one["id"], content="one, edited\nreceived a\nreceived b, edited\nnew")
    result = await api.call("reflection.undo", run_id="run-1")
    assert (await api.note(one["id"]))["content"] == "one, edited\nreceived b, edited\nnew"
    assert (result["undone"], kept(result)) == (1, {("content", "edited")})


async def test_a_later_run_is_named_as_such(api: Api) -> None:
    one = await api.remember("one")

    def write(content: str) -> Any:
        def apply(tx: Transaction) -> None:
            note = get_note(tx.rows, one["id"])
            tx.change_note(note, note._replace(content=content))

        return apply

    await api.shelf().commit(RUN, write("two"))
    await api.shelf().commit(RUN._replace(run_id="run-2"), write("three"))
    result = await api.call("reflection.undo", run_id="run-1")
    assert kept(result) == {("content", "later_run")}
    assert (await api.note(one["id"]))["content"] == "three"


async def test_the_event_names_the_run_that_was_undone(api: Api) -> None:
    one = await api.remember("one")
    await api.shelf().commit(RUN, lambda tx: tx.hide(get_note(tx.rows, one["id"])))
    await api.call("reflection.undo", run_id="run-1")
    log = (await api.call("shelf.log"))["log"]
    assert log[-1]["kind"] == "reflection.undone"
    assert log[-1]["run_id"] not in (None, "run-1")


async def undone_event(api: Api) -> dict[str, Any]:
    """What the last event says, which has to be that something was taken back."""
    seq = (await api.call("shelf.log", limit=1000))["last_seq"]
    (event,) = (await api.call("events.since", seq=seq - 1))["events"]
    assert event["type"] == "shelfd.reflection.undone.v1"
    return dict(event["data"])


async def test_the_event_names_the_transaction_that_was_undone(either: Api) -> None:
    api = either
    old = await api.remember("Anna works at Acme.")
    await api.call("remember", content="Anna works at Initech.", evolve=True)
    tx = await last_tx(api)
    undone = await api.call("undo", tx=tx)
    event = await undone_event(api)
    assert (event["undone_tx"], event["run_id"], "undone_run_id" in event) == (tx, undone["run_id"], False)
    assert (await api.note(old["id"])).get("superseded_by") is None
    again = await api.call("reflection.undo", run_id=undone["run_id"])
    assert (await undone_event(api))["undone_run_id"] == undone["run_id"]
    assert (await api.note(old["id"]))["superseded_by"]
    assert again["undone"] == undone["undone"]


async def test_a_run_that_is_one_transaction_is_undone_with_it_and_another_one_is_not(either: Api) -> None:
    api = either
    run_id = (await api.call("remember_report", content="APT28 exploited CVE-2023-23397 in Norway."))["run_id"]
    await api.call("undo", tx=await last_tx(api))
    assert (await undone_event(api))["undone_run_id"] == run_id
    one = await api.remember("three")
    for content in ("four", "five"):

        def write(tx: Transaction, content: str = content) -> None:
            note = get_note(tx.rows, one["id"])
            tx.change_note(note, note._replace(content=content))

        await api.shelf().commit(RUN, write)
    await api.call("undo", tx=await last_tx(api), principal=ROOT)
    assert "undone_run_id" not in await undone_event(api)


EDIT = st.one_of(
    st.fixed_dictionaries({"content": st.sampled_from(["one", "two", "three"])}),
    st.fixed_dictionaries({"title": st.sampled_from(["A", "B"])}),
    st.fixed_dictionaries({"tags": st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True)}),
    st.fixed_dictionaries({"hidden": st.booleans()}),
    st.fixed_dictionaries({"aliases": st.lists(st.sampled_from(["p", "q"]), max_size=2, unique=True)}),
    st.fixed_dictionaries({"set_fields": st.dictionaries(st.sampled_from(["f", "g"]), st.integers(0, 2), max_size=2)}),
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(EDIT, min_size=1, max_size=6))
def test_undoing_every_edit_from_the_last_to_the_first_gives_back_what_was(edits: list[dict[str, Any]]) -> None:
    async def run() -> None:
        async with memory() as api:
            note = await api.remember("zero", title="Z", tags=["w"])
            hashes, transactions = [logical_hash(api.shelf().view)], []
            for edit in edits:
                if (await api.call("note.edit", id=note["id"], **edit))["changed"]:
                    transactions.append(await last_tx(api))
                    hashes.append(logical_hash(api.shelf().view))
            for tx in reversed(transactions):
                assert logical_hash(api.shelf().view) == hashes.pop()
                assert (await api.call("undo", tx=tx))["kept"] == []
            assert logical_hash(api.shelf().view) == hashes.pop()

    asyncio.run(run())


async def names(api: Api) -> list[str]:
    return [nugget["name"] for nugget in (await api.call("nugget.list"))["nuggets"]]


async def test_a_removed_nugget_comes_back_with_its_notes_and_options(either: Api) -> None:
    api = either
    await api.call("nugget.create", name="n", max_facts=7)
    await api.remember("tea", nugget="n")
    before = logical_hash(api.shelf().view)
    await api.call("nugget.remove", name="n")
    result = await api.call("undo", tx=await last_tx(api))
    assert (result["undone"], result["kept"]) == (2, [])
    assert logical_hash(api.shelf().view) == before
    await api.call("undo", tx=await last_tx(api))
    assert (await names(api), await api.found("tea")) == ([], [])


async def test_a_note_goes_back_into_a_nugget_that_was_removed_since(either: Api) -> None:
    api = either
    note = await api.remember("tea", nugget="n")
    await api.call("nugget.create", name="other")
    await api.call("note.move", id=note["id"], nugget="other")
    tx = await last_tx(api)
    await api.call("nugget.remove", name="n")
    await api.call("undo", tx=tx)
    assert (await api.note(note["id"]))["nugget"] == "n"
    assert await names(api) == ["n", "other"]
    assert [found["id"] for found in (await api.call("note.list", nugget="n"))["notes"]] == [note["id"]]


async def test_a_nugget_gets_its_name_back(either: Api) -> None:
    api = either
    await api.remember("tea", nugget="n", key="drink")
    before = logical_hash(api.shelf().view)
    await api.call("nugget.rename", name="n", new_name="other")
    result = await api.call("undo", tx=await last_tx(api))
    assert (result["undone"], result["kept"]) == (1, [])
    assert logical_hash(api.shelf().view) == before
    assert await api.found("tea", nugget="n") == ["tea"]


async def test_a_name_that_another_nugget_has_got_since_stays_there(api: Api) -> None:
    await api.remember("tea", nugget="n")
    await api.call("nugget.rename", name="n", new_name="other")
    tx = await last_tx(api)
    await api.remember("coffee", nugget="n")
    result = await api.call("undo", tx=tx)
    assert result["kept"] == [{"note_id": "other", "field": "nugget", "why": "edited"}]
    assert await names(api) == ["n", "other"]


async def test_a_nugget_that_was_made_goes_unless_it_is_used(api: Api) -> None:
    for name in ("empty", "used"):
        await api.call("nugget.create", name=name)
    created = [row["tx"] for row in (await api.call("shelf.log"))["log"]]
    await api.remember("tea", nugget="used")
    undone = [(await api.call("undo", tx=tx))["undone"] for tx in created]
    assert (undone, await names(api)) == ([1, 0], ["used"])


async def test_what_replaced_a_note_and_was_purged_does_not_come_back(either: Api) -> None:
    api = either
    old, new = await api.remember("the pier is open"), await api.remember("the pier is closed")
    await api.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    rev = (await api.note(old["id"]))["rev"]
    await api.call("undo", tx=await last_tx(api))
    undone = await last_tx(api)
    await api.call("forget", id=new["id"], purge=True)

    result = await api.call("undo", tx=undone)
    assert (result["undone"], kept(result)) == (0, {("superseded_by", "purged")})
    await api.call("note.revert", id=old["id"], rev=rev)

    assert "superseded_by" not in await api.note(old["id"])
    assert (await api.call("shelf.check", principal=ROOT))["problems"] == []
