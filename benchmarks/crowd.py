"""Notes that have nothing to do with the questions of our own: a crowd in which recall has to find what is asked.

They are the texts of ``data/evolution.jsonl``, which speak of other people, projects and machines, repeated: every copy
has names and numbers of its own, and other words in place of some of its rare ones. The same size gives the same notes.
Left out are the few texts that do answer one of the questions, whether our own notes answer it or not.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from zlib import crc32

from asking import DATA, Note

_WORD = re.compile(r"[^\W\d_]+|\d+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")  # a word in capitals that begins no sentence
_RARE = 3  #: a word that all texts together hold at most so often
_RENAMED_PERCENT = 15  #: of the rare words, another choice in each copy
_SYLLABLES = ("ba", "do", "fe", "gi", "ka", "lo", "mi", "nu", "pe", "ra", "so", "tu", "vi", "we", "xa", "zo")
_DOMAIN = "crowd"
#: What begins so would answer a question about something that our own notes do not know, or that they do know.
_ANSWERS = (
    "The API rate limit is", "The login API rate limit is", "The museum in", "The dishwasher is made by",
    "The guest wifi password is", "The spare key is", "The plumber's number is",
    "The spare key hangs", "The oven is a",
)  # fmt: skip


def crowd(size: int) -> Iterator[Note]:
    """Return *size* notes, each as a line of ``notes.jsonl``."""
    texts = _texts()
    names = {name for language, text in texts if language == "en" for name in _NAME.findall(text)}
    counts = Counter(word for _, text in texts for word in _WORD.findall(text))
    rare = {word for word, times in counts.items() if times <= _RARE and word.isascii() and word.isalpha()}
    made = 0
    for copy in count():
        for language, text in texts:
            if made == size:
                return
            made += 1
            words = {word: _other(word, copy, names, rare) for word in _WORD.findall(text)}
            varied = _WORD.sub(lambda found: words[found[0]], text)  # noqa: B023 - it is used at once
            yield {"domain": _DOMAIN, "language": language, "id": f"{_DOMAIN}{made}", "content": varied}


def _texts() -> list[tuple[str, str]]:
    cases = [json.loads(line) for line in (DATA / "evolution.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [(case["language"], one["text"]) for case in cases for one in (case["new"], *case["older"])]
    return [(language, text) for language, text in dict.fromkeys(found) if not text.startswith(_ANSWERS)]


def _other(word: str, copy: int, names: set[str], rare: set[str]) -> str:
    number = crc32(f"{copy} {word}".encode())
    if word.isdigit():
        return word if len(word) == 1 else str(number)[: len(word)].replace("0", "7")
    if word in names:
        return _made_up(number).capitalize()
    if word in rare and number % 100 < _RENAMED_PERCENT:
        return _made_up(number)
    return word


def _made_up(number: int) -> str:
    return "".join(_SYLLABLES[number >> shift & 15] for shift in (8, 12, 16))
