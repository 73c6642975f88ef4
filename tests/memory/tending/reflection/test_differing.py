"""What makes two texts say different things."""

import pytest

from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.tending.reflection.differing import differ

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
        ("it takes 5 µs", "it takes 5 ns"),
        ("the tyres have 2 bar", "the tyres have 2 psi"),
        ("it sends 5 Mb", "it sends 5 MB"),
        ("five nautical miles", "five miles"),
        ("the thirteenth floor", "the fourteenth floor"),
        ("king henry iv", "king henry vi"),
        ("it is possible", "it is impossible"),
        ("she is able to", "she is unable to"),
        ("it can do so", "it can`t do so"),
        ("open except at night", "open at night"),
        ("he likes Polish food", "he likes polish food"),
        ("ask the US about it", "ask the us about it"),
        ("US staff come", "us staff come"),
        ("then Anna pays Berta", "then Berta pays Anna"),
        ("it is written in C#", "it is written in C"),
        ("the build is ✓", "the build is ✗"),
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
        ("Stop here. The end is near", "stop here. the end is near"),
        ('He said: "The end is near"', 'he said: "the end is near"'),
        ("5 ms it takes", "5 ms it takes indeed"),
        ("inside it is warm", "inside it is rather warm"),
        ("我喜欢茶", "我喜欢茶。"),
        ("", ""),
    ],
)
def test_not_different(one: str, other: str) -> None:
    assert not differ(one, other, STOP)
    assert not differ(other, one, STOP)
