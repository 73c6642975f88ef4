"""Sinks: told of every change, they keep a shelf open only while they are behind."""

from datetime import timedelta

import pytest

from fakes import Api
from shelfd.memory import Shelf
from shelfd.memory.errors import ShelfNotFound

IDLE = timedelta(minutes=16)


class Ear:
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.is_behind = False
        self.heard: list[int | str] = []

    def applied(self, last_seq: int) -> None:
        self.heard.append(last_seq)

    def closing(self) -> None:
        self.heard.append("closing")


async def other(api: Api) -> Shelf:
    await api.call("shelf.create", shelf="other")
    return api.shelf("other")


async def test_a_sink_hears_of_changes_when_recall_knows_them(api: Api) -> None:
    ear = Ear()
    detach = api.shelf().attach(ear)
    await api.remember("tea")
    assert ear.heard == []
    assert await api.found("tea") == ["tea"]
    assert ear.heard == [api.shelf().seq]
    detach()
    detach()
    await api.remember("milk")
    await api.found("milk")

    assert len(ear.heard) == 1


async def test_an_idle_shelf_closes_unless_a_sink_is_behind(either: Api) -> None:
    ear, shelf = Ear(), await other(either)
    shelf.attach(ear)
    ear.is_behind = True
    either.clock.advance(IDLE)
    await either.shelves.close_idle()
    assert either.shelves.state("other") == "open"
    ear.is_behind = False
    await either.shelves.close_idle()

    assert either.shelves.state("other") == "closed"
    assert ear.heard == ["closing"]


async def test_openings_are_told_until_that_ends(either: Api) -> None:
    opened: list[str] = []
    end = either.shelves.on_open(lambda shelf: opened.append(shelf.name))
    await other(either)
    either.clock.advance(IDLE)
    await either.shelves.close_idle()
    await either.remember("tea", shelf="other")
    assert opened == ["other", "other"]
    end()
    await either.call("shelf.create", shelf="third")

    assert opened == ["other", "other"]


async def test_a_visited_shelf_is_closed_behind_the_visit(either: Api) -> None:
    await other(either)
    await either.reopen()
    async with either.shelves.visited("other") as shelf:
        assert either.shelves.opened("other") is shelf

    assert either.shelves.state("other") == "closed"


async def test_a_visit_leaves_a_shelf_open_that_was_or_is_wanted(either: Api) -> None:
    await other(either)
    async with either.shelves.visited("other"):
        pass
    assert either.shelves.state("other") == "open"
    await either.reopen()
    async with either.shelves.visited("other"):
        either.clock.advance(timedelta(seconds=1))
        await either.remember("tea", shelf="other")
    assert either.shelves.state("other") == "open"
    await either.reopen()
    async with either.shelves.visited("other") as shelf:
        shelf.enter()
    assert either.shelves.state("other") == "open"
    shelf.leave()


async def test_what_does_not_exist_cannot_be_visited(api: Api) -> None:
    with pytest.raises(ShelfNotFound):
        async with api.shelves.visited("nowhere"):
            pass
