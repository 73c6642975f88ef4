"""Whether a caller has the daemon to itself."""

from datetime import timedelta

from fakes import until
from gateway.fakes import Client, House

A_WHILE = timedelta(seconds=2)


async def asked(house: House, client: Client, query: str) -> bool:
    """Ask, and return whether the caller counts as alone."""
    await client.call("recall", query=query)
    return house.service.calls[-1].is_alone


async def test_who_asks_by_himself_is_alone_after_a_while(house: House, client: Client) -> None:
    assert not await asked(house, client, "somebody else may have asked just before")
    house.clock.advance(A_WHILE)

    assert await asked(house, client, "nobody has")
    assert await asked(house, client, "and nobody does")


async def test_others_who_are_connected_and_say_nothing_do_not_count(house: House, client: Client) -> None:
    await asked(house, client, "first")
    other = await house.connect()
    house.clock.advance(A_WHILE)

    assert await asked(house, client, "alone")
    assert not await asked(house, other, "somebody else")
    assert not await asked(house, client, "no more")
    house.clock.advance(A_WHILE)
    assert await asked(house, client, "again")


async def test_who_asks_for_two_things_at_once_is_not_alone(house: House, client: Client) -> None:
    await asked(house, client, "before")
    house.clock.advance(A_WHILE)
    held = house.service.hold("long")
    client.send("recall", query="long")
    await held.reached()
    client.send("recall", query="short")
    await until(lambda: len(house.service.calls) == 3)
    held.release()
    await client.read()
    await client.read()

    assert [call.is_alone for call in house.service.calls] == [False, True, False]
