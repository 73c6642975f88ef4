"""Scenarios in which a change of a conversation's memory is cut short: it must end as if nothing had happened.

Ids are drawn, so what is compared are names: each note has one of its own.
"""

import re
from collections import Counter
from typing import Final

from erasing.house import House, Json
from erasing.jobs import JobCutShort, plain_result

_TALK: Final = "talk"
_NUGGET: Final = "story"
_CITED: Final = re.compile(r"\[([^\]]+)\]")


class Talk(JobCutShort):
    """A conversation's graph is changed."""

    def state(self, house: House) -> object:
        notes = {note["id"]: note for note in pages(house, "note.list", "notes", include_hidden=True)}
        names = {name: (note["nugget"], note["type"], note["title"]) for name, note in notes.items()}

        def said(note: Json) -> object:
            text = _CITED.sub(lambda cited: str(names.get(cited[1], cited[1])), note["content"])
            above = names.get(note.get("parent_id"))
            return names[note["id"]], text, note["hidden"], above, sorted(note.get("fields", {}).items())

        links = [
            (names[one["source"]], one["relation"], names[one["target"]]) for one in pages(house, "link.list", "links")
        ]
        kinds = Counter[str]()
        since = 0
        while rows := house.call("shelf.log", since_seq=since, limit=1000)["log"]:
            kinds.update(row["kind"] for row in rows)
            since = rows[-1]["seq"]
        jobs = [
            (job["kind"], job["state"], job["progress"], plain_result(job)) for job in pages(house, "job.list", "jobs")
        ]
        types = house.call("schema.get")["types"]
        return sorted(map(repr, map(said, notes.values()))), sorted(links), sorted(kinds.items()), jobs, types

    def open(self, house: House) -> None:
        """Begin a conversation."""
        house.call("session.open", session_id=_TALK, nugget=_NUGGET)

    def tell(self, house: House, turn: int, ops: list[Json]) -> Json:
        """Have operations carried out in a turn."""
        reply: Json = house.call("session.apply_extraction_batch", session_id=_TALK, turn=turn, ops=ops)
        assert not reply["rejected"]
        return reply

    def tell_turns(self, house: House, count: int) -> None:
        """Tell some turns, each with an event, a person, and a link between them; every third about one again."""
        for turn in range(1, count + 1):
            links = [{"target_ref": "who", "relation": "about"}]
            ops: list[Json] = [
                {"op": "create", "type": "event", "title": f"day {turn}", "fields": {"what": "x"}, "links": links},
                {
                    "op": "create",
                    "type": "character_sheet",
                    "title": f"person {turn // 3}",
                    "fields": {"goal": f"goal {turn}"},
                    "ref": "who",
                },
            ]
            self.tell(house, turn, ops)


def pages(house: House, method: str, part: str, **params: object) -> list[Json]:
    """All items of a listing."""
    found: list[Json] = []
    cursor: Json = {}
    while True:
        page = house.call(method, limit=1000, **params, **cursor)
        found += page[part]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


class Batch(Talk):
    """A batch of a hundred operations, by refs, edits and a delete among them."""

    name = "talk-batch"
    method = "session.apply_extraction_batch"

    def fill(self, house: House) -> None:
        self.open(house)
        people = [{"op": "create", "type": "thread", "title": f"task {n}", "fields": {"status": "active", "note": "x"},
                   "ref": f"t{n}"} for n in range(9)]  # fmt: skip
        ids = self.tell(house, 1, people)["ids"]
        ops: list[Json] = [{"op": "create", "type": "event", "title": f"e{n}", "ref": f"e{n}"} for n in range(40)]
        ops += [
            {"op": "link_upsert", "source_ref": f"e{n}", "links": [{"target_ref": f"e{n + 1}", "relation": "before"}]}
            for n in range(39)
        ]
        ops += [{"op": "edit", "node_id": ids[f"t{n}"], "set_fields": {"status": "resolved"}} for n in range(8)]
        ops.append({"op": "delete", "node_id": ids["t8"]})
        self.params = {"session_id": _TALK, "turn": 2, "ops": ops}


class Compact(Talk):
    """What is due is rolled up, in steps."""

    name = "talk-compact"
    method = "session.compact"

    def fill(self, house: House) -> None:
        self.open(house)
        self.tell(house, 1, [{"op": "create", "type": "event", "title": f"e{n}"} for n in range(150)])
        self.params = {"session_id": _TALK, "turn": 2}


class RetractFew(Talk):
    """The last turn is taken back in the request's own transaction."""

    name = "talk-retract"
    method = "session.retract_turns"

    def fill(self, house: House) -> None:
        self.open(house)
        self.tell_turns(house, 10)
        self.params = {"session_id": _TALK, "from_turn": 9}


class RetractMany(Talk):
    """Many turns are taken back in steps, with rollups made of what they told."""

    name = "talk-retract-job"
    method = "session.retract_turns"

    def fill(self, house: House) -> None:
        self.open(house)
        self.tell_turns(house, 60)
        house.call("session.compact", session_id=_TALK)
        self.params = {"session_id": _TALK, "from_turn": 2}


class UndoRetract(RetractMany):
    """Turns that were taken back come back, in steps."""

    name = "talk-retract-undo"
    method = "reflection.undo"

    def fill(self, house: House) -> None:
        super().fill(house)
        self.params = {"run_id": house.call("session.retract_turns", **self.params)["run_id"]}


class Select(Talk):
    """A turn of many notes is put away for another variant of it."""

    name = "talk-select"
    method = "session.select_variant"

    def fill(self, house: House) -> None:
        self.open(house)
        for variant in (0, 1):
            house.call("session.select_variant", session_id=_TALK, turn=1, variant=variant)
            self.tell(house, 1, [{"op": "create", "type": "event", "title": f"{variant}.{n}"} for n in range(40)])
        self.params = {"session_id": _TALK, "turn": 1, "variant": 0}


class Branch(Talk):
    """A conversation is copied as it was at a turn, in steps."""

    name = "talk-branch"
    method = "session.branch"

    def fill(self, house: House) -> None:
        self.open(house)
        self.tell_turns(house, 50)
        house.call("session.compact", session_id=_TALK)
        self.params = {"session_id": _TALK, "at_turn": 45, "new_session_id": "other"}


TALKS = (Batch, Compact, RetractFew, RetractMany, UndoRetract, Select, Branch)
