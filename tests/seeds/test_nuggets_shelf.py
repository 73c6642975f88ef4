"""Nuggets' test cases on a shelf of nuggets, through the methods. Where a case is fixed, its docstring says how."""

from datetime import timedelta

from fakes import Api
from seeds.test_nuggets_facts import ask


async def test_a_nugget_is_made_and_found(api: Api) -> None:
    created = await api.call("nugget.create", name="work")

    assert await api.call("nugget.status", name="work") == created
    assert len((await api.call("nugget.list"))["nuggets"]) == 1


async def test_a_name_is_taken_once(api: Api) -> None:
    await api.call("nugget.create", name="work")

    assert (await api.refused("nugget.create", name="work")).kind == "DuplicateNugget"


async def test_a_missing_nugget_is_said_to_be_missing(api: Api) -> None:
    """Also for removing one, which threw in the original as well."""
    for method in ("nugget.status", "nugget.facts", "nugget.remove"):
        assert (await api.refused(method, name="work")).kind == "NuggetNotFound"


async def test_remembering_makes_the_nugget_or_takes_the_one_there_is(api: Api) -> None:
    """get-or-create: two writes come to one nugget."""
    await api.remember("a", key="one", nugget="work")
    made = (await api.call("nugget.status", name="work"))["created_at"]
    await api.remember("b", key="two", nugget="work")

    status = await api.call("nugget.status", name="work")
    assert (status["created_at"], status["fact_count"]) == (made, 2)


async def test_a_nugget_is_removed_with_its_notes(api: Api) -> None:
    """Fixed: the original deleted its file; ours hides the notes, and with purge they are gone for good."""
    note = await api.remember("a", key="one", nugget="work")
    await api.call("nugget.remove", name="work")
    assert (await api.call("nugget.list"))["nuggets"] == []
    await api.call("note.restore", id=note["id"])
    assert (await api.call("nugget.status", name="work"))["fact_count"] == 1
    await api.call("nugget.remove", name="work", purge=True)

    assert (await api.refused("note.get", id=note["id"])).kind == "NoteNotFound"


async def test_recall_asks_one_nugget_or_all(api: Api) -> None:
    await api.remember("Rome", key="home town", nugget="private")
    await api.remember("Oslo", key="office", nugget="work")

    assert (await ask(api, "office", nugget="work"))["value"] == "Oslo"
    assert (await ask(api, "office", nugget="private"))["found"] is False
    answer = await ask(api, "home town")
    assert (answer["value"], answer["nugget"]) == ("Rome", "private")


async def test_the_nugget_that_has_the_key_wins_over_a_small_one(api: Api) -> None:
    """Fixed: the original's confidence was highest in the smallest nugget, which outshouted an exact key."""
    for number in range(60):
        await api.remember(f"value {number}", key=f"key {number}", nugget="big")
    await api.remember("Oslo", key="city", nugget="big")
    await api.remember("Rome", key="capital city of a country", nugget="small")

    answer = await ask(api, "city")
    assert (answer["value"], answer["nugget"]) == ("Oslo", "big")


async def test_all_nuggets_are_there_after_opening_again(api: Api) -> None:
    """Fixed: nothing is saved or loaded by hand; and a damaged file, skipped in silence, is a shelf refused by name."""
    for name in ("a", "b", "c"):
        await api.remember(f"value of {name}", key="k", nugget=name)
    await api.reopen()

    assert [nugget["name"] for nugget in (await api.call("nugget.list"))["nuggets"]] == ["a", "b", "c"]
    assert (await ask(api, "k", nugget="b"))["value"] == "value of b"


async def test_the_list_tells_each_nugget_s_status(api: Api) -> None:
    await api.remember("a", key="one", nugget="x")
    await api.call("nugget.create", name="y", max_facts=5)

    listed = (await api.call("nugget.list"))["nuggets"]
    assert listed == [await api.call("nugget.status", name=name) for name in ("x", "y")]


async def test_whether_there_is_a_nugget(api: Api) -> None:
    await api.call("nugget.create", name="x")
    names = {nugget["name"] for nugget in (await api.call("nugget.list"))["nuggets"]}

    assert ("x" in names, "z" in names) == (True, False)


async def test_of_the_same_key_in_two_nuggets_one_answers(api: Api) -> None:
    """Fixed: it was any of the two; ours is the one written last."""
    for nugget, value in (("a", "Rome"), ("b", "Oslo"), ("a", "Bern")):
        await api.remember(value, key="city", nugget=nugget)
        api.clock.advance(timedelta(seconds=1))

        assert (await ask(api, "city", mode="auto"))["value"] == value
    assert (await ask(api, "city"))["value"] in ("Oslo", "Bern")


async def test_notes_of_all_nuggets_are_searched(api: Api) -> None:
    """Fixed: results of nuggets were put side by side by softmax scores that cannot be compared; here they can."""
    first = (await api.call("note.create", content="the harbour opens at six", nugget="a"))["note"]
    second = (await api.call("note.create", content="the harbour master is Ada", nugget="b"))["note"]
    found = (await api.call("note.search", query="harbour"))["results"]

    assert {hit["note"]["id"] for hit in found} == {first["id"], second["id"]}
    assert [hit["note"]["nugget"] for hit in found] == [hit["note"]["id"].split("-")[1] for hit in found]
    only = (await api.call("note.search", query="harbour", nugget="b"))["results"]
    assert [hit["note"]["id"] for hit in only] == [second["id"]]


async def test_reflection_merges_equal_notes_and_archives_an_empty_temporary_one(api: Api) -> None:
    """An empty note cannot be given any more; a temporary one stands for it. See also test_merging."""
    for _ in range(2):
        await api.call("note.create", content="the weekly meeting is about the harbour", title="meeting")
    await api.call("note.create", content="draft", title="tmp draft")
    result = await api.call("reflect")

    assert result["inspected"] > 0
    assert result["merged"] >= 1
    assert result["hidden"] >= 1
    assert (await api.call("note.list"))["total"] == 1


async def test_the_same_text_of_the_assistant_and_the_user_stays_two_notes(api: Api) -> None:
    for scope in ("self", "user"):
        await api.call("note.create", content="prefers short answers in the morning", scope=scope)
    result = await api.call("reflect")

    assert result["merged"] == 0
    assert [note["scope"] for note in (await api.call("note.list"))["notes"]] == ["self", "user"]


async def test_a_search_of_the_shelf_can_be_narrowed_to_a_scope(api: Api) -> None:
    for nugget, scope in (("a", "self"), ("a", "user"), ("b", "user")):
        await api.call("note.create", content="short answers", nugget=nugget, scope=scope)
    found = (await api.call("note.search", query="short answers", scope="user"))["results"]

    assert sorted(hit["note"]["nugget"] for hit in found) == ["a", "b"]
    assert {hit["note"]["scope"] for hit in found} == {"user"}
