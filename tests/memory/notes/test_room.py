"""Room in caches: the oldest go, some at a time."""

from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.notes.room import make_room


@given(st.integers(min_value=1, max_value=200))
def test_an_eighth_goes_and_at_least_one(size: int) -> None:
    cache = dict.fromkeys(range(size))
    make_room(cache)
    assert list(cache) == list(range(max(1, size // 8), size))
