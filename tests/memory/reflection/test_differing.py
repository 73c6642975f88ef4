"""What makes two texts say different things."""

import pytest

from shelfd.memory.recall.wordlists import word_lists
from shelfd.memory.reflection.differing import differ

STOP = word_lists("english").stop | word_lists("english").question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the port is 8080", "the port is 8081"),
        ("it lasts 5 ms", "it lasts 5 s"),
        ("it costs $5", "it costs €5"),
        ("keep it > 5", "keep it < 5"),
        ("it is 5 below", "it is -5 below"),
        ("on 2024-05-01", "on 2024-01-05"),
        ("version 1.2", "version 2.1"),
        ("meet on monday", "meet on tuesday"),
        ("meet in may", "meet in june"),
        ("we have two cats", "we have three cats"),
        ("deploy it", "do not deploy it"),
        ("she does like it", "she doesn't like it"),
        ("with sugar", "without sugar"),
        ("ist fertig", "ist nicht fertig"),
        ("es verdad", "no es verdad"),
        ("это правда", "это не правда"),
        ("ask Anna for it", "ask Berta for it"),
        ("ask for it", "ask Anna for it"),
        ("the iPhone rings", "the phone rings"),
        ("我喜欢茶", "我喜欢水"),
        ("お茶が好き", "お茶が嫌い"),
        ("चाय पसंद है", "दूध पसंद है"),
        ("يحب الشاي", "يحب القهوة"),
        ("run build_all now", "run build_one now"),
    ],
)
def test_different(one: str, other: str) -> None:
    assert differ(one, other, STOP)
    assert differ(other, one, STOP)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the port is 8080", "the port is 8080 here"),
        ("it runs at night", "it always runs at night"),
        ("It runs at night", "it runs at night"),
        ("the cafe is open", "the café is open"),
        ("it is done. The end", "it is done. end"),
        ("это верно", "это совсем верно"),
        ("我喜欢茶", "我喜欢茶。"),
        ("", ""),
    ],
)
def test_not_different(one: str, other: str) -> None:
    assert not differ(one, other, STOP)
    assert not differ(other, one, STOP)
