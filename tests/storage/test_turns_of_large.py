"""Between large changes small ones of others go first; what one sender asks for is done in its order."""

import asyncio
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from contract.samples import ORIGIN, create
from shelfd.memory.ports.store import Applied
from shelfd.storage.commit_queue import CommitQueue, Deliver, Take

senders = st.sampled_from(["a", "b", "c", None])
changes = st.lists(st.tuples(senders, st.booleans()), min_size=1, max_size=30)


class Writer:
    """Writes groups when it is told to, and remembers them by the changes' values."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.done: list[str] = []
        self.queue = CommitQueue(self._write_group, shelf="work")
        self._begun: list[Callable[[], None]] = []

    def submit(self, name: str, sender: str | None, *, is_large: bool = False) -> None:
        change = create(name)
        change = change._replace(origin=ORIGIN._replace(request_id=name), sender=sender, is_large=is_large)
        self.queue.submit(change, lambda _: self.done.append(name))

    async def write(self) -> None:
        """Write the group that is to be written, and have its callers notified."""
        self._begun.pop()()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def write_all(self) -> None:
        while self._begun:
            await self.write()

    def _write_group(self, take: Take, deliver: Deliver) -> None:
        def write() -> None:
            group = [str(change.origin.request_id) for change in take()]
            self.groups.append(group)
            deliver([Applied(name, (), {}, 1) for name in group])

        self._begun.append(write)


async def test_a_small_change_waits_for_one_large_change_of_others() -> None:
    writer = Writer()
    for at in range(4):
        writer.submit(f"large {at}", f"importer {at}", is_large=True)
    writer.submit("small", "somebody")
    writer.submit("small, too", "somebody else")
    await writer.write_all()
    assert writer.groups == [["large 0"], ["small", "small, too"], ["large 1"], ["large 2"], ["large 3"]]
    assert writer.done == [name for group in writer.groups for name in group]


async def test_large_changes_wait_for_one_group_of_small_ones_each() -> None:
    writer = Writer()
    for at in range(3):
        writer.submit(f"large {at}", "importer", is_large=True)
    for at in range(6):
        writer.submit(f"small {at}", "busy")
        await writer.write()
    assert writer.groups == [["large 0"], ["small 0", "small 1"], ["large 1"], ["small 2", "small 3"], ["large 2"],
                             ["small 4", "small 5"]]  # fmt: skip


async def test_nothing_goes_before_what_its_own_sender_asked_for_earlier() -> None:
    writer = Writer()
    writer.submit("large 0", "a", is_large=True)
    writer.submit("large 1", "b", is_large=True)
    writer.submit("after large 1", "b")
    writer.submit("free", "c")
    writer.submit("large 2", "c", is_large=True)
    writer.submit("after large 2", "c")
    await writer.write_all()
    assert writer.groups == [["large 0"], ["free"], ["large 1"], ["after large 1"], ["large 2"], ["after large 2"]]


async def test_changes_of_nobody_keep_their_place() -> None:
    writer = Writer()
    writer.submit("large 0", None, is_large=True)
    writer.submit("large 1", None, is_large=True)
    writer.submit("the daemon's own", None)
    await writer.write_all()
    assert writer.done == ["large 0", "large 1", "the daemon's own"]


@given(changes)
def test_every_change_is_done_once_and_in_its_senders_order(asked: Sequence[tuple[str | None, bool]]) -> None:
    async def run() -> list[str]:
        writer = Writer()
        for at, (sender, is_large) in enumerate(asked):
            writer.submit(f"{at:02}", sender, is_large=is_large)
        await writer.write_all()
        return writer.done

    done = asyncio.run(run())
    assert sorted(done) == [f"{at:02}" for at in range(len(asked))]
    for sender in {sender for sender, _ in asked}:
        own = [name for name in done if asked[int(name)][0] == sender]
        assert own == sorted(own)
