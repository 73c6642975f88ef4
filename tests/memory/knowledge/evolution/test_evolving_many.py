"""remember_many with evolve over each kind of stores: notes of one request evolve one after the other."""

from typing import Any

import pytest

from fakes import Api, Refused
from shelfd.protocol.methods.notes import EVOLVED_AT_ONCE


async def many(api: Api, *notes: dict[str, Any] | str, **named: Any) -> dict[str, Any]:
    items = [{"content": note, "evolve": True} if isinstance(note, str) else note for note in notes]
    result: dict[str, Any] = await api.call("remember_many", notes=items, **named)
    return result


async def live(api: Api) -> list[str]:
    found = await api.call("note.list", include_superseded=False, order="created_at")
    return sorted(note["content"] for note in found["notes"])


async def test_notes_of_one_request_evolve_one_after_the_other(either: Api) -> None:
    old = await either.remember("Eva lives in Linz.")
    result = await many(
        either, "Eva lives in Graz.", "Tom plays the violin.", "Eva lives in Graz.", "Eva lives in Wels."
    )
    ids = result["ids"]
    assert result["evolved"] == [
        {"index": 0, "status": "updated", "superseded": [old["id"]], "conflicts": []},
        {"index": 1, "status": "created", "superseded": [], "conflicts": []},
        {"index": 2, "status": "noop", "superseded": [], "conflicts": []},
        {"index": 3, "status": "updated", "superseded": [ids[0]], "conflicts": []},
    ]
    assert ids[2] == ids[0]
    assert await live(either) == ["Eva lives in Wels.", "Tom plays the violin."]
    log = (await either.call("shelf.log", since_seq=2))["log"]
    assert len({row["tx"] for row in log}) == 1
    assert (await either.call("get_stats"))["notes_created"] == 4


async def test_it_is_as_if_they_were_remembered_one_by_one(either: Api) -> None:
    texts = [
        "The review is on Wednesday.", "Correction: the review is on Thursday, not on Wednesday.",
        "Paul's blood type is A positive.", "Paul's blood type is AB negative.", "The gate code is 4711.",
        "The gate code is 4712.", "Eva likes figs.", "Eva likes dates.",
    ]  # fmt: skip
    together = await many(either, *({"content": text, "evolve": True, "nugget": "together"} for text in texts))
    told = []
    for text in texts:
        one = await either.call("remember", content=text, evolve=True, nugget="alone")
        told.append((one["status"], len(one["superseded"]), len(one["conflicts"])))
    assert [(one["status"], len(one["superseded"]), len(one["conflicts"])) for one in together["evolved"]] == told
    assert {status for status, _, _ in told} >= {"created", "corrected"}
    assert any(conflicts for _, _, conflicts in told)


async def test_a_note_that_evolves_sees_all_before_it_and_none_after(either: Api) -> None:
    before = [{"content": f"Host number {number} runs Debian."} for number in range(60)]
    result = await many(
        either, {"content": "Eva lives in Linz."}, *before, "Eva lives in Graz.", {"content": "Eva lives in Wels."}
    )
    assert [one["superseded"] for one in result["evolved"]] == [[result["ids"][0]]]
    assert {"Eva lives in Graz.", "Eva lives in Wels."} < set(await live(either))


async def test_keys_evolve_among_notes(either: Api) -> None:
    result = await many(
        either,
        {"content": "Linz", "key": "eva's home", "evolve": True},
        {"content": "Graz", "key": "eva's home", "evolve": True},
        {"content": "Rome", "key": "eva's home", "evolve": True, "occurred_at": "1999-01-01T00:00:00Z"},
    )
    assert [one["status"] for one in result["evolved"]] == ["created", "updated", "created"]
    assert result["ids"][0] == result["ids"][1] != result["ids"][2]
    assert (await either.note(result["ids"][0]))["content"] == "Graz"
    assert (await either.note(result["ids"][2]))["superseded_by"] == result["ids"][0]


async def test_a_refused_note_changes_nothing_and_the_others_stand(either: Api) -> None:
    old = await either.remember("Eva lives in Linz.")
    bad = {"content": "Eva lives in Rome.", "evolve": True, "links": [{"to": "nothing"}]}
    result = await many(either, bad, "Eva lives in Graz.")
    assert [one["index"] for one in result["rejected"]] == [0]
    assert result["evolved"] == [{"index": 1, "status": "updated", "superseded": [old["id"]], "conflicts": []}]
    refused = await many(either, "Eva lives in Wels.", bad, atomic=True)
    assert (refused["ids"], "evolved" in refused) == ([None, None], False)
    assert await live(either) == ["Eva lives in Graz."]


async def test_a_request_is_repeated_by_its_key(either: Api) -> None:
    first = await many(either, "Eva lives in Linz.", "Eva lives in Graz.", idempotency_key="once")
    again = await many(either, "Eva lives in Linz.", "Eva lives in Graz.", idempotency_key="once")
    assert again == {**first, "replayed": True}


async def test_without_evolve_nothing_is_said_of_it(either: Api) -> None:
    result = await many(either, {"content": "Eva lives in Linz."})
    assert result.keys() == {"ids", "rejected", "last_seq"}


async def test_more_notes_than_may_evolve_are_refused(api: Api) -> None:
    notes = [{"content": "x"}] * EVOLVED_AT_ONCE
    with pytest.raises(Refused, match="at most 1000 at once"):
        await many(api, *notes, "Eva lives in Linz.")
    assert (await api.call("get_stats"))["total_notes"] == 0
