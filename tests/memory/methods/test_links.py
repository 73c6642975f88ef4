"""Links between notes."""

import pytest

from fakes import Api, memory
from shelfd.protocol import Limits


async def pair(api: Api) -> tuple[str, str]:
    return (await api.remember("one"))["id"], (await api.remember("two"))["id"]


async def test_a_link_stands_at_both_ends(either: Api) -> None:
    a, b = await pair(either)

    assert await either.call("link.upsert", source=a, target=b, relation="causes", reason="why") == {
        "added": 2,
        "updated": 0,
    }

    there, back = (await either.note(a))["links"], (await either.note(b))["links"]
    assert [(link["to"], link["relation"], link["reason"]) for link in there] == [(b, "causes", "why")]
    assert [link["to"] for link in back] == [a]


@pytest.mark.parametrize(("direction", "ends"), [("outgoing", [1, 0]), ("incoming", [0, 1])])
async def test_a_directed_link_stands_at_one_end(api: Api, direction: str, ends: list[int]) -> None:
    a, b = await pair(api)

    assert await api.call("link.upsert", source=a, target=b, direction=direction) == {"added": 1, "updated": 0}
    assert [len((await api.note(a))["links"]), len((await api.note(b))["links"])] == ends


async def test_the_same_link_twice_adds_nothing_and_leaves_no_trace(either: Api) -> None:
    a, b = await pair(either)
    await either.call("link.upsert", source=a, target=b)
    before = (await either.call("get_stats"))["last_seq"]

    assert await either.call("link.upsert", source=a, target=b) == {"added": 0, "updated": 0}
    assert (await either.call("get_stats"))["last_seq"] == before


async def test_a_repeated_link_takes_over_its_new_reason_and_keeps_its_time(api: Api) -> None:
    a, b = await pair(api)
    await api.call("link.upsert", source=a, target=b, reason="first", valid_from="2025-01-01T00:00:00Z")
    created = (await api.note(a))["links"][0]["created_at"]
    assert await api.call("link.upsert", source=a, target=b, reason="second") == {"added": 0, "updated": 2}

    link = (await api.note(a))["links"][0]
    assert [link["reason"], link["created_at"], link["valid_from"]] == ["second", created, "2025-01-01T00:00:00Z"]


async def test_a_new_reason_is_told_and_the_old_one_is_kept(either: Api) -> None:
    a, b = await pair(either)
    await either.call("link.upsert", source=a, target=b, reason="first", direction="outgoing")
    since = (await either.call("get_stats"))["last_seq"]
    told = await either.call("link.upsert", source=a, target=b, reason="second", valid_to="2026-05-01T00:00:00Z")

    assert told == {"added": 1, "updated": 1}
    there, back = (await either.call("events.since", seq=since))["events"]
    assert [there["type"], there["data"]["changed"]] == ["shelfd.link.added.v1", ["reason", "valid_to"]]
    assert "changed" not in back["data"]
    assert "second" not in str([there, back])

    await either.call("undo", tx=there["tx"])
    assert [link["reason"] for link in (await either.note(a))["links"]] == ["first"]
    assert (await either.note(b))["links"] == []


async def test_relations_are_links_of_their_own(api: Api) -> None:
    a, b = await pair(api)
    await api.call("link.upsert", source=a, target=b, relation="causes")

    assert await api.call("link.upsert", source=a, target=b, relation="blocks") == {"added": 2, "updated": 0}


async def test_a_self_link_is_refused(api: Api) -> None:
    a, _ = await pair(api)
    error = await api.refused("link.upsert", source=a, target=a)

    assert (error.code, error.field) == (-32602, "target")


@pytest.mark.parametrize("method", ["link.upsert", "link.delete"])
async def test_a_link_to_nowhere_is_not_found(api: Api, method: str) -> None:
    a, _ = await pair(api)
    error = await api.refused(method, source=a, target="note-x-00000000")

    assert (error.code, error.kind) == (-32001, "NoteNotFound")


async def test_delete_takes_both_directions_and_every_relation(either: Api) -> None:
    a, b = await pair(either)
    await either.call("link.upsert", source=a, target=b)
    await either.call("link.upsert", source=a, target=b, relation="causes")

    assert await either.call("link.delete", source=b, target=a) == {"removed": 4}
    assert (await either.call("link.list"))["links"] == []


