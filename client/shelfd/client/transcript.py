"""Transcripts of conversations as agents write them, one JSON object a line: Claude Code's, or a role and a text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from shelfd.client.json_lines import JsonLine

#: A message may not be longer by contract.
LONGEST_TEXT: Final = 256 * 1024
MOST, SIZE = 1000, 2 * 1024 * 1024  #: messages and bytes of one request
_ROLES: Final = ("user", "assistant", "system")
#: What a person did not say: what the program noted of commands typed into it.
_NOTED: Final = ("<command-", "<local-command-", "<system-reminder>")


class LeftLine(NamedTuple):
    """A line that is not taken, and why."""

    line: int
    why: str


class Transcript:
    """What was said in one conversation, in turns: what a person says, and everything up to what they say next.

    Attributes:
        session_id: As the transcript names the conversation; empty if it does not.
        messages: In the shape of ``session.extract``.
        left: Lines that could not be read, or are longer than a message may be.
    """

    def __init__(self, lines: Iterable[JsonLine]) -> None:
        self.session_id = ""
        self.messages: list[dict[str, Any]] = []
        self.left: list[LeftLine] = []
        self._turn = 0
        for line in lines:
            if line.why or not isinstance(line.value, dict):
                self.left.append(LeftLine(line.number, line.why or "is no JSON object"))
            else:
                self._take(line.number, line.value)

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return self._turn

    def _take(self, number: int, value: Mapping[str, Any]) -> None:
        if not self.session_id and isinstance(name := value.get("sessionId", value.get("session_id")), str):
            self.session_id = name
        if value.get("isMeta") or value.get("isSidechain"):
            return  # the program's own, and what its helpers said to each other
        said = value["message"] if isinstance(value.get("message"), dict) else value
        role = said.get("role")
        if role not in _ROLES:
            return
        text = _text(said.get("content", said.get("text")))
        if not text or text.startswith(_NOTED):
            return
        if len(text.encode(errors="replace")) > LONGEST_TEXT:
            self.left.append(LeftLine(number, f"is longer than {LONGEST_TEXT} bytes"))
            return
        if role == "user" or not self._turn:
            self._turn += 1
        self._add(role, text, value.get("timestamp", value.get("occurred_at")))

    def _add(self, role: str, text: str, at: object) -> None:
        last = self.messages[-1] if self.messages else None
        if last is not None and last["turn"] == self._turn and last["role"] == role != "user":
            joined = f"{last['text']}\n\n{text}"
            if len(joined.encode(errors="replace")) <= LONGEST_TEXT:
                last["text"] = joined
                return
        when = {"occurred_at": at} if isinstance(at, str) and at else {}
        self.messages.append({"turn": self._turn, "role": role, "text": text, **when})


def _text(content: object) -> str:
    """What was said, without what tools were asked and what they answered."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    parts = [one.get("text") for one in content if isinstance(one, dict) and one.get("type") == "text"]
    return "\n\n".join(part.strip() for part in parts if isinstance(part, str)).strip()


def requests(messages: Iterable[Mapping[str, Any]], *, most: int, size: int) -> Iterator[list[Mapping[str, Any]]]:
    """Iterate over messages in requests of whole turns: up to *most* messages, and *size* bytes or one turn."""
    request: list[Mapping[str, Any]] = []
    length = 0
    for turn in _turns(messages):
        more = sum(len(message["text"].encode(errors="replace")) for message in turn)
        if request and (len(request) + len(turn) > most or length + more > size):
            yield request
            request, length = [], 0
        request += turn[:most]
        length += more
    if request:
        yield request


def _turns(messages: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    turn: list[Mapping[str, Any]] = []
    for message in messages:
        if turn and message["turn"] != turn[0]["turn"]:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn
