"""Notes that cannot both be true, over each kind of stores: found, listed, decided, and closed by themselves."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api, until

A, B = "Paul's blood type is A positive.", "Paul's blood type is AB negative."


async def contradict(api: Api, **named: Any) -> dict[str, Any]:
    """Store two notes that contradict each other; return the answer to the second one."""
    await api.call("remember", content=A, evolve=True, **named)
    result: dict[str, Any] = await api.call("remember", content=B, evolve=True, **named)
    return result


async def conflicts(api: Api, **named: Any) -> list[dict[str, Any]]:
    return list((await api.call("conflict.list", **named))["conflicts"])


async def events(api: Api, since: int) -> list[tuple[str, Any]]:
    rows = api.shelf().view.log.page(since_seq=since, limit=99)
    return [(row.kind, (row.before or {}).get("resolution")) for row in rows if row.kind.startswith("conflict.")]


def kinds(api: Api) -> list[str]:
    return [row.kind for row in api.shelf().view.log.page(since_seq=0, limit=99)]


async def live(api: Api) -> list[str]:
    found = await api.call("note.list", include_superseded=False, order="created_at")
    return [note["content"] for note in found["notes"]]


async def test_a_contradiction_that_nothing_decides_leaves_both_and_is_listed(either: Api) -> None:
    new = await contradict(either)
    assert (new["status"], new["superseded"], len(new["conflicts"])) == ("created", [], 1)
    (found,) = await conflicts(either)
    assert found["id"] == new["conflicts"][0]
    assert (found["a"]["content"], found["b"]["content"]) == (A, B)
    assert (found["b"]["id"], found["nugget"]) == (new["note"]["id"], "memory")
    assert found["reason"] == "two values of what never changes"
    assert set(found) == {"id", "nugget", "a", "b", "reason", "found_at"}
    assert await live(either) == [A, B]
    assert await events(either, 0) == [("conflict.found", None)]


@pytest.mark.parametrize(("keep", "left"), [("a", [A]), ("b", [B]), ("both", [A, B])])
async def test_a_conflict_is_decided_and_that_can_be_taken_back(either: Api, keep: str, left: list[str]) -> None:
    (conflict_id,) = (await contradict(either))["conflicts"]
    seq = either.shelf().view.log.last_seq
    result = await either.call("conflict.resolve", id=conflict_id, keep=keep)
    assert result["conflict"]["resolution"] == keep
    assert len(result["superseded"]) == (keep != "both")
    assert await live(either) == left
    assert await conflicts(either) == []
    assert [one["id"] for one in await conflicts(either, resolved=True)] == [conflict_id]
    assert await events(either, seq) == [("conflict.resolved", keep)]
    again = await either.call("conflict.resolve", id=conflict_id, keep=keep)
    assert again["superseded"] == []
    undone = await either.call("undo", tx=seq + 1)
    assert undone["kept"] == []
    assert await live(either) == [A, B]
    assert [one["id"] for one in await conflicts(either)] == [conflict_id]
    assert (await events(either, seq))[-1] == ("conflict.found", None)


async def test_what_was_decided_is_not_decided_otherwise(either: Api) -> None:
    (conflict_id,) = (await contradict(either))["conflicts"]
    await either.call("conflict.resolve", id=conflict_id, keep="a")
    refused = await either.refused("conflict.resolve", id=conflict_id, keep="b")
    assert (refused.code, refused.reason) == (-32002, "RESOLVED")
    assert (await either.refused("conflict.resolve", id="conflict-x", keep="b")).code == -32001
    assert (await either.refused("conflict.resolve", id=conflict_id, keep="c")).field == "keep"
    assert (await either.refused("conflict.list", nugget="nowhere")).code == -32001


@pytest.mark.parametrize("index", [0, 1])
async def test_a_note_that_is_hidden_closes_its_conflicts_until_it_is_restored(either: Api, index: int) -> None:
    (conflict_id,) = (await contradict(either))["conflicts"]
    (found,) = await conflicts(either)
    note_id = found["ab"[index]]["id"]
    seq = either.shelf().view.log.last_seq
    await either.call("note.hide", id=note_id)
    assert await conflicts(either) == []
    (closed,) = await conflicts(either, resolved=True)
    assert closed["resolution"] == "hidden"
    await either.call("note.restore", id=note_id)
    assert [one["id"] for one in await conflicts(either)] == [conflict_id]
    assert await events(either, seq) == [("conflict.resolved", "hidden"), ("conflict.found", None)]
    await either.call("undo", tx=seq + 1)
    assert len(await conflicts(either)) == 1


async def test_a_note_is_in_conflict_with_the_newest_that_it_contradicts(either: Api) -> None:
    notes = [{"content": f"Paul was born in Town{number}.", "evolve": True} for number in range(9)]
    result = await either.call("remember_many", notes=notes)
    assert [len(one["conflicts"]) for one in result["evolved"]] == [0, 1, 2, 3, 3, 3, 3, 3, 3]
    found = await conflicts(either, limit=1000)
    newest = {one["a"]["content"] for one in found if one["b"]["id"] == result["ids"][-1]}
    assert newest == {f"Paul was born in Town{number}." for number in (5, 6, 7)}


async def test_a_note_that_is_superseded_closes_its_conflicts(either: Api) -> None:
    await contradict(either)
    new = await either.call("remember", content="Correction: Paul's blood type is B negative.", evolve=True)
    assert (new["status"], len(new["superseded"])) == ("corrected", 2)
    assert [one["resolution"] for one in await conflicts(either, resolved=True)] == ["superseded"]
    assert await conflicts(either) == []
    await either.call("undo", tx=either.shelf().view.log.page(since_seq=0, limit=99)[-1].tx)
    assert len(await conflicts(either)) == 1
    assert await live(either) == [A, B]


async def test_an_undone_note_closes_its_conflict_and_comes_back_with_it(either: Api) -> None:
    await contradict(either)
    tx = either.shelf().view.log.page(since_seq=0, limit=99)[-1].tx
    await either.call("undo", tx=tx)
    assert await conflicts(either) == []
    assert await live(either) == [A]
    await either.call("undo", tx=either.shelf().view.log.page(since_seq=0, limit=99)[-1].tx)
    assert len(await conflicts(either)) == 1


async def test_a_purged_note_takes_its_conflicts_along(either: Api) -> None:
    new = await contradict(either)
    await either.call("forget", id=new["note"]["id"], purge=True)
    assert await conflicts(either) == []
    assert await conflicts(either, resolved=True) == []


async def test_conflicts_come_in_pages_and_by_nugget(either: Api) -> None:
    for name in ("one", "two", "three"):
        await contradict(either, nugget=name)
    first = await either.call("conflict.list", limit=2)
    assert [one["nugget"] for one in first["conflicts"]] == ["three", "two"]
    rest = await either.call("conflict.list", limit=2, cursor=first["next_cursor"])
    assert [one["nugget"] for one in rest["conflicts"]] == ["one"]
    assert "next_cursor" not in rest
    assert [one["nugget"] for one in await conflicts(either, nugget="two")] == ["two"]
    await either.call("nugget.rename", name="two", new_name="zwei")
    assert [one["nugget"] for one in await conflicts(either, nugget="zwei")] == ["zwei"]


async def test_a_fact_is_in_conflict_once(either: Api) -> None:
    await either.call("remember", content=A, evolve=True)
    first = await either.call("remember", content=B, key="paul", evolve=True)
    again = await either.call("remember", content=B + " ", key="paul", tags=["health"], evolve=True)
    assert (again["status"], again["conflicts"]) == ("updated", first["conflicts"])
    assert len(await conflicts(either)) == 1


@pytest.mark.parametrize("index", [0, 1])
async def test_a_note_that_says_something_else_closes_its_conflicts(either: Api, index: int) -> None:
    (conflict_id,) = (await contradict(either))["conflicts"]
    (found,) = await conflicts(either)
    note_id, said = found["ab"[index]]["id"], (A, B)[index]
    seq = either.shelf().view.log.last_seq
    await either.call("note.edit", id=note_id, add_tags=["health"])
    assert [one["id"] for one in await conflicts(either)] == [conflict_id]
    await either.call("note.edit", id=note_id, content="Paul's dog is called Rex.")
    assert await conflicts(either) == []
    (closed,) = await conflicts(either, resolved=True)
    assert (closed["id"], closed["resolution"]) == (conflict_id, "changed")
    assert await events(either, seq) == [("conflict.resolved", "changed")]
    await either.call("note.edit", id=note_id, content=said)
    assert [one["id"] for one in await conflicts(either)] == [conflict_id]
    assert await events(either, seq) == [("conflict.resolved", "changed"), ("conflict.found", None)]


async def test_what_was_changed_and_taken_back_is_in_conflict_again(either: Api) -> None:
    note = (await contradict(either))["note"]
    await either.call("note.edit", id=note["id"], content=A)  # both say the same
    tx = either.shelf().view.log.last_seq
    assert await conflicts(either) == []
    await either.call("undo", tx=tx)
    assert len(await conflicts(either)) == 1
    await either.call("note.hide", id=note["id"])
    await either.call("note.edit", id=note["id"], content="Paul likes figs.")
    assert await conflicts(either) == []
    await either.call("note.restore", id=note["id"])
    assert await conflicts(either) == []
    resolved = [one["resolution"] for one in await conflicts(either, resolved=True)]
    assert resolved == ["changed"]


@pytest.mark.parametrize(
    ("change", "is_open"),
    [
        ({"content": f"{B} His father's is O."}, True),
        ({"content": f"Correction: {B}"}, True),  # which of the two counts is still to be said
        ({"content": "Is Paul's blood type AB negative?"}, False),
        ({"metadata": {"valid_to": "2020-01-01T00:00:00Z"}}, False),
        ({"metadata": {"importance": 9}}, True),
    ],
)
async def test_a_conflict_stays_open_as_long_as_its_notes_exclude_each_other(
    either: Api, change: dict[str, Any], is_open: bool
) -> None:
    note = (await contradict(either))["note"]
    await either.call("note.edit", id=note["id"], **change)
    assert bool(await conflicts(either)) == is_open


async def test_a_key_with_another_value_closes_its_conflict_and_opens_it_again(either: Api) -> None:
    await either.call("remember", content=A, evolve=True)
    first = await either.call("remember", content=B, key="paul", evolve=True)
    await either.call("remember", content="Paul likes figs.", key="paul")
    assert await conflicts(either) == []
    again = await either.call("remember", content=B, key="paul", evolve=True)
    assert again["conflicts"] == first["conflicts"]
    assert [one["id"] for one in await conflicts(either)] == first["conflicts"]


async def test_a_note_that_is_moved_contradicts_nothing_there(either: Api) -> None:
    note = (await contradict(either))["note"]
    await either.call("nugget.create", name="other")
    await either.call("note.move", id=note["id"], nugget="other")
    assert await conflicts(either) == []
    await either.call("note.move", id=note["id"], nugget="memory")
    assert len(await conflicts(either)) == 1


async def test_what_was_decided_stays_decided_whatever_the_notes_say(either: Api) -> None:
    new = await contradict(either)
    (conflict_id,) = new["conflicts"]
    await either.call("conflict.resolve", id=conflict_id, keep="both")
    await either.call("note.edit", id=new["note"]["id"], content="Paul likes figs.")
    await either.call("note.edit", id=new["note"]["id"], content=B)
    (closed,) = await conflicts(either, resolved=True)
    assert (closed["resolution"], await conflicts(either)) == ("both", [])


async def test_a_conflict_is_open_again_when_what_its_decision_superseded_counts_again(either: Api) -> None:
    (conflict_id,) = (await contradict(either))["conflicts"]
    (superseded,) = (await either.call("conflict.resolve", id=conflict_id, keep="b"))["superseded"]
    seq = either.shelf().view.log.last_seq
    await either.call("note.restore", id=superseded)
    assert [one["id"] for one in await conflicts(either)] == [conflict_id]
    await either.call("undo", tx=seq + 1)
    assert await conflicts(either) == []
    assert await live(either) == [B]


async def test_a_note_that_has_expired_contradicts_nothing_until_it_lives_again(either: Api) -> None:
    await either.call("remember", content=A, evolve=True)
    note = (await either.call("remember", content=B, evolve=True, ttl_days=1))["note"]
    assert len(await conflicts(either)) == 1
    either.clock.advance(timedelta(days=2))
    await until(lambda: "conflict.resolved" in kinds(either))
    assert await conflicts(either) == []
    assert [one["resolution"] for one in await conflicts(either, resolved=True)] == ["changed"]
    await either.call("note.edit", id=note["id"], metadata={"ttl_days": 30})
    assert len(await conflicts(either)) == 1


async def test_a_note_that_holds_no_longer_contradicts_nothing_until_it_holds_again(either: Api) -> None:
    await either.call("remember", content=A, evolve=True)
    note = (await either.call("remember", content=B, evolve=True, valid_to="2026-01-02T00:00:00Z"))["note"]
    assert len(await conflicts(either)) == 1
    either.clock.advance(timedelta(days=2))
    await until(lambda: "conflict.resolved" in kinds(either))
    assert await conflicts(either) == []
    assert [one["resolution"] for one in await conflicts(either, resolved=True)] == ["changed"]
    await either.call("note.edit", id=note["id"], metadata={"valid_to": "2027-01-01T00:00:00Z"})
    assert len(await conflicts(either)) == 1


async def test_who_follows_is_told_that_a_conflict_went_with_a_purged_note(either: Api) -> None:
    new = await contradict(either)
    await either.call("forget", id=new["note"]["id"], purge=True)
    (row,) = [row for row in (await either.call("shelf.log"))["log"] if row["kind"] == "conflict.resolved"]
    assert new["note"]["id"] in row["ids"]
    assert await conflicts(either, resolved=True) == []


async def test_what_is_contradicted_is_marked_in_recall(either: Api) -> None:
    async def marked(**params: Any) -> dict[str, list[str]]:
        found = (await either.call("recall", query="What is Paul's blood type?", **params))["results"]
        return {hit["note"]["content"]: hit["conflicts"] for hit in found if "conflicts" in hit}

    await either.remember("Paul's blood donation is on Monday.")
    ids = (await contradict(either))["conflicts"]
    assert await marked() == {A: ids, B: ids}
    assert await marked(k=1) in ({A: ids}, {B: ids})
    seq = either.shelf().view.log.last_seq
    await either.call("conflict.resolve", id=ids[0], keep="both")
    assert await marked() == {}
    assert await marked(known_at=seq) == {}