async def test_delete_with_a_relation_and_a_direction_takes_one(api: Api) -> None:
    a, b = await pair(api)
    await api.call("link.upsert", source=a, target=b)
    await api.call("link.upsert", source=a, target=b, relation="causes")

    assert await api.call("link.delete", source=a, target=b, relation="causes", direction="outgoing") == {"removed": 1}


async def test_list_gives_links_of_a_note_or_all_page_by_page(either: Api) -> None:
    a, b = await pair(either)
    c = (await either.remember("three"))["id"]
    await either.call("link.upsert", source=a, target=b)
    await either.call("link.upsert", source=b, target=c, direction="outgoing")

    first = await either.call("link.list", limit=2)
    rest = await either.call("link.list", limit=2, cursor=first["next_cursor"])

    ends = [(link["source"], link["target"]) for link in first["links"] + rest["links"]]
    assert ends == [(a, b), (b, a), (b, c)]
    assert "next_cursor" not in rest
    assert [link["target"] for link in (await either.call("link.list", id=c))["links"]] == [c]
    assert (await either.call("link.list", relation="causes"))["links"] == []


async def test_links_of_an_unknown_note_are_not_found(api: Api) -> None:
    assert (await api.refused("link.list", id="nothing")).code == -32001


async def test_remember_links_the_new_note_at_both_ends(either: Api) -> None:
    a, _ = await pair(either)
    note = await either.remember("three", links=[{"to": a, "relation": "follows"}])

    assert [link["to"] for link in note["links"]] == [a]
    assert [link["to"] for link in (await either.note(a))["links"]] == [note["id"]]


async def test_remember_with_an_unknown_target_stores_nothing(either: Api) -> None:
    error = await either.refused("remember", content="x", nugget="new", links=[{"to": "nothing"}])

    assert error.code == -32001
    assert (await either.call("get_stats"))["last_seq"] == 0


async def test_a_fact_that_links_to_itself_is_refused_and_not_changed(api: Api) -> None:
    note = await api.remember("x", key="k")
    error = await api.refused("remember", content="y", key="k", links=[{"to": note["id"]}])

    assert (error.code, error.field) == (-32602, "links")
    assert (await api.note(note["id"]))["content"] == "x"


async def test_no_note_gets_more_links_than_the_limit_whichever_way_they_come() -> None:
    async with memory(limits=Limits(links_count=2)) as api:
        hub = await api.remember("hub", key="hub")
        others = [(await api.remember(f"n{n}"))["id"] for n in range(4)]
        await api.remember("hub", key="hub", links=[{"to": others[0]}])
        await api.call("link.upsert", source=others[1], target=hub["id"])

        upsert = await api.refused("link.upsert", source=others[2], target=hub["id"])
        from_new = await api.refused("remember", content="x", links=[{"to": hub["id"]}])
        from_hub = await api.refused("remember", content="hub", key="hub", links=[{"to": others[3]}])
        twice = await api.refused(
            "remember", content="x", links=[{"to": others[3], "relation": r} for r in ("a", "b", "c")]
        )

        for error in (upsert, from_new, from_hub, twice):
            assert (error.code, error.field, error.limit) == (-32602, "links", 2)
        assert len((await api.note(hub["id"]))["links"]) == 2
        assert (await api.note(others[2]))["links"] == []


async def test_existing_links_may_be_given_again_at_the_limit() -> None:
    async with memory(limits=Limits(links_count=1)) as api:
        a = (await api.remember("one"))["id"]
        await api.remember("x", key="k", links=[{"to": a}])
        assert (await api.call("remember", content="x", key="k", links=[{"to": a}]))["status"] == "noop"


async def test_validity_must_not_end_before_it_begins(api: Api) -> None:
    a, b = await pair(api)
    times = {"valid_from": "2025-01-02T00:00:00Z", "valid_to": "2025-01-01T00:00:00Z"}

    assert (await api.refused("link.upsert", source=a, target=b, **times)).field == "valid_to"
    error = await api.refused("remember", content="x", links=[{"to": a, **times}])
    assert error.field == "links.0.valid_to"


async def test_links_stay_when_a_note_is_hidden_and_restored(api: Api) -> None:
    a, b = await pair(api)
    await api.call("link.upsert", source=a, target=b)
    await api.call("note.hide", id=b)

    assert len((await api.note(a))["links"]) == 1
    assert len((await api.call("note.restore", id=b))["note"]["links"]) == 1
