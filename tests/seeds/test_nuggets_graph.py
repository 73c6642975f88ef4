"""Nuggets' test cases on the graph of notes, through the methods. Where one is fixed, its docstring says how."""

import pytest

from fakes import Api
from seeds.test_nuggets_facts import ask


async def test_a_remembered_fact_is_one_note_and_search_finds_it(api: Api) -> None:
    """Fixed: the original kept fact and note in two files, written one after the other; here they are one row."""
    fact = await api.remember("blue", key="favorite color")
    await api.remember("green", key="favorite color")

    assert [note["id"] for note in (await api.call("note.list"))["notes"]] == [fact["id"]]
    (hit,) = (await api.call("note.search", query="favorite color green"))["results"]
    assert (hit["note"]["id"], hit["note"]["kind"], hit["note"]["content"]) == (fact["id"], "fact", "green")
    assert hit["note"]["title"] == "favorite color"


async def test_editing_a_fact_s_note_changes_what_recall_answers(api: Api) -> None:
    fact = await api.remember("blue", key="favorite color")
    await api.call("note.edit", id=fact["id"], content="green")
    assert (await ask(api, "favorite color"))["value"] == "green"
    await api.call("note.edit", id=fact["id"], title="favourite colour")

    answer = await ask(api, "favourite colour")
    assert (answer["value"], answer["key"]) == ("green", "favourite colour")


async def test_hiding_a_fact_s_note_does_not_lose_the_fact(api: Api) -> None:
    """Fixed: in the original even a soft delete of the note removed the fact, and nothing brought it back."""
    fact = await api.remember("blue", key="favorite color")
    await api.call("note.delete", id=fact["id"])
    assert (await ask(api, "favorite color"))["found"] is False
    await api.call("note.restore", id=fact["id"])

    assert (await ask(api, "favorite color"))["value"] == "blue"


async def test_a_free_note_is_made_edited_and_found_by_its_new_word(api: Api) -> None:
    """Fixed: an edit of the tags lost the tag of the nugget and kept stale scope and type tags."""
    note = (
        await api.call("note.create", title="Deploys", content="ships on mondays", tags=["Work Flow"], nugget="work")
    )["note"]
    assert note["tags"] == ["work", "scope:user", "type:note", "work-flow"]
    edited = await api.call(
        "note.edit", id=note["id"], content="ships on thursdays", tags=["calendar"], metadata={"scope": "shared"}
    )

    assert edited["note"]["tags"] == ["work", "scope:shared", "type:note", "calendar"]
    found = (await api.call("note.search", query="thursdays"))["results"]
    assert [hit["note"]["id"] for hit in found] == [note["id"]]
    assert (await api.call("note.search", query="mondays"))["results"] == []


@pytest.mark.parametrize(
    ("key", "scope", "subject", "type_"),
    [
        ("self:voice", "self", "assistant:self", "self_model"),
        ("user:theme", "user", "user:primary", "fact"),
        ("shared:test-command", "shared", "shared:project", "fact"),
    ],
)
async def test_prefixes_of_keys_say_scope_subject_and_type(
    api: Api, key: str, scope: str, subject: str, type_: str
) -> None:
    note = await api.remember("x", key=key)

    assert (note["scope"], note["subject"], note["type"]) == (scope, subject, type_)
    assert note["title"] == key  # the prefix is part of the key, and nobody adds one that was not given


@pytest.mark.parametrize(
    ("key", "scope"), [("user_name", "user"), ("assistant_name", "self"), ("server_features", "shared")]
)
async def test_a_key_without_a_prefix_tells_the_scope_and_stays_as_it_is(api: Api, key: str, scope: str) -> None:
    """Fixed: loading a file gave such keys a prefix, so that they no longer answered by the name they were given."""
    note = await api.remember("x", key=key)
    await api.reopen()

    assert (note["title"], note["scope"]) == (key, scope)
    assert (await ask(api, key, mode="auto"))["key"] == key


async def test_search_can_be_narrowed_to_a_scope(api: Api) -> None:
    own = await api.remember("calm and short", key="self:voice")
    await api.remember("calm and long", key="user:voice")

    found = (await api.call("note.search", query="calm voice", scope="self"))["results"]
    assert [hit["note"]["id"] for hit in found] == [own["id"]]


async def test_search_tells_a_shopping_list_from_a_deployment(api: Api) -> None:
    """Fixed: vectors were drawn from the first four letters, so that two notes of one shape were as one."""
    shopping = await api.remember("milk bread eggs", title="shopping")
    deploy = await api.remember("push build release", title="delivery")

    for query, wanted in (("milk eggs", shopping), ("build release", deploy)):
        results = (await api.call("note.search", query=query))["results"]
        assert results[0]["note"]["id"] == wanted["id"]
        assert results[0]["vector_score"] > 0
        assert all(hit["vector_score"] < results[0]["vector_score"] for hit in results[1:])


async def test_search_finds_nothing_where_nothing_fits_and_hidden_ones_when_asked(api: Api) -> None:
    """Fixed: the original returned its best notes whatever was asked, and never hidden ones."""
    note = await api.remember("milk bread eggs")
    assert (await api.call("note.search", query="quantum chromodynamics"))["results"] == []
    await api.call("note.hide", id=note["id"])
    assert (await api.call("note.search", query="milk"))["results"] == []

    found = (await api.call("note.search", query="milk", include_hidden=True))["results"]
    assert [hit["note"]["id"] for hit in found] == [note["id"]]


async def test_merging_notes_by_hand(api: Api) -> None:
    """Fixed: hits were added up, so that a session counted twice; a link to itself could come of it."""
    target, source = await api.remember("milk\nbread"), await api.remember("bread\neggs")
    friend = await api.remember("the shop is closed on sundays")
    for one, other in ((target, source), (source, friend)):
        await api.call("link.upsert", source=one["id"], target=other["id"], reason="shopping")
    for note in (target, source):
        await api.call("note.record_hit", id=note["id"], session_id="s")
    merged = (await api.call("note.merge", target=target["id"], source=source["id"]))["note"]

    assert (merged["content"], merged["hits"]) == ("milk\nbread\neggs", 1)
    assert target["id"] not in {link["to"] for link in merged["links"]}
    assert friend["id"] in {link["to"] for link in merged["links"]}
    assert (await api.note(source["id"]))["hidden"] is True


async def test_merging_never_takes_a_fact_away(api: Api) -> None:
    """Fixed: the original removed the source's fact and wrote both values under the target's key."""
    one, other = await api.remember("3.11", key="python version"), await api.remember("20", key="node version")
    refused = await api.refused("note.merge", target=one["id"], source=other["id"])

    assert (refused.code, refused.reason) == (-32002, "OTHER_KEY")
    assert (await ask(api, "node version"))["value"] == "20"


async def test_linking_says_what_is_new(api: Api) -> None:
    """Fixed: adding a link that was there was reported as done and made both notes look changed."""
    one, other = await api.remember("a"), await api.remember("b")
    params = {"source": one["id"], "target": other["id"], "reason": "related"}
    assert (await api.call("link.upsert", params))["added"] == 2
    before = await api.note(one["id"])
    assert (await api.call("link.upsert", params))["added"] == 0

    assert (await api.note(one["id"]))["updated_at"] == before["updated_at"]
    ends = {link["to"]: link["created_at"] for name in (one, other) for link in (await api.note(name["id"]))["links"]}
    assert set(ends) == {one["id"], other["id"]}
    assert len(set(ends.values())) == 1
