"""events.since and shelf.log: the change log told to others."""

from typing import Any

import pytest

from fakes import ALICE, Api, memory
from shelfd.memory import MemorySettings
from shelfd.protocol.methods.events import EVENT_TYPES, CloudEvent


async def events(api: Api, seq: int = 0, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.call("events.since", seq=seq, **params))["events"]
    return found


async def test_an_event_is_a_cloud_event(either: Api) -> None:
    note = await either.remember("tea", title="Drink", session_id="s")
    event = (await events(either))[1]

    assert event == {
        "specversion": "1.0",
        "id": "default:2",
        "source": "urn:shelfd:local:default",
        "type": "shelfd.note.created.v1",
        "subject": note["id"],
        "time": "2026-01-01T00:00:00Z",
        "seq": 2,
        "tx": 1,
        "tx_size": 2,
        "prev_seq": 1,
        "datacontenttype": "application/json",
        "data": {
            "nugget": "memory", "ids": [note["id"]], "id": note["id"], "principal": ALICE, "session_id": "s",
            "kind": "note", "type": "note", "scope": "user", "rev": 1, "hidden": False, "title": "Drink",
        },
    }  # fmt: skip
    CloudEvent.model_validate(event)


async def test_every_change_is_an_event_of_a_known_type(either: Api) -> None:
    a = await either.remember("one", nugget="n", key="k")
    b = await either.remember("two", nugget="n", links=[{"to": a["id"]}])
    await either.call("note.edit", id=a["id"], content="three")
    await either.call("note.hide", id=a["id"])
    await either.call("note.restore", id=a["id"])
    await either.call("link.delete", source=a["id"], target=b["id"])
    await either.call("nugget.rename", name="n", new_name="m")
    await either.call("nugget.remove", name="m")
    told = await events(either)

    types = [event["type"].removeprefix("shelfd.").removesuffix(".v1") for event in told]
    assert types == [
        "nugget.created", "note.created", "note.created", "link.added", "link.added", "note.updated", "note.hidden",
        "note.restored", "link.removed", "link.removed", "nugget.renamed", "note.hidden", "note.hidden",
        "nugget.removed",
    ]  # fmt: skip
    assert set(types) <= set(EVENT_TYPES)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert [event["prev_seq"] for event in told] == list(range(len(told)))


async def test_an_event_s_title_is_as_of_its_change(either: Api) -> None:
    note = await either.remember("x", title="first")
    await either.call("note.edit", id=note["id"], title="second")
    await either.call("note.edit", id=note["id"], title="third", hidden=True)
    told = (await events(either))[1:]

    assert [(event["data"]["title"], event["data"]["rev"], event["data"]["hidden"]) for event in told] == [
        ("first", 1, False), ("second", 2, False), ("third", 3, True),
    ]  # fmt: skip
    assert [event["data"].get("changed") for event in told] == [None, ["title"], ["hidden", "title"]]


async def test_changed_names_rare_fields_as_callers_know_them(api: Api) -> None:
    note = await api.remember_typed({"a": 1}, aliases=["x"])
    await api.call("note.edit", id=note["id"], set_fields={"a": 2}, aliases=[])

    assert (await events(api))[-1]["data"]["changed"] == ["aliases", "content", "fields"]


@pytest.mark.parametrize(("content", "told"), [("none", set()), ("title", {"title"}), ("full", {"title", "content"})])
async def test_how_much_of_a_note_is_told_is_a_setting(content: str, told: set[str]) -> None:
    async with memory(settings=MemorySettings(event_content=content)) as api:  # type: ignore[arg-type]
        await api.remember("tea", key="drink")
        data = (await events(api))[1]["data"]
        assert {"title", "content"} & data.keys() == told


async def test_link_and_rename_events_say_what_they_are_about(api: Api) -> None:
    a, b = await api.remember("one"), await api.remember("two")
    await api.call("link.upsert", source=a["id"], target=b["id"], relation="causes", direction="outgoing")
    await api.call("nugget.rename", name="memory", new_name="m")
    link, rename = (await events(api))[-2:]

    assert [link["data"][name] for name in ("source", "target", "relation")] == [a["id"], b["id"], "causes"]
    assert [rename["data"][name] for name in ("old_name", "new_name", "nugget")] == ["memory", "m", "m"]


async def test_events_come_in_pages_that_join(either: Api) -> None:
    for n in range(5):
        await either.remember(f"n{n}")
    seqs: list[int] = []
    last = 0
    while page := await either.call("events.since", seq=last, limit=2):
        if not page["events"]:
            break
        assert page["events"][0]["prev_seq"] == last
        seqs += [event["seq"] for event in page["events"]]
        last = page["last_seq"]

    assert seqs == [1, 2, 3, 4, 5, 6]


async def test_a_position_beyond_the_end_is_refused(api: Api) -> None:
    """Who waited there would miss everything until the log comes that far."""
    await api.remember("one")
    last = api.shelf().view.log.last_seq
    assert await api.call("events.since", seq=last) == {"events": [], "last_seq": last}
    refused = await api.refused("events.since", seq=last + 1)
    assert (refused.field, refused.limit) == ("seq", last)


async def test_a_fact_written_a_thousand_times_is_told_as_it_was_each_time(api: Api) -> None:
    for n in range(400):
        await api.remember(f"v{n}", key="counter", title="counter")
    told = await events(api, limit=1000)

    assert [event["data"]["rev"] for event in told[1:]] == list(range(1, 401))


async def test_the_log_comes_in_pages_and_from_a_change_on(either: Api) -> None:
    for n in range(4):
        await either.remember(f"n{n}")
    first = await either.call("shelf.log", since_seq=1, limit=2)
    rest = await either.call("shelf.log", since_seq=1, limit=2, cursor=first["next_cursor"])

    assert [row["seq"] for row in first["log"] + rest["log"]] == [2, 3, 4, 5]
    assert "next_cursor" not in rest
    assert rest["last_seq"] == 5


async def test_the_log_holds_no_text(api: Api) -> None:
    note = await api.remember("zebra", key="k")
    await api.remember("giraffe", key="k")
    log = await api.call("shelf.log")

    assert "zebra" not in str(log)
    assert log["log"][-1]["ids"] == [note["id"]]
