"""reflection.history: which runs there were, what they did, and what was taken back."""

from datetime import timedelta
from typing import Any

from fakes import BOB, Api
from memory.tending.reflection.scenes import a_note, shelve

MESS = [
    a_note("The harbour crane is out of order.\nIt is.\nIt is.", id="a"),
    a_note("The harbour crane is out of order.\nIt is.", id="b"),
    a_note("for the moment", id="d", title="tmp"),
]
COUNTS = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")


async def history(api: Api, **params: Any) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = (await api.call("reflection.history", **params))["runs"]
    return runs


async def test_a_shelf_nobody_reflected_on_has_none(api: Api) -> None:
    assert await api.call("reflection.history") == {"runs": []}


async def test_each_run_tells_what_it_did_and_nothing_of_the_notes(either: Api) -> None:
    await shelve(either, MESS)
    first = await either.call("reflect", principal=BOB)
    either.clock.advance(timedelta(days=1))
    second = await either.call("reflect", nugget="memory")
    runs = await history(either)

    assert [run["run_id"] for run in runs] == [second["run_id"], first["run_id"]]
    assert [(run["ran_at"], run["nugget"], run["principal"]) for run in runs] == [
        ("2026-01-02T00:00:00Z", "memory", "uid:1000"),
        ("2026-01-01T00:00:00Z", None, BOB),
    ]
    assert [runs[1][name] for name in COUNTS] == [first[name] for name in COUNTS]
    told = [{name: value for name, value in change.items() if name != "other_id"} for change in runs[1]["changes"]]
    assert told == [{name: change[name] for name in ("type", "nugget", "note_id")} for change in first["changes"]]
    assert {change["other_id"] for change in runs[1]["changes"] if change["type"] == "merge"} == {"b"}
    assert "harbour" not in str(runs)


async def test_a_dry_run_is_none_of_them(api: Api) -> None:
    await shelve(api, MESS)
    await api.call("reflect", dry_run=True)
    assert await history(api) == []


async def test_pages_are_stable_while_others_reflect(either: Api) -> None:
    await shelve(either, MESS)
    ran = [(await either.call("reflect"))["run_id"] for _ in range(5)]
    page = await either.call("reflection.history", limit=2)
    seen = [run["run_id"] for run in page["runs"]]
    await either.call("reflect")
    while "next_cursor" in page:
        page = await either.call("reflection.history", limit=2, cursor=page["next_cursor"])
        seen += [run["run_id"] for run in page["runs"]]

    assert seen == ran[::-1]
    assert (await either.refused("reflection.history", cursor="nonsense")).field == "cursor"


async def test_it_says_which_undo_took_a_run_back(either: Api) -> None:
    await shelve(either, MESS)
    first, second = await either.call("reflect"), await either.call("reflect")
    undo = await either.call("reflection.undo", run_id=first["run_id"])
    assert [run.get("undone_by") for run in await history(either)] == [None, undo["run_id"]]

    redo = await either.call("reflection.undo", run_id=undo["run_id"])
    assert [run.get("undone_by") for run in await history(either)] == [None, None]
    await either.call("reflection.undo", run_id=redo["run_id"])
    await either.call("reflection.undo", run_id=second["run_id"])
    runs = {run["run_id"]: run.get("undone_by") for run in await history(either)}
    assert runs[second["run_id"]] is not None
    assert runs[first["run_id"]] == undo["run_id"]


async def test_who_may_not_read_the_shelf_sees_none(api: Api) -> None:
    await api.call("shelf.create", shelf="own")
    assert (await api.refused("reflection.history", shelf="own", principal=BOB)).kind == "Forbidden"
