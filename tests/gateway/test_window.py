"""The window: so many at a time, and nobody overtakes."""

import asyncio

from shelfd.gateway.budget import Window


async def test_places_are_given_in_the_order_of_coming_however_they_come_free() -> None:
    window = Window(2)
    order: list[int] = []

    async def come(number: int) -> None:
        await window.wait()
        order.append(number)

    assert window.take()
    assert window.take()
    early = [asyncio.create_task(come(number)) for number in range(3)]
    await asyncio.sleep(0)
    for _ in range(3):
        window.leave()  # all three are called and none has gone on yet
    window.leave()
    late = [asyncio.create_task(come(number)) for number in (3, 4)]
    assert not window.take()  # nobody overtakes who was called
    await asyncio.gather(*early, late[0])
    assert order == [0, 1, 2, 3]
    window.leave()
    await late[1]
    assert order == [0, 1, 2, 3, 4]


async def test_a_place_is_not_lost_with_a_waiter_that_goes_away() -> None:
    window = Window(1)
    assert window.take()
    gone, waits = asyncio.create_task(window.wait()), asyncio.create_task(window.wait())
    await asyncio.sleep(0)
    window.leave()  # the first is called, and goes away before it goes on
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    await waits
    assert not window.take()
    window.leave()
    assert window.take()
