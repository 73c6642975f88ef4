"""Files as Luker and SillyTavern write them, made here: floor logs of commits, and chats of messages."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shelfd.client import chat_file
from shelfd.client.chat_file import ChatFile
from shelfd.client.foreign import ForeignBatch
from shelfd.client.luker_file import FloorLog

Json = dict[str, Any]


def node(id_: str, type_: str = "event", seq: int = 1, **more: Any) -> Json:
    """A node as a floor log has it."""
    fixed = {"id": id_, "type": type_, "level": "semantic", "title": id_, "seqTo": seq, "archived": False}
    tree = {"parentId": "", "childrenIds": [], "semanticRollup": False, "semanticDepth": 0}
    return {**fixed, "fields": {"summary": f"what {id_} is about"}, **tree, **more}


def edge(source: str, target: str, type_: str = "related", **more: Any) -> Json:
    """An edge."""
    return {"from": source, "to": target, "type": type_, **more}


def patch(old: Any, new: Any, at: str = "") -> list[Json]:
    """Operations that lead from one state to another."""
    if old == new:
        return []
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [{"op": "replace", "path": at, "value": new}]
    found: list[Json] = []
    for name in [*old, *(name for name in new if name not in old)]:
        path = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in new:
            found.append({"op": "remove", "path": path})
        elif name not in old:
            found.append({"op": "add", "path": path, "value": new[name]})
        else:
            found += patch(old[name], new[name], path)
    return found


def state(nodes: Sequence[Json] = (), edges: Sequence[Json] = (), **more: Any) -> Json:
    """A graph as commits bring it about."""
    return {"nodes": {one["id"]: one for one in nodes}, "edges": list(edges), **more}


def floor_log(*states: Json, floors: Sequence[int] = (), swipes: Sequence[int] = (), **more: Any) -> Json:
    """A log of one commit for each state, from an empty graph; of messages 1, 3, 5…, unless *floors* are given."""
    before: Json = {}
    commits = []
    for number, after in enumerate(states):
        floor = floors[number] if floors else 2 * number + 1
        swipe = swipes[number] if swipes else 0
        commits.append({"floor": floor, "swipeId": swipe, "patches": json.loads(json.dumps(patch(before, after)))})
        before = after
    return {"version": 1, "commits": commits, **more}


def message(text: str, *, name: str = "Mira", user: bool = False, at: Any = None, **more: Any) -> Json:
    """A message of a chat."""
    date = {} if at is None else {"send_date": at}
    return {"name": name, "is_user": user, "is_system": False, "mes": text, **date, **more}


HEADER: Json = {
    "user_name": "Tom",
    "character_name": "Mira",
    "create_date": "2025-05-01@10h00m00s",
    "chat_metadata": {},
}


def write_chat(path: Path, messages: Sequence[Json | str], header: Json | None = HEADER) -> Path:
    """Write a chat's file; text among *messages* is written as it is."""
    lines = [header, *messages] if header is not None else [*messages]
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_log(path: Path, log: Json) -> Path:
    """Write a floor log's file."""
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def _params(batches: Sequence[ForeignBatch]) -> list[Json]:
    return [json.loads(batch.as_part()) for batch in batches if batch.items]


def log_parts(path: Path, chat: Path | None = None, session_id: str = "evening", **header: Any) -> list[Json]:
    """What the command sends of a floor log."""
    shown = None if chat is None else chat_file.shown(str(chat))
    return _params([*FloorLog(str(path), {"session_id": session_id, **header}, shown).batches()])


def chat_parts(path: Path, session_id: str = "evening", **header: Any) -> list[Json]:
    """What the command sends of a chat."""
    return _params([*ChatFile(str(path), {"session_id": session_id, **header}).batches()])


#: A harbour town in three turns: two events rolled up, a person, a place.
HARBOUR = state(
    [
        node("n_1", seq=1, title="Summary 1", parentId="n_5", floorRange={"start": 1, "end": 1}),
        node("n_2", seq=2, title="Summary 2", parentId="n_5", fields={"summary": "The old bridge broke"}),
        node("n_3", "character_sheet", 3, title="Mira", fields={"aliases": "the pilot, M.", "traits": "patient"}),
        node("n_4", "location_state", 2, title="The pier", fields={"danger": "high tide", "state": None}),
        node("n_5", seq=2, title="Event Summary L1 #1", childrenIds=["n_1", "n_2"], semanticRollup=True,
             semanticDepth=1, fields={"summary": "Mist, then the bridge broke"}),
        node("n_6", "character_sheet", 1, title="M.", archived=True, supersededBy="n_3"),
    ],
    [
        edge("n_1", "n_3", "involved_in", seqTo=1),
        edge("n_2", "n_4", "Occurred_At", seqTo=2),
        edge("n_5", "n_1", "semantic_contains"), edge("n_5", "n_1", "contains"), edge("n_5", "n_2", "contains"),
        edge("n_4", "n_3", "allied_with"), edge("n_3", "n_4", "allied_with"),
    ],
    seqCounter=4,
)  # fmt: skip
