"""Keys found by their parts: as a look at every key, and as vectors of many elements, would find them."""

import math
import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.keysets import keys, question
from shelfd.memory.facts import algebra
from shelfd.memory.facts.algebra import Phasors
from shelfd.memory.facts.keys import Fact, Keys

WORDS = st.sampled_from("amber basket cedar dragon ember folder ginger helmet".split())
KEYS = st.lists(WORDS, min_size=1, max_size=5, unique=True).map(" ".join)


def keys_of(*names: str, home: int = 0) -> Keys:
    held = Keys()
    for name in names:
        held.add(Fact(name, name, name, name, (), str(home)), name, home)
    return held


def cosine(held: Keys, query: str, key: str) -> float:
    """The cosine of two texts of known words, as it is defined."""
    weights = [{word: held.lexicon.rarity(word) for word in text.split()} for text in (query, key)]
    shared = sum(weights[0][word] * weights[1][word] for word in weights[0].keys() & weights[1].keys())
    return shared / math.prod(math.sqrt(sum(weight**2 for weight in part.values())) for part in weights)


@given(st.lists(KEYS, min_size=1, max_size=20), st.data())
def test_the_keys_most_like_a_query_are_those_that_a_look_at_every_key_finds(
    names: list[str], data: st.DataObject
) -> None:
    held = keys_of(*names)
    known = sorted({word for name in names for word in name.split()})
    query = " ".join(data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=4, unique=True)))
    wanted = sorted((cosine(held, query, name) for name in names), reverse=True)
    found = [match.cosine for match in held.like(query).matches]
    close = [value for value in wanted if value > wanted[0] - 0.1]
    assert np.allclose(found[: len(close)], close, atol=1e-5)


def test_parts_say_what_built_vectors_say_without_their_noise() -> None:
    names = keys(60, seed=3)
    held, phasors = keys_of(*names), Phasors("word", 16384)

    def built(text: str) -> algebra.Vector:
        words = text.split()
        vectors = algebra.phasor(np.stack([phasors.phases(word) for word in words]))
        return algebra.superpose(vectors, np.array([held.lexicon.rarity(word) for word in words]))

    for name in names[:20]:
        query = " ".join(name.split("-")[:2])
        for match in held.like(query).matches:
            seen = algebra.similarity(built(" ".join(match.words)), built(query))
            assert abs(float(seen) - match.cosine) < 0.03


def test_keys_of_another_nugget_are_not_looked_at() -> None:
    held = keys_of(*keys(50, seed=4), home=1)
    mine = Fact("mine", "amber", "amber", "", (), "2")
    row = held.add(mine, "amber", 2)
    assert [match.fact for match in held.like("amber", 2).matches] == [mine]
    assert mine not in [match.fact for match in held.like("amber", 1).matches]
    held.remove(row)
    assert not held.like("amber", 2).matches


def test_rows_are_used_again_and_nothing_is_left_of_who_had_them() -> None:
    drawn, held = random.Random(5), Keys()
    rows: dict[str, int] = {}
    for name in keys(400, seed=5):
        rows[name] = held.add(Fact(name, name, name, name, (), ""), name, 0)
        if len(rows) > 50:
            held.remove(rows.pop(drawn.choice(sorted(rows))))
    assert len(held) == 50
    assert max(rows.values()) < 60
    for name in rows:
        assert held.like(question(name)).matches[0].fact.key == name
    for row in rows.values():
        held.remove(row)
    assert len(held) == len(held.lexicon) == 0


def test_words_in_all_keys_hide_none() -> None:
    held = keys_of(*(f"favorite color of user{number}" for number in range(3000)))
    match = held.like("favorite color user1234").matches[0]
    assert (match.fact.key, round(match.cosine, 3)) == ("favorite color of user1234", 1.0)
