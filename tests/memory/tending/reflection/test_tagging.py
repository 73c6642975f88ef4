"""Tags that follow from what a note says."""

from typing import Any

import pytest

from fakes import Api
from memory.tending.reflection.scenes import a_note, settled, shelve
from shelfd.memory.notes.note import Extra
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.tending.reflection.tagging import derived_tags

STOP = word_lists("english").stop | word_lists("english").question


def tags(content: str, **fields: Any) -> list[str]:
    return list(derived_tags(a_note(content, **fields), STOP, 64))


@pytest.mark.parametrize(
    ("content", "fields", "expected"),
    [
        ("we like green tea at dawn", {}, ["user-memory", "like", "green", "dawn"]),
        ("x y z", {}, ["user-memory"]),
        ("x y z", {"scope": "self"}, ["assistant-self"]),
        ("x y z", {"scope": "shared"}, ["shared-context"]),
        ("x y z", {"scope": "project"}, ["shared-context"]),
        ("x y z", {"scope": "session"}, []),
        ("see src/auth/keys.pem", {"scope": "session"}, ["files", "auth", "keys"]),
        ("tea and/or milk, e.g. cold", {"scope": "session"}, ["milk", "cold"]),
        ("x", {"title": "pref:tea", "scope": "session"}, ["preferences", "pref"]),
        ("x", {"type": "preference", "scope": "session"}, ["preferences"]),
        ("x", {"title": "learned today", "scope": "session"}, ["learnings", "learned", "today"]),
        ("12345 67890", {"scope": "session"}, []),
        ("Frühstück um acht", {"scope": "session"}, ["frühstück", "acht"]),
        ("Сборка идёт ночью", {"scope": "session"}, ["сборка", "идёт", "ночью"]),
        ("東京でコーヒーを飲む", {"scope": "session"}, ["東京", "コーヒー"]),
        ("सुबह की चाय पीना", {"scope": "session"}, ["सुबह", "पीना"]),
        ("x" * 40, {"scope": "session"}, []),
    ],
)
def test_derived(content: str, fields: dict[str, Any], expected: list[str]) -> None:
    assert tags(content, **fields) == expected


def test_what_the_note_has_already_is_not_derived_again() -> None:
    assert tags("project green harbour", nugget="project", tags=("green",)) == ["user-memory", "harbour"]
    assert tags("green harbour", extra=Extra(dropped_tags=("harbour",))) == ["user-memory", "green"]


async def test_own_tags_stay_and_derived_ones_come_behind_them(either: Api) -> None:
    note = await either.remember("green harbour at dawn, dark river", tags=["mine", "zebra"])
    result = await either.call("reflect")
    after = await either.note(note["id"])

    assert after["tags"] == [
        "memory", "scope:user", "type:note", "mine", "zebra", "user-memory", "green", "harbour", "dawn",
    ]  # fmt: skip
    assert [change["detail"] for change in result["changes"]] == ["Tags -> " + ", ".join(after["tags"])]
    assert result["tagged"] == 1
    assert (await either.call("reflect"))["changes"] == []


async def test_derived_tags_filter_as_others_do(either: Api) -> None:
    note = await either.remember("green harbour", tags=["mine"])
    await either.remember("something else entirely")
    await settled(either)

    for wanted in (["harbour"], ["harbour", "mine"], ["scope:user", "green"]):
        assert [found["id"] for found in (await either.call("note.list", tags=wanted))["notes"]] == [note["id"]]
    assert await either.found("green", tags=["harbour"]) == ["green harbour"]
    assert await either.found("green", tags=["river"]) == []


async def test_a_tag_that_was_taken_away_stays_away(either: Api) -> None:
    note = await either.remember("green harbour at dawn, dark river", tags=["mine"])
    await settled(either)
    edited = await either.call("note.edit", id=note["id"], remove_tags=["harbour", "mine"])
    assert not {"harbour", "mine"} & set(edited["note"]["tags"])
    await settled(either)

    tags = (await either.note(note["id"]))["tags"]
    assert not {"harbour", "mine"} & set(tags)
    assert {"green", "dawn", "dark"} <= set(tags)


async def test_a_tag_that_is_wanted_again_comes_back(api: Api) -> None:
    note = await api.remember("green harbour")
    await settled(api)
    await api.call("note.edit", id=note["id"], remove_tags=["harbour"])
    await api.call("note.edit", id=note["id"], add_tags=["harbour"])
    await settled(api)

    assert (await api.note(note["id"]))["tags"].count("harbour") == 1


async def test_tags_follow_the_content(api: Api) -> None:
    note = await api.remember("green harbour")
    await settled(api)
    await api.call("note.edit", id=note["id"], content="dark river")
    await settled(api)

    assert (await api.note(note["id"]))["tags"][3:] == ["user-memory", "dark", "river"]


async def test_tags_of_a_note_in_another_language_are_what_it_is_about(either: Api) -> None:
    await shelve(either, [a_note("Der Schlüssel hängt neben der Waschmaschine", id="a")])
    await settled(either)

    derived = set((await either.note("a"))["tags"]) - {"user-memory"}
    assert {"schlüssel", "hängt", "waschmaschine"} < derived
    assert derived.isdisjoint({"neben"})
