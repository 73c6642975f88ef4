"""What holds for a nugget can be changed, and is changed whole or not at all."""

import pytest

from fakes import Api


async def test_what_is_left_out_stays(either: Api) -> None:
    await either.call("nugget.create", name="diary", max_facts=9, ttl_days=30)
    edited = await either.call("nugget.edit", name="diary", local_only=True)
    assert (edited["local_only"], edited["max_facts"], edited["ttl_days"]) == (True, 9, 30)

    edited = await either.call("nugget.edit", name="diary", ttl_days=None, max_facts=0)
    assert (edited["local_only"], edited["max_facts"]) == (True, 0)
    assert "ttl_days" not in edited
    await either.reopen()
    assert await either.call("nugget.status", name="diary") == edited


async def test_a_nugget_can_be_made_with_the_mark_and_keeps_it_under_another_name(either: Api) -> None:
    assert (await either.call("nugget.create", name="diary", local_only=True))["local_only"]
    assert (await either.call("nugget.rename", name="diary", new_name="journal"))["local_only"]
    assert "local_only" not in await either.call("nugget.create", name="other")


async def test_new_notes_go_by_what_was_changed(either: Api) -> None:
    await either.call("nugget.create", name="diary")
    await either.call("nugget.edit", name="diary", ttl_days=1, max_facts=1)
    first = await either.remember("tea", key="drink", nugget="diary")
    await either.remember("rye", key="bread", nugget="diary")
    assert first["expires_at"].startswith("2026-01-02")
    assert (await either.note(first["id"]))["hidden"]


async def test_a_change_is_in_the_log_and_can_be_taken_back(either: Api) -> None:
    await either.call("nugget.create", name="diary", max_facts=3)
    await either.call("nugget.edit", name="diary", local_only=True, max_facts=5)
    row = (await either.call("shelf.log", limit=10))["log"][-1]
    assert row["kind"] == "nugget.updated"
    taken_back = await either.call("undo", tx=row["tx"])
    assert taken_back["undone"] == 1
    status = await either.call("nugget.status", name="diary")
    assert (status.get("local_only"), status["max_facts"]) == (None, 3)


async def test_what_was_changed_again_stays(either: Api) -> None:
    await either.call("nugget.create", name="diary")
    await either.call("nugget.edit", name="diary", max_facts=5)
    row = (await either.call("shelf.log", limit=10))["log"][-1]
    await either.call("nugget.edit", name="diary", max_facts=6)
    assert (await either.call("undo", tx=row["tx"]))["kept"][0]["note_id"] == "diary"
    assert (await either.call("nugget.status", name="diary"))["max_facts"] == 6


async def test_a_change_of_nothing_is_none(either: Api) -> None:
    await either.call("nugget.create", name="diary")
    before = (await either.call("shelf.log", limit=100))["log"]
    await either.call("nugget.edit", name="diary", local_only=False)
    assert (await either.call("shelf.log", limit=100))["log"] == before


@pytest.mark.parametrize(
    ("params", "field"),
    [({}, "name"), ({"local_only": None}, "local_only"), ({"max_facts": None}, "max_facts"),
     ({"ttl_days": 0}, "ttl_days"), ({"max_facts": -1}, "max_facts"), ({"dimension": 64}, "dimension"),
     ({"local_only": "perhaps"}, "local_only")],
)  # fmt: skip
async def test_bad_input(either: Api, params: dict[str, object], field: str) -> None:
    await either.call("nugget.create", name="diary", local_only=True)
    error = await either.refused("nugget.edit", {"name": "diary", **params})
    assert (error.code, error.field) == (-32602, field)
    assert (await either.call("nugget.status", name="diary"))["local_only"]


async def test_a_nugget_that_does_not_exist(either: Api) -> None:
    assert (await either.refused("nugget.edit", name="nowhere", max_facts=1)).kind == "NuggetNotFound"
