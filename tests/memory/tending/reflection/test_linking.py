"""Linking notes that have words in common."""

import pytest

from fakes import Api
from memory.tending.reflection.scenes import a_note, settled, shelve, told


async def links(api: Api, note_id: str) -> list[tuple[str, str]]:
    return [(link["to"], link["reason"]) for link in (await api.note(note_id))["links"]]


async def test_two_words_in_common_make_a_link_both_ways(either: Api) -> None:
    await shelve(either, [
        a_note("the harbour crane is broken again", id="a"),
        a_note("who repairs the crane at the harbour", id="b"),
        a_note("something else altogether", id="c"),
    ])  # fmt: skip
    result = await either.call("reflect")

    assert told(result, "link") == ["a"]
    assert result["linked"] == 1
    assert [change["detail"] for change in result["changes"] if change["type"] == "link"] == ["Linked to b"]
    assert await links(either, "a") == [("b", "shared context: harbour, crane")]
    assert await links(either, "b") == [("a", "shared context: harbour, crane")]
    assert await links(either, "c") == []


@pytest.mark.parametrize(
    ("one", "other", "linked"),
    [
        ({"subject": "x"}, {"subject": "x"}, True),
        ({"subject": "x"}, {"subject": "y"}, False),
        ({"subject": "x", "scope": "shared"}, {"subject": "y"}, True),
        ({"subject": "x"}, {"subject": "y", "scope": "project"}, True),
        ({"nugget": "n1"}, {"nugget": "n2"}, False),
        ({"scope": "session", "session_id": "s1"}, {"scope": "session", "session_id": "s1"}, True),
        ({"scope": "session", "session_id": "s1"}, {"scope": "session", "session_id": "s2"}, False),
        ({"scope": "session", "session_id": "s1"}, {"scope": "shared"}, False),
        ({"archived_at": 5}, {}, False),
        ({"superseded_by": "z"}, {}, False),
        ({"expires_at": 5}, {}, False),
    ],
)
async def test_who_may_be_linked(either: Api, one: dict[str, object], other: dict[str, object], linked: bool) -> None:
    await shelve(either, [
        a_note("the harbour crane is broken", id="a", **one), a_note("crane in the harbour bay", id="b", **other)
    ])  # fmt: skip
    await settled(either)

    assert bool(await links(either, "b")) is linked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("сломан портовый кран", "портовый кран чинят"),
        ("港のクレーンが壊れた", "壊れた港のクレーン"),
        ("बंदरगाह क्रेन टूटी", "बंदरगाह क्रेन ठीक"),
    ],
)
async def test_in_any_script(api: Api, one: str, other: str) -> None:
    await shelve(api, [a_note(one, id="a"), a_note(other, id="b")])
    await settled(api)

    assert [to for to, _ in await links(api, "a")] == ["b"]


async def test_stop_words_and_numbers_are_no_context(api: Api) -> None:
    await shelve(api, [a_note("this was 2024 17 of them", id="a"), a_note("that was 2024 17 of these", id="b")])
    await settled(api)

    assert await links(api, "a") == []


async def test_what_is_linked_already_is_left_alone(either: Api) -> None:
    await shelve(either, [a_note("harbour crane one", id="a"), a_note("harbour crane two", id="b")])
    await either.call("link.upsert", source="b", target="a", relation="causes", direction="outgoing")
    await settled(either)

    assert await links(either, "a") == []
    assert len(await links(either, "b")) == 1


async def test_one_link_a_note_and_run_until_each_has_two(api: Api) -> None:
    await shelve(api, [a_note(f"harbour crane number{n}x", id=f"n{n}") for n in range(4)])
    results = await settled(api)

    assert [result["linked"] for result in results] == [2, 2, 0]
    assert [len(await links(api, f"n{n}")) for n in range(4)] == [2, 2, 2, 2]


async def test_links_are_bounded(api: Api) -> None:
    await shelve(api, [a_note(f"harbour crane number{n}x", id=f"n{n}") for n in range(12)])

    assert (await api.call("reflect", limit=3))["linked"] == 3


async def test_a_note_without_room_gets_no_link(api: Api) -> None:
    api.service.limits = api.limits.model_copy(update={"links_count": 1})
    await shelve(api, [a_note(f"harbour crane number{n}x", id=f"n{n}") for n in range(3)])
    await settled(api)

    assert sorted([len(await links(api, f"n{n}")) for n in range(3)]) == [0, 1, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Der Schlüssel hängt am Haken neben der Tür", "Der Drucker steht neben der Küche"),
        ("El cumpleaños de Inés es el martes", "La reunión con el banco es el lunes"),
        ("La voiture de Chloé est dans le garage", "Le chat de la voisine est dans la cour"),
        ("La contraseña de la oficina la tiene Marta", "Le code de la porte est chez la gardienne"),
        ("Il dentista di Giulia è in via Garibaldi", "La nonna di Marco è in montagna"),
        ("我们的车停在地下二层", "我们的会在周三下午"),
    ],
)
async def test_words_that_say_nothing_in_the_languages_of_the_notes_make_no_link(
    either: Api, one: str, other: str
) -> None:
    await shelve(either, [a_note(one, id="a"), a_note(other, id="b")])
    await settled(either)

    assert await links(either, "a") == []


async def test_what_notes_in_another_language_are_about_links_them(either: Api) -> None:
    await shelve(either, [
        a_note("Der Schlüssel für den Keller hängt neben der Tür", id="a"),
        a_note("Wir haben den Schlüssel vom Keller verloren", id="b"),
    ])  # fmt: skip
    await settled(either)

    assert await links(either, "a") == [("b", "shared context: schlussel, keller")]
