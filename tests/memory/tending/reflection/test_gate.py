"""The recall gate: a reflection pushes nothing away that was found lately."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from fakes import Api
from memory.tending.reflection.scenes import a_note, shelve, told
from shelfd.memory.methods.recalling import replay
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.recall.shelf_index import Planned
from shelfd.memory.tending.reflection import Action, hold_back
from shelfd.memory.tending.reflection.action import Revision
from shelfd.memory.tending.reflection.gate import resting_on
from shelfd.protocol.methods.recall import RecallParams

CRANE = "The harbour crane is out of order."


async def ids(api: Api, query: str, **named: Any) -> list[str]:
    return [hit["note"]["id"] for hit in (await api.call("recall", query=query, **named))["results"]]


def hide(note: Note) -> Action:
    return Action(type="hide", note=note, detail="", revisions=(Revision(note, note._replace(archived_at=5)),))


def rewrite(note: Note, content: str) -> Action:
    return Action(type="rewrite", note=note, detail="", revisions=(Revision(note, note._replace(content=content)),))


async def held(api: Api, actions: Iterable[Action]) -> list[Action]:
    return await hold_back(api.shelf(), list(actions), replay)


async def test_a_recalled_note_is_not_hidden(either: Api) -> None:
    crane, ferry = await shelve(either, [a_note("harbour crane", id="a"), a_note("the ferry", id="b")])
    await ids(either, "harbour crane")
    actions = [hide(crane), hide(ferry)]
    assert await hold_back(either.shelf(), actions, replay) == [hide(crane)]
    assert actions == [hide(ferry)]


async def test_what_is_merged_is_found_by_what_it_became_part_of(either: Api) -> None:
    await shelve(either, [a_note(f"{CRANE}\nIt is.\nIt is.", id="a"), a_note(f"{CRANE}\nIt is.", id="b")])
    assert sorted(await ids(either, "harbour crane")) == ["a", "b"]
    result = await either.call("reflect")
    assert (told(result, "merge"), result["held_back"]) == (["a"], 0)
    assert await ids(either, "harbour crane") == ["a"]


async def test_a_merge_whose_survivor_is_not_found_is_left_out(either: Api) -> None:
    nearby = [a_note(f"harbour crane {word}", id=word) for word in ("north", "south", "east")]
    await shelve(either, [a_note("harbour crane", id="b"), *nearby])
    one, *_ = await ids(either, "harbour crane", k=1)
    assert one == "b"
    survivor, source = (
        (await shelve(either, [a_note("nothing of the kind", id="x")]))[0],
        (either.shelf().view.notes.by_ids(["b"])["b"]),
    )
    merge = Action(
        type="merge", note=survivor, other=source, detail="",
        revisions=(Revision(survivor, survivor), Revision(source, source._replace(archived_at=5))),
    )  # fmt: skip
    assert await held(either, [merge]) == [merge]


async def test_a_rewrite_that_pushes_a_note_out_is_left_out_and_what_rests_on_it(either: Api) -> None:
    first, second = await shelve(either, [a_note("harbour crane", id="a"), a_note("harbour master crane", id="b")])
    assert await ids(either, "harbour crane", k=1) == ["a"]
    new = second._replace(content="harbour crane")
    spoiled = rewrite(first, "something else altogether, of ferries and the harbour only")
    tagged = Action(type="tag", note=spoiled.revisions[0].new, detail="", revisions=())
    assert await held(either, [spoiled, tagged]) == [spoiled, tagged]
    assert await held(either, [rewrite(second, new.content + " of the north side")]) == []


async def test_a_link_that_brings_a_nearer_note_in_is_left_out(either: Api) -> None:
    notes = [
        a_note("harbour crane repair", id="a"),
        a_note("ferry to Norway", id="b"),
        a_note("harbour walls of old days long gone and past", id="c"),
    ]
    first, ferry, _ = await shelve(either, notes)
    assert await ids(either, "harbour crane repair", k=2) == ["a", "c"]
    query = RecallParams(query="harbour crane repair", k=2)
    either.shelf().queries.add(query, ["a", "c"], either.shelf().clock.now())  # both were of use then
    link = Action(
        type="link",
        note=first,
        other=ferry,
        detail="",
        links=(Link("a", "b", "related", "", 5), Link("b", "a", "related", "", 5)),
    )
    assert replay(either.shelf(), query, Planned(links={"a": link.links[:1]})) == ["a", "b"]
    assert await held(either, [link]) == [link]


async def test_only_what_harms_is_left_out(either: Api) -> None:
    notes = await shelve(either, [a_note(f"harbour crane {n}", id=f"n{n}") for n in range(4)])
    assert await ids(either, "harbour crane 2", k=1) == ["n2"]
    actions = [
        rewrite(notes[0], "harbour crane  0"),
        hide(notes[2]),
        hide(notes[1]),
        rewrite(notes[3], "harbour crane\n3"),
    ]
    assert await held(either, actions) == [actions[1]]


async def test_a_note_that_is_out_already_holds_nothing_back(either: Api) -> None:
    (old,) = await shelve(either, [a_note("the old harbour", id="old")])
    assert await ids(either, "harbour crane", k=1) == ["old"]
    await shelve(either, [a_note("harbour crane", id="new")])
    assert await held(either, [hide(old)]) == []


async def test_what_nobody_asked_lately_holds_nothing_back(either: Api) -> None:
    (crane,) = await shelve(either, [a_note("harbour crane", id="a")])
    await ids(either, "harbour crane", count_hits=False)
    assert await held(either, [hide(crane)]) == []
    await ids(either, "harbour crane")
    assert await held(either, [hide(crane)]) == [hide(crane)]
    either.clock.advance(timedelta(days=31))
    assert await held(either, [hide(crane)]) == []


async def test_replays_leave_no_trace(either: Api) -> None:
    notes = await shelve(either, [a_note(f"{CRANE} {n}", id=f"n{n}") for n in range(5)])
    before = await either.call("recall", query="harbour crane", explain=True, session_id="s")
    shelf = either.shelf()
    await shelf.write_usage()
    usage, queries, seq = shelf.usage.of(notes), shelf.view.queries.recent(9), shelf.view.log.last_seq
    await held(either, [hide(note) for note in notes])

    assert (shelf.usage.of(notes), shelf.view.queries.recent(9), shelf.view.log.last_seq) == (usage, queries, seq)
    after = await either.call("recall", query="harbour crane", explain=True, count_hits=False)
    scores = [
        [(hit["note"]["id"], hit["score"], hit["signals"]) for hit in told["results"]] for told in (before, after)
    ]
    assert scores[0] == scores[1]


async def test_a_dry_run_knows_the_gate(either: Api) -> None:
    await shelve(either, [a_note("harbour crane", id="a", title="tmp crane")])
    plan = await either.call("reflect", dry_run=True)
    assert (plan["hidden"], plan["held_back"]) == (1, 0)


def test_what_rests_on_an_action_goes_with_it() -> None:
    a, b, c = (a_note(name, id=name, row=row) for row, name in enumerate("abc"))
    link = Action(type="link", note=a, other=c, detail="", links=(Link("a", "c", "related", "", 1),))
    actions = [rewrite(a, "x"), rewrite(b, "y"), link, hide(c)]
    assert resting_on(actions, {0}) == {0, 2}
    assert resting_on(actions, {2}) == {2}
    assert resting_on(actions, set()) == set()
