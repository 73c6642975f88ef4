"""session.open, close and list: what a session is, how long it lasts, what is refused."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import BOB, Api


async def opened(api: Api, session_id: str = "s", **named: Any) -> dict[str, Any]:
    return await api.call("session.open", session_id=session_id, **named)


async def listed(api: Api, **named: Any) -> list[str]:
    return [one["session_id"] for one in (await api.call("session.list", **named))["sessions"]]


async def events(api: Api, since: int = 0) -> list[tuple[str, str, dict[str, Any]]]:
    found = (await api.call("events.since", seq=since))["events"]
    return [(one["type"], one["subject"], one["data"]) for one in found]


async def test_a_session_is_opened_on_a_nugget_that_need_not_exist(either: Api) -> None:
    assert await opened(either, nugget="Project") == {"session_id": "s", "nugget": "project", "seq": 1, "opened": True}
    assert (await either.call("nugget.list"))["nuggets"] == []
    data = {"nugget": "project", "ids": [], "principal": "uid:1000", "session_id": "s"}
    assert await events(either) == [("shelfd.session.opened.v1", "s", data)]


async def test_opening_it_again_changes_nothing(either: Api) -> None:
    await opened(either, nugget="a", actor="ada")
    for named in ({"nugget": "a"}, {}):
        again = await opened(either, **named)
        assert (again["opened"], again["nugget"], again["seq"]) == (False, "a", 1)
    (view,) = (await either.call("session.list"))["sessions"]
    assert (view["actor"], view["open"], view["nugget"]) == ("ada", True, "a")


async def test_a_session_keeps_to_its_nugget_even_when_it_is_closed(either: Api) -> None:
    await opened(either)
    refused = await either.refused("session.open", session_id="s", nugget="other")
    assert (refused.code, refused.kind, refused.field) == (-32002, "SessionElsewhere", "nugget")
    assert "'memory'" in refused.message
    await either.call("session.close", session_id="s")
    assert (await either.refused("session.open", session_id="s", nugget="other")).kind == "SessionElsewhere"


async def test_it_survives_a_restart(durable: Api) -> None:
    await opened(durable, nugget="a")
    await durable.reopen()
    assert await listed(durable) == ["s"]
    assert (await opened(durable))["opened"] is False


async def test_a_closed_session_is_opened_again(either: Api) -> None:
    await opened(either, nugget="a")
    assert await either.call("session.close", session_id="s") == {"session_id": "s", "closed": True}
    assert await either.call("session.close", session_id="s") == {"session_id": "s", "closed": False}
    assert (await listed(either), await listed(either, include_closed=True)) == ([], ["s"])
    again = await opened(either)
    assert (again["opened"], again["nugget"]) == (True, "a")
    kinds = [kind for kind, _, _ in await events(either)]
    assert kinds == [f"shelfd.session.{what}.v1" for what in ("opened", "closed", "opened")]


async def test_it_lasts_thirty_idle_days(either: Api) -> None:
    await opened(either)
    either.clock.advance(timedelta(days=30))
    assert await listed(either) == ["s"]
    either.clock.advance(timedelta(seconds=1))
    assert await listed(either) == []
    (view,) = (await either.call("session.list", include_closed=True))["sessions"]
    assert (view["open"], "closed_at" in view) == (False, False)
    assert (await opened(either))["opened"] is True


async def test_an_unknown_session_cannot_be_closed(either: Api) -> None:
    refused = await either.refused("session.close", session_id="nobody")
    assert (refused.code, refused.kind) == (-32001, "SessionNotFound")
    assert "session.open" in refused.message


async def test_sessions_are_listed_by_nugget_and_page_by_page(either: Api) -> None:
    for number in range(5):
        await opened(either, f"s{number}", nugget=f"n{number % 2}")
    assert await listed(either, nugget="n0") == ["s0", "s2", "s4"]
    first = await either.call("session.list", limit=3)
    rest = await either.call("session.list", limit=3, cursor=first["next_cursor"])
    assert [one["session_id"] for page in (first, rest) for one in page["sessions"]] == [f"s{n}" for n in range(5)]
    assert "next_cursor" not in rest


async def test_a_session_can_be_frozen_and_thawed(either: Api) -> None:
    await either.remember("one")
    await either.remember("two")
    assert (await opened(either, at_seq=2))["seq"] == 2
    (view,) = (await either.call("session.list"))["sessions"]
    assert view["at_seq"] == 2
    assert (await opened(either, at_seq=0))["seq"] == 0
    await opened(either)
    (view,) = (await either.call("session.list"))["sessions"]
    assert "at_seq" not in view
    told = [data for kind, _, data in await events(either) if "session" in kind]
    assert [data.get("at_seq") for data in told] == [2, 0, None]


async def test_it_cannot_be_frozen_in_the_future(either: Api) -> None:
    refused = await either.refused("session.open", session_id="s", at_seq=1)
    assert (refused.code, refused.field, refused.limit) == (-32602, "at_seq", 0)
    assert await listed(either, include_closed=True) == []


async def test_the_last_turn_is_known(either: Api) -> None:
    await opened(either)
    await either.remember("tea", session_id="s", turn=7)
    await either.remember("milk", session_id="s", turn=3)
    assert (await opened(either))["last_turn"] == 7
    (view,) = (await either.call("session.list"))["sessions"]
    assert view["last_turn"] == 7


@pytest.mark.parametrize("turn", [0, -1, 10_001, 2**53])
async def test_a_turn_that_cannot_be_one_is_refused(either: Api, turn: int) -> None:
    refused = await either.refused("session.open", session_id="s", turn=turn)
    assert (refused.code, refused.field) == (-32602, "turn")
    assert await listed(either, include_closed=True) == []


async def test_a_turn_may_lie_ten_thousand_beyond_the_last_one(either: Api) -> None:
    await opened(either)
    await either.remember("tea", session_id="s", turn=9_000)
    refused = await either.refused("session.open", session_id="s", turn=19_001)
    assert (refused.reason, refused.limit) == ("TURN_OUT_OF_RANGE", 19_000)
    assert (await opened(either, turn=19_000))["last_turn"] == 19_000
    await opened(either, turn=29_000)


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"session_id": ""}, "session_id"),
        ({"session_id": "x" * 129}, "session_id"),
        ({"session_id": "s", "nugget": "no/slash"}, "nugget"),
        ({"session_id": "s", "at_seq": -1}, "at_seq"),
        ({"session_id": "s", "actor": ""}, "actor"),
        ({"session_id": "s", "unknown": 1}, "unknown"),
    ],
)
async def test_bad_params_are_refused_by_name(api: Api, named: dict[str, Any], field: str) -> None:
    refused = await api.refused("session.open", named)
    assert (refused.code, refused.field) == (-32602, field)


async def test_a_session_of_another_principals_shelf_is_out_of_reach(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    await opened(either, shelf="mine")
    for method in ("session.open", "session.close"):
        refused = await either.refused(method, session_id="s", shelf="mine", principal=BOB)
        assert refused.code == -32004
    assert (await either.refused("session.list", shelf="mine", principal=BOB)).code == -32004


async def test_a_session_goes_with_its_nugget_to_another_name(either: Api) -> None:
    await opened(either, nugget="old")
    await either.remember("tea", nugget="old", session_id="s", turn=1)
    await either.call("nugget.rename", name="old", new_name="new")
    assert (await opened(either))["nugget"] == "new"


async def test_the_same_request_opens_it_once(either: Api) -> None:
    first = await opened(either, idempotency_key="k")
    await either.call("session.close", session_id="s")
    again = await opened(either, idempotency_key="k")
    assert (first["opened"], again["opened"], again["replayed"]) == (True, True, True)
    assert await listed(either) == []
