"""Images of projections: kept whole or not at all, and never changed by who reads them."""

import numpy as np

from shelfd.memory.ports.image import Arrays, Image
from shelfd.memory.ports.store import Store, Stores


def of(arrays: Arrays | None) -> dict[str, tuple[str, list[float]]]:
    assert arrays is not None
    return {name: (array.dtype.str, array.tolist()) for name, array in arrays.items()}


NUMBERS = {
    "bytes": np.arange(5, dtype=np.uint8),
    "long": np.array([-(2**62), 2**62]),
    "none": np.zeros(0, np.int32),
    "flags": np.array([True, False]),
    "halves": np.array([0.5, -0.25], np.float32),
    "many": np.arange(400_000),
}


async def test_an_image_is_read_as_it_was_written_also_after_the_shelf_was_closed(stores: Stores, store: Store) -> None:
    assert await store.images.load() is None
    image = Image(7, {"version": [1, "ä"]}, {"index": {"count": 3}}, {"index": {"one": NUMBERS, "two": {}}})
    await store.images.save(image)
    await store.close()
    again = await stores.open("default")
    read = await again.images.load()
    await again.close()

    assert read is not None
    assert (read.seq, read.made_by, read.facts) == (7, {"version": [1, "ä"]}, {"index": {"count": 3}})
    assert of(read.parts["index"]["one"]) == of(NUMBERS)
    assert read.parts["index"]["two"] == {}


async def test_a_part_that_is_stored_is_kept_and_others_go(store: Store) -> None:
    old, new = {"n": np.arange(3)}, {"n": np.arange(4)}
    await store.images.save(Image(1, {}, {}, {"index": {"kept": old, "left": old, "state": old}}))
    await store.images.save(Image(2, {}, {}, {"index": {"kept": None, "state": new}}))
    read = await store.images.load()

    assert read is not None
    assert {name: of(arrays) for name, arrays in read.parts["index"].items()} == {"kept": of(old), "state": of(new)}


async def test_who_changes_what_was_read_changes_no_image(store: Store) -> None:
    await store.images.save(Image(1, {}, {}, {"index": {"state": {"n": np.arange(3)}}}))
    first = await store.images.load()
    assert first is not None
    arrays = first.parts["index"]["state"]
    assert arrays is not None
    arrays["n"][:] = 9
    second = await store.images.load()

    assert second is not None
    assert of(second.parts["index"]["state"]) == of({"n": np.arange(3)})


async def test_an_image_that_was_dropped_is_none(store: Store) -> None:
    await store.images.drop()
    await store.images.save(Image(1, {}, {}, {"index": {"state": {"n": np.arange(3)}}}))
    await store.images.drop()

    assert await store.images.load() is None
