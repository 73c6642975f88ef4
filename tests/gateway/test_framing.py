"""Framing, against the obvious way to do it."""

from hypothesis import given
from hypothesis import strategies as st

from shelfd.gateway.lines import LineReader

LIMIT = 8
PIECES = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bcd", b"x" * 7, b"y" * 20, b"z\n\n"]), max_size=30)


def expected(stream: bytes) -> list[bytes | None]:
    *whole, open_end = stream.split(b"\n")
    lines: list[bytes | None] = [
        line.strip() if len(line.removesuffix(b"\r")) <= LIMIT else None for line in whole if line.strip()
    ]
    # A line that is too long is answered as soon as that is certain.
    return [*lines, None] if len(open_end) > LIMIT + 1 else lines


@given(PIECES)
def test_any_cut_of_a_stream_gives_its_lines(pieces: list[bytes]) -> None:
    reader = LineReader(LIMIT)
    for piece in pieces:
        reader.feed(piece)
    assert [line and line.strip() for line in reader.lines] == expected(b"".join(pieces))


def test_a_too_long_line_is_not_kept() -> None:
    reader = LineReader(LIMIT)
    for _ in range(1000):
        reader.feed(b"x" * 1000)
    assert list(reader.lines) == [None]
    assert reader._part == []
    reader.feed(b"x\nok\n")
    assert list(reader.lines) == [None, b"ok"]
