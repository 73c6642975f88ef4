"""Conversations that are told to a daemon, or to the memory alone, one request after another.

What a conversation asks for follows from its name and from what it was answered, so that one that was cut short and
took up where it was can be compared with one that nobody cut short. Each has nuggets of its own.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]
#: Carries a request out; raises what has ``code`` and ``is_retryable`` if it is refused.
Call: TypeAlias = Callable[[str, Json], Awaitable[Json]]

_CITED: Final = re.compile(r"\[([^\]]+)\]")
_KINDS: Final = {
    "batch": 10, "bad_batch": 1, "compact": 2, "rollup": 2, "retract": 2, "retract_all": 1, "undo": 1, "select": 2,
    "extract": 2, "branch": 1, "retype": 1,
}  # fmt: skip
_COLUMNS: Final = ("goal", "aim")
#: Branches of one conversation, each of which copies all of it.
_BRANCHES: Final = 3


class RequestRefused(Exception):
    """What a request was answered instead of a result."""

    def __init__(self, code: int, *, is_retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_retryable = is_retryable


class Conversation:
    """A conversation, and how far it has come.

    Attributes:
        step: How many requests were answered.
        answers: What each came to: counts, or the code of an error.
        kinds: How many of each kind were answered.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.step = 0
        self.answers: list[object] = []
        self.kinds = Counter[str]()
        self._turn = 0
        self._ids: dict[str, str] = {}
        self._runs: list[str] = []
        self._variants: Counter[int] = Counter()
        self._branches = 0
        self._column = 0

    async def go_on(self, call: Call, until: int | None = None) -> None:
        """Make requests, until *call* fails or so many are answered."""
        while until is None or self.step < until:
            await self._next(call)

    async def _next(self, call: Call) -> None:
        chance = random.Random(f"{self.name} {self.step}")
        kind = "begin" if self.step == 0 else chance.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
        plan: Callable[[random.Random], tuple[str, Json, Callable[[Json], None]]] = getattr(self, f"_{kind}")
        method, params, learn = plan(chance)
        params |= {"idempotency_key": f"{self.name}-{self.step}"}
        try:
            reply = await _insist(call, method, params)
        except RequestRefused as refusal:
            self.answers.append((kind, refusal.code))
        else:
            learn(reply)
            self.answers.append((kind, _counts(reply)))
        self.kinds[kind] += 1
        self.step += 1

    # Each returns a method, params, and what is to be learnt from the reply. None changes anything here before that:
    # a request whose reply was lost is made again.

    def _begin(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        return "session.open", {"session_id": self.name, "nugget": self.name}, _nothing

    def _in_turn(self, turn: int, **more: Any) -> Json:
        return {"session_id": self.name, "turn": turn, **more}

    def _batch(self, chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        turn = self._turn + chance.choice([0, 1]) or 1
        ops: list[Json] = []
        for number in range(chance.randint(1, 4)):
            title = f"event {self.step}.{number}"
            links = [{"target_ref": "who", "relation": chance.choice(["about", "hostile_to"])}]
            ops.append({"op": "create", "type": "event", "title": title, "ref": title, "links": links})
        fields = {"goal": f"goal {self.step}", "aliases": [f"alias {chance.randint(0, 3)}"]}
        person = f"person {chance.randint(0, 5)}"
        ops.append({"op": "create", "type": "character_sheet", "title": person, "fields": fields, "ref": "who"})
        quest = {"title": f"quest {self.step}", _COLUMNS[self._column]: "far away"}
        ops.append({"op": "create", "type": "note", "title": quest["title"], "fields": quest})
        known = sorted(self._ids)
        for title in chance.sample(known, min(2, len(known))):
            ops.append({"op": chance.choice(["edit", "edit", "delete"]), "node_id": self._ids[title]})
            if ops[-1]["op"] == "edit":
                ops[-1]["set_fields"] = {"mood": f"mood {self.step}"}

        def learn(reply: Json) -> None:
            self._turn = turn
            self._ids |= {ref: note_id for ref, note_id in reply["ids"].items() if ref != "who"}

        return "session.apply_extraction_batch", self._in_turn(turn, ops=ops, atomic=False), learn

    def _bad_batch(self, chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        method, params, _ = self._batch(chance)
        return method, {**params, "ops": [*params["ops"], {"op": "fly"}], "atomic": True}, _nothing

    def _compact(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        return "session.compact", self._in_turn(max(1, self._turn)), self._remember_run

    def _rollup(self, chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        known = list(self._ids)[-5:]
        chosen = [self._ids[title] for title in chance.sample(known, min(2, len(known)))]
        params = {
            "type": "event",
            "child_ids": chosen,
            "summary": f"both of {self.step}",
            "title": f"rollup {self.step}",
        }
        return "session.compact_nodes", self._in_turn(max(1, self._turn), **params), _nothing

    def _retract(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        return self._retracted(max(1, self._turn - 1))

    def _retract_all(self, chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        return self._retracted(chance.randint(1, max(1, self._turn // 2)))

    def _retracted(self, from_turn: int) -> tuple[str, Json, Callable[[Json], None]]:
        def learn(reply: Json) -> None:
            self._remember_run(reply)
            self._turn = from_turn - 1

        return "session.retract_turns", {"session_id": self.name, "from_turn": from_turn}, learn

    def _undo(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        return "reflection.undo", {"run_id": self._runs[-1] if self._runs else "run-none"}, self._remember_run

    def _select(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        turn = max(1, self._turn)
        variant = 1 - self._variants[turn]

        def learn(reply: Json) -> None:
            self._remember_run(reply)
            self._variants[turn] = variant

        return "session.select_variant", self._in_turn(turn, variant=variant), learn

    def _extract(self, chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        count = chance.randint(1, 4)
        turns = [
            {"turn": self._turn + number, "author": "Ben", "text": f"My cousin Ada{number} painted door {self.step}."}
            for number in range(1, count + 1)
        ]

        def learn(_reply: Json) -> None:
            self._turn += count

        return "session.extract", {"session_id": self.name, "turns": turns}, learn

    def _branch(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        new = f"{self.name}-{min(self._branches, _BRANCHES)}"

        def learn(_reply: Json) -> None:
            self._branches += 1

        at = {"at_turn": max(1, self._turn), "new_session_id": new, "nugget": new}
        return "session.branch", {"session_id": self.name, **at}, learn

    def _retype(self, _chance: random.Random) -> tuple[str, Json, Callable[[Json], None]]:
        old, new = _COLUMNS[self._column], _COLUMNS[1 - self._column]

        def learn(_reply: Json) -> None:
            self._column = 1 - self._column

        columns = {"table_columns": ["title", new], "required_columns": ["title"]}
        return (
            "schema.set_type",
            {"type": "note", "nugget": self.name, **columns, "migrate": {"rename": {old: new}}},
            learn,
        )

    def _remember_run(self, reply: Json) -> None:
        if reply.get("rollups", reply.get("undone")):  # whether the log knows a run that did nothing is left open
            self._runs.append(reply["run_id"])

    async def state(self, call: Call) -> object:
        """What its notes and links say, by names."""
        nuggets = [one["name"] for one in (await call("nugget.list", {"limit": 1000}))["nuggets"]]
        own = [name for name in nuggets if name == self.name or name.startswith(f"{self.name}-")]
        found = [note for nugget in own for note in await _pages(call, nugget)]
        names = {note["id"]: (note["nugget"], note["type"], note["title"]) for note in found}

        def said(note: Json) -> str:
            text = _CITED.sub(lambda cited: str(names.get(cited[1], cited[1])), note["content"])
            stamps = note.get("turn"), note.get("seq_to"), note.get("rollup_depth")
            # What represents a hidden note nobody looks at; it may depend on what other conversations did meanwhile.
            above = None if note["hidden"] else names.get(note.get("parent_id"))
            fields = sorted(note.get("fields", {}).items())
            return repr((names[note["id"]], text, note["hidden"], above, fields, sorted(note["tags"]), stamps))

        links = [
            (names[note["id"]], one["relation"], names.get(one["to"]))
            for note in found
            for one in note.get("links", ())
        ]
        return sorted(map(said, found)), sorted(map(repr, links))


def _nothing(_reply: Json) -> None:
    """There is nothing to be learnt."""


def _counts(reply: Json) -> object:
    """What of a reply is the same whenever it is given."""
    # Operations are not told again with a reply that is.
    counted = {name: len(value) for name, value in reply.items() if isinstance(value, list | dict) and name != "ops"}
    return sorted(
        (counted | {name: value for name, value in reply.items() if type(value) is int and name != "seq"}).items()
    )


async def _pages(call: Call, nugget: str) -> list[Json]:
    found: list[Json] = []
    cursor: Json = {}
    while True:
        page = await call("note.list", {"nugget": nugget, "include_hidden": True, "limit": 1000, **cursor})
        found += [(await call("note.get", {"id": note["id"], "full": True}))["note"] for note in page["notes"]]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def _insist(call: Call, method: str, params: Json) -> Json:
    while True:
        try:
            return await call(method, params)
        except RequestRefused as refusal:
            if not refusal.is_retryable:
                raise
        await asyncio.sleep(0.01)  # a client's pause before it tries again
